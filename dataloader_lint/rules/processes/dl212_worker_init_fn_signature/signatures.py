"""Functions that can be called with one positional argument."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.loaders.callbacks import Callback
from dataloader_lint.semantics.classes.classes import is_static
from dataloader_lint.semantics.evaluation.loader_calls import Loader, loaders_in
from dataloader_lint.semantics.project.project import Project
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, Tree
from dataloader_lint.semantics.values.values import Evaluator, Function, Method, Partial, Value

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, eq=False)
class SignatureMismatch:
    """A function that a loader's workers cannot call with their number: it takes none, or wants more than that."""

    function: cst.FunctionDef | cst.Lambda
    node: Node  # where it is passed
    loader: Loader
    takes_none: bool
    scope: Scope | None  # of the function, where it is passed as it is

    def has_other_users(self, project: Project) -> bool:
        """True if anything but `worker_init_fn=...` of loaders may call the function, in this file or in another one.

        That is where its name stands anywhere else, be it in a string, a list, an import or a notebook.
        """
        if self.scope is None:
            return True
        module = self.scope.module
        known = module.tree.once(("worker_init_fn values", id(module.root)), lambda: _given(self.loader.ev, module))
        if isinstance(self.function, cst.Lambda):
            return id(self.function) not in known
        name = self.function.name.value
        places = module.tree.once(("mentions", id(module.root)), lambda: _mentions(module.tree)).get(name, [])
        return any(each is not self.function and id(each) not in known for each in places) or (
            self.scope.parent is module.root and project.mentions.may_use_name(module.path, name)
        )

    @property
    def name(self) -> str:
        return self.function.name.value if isinstance(self.function, cst.FunctionDef) else "the lambda"


def signature_mismatches(callbacks: list[Callback], loaders: list[Loader]) -> Iterator[SignatureMismatch]:
    """The functions given as `worker_init_fn` that fail in every worker."""
    for each in callbacks:
        for value in each.loader.values("worker_init_fn"):
            is_it = value == each.function or (isinstance(value, Partial) and value.callee == each.function)
            found = _mismatch(value, each.node, each.loader) if is_it else None
            if found is not None:
                yield found
    for loader in loaders:
        written = loader.argument("worker_init_fn")
        if written is not None and loader.is_written_here:
            for value in loader.values("worker_init_fn"):
                found = _mismatch(value, written.value, loader) if isinstance(value, Method) else None
                if found is not None:
                    yield found


def _mismatch(value: Value, node: Node, loader: Loader) -> SignatureMismatch | None:
    bound, named = 0, set[str]()
    scope = value.scope if isinstance(value, Function) else None
    if isinstance(value, Partial):
        for call in (value.call, *(each for each, _ in value.before)):
            if any(arg.star for arg in call.args):
                return None
            bound += sum(arg.keyword is None for arg in call.args) - 1
            named |= {arg.keyword.value for arg in call.args if arg.keyword is not None}
        value = value.callee
    if isinstance(value, Method):
        if isinstance(value.function.node, cst.FunctionDef) and not is_static(value.function.node):
            bound += 1
        value = value.function
    if not isinstance(value, Function) or (isinstance(value.node, cst.FunctionDef) and value.node.decorators):
        return None
    params = value.node.params
    if isinstance(params.star_arg, cst.Param):
        return None
    left = [*params.posonly_params, *params.params][bound:]
    wanted = [param for param in left if param.default is None and param.name.value not in named]
    if not left or left[0].name.value in named:
        return SignatureMismatch(value.node, node, loader, True, scope)
    return SignatureMismatch(value.node, node, loader, False, scope) if len(wanted) > 1 else None


def _given(ev: Evaluator, module: ModuleFacts) -> set[int]:
    """The ids of what loaders of a module get as `worker_init_fn`."""
    written = (each.argument("worker_init_fn") for each in loaders_in(ev, module))
    return {id(each.value) for each in written if each is not None}


def _examples_in(text: str) -> str:
    """The lines of a docstring that a doctest runs."""
    return "\n".join(line for line in text.splitlines() if line.strip(" \t\"'").startswith((">>>", "...")))


def _mentions(tree: Tree) -> dict[str, list[Node]]:
    """The places in a file by the name that stands there, also in texts; of docstrings, in their examples."""
    found: dict[str, list[Node]] = {}

    def add(node: Node, names: Iterable[str]) -> None:
        for name in names:
            found.setdefault(name, []).append(node)

    for node in tree.walk(tree.module):
        if isinstance(node, cst.Name):
            add(node, [node.value])
        elif isinstance(node, cst.Attribute):
            add(node, [node.attr.value])
        elif isinstance(node, cst.FunctionDef | cst.ClassDef):
            add(node, [node.name.value])
        elif isinstance(node, cst.SimpleString | cst.FormattedStringText):
            text = _examples_in(node.value) if isinstance(tree.parent(node), cst.Expr) else node.value
            add(node, set(_WORD.findall(text)))
        elif isinstance(node, cst.Global | cst.Nonlocal):
            add(node, [each.name.value for each in node.names])
        elif isinstance(node, cst.Import | cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
            add(node, [dotted(each.name) for each in node.names])
            add(node, [dotted(each.asname.name) for each in node.names if each.asname is not None])
    return found
