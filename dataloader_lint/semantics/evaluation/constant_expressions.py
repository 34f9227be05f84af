"""Expressions with the same value in every frame: literals, builtins, what a module imports and defines.

Nearly a third of all questions are of this kind, and one function is evaluated in many frames.
"""

from __future__ import annotations

import builtins

import libcst as cst

from dataloader_lint.semantics.evaluation import expressions
from dataloader_lint.semantics.syntax.attribute_stores import stores_to
from dataloader_lint.semantics.syntax.names import Kind, resolve, star_imports
from dataloader_lint.semantics.syntax.tree import ModuleFacts
from dataloader_lint.semantics.values.values import Class, Const, Evaluator, Function, Library, Module, Values, merge

LITERAL_NAMES = {"True": True, "False": False, "None": None}
_LITERALS = frozenset({cst.Float, cst.Integer, cst.SimpleString})
KINDS = frozenset({cst.Attribute, cst.Name, *_LITERALS})
_DEFINING = (Kind.CLASS, Kind.FUNCTION, Kind.IMPORT)


def context_free_value(ev: Evaluator, node: cst.CSTNode, module: ModuleFacts) -> Values | None:
    """What an expression of one of the `KINDS` gives in every frame; None where that may depend on the frame."""
    if isinstance(node, cst.Name):
        found = _of_name(ev, node, module)
    elif isinstance(node, cst.Attribute):
        found = _of_attribute(ev, node, module)
    elif type(node) in _LITERALS:
        return expressions.BY_KIND[type(node)](ev, node, ev.frame_of(module.root))
    else:
        return None
    # Conditions leave of these what they are; of other values they may leave some only.
    is_fixed = found is not None and all(
        isinstance(each, Class | Const | Function | Library | Module) for each in found
    )
    return found if is_fixed else None


def _of_name(ev: Evaluator, node: cst.Name, module: ModuleFacts) -> Values | None:
    if node.value in LITERAL_NAMES:
        return (Const(LITERAL_NAMES[node.value]),)
    bindings = resolve(node, module.tree)
    if not bindings:
        is_builtin = hasattr(builtins, node.value) and not star_imports(module.root)
        return (Library(f"builtins.{node.value}"),) if is_builtin else None
    binding = bindings[0]
    if len(bindings) > 1 or binding.kind not in _DEFINING or binding.scope is not module.root:
        return None
    order = module.tree.order
    if any(order(star.node) > order(binding.node) for star in star_imports(module.root)):
        return None
    found = ev.binding(binding, ev.frame_of(module.root))
    return None if any(isinstance(each, Const) for each in found) else found


def _of_attribute(ev: Evaluator, node: cst.Attribute, module: ModuleFacts) -> Values | None:
    names: list[str] = []
    owner: cst.CSTNode = node
    while isinstance(owner, cst.Attribute):  # a loop, as chains may be longer than Python's stack
        names.append(owner.attr.value)
        owner = owner.value
    if not isinstance(owner, cst.Name) or stores_to(module, owner.value, names[-1]):
        return None
    found = ev.everywhere(owner, module)
    for name in reversed(names):
        if found is None or not all(isinstance(each, Library | Module) for each in found):
            return None
        found = merge(*(ev.attribute(each, name) for each in found))
    return found
