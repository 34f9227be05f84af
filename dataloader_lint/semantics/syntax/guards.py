"""Main guards: module-level code that workers do not run when they import the script again."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.syntax.flow import leaves
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.origins import only_value
from dataloader_lint.semantics.syntax.tree import Node, Tree

_LEAVING_CALLS = frozenset({"sys.exit", "exit", "quit", "os._exit"})
# What `__name__` is in the script that is run, and in the copy of it that a worker imports.
SCRIPT, COPY = "__main__", "__mp_main__"


def is_guarded(node: Node, tree: Tree) -> bool:
    """True if code at module level runs in no worker, or not in the script itself: `if __name__ == "__main__":`."""
    known: dict[int, bool] = tree.of_text(("guarded", 0), dict)
    path: list[int] = []
    child, found = node, False
    for above in tree.ancestors(node):
        path.append(id(child))
        if id(child) in known:
            found = known[id(child)]
            break
        if _guards(above, child, tree):
            found = True
            break
        child = above
    known.update(dict.fromkeys(path, found))
    return found


def _guards(above: Node, child: Node, tree: Tree) -> bool:
    """True if the statement directly around a place guards it."""
    if isinstance(above, cst.If | cst.IfExp):
        return child is not above.test and _keeps_away(above.test, child is above.body, tree)
    if isinstance(above, cst.BooleanOperation):
        return child is above.right and _keeps_away(above.left, isinstance(above.operator, cst.And), tree)
    if isinstance(above, cst.MatchCase):
        match = tree.parent(above)
        return isinstance(match, cst.Match) and _case_keeps_away(match.subject, above)
    if isinstance(above, cst.IndentedBlock | cst.Module):
        first = tree.of_text(("leaves copies", id(above)), lambda: _first_exit(above, tree))
        return first is not None and tree.order(first) < tree.order(child)
    return False


def _first_exit(block: cst.IndentedBlock | cst.Module, tree: Tree) -> cst.If | None:
    """The first statement of a block that workers do not get past."""
    statements = (statement for statement in block.body if isinstance(statement, cst.If))
    return next((statement for statement in statements if _leaves_copies(statement, tree)), None)


def _keeps_away(test: cst.BaseExpression, wanted: bool, tree: Tree) -> bool:
    return any(_answer(test, name, tree) is (not wanted) for name in (SCRIPT, COPY))


def _leaves_copies(statement: cst.If, tree: Tree) -> bool:
    """`if __name__ != "__main__": sys.exit()`."""
    return _answer(statement.test, COPY, tree) is True and (leaves(statement.body) or _exits(statement.body))


def _exits(body: cst.BaseSuite) -> bool:
    last = body.body[-1] if body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, cst.Expr) and isinstance(last.value, cst.Call) and dotted(last.value.func) in _LEAVING_CALLS


def _case_keeps_away(subject: cst.BaseExpression, case: cst.MatchCase) -> bool:
    pattern = case.pattern
    return (
        _is_name(subject)
        and isinstance(pattern, cst.MatchValue)
        and isinstance(pattern.value, cst.SimpleString)
        and pattern.value.evaluated_value != COPY
    )


def _answer(test: cst.BaseExpression, name: str, tree: Tree, depth: int = 0) -> bool | None:
    """What a condition gives where `__name__` is `name`: True, False, or unknown."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        answer = _answer(test.expression, name, tree, depth)
        return None if answer is None else not answer
    if isinstance(test, cst.BooleanOperation):
        answers = (_answer(test.left, name, tree, depth), _answer(test.right, name, tree, depth))
        decides = isinstance(test.operator, cst.Or)
        if decides in answers:
            return decides
        return None if None in answers else not decides
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        target = test.comparisons[0]
        return _compared(test.left, target.operator, target.comparator, name)
    value = only_value(test, tree) if depth < 3 else None  # a name for the guard
    return _answer(value, name, tree, depth + 1) if value is not None else None


def _compared(left: cst.BaseExpression, operator: cst.BaseCompOp, right: cst.BaseExpression, name: str) -> bool | None:
    is_script = name == SCRIPT
    if isinstance(operator, cst.In | cst.NotIn):
        if not _is_name(left) or not isinstance(right, cst.Tuple | cst.List | cst.Set):
            return None
        texts = [each.value.evaluated_value for each in right.elements if isinstance(each.value, cst.SimpleString)]
        if len(texts) != len(right.elements):
            return None
        return (name in texts) is isinstance(operator, cst.In)
    if not isinstance(operator, cst.Equal | cst.NotEqual | cst.Is | cst.IsNot):
        return None
    equal = isinstance(operator, cst.Equal | cst.Is)
    for one, other in ((left, right), (right, left)):
        if isinstance(other, cst.SimpleString):
            if _is_name(one):
                return (other.evaluated_value == name) is equal
            # The name of `multiprocessing.current_process()` says whether that is the main one.
            if isinstance(one, cst.Attribute) and one.attr.value == "name" and _calls(one.value, "current_process"):
                return ((other.evaluated_value == "MainProcess") is is_script) is equal
        elif isinstance(other, cst.Name) and other.value == "None" and _calls(one, "parent_process"):
            return is_script is equal
    return None


def _is_name(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "__name__"


def _calls(node: cst.BaseExpression, function: str) -> bool:
    return isinstance(node, cst.Call) and dotted(node.func).rpartition(".")[2] == function
