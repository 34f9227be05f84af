"""What an expression picks by chance: `self.files[random.randrange(len(self.files))]`, `random.choice(self.files)`."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.facts.infer import classes
from dataloader_lint.facts.infer.values import Bases
from dataloader_lint.facts.limits import CHANCE_DEPTH
from dataloader_lint.facts.syntax.module import last_name
from dataloader_lint.facts.syntax.names import Kind, resolve
from dataloader_lint.facts.syntax.tree import Scope

_CHOOSING = frozenset({"choice", "choices", "sample"})
_NUMBERS = frozenset({"integers", "randint", "randrange"})


def chosen_from(call: cst.Call) -> cst.BaseExpression | None:
    """What a call picks from by chance; None where it does not."""
    if last_name(call.func) not in _CHOOSING or not call.args or call.args[0].keyword is not None:
        return None
    source = call.args[0].value
    while isinstance(source, cst.Subscript):  # `self.files[kind]`
        source = source.value
    return source


def bounds_of(node: cst.BaseExpression, scope: Scope, depth: int = 0) -> set[str]:
    """The attributes in the bound of an index that is drawn by chance: `randint(0, len(self.files) - 1)`."""
    tree = scope.module.tree
    if isinstance(node, cst.Name):
        bindings = resolve(node, tree) if depth < CHANCE_DEPTH else []
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind is Kind.VALUE else None
        return bounds_of(value, scope, depth + 1) if value is not None else set()
    return {
        part.attr.value
        for call in tree.find(node, cst.Call)
        if last_name(call.func) in _NUMBERS
        for arg in call.args
        for part in tree.find(arg.value, cst.Attribute)
    }


def is_size_of(bound: str, name: str, bases: Bases) -> bool:
    """Whether an attribute is another one, which is measured, or holds its length: `self.size = len(self.files)`."""
    return bound == name or any(
        isinstance(binding.value, cst.Call)
        and last_name(binding.value.func) == "len"
        and any(isinstance(arg.value, cst.Attribute) and arg.value.attr.value == name for arg in binding.value.args)
        for klass in bases.classes
        for binding in classes.attribute_bindings(klass.scope).get(bound, ())
    )
