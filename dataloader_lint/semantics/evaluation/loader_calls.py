"""DataLoader calls: torch's own, drop-ins of other libraries, subclasses in the project; every argument's value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from dataloader_lint.semantics.callers.parameters import starred
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.dicts import contents as dict_contents
from dataloader_lint.semantics.errors.expected_errors import is_error_expected
from dataloader_lint.semantics.libraries.catalogue import DATALOADER_DEFAULTS, LOADER_METHODS, LOADERS, LoaderClass
from dataloader_lint.semantics.limits import LOADER_SOURCE_DEPTH
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import Binding, Kind, bindings_of, dotted, resolve
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, Tree, function_scope
from dataloader_lint.semantics.values.known_values import is_positive
from dataloader_lint.semantics.values.values import (
    ABSENT,
    NOTHING_KNOWN,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Library,
    Method,
    Partial,
    Value,
    Values,
    constant,
    merge,
)


@dataclass(frozen=True, slots=True, eq=False)
class Loader:
    """One call that constructs a DataLoader, as written.

    `frame` is where the call is evaluated: nothing known about who runs it, or one particular way to get there.
    """

    call: cst.Call
    frame: Frame
    kind: LoaderClass
    name: str  # of what makes it: `DataLoader`, `NeighborLoader`, `super().__init__`
    ev: Evaluator
    before: tuple[tuple[cst.Call, Frame], ...] = ()
    site: cst.Call | None = None  # the call to a subclass's own constructor that leads here

    @property
    def is_written_here(self) -> bool:
        """True if the arguments are written at the place that is looked at, not in a constructor that it calls."""
        return self.site is None or self.site is self.call

    @property
    def construction(self) -> tuple[cst.Call, Frame]:
        """The call that constructs it as its user writes it: `Subclass(...)`, not the `super().__init__(...)` in it."""
        made = self.frame.receiver
        if last_name(self.call.func) == "__init__" and isinstance(made, CallResult) and made.call and made.frame:
            return made.call, made.frame
        return self.call, self.frame

    @property
    def bound_name(self) -> str:
        """What the user calls it: the name it is bound to, else that of what makes it."""
        call, frame = self.construction
        tree = frame.scope.module.tree
        above = tree.parent(call) if call in tree else None
        target = above.target if isinstance(above, cst.AnnAssign) else None
        if isinstance(above, cst.Assign) and len(above.targets) == 1:
            target = above.targets[0].target
        return dotted(target) or self.name

    def argument(self, name: str) -> cst.Arg | None:
        """The argument as written in this call, by keyword or position; None where it comes in another way or not."""
        return written_argument(self.call, self.kind.spelling(name), self.kind.positions)

    def passed(self, name: str) -> Values:
        """What the call passes for an argument, with ABSENT where it may pass nothing."""
        found: Values = (ABSENT,)
        for call, frame in reversed(((self.call, self.frame), *self.before)):
            here = _passed(self.ev, call, frame, self.kind.spelling(name), self.kind.positions)
            if ABSENT in here:
                found = merge(tuple(value for value in here if value is not ABSENT), found)
            else:
                found = here
        return found

    def values(self, name: str) -> Values:
        """What an argument is: what is passed, or the constructor's own default where nothing is."""
        found = self.passed(name)
        if ABSENT not in found:
            return found
        default: Value = Const(self.kind.defaults.get(name, DATALOADER_DEFAULTS.get(name)))
        return merge(tuple(value for value in found if value is not ABSENT), (default,))

    def is_passed(self, name: str) -> bool | None:
        """True if the argument is surely given (True), surely not (False), or unknowable (None)."""
        found = self.passed(name)
        if found == (ABSENT,):
            return False
        return None if ABSENT in found else True

    def known(self, name: str) -> Const | None:
        """The one constant that an argument must be, given or by default; None where it can be something else."""
        return constant(self.values(name))

    @property
    def is_reached(self) -> bool:
        """True if the call is reached at all, as far as the conditions around it are known.

        `if workers > 0: DataLoader(..., num_workers=workers)` is not reached with the declared default of 0.
        """
        return is_reached(self.ev, self.call, self.frame)

    def is_error_expected(self, *errors: str, at_use: bool = False) -> bool:
        """True if the code around the call, or everyone who runs it, expects one of some errors from it.

        With `at_use` the error comes when the loader is used, not from its constructor.
        """
        return is_error_expected(self.ev, self.call, self.frame, errors, at_use=at_use)

    @property
    def is_pickling_error_expected(self) -> bool:
        """True if the program expects that what the loader is given cannot be pickled for its workers."""
        errors = ("pickle.PicklingError", "AttributeError", "TypeError")
        return is_error_expected(self.ev, self.call, self.frame, errors, at_use=True, by_name=True)

    @property
    def node(self) -> cst.Call:
        """The call in the linted file to point at."""
        return self.site or self.call

    @property
    def has_workers(self) -> bool | None:
        """True if it starts workers: surely or by a declared default (True), surely not (False), or unknown."""
        answers = {is_positive(value) for value in self.values("num_workers")}
        return answers.pop() if len(answers) == 1 else None

    @property
    def pickles_its_functions(self) -> bool:
        """True if functions given to it can reach a pickle: not with a 0 written out, a fork context, or when dropped.

        Loaders whose number of workers is left out count: they pickle as soon as somebody adds workers.
        """
        if self.pickles_nothing or self.kind.drops_collate:
            return False
        is_zero = (isinstance(v, Const) and v.value == 0 and not v.default for v in self.values("num_workers"))
        return self.is_passed("num_workers") is False or not all(is_zero)

    @property
    def pickles_nothing(self) -> bool:
        """True if it forks its workers by its own `multiprocessing_context`."""
        return self.start_method == "fork"

    @property
    def start_method(self) -> str:
        """The start method that its own `multiprocessing_context` asks for; empty where none is known."""
        found = self.values("multiprocessing_context")
        context = found[0] if len(found) == 1 else None
        if isinstance(context, CallResult) and context.library.endswith("multiprocessing.get_context") and context.call:
            assert context.frame is not None
            found = self.ev.values(context.call.args[0].value, context.frame) if context.call.args else ()
        method = constant(found)
        return method.value if method is not None and isinstance(method.value, str) else ""


