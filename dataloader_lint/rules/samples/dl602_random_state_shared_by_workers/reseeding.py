"""Seeds of a worker_init_fn, replaced by the one that torch gives each worker anew in each epoch."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from dataloader_lint.edits import Edit, Editor, RefusedError, need_import, replace
from dataloader_lint.rules.samples.dl602_random_state_shared_by_workers.seeding import Seeding, seeding_calls
from dataloader_lint.semantics.syntax.expressions import parameters
from dataloader_lint.semantics.syntax.names import Kind, bindings_of
from dataloader_lint.semantics.syntax.origins import only_value
from dataloader_lint.semantics.syntax.tree import Scope

_SEEDERS = frozenset({"numpy.random.seed", "random.seed"})


def seed_from_torch(editor: Editor, seedings: Sequence[Seeding]) -> tuple[Edit, ...]:
    """Have all seeds of a function be `torch.initial_seed() % 2**32`.

    Refused where more than numbers, the worker id and NumPy's state is part of a seed, and where it seeds torch.
    """
    scope = seedings[0].scope
    node = scope.node
    if not isinstance(node, cst.FunctionDef | cst.Lambda) or node not in editor.tree:
        raise RefusedError("it is written in another file")
    if len(parameters(node)) > 1:
        raise RefusedError("the seed is an option of yours")
    if {id(each) for each in seeding_calls(scope)} != {id(each.call) for each in seedings}:
        raise RefusedError("it seeds something else as well")
    if any(each.seeder not in _SEEDERS for each in seedings):
        raise RefusedError("it seeds torch itself")
    torch = need_import(editor, seedings[0].call, "torch")
    code = f"{torch.name}.initial_seed() % 2**32"
    edits = [*torch.edits]
    for each in seedings:
        seed = _written(scope, each)
        if not all(_is_replaceable(editor, scope, name) for name in editor.tree.find(seed, cst.Name)):
            raise RefusedError("the seed is an option of yours")
        edits.append(replace(editor, seed, code))
    return tuple(dict.fromkeys(edits))


def _written(scope: Scope, seeding: Seeding) -> cst.BaseExpression:
    """Where the seed is worked out: in the call, or in the one assignment of the variable that it is given."""
    given = seeding.call.args[0].value
    return only_value(given, scope.module.tree) or given


def _is_replaceable(editor: Editor, scope: Scope, name: cst.Name) -> bool:
    """True for the worker id, and for what calls NumPy: nothing that the user has chosen, or worked out above."""
    above = editor.tree.parent(name)
    if isinstance(above, cst.Attribute) and above.attr is name:
        return True  # `random` and `get_state` of `np.random.get_state()`
    own = bindings_of(scope).get(name.value)
    if own:
        return all(each.kind is Kind.PARAMETER for each in own)
    return {each.kind for each in bindings_of(editor.tree.root).get(name.value, [])} == {Kind.IMPORT}
