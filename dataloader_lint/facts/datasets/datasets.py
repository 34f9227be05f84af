"""Dataset classes: which classes of a file are Datasets, and the objects as they are built and read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from dataloader_lint.facts.datasets import readers
from dataloader_lint.facts.datasets.arrays import KeptArray, arrays_of
from dataloader_lint.facts.datasets.bound_containers import BoundContainer, bound_containers
from dataloader_lint.facts.datasets.reads import reads_of
from dataloader_lint.facts.datasets.storage import SampleStorage, sample_storage
from dataloader_lint.facts.datasets.uses import Reads
from dataloader_lint.facts.evaluation import classes
from dataloader_lint.facts.evaluation.classes import AttributeBinding, Bases
from dataloader_lint.facts.evaluation.forms import Form
from dataloader_lint.facts.evaluation.loader_calls import Loader
from dataloader_lint.facts.evaluation.values import Class, Evaluator, Function, Made, Value
from dataloader_lint.facts.libraries.catalogue import RUN_BY_CONSTRUCTORS
from dataloader_lint.facts.syntax.module import ModuleFacts
from dataloader_lint.facts.syntax.names import bindings_of, dotted
from dataloader_lint.facts.syntax.tree import Scope, parameters

if TYPE_CHECKING:
    from dataloader_lint.facts.workers.reach import Reach


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A class whose objects are read by the workers of a DataLoader, seen as one with all its bases."""

    klass: Class
    bases: Bases
    ev: Evaluator
    construction: tuple[Scope, ...]  # the functions that making an object runs, in the order in which they are met
    reads: Reads
    reach: Reach

    @property
    def name(self) -> str:
        return self.klass.node.name.value

    @property
    def self_value(self) -> Made:
        """An object of the class about whose construction nothing is known."""
        return Made(self.klass, None, None)

    @property
    def is_unread(self) -> bool:
        """Whether nothing in sight reads it through a loader that has workers, or may get some. Dear."""
        return readers.is_unread(self.reach, self.klass)

    @property
    def has_no_workers_yet(self) -> bool:
        """Whether all loaders in sight that may read it surely start no workers, so that nobody copies it now. Dear."""
        return readers.has_no_workers_yet(self.reach, self.klass)

    @property
    def objects_in_workers(self) -> list[Made]:
        """Its objects as the loaders in sight that may have workers get them, or one of which nothing is known."""
        return readers.objects_in_workers(self.reach, self.klass) or [self.self_value]

    def sample_lists(self) -> list[SampleStorage]:
        """The Python lists that it binds in its own file and that are sample storage."""
        return self._stored(Form.LIST)

    def sample_dicts(self) -> list[SampleStorage]:
        """The dicts, sets and known holders of them that it binds in its own file and that are sample storage."""
        return self._stored(Form.DICT)

    def containers(self) -> list[BoundContainer]:
        """The other lists, dicts and sets that its constructor binds in its own file."""
        return list(bound_containers(self))

    def arrays(self) -> list[KeptArray]:
        """The arrays and tables that it binds in its own file and that are sample storage."""
        return list(arrays_of(self))

    def _stored(self, form: Form) -> list[SampleStorage]:
        tree = self.klass.scope.module.tree
        found: dict[tuple[int, str], SampleStorage] = {}
        for dataset in (*self._readers_elsewhere(), self):
            for stored in sample_storage(dataset, form, tree):
                if stored.node in tree:
                    found.setdefault((id(stored.node), stored.name), stored)
        return list(found.values())

    def _readers_elsewhere(self) -> Iterator[Dataset]:
        """Classes of other files that inherit this one, where it leaves to them how samples are found or read."""
        if not self.bases.complete or not self.construction:
            return
        reads_itself = not all(map(classes.is_left_to_heirs, self.reads.functions))
        if reads_itself and not any(map(classes.is_left_to_heirs, self.construction)):
            return
        name = self.klass.node.name.value
        for module in self.reach.ev.project.importers(self.klass.scope.module, [name], MAX_HEIRS):
            for scope in module.classes:
                klass = Class(scope, self.ev.frame_of(scope))
                bases = self.ev.bases(klass)
                if any(each.scope is self.klass.scope for each in bases.classes[1:]):
                    yield _dataset(self.reach, klass)

    def bound(self) -> dict[str, list[AttributeBinding]]:
        """Where construction binds the attributes of the object, by attribute, in the order of construction."""
        found: dict[str, list[AttributeBinding]] = {}
        if classes.find_method(self.ev, self.bases.classes, "__init__") is None:
            for each in filter(classes.is_dataclass, self.bases.classes):
                for field in classes.field_bindings(each):
                    found.setdefault(field.name, []).append(field)
        for scope in self.construction:
            klass = classes.class_of(scope)
            if klass is None:
                continue
            for bindings in classes.attribute_bindings(klass).values():
                for binding in bindings:
                    if binding.method is scope or _is_inside(binding.method, scope):
                        found.setdefault(binding.name, []).append(binding)
        return {name: _as_run(bindings) for name, bindings in found.items()}


