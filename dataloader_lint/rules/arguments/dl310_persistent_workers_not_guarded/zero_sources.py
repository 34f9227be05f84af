"""Inputs that can make a number 0: a caller, an option, a configuration."""

from __future__ import annotations

from dataclasses import dataclass, replace

import libcst as cst

from dataloader_lint.pipeline.loaders import argument_sites
from dataloader_lint.rules.arguments._shared.zero_guards import at_zero, bars, is_checked, is_kept_away, name_of
from dataloader_lint.rules.arguments.dl310_persistent_workers_not_guarded.command_lines import (
    click_takes_zero,
    takes_zero,
)
from dataloader_lint.rules.arguments.dl310_persistent_workers_not_guarded.cpu_shares import is_zero_on_small_machines
from dataloader_lint.semantics.callers.parameters import arguments_of_callers
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.libraries.catalogue import LOADERS
from dataloader_lint.semantics.limits import SETTABLE_DEPTH
from dataloader_lint.semantics.syntax.expressions import decorators, last_name, positional_of
from dataloader_lint.semantics.syntax.layout import code
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, dotted, resolve
from dataloader_lint.semantics.syntax.tree import Scope
from dataloader_lint.semantics.values import options
from dataloader_lint.semantics.values.known_values import is_positive
from dataloader_lint.semantics.values.values import (
    UNKNOWN,
    AttributeOf,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    ItemOf,
    Library,
    Mapping,
    Value,
    Values,
    constant,
    is_default,
)


@dataclass(frozen=True, slots=True)
class Zero:
    """Where a 0 can come from. `names` are those that the number has on its way."""

    source: str  # "parameter `workers`", "`args.workers`"; empty for a 0 that is written out on one branch
    names: frozenset[str]


def zero_in(ev: Evaluator, node: cst.BaseExpression, frame: Frame, is_branch: bool) -> Zero | None:
    """The input that can make an expression 0; None where none is known, or a guard may prevent it.

    A 0 that is written out counts on one branch of several.
    """
    return _Search(ev).of(node, frame, frozenset(), 1 if is_branch else 0)


