"""Builds a small program around an expression, for tests that ask what it can be; it is never run."""

from __future__ import annotations

from textwrap import dedent
from typing import NamedTuple

import libcst as cst

from dataloader_lint import Settings
from dataloader_lint.pipeline.file import File
from dataloader_lint.pipeline.session import Session
from dataloader_lint.semantics.values.values import Evaluator, Frame, Values

IMPORTS = """
import argparse
import copy
import glob
import json
import os
import pickle
import random
import sys
import time
from collections import OrderedDict, defaultdict, deque
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
"""


class Asked(NamedTuple):
    """An expression, and what it takes to ask about it."""

    ev: Evaluator
    node: cst.BaseExpression
    frame: Frame

    @property
    def values(self) -> Values:
        """What the expression can be."""
        return self.ev.values(self.node, self.frame)


def file_of(text: str) -> File:
    """A program that begins with the usual imports, as rules see it."""
    return Session(Settings()).analyse("/nowhere/program.py", f"{IMPORTS}\n{dedent(text)}")


def asked(expression: str, before: str = "", parameters: str = "") -> Asked:
    """An expression that a function returns, behind some statements at the top of a module."""
    text = f"{dedent(before)}\n\ndef asked({parameters}):\n    return {expression}\n"
    file = file_of(text)
    scope = next(each for each in file.module.root.inner if _is_called(each.node, "asked"))
    (returned,) = scope.own(cst.Return)
    assert returned.value is not None
    return Asked(file.ev, returned.value, file.ev.frame_of(scope))


def _is_called(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.FunctionDef) and node.name.value == name
