"""Columns of texts that a table of a file holds as Python objects: those of pandas before 3, unless Arrow is used."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.rules.memory._shared.dataset import StoringDataset
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.limits import ALIAS_CHAIN
from dataloader_lint.semantics.project.project import Project
from dataloader_lint.semantics.project.required_versions import OLD_PANDAS, demands
from dataloader_lint.semantics.syntax.names import Kind, dotted, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope
from dataloader_lint.semantics.values.values import Evaluator, Frame, Library

READERS = frozenset({"pandas.read_csv", "pandas.read_table"})
# Words of what stores texts in another way: as Arrow strings, or as numbers of categories.
_OTHER_STORAGE = ("arrow", "categor", "infer_string", "convert_dtypes")
_OF_PATHS = frozenset({"os.path.join", "pathlib.Path", "builtins.open", "io.open"})
_TEXT_METHODS = frozenset({"endswith", "lower", "lstrip", "replace", "rstrip", "split", "startswith", "strip", "upper"})


def are_objects(project: Project, module: ModuleFacts) -> bool:
    """True if the project demands a pandas before 3, and the module does not ask for another storage of texts."""
    if any(word in module.tree.code for word in _OTHER_STORAGE):
        return False
    return any(demands(text, OLD_PANDAS) for text in project.requirements(module.path))


def is_read_as_text(dataset: StoringDataset, name: str) -> bool:
    """True if worker code takes a value out of the table `self.name`, and uses it as a path or a text."""
    return any(
        _is_from_table(node, scope, f"{classes.receiver_name(scope)}.{name}", 0)
        for scope in dataset.reads.functions
        for node in _texts_in(dataset.ev, scope)
    )


def _texts_in(ev: Evaluator, scope: Scope) -> Iterator[cst.BaseExpression]:
    """The expressions of a function that must be texts where they stand."""
    frame = ev.frame_of(scope)
    for call in scope.within(cst.Call):
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in _TEXT_METHODS:
            yield call.func.value
        elif call.args and _takes_path(ev, call, frame):
            yield from (arg.value for arg in call.args if not arg.star and arg.keyword is None)
    for operation in scope.module.tree.find(scope.node, cst.BinaryOperation):
        sides = (operation.left, operation.right)
        if isinstance(operation.operator, cst.Add) and any(isinstance(each, cst.BaseString) for each in sides):
            yield from sides


def _takes_path(ev: Evaluator, call: cst.Call, frame: Frame) -> bool:
    """True if a call takes a path; other arguments of it are no values of a table."""
    names = [each.name for each in ev.values(call.func, frame) if isinstance(each, Library)]
    return any(each in _OF_PATHS or "path" in row(each).reads or row(each).gives == "image" for each in names)


def _is_from_table(node: cst.BaseExpression, scope: Scope, table: str, depth: int) -> bool:
    """True for a row, a column or an element of the table: `row["path"]`, `self.table.iloc[index, 0]`."""
    tree = scope.module.tree
    is_part = False
    while isinstance(node, cst.Subscript | cst.Attribute):
        if is_part and dotted(node) == table:
            return True
        is_part = is_part or isinstance(node, cst.Subscript)
        node = node.value
    if not isinstance(node, cst.Name) or depth > ALIAS_CHAIN or node not in tree:
        return False
    values = (each.value for each in resolve(node, tree) if each.kind is Kind.VALUE)
    return any(value is not None and _is_from_table(value, scope, table, depth + 1) for value in values)
