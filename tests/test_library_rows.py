"""The rows about calls of libraries: each name once, and only words that facts ask for."""

from __future__ import annotations

import ast
import inspect

import pytest

from dataloader_lint.rules.processes.dl205_handle_opened_in_init import FORKED
from dataloader_lint.semantics.libraries import models, rows
from dataloader_lint.semantics.libraries.calls import KEYED, VALUE_KINDS, names_where, row
from dataloader_lint.semantics.libraries.models import methods

GIVEN = VALUE_KINDS | KEYED | {"", "config", "file", "iterator", "json", "list", "object", "rng", "settings"}


def test_kinds_are_known_ones() -> None:
    assert {row(name).gives for name in names_where(lambda call: True)} <= GIVEN


def test_what_is_shared_has_words_for_users() -> None:
    assert {row(name).shared for name in names_where(lambda call: bool(call.shared))} <= set(FORKED)


def test_each_name_stands_once() -> None:
    written: list[str] = []
    names: list[str] = []
    for model in vars(models).values():
        if inspect.ismodule(model):
            tables = [node for node in ast.walk(ast.parse(inspect.getsource(model))) if isinstance(node, ast.Dict)]
            keys = [key.value for table in tables for key in table.keys if isinstance(key, ast.Constant)]
            written += [key for key in keys if "." in key]
            names += model.ROWS if model is not methods else ()
    assert written and len(written) == len(set(written))
    assert len(names) == len(set(names)) and set(names) == names_where(lambda call: True)


@pytest.mark.parametrize(
    ("name", "kind", "is_handle"),
    [
        ("builtins.open", "file", True),
        ("numpy.load", "", False),  # an archive, or an array that is read at once
        ("pandas.DataFrame.to_dict", "dict", False),
        ("nobody.knows", "", False),
    ],
)
def test_lookup(name: str, kind: str, is_handle: bool) -> None:
    assert row(name).gives == kind
    assert row(name).is_handle is is_handle


def test_unknown_calls_have_an_empty_row() -> None:
    assert row("nobody.knows") == rows.Call()