def _as_run(bindings: list[AttributeBinding]) -> list[AttributeBinding]:
    """Bindings of an attribute with those before others that the methods called for these others run.

    `self.rows = self.read()` where `read` binds `self.rows` itself before it returns.
    """
    if len(bindings) < 2:
        return bindings
    found: list[AttributeBinding] = []
    for binding in bindings:
        called = _method_called_for(binding)
        inner = [each for each in bindings if called and each is not binding and _name_of(each.method) == called]
        found.extend(each for each in (*inner, binding) if not any(each is known for known in found))
    return found


def _method_called_for(binding: AttributeBinding) -> str:
    """The name of the method of the object whose answer is bound; empty where it is none."""
    func = binding.value.func if isinstance(binding.value, cst.Call) else None
    if not isinstance(func, cst.Attribute) or dotted(func.value) != classes.receiver_name(binding.method):
        return ""
    return func.attr.value


def _name_of(scope: Scope) -> str:
    return scope.node.name.value if isinstance(scope.node, cst.FunctionDef) else ""


def _is_inside(scope: Scope, outer: Scope) -> bool:
    current: Scope | None = scope
    while current is not None:
        if current is outer:
            return True
        current = current.parent
    return False


def datasets_in(reach: Reach, module: ModuleFacts) -> Iterator[Dataset]:
    """The Datasets that a module defines: by their bases, or because an object of theirs reaches a DataLoader."""
    ev = reach.ev
    for scope in module.root.descend():
        if not scope.is_class or scope.parent is None:
            continue
        klass = Class(scope, ev.frame_of(scope.parent))
        if reach.workers.is_dataset(klass):
            yield _dataset(reach, klass)


def _dataset(reach: Reach, klass: Class) -> Dataset:
    ev = reach.ev
    bases = ev.bases(klass)
    reads = reads_of(ev, klass, bases)
    construction = _with_what_follows(ev, bases, construction_of(ev, klass, bases), reads)
    return Dataset(klass, bases, ev, construction, reads, reach)


def looks_like_one(ev: Evaluator, klass: Class) -> bool:
    """Whether objects of a class, whatever it derives from, have a length and can be indexed with numbers."""
    own = classes.methods_of(klass.scope)
    if "__getitem__" in own and "__len__" in own:
        return not _takes_names(own["__getitem__"])
    bases = ev.bases(klass).classes
    if len(bases) < 2 or classes.find_method(ev, bases, "__len__") is None:
        return False
    found = classes.find_method(ev, bases, "__getitem__")
    return found is not None and not _takes_names(found.scope)


def is_container(ev: Evaluator, klass: Class) -> bool:
    """Whether a class that looks like a Dataset has methods of lists and dicts, which no Dataset has to have.

    Lists of events, sentences of words and the like: what they are made for is not to be handed to a loader.
    """
    return any(not _OF_CONTAINERS.isdisjoint(classes.methods_of(each.scope)) for each in ev.bases(klass).classes)


_OF_CONTAINERS = frozenset(f"__{name}__" for name in ("call", "contains", "delitem", "iter", "next", "or", "setitem"))


def _takes_names(method: Scope) -> bool:
    """Whether the index is annotated as a text, which no loader asks for by itself: a batch with named fields."""
    assert isinstance(method.node, cst.FunctionDef)
    index = next(iter(parameters(method.node)[1:]), None)
    return index is not None and index.annotation is not None and dotted(index.annotation.annotation) == "str"


def reaches_loader(ev: Evaluator, klass: Class, loaders: list[Loader]) -> bool:
    """Whether one of some loaders is given an object of the class."""
    return any(_holds(ev, value, klass) for loader in loaders for value in loader.values("dataset"))


MAX_HEIRS = 3  # the files that are opened to see how those who inherit a class read it
WRAPPERS = ("Subset", "ConcatDataset", "random_split", "ChainDataset")


def _holds(ev: Evaluator, value: Value, klass: Class, depth: int = 0) -> bool:
    """Whether a value is an object of the class, or a wrapper of torch around one."""
    if isinstance(value, Made):
        if isinstance(value.by, Class):
            return value.by.scope is klass.scope or _makes_one(ev, value.by, klass)
        if value.library.rpartition(".")[2] in WRAPPERS and value.call is not None and value.frame and depth < 3:
            return any(
                _holds(ev, inner, klass, depth + 1)
                for arg in value.call.args[:1]
                for inner in ev.values(arg.value, value.frame)
            )
    return False


