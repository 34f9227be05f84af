"""Abstract values. A tuple of several means one of them; `UNKNOWN` in it means anything else."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Protocol, TypeVar

import libcst as cst

from dataloader_lint.semantics.limits import PART_CHAIN, VALUES_HELD
from dataloader_lint.semantics.syntax.records import record

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataloader_lint.semantics.libraries.extras import Extras
    from dataloader_lint.semantics.project.project import Project
    from dataloader_lint.semantics.syntax.names import Binding
    from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope

T = TypeVar("T")


@record(frozen=True, slots=True)
class Unknown:
    """Anything at all."""


@record(frozen=True, slots=True)
class Absent:
    """No value at all: an argument that is not passed, a key that is not there."""


@record(frozen=True, slots=True, eq=False)
class Const:
    """A literal. `default` names the declared default that it comes from ("the default of --workers"), if any."""

    value: object
    default: str = ""

    def __eq__(self, other: object) -> bool:
        # True is not 1 and 1 is not 1.0 here.
        return (
            isinstance(other, Const)
            and type(other.value) is type(self.value)
            and other.value == self.value
            and other.default == self.default
        )

    def __hash__(self) -> int:
        return hash((type(self.value), self.value, self.default))


@record(frozen=True, slots=True)
class Opaque:
    """A value of a known kind whose content is unknown: `str`, `int`, `float`, `bool`, `array`, `tensor`, ...

    `positive` is True for an integer that is known to be at least 1. `scheme` is what a text begins with, up to a
    colon: `cuda` for `f"cuda:{rank}"`.
    """

    kind: str
    positive: bool = False
    scheme: str = ""


@record(frozen=True, slots=True)
class Library:
    """Something that a library or Python itself defines, by its qualified name: `torch.utils.data.DataLoader`."""

    name: str


@record(frozen=True, slots=True, eq=False)
class Frame:
    """A scope as entered by one call: what its parameters are. `args` is None where the call is not known.

    `extra` holds the positional arguments that go into `*args`; None where it is unknown.
    """

    scope: Scope
    args: dict[str, Argument] | None = None
    receiver: Value | None = None
    outer: Frame | None = None
    depth: int = 0
    memo: dict[object, Values] = field(default_factory=dict)
    extra: tuple[Argument, ...] | None = None
    ways: dict[str, dict[int, bool]] = field(default_factory=dict)  # for reachability.py, by the `id` of a way
    dicts: dict[object, object] = field(default_factory=dict)  # for dict_contents.py: what changes which dict


@record(frozen=True, slots=True)
class Argument:
    """An argument as written, with the frame to evaluate it in; `node` None means that it is unknown.

    `value` is set where the value is known without an expression. `below` is the `**` before this one, if it is a `**`.
    """

    node: cst.BaseExpression | None
    frame: Frame | None
    value: Value | None = None
    below: Argument | None = None


@record(frozen=True, slots=True)
class Module:
    """A module of the project."""

    scope: Scope


@record(frozen=True, slots=True)
class Function:
    """A function or lambda of the project, with the frame of the scope that it was made in."""

    scope: Scope
    outer: Frame = field(repr=False)

    @property
    def node(self) -> cst.FunctionDef | cst.Lambda:
        assert isinstance(self.scope.node, cst.FunctionDef | cst.Lambda)
        return self.scope.node


@record(frozen=True, slots=True)
class Class:
    """A class of the project."""

    scope: Scope
    outer: Frame = field(repr=False)

    @property
    def node(self) -> cst.ClassDef:
        assert isinstance(self.scope.node, cst.ClassDef)
        return self.scope.node


@record(frozen=True, slots=True)
class Bases:
    """A class and its bases: those of the project in order of resolution, itself first; the library's by name.

    `complete` is False where a base could not be resolved to either.
    """

    classes: tuple[Class, ...]
    libraries: tuple[str, ...]
    complete: bool


@record(frozen=True, slots=True)
class Method:
    """A function bound to the object that it was taken from."""

    function: Function
    receiver: Value


@record(frozen=True, slots=True)
class CallResult:
    """The result of a call to a class, or to a function of a library: `by` says whose, `call` where.

    `call` is None for an object whose creation is not visible (`self` in a method). `before` holds the calls of
    `functools.partial` that gave arguments beforehand, the last one first.
    """

    by: Library | Class
    call: cst.Call | None = field(repr=False)
    frame: Frame | None = field(repr=False)
    before: tuple[tuple[cst.Call, Frame], ...] = field(default=(), repr=False)

    @property
    def library(self) -> str:
        """The qualified name of the library's callable; empty for classes of the project."""
        return self.by.name if isinstance(self.by, Library) else ""


