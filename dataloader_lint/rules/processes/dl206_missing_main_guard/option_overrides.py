"""Options that a script overrides after parsing: `opt.workers = 0` below `opt = parser.parse_args()`."""

from __future__ import annotations

from collections.abc import Iterator

from dataloader_lint.semantics.syntax.attribute_stores import Store, stores
from dataloader_lint.semantics.syntax.flow import reaching_or_not
from dataloader_lint.semantics.syntax.tree import Node, Scope
from dataloader_lint.semantics.values.options import is_default_of
from dataloader_lint.semantics.values.values import CallResult, Class, Const, Evaluator, Module, Value, Values, merge


def with_overrides(ev: Evaluator, values: Values, statement: Node, root: Scope) -> Values:
    """What values are once a statement of a script runs: what the script sets itself replaces an option's default.

    The option is read in another module, where every script that calls it counts; this one has set it.
    """
    return merge(*(_of_default(ev, value, statement, root) for value in values))


def _of_default(ev: Evaluator, value: Value, statement: Node, root: Scope) -> Values:
    if not isinstance(value, Const) or not value.default:
        return (value,)
    tree = root.module.tree
    stores = list(_stores(ev, value.default, root))
    outside = [store for store in stores if tree.scope_of(store.node) is root]
    reached, surely = reaching_or_not(statement, outside, tree) if outside else ([], False)
    for store in stores:  # those of the functions that the statement may call
        scope = tree.scope_of(store.node)
        if scope is not root:
            reached.append(store)
            surely = surely or tree.parent(tree.statement_of(store.node)) is getattr(scope.node, "body", None)
    given = [ev.values(store.value, ev.frame_of(tree.scope_of(store.node))) for store in reached]
    return merge(*given) if surely else merge((value,), *given)


def _stores(ev: Evaluator, label: str, root: Scope) -> Iterator[Store]:
    """The assignments of a module to the option that a default is declared for."""
    for name, store in stores(root.module):
        if is_default_of(label, name):
            frame = ev.frame_of(root.module.tree.scope_of(store.node))
            if any(_may_hold_options(each) for each in ev.values(store.owner, frame)):
                yield store


def _may_hold_options(value: Value) -> bool:
    return not isinstance(value, Class | Module) and not (isinstance(value, CallResult) and isinstance(value.by, Class))
