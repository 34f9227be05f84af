"""What expressions can be at run time: the evaluator. `expressions` has what each kind of expression gives."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import partial

import libcst as cst

from dataloader_lint.semantics.callers import callers, parameters
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.narrowing import NONE_TYPE, is_of, narrowed, replaces_none
from dataloader_lint.semantics.control.reachability import is_reached, reaching_bindings
from dataloader_lint.semantics.evaluation import attributes, calls, containers, expressions
from dataloader_lint.semantics.evaluation.constant_expressions import KINDS, LITERAL_NAMES, context_free_value
from dataloader_lint.semantics.evaluation.star_imports import StarImports
from dataloader_lint.semantics.libraries.extras import Extras
from dataloader_lint.semantics.limits import BASE_CLASSES, CALL_DEPTH, KEY_NESTING
from dataloader_lint.semantics.project.project import Project
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, dotted, resolve, star_imports
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope
from dataloader_lint.semantics.values import operators
from dataloader_lint.semantics.values.fixpoint import Solver
from dataloader_lint.semantics.values.values import (
    NOTHING_KNOWN,
    Bases,
    Callers,
    CallResult,
    Calls,
    Class,
    Const,
    Frame,
    Function,
    Library,
    Method,
    Module,
    Sequence,
    Value,
    Values,
    merge,
)
from dataloader_lint.settings import Settings


class Evaluation(Solver):
    """Evaluates expressions on demand, once each, for all modules of a project; `Evaluator` says what methods give."""

    def __init__(self, project: Project, cuda: bool = False, extras: Extras | None = None) -> None:
        super().__init__()
        self.project = project
        self.extras = extras or Extras(Settings())
        self.cuda = cuda  # whether to ask what things are where CUDA is available, instead of anywhere
        self._entered: dict[tuple[int, int, int, Value | None, Calls], tuple[Frame, Frame]] = {}
        self._methods: dict[tuple[int, Value], Frame] = {}
        self._attributes: dict[tuple[Value, str], Values] = {}
        self._functions: dict[int, int] = {}  # those whose results are being worked out, with the depth
        self._frames: dict[int, Frame] = {}
        self._callers: dict[int, Callers] = {}
        # Those that are known of where looking for them went too deep, until the outermost question is answered.
        self._some_callers: dict[int, Callers] = {}
        self._bases: dict[int, Bases] = {}
        self.too_wide: list[Scope] = []  # classes that derive from too many for each to be known
        self._everywhere: dict[int, Values | None] = {}
        self._star_imports = StarImports(project, self)

    def frame_of(self, scope: Scope) -> Frame:
        frame = self._frames.get(id(scope))
        if frame is None:
            outer = self.frame_of(scope.parent) if scope.parent is not None else None
            klass = classes.class_of(scope)
            receiver = CallResult(Class(klass, self.frame_of(klass)), None, None) if klass is not None else None
            frame = Frame(scope, None, receiver, outer)
            self._frames[id(scope)] = frame
        return frame

    def values(self, node: cst.CSTNode, frame: Frame) -> Values:
        """What an expression can be; `(UNKNOWN,)` where nothing is known, or the evaluation does not end."""
        key, kind = id(node), type(node)
        known = frame.memo.get(key)
        if known is None and kind in KINDS:
            known = self._everywhere[key] if key in self._everywhere else self.everywhere(node, frame.scope.module)
        if known is not None:
            return known
        handler = _EXPRESSIONS.get(kind)
        if handler is None:
            return NOTHING_KNOWN
        return self.solve((key, id(frame)), frame.memo, key, partial(handler, self, node, frame))

    def everywhere(self, node: cst.CSTNode, module: ModuleFacts) -> Values | None:
        if id(node) in self._everywhere:
            return self._everywhere[id(node)]
        before, self._cuts = self._cuts, 0
        found = context_free_value(self, node, module)
        is_whole, self._cuts = not self._cuts, before
        if not is_whole:
            return None
        self.frame_of(module.root)  # which holds on to the node, for its id
        self._everywhere[id(node)] = found
        return found

    def key(self, node: cst.CSTNode, key: object, frame: Frame, work_out: Callable[[], Values]) -> Values:
        """What a key of a dict can be. Cached: dicts copied in loops and branches ask the same question many times."""
        question = (id(node), key)
        known = frame.memo.get(question)
        if known is not None:
            return known
        if len(self._running) > KEY_NESTING:
            return self.widen_deep()
        return self.solve((question, id(frame)), frame.memo, question, work_out)

    def bases(self, klass: Class) -> Bases:
        found = self._bases.get(id(klass.scope))
        if found is None:
            found = classes.bases_of(self, klass)
            self._bases[id(klass.scope)] = found
            if len(found.classes) > BASE_CLASSES:
                self.too_wide.append(klass.scope)
        return found

    def _all_answered(self) -> None:
        self._some_callers.clear()

    def binding(self, binding: Binding, frame: Frame, use: cst.CSTNode | None = None) -> Values:
        kind = binding.kind
        if kind is Kind.PARAMETER:
            return self._parameter(binding, frame if frame.scope is binding.scope else self.frame_of(binding.scope))
        if (kind is Kind.FUNCTION or kind is Kind.CLASS) and binding.scope.parent is None:
            extra = self.extras.makes_loader(binding.scope.module.path, binding.name)
            if extra:
                return (Library(extra),)
        if kind is Kind.FUNCTION:
            return (Function(binding.scope.module.tree.inner_scope[id(binding.node)], frame),)
        if kind is Kind.CLASS:
            return (Class(binding.scope.module.tree.inner_scope[id(binding.node)], frame),)
        if kind is Kind.IMPORT:
            return self.imported(binding)
        if binding.value is None or kind is Kind.OTHER:
            return NOTHING_KNOWN
        found = self.values(binding.value, frame)
        if kind is Kind.ELEMENT:
            found = merge(*(self.element(value) for value in found))
        elif kind is Kind.AUGMENTED:
            return operators.augmented(found)
        elif kind is Kind.ENTERED:
            found = merge(*(calls.entered(self, value) for value in found))
        return containers.follow(self, found, binding.path)

    def _parameter(self, binding: Binding, frame: Frame) -> Values:
        """What a parameter is in a frame of its function, worked out once for all places that name it."""
        key = id(binding)
        known = frame.memo.get(key)
        if known is not None:
            return known
        before, self._cuts = self._cuts, 0
        found = parameters.parameter(self, binding, frame)
        if not self._cuts:
            frame.memo[key] = found
        self._cuts |= before
        return found

    def imported(self, binding: Binding) -> Values:
        """What an import gives: something of the project where the module is found there, else of a library."""
        module, name = binding.scope.module, binding.imported
        if binding.member is None:
            scope = self.project.find(name, module) or self.project.find_by_path(name, "", module)
            return (Module(scope),) if scope is not None else (Library(name),)
        scope = self.project.find(name, module, binding.level)
        if not binding.level and (scope is None or not self._has_member(scope, binding.member)):
            scope = self.project.find_by_path(name, binding.member, module) or scope
        if scope is None:
            # `from folder import module`, where the folder is no package
            below = self.project.find(f"{name}.{binding.member}".lstrip("."), module, binding.level)
            if below is not None:
                return (Module(below),)
            if binding.level:
                return NOTHING_KNOWN
            return (Library(self.extras.library_name(f"{name}.{binding.member}")),)
        return self.member(scope, binding.member)

    def library_name(self, node: cst.BaseExpression, module: ModuleFacts) -> str:
        """What a chain of names means in a library: `PIL.Image.open` for `Image.open`. Opens no other module.

        Empty where it does not begin with what one import takes from a library.
        """
        chain = dotted(node)
        while isinstance(node, cst.Attribute):
            node = node.value
        bindings = resolve(node, module.tree) if chain and isinstance(node, cst.Name) else []
        if len(bindings) != 1 or bindings[0].kind is not Kind.IMPORT:
            return ""
        binding = bindings[0]
        whole = f"{binding.imported}.{binding.member}".lstrip(".") if binding.member is not None else ""
        if any(self.project.locate(each, module.path, binding.level) for each in (binding.imported, whole) if each):
            return ""
        taken = next((each.name for each in self.imported(binding) if isinstance(each, Library)), "")
        return f"{taken}{chain[len(binding.name) :]}" if taken else ""

    def callers(self, function: Scope) -> Callers:
        found = self._callers.get(id(function))
        if found is not None:
            return found
        if id(function) in self._some_callers:
            self.widen_deep()
            return self._some_callers[id(function)]
        too_deep = self.too_deep
        # Who is called while its callers are looked for has none known.
        none: Callers = ()
        found = self.nested((id(function), "callers"), partial(callers.calls_of, self, self.project, function), none)
        if (id(function), "callers") not in self._running:
            if self.too_deep == too_deep:
                self._callers[id(function)] = found
            elif self._running:
                self._some_callers[id(function)] = found
        return found

    def member(self, scope: Scope, name: str) -> Values:
        """A name of a module of the project, seen from outside; a submodule where the module does not bind it."""
        found = bindings_of(scope).get(name, [])
        submodule = self.project.submodule(scope, name) if not found else None
        if submodule is not None:
            return (Module(submodule),)
        found = self._star_imports.among(found, name, scope)
        if not found:
            return NOTHING_KNOWN
        work_out = partial(self._bound_outside, found, self.frame_of(scope), name)
        return self.nested((id(scope), hash(name)), work_out, NOTHING_KNOWN)

    def _has_member(self, scope: Scope, name: str) -> bool:
        """True if a module may have a name: by a binding, a star import, or a submodule."""
        return (
            name in bindings_of(scope) or bool(star_imports(scope)) or self.project.submodule(scope, name) is not None
        )

    def _bound_outside(self, bindings: list[Binding], frame: Frame, name: str) -> Values:
        return merge(
            *(
                self._starred(each, name) if each.name == "*" else self.binding(each, self._home(each, frame))
                for each in bindings
            )
        )

    def _home(self, binding: Binding, frame: Frame) -> Frame:
        """The frame of the scope in which a binding stands; `global` binds in another scope than its own."""
        return frame if binding.scope is frame.scope else self.frame_of(binding.scope)

    def _starred(self, star: Binding, name: str) -> Values:
        scope = self._star_imports.module_of(star, name)
        return NOTHING_KNOWN if scope is None else self.member(scope, name)

    def name(self, node: cst.CSTNode, frame: Frame) -> Values:
        assert isinstance(node, cst.Name)
        if node.value in LITERAL_NAMES:
            return (Const(LITERAL_NAMES[node.value]),)
        tree = frame.scope.module.tree
        bindings = self._star_imports.among(resolve(node, tree), node.value, tree.root, node)
        if not bindings:
            if hasattr(builtins, node.value):
                return (Library(f"builtins.{node.value}"),)
            return NOTHING_KNOWN
        if self.cuda and len(bindings) > 1:
            # Where CUDA is available the other arm of `if torch.cuda.is_available()` binds nothing.
            bindings = self._reaching(node, bindings, frame)
        if len(bindings) == 1:  # as for most names
            return self._bound(bindings[0], node, frame) or NOTHING_KNOWN
        several = [self._bound(each, node, frame) for each in self._that_may_run(bindings, frame)]
        found = merge(*several) or NOTHING_KNOWN
        if found is NOTHING_KNOWN or all(several):
            return found
        # `if device is None: device = "cuda"`: where it is None before, only the second one is left.
        label = next(filter(None, (self._declared(each, frame) for each in bindings)), "")
        return _as_default(found, label) if label else found

    def _that_may_run(self, bindings: list[Binding], frame: Frame) -> list[Binding]:
        """Bindings of a name without those that `if name is None:` leads to, where a parameter is known not to be."""
        first = bindings[0]
        if first.kind is not Kind.PARAMETER or not any(replaces_none(each) for each in bindings[1:]):
            return bindings
        given = self.binding(first, self.at(first.scope, frame))
        if any(is_of(each, NONE_TYPE) is not False for each in given):
            return bindings
        return [each for each in bindings if not replaces_none(each)]

    def _declared(self, binding: Binding, frame: Frame) -> str:
        """What a value is called that is the declared default of a parameter, as no visible call passes another."""
        if binding.kind is not Kind.PARAMETER:
            return ""
        found = self.binding(binding, self.at(binding.scope, frame))
        return next((each.default for each in found if isinstance(each, Const)), "")

    def _bound(self, binding: Binding, use: cst.Name, frame: Frame) -> Values:
        if binding.name == "*":
            return self._starred(binding, use.value)
        found = self.binding(binding, self.at(binding.scope, frame), use)
        return found if found is NOTHING_KNOWN else narrowed(use, binding, found, frame)

    def _reaching(self, use: cst.CSTNode, bindings: list[Binding], frame: Frame) -> list[Binding]:
        home = bindings[0].scope
        if any(each.scope is not home for each in bindings):  # `global` statements
            return bindings
        inside = self.at(home, frame)
        if frame.scope is home:
            return reaching_bindings(self, use, bindings, inside)
        return [
            each for each in bindings if each.kind is Kind.PARAMETER or is_reached(self, each.node, inside)
        ] or bindings

    def at(self, scope: Scope, frame: Frame) -> Frame:
        """The frame of `scope` seen from `frame`: `frame` itself, an enclosing one, or one with nothing known."""
        current: Frame | None = frame
        while current is not None:
            if current.scope is scope:
                return current
            current = current.outer
        if scope.is_comprehension and scope.parent is not None:
            return self.at(scope.parent, frame)  # comprehensions run in the frame around them
        return self.frame_of(scope)

    def attribute_of(self, node: cst.CSTNode, frame: Frame) -> Values:
        assert isinstance(node, cst.Attribute)
        name = node.attr.value
        # An alternative that has no such attribute (None) cannot be what is there.
        owners = self.values(node.value, frame)
        found = merge(*(self.attribute(value, name) for value in owners)) or NOTHING_KNOWN
        return attributes.with_outside_stores(self, node, found, frame)

    def attribute(self, value: Value, name: str) -> Values:
        if not isinstance(value, CallResult) or not isinstance(value.by, Class):
            return attributes.attribute(self, value, name)
        key = (value, name)
        known = self._attributes.get(key)
        if known is not None:
            return known
        return self.solve((hash(key), -2), self._attributes, key, partial(attributes.attribute, self, value, name))

    def element(self, value: Value) -> Values:
        if not isinstance(value, Sequence | CallResult):
            return containers.element(self, value)
        return self.nested((hash(value), -1), partial(containers.element, self, value), NOTHING_KNOWN)

    def item(self, value: Value, index: object) -> Values:
        return containers.item(self, value, index)

    def call(self, callee: Value, call: cst.Call, frame: Frame) -> Values:
        return calls.result(self, callee, call, frame)

    def enter(
        self, function: Function, call: cst.Call, frame: Frame, receiver: Value | None, before: Calls = ()
    ) -> Frame:
        """The frame that a call opens in a function of the project; the same one each time."""
        key = (id(call), id(frame), id(function.scope), receiver, before)
        known = self._entered.get(key)
        if known is None:
            known = (calls.enter(function, call, frame, receiver, before), frame)  # holds on to `frame` for its id
            self._entered[key] = known
        return known[0]

    def entered(self, callee: Value, call: cst.Call, frame: Frame) -> Frame | None:
        if isinstance(callee, Method):
            return self.enter(callee.function, call, frame, callee.receiver)
        return self.enter(callee, call, frame, None) if isinstance(callee, Function) else None

    def method_frame(self, method: Scope, receiver: Value, outer: Frame | None = None) -> Frame:
        """The frame in which a method runs for an object, with nothing known about its arguments; always the same."""
        key = (id(method), receiver)
        frame = self._methods.get(key)
        if frame is None:
            inner = receiver.frame if isinstance(receiver, CallResult) else None
            depth = inner.depth + 1 if inner is not None else 0
            is_method = classes.class_of(method) is not None
            frame = Frame(method, None, receiver if is_method else None, outer or self.frame_of(method).outer, depth)
            self._methods[key] = frame
        return frame

    def run(self, function: Function, frame: Frame) -> Values:
        """What a function returns in a frame; unknown for recursion and for very long chains of calls."""
        running = self._functions.get(id(function.scope))
        if running is not None:
            return self.widen(running)
        if frame.depth > CALL_DEPTH:
            return NOTHING_KNOWN
        # Nothing is running where a rule asks for the result itself: then the first question in there is the outermost.
        self._functions[id(function.scope)] = max(len(self._running) - 1, 0)
        try:
            return calls.function_result(self, function, frame)
        finally:
            del self._functions[id(function.scope)]


def _as_default(found: Values, label: str) -> Values:
    """Values in place of a declared default, which is there to be set to something else."""
    if not all(isinstance(each, Const) for each in found):
        return merge(found, NOTHING_KNOWN)
    return tuple(Const(each.value, each.default or label) for each in found if isinstance(each, Const))


_EXPRESSIONS: dict[type[cst.CSTNode], Callable[[Evaluation, cst.CSTNode, Frame], Values]] = {
    cst.Attribute: Evaluation.attribute_of,
    cst.Name: Evaluation.name,
    **expressions.BY_KIND,
}
