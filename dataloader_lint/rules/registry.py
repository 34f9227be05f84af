"""Finds the rules: modules and packages named `dlNNN_some_name` in the family folders. Nothing is registered."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.machinery import FileFinder
from types import ModuleType
from typing import Any

import dataloader_lint.rules
from dataloader_lint.rules.base import Finding, Rule

UNREADABLE_FILE = "DL000"
UNUSED_NOQA = "DL001"
INTERNAL_ERROR = "DL999"

_RULE_MODULE = re.compile(r"dl\d{3}_\w+")


@dataclass(frozen=True, slots=True)
class FoundRule:
    """A rule with what its file holds. `check` is None for the codes that the engine itself reports,
    `find` where the rule is about all loaders, all Datasets, or the file."""

    rule: Rule
    find: Callable[[Any], Iterable[object]] | None
    check: Callable[..., Iterable[Finding]] | None
    page: str
    module: str


@cache
def found_rules() -> dict[str, FoundRule]:
    """All rules by code, in the order of their codes."""
    found = [_read(module) for module in _rule_modules(dataloader_lint.rules.__path__, dataloader_lint.rules.__name__)]
    by_code = {rule.rule.code: rule for rule in sorted(found, key=lambda rule: rule.rule.code)}
    if len(by_code) < len(found):
        raise ValueError("two rule files have the same code")
    return by_code


def _rule_modules(folders: Iterable[str], package: str) -> Iterator[ModuleType]:
    for module in pkgutil.iter_modules(folders, f"{package}."):
        name = module.name.rpartition(".")[2]
        if _RULE_MODULE.fullmatch(name):  # what stands beside it in its package is loaded when the rule runs
            yield importlib.import_module(module.name)
        elif module.ispkg and not name.startswith("_"):  # a package without rules is not loaded
            assert isinstance(module.module_finder, FileFinder)
            yield from _rule_modules([os.path.join(module.module_finder.path, name)], module.name)


def _read(module: ModuleType) -> FoundRule:
    find, check = getattr(module, "find", None), getattr(module, "check", None)
    return FoundRule(module.RULE, find, check, module.__doc__ or "", module.__name__)