@record(frozen=True, slots=True)
class Partial:
    """`functools.partial(callee, ...)`."""

    callee: Value
    call: cst.Call = field(repr=False)
    frame: Frame = field(repr=False)
    before: tuple[tuple[cst.Call, Frame], ...] = field(default=(), repr=False)


@record(frozen=True, slots=True)
class Deferred:
    """A function or method that a call of a library runs later, with the arguments that the call gives beside it."""

    callee: Value


@record(frozen=True, slots=True, eq=False)
class Sequence:
    """A list, tuple or set. `items` holds the elements of a display; None where they are not written out.

    A list that holds itself, or several of its own kind, grows with each step that follows it: beyond `VALUES_HELD`
    in all, its elements count as not written out. `held` is how many there are. The hash is kept, so that a value in
    many others costs no more than one in none.
    """

    kind: str
    node: Node = field(repr=False)
    frame: Frame = field(repr=False)
    items: tuple[Values, ...] | None = None
    held: int = field(init=False, repr=False, default=0)
    _hash: int = field(init=False, repr=False, default=0)

    def __post_init__(self) -> None:
        items = self.items
        if items:
            held = sum([each.held + 1 if type(each) is Sequence else 1 for several in items for each in several])
            if held > VALUES_HELD:
                items, held = None, 0
                object.__setattr__(self, "items", None)
            object.__setattr__(self, "held", held)
        object.__setattr__(self, "_hash", hash((self.kind, id(self.node), id(self.frame), items)))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            type(other) is Sequence
            and other._hash == self._hash
            and other.node is self.node
            and other.frame is self.frame
            and other.kind == self.kind
            and other.items == self.items
        )

    def __hash__(self) -> int:
        return self._hash


@record(frozen=True, slots=True)
class Mapping:
    """A dict, as the expression that makes it, or as the rest of a call's keywords (`**kwargs`).

    `keywords` finds keys in it and knows of later stores.
    """

    node: Node = field(repr=False)
    frame: Frame = field(repr=False)


@record(frozen=True, slots=True)
class ItemOf:
    """An element of something: what iterating or indexing gives. `index` is the constant index, where there is one."""

    of: Value
    index: object = None


@record(frozen=True, slots=True)
class Iterator:
    """`iter(of)`, or a generator over the elements of `of`."""

    of: Value


@record(frozen=True, slots=True)
class AttributeOf:
    """An attribute of something whose attributes are not known."""

    of: Value
    name: str


Value = (
    Unknown
    | Absent
    | Const
    | Opaque
    | Library
    | Module
    | Function
    | Class
    | Method
    | CallResult
    | Partial
    | Deferred
    | Sequence
    | Mapping
    | ItemOf
    | Iterator
    | AttributeOf
)
Values = tuple[Value, ...]
Calls = tuple[tuple[cst.Call, Frame], ...]
Callers = tuple[tuple[cst.Call, Frame, Values], ...]