def written_argument(call: cst.Call, name: str, positions: tuple[str, ...]) -> cst.Arg | None:
    """The argument as written in a call, by keyword or position; None where it comes in another way or not."""
    position = 0
    for arg in call.args:
        if arg.keyword is not None:
            if arg.keyword.value == name:
                return arg
        elif arg.star:
            position = len(positions)  # no telling which positions a star fills
        else:
            if position < len(positions) and positions[position] == name:
                return arg
            position += 1
    return None


def _passed(ev: Evaluator, call: cst.Call, frame: Frame, name: str, positions: tuple[str, ...]) -> Values:
    arg = written_argument(call, name, positions)
    if arg is not None:
        return ev.values(arg.value, frame)
    found: Values = (ABSENT,)
    position = 0
    for each in call.args:
        if each.star == "**":
            here = dict_contents.lookup(ev, each.value, name, frame)
            found = merge(tuple(value for value in here if value is not ABSENT), found) if ABSENT in here else here
        elif each.star == "*":
            rest = starred(each.value, frame)
            if rest is None:
                if name in positions[position:]:
                    return NOTHING_KNOWN
                position = len(positions)
                continue
            for given in rest:
                if positions[position : position + 1] == (name,):
                    known = given.node is not None and given.frame is not None
                    return ev.values(given.node, given.frame) if known else NOTHING_KNOWN  # type: ignore[arg-type]
                position += 1
        elif each.keyword is None:
            position += 1
    return found


def loader_class(ev: Evaluator, value: Value) -> LoaderClass | None:
    """What kind of DataLoader calling `value` makes; None where it makes none."""
    if isinstance(value, Library):
        return LOADERS.get(value.name) or (_LOADER_METHOD if value.name in LOADER_METHODS else None)
    if isinstance(value, Class):
        return next((LOADERS[name] for name in ev.bases(value).libraries if name in LOADERS), None)
    return None


_LOADER_METHOD = LoaderClass(("batch_size",))


def loader_of(ev: Evaluator, value: Value) -> Loader | None:
    """The loader that a value is, if it is one that was made in the project."""
    if not isinstance(value, CallResult) or value.call is None or value.frame is None:
        return None
    found = loader_class(ev, value.by)
    if found is None:
        return None
    if isinstance(value.by, Class):
        if not classes.is_made_as_usual(ev, value.by):
            return None
        inner = _inner_construction(ev, value, value.by, found)
        if inner is not None:
            return inner
        if classes.constructor(ev, value.by) is not None:
            return None
    return Loader(value.call, value.frame, found, _maker_name(ev, value.call, value.frame, value.by), ev, value.before)


def _maker_name(ev: Evaluator, call: cst.Call, frame: Frame, maker: Library | Class) -> str:
    """What the call calls the class; the class's own name where a variable means it: `make(dataset)`.

    The name of the class that derives from it where its constructor makes it: `super().__init__(dataset)`.
    """
    written = last_name(call.func)
    made = frame.receiver
    if written == "__init__" and isinstance(made, CallResult) and isinstance(made.by, Class):
        return made.by.node.name.value
    if written[:1].isupper() or "oader" in written or written in ev.extras.loader_words:
        return written
    return maker.node.name.value if isinstance(maker, Class) else maker.name.rpartition(".")[2]


def inner_loader(ev: Evaluator, value: CallResult) -> CallResult | None:
    """An object of a project class that derives from a loader of a library, as one of that: it has none of its methods.

    None where its creation is not visible.
    """
    loader = loader_of(ev, value) if isinstance(value.by, Class) else None
    if loader is None or not isinstance(value.by, Class):
        return None
    base = next(name for name in ev.bases(value.by).libraries if name in LOADERS)
    return CallResult(Library(base), loader.call, loader.frame, loader.before)


