"""Containers that worker code fills sample by sample and that outlive the sample: caches, logs, sets of bad samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.pipeline.workers.dataset_flow import DatasetFlow
from dataloader_lint.pipeline.workers.instances import harms_one, reaches
from dataloader_lint.pipeline.workers.worker_callgraph import WorkerFunction
from dataloader_lint.rules.memory.dl104_cache_grown_in_worker.earlier_tests import EarlierTests, SizeTests
from dataloader_lint.rules.memory.dl104_cache_grown_in_worker.lifetimes import (
    ContainerUse,
    Holder,
    Lifetimes,
    Shape,
    may_outlive,
)
from dataloader_lint.rules.memory.dl104_cache_grown_in_worker.memoised import (
    may_memoise,
    memos_called,
    unbounded_decorator,
)
from dataloader_lint.rules.memory.dl104_cache_grown_in_worker.worker_index import IndexInWorker
from dataloader_lint.semantics.callers.parameters import OF_PARAMETER
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.control.reachability import enclosing_tests, excludes, path_conditions
from dataloader_lint.semantics.dicts import sources as dict_sources
from dataloader_lint.semantics.evaluation import attributes
from dataloader_lint.semantics.libraries.calls import row
from dataloader_lint.semantics.syntax.additions import ADDING_METHODS, Addition, additions, by_method
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.origins import only_value
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Node, Scope, Tree
from dataloader_lint.semantics.values.values import (
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    Library,
    Mapping,
    Opaque,
    Sequence,
    Values,
    merge,
)


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """A statement that adds to a container of the worker for each sample, or a decorator that does."""

    node: Node
    function: WorkerFunction
    container: str  # as the user writes it; empty for a memoising decorator
    home: Scope | None = None  # the class whose objects have it; None for a global


def growths_in(reach: DatasetFlow, module: ModuleFacts) -> Iterator[Growth]:
    """What grows in the worker code of a module, for whichever Dataset of the project it runs; each container once."""
    names = {_top(scope).node.name.value for scope in _candidates(module)}  # type: ignore[attr-defined]
    if not names:
        return
    workers = reach.workers
    seen: set[object] = set()
    use = ContainerUse(workers)
    for function in workers.functions_inside(module, workers.names_that_use(module, names)):
        for growth in _Search(reach, function, use).run():
            what = (id(growth.home), growth.container) if growth.container else id(growth.node)
            place = (id(growth.node), growth.container)  # one for all classes that inherit it
            if what not in seen and place not in seen:
                seen.update((what, place))
                yield growth


def _candidates(module: ModuleFacts) -> Iterator[Scope]:
    """The functions in which something might grow: a cheap look before worker code is followed."""
    for scope in module.root.descend():
        node = scope.node
        if not isinstance(node, cst.FunctionDef) or node.name.value == "__init__":
            continue
        if may_memoise(module) or any(_may_add(module, each) for each in additions(scope)):
            yield scope


def _may_add(module: ModuleFacts, addition: Addition) -> bool:
    """True if something may be added for each sample, and to what outlives it, by the looks of it."""
    if isinstance(addition.key, cst.SimpleString | cst.Integer) and not isinstance(addition.target, cst.Subscript):
        return False
    return addition.are_attributes or may_outlive(addition.target, module.tree)


def _top(scope: Scope) -> Scope:
    while scope.parent is not None and scope.parent.parent is not None:
        scope = scope.parent
    return scope


class _Search:
    """Looks through one function of worker code."""

    def __init__(self, reach: DatasetFlow, function: WorkerFunction, use: ContainerUse) -> None:
        self._use = use
        self.reach = reach
        self.ev: Evaluator = reach.ev
        self.function = function
        self.frame: Frame = function.frame
        self.scope = function.scope
        self.index = IndexInWorker(reach.ev, function)
        self._looking_up = EarlierTests(self.scope, lambda test: self._looks_up(test, None))
        self._read: set[str] | None = None  # the names by which files are read
        self._sizes = SizeTests(reach.ev, self.frame)

    def run(self) -> Iterator[Growth]:
        if self.function.path[0].argument == "worker_init_fn":
            return  # once in a worker
        outliving: Lifetimes | None = None
        for addition, frame in (*((each, self.frame) for each in additions(self.scope)), *self._by_kept_methods()):
            if not self._may_grow(addition):
                continue
            outliving = outliving or Lifetimes(self.reach.workers, self.function, self._use)
            find = outliving.find_attributes if addition.are_attributes else outliving.find
            kept = find(addition.target, frame)
            if kept is not None and self._grows(addition, kept, outliving) and not self._is_unused(addition.statement):
                tree = self.scope.module.tree
                yield Growth(tree.statement_of(addition.statement), self.function, kept.text, kept.klass)
        decorator = self._memoised()
        if decorator is not None and not self._is_unused(decorator):
            yield Growth(decorator, self.function, "")
        for statement in memos_called(self.ev, self.function, self.index):
            if not self._is_unused(statement):
                yield Growth(statement, self.function, "")

    def _by_kept_methods(self) -> Iterator[tuple[Addition, Frame]]:
        """`self.note(index)` where the constructor keeps `self.note = self.seen.add`."""
        klass, own = classes.class_of(self.scope), classes.receiver_name(self.scope)
        receiver = self.frame.receiver
        if klass is None or not isinstance(receiver, CallResult):
            return
        for call in self.scope.own(cst.Call):
            if not isinstance(call.func, cst.Attribute) or dotted(call.func.value) != own or not call.args:
                continue
            for binding in classes.attribute_bindings(klass).get(call.func.attr.value, ()):
                method = binding.value if not binding.path else None
                if isinstance(method, cst.Attribute) and method.attr.value in ADDING_METHODS:
                    yield by_method(call, method), attributes.method_frame(self.ev, binding.method, receiver)

    def _is_unused(self, node: Node) -> bool:
        """True if no visible loader with workers reads an object that fills its cache at a node.

        Without workers there is one cache, and it works. An option that is 0 by default is there to be set.
        """
        receiver = self.function.path[0].frame.receiver
        by = receiver.by if isinstance(receiver, CallResult) else None
        loaders = self.reach.loaders_of(by) if isinstance(by, Class) else []
        if not isinstance(by, Class) or not loaders:
            return False
        started = [
            loader
            for loader in loaders
            if loader.has_workers is not False
            or any(isinstance(each, Const) and each.default for each in loader.values("num_workers"))
        ]
        return not started or not harms_one(
            self.ev, by, started, lambda made, loader: reaches(self.ev, node, self.frame, made)
        )

    def _may_grow(self, addition: Addition) -> bool:
        if addition.key is None:
            if self._adds_only_new(addition.statement):
                return False  # a vocabulary: its size is that of the language
            return self.index.at(addition.value) >= IndexDep.SAMPLE
        if self._identifies(addition.key):
            return True
        inner = addition.target
        return isinstance(inner, cst.Subscript) and self.index.at(inner) >= IndexDep.KEY

    def _identifies(self, key: cst.BaseExpression) -> bool:
        """True if a key is another one for each sample: made from the index, or the name of a file that is read."""
        level = self.index.at(key)
        return level >= IndexDep.KEY or (level is IndexDep.SAMPLE and self._is_read(key))

    def _is_read(self, key: cst.BaseExpression) -> bool:
        """True if a file is read by the key in the same function."""
        if self._read is None:
            calls = (call for call in self.scope.within(cst.Call) if self._reads(call))
            tree = self.scope.module.tree
            self._read = {name for call in calls for arg in call.args for name in _ends_of_path(arg.value, tree)}
        name = dotted(key)
        return bool(name) and name in self._read

    def _reads(self, call: cst.Call) -> bool:
        last = last_name(call.func)
        if last not in ("imread", "load", "open") and not last.startswith("read"):
            return False
        return any(isinstance(each, Library) for each in self.ev.values(call.func, self.frame))

    def _grows(self, addition: Addition, kept: Holder, outliving: Lifetimes) -> bool:
        if not self._takes(addition, kept) or self._sizes.limit(addition.statement, kept):
            return False
        return not outliving.is_emptied(kept) and all(
            not excludes(self.ev, condition, self.frame) or self._is_option(condition.test)
            for condition in path_conditions(addition.statement, self.scope)
        )

    def _is_option(self, test: cst.BaseExpression) -> bool:
        """True if a test depends on an option, which users set: `if args.cache`; a parameter may never be set."""
        return any(
            isinstance(value, Const) and value.default and not value.default.startswith(OF_PARAMETER)
            for value in self.ev.values(test, self.frame)
        )

    def _takes(self, addition: Addition, kept: Holder) -> bool:
        """True if a container of this shape gets longer, or fuller, by the addition."""
        value = self.ev.values(addition.value, self.frame) if addition.value is not None else ()
        if _is_opened(self.ev, value) or self._is_archive(addition.value, value):
            return False
        if isinstance(addition.statement, cst.Assign):
            if kept.shape is Shape.SLOTS:
                return kept.is_root and self._is_data(addition.value, value)
            return kept.shape is Shape.DICT
        if isinstance(addition.statement, cst.AugAssign) and isinstance(addition.statement.value, cst.Dict):
            return True  # only dicts take `|= {...}`
        if addition.key is not None:
            return kept.shape is Shape.DICT
        return kept.shape is Shape.LIST or (kept.makes_elements and not kept.is_root)

    def _is_archive(self, node: cst.BaseExpression | None, found: Values) -> bool:
        """True if it is an .npz archive, which stays open: what `np.load` gives is asked for something by its name."""
        if not isinstance(node, cst.Name) or not any(
            isinstance(each, CallResult) and each.library == "numpy.load" for each in found
        ):
            return False
        return any(
            isinstance(subscript.slice[0].slice, cst.Index)
            and _is_text(self.ev.values(subscript.slice[0].slice.value, self.frame))
            for subscript in _subscripts(self.scope).get(node.value, ())
        )

    def _is_data(self, node: cst.BaseExpression | None, found: Values) -> bool:
        """True if what is stored is worth keeping: no flag, number or text."""
        if self.index.at(node) < IndexDep.SAMPLE:
            return False
        small = ("str", "int", "float", "bool", "path")
        return not any(isinstance(each, Const) or (isinstance(each, Opaque) and each.kind in small) for each in found)

    def _adds_only_new(self, statement: Node) -> bool:
        """True if a statement runs only for what is not there yet: `if word not in self.words`."""
        if any(self._looks_up(test, wanted) for test, wanted in enclosing_tests(statement, self.frame)):
            return True
        return self._looking_up.are_before(statement)

    def _looks_up(self, test: cst.BaseExpression, wanted: bool | None) -> bool:
        """True if a condition looks in a container for something that is not unique per sample."""
        return any(not self._identifies(each) for each in self._sought(test, wanted))

    def _sought(self, test: cst.BaseExpression, wanted: bool | None) -> Iterator[cst.BaseExpression]:
        """What a condition looks for in a container, but where it surely is there if the condition is as wanted."""
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            yield from self._sought(test.expression, None if wanted is None else not wanted)
        elif isinstance(test, cst.BooleanOperation):
            both = wanted if isinstance(test.operator, cst.And) is wanted else None
            yield from self._sought(test.left, both)
            yield from self._sought(test.right, both)
        else:
            for comparison in self.scope.module.tree.find(test, cst.Comparison):
                operator = comparison.comparisons[0].operator
                is_there = comparison is test and wanted is isinstance(operator, cst.In)
                if isinstance(operator, cst.In | cst.NotIn) and not is_there:
                    yield comparison.left

    def _memoised(self) -> cst.Decorator | None:
        """The decorator that remembers every call with another argument, where the arguments change with the sample."""
        node = self.scope.node
        if not isinstance(node, cst.FunctionDef) or not node.decorators:
            return None
        outer = self.ev.frame_of(self.scope.parent) if self.scope.parent is not None else self.frame
        for decorator in node.decorators:
            if unbounded_decorator(self.ev, decorator.decorator, outer):
                if self.frame.args is None:  # called by the loader, each time with another index
                    return decorator if node.name.value == "__getitem__" else None
                for param in node.params.params:
                    given = self.frame.args.get(param.name.value)
                    level = self.index.at(given.node, given.frame) if given is not None else IndexDep.NONE
                    if level >= IndexDep.KEY or (level is IndexDep.SAMPLE and self._is_read(param.name)):
                        return decorator
        return None


def _ends_of_path(node: Node, tree: Tree) -> Iterator[str]:
    """The names that a path is, or ends in: `os.path.join(root, name + ".npy")`, `f"{root}/{name}.npy"`."""
    seen: set[str] = set()
    while True:
        if name := dotted(node):
            yield name
        if isinstance(node, cst.Call) and last_name(node.func) in ("Path", "join", "str") and node.args:
            node = node.args[-1].value
        elif isinstance(node, cst.BinaryOperation):
            node = node.left if isinstance(node.right, cst.SimpleString | cst.Attribute) else node.right
        elif isinstance(node, cst.FormattedString):
            inner = [part.expression for part in node.parts if isinstance(part, cst.FormattedStringExpression)]
            if not inner:
                return
            node = inner[-1]
        else:  # the path may have a name of its own
            value = only_value(node, tree) if dotted(node) not in seen else None
            if value is None:
                return
            seen.add(dotted(node))
            node = value


def _subscripts(scope: Scope) -> dict[str, list[cst.Subscript]]:
    """The subscripts in a function, by the dotted name of what they are asked of."""

    def work_out() -> dict[str, list[cst.Subscript]]:
        found: dict[str, list[cst.Subscript]] = {}
        for subscript in scope.within(cst.Subscript):
            found.setdefault(dotted(subscript.value), []).append(subscript)
        return found

    return scope.module.tree.once(("subscripts by name", id(scope)), work_out)


def _is_opened(ev: Evaluator, found: Values, depth: int = 0) -> bool:
    """True if a value is a handle that is opened once and kept open, or holds one."""
    for each in found if depth < 3 else ():
        if isinstance(each, CallResult) and _is_handle(each):
            return True
        if isinstance(each, Sequence) and _is_opened(ev, merge(*(each.items or ())), depth + 1):
            return True
        if isinstance(each, Mapping) and _is_opened(ev, dict_sources.any_value(ev, each), depth + 1):
            return True
    return False


def _is_handle(value: CallResult) -> bool:
    """True if a cache of these by path is bounded: each is a handle, or maps its file."""
    model = row(value.library)
    return model.is_handle or model.maps_file


def _is_text(found: Values) -> bool:
    return bool(found) and all(
        isinstance(each.value, str) if isinstance(each, Const) else isinstance(each, Opaque) and each.kind == "str"
        for each in found
    )
