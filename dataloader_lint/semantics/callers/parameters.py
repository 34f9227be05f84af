"""Values of parameters: what the known call passes, else what all visible callers pass, else the default."""

from __future__ import annotations

import libcst as cst

from dataloader_lint.semantics.callers.deferred_calls import enter_deferred
from dataloader_lint.semantics.callers.indirect_callers import decorated_with, mapped_over
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.dicts import contents as dict_contents
from dataloader_lint.semantics.syntax.expressions import parameters
from dataloader_lint.semantics.syntax.names import Binding, Kind, resolve
from dataloader_lint.semantics.syntax.tree import Scope, function_scope
from dataloader_lint.semantics.values import options, type_hints
from dataloader_lint.semantics.values.values import (
    ABSENT,
    NOTHING_KNOWN,
    UNKNOWN,
    Argument,
    CallResult,
    Class,
    Const,
    Deferred,
    Evaluator,
    Frame,
    Function,
    Library,
    Mapping,
    Method,
    Opaque,
    Partial,
    Sequence,
    Value,
    Values,
    merge,
)

OF_PARAMETER = "the default of parameter"  # what the labels of such defaults begin with


def parameter(ev: Evaluator, binding: Binding, frame: Frame) -> Values:
    """The values of a parameter: what this call passes, else what all visible calls pass, else its declared default.

    `frame` is one of its function.
    """
    scope = binding.scope
    param = binding.node
    assert isinstance(param, cst.Param)
    if binding.name == classes.receiver_name(scope) and classes.class_of(scope) is not None:
        return _receiver(ev, scope, frame)
    if frame.args is not None:
        found = passed(ev, param, frame)
    else:
        found = _from_callers(ev, scope, param, frame.receiver)
        if not found:
            found = declared_default(ev, scope, param)
    if found == NOTHING_KNOWN and binding.name == "self" and frame.receiver is not None:
        return (frame.receiver,)  # of a static method: `spawn(self.train)` where `def train(rank, self)`
    if UNKNOWN in found and param.annotation is not None:
        declared = type_hints.values_of(ev, param.annotation.annotation, _outside(ev, scope, frame))
        return merge(tuple(value for value in found if value is not UNKNOWN), declared)
    if len(found) > 1 and param.annotation is not None:
        return _agreeing(ev, found, param.annotation.annotation, _outside(ev, scope, frame))
    return found


def _agreeing(ev: Evaluator, found: Values, annotation: cst.BaseExpression, frame: Frame) -> Values:
    """What callers pass, without the alternatives that the parameter's annotation excludes.

    `rows: np.ndarray | list` of a caller is an array where `rows: np.ndarray` stands.
    """
    if sum(isinstance(value, Opaque) for value in found) < 2:
        return found
    declared = type_hints.values_of(ev, annotation, frame)
    if not any(isinstance(value, Opaque) and value in declared for value in found):
        return found
    return tuple(value for value in found if not isinstance(value, Opaque) or value in declared)


def _receiver(ev: Evaluator, scope: Scope, frame: Frame) -> Values:
    klass = classes.class_of(scope)
    assert klass is not None and isinstance(scope.node, cst.FunctionDef)
    if "classmethod" in classes.decorator_names(scope.node):
        if isinstance(frame.receiver, Class):
            return (frame.receiver,)
        return (Class(klass, ev.frame_of(klass)),)
    return (frame.receiver,) if frame.receiver is not None else NOTHING_KNOWN


def _outside(ev: Evaluator, scope: Scope, frame: Frame) -> Frame:
    """Defaults and annotations are read where the function is defined."""
    if frame.outer is not None:
        return frame.outer
    return ev.frame_of(scope.parent) if scope.parent is not None else frame


def passed(ev: Evaluator, param: cst.Param, frame: Frame) -> Values:
    """A parameter's value in a frame whose call is known; its own default where the call leaves it out."""
    assert frame.args is not None
    if param.star == "**":
        return (Mapping(param, frame),)
    if param.star == "*":
        return (Sequence("tuple", param, frame),)
    from_option = options.of_decorators(ev, frame.scope, param)
    if from_option:  # click calls the function: what is given here is the command line at most
        return from_option
    if _stands_for_object(param, frame) and frame.receiver is not None:
        return (frame.receiver,)
    given = frame.args.get(param.name.value)
    if given is not None:
        if given.value is not None:
            return (given.value,)
        if given.node is None or given.frame is None:
            return NOTHING_KNOWN
        return ev.values(given.node, given.frame)
    default = ev.values(param.default, _outside(ev, frame.scope, frame)) if param.default is not None else NOTHING_KNOWN
    rest = frame.args.get("**")
    if rest is not None and rest.node is not None and rest.frame is not None:
        found = dict_contents.in_keywords(ev, rest, param.name.value)
        if ABSENT not in found:
            return found
        return merge(tuple(value for value in found if value is not ABSENT), default)
    return default


