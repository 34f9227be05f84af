"""What workers copy of a class: how many samples it has, as far as anybody says, and how many bytes each of them takes.

The number comes from the setting `samples`, or from a public data set that the names of the class, of its bases and
subclasses, of its file or of the project name. READMEs and configuration files name all that was ever tried, so they
are not read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from collections.abc import Sequence as SequenceOf
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fnmatch import fnmatchcase

import libcst as cst

from dataloader_lint.rules.memory._shared.element_sizes import PLAIN, RECORDS
from dataloader_lint.rules.memory._shared.known_datasets import known_datasets, words_of
from dataloader_lint.semantics.classes import classes
from dataloader_lint.semantics.limits import NAMED_SUBCLASS_MODULES
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.names import bindings_of
from dataloader_lint.semantics.syntax.tree import ModuleFacts, Scope
from dataloader_lint.semantics.values.values import Class, Evaluator
from dataloader_lint.settings import Settings

_EVALUATING = frozenset(
    {"test", "tests", "testing", "eval", "evaluate", "evaluation", "val", "valid", "validation"}
    | {"infer", "inference", "demo", "demos", "predict", "prediction", "synthesis", "synthesize"}
)
_STREAMS = frozenset({"wds", "webdataset"})
_MOST_SHOWN = 20 * 10**9


@dataclass(frozen=True, slots=True)
class Estimate:
    """`samples` of `each` bytes, in all containers of a class; `source` is the data set or setting that says so."""

    source: str
    samples: int
    each: int
    is_plain: bool = False  # of texts, numbers or pairs, as torchvision's own ImageFolder keeps them, not of records

    @property
    def total(self) -> int:
        """The bytes that each worker copies."""
        return self.samples * self.each

    def text(self, is_at_most: bool) -> str:
        """`about 2.3 GB in each worker (LLaVA mix665k: 665,298 records of some 3.5 kB)`."""
        return f"{self.short(is_at_most)} ({self.source}: {self.samples:,} records of some {size_text(self.each)})"

    def short(self, is_at_most: bool) -> str:
        """`about 2.3 GB in each worker`."""
        size = size_text(self.total) if self.total <= _MOST_SHOWN else "several GB"
        return f"{'up to' if is_at_most else 'about'} {size} in each worker"


def estimate(
    ev: Evaluator, settings: Settings, klass: Class, subclasses: SequenceOf[str], sizes: Iterable[int | None]
) -> Estimate | None:
    """The size of a class whose containers take so many bytes a sample each; None for those of unknown kind.

    None where nobody says how many samples there are.
    """
    known = list(sizes)
    plain = sum(_UNKNOWN if each is None else each for each in known)
    own = klass.node.name.value
    names = [own, *base_names(ev, klass), *subclasses]
    said = _said(settings, own) or max((_said(settings, each) for each in names), default=0)
    if said:
        return Estimate("`samples`", said, plain)
    parts, project = _path(ev, klass.scope.module)
    found: list[Estimate] = []
    for one in known_datasets([*names, *parts[-1:]], [*parts[:-1], project]):
        # One of the containers holds the records of the set, if any does.
        record = next((each for each in known if each in RECORDS), _UNKNOWN if None in known else 0)
        each = plain - record + one.record if one.record and record else plain
        found.append(Estimate(one.name, one.samples, each, is_plain=each == plain and PLAIN.issuperset(known)))
    return max(found, key=lambda each: each.total, default=None)


_UNKNOWN = 150  # bytes of an element of which nothing is known


def is_for_evaluation(ev: Evaluator, klass: Class, subclasses: SequenceOf[str]) -> bool:
    """True if the names of a class and its file say that it serves tests, evaluation or demos only."""
    parts, _ = _path(ev, klass.scope.module)
    return all(_is_evaluating([name, *parts]) for name in (klass.node.name.value, *subclasses))


def _is_evaluating(names: Iterable[str]) -> bool:
    words = {word for name in names for word in words_of(name)}
    return not words.isdisjoint(_EVALUATING) and not any("train" in word for word in words)


def base_names(ev: Evaluator, klass: Class) -> Iterator[str]:
    """The names of the classes that a class derives from, as far as they are known."""
    for each in ev.bases(klass).classes:
        if each.scope is not klass.scope:
            yield each.node.name.value
        yield from filter(None, (last_name(arg.value) for arg in each.node.bases))


def subclasses_of(ev: Evaluator, klass: Class, attributes: AbstractSet[str]) -> list[str]:
    """The names of the subclasses that have the samples a class keeps, in its own module and in those that import it.

    Without streams of web archives, which keep no samples, and those that read others: with a `__len__` and a
    `__getitem__` of their own that do not name the attributes.
    """
    home, own = klass.scope.module, klass.node.name.value
    wanted = {own}
    found = [scope for scope in home.classes if _adds(scope, wanted)]
    for module in ev.project.importers(home, [own], NAMED_SUBCLASS_MODULES):
        if module is not home and _STREAMS.isdisjoint(bindings_of(module.root)):
            found += [scope for scope in module.classes if _derives(scope, {own})]
    return [_name(each) for each in found if not _reads_others(each, attributes)]


def _reads_others(scope: Scope, attributes: AbstractSet[str]) -> bool:
    if not classes.methods_of(scope).keys() >= {"__len__", "__getitem__"}:
        return False
    named = (each.attr.value for inner in scope.descend() for each in inner.own(cst.Attribute))
    return attributes.isdisjoint(named)


def _adds(scope: Scope, wanted: set[str]) -> bool:
    if not _derives(scope, wanted):
        return False
    wanted.add(_name(scope))
    return True


def _derives(scope: Scope, names: AbstractSet[str]) -> bool:
    node = scope.node
    return (
        isinstance(node, cst.ClassDef)
        and node.name.value not in names
        and any(last_name(arg.value) in names for arg in node.bases)
    )


def _name(scope: Scope) -> str:
    assert isinstance(scope.node, cst.ClassDef)
    return scope.node.name.value


def _said(settings: Settings, name: str) -> int:
    """What the setting says of a class: by the longest name that matches."""
    fits = [pair for pair in settings.samples if fnmatchcase(name, pair[0])]
    return max(fits, key=lambda pair: len(pair[0]))[1] if fits else 0


def _path(ev: Evaluator, module: ModuleFacts) -> tuple[list[str], str]:
    """The folders of a file in its project and its name without the ending, and the name of the project's folder."""
    root = ev.project.root_of(os.path.dirname(module.path))
    inside = os.path.splitext(os.path.relpath(module.path, root))[0]
    return [each for each in inside.split(os.sep) if each != os.pardir], os.path.basename(root)


def size_text(size: int) -> str:
    """A size in one or two significant digits: `120 B`, `3.5 kB`, `99 MB`."""
    number, unit = float(size), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if number < 995 or unit == "TB":
            break
        number /= 1000
    digits = 1 if number < 9.95 else 0 if number < 99.5 else -1
    number = round(number, digits)
    return f"{number:.1f}".removesuffix(".0") + f" {unit}" if digits == 1 else f"{number:.0f} {unit}"
