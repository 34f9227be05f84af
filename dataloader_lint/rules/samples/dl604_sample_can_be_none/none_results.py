"""Where a function returns None for some of its calls: written out, from a helper, by a name that keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import enclosing_tests, excludes, path_conditions
from dataloader_lint.semantics.limits import NONE_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.flow import leaves
from dataloader_lint.semantics.syntax.names import Binding, Kind, dotted, is_none, resolve
from dataloader_lint.semantics.syntax.origins import only_value
from dataloader_lint.semantics.syntax.tree import LOOPS, Node, Scope, Tree
from dataloader_lint.semantics.values.values import NONE, CallResult, Evaluator, Frame


@dataclass(frozen=True, slots=True, eq=False)
class NonePlace:
    """A statement after which a function has returned None, and how it does so."""

    node: Node
    how: str


def none_places(ev: Evaluator, function: Scope, frame: Frame, depth: int = 0) -> Iterator[NonePlace]:
    """The places of a function where some of its calls return None, while others return something."""
    returns = function.own(cst.Return)
    if not any(each.value is not None and not is_none(each.value) for each in returns) or function.own(cst.Yield):
        return
    for each in returns:
        if each.value is None or is_none(each.value):
            if _is_about_data(each, frame) and is_reached_for_data(ev, each, frame):
                yield NonePlace(each, "returns None here")
        else:
            how = _how_none(ev, each.value, frame, depth) or (_how_in_parts(ev, each, frame) if depth == 0 else "")
            if how and _is_about_data(each, frame) and is_reached_for_data(ev, each, frame):
                yield NonePlace(each, how)
    body = function.node.body if isinstance(function.node, cst.FunctionDef) else None
    last = body.body[-1] if isinstance(body, cst.IndentedBlock) and body.body else None
    if isinstance(last, cst.Try) and last.finalbody is None and _leaves(last):
        for handler in last.handlers:
            if not leaves(handler.body) and handler.body.body:
                yield NonePlace(handler.body.body[-1], "returns None after this handler")


def _how_none(ev: Evaluator, node: cst.BaseExpression, frame: Frame, depth: int) -> str:
    """How an expression that is returned can be None for some samples; empty where it is not known to be."""
    if isinstance(node, cst.IfExp):
        arms = [node.body, node.orelse]
        if any(is_none(arm) for arm in arms) and NONE in ev.values(node, frame):
            return "returns None on one arm of this expression"
        return next((how for arm in arms if (how := _how_none(ev, arm, frame, depth))), "")
    if isinstance(node, cst.Call):
        return _how_called(ev, node, frame, depth)
    if not isinstance(node, cst.Name) or NONE not in ev.values(node, frame):
        return ""
    bindings = resolve(node, frame.scope.module.tree)
    if any(each.scope is not frame.scope or each.kind is not Kind.VALUE for each in bindings):
        return ""
    if any(each.path and not isinstance(each.value, cst.Call) for each in bindings):
        return ""  # `image, rate = read(path)` binds something else than None
    if any(each.value is not None and is_none(each.value) for each in bindings):
        bound = any(_may_be_passed_by(each) for each in bindings if each.value is None or not is_none(each.value))
        return f"returns `{node.value}`, which can still be None" if bound else ""
    called = (each.value for each in bindings if isinstance(each.value, cst.Call) and not each.path)
    return next((how for call in called if (how := _how_called(ev, call, frame, depth))), "")


def _how_in_parts(ev: Evaluator, returned: cst.Return, frame: Frame) -> str:
    """How a part of a sample can be None: `{"image": image, "mask": self.mask_of(index)}`."""
    tree = frame.scope.module.tree
    for part in _parts(returned.value, frame.scope) if returned.value is not None else ():
        if is_none(part):
            if _is_for_some(returned, frame):
                return "returns a sample with None in it"
            continue
        bindings = resolve(part, tree) if isinstance(part, cst.Name) else []
        if isinstance(part, cst.Name) and _is_left_by_error(bindings, frame.scope) and NONE in ev.values(part, frame):
            return f"returns samples whose `{part.value}` can be None"
        part = only_value(part, tree) or part
        if isinstance(part, cst.Call) and _how_called(ev, part, frame, 0, of_part=True):
            return f"returns samples whose `{last_name(part.func)}` can be None"
    return ""


def _parts(node: cst.BaseExpression, scope: Scope) -> list[cst.BaseExpression]:
    """What is written into a sample: into a tuple, list or dict, and later under keys of that dict."""
    if isinstance(node, cst.Tuple | cst.List):
        return [each.value for each in node.elements if isinstance(each, cst.Element)]
    if isinstance(node, cst.Dict):
        return [each.value for each in node.elements if isinstance(each, cst.DictElement)]
    bound = resolve(node, scope.module.tree) if isinstance(node, cst.Name) else []
    made = bound[0].value if len(bound) == 1 and bound[0].scope is scope and not bound[0].path else None
    if not isinstance(node, cst.Name) or not isinstance(made, cst.Dict):
        return []
    stores = [(each.target, assign.value) for assign in scope.own(cst.Assign) for each in assign.targets]
    later = [
        value
        for target, value in stores
        if isinstance(target, cst.Subscript) and dotted(target.value) == node.value and not is_none(value)
    ]
    return [*_parts(made, scope), *later]


def _is_for_some(returned: cst.Return, frame: Frame) -> bool:
    """True if an error, or a test of what was read, leads to a `return` and not to another one."""
    tree = frame.scope.module.tree
    if any(isinstance(above, cst.ExceptHandler) for above in tree.ancestors(returned)):
        return True
    tests = [test for test, _ in enclosing_tests(returned, frame)]
    return any(_is_data(name, frame.scope) for test in tests for name in tree.find(test, cst.Name))


def _is_left_by_error(bindings: list[Binding], scope: Scope) -> bool:
    """`try: label = row["label"]` and `except KeyError: label = None`, if nothing asks for it or binds it again."""
    tree = scope.module.tree
    tries = [next((each for each in tree.ancestors(b.node) if isinstance(each, cst.Try)), None) for b in bindings]
    if len(bindings) < 2 or tries[0] is None or any(each is not tries[0] for each in tries):
        return False
    if any(each.scope is not scope or each.value is None or each.path for each in bindings):
        return False
    asked = [*(each.test for each in scope.own(cst.If)), *(each.test for each in scope.own(cst.IfExp))]
    if any(tree.named(test, bindings[0].name) for test in asked):
        return False
    none = [each.node for each in bindings if each.value is not None and is_none(each.value)]
    return any(isinstance(above, cst.ExceptHandler) for node in none for above in tree.ancestors(node))


def _hangs_on_sample(place: NonePlace, inner: Frame, frame: Frame) -> bool:
    """True if an error, or a test about the sample, decides whether a call gives None, and not what the object has."""
    tree = inner.scope.module.tree
    tests = [each.test for each in path_conditions(place.node, inner.scope)]
    tests += [each.test for each in tree.find(place.node, cst.IfExp)]
    if any(isinstance(above, cst.ExceptHandler) for above in tree.ancestors(place.node)):
        return True
    names = [name for test in tests for name in tree.find(test, cst.Name)]
    bound = [each.value for name in names for each in resolve(name, tree) if each.scope is inner.scope]
    names += [name for value in bound if value is not None for name in tree.find(value, cst.Name)]
    return any(_is_of_sample(name, inner, frame) for name in names)


def _is_of_sample(name: cst.Name, inner: Frame, frame: Frame) -> bool:
    """True for what the function reads, and for a parameter that gets a part of the sample."""
    if _is_data(name, inner.scope):
        return True
    given = inner.args.get(name.value) if inner.args is not None else None
    if given is None or given.node is None or given.frame is not frame:
        return False
    own = classes.receiver_name(frame.scope)
    for each in frame.scope.module.tree.find(given.node, cst.Name):
        bound = resolve(each, frame.scope.module.tree)
        if each.value != own and any(b.scope is frame.scope and b.kind is Kind.PARAMETER for b in bound):
            return True
        if _is_data(each, frame.scope):
            return True
    return False


def _how_called(ev: Evaluator, call: cst.Call, frame: Frame, depth: int, of_part: bool = False) -> str:
    """The same of what a call of a function of the project gives."""
    for callee in ev.values(call.func, frame) if depth < NONE_DEPTH else ():
        inner = ev.entered(callee, call, frame)
        if inner is not None and isinstance(inner.scope.node, cst.FunctionDef):
            places = none_places(ev, inner.scope, inner, depth + 1) if inner.scope is not frame.scope else ()
            if any(not of_part or _hangs_on_sample(each, inner, frame) for each in places):
                return f"returns `{last_name(call.func)}(...)`, which can be None"
    return ""


def _may_be_passed_by(binding: Binding) -> bool:
    """True if control may go past a binding for some samples: an error that is handled, a test of what was read."""
    tree = binding.scope.module.tree
    around: list[Node] = []
    for above in tree.ancestors(binding.node):
        if above is binding.scope.node:
            break
        around.append(above)
    loops = [each for each in around if isinstance(each, LOOPS)]
    if not all(_may_end_without(loop, binding.name, tree) for loop in loops):
        return False
    for above in around:
        if isinstance(above, cst.Try) and above.body in around:
            return any(_goes_on(handler.body) for handler in above.handlers)
        if isinstance(above, cst.If) and not loops and _asks_for_data(above.test, binding):
            return True
    return False


def _may_end_without(loop: Node, name: str, tree: Tree) -> bool:
    """True if a loop may end before it has bound a name: `for _ in range(3):`, and not `while sample is None:`."""
    if isinstance(loop, cst.While):
        return not isinstance(loop.test, cst.Name) and name not in tree.words(loop.test).split()
    return isinstance(loop, cst.For) and (loop.orelse is None or not leaves(loop.orelse.body))


def _goes_on(handler: cst.BaseSuite) -> bool:
    """True if control stays in the function after a handler."""
    last = handler.body[-1] if handler.body else None
    last = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    return isinstance(last, cst.Continue) or not leaves(handler)


def _asks_for_data(test: cst.BaseExpression, binding: Binding) -> bool:
    """True if a test asks about something that was read or computed in the function, and not about settings."""
    tree = binding.scope.module.tree
    return any(_is_data(name, binding.scope) for name in tree.find(test, cst.Name))


def _is_data(name: cst.Name, scope: Scope) -> bool:
    """True if a name is bound in a function to what a call or a look-up gives."""
    return any(
        each.scope is scope and isinstance(each.value, cst.Call | cst.Subscript)
        for each in resolve(name, scope.module.tree)
    )


def _is_about_data(statement: cst.Return, frame: Frame) -> bool:
    """False for a place past the end, which no sampler asks for: `if index >= self.__len__(): return None`."""
    tree = frame.scope.module.tree
    asked = [call for test, _ in enclosing_tests(statement, frame) for call in tree.find(test, cst.Call)]
    return all(last_name(call.func) not in _LENGTHS or _is_length_of_data(call, frame.scope) for call in asked)


def _is_length_of_data(call: cst.Call, scope: Scope) -> bool:
    """`len(scan)` of a sample that was read."""
    measured = call.args[0].value if len(call.args) == 1 else None
    return isinstance(measured, cst.Name) and _is_data(measured, scope)


_LENGTHS = frozenset({"__len__", "len"})


def is_reached_for_data(ev: Evaluator, node: Node, frame: Frame) -> bool:
    """True if control may get to a place. Who asks whether what a library gave is None knows that it can be."""
    return all(
        not excludes(ev, condition, frame, with_options=True) or _asks_for_none(ev, condition.test, frame)
        for condition in path_conditions(node, frame.scope)
    )


def _asks_for_none(ev: Evaluator, test: cst.BaseExpression, frame: Frame) -> bool:
    """`cv2.imread(path) is None`, also under a name: a file that cannot be read."""
    if not isinstance(test, cst.Comparison) or not is_none(test.comparisons[0].comparator):
        return False
    asked = test.left.value if isinstance(test.left, cst.NamedExpr) else test.left
    bindings = resolve(asked, frame.scope.module.tree) if isinstance(asked, cst.Name) else []
    calls = [each.value for each in bindings] or [asked]
    if all(isinstance(call, cst.Call) and last_name(call.func) == "imread" for call in calls):
        return True
    found = ev.values(test.left, frame)
    return bool(found) and all(
        isinstance(value, CallResult) and bool(value.library) and value.library.partition(".")[0] not in _NEVER_NONE
        for value in found
    )


# Libraries whose functions give what they promise, or raise.
_NEVER_NONE = frozenset({"PIL", "builtins", "collections", "numpy", "pandas", "pathlib", "torch", "torchvision"})


def _leaves(statement: cst.Try) -> bool:
    """True if the body of a `try` returns wherever nothing is raised."""
    return leaves(statement.body) or (statement.orelse is not None and leaves(statement.orelse.body))