def _stands_for_object(param: cst.Param, frame: Frame) -> bool:
    """True for the first parameter of a wrapper that a decorator returns for a method."""
    node = frame.scope.node
    if frame.receiver is None or not isinstance(node, cst.FunctionDef) or classes.class_of(frame.scope) is not None:
        return False
    return bool(node.params.params) and node.params.params[0] is param


def _from_callers(ev: Evaluator, scope: Scope, param: cst.Param, receiver: Value | None) -> Values:
    if param.star:
        return ()
    own: list[Frame] = []
    others: list[Frame] = []  # of calls for objects of a sibling class, which tell of its objects alone
    if isinstance(scope.node, cst.Lambda) and (mapped_here := _mapped_over(ev, scope)):
        return mapped_here
    too_deep = ev.too_deep
    for call, frame, callees in ev.callers(scope):
        for callee in callees:
            entered_frame = entered_by(ev, scope, callee, call, frame)
            if entered_frame is None or (frame.scope is scope and _hands_on_part(param, entered_frame)):
                continue
            (own if _may_be_same(ev, receiver, entered_frame.receiver) else others).append(entered_frame)
    mapped = [_of_mapped(ev, scope, param, *each) for each in mapped_over(ev, scope)]
    if ev.too_deep != too_deep:  # there may be other callers
        return NOTHING_KNOWN
    if not own and not others and not any(mapped):
        return decorated_with(ev, scope)
    return merge(*(passed(ev, param, each) for each in own or others), *mapped)


def element_of_rest(ev: Evaluator, frame: Frame) -> Values:
    """What an element of the `*args` of a function can be."""
    given = _rest_arguments(ev, frame) or ()
    known = (ev.values(each.node, each.frame) if each.node and each.frame else NOTHING_KNOWN for each in given)
    return merge(*known) or NOTHING_KNOWN


def _rest_arguments(ev: Evaluator, frame: Frame) -> list[Argument] | None:
    """What goes into the `*args` of a function: in this call, or in all visible calls; None where it is unknown."""
    if frame.args is not None:
        return list(frame.extra) if frame.extra is not None else None
    found: list[Argument] = []
    for call, where, callees in ev.callers(frame.scope):
        for callee in callees:
            inner = entered_by(ev, frame.scope, callee, call, where)
            if inner is None or inner.extra is None:
                return None
            found.extend(inner.extra)
    return found


def _of_mapped(ev: Evaluator, scope: Scope, param: cst.Param, callee: Value, elements: Values) -> Values:
    """The values of a parameter of a function, or of a partial of it, that `map` calls for each element."""
    given = partial_arguments(scope, callee) if isinstance(callee, Partial) else {}
    params = [each.name.value for each in parameters(scope.node) if each.name.value not in given]  # type: ignore[arg-type]
    if params[:1] == [param.name.value]:
        return elements
    argument = given.get(param.name.value)
    if argument is not None and argument.node is not None and argument.frame is not None:
        return ev.values(argument.node, argument.frame)
    return declared_default(ev, scope, param) if argument is None else NOTHING_KNOWN


def partial_arguments(function: Scope, value: Partial, is_bound: bool = False) -> dict[str, Argument]:
    """The arguments that partials have given a function, by parameter; `is_bound` for the method of an object."""
    assert isinstance(function.node, cst.FunctionDef)
    params = [each.name.value for each in function.node.params.params][1 if is_bound else 0 :]
    given: dict[str, Argument] = {}
    position = 0
    for call, frame in reversed(((value.call, value.frame), *value.before)):
        for arg in call.args[1:]:
            if arg.star:
                given.update({name: Argument(None, None) for name in params[position:]})
            elif arg.keyword is not None:
                given[arg.keyword.value] = Argument(arg.value, frame)
            elif position < len(params):
                given[params[position]] = Argument(arg.value, frame)
                position += 1
    return given


def _may_be_same(ev: Evaluator, one: Value | None, other: Value | None) -> bool:
    """True if two objects may be one: where both are of classes of the project, one class derives from the other."""
    if not isinstance(one, CallResult) or not isinstance(other, CallResult):
        return True
    if not isinstance(one.by, Class) or not isinstance(other.by, Class) or one.by.scope is other.by.scope:
        return True
    return any(
        each.scope is subclass.scope
        for klass, subclass in ((one.by, other.by), (other.by, one.by))
        for each in ev.bases(klass).classes
    )


def arguments_of_callers(ev: Evaluator, scope: Scope, name: str) -> list[tuple[cst.BaseExpression, Frame]]:
    """What the visible calls pass for a parameter, as written."""
    found = []
    for call, frame, callees in ev.callers(scope):
        for callee in callees:
            entered_frame = entered_by(ev, scope, callee, call, frame)
            given = entered_frame.args.get(name) if entered_frame is not None and entered_frame.args else None
            if given is not None and given.node is not None and given.frame is not None:
                found.append((given.node, given.frame))
    return found


