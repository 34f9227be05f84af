"""Moves of things to a device: what is moved, which loaders' batches it comes from, where to, and whether it blocks.

Everything here is asked of an evaluation that takes CUDA to be available: elsewhere no batch goes to a GPU.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import libcst as cst

from dataloader_lint.pipeline.devices.devices import Device
from dataloader_lint.pipeline.devices.moves import Move, moves_in
from dataloader_lint.pipeline.file import File
from dataloader_lint.pipeline.loaders import loader_steps
from dataloader_lint.pipeline.steps import Step
from dataloader_lint.rules.transfers._shared.batch_parts import may_be_part
from dataloader_lint.rules.transfers._shared.batch_stores import (
    is_passed_on_after,
    is_written_after,
    is_written_by_other_name,
    stores_before,
)
from dataloader_lint.rules.transfers._shared.casts import leave_as_is, parts_behind
from dataloader_lint.rules.transfers._shared.pinned_parts import is_pinned, loader_of_batches
from dataloader_lint.rules.transfers._shared.possible_devices import is_device_object, possible_devices
from dataloader_lint.rules.transfers._shared.tensors import is_tensor
from dataloader_lint.semantics.callers.parameters import passed_in_rest
from dataloader_lint.semantics.control.reachability import is_reached
from dataloader_lint.semantics.dicts import contents as dict_contents
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.syntax.expressions import keyword_of, last_name, positional_of
from dataloader_lint.semantics.syntax.layout import code
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.tree import Tree
from dataloader_lint.semantics.values.known_values import is_whole_number
from dataloader_lint.semantics.values.values import (
    ABSENT,
    NOTHING_KNOWN,
    AttributeOf,
    CallResult,
    Class,
    Const,
    Evaluator,
    Frame,
    ItemOf,
    Values,
    constant,
    merge,
)


@dataclass(frozen=True, slots=True)
class Origin:
    """A loader whose batches reach a transfer."""

    loader: Loader
    is_pinned: bool | None  # whether what is moved lies in pinned memory; None where that is not known
    path: tuple[ItemOf | AttributeOf, ...]  # from a batch to what is moved

    @property
    def is_tensor(self) -> bool | None:
        """True if what is moved surely is a tensor, None if nothing speaks against it."""
        return is_tensor(self.loader.ev, self.loader, list(self.path))

    @property
    def name(self) -> str:
        """What the user calls the loader."""
        return self.loader.bound_name

    @property
    def steps(self) -> tuple[Step, ...]:
        """Where the loader is made, and how it pins."""
        return loader_steps.made(self.loader, "pin_memory")

    @property
    def file(self) -> str:
        """The name of the file in which the loader is made."""
        return _file_name(self.loader.construction[1])


@dataclass(frozen=True, slots=True, eq=False)
class Transfer(Move):
    """One move of what may be a part of a batch. What is asked of it is worked out then."""

    anywhere: Evaluator  # the same, where nothing is taken to be available
    may_be_pinned: bool  # whether the code around mentions pinned memory, which loaders use only when asked to

    @property
    def moved(self) -> cst.BaseExpression:
        """The expression that is moved."""
        assert isinstance(self.call.func, cst.Attribute)
        return self.call.func.value

    @property
    def text(self) -> str:
        """The call as written, on one line."""
        return shown(self.frame.scope.module.tree, self.call)

    @property
    def file(self) -> str:
        """The name of the file in which it stands."""
        return _file_name(self.frame)

    @property
    def may_name_device(self) -> bool:
        """True if it may be a move to a device, and not a conversion; a cheap look before the evaluation."""
        given = self.named_device
        if given is None:
            return self.is_cuda_call or any(arg.star for arg in self.call.args)
        return _TYPE_NAME.search(last_name(given)) is None

    @property
    def is_reached(self) -> bool:
        """True if it is reached where CUDA is available, as far as the conditions around it are known."""
        return is_reached(self.ev, self.call, self.frame)

    @property
    def may_be_reached(self) -> bool:
        """The same, with options that users may set: `if args.do_train:` is there to be taken."""
        return is_reached(self.ev, self.call, self.frame, with_options=True)

    @property
    def is_in_forward(self) -> bool:
        """True if it stands in the `forward` of a model; that of a plain class is a method like any other."""
        scope = self.frame.scope
        node = scope.node
        klass = scope.parent
        if not isinstance(node, cst.FunctionDef) or node.name.value != "forward":
            return False
        if klass is None or not isinstance(klass.node, cst.ClassDef):
            return False
        bases = self.ev.bases(Class(klass, self.ev.frame_of(klass)))
        return not bases.complete or not _PLAIN_BASES.issuperset(bases.libraries)

    @property
    def non_blocking(self) -> Values:
        """What is passed for `non_blocking`: ABSENT where nothing is, unknown where a star may bring it."""
        given = keyword_of(self.call, "non_blocking")
        if given is None:
            positional = positional_of(self.call)
            last = positional[1:2] if self.is_cuda_call else positional[2:3]
            if last and not isinstance(constant(self._values(last[0])), Const):
                return self._values(last[0])
            given = next((each for each in positional[1:] if isinstance(_known(self._values(each)), bool)), None)
        return self._values(given) if given is not None else self.keyword("non_blocking", self.ev, self.frame)

    def keyword(self, name: str, ev: Evaluator, frame: Frame) -> Values:
        """What is passed by a name, also in a dict behind `**`: ABSENT where nothing is, unknown where a star may."""
        given = keyword_of(self.call, name)
        if given is not None:
            return ev.values(given, frame)
        found: Values = (ABSENT,)
        for arg in self.call.args:
            if arg.star == "*":
                return NOTHING_KNOWN
            if arg.star:
                here = passed_in_rest(ev, arg.value, name, frame) or dict_contents.lookup(ev, arg.value, name, frame)
                found = merge(tuple(each for each in here if each is not ABSENT), found) if ABSENT in here else here
        return found

    @property
    def is_surely_blocking(self) -> bool:
        """True if `non_blocking` is not passed at all; whoever passes it on leaves the decision to the caller."""
        if any(arg.star or (arg.keyword is not None and arg.keyword.value == "non_blocking") for arg in self.call.args):
            return False
        return self.non_blocking == (ABSENT,)

    @property
    def goes_to_gpu(self) -> bool:
        """True if it is a move to a device, and not surely to one that has no use for pinned memory."""
        return self.device in (Device.CUDA, Device.UNKNOWN)

    @property
    def may_change_type(self) -> bool:
        """True if the call names a data type besides the device."""
        if self.is_cuda_call:
            return False
        second = positional_of(self.call)[1:2]
        is_name = bool(second) and isinstance(_known(self._values(second[0])), str)  # attributes to move, in PyG
        return keyword_of(self.call, "dtype") is not None or (bool(second) and not is_name)

    @property
    def is_safe_not_to_block(self) -> bool:
        """True if it can only go to CUDA or stay on the CPU. Copies to MPS that do not block can corrupt the data."""
        if self.is_cuda_call:
            return True
        device = self.named_device
        frame = self.anywhere.frame_of(self.frame.scope)
        found = possible_devices(self.anywhere, device, frame) if device is not None else frozenset()
        return Device.CUDA in found and found <= {Device.CUDA, Device.CPU}

    @property
    def device_name(self) -> str:
        """The name of the `torch.device` that says where it goes, whose type can be asked for; empty for all else."""
        device = self.named_device
        frame = self.anywhere.frame_of(self.frame.scope)
        return dotted(device) if device is not None and is_device_object(self.anywhere, device, frame) else ""

    @property
    def named_type(self) -> cst.BaseExpression | None:
        """The argument that names a data type, where it is the only one beside the device, and both are plain names."""
        rest = [arg for arg in self.call.args if arg.value is not self.named_device]
        if len(rest) != 1 or (rest[0].keyword is not None and rest[0].keyword.value != "dtype"):
            return None
        return rest[0].value if dotted(rest[0].value) and dotted(self.named_device) else None

    @property
    def is_to_ordinal(self) -> bool:
        """True if a number names the device: one of CUDA, as a rule, but torch takes the accelerator that there is."""
        device = self.named_device
        values = self._values(device) if device is not None and not self.is_cuda_call else ()
        return bool(values) and all(is_whole_number(value) for value in values)

    @property
    def takes_non_blocking(self) -> bool:
        """True if `non_blocking` can be added: no positional argument of the call may be it already."""
        more = positional_of(self.call)[1:]
        if self.is_cuda_call:
            return not more
        if any(isinstance(_known(self._values(each)), bool) for each in more):
            return False
        if len(more) > 1:
            return all(isinstance(_known(self._values(each)), str) for each in more)  # attributes to move, in PyG
        tree = self.frame.scope.module.tree
        return not any(_WAITING.search(tree.words(each).lower()) for each in more)

    @property
    def source_is_written_after(self) -> bool:
        """True if what is moved is changed in place further down, so that a copy under way could see the change."""
        return is_written_after(self.moved, self.call, self.frame.scope.module.tree)

    @property
    def source_is_passed_on_after(self) -> bool:
        """True if what is moved may be changed by another name, or elsewhere, while a copy is under way."""
        tree = self.frame.scope.module.tree
        return is_passed_on_after(self.moved, self.call, tree) or is_written_by_other_name(self.moved, self.call, tree)

    @property
    def is_of_own_class(self) -> bool:
        """True if what is moved may be an object of a class of the project, which has a `to` of its own."""
        return any(isinstance(each, CallResult) and isinstance(each.by, Class) for each in self._values(self.moved))

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The loaders whose batches it moves, all of them; empty where it may move anything else as well."""
        if not may_be_part(self.moved, self.frame):
            return ()
        found = self.origins_of(self.moved)
        if found and self.moved in self.frame.scope.module.tree:
            for store in stores_before(self.moved, self.frame.scope.module.tree):
                if not self.origins_of(store.value):
                    return ()
        return found

    @property
    def known_origins(self) -> tuple[tuple[Origin, ...], bool]:
        """The loaders that are known to be among those whose batches it moves, and True if it moves nothing else."""
        if not may_be_part(self.moved, self.frame):
            return (), True
        return self._found_origins(self.moved)

    def origins_of(self, node: cst.BaseExpression) -> tuple[Origin, ...]:
        """The loaders whose batches an expression is part of; empty where it may be anything else as well."""
        found, is_complete = self._found_origins(node)
        return found if is_complete else ()

    def _found_origins(self, node: cst.BaseExpression) -> tuple[tuple[Origin, ...], bool]:
        return self.origins_among(self._values(node))

    def origins_among(self, values: Values) -> tuple[tuple[Origin, ...], bool]:
        """The loaders of whose batches some values are parts, and True if all of the values are."""
        found: list[Origin] = []
        is_complete = True
        for value in values:
            for path, root, casts in parts_behind(self.ev, value):
                if isinstance(root, Const) and path:
                    continue  # no part of None or of a number was ever moved
                loader = loader_of_batches(self.ev, root) if path and isinstance(path[0], ItemOf) else None
                is_same = leave_as_is(self.ev, loader, path[1:], casts) if loader is not None else False
                is_complete = is_complete and is_same is True
                if loader is not None and is_same is not False:
                    found.append(Origin(loader, is_pinned(self.ev, loader, path[1:]), tuple(path[1:])))
        return tuple(found), is_complete