class _Search:
    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev
        self._barred: dict[tuple[int, frozenset[str]], bool] = {}  # by `id` of an `if`, and names

    def of(self, node: cst.BaseExpression, frame: Frame, names: frozenset[str], depth: int) -> Zero | None:
        if depth > SETTABLE_DEPTH:
            return None
        if isinstance(node, cst.Integer):
            return Zero("", names) if node.evaluated_value == 0 and depth else None
        name = name_of(node)
        if name:
            names = names | {name}
        if names and is_kept_away(names, node, frame):
            return None
        found = self.ev.values(node, frame)
        # No value that is known may be left here, as under `n is not None`; others may be passed.
        is_sure = bool(found) and all(is_positive(value) and not is_default(value) for value in found)
        if is_sure and not self.is_decided_by_default(node, frame):
            return None
        if isinstance(node, cst.Name):
            return self.name(node, frame, names, depth)
        if isinstance(node, cst.Attribute):
            return self.attribute(node, frame, names, depth)
        if isinstance(node, cst.Subscript) and name:
            return self.key(node.value, node, frame, names, depth)
        if isinstance(node, cst.Call):
            return self.call(node, name, frame, names, depth)
        if isinstance(node, cst.IfExp):
            return self.first([node.body, node.orelse], frame, names, depth)
        if isinstance(node, cst.BooleanOperation):
            if isinstance(node.operator, cst.And):
                return self.of(node.right, frame, names, depth + 1)
            last = self.ev.values(node.right, frame)
            return self.of(node.left, frame, names, depth + 1) if _is_zero(last) else None
        return self.arithmetic(node, frame, names, depth) if isinstance(node, cst.BinaryOperation) else None

    def arithmetic(self, node: cst.BinaryOperation, frame: Frame, names: frozenset[str], depth: int) -> Zero | None:
        if is_zero_on_small_machines(self.ev, node, frame):
            return Zero(f"`{_shown(node, frame)}`", names)
        if isinstance(node.operator, cst.Multiply):
            return self.first([node.left, node.right], frame, names, depth)
        if isinstance(node.operator, cst.Divide | cst.FloorDivide | cst.Modulo):
            return self.of(node.left, frame, names, depth + 1)
        return None

    def is_decided_by_default(self, node: cst.BaseExpression, frame: Frame) -> bool:
        """`n if n is not None else cpu_count()`: by the default of None the count, but a caller may pass a number.

        The same holds for `min(args.workers, cpu_count())`.
        """
        if isinstance(node, cst.IfExp):
            return any(is_default(value) for value in self.ev.values(node.test, frame))
        if isinstance(node, cst.Call) and dotted(node.func) == "min":
            return any(is_default(value) for arg in node.args for value in self.ev.values(arg.value, frame))
        bindings = resolve(node, frame.scope.module.tree) if isinstance(node, cst.Name) else []
        return any(
            isinstance(each.value, cst.IfExp | cst.Call) and self.is_decided_by_default(each.value, frame)
            for each in bindings
            if each.scope is frame.scope and not each.path
        )

    def first(self, nodes: list[cst.BaseExpression], frame: Frame, names: frozenset[str], depth: int) -> Zero | None:
        return next((found for node in nodes if (found := self.of(node, frame, names, depth + 1)) is not None), None)

    def name(self, node: cst.Name, frame: Frame, names: frozenset[str], depth: int) -> Zero | None:
        tree = frame.scope.module.tree
        bindings = resolve(node, tree)
        if any(self.mends(each, names) for each in bindings):
            return None
        for binding in bindings:
            home = self.ev.at(binding.scope, frame)
            if binding.kind is Kind.PARAMETER:
                found = self.parameter(binding, home, names, depth)
            elif binding.written is not None and self.may_run(binding, home):
                found = self.of(binding.written, home, names, depth + 1)
            else:
                continue
            if found is not None:
                return found
        return None

    def may_run(self, binding: Binding, frame: Frame) -> bool:
        """True if some setting of the options lets control get to a binding: `if args.debug: workers = 0`."""
        return is_reached(self.ev, binding.node, frame, with_options=True)

    def mends(self, binding: Binding, names: frozenset[str]) -> bool:
        """`if not n: n = 4`, `n = max(n, 1)`: a binding that handles the case of 0."""
        if binding.kind is Kind.PARAMETER or binding.value is None:
            return binding.kind is not Kind.PARAMETER
        return binding.kind is not Kind.VALUE or self.is_barred(binding, names)

    def is_barred(self, binding: Binding, names: frozenset[str]) -> bool:
        """True if an `if` around a binding keeps a 0 out. Each is asked once: one `elif` lies inside of the other."""
        tree = binding.scope.module.tree
        passed: list[tuple[int, frozenset[str]]] = []
        found = False
        for above in tree.ancestors(binding.node):
            if isinstance(above, cst.If):
                key = (id(above), names)
                if key in self._barred:
                    found = self._barred[key]
                    break
                passed.append(key)
                found = bars(above.test, False, names, tree)
            if found or above is binding.scope.node:
                break
        self._barred.update(dict.fromkeys(passed, found))
        return found

    def parameter(self, binding: Binding, frame: Frame, names: frozenset[str], depth: int) -> Zero | None:
        param, scope = binding.node, binding.scope
        assert isinstance(param, cst.Param)
        function = scope.node
        if not isinstance(function, cst.FunctionDef) or param.star or is_checked(param.name.value, scope):
            return None
        if function.name.value.startswith("test_") or "parametrize" in map(name_of, decorators(function)):
            return None
        shown = f"parameter `{param.name.value}`"
        if options.of_decorators(self.ev, scope, param):
            return Zero(shown, names) if click_takes_zero(function, param.name.value) else None
        if frame.args is not None:
            given = frame.args.get(param.name.value)
            if given is not None:
                if given.node is None or given.frame is None:
                    return None
                return self.of(given.node, given.frame, names, depth + 1)
            return None
        return self.given(scope, param.name.value, param.default is None, Zero(shown, names), depth)

    def given(self, scope: Scope, name: str, is_required: bool, zero: Zero, depth: int) -> Zero | None:
        """What callers give a function under a name; `zero` if others may call it, or if one of them gives a 0."""
        assert isinstance(scope.node, cst.FunctionDef)
        callers = self.ev.callers(scope)
        passed = arguments_of_callers(self.ev, scope, name)
        for node, outer in passed:
            found = self.of(node, outer, zero.names, depth + 1)
            if found is not None:
                return found if not found.source else replace(found, source=zero.source)
        called = scope.node.name.value
        is_private = called.startswith("_") and not called.startswith("__")
        if callers and (len(passed) == len(callers) or is_private or is_required):
            return None
        return zero

    def attribute(self, node: cst.Attribute, frame: Frame, names: frozenset[str], depth: int) -> Zero | None:
        name = node.attr.value
        owners = self.ev.values(node.value, frame)
        for owner in owners:
            found: Zero | None = None
            if isinstance(owner, CallResult) and isinstance(owner.by, Class):
                found = self.of_object(owner, owner.by, name, names, depth)
            elif _is_configuration(owner):
                found = self.configured(owner, name, node, frame, names)
            if found is not None:
                return found
        return None

    def configured(
        self, owner: Value, name: str, node: cst.BaseExpression, frame: Frame, names: frozenset[str]
    ) -> Zero | None:
        """An option, or a key of a configuration, unless the program checks it."""
        if is_checked(name, frame.scope) or not takes_zero(self.ev, owner, name):
            return None
        return Zero(f"`{_shown(node, frame)}`", names)

    def of_object(self, owner: CallResult, klass: Class, name: str, names: frozenset[str], depth: int) -> Zero | None:
        """An attribute of an object of the project."""
        bases = self.ev.bases(klass)
        if any(is_checked(name, each.scope) for each in bases.classes):
            return None
        bound = [each for base in bases.classes for each in classes.attribute_bindings(base.scope).get(name, ())]
        for binding in bound:
            if binding.kind is Kind.VALUE and binding.value is not None and not binding.path:
                inner = attributes.method_frame(self.ev, binding.method, owner)
                found = self.of(binding.value, inner, names, depth + 1)
                if found is not None:
                    return found
        if bound:
            return None
        for base in bases.classes:
            if name in bindings_of(base.scope):
                return self.field(owner, base, name, names, depth)
        return None

    def field(self, owner: CallResult, klass: Class, name: str, names: frozenset[str], depth: int) -> Zero | None:
        """A field of a dataclass, which every construction can set."""
        if owner.call is not None and owner.frame is not None:
            for arg in owner.call.args:
                if arg.keyword is not None and arg.keyword.value == name:
                    return self.of(arg.value, owner.frame, names, depth + 1)
            return None
        declared = bindings_of(klass.scope)[name]
        if not classes.is_dataclass(klass) or any(_is_checked_field(each.value) for each in declared):
            return None
        return Zero(f"field `{klass.node.name.value}.{name}`", names)

    def key(
        self, of: cst.BaseExpression, node: cst.BaseExpression, frame: Frame, names: frozenset[str], depth: int
    ) -> Zero | None:
        """`cfg["workers"]`, `cfg.get("workers", 4)`, `os.environ["WORKERS"]`."""
        key = name_of(node)
        owners = tuple(each for owner in self.ev.values(of, frame) for each in _object_behind(self.ev, owner))
        if Library("os.environ") in owners:
            return _in_environment(key, names)
        if any(isinstance(owner, Mapping) for owner in owners):
            if all(isinstance(owner, Mapping) and _is_rest(owner) for owner in owners):
                return self.keyword(owners, key, node, names, depth)
            places = argument_sites.in_dict(self.ev, of, key, frame)
            for place in places or ():
                found = self.of(place.node, place.frame, names, depth + 1) if place.node is not None else None
                if found is not None:
                    return found
            return None
        for owner in owners:
            found = self.configured(owner, key, node, frame, names) if _is_configuration(owner) else None
            if found is not None:
                return found
        return None

    def keyword(
        self, rests: Values, name: str, node: cst.BaseExpression, names: frozenset[str], depth: int
    ) -> Zero | None:
        """`kwargs.get("workers", 4)` in a function whose callers are not known: a parameter with a default."""
        scopes = {id(rest.frame.scope): rest.frame.scope for rest in rests if isinstance(rest, Mapping)}
        for scope in scopes.values():
            if isinstance(node, cst.Call) and not is_checked(name, scope) and isinstance(scope.node, cst.FunctionDef):
                found = self.given(scope, name, False, Zero(f"keyword `{name}`", names), depth)
                if found is not None:
                    return found
        return None

    def call(self, node: cst.Call, name: str, frame: Frame, names: frozenset[str], depth: int) -> Zero | None:
        if name and isinstance(node.func, cst.Attribute):
            return self.key(node.func.value, node, frame, names, depth)
        if name:  # getattr
            for owner in self.ev.values(node.args[0].value, frame):
                if _is_configuration(owner):
                    return self.configured(owner, name, node, frame, names)
            return None
        positional = positional_of(node)
        for callee in self.ev.values(node.func, frame):
            if isinstance(callee, Library) and positional:
                if callee.name == "os.getenv":
                    variable = constant(self.ev.values(positional[0], frame))
                    return _in_environment(str(variable.value), names) if variable is not None else None
                if callee.name in ("builtins.int", "builtins.float", "builtins.abs", "builtins.min"):
                    return self.first(positional, frame, names, depth)
                if callee.name == "builtins.max":
                    if any(at_zero(each, names, frame.scope.module.tree) != 0 for each in positional):
                        return None
                    return self.first(positional, frame, names, depth)
        return None