def passed_in_rest(ev: Evaluator, node: cst.BaseExpression, name: str, frame: Frame) -> Values:
    """What the visible calls pass as a keyword that the `**kwargs` called `node` collects; empty where none does."""
    scope = frame.scope
    rest = scope.node.params.star_kwarg if isinstance(scope.node, cst.FunctionDef) else None
    if frame.args is not None or rest is None or not isinstance(node, cst.Name) or node.value != rest.name.value:
        return ()
    if any(binding.node is not rest for binding in resolve(node, scope.module.tree)):
        return ()
    return merge(*(ev.values(given, where) for given, where in arguments_of_callers(ev, scope, name)))


def _hands_on_part(param: cst.Param, entered_frame: Frame) -> bool:
    """True if a recursive function passes on the parameter, or an element of it."""
    assert entered_frame.args is not None
    given = entered_frame.args.get(param.name.value)
    if given is None or not isinstance(given.node, cst.Name):
        return False
    for binding in resolve(given.node, entered_frame.scope.module.tree):
        source: cst.CSTNode | None = binding.value
        while not isinstance(source, cst.Name):
            if isinstance(source, cst.Call) and isinstance(source.func, cst.Attribute):  # x.items(), x.values()
                source = source.func.value
            elif isinstance(source, cst.Call) and len(source.args) == 1:  # enumerate(x)
                source = source.args[0].value
            else:
                break
        is_whole = binding.kind is Kind.PARAMETER and binding.node is param
        is_part = binding.kind is Kind.ELEMENT and isinstance(source, cst.Name) and source.value == param.name.value
        if not is_whole and not is_part:
            return False
    return True


def _mapped_over(ev: Evaluator, scope: Scope) -> Values:
    """What `map(lambda x: ..., values)` passes to the lambda."""
    tree = scope.module.tree
    arg = tree.parent(scope.node)
    call = tree.parent(arg) if isinstance(arg, cst.Arg) else None
    if isinstance(call, cst.Call) and len(call.args) == 2 and call.args[0] is arg and isinstance(call.func, cst.Name):
        frame = ev.frame_of(function_scope(tree.scope_of(call)))
        if ev.values(call.func, frame) == (Library("builtins.map"),):
            return merge(*(ev.element(value) for value in ev.values(call.args[1].value, frame)))
    return ()


def entered_by(ev: Evaluator, scope: Scope, callee: Value, call: cst.Call, frame: Frame) -> Frame | None:
    """The frame that a call opens in `scope`, the function that `callee` runs; None where that is another function."""
    if isinstance(callee, Function) and callee.scope is scope:
        return ev.enter(callee, call, frame, None)
    if isinstance(callee, Method) and callee.function.scope is scope:
        return ev.enter(callee.function, call, frame, callee.receiver)
    if isinstance(callee, Class):  # a construction: the call's arguments are those of __init__
        klass = classes.class_of(scope)
        if klass is not None:
            return ev.enter(Function(scope, ev.frame_of(klass)), call, frame, CallResult(callee, call, frame))
    if isinstance(callee, Deferred):
        entered = enter_deferred(callee, call, frame)
        return entered if entered is not None and entered.scope is scope else None
    if isinstance(callee, CallResult):  # an object that is called
        klass = classes.class_of(scope)
        if klass is not None:
            return ev.enter(Function(scope, ev.frame_of(klass)), call, frame, callee)
    return None


def declared_default(ev: Evaluator, scope: Scope, param: cst.Param) -> Values:
    """The default of a parameter that no visible call passes; command-line decorators count as well."""
    from_option = options.of_decorators(ev, scope, param)
    if from_option:
        return from_option
    if param.star == "*":
        return (Sequence("tuple", param, ev.frame_of(scope)),)
    if param.star == "**":
        return (Mapping(param, ev.frame_of(scope)),)
    if param.default is None:
        return NOTHING_KNOWN
    found = ev.values(param.default, _outside(ev, scope, ev.frame_of(scope)))
    label = f"{OF_PARAMETER} `{param.name.value}`"
    return tuple(Const(v.value, v.default or label) if isinstance(v, Const) else v for v in found)


def starred(node: cst.BaseExpression, frame: Frame) -> tuple[Argument, ...] | None:
    """What `*args` means where it is the function's own parameter and the call is known; None otherwise."""
    if not isinstance(node, cst.Name) or frame.args is None:
        return None
    bindings = resolve(node, frame.scope.module.tree)
    is_own = len(bindings) == 1 and isinstance(bindings[0].node, cst.Param) and bindings[0].scope is frame.scope
    return frame.extra if is_own else None
