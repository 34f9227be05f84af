"""Random sampling from attributes: `self.files[random.randrange(len(self.files))]`, `random.choice(self.files)`."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.origins import origins
from dataloader_lint.semantics.syntax.tree import Tree
from dataloader_lint.semantics.values.values import Bases

_CHOICE_FUNCTIONS = frozenset({"choice", "choices", "sample"})
_RANDOM_INTEGERS = frozenset({"integers", "randint", "randrange"})


def sampled_source(call: cst.Call) -> cst.BaseExpression | None:
    """The expression that a call samples from at random; None for other calls."""
    if last_name(call.func) not in _CHOICE_FUNCTIONS or not call.args or call.args[0].keyword is not None:
        return None
    source = call.args[0].value
    while isinstance(source, cst.Subscript):  # `self.files[kind]`
        source = source.value
    return source


def random_index_bounds(node: cst.BaseExpression, tree: Tree) -> set[str]:
    """The attributes in the bound of a random index: `randint(0, len(self.files) - 1)`."""
    return {
        part.attr.value
        for each in origins(node, tree)
        for call in tree.find(each, cst.Call)
        if last_name(call.func) in _RANDOM_INTEGERS
        for arg in call.args
        for part in tree.find(arg.value, cst.Attribute)
    }


def is_size_of(bound: str, name: str, bases: Bases) -> bool:
    """True if an attribute is the one that is indexed, or stores its length: `self.size = len(self.files)`."""
    return bound == name or any(
        isinstance(binding.value, cst.Call)
        and last_name(binding.value.func) == "len"
        and any(isinstance(arg.value, cst.Attribute) and arg.value.attr.value == name for arg in binding.value.args)
        for klass in bases.classes
        for binding in classes.attribute_bindings(klass.scope).get(bound, ())
    )