def _makes_one(ev: Evaluator, heir: Class, klass: Class) -> bool:
    """Whether objects of a class are made as those of a base, and do not only borrow its methods."""
    bases = ev.bases(heir)
    if all(each.scope is not klass.scope for each in bases.classes):
        return False
    made_by = classes.methods_of(klass.scope).get("__init__")
    return made_by is None or any(each is made_by for each in construction_of(ev, heir, bases))


def construction_of(ev: Evaluator, klass: Class, bases: Bases) -> tuple[Scope, ...]:
    """The functions of the class and its bases that making an object runs, `__init__` first, in calling order."""
    start = [classes.find_method(ev, bases.classes, name) for name in ("__init__", "__post_init__")]
    if start[0] is None:  # the constructor is that of a library's base
        start.extend(run_by_libraries(ev, bases))
    return _run_by(ev, bases, [method.scope for method in start if method is not None])


def _run_by(ev: Evaluator, bases: Bases, todo: list[Scope]) -> tuple[Scope, ...]:
    """Some methods and those that they run on their object, in calling order."""
    order: list[Scope] = []
    while todo:
        scope = todo.pop(0)
        if any(scope is known for known in order):
            continue
        order.append(scope)
        todo[:0] = [called.scope for called, _ in calls_on_self(ev, scope, bases)]
    return tuple(order)


def _with_what_follows(ev: Evaluator, bases: Bases, made: tuple[Scope, ...], reads: Reads) -> tuple[Scope, ...]:
    """The functions that make an object, and those that its maker has to run then: `dataset.initialize(options)`.

    What workers read of it, while neither these functions nor workers themselves bind it, was bound by others before.
    """
    busy = (*made, *reads.functions)
    more: list[Scope] = []
    for name in reads.uses:
        bindings = [each for klass in bases.classes for each in classes.attribute_bindings(klass.scope).get(name, ())]
        if any(name in bindings_of(klass.scope) for klass in bases.classes):
            continue
        if any(_is_inside(binding.method, scope) for binding in bindings for scope in busy):
            continue
        methods = [binding.method.function or binding.method for binding in bindings]
        more.extend(each for each in methods if _is_run_as(ev, bases, each))
    return (*made, *(each for each in _run_by(ev, bases, more) if not any(each is known for known in made)))


def _is_run_as(ev: Evaluator, bases: Bases, method: Scope) -> bool:
    """Whether it is what an object runs under the name of a method, and no property."""
    if not isinstance(method.node, cst.FunctionDef) or method.node.decorators:
        return False
    found = classes.find_method(ev, bases.classes, method.node.name.value)
    return found is not None and found.scope is method


def calls_on_self(ev: Evaluator, scope: Scope, bases: Bases) -> Iterator[tuple[Function, cst.Call]]:
    """The methods that a method calls on its own object or on `super()`, as an object of the class resolves them.

    A call that runs the constructor of a library's base stands for the methods that this runs in turn.
    """
    own = classes.receiver_name(scope)
    here = classes.class_of(scope)
    for inner in (scope, *(each for each in scope.descend() if each is not scope)):
        for call in inner.own(cst.Call):
            if not isinstance(call.func, cst.Attribute):
                continue
            name, owner = call.func.attr.value, call.func.value
            if isinstance(owner, cst.Name) and owner.value == own:
                found = classes.find_method(ev, bases.classes, name)
            elif isinstance(owner, cst.Call) and dotted(owner.func) == "super":
                found = classes.find_method(ev, classes.after_super(bases.classes, owner, here), name)
            elif isinstance(owner, cst.Name) and call.args and dotted(call.args[0].value) == own:
                found = _named_base(ev, bases, owner.value, name)
            else:
                continue
            if found is not None:
                yield found, call
            elif name == "__init__":
                yield from ((each, call) for each in run_by_libraries(ev, bases))


def run_by_libraries(ev: Evaluator, bases: Bases) -> list[Function]:
    """The methods that the constructors of libraries' bases run: `process` of a Dataset of torch_geometric."""
    found = (
        classes.find_method(ev, bases.classes, name)
        for prefix, names in RUN_BY_CONSTRUCTORS.items()
        if any(library.startswith(prefix) for library in bases.libraries)
        for name in names
    )
    return [each for each in found if each is not None]


def _named_base(ev: Evaluator, bases: Bases, base: str, name: str) -> Function | None:
    """`Base.__init__(self, ...)`."""
    for position, each in enumerate(bases.classes):
        if each.node.name.value == base:
            return classes.find_method(ev, bases.classes[position:], name)
    return None