def _inner_construction(ev: Evaluator, value: CallResult, klass: Class, kind: LoaderClass) -> Loader | None:
    """The `super().__init__(...)` call of a subclass with its own constructor, as this construction reaches it."""
    function = classes.constructor(ev, klass)
    assert value.call is not None and value.frame is not None
    made: Frame = value.frame
    call = value.call
    for _ in range(4):
        if function is None:
            return None
        frame = ev.enter(function, call, made, value)
        target = _super_call(function.scope)
        if target is None:
            return None
        callees = ev.values(target.func, frame)
        following = next((each.function for each in callees if isinstance(each, Method)), None)
        if following is None:
            return Loader(target, frame, kind, klass.node.name.value, ev)
        function, call, made = following, target, frame
    return None


def _super_call(method: Scope) -> cst.Call | None:
    """The call in a constructor that runs the next constructor up."""
    for call in method.own(cst.Call):
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == "__init__":
            owner = call.func.value
            if isinstance(owner, cst.Call) and dotted(owner.func) == "super":
                return call
    return None


def loaders_in(ev: Evaluator, module: ModuleFacts) -> list[Loader]:
    """Every call of a module that constructs a loader, in document order."""
    key = (f"loaders for {id(ev)}", id(module.root))
    return module.tree.once(key, lambda: list(_loaders(ev, module)), meanwhile=[])


def _loaders(ev: Evaluator, module: ModuleFacts) -> Iterator[Loader]:
    for call in module.all_calls():
        in_subclass = last_name(call.func) == "__init__"
        if not in_subclass and not _may_name_loader(ev, call.func, module):
            continue
        frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
        if in_subclass:
            yield from _in_subclass(ev, call, frame)
        elif any(_makes_loader(ev, callee) for callee in ev.values(call.func, frame)):
            for value in ev.values(call, frame):
                found = loader_of(ev, value)
                if found is not None:
                    yield replace(found, site=call)
                    break


_LAST_NAMES = frozenset(name.rpartition(".")[2] for name in (*LOADERS, *LOADER_METHODS))


def _may_name_loader(ev: Evaluator, callee: cst.BaseExpression, module: ModuleFacts) -> bool:
    """Cheap check before the evaluation, which may open other files.

    A name is followed where it mentions loaders, or what this module binds it to does: the name that something is
    imported by, the bases of a class, a partial, the default of a parameter.
    """
    if _speaks_of_loaders(ev, last_name(callee)):
        return True
    return isinstance(callee, cst.Name) and any(
        _leads_to_loaders(ev, binding, module.tree)
        for named in resolve(callee, module.tree)
        for binding in (named, *_class_received(named))
    )


def _class_received(binding: Binding) -> list[Binding]:
    """The class that a class method gets as `cls`: calling that constructs it."""
    owner = classes.class_of(binding.scope) if binding.kind is Kind.PARAMETER else None
    if owner is None or owner.parent is None or classes.receiver_name(binding.scope) != binding.name:
        return []
    assert isinstance(owner.node, cst.ClassDef)
    return [each for each in bindings_of(owner.parent).get(owner.node.name.value, ()) if each.node is owner.node]


def _leads_to_loaders(ev: Evaluator, binding: Binding, tree: Tree, depth: int = 0) -> bool:
    if binding.kind is Kind.IMPORT:
        return binding.member is not None and _speaks_of_loaders(ev, binding.member)
    if binding.kind in (Kind.VALUE, Kind.PARAMETER) and binding.value is not None:
        sources: list[cst.BaseExpression] = [binding.value]
    elif isinstance(binding.node, cst.ClassDef) and binding.kind is Kind.CLASS:
        sources = [base.value for base in binding.node.bases]
    else:
        return False
    if any(_speaks_of_loaders(ev, word) for each in sources for word in tree.words(each).split()):
        return True
    return depth < LOADER_SOURCE_DEPTH and any(
        _leads_to_loaders(ev, inner, tree, depth + 1)
        for each in sources
        if isinstance(named := _wrapped(each), cst.Name)
        for inner in resolve(named, tree)
    )


def _wrapped(node: cst.BaseExpression) -> cst.BaseExpression:
    """`make` of `partial(make, num_workers=4)`."""
    return node.args[0].value if isinstance(node, cst.Call) and node.args else node


def _speaks_of_loaders(ev: Evaluator, name: str) -> bool:
    return name in _LAST_NAMES or "loader" in name.lower() or name in ev.extras.loader_words


def _makes_loader(ev: Evaluator, callee: Value) -> bool:
    """True if calling this constructs a loader right there, not somewhere inside a function of the project."""
    if isinstance(callee, Partial):
        return _makes_loader(ev, callee.callee)
    return isinstance(callee, Library | Class) and loader_class(ev, callee) is not None


def _in_subclass(ev: Evaluator, call: cst.Call, frame: Frame) -> Iterator[Loader]:
    """`super().__init__(...)` in a subclass of a loader, or `DataLoader.__init__(self, ...)`."""
    for callee in ev.values(call.func, frame):
        if isinstance(callee, Library) and callee.name.endswith(".__init__"):
            kind = LOADERS.get(callee.name.removesuffix(".__init__"))
            if kind is not None:
                yield Loader(call, frame, kind, "super().__init__", ev)
                return
