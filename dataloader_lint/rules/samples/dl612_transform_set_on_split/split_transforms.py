"""Transforms that are set on one split of a Dataset: on the Subset, which ignores them, or on what all splits share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.steps import Step
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, function_scope
from dataloader_lint.semantics.values.values import CallResult, Evaluator, Frame

_SUBSET = "torch.utils.data.Subset"
_TRANSFORMS = frozenset({"transform", "transforms", "target_transform"})


@dataclass(frozen=True, slots=True, eq=False)
class SplitTransform:
    """A statement that sets a transform on a split; `is_shared` if it goes to the Dataset that all splits share."""

    node: Node
    owner: str  # the object that gets the transform, as written
    attribute: str
    is_shared: bool
    split: CallResult

    @property
    def steps(self) -> tuple[Step, ...]:
        """Where the Dataset is split."""
        if self.split.call is None or self.split.frame is None:
            return ()
        return (Step(self.split.frame.scope.module, self.split.call, "the Dataset is split here"),)


@dataclass(frozen=True, slots=True, eq=False)
class _Store:
    node: Node
    owner: cst.BaseExpression  # what gets the transform
    attribute: str
    value: cst.BaseExpression
    scope: Scope


def split_transforms(ev: Evaluator, module: ModuleFacts) -> Iterator[SplitTransform]:
    """Yields the statements of a module that set a transform on a Subset, or on the Dataset behind one."""
    shared: dict[int, list[tuple[_Store, CallResult]]] = {}
    for store in _stores(module):
        frame = ev.frame_of(function_scope(store.scope))
        owner = store.owner
        split = _split(ev, owner, frame)
        if split is not None and is_reached(ev, store.node, frame, with_options=True):
            yield SplitTransform(store.node, dotted(owner), store.attribute, False, split)
        elif isinstance(owner, cst.Attribute) and owner.attr.value == "dataset":
            split = _split(ev, owner.value, frame)
            if split is None or not is_reached(ev, store.node, frame, with_options=True):
                continue
            if not _is_rebound(owner, store) and _has_siblings(split):
                shared.setdefault(id(split.call), []).append((store, split))
    for stores in shared.values():
        texts = {module.tree.spelling(store.value) for store, _ in stores}
        if len(stores) > 1 and len(texts) == 1:
            continue  # all splits get the same one
        for store, split in stores:
            yield SplitTransform(store.node, dotted(store.owner), store.attribute, True, split)


def _stores(module: ModuleFacts) -> Iterator[_Store]:
    """Where an attribute that is called like a transform is set, of another object than `self`."""
    for scope in module.root.descend():
        for node in scope.own(cst.Assign):
            for target in node.targets:
                attribute = target.target
                if isinstance(attribute, cst.Attribute) and attribute.attr.value in _TRANSFORMS:
                    if dotted(attribute.value) not in ("", "self"):
                        yield _Store(node, attribute.value, attribute.attr.value, node.value, scope)
        for call in scope.own(cst.Call):  # `setattr(train_set, "transform", augment)`
            if isinstance(call.func, cst.Name) and call.func.value == "setattr" and len(call.args) == 3:
                owner, name, value = (arg.value for arg in call.args)
                text = name.evaluated_value if isinstance(name, cst.SimpleString) else None
                if isinstance(text, str) and text in _TRANSFORMS and dotted(owner) not in ("", "self"):
                    yield _Store(call, owner, text, value, scope)


def _split(ev: Evaluator, node: cst.BaseExpression, frame: Frame) -> CallResult | None:
    """The Subset that an expression surely is."""
    found = ev.values(node, frame)
    subsets = [each for each in found if isinstance(each, CallResult) and each.library == _SUBSET]
    return subsets[0] if subsets and len(subsets) == len(found) else None


def _is_rebound(owner: cst.Attribute, store: _Store) -> bool:
    """True if a split gets a Dataset of its own in the same function: `val.dataset = copy.copy(full)`.

    For splits that an object keeps, any function of the module may do that.
    """
    is_kept = dotted(owner).startswith("self.")
    scopes = store.scope.module.root.descend() if is_kept else store.scope.descend()
    return any(
        last_name(target.target) == "dataset" and isinstance(target.target, cst.Attribute)
        for scope in scopes
        for node in scope.own(cst.Assign)
        for target in node.targets
    )


def _has_siblings(split: CallResult) -> bool:
    """True if another split shares the Dataset: `random_split` makes several, and so do two calls of `Subset`."""
    call = split.call
    if call is None or not call.args or split.frame is None:
        return False
    if last_name(call.func) != "Subset":
        return True
    tree = split.frame.scope.module.tree
    whole = tree.spelling(call.args[0].value)
    return isinstance(call.args[0].value, cst.Name | cst.Attribute) and any(
        other is not call
        and other.args
        and tree.spelling(other.args[0].value) == whole
        and function_scope(tree.scope_of(other)) is function_scope(tree.scope_of(call))
        for other in split.frame.scope.module.calls_named("Subset")
    )
