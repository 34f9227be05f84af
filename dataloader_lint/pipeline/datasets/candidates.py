"""Classes that may be Datasets, judged by their methods, and which of these a loader gets."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dataloader_lint.pipeline.datasets.construction import construction_of
from dataloader_lint.pipeline.datasets.dataset_bases import dataset_kind, imports_torch, is_container
from dataloader_lint.pipeline.datasets.index_dep import IndexDep
from dataloader_lint.pipeline.datasets.reads import reads_of
from dataloader_lint.pipeline.datasets.trainer_datasets import datasets_for_libraries
from dataloader_lint.pipeline.datasets.wrappers import wrapped_datasets
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.project.scripts import is_test
from dataloader_lint.semantics.syntax.expressions import last_name, parameters
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope, function_scope
from dataloader_lint.semantics.values.values import CallResult, Class, Evaluator, Frame, Value


def looks_like_dataset(ev: Evaluator, klass: Class) -> bool:
    """True if instances of a class have a length and can be indexed with numbers, whatever its bases are."""
    own = classes.methods_of(klass.scope)
    if "__getitem__" in own and "__len__" in own:
        return not _has_str_index(own["__getitem__"])
    bases = ev.bases(klass).classes
    if len(bases) < 2 or classes.find_method(ev, bases, "__len__") is None:
        return False
    found = classes.find_method(ev, bases, "__getitem__")
    return found is not None and not _has_str_index(found.scope)


def is_called_dataset(ev: Evaluator, klass: Class) -> bool:
    """True if a class, or a base of it, is called a Dataset beside torch, and nothing else is known of its bases.

    Libraries leave it to their users to make the loaders.
    """
    bases = ev.bases(klass)
    return (
        bases.complete
        and all(name.partition(".")[0] in _PLAIN_BASES for name in bases.libraries)
        and any(each.node.name.value.endswith("Dataset") for each in bases.classes)
        and any(imports_torch(each.scope.module) for each in bases.classes)
        and not is_container(ev, klass)
        and not is_test(klass.scope.module)
    )


# Where bases come from that say nothing about what their classes are.
_PLAIN_BASES = frozenset({"abc", "builtins", "typing", "typing_extensions"})


def _has_str_index(method: Scope) -> bool:
    """True if the index is annotated as `str`, as in a batch with named fields: a default loader never passes one."""
    assert isinstance(method.node, cst.FunctionDef)
    index = next(iter(parameters(method.node)[1:]), None)
    return index is not None and index.annotation is not None and dotted(index.annotation.annotation) == "str"


def reaches_loader(ev: Evaluator, klass: Class, loaders: list[Loader]) -> bool:
    """True if one of the loaders is given an instance of the class."""
    return any(_contains_instance(ev, value, klass) for loader in loaders for value in loader.values("dataset"))


def _contains_instance(ev: Evaluator, value: Value, klass: Class) -> bool:
    """True if a value is an instance of the class, or a wrapper of torch around one."""
    return any(
        isinstance(made.by, Class) and (made.by.scope is klass.scope or _is_constructed_as(ev, made.by, klass))
        for made in wrapped_datasets(ev, value)
    )


def is_given_to_library(ev: Evaluator, klass: Class, module: ModuleFacts) -> bool:
    """True if a module gives an instance of the class to a library that makes a loader of it."""
    key = (f"given to libraries for {id(ev)}", id(module.root))
    found: list[Value] = module.tree.once(key, lambda: list(datasets_for_libraries(ev, module)), meanwhile=[])
    return any(_contains_instance(ev, value, klass) for value in found)


def is_wrapped(ev: Evaluator, klass: Class, module: ModuleFacts) -> bool:
    """True if a module makes a Dataset that reads an instance of the class with the index: `Cropped(Images(path))`.

    A library may make the loader of it.
    """
    key = (f"read by Datasets for {id(ev)}", id(module.root))
    found: list[tuple[Class, Value]] = module.tree.once(key, lambda: list(_read_by_datasets(ev, module)), meanwhile=[])
    return any(by.scope is not klass.scope and _contains_instance(ev, value, klass) for by, value in found)


def _read_by_datasets(ev: Evaluator, module: ModuleFacts) -> Iterator[tuple[Class, Value]]:
    """The Datasets that a module makes, each with what it keeps and reads with the index."""
    for call in module.all_calls():
        name = last_name(call.func)
        if not (call.args and name[:1].isupper() and ev.project.may_be_dataset(module, name)):
            continue
        frame = ev.frame_of(function_scope(module.tree.scope_of(call)))
        for callee in ev.values(call.func, frame):
            if isinstance(callee, Class) and dataset_kind(ev, callee):
                yield from ((callee, value) for value in _read_with_index(ev, callee, call, frame))


def _read_with_index(ev: Evaluator, wrapper: Class, call: cst.Call, frame: Frame) -> Iterator[Value]:
    """What a Dataset keeps that it reads with the index, and that is as long as the Dataset itself.

    The length is that of what it keeps, or a base class of a library says so.
    """
    made, bases = CallResult(wrapper, call, frame), ev.bases(wrapper)
    is_measured = classes.find_method(ev, bases.classes, "__len__") is not None
    for name, use in reads_of(ev, wrapper, bases).uses.items():
        if use.itself is IndexDep.INDEX and (use.is_length or not is_measured) and "." not in name:
            yield from ev.attribute(made, name)


def _is_constructed_as(ev: Evaluator, derived: Class, klass: Class) -> bool:
    """True if instances of a subclass run the constructor of the base, not only its other methods."""
    bases = ev.bases(derived)
    if all(each.scope is not klass.scope for each in bases.classes):
        return False
    made_by = classes.methods_of(klass.scope).get("__init__")
    return made_by is None or any(each is made_by for each in construction_of(ev, bases))