# What the declaration of a field says that refuses a number: pydantic's bounds, validators of attrs, choices.
_CHECKS = frozenset({"choices", "converter", "ge", "gt", "min", "min_value", "validator"})


def _is_checked_field(declared: cst.BaseExpression | None) -> bool:
    return isinstance(declared, cst.Call) and any(
        arg.star or (arg.keyword is not None and arg.keyword.value in _CHECKS) for arg in declared.args
    )


def _in_environment(variable: str, names: frozenset[str]) -> Zero | None:
    """An environment variable about workers; a batch system that counts CPUs or ranks in others never sets 0."""
    return Zero(f"environment variable `{variable}`", names) if "worker" in variable.lower() else None


def _is_rest(owner: Mapping) -> bool:
    """True for the `**kwargs` of a function, of which no call is known here."""
    return isinstance(owner.node, cst.Param) and owner.frame.args is None


def _object_behind(ev: Evaluator, owner: Value) -> Values:
    """The object whose attributes a dict holds: `vars(args)`; else the value itself."""
    made = owner.node if isinstance(owner, Mapping) else None
    if isinstance(owner, Mapping) and isinstance(made, cst.Call) and last_name(made.func) == "vars" and made.args:
        return ev.values(made.args[0].value, owner.frame)
    return (owner,)


def _is_configuration(owner: Value) -> bool:
    """Something unknown that holds options: no class, no module, no loader."""
    if isinstance(owner, CallResult):
        return bool(owner.library) and owner.library not in LOADERS
    return owner is UNKNOWN or isinstance(owner, AttributeOf | ItemOf)


def _is_zero(values: Values) -> bool:
    return all(isinstance(value, Const) and value.value == 0 and value.value is not False for value in values)


def _shown(node: cst.BaseExpression, frame: Frame) -> str:
    return dotted(node) or code(frame.scope.module.tree, node)