class Evaluator(Protocol):
    """The interface through which the files of the evaluator call each other; `evaluate` implements it."""

    steps: int  # how much has been worked out for the file, to stop a search that gets too long
    too_deep: int  # how often an answer was unknown because the question was too deep inside others

    cuda: bool
    extras: Extras
    project: Project  # the modules that it can open

    def values(self, node: cst.CSTNode, frame: Frame) -> Values:
        """What an expression can be in a frame."""

    def everywhere(self, node: cst.CSTNode, module: ModuleFacts) -> Values | None:
        """What an expression gives in every frame alike; None where that is not known, or depends on the frame."""

    def settled(self, work_out: Callable[[], T]) -> tuple[T, bool]:
        """What `work_out` gives, and True if that is final: no question that is still open cut it short."""

    def key(self, node: cst.CSTNode, key: object, frame: Frame, work_out: Callable[[], Values]) -> Values:
        """What `work_out` gives as the value of a key of the dict that an expression means."""

    def binding(self, binding: Binding, frame: Frame, use: cst.CSTNode | None = None) -> Values:
        """What a binding gives its name, in the frame in which its statement runs."""

    def call(self, callee: Value, call: cst.Call, frame: Frame) -> Values:
        """What calling something gives."""

    def bases(self, klass: Class) -> Bases:
        """The bases of a class."""

    def enter(
        self, function: Function, call: cst.Call, frame: Frame, receiver: Value | None, before: Calls = ()
    ) -> Frame:
        """The frame that a call opens in a function of the project; `before` are the partials that it is a call of."""

    def entered(self, callee: Value, call: cst.Call, frame: Frame) -> Frame | None:
        """The same for a function or method that is called; None for all else."""

    def method_frame(self, method: Scope, receiver: Value, outer: Frame | None = None) -> Frame:
        """The frame in which a method runs for an object, with nothing known about its arguments."""

    def run(self, function: Function, frame: Frame) -> Values:
        """What a function returns in a frame."""

    def at(self, scope: Scope, frame: Frame) -> Frame:
        """The frame in which a binding of `scope` lives, seen from `frame`."""

    def attribute(self, value: Value, name: str) -> Values:
        """What `value.name` can be."""

    def element(self, value: Value) -> Values:
        """What iterating over a value gives."""

    def item(self, value: Value, index: object) -> Values:
        """What `value[index]` can be; `index` is ABSENT where it is no constant."""

    def frame_of(self, scope: Scope) -> Frame:
        """The frame of a scope about whose call nothing is known; for a method, its object is one of its class."""

    def member(self, scope: Scope, name: str) -> Values:
        """A name of a module of the project."""

    def callers(self, function: Scope) -> Callers:
        """The visible calls that surely run a function: the call, the frame it stands in, what it calls."""


UNKNOWN = Unknown()
ABSENT = Absent()
NOTHING_KNOWN: Values = (UNKNOWN,)
NONE = Const(None)
LISTED_PATHS = Iterator(Opaque("paths"))  # what `Path.iterdir()`, `.glob(...)` and `.rglob(...)` give


def part(value: ItemOf | AttributeOf) -> Values:
    """A part of an object as a value; unknown where the access path gets long, so that loops terminate."""
    length = 0
    current: Value = value
    while isinstance(current, ItemOf | AttributeOf):
        length += 1
        current = current.of
    return (value,) if length <= PART_CHAIN else NOTHING_KNOWN


def merge(*several: Values) -> Values:
    """The union of several alternatives, in order; unknown if there are too many."""
    given = [values for values in several if values]
    if len(given) < 2:
        return given[0] if given else ()
    merged: dict[Value, None] = {}
    for values in given:
        for value in values:
            merged[value] = None
    return tuple(merged) if len(merged) <= 24 else NOTHING_KNOWN


def constant(values: Values) -> Const | None:
    """The one constant that the value must be; None where it can be something else. Several defaults may agree."""
    first = values[0] if values else None
    if not isinstance(first, Const):
        return None
    for other in values[1:]:
        if not isinstance(other, Const) or other.value != first.value or type(other.value) is not type(first.value):
            return None
    # A plain constant beside a declared default of the same value: the default is what the reader needs to know.
    return next((value for value in values if isinstance(value, Const) and value.default), first)


def is_default(value: Value) -> bool:
    """True for a declared default, which callers or users may set to something else."""
    return isinstance(value, Const) and bool(value.default)
