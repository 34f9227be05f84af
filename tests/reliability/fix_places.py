"""Where code of a generated program stands: in which blocks, functions and classes, and how it is asked to run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Chance(random.Random):
    """Chance with shorter words."""

    def of(self, *choices: T) -> T:
        """One of these."""
        return self.choice(choices)

    def now(self, share: float = 0.5) -> bool:
        """True in this share of all cases."""
        return self.random() < share

    def some(self, choices: Sequence[T], share: float) -> list[T]:
        """Each of these in this share of all cases."""
        return [each for each in choices if self.random() < share]


def indented(lines: Sequence[str], levels: int = 1) -> list[str]:
    """One level more, but for blank lines."""
    return [f"{'    ' * levels}{line}" if line else line for line in lines]


def in_expression(chance: Chance, line: str) -> list[str]:
    """`loader = ...`, with what makes the loader as a part of another expression or statement."""
    if ":=" in line:
        return [line]  # binds its name in the scope around
    made = line.removeprefix("loader = ")
    return chance.of(
        [line],
        [line],
        [line],
        [f"loader = (lambda: {made})()"],
        [f"def given(loader={made}):", "    return loader", "loader = given()"],
        [f"loader = {made} if len(sys.argv) < 9 else None"],
        [f"print((loader := {made}) is not None)"],
        [f"loader = {{'it': {made}}}['it']"],
        [f"with contextlib.nullcontext({made}) as loader: pass"],
        [f"for loader in [{made}]: pass"],
        [f"loader, *rest = {made}, 1, 2"],
        ["class Holder:", f"    loader = {made}", "loader = Holder.loader"],
        [f"loader = functools.partial(lambda made: made, {made})()"],
        [f"@(lambda function: function({made}))", "def loader(made):", "    return made"],
    )


def in_block(chance: Chance, lines: list[str]) -> list[str]:
    """The lines in a block that runs once."""
    inner = indented(lines)
    return chance.of(
        lines,
        lines,
        ["if True:", *inner],
        ["if not True:", "    print('never')", "else:", *inner],
        ["for _once in range(1):", *inner],
        ["with contextlib.nullcontext():", *inner],
        ["try:", *inner, "finally:", "    print('finally')"],
        ["try:", *inner, "except KeyError:", "    print('missing')"],
        ["match 1:", "    case int():", *indented(inner)],
        ["while True:", *inner, "    break"],
    )


def in_error_block(chance: Chance, lines: list[str]) -> list[str]:
    """The lines where the errors of a loader's constructor are wanted."""
    inner = indented(lines)
    return chance.of(
        ["try:", *inner, "except ValueError:", "    print('wanted')"],
        ["try:", *inner, "except Exception as error:", "    print('wanted', type(error).__name__)"],
        ["with contextlib.suppress(ValueError):", *inner, "    print('unwanted')"],
        ["with pytest.raises(ValueError):", *inner],
        ["with unittest.TestCase().assertRaises(ValueError):", *inner],
        ["try:", *indented(["try:", *inner, "finally:", "    print('on the way')"]), "except:", "    print('any')"],
    )


def in_function(chance: Chance, lines: list[str]) -> list[str]:
    """The lines in a function, method or main block, with what runs them."""
    inner = indented(lines)
    guard = "if __name__ == '__main__':"
    call = lambda code: chance.of([guard, f"    {code}"], [guard, f"    {code}"], [code])  # noqa: E731
    return chance.of(
        lines,
        [guard, *inner],
        [guard, *inner],
        ["def main():", *inner, "", "", *call("main()")],
        ["def main(*args, **kwargs):", *inner, "", "", *call("main(1, two=2)")],
        ["def main(step=0):", *inner, "    return step", "", "", *call("print(main(step=3))")],
        ["@decorated", "def main():", *inner, "", "", *call("main()")],
        ["async def main():", *inner, "", "", *call("asyncio.run(main())")],
        ["def main():", *inner, "    yield 1", "", "", *call("print(list(main()))")],
        [
            *["def outer(extra):", "    def main():", *indented(inner), "        return extra", "    return main()"],
            *["", "", *call("print(outer('extra'))")],
        ],
        ["class Task:", "    step = 5", "", "    def main(self):", *indented(inner), "", "", *call("Task().main()")],
        ["class Task:", "    @classmethod", "    def main(cls):", *indented(inner), "", "", *call("Task.main()")],
        ["class Task:", "    @staticmethod", "    def main():", *indented(inner), "", "", *call("Task.main()")],
        [
            *["class Task:", "    @property", "    def main(self):", *indented(inner), "        return 7", "", ""],
            *call("print(Task().main)"),
        ],
        ["def main():", *inner, "", "", *call("functools.reduce(lambda done, run: run(), [main], None)")],
        ["def main():", *inner, "", "", *call("getattr(sys.modules[__name__], 'ma' + 'in')()")],
    )


HEAD = """\
import asyncio
import contextlib
import functools
import os
import sys
import unittest

import numpy as np
import pytest
import torch
"""

DECORATED = """\
def decorated(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        print("before")
        return function(*args, **kwargs)

    return wrapped
"""


def head(chance: Chance, names: str = "BatchSampler, DataLoader, Dataset, IterableDataset") -> list[str]:
    """The imports that programs begin with, fewer of them where chance has it, and a decorator."""
    lines = HEAD.splitlines()
    lines.append(f"from torch.utils.data import {names}")
    if chance.now(0.3):
        lines.insert(
            0, chance.of('"""What it does."""', "# -*- coding: utf-8 -*-", "from __future__ import annotations")
        )
    if chance.now(0.2):
        lines.insert(4, "from functools import partial")
    return [*lines, "", "", *DECORATED.splitlines(), "", ""]


ROWS = """\
class Rows(Dataset):
    def __init__(self, count=5):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index >= self.count:
            raise IndexError(index)
        return torch.tensor(index + 1)
"""


def consumed(chance: Chance, loader: str) -> list[str]:
    """What is done with a loader: its batches and what it says of itself are printed."""
    lines = chance.of(
        [f"for batch in {loader}:", "    print(batch)"],
        ["for epoch in range(2):", f"    for batch in {loader}:", "        print(epoch, batch)"],
        [f"print(list({loader}))"],
        [f"print([str(batch) for batch in {loader}])"],
        [f"batch = next(iter({loader}))", "print(batch)"],
        [f"print(len({loader}), *enumerate({loader}))"],
    )
    if chance.now(0.3):
        lines.append(f"print({loader}.num_workers, {loader}.batch_size, {loader}.drop_last, {loader}.timeout)")
    if chance.now(0.15):
        lines.append(f"print({loader}.persistent_workers, {loader}.prefetch_factor, {loader}.pin_memory)")
    return lines