_LONGEST_TEXT = 60  # of an expression in a message
_WAITING = re.compile("block|async")
_PLAIN_BASES = frozenset({"abc.ABC", "builtins.object"})
_TYPE_NAME = re.compile(r"dtype|^(?:b?float|double|half|u?int|long|short|bool|complex)(?:\d+)?$", re.IGNORECASE)


def transfers_of(file: File) -> list[Transfer]:
    """Every move of a file, in document order, as an evaluation sees it that takes CUDA to be available."""
    return file.once(_transfers)


def _transfers(file: File) -> list[Transfer]:
    may_be_pinned = file.project.mentions_word(file.module, "pin_memory")
    moves = moves_in(file.session.with_cuda, file.module)
    return [Transfer(each.call, each.frame, each.ev, file.ev, may_be_pinned) for each in moves]


def _file_name(frame: Frame) -> str:
    folder, name = os.path.split(frame.scope.module.path)
    return f"{os.path.basename(folder)}/{name}" if name == "__init__.py" else name


def shown(tree: Tree, node: cst.CSTNode) -> str:
    """A node as written, on one line, cut where it gets long."""
    text = code(tree, node)
    if len(text) <= _LONGEST_TEXT:
        return text
    cut = text.rfind(" ", 0, _LONGEST_TEXT - 3)
    return f"{text[: cut if cut > 0 else _LONGEST_TEXT - 4]} ..."


def _known(values: Values) -> object:
    known = constant(values)
    return known.value if known is not None else None
