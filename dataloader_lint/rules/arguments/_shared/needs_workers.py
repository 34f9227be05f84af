"""Arguments of a loader that need workers, and who can take the workers away."""

from __future__ import annotations

from dataclasses import dataclass

from dataloader_lint.pipeline.loaders import argument_sites
from dataloader_lint.rules.arguments._shared.zero_guards import is_kept_away, name_of
from dataloader_lint.semantics.evaluation.loader_calls import Loader
from dataloader_lint.semantics.project.required_versions import NEW_TORCH, OLD_TORCH, demands
from dataloader_lint.semantics.syntax.names import dotted
from dataloader_lint.semantics.syntax.outermost import outermost_definition
from dataloader_lint.semantics.syntax.tree import function_scope
from dataloader_lint.semantics.values.values import CallResult, Const, Value


def workers_name(loader: Loader, *options: str) -> str:
    """How the number of workers is written for a loader; empty where that name does not exist beside all options."""
    places = argument_sites.sites_of(loader, "num_workers")
    if not places or places[0].node is None:
        return ""
    scope = places[0].frame.scope
    others = [place for option in options for place in argument_sites.sites_of(loader, option) or ()]
    is_beside = all(each.node is not None and each.frame.scope is scope for each in others)
    return dotted(places[0].node) if is_beside else ""


def is_default_prefetch(loader: Loader) -> bool:
    """True if the `prefetch_factor` of 2 that is written for a loader is what it has anyway, whatever the torch."""
    factor = loader.known("prefetch_factor")
    is_two = factor is not None and type(factor.value) is int and factor.value == 2 and not factor.default
    return is_two and not loader.before and "prefetch_factor" not in loader.kind.defaults


def prefetch_without_workers(loader: Loader) -> str:
    """What `prefetch_factor` has to be without workers: None, or the default of 2, as torch before 2.0 refuses None."""
    texts = list(loader.ev.project.requirements(loader.frame.scope.module.path))
    is_old = any(demands(text, OLD_TORCH) for text in texts) and not any(demands(text, NEW_TORCH) for text in texts)
    return "2" if is_old else "None"


def is_prevented(loader: Loader, names: frozenset[str]) -> bool:
    if is_kept_away(names, loader.call, loader.frame):
        return True
    if loader.site is None or loader.site is loader.call:
        return False
    for place in argument_sites.sites_of(loader, "num_workers") or ():
        tree = place.frame.scope.module.tree
        if loader.site in tree:
            outer = loader.ev.frame_of(function_scope(tree.scope_of(loader.site)))
            return is_kept_away(names, loader.site, outer)
    return False


def needs_workers(loader: Loader, name: str, value: Value) -> bool:
    if name == "multiprocessing_context" and isinstance(value, CallResult):
        return value.library.endswith(".get_context")
    if not isinstance(value, Const) or value.default:
        return False
    if name == "persistent_workers":
        return value.value is True
    if name == "timeout":
        return isinstance(value.value, int | float) and value.value > 0
    if name == "prefetch_factor" and value.value == 2:
        return prefetch_without_workers(loader) != "2"
    return value.value is not None


@dataclass(frozen=True, slots=True)
class Unused:
    """An argument that needs workers, of a loader that has none: what both are, as far as defaults say it."""

    workers: Const
    source: str  # the declared default that the argument comes from; empty for what is written out


def without_workers(loader: Loader, name: str) -> Unused | None:
    """An argument that needs workers, where the number of workers is known to be 0."""
    workers = loader.known("num_workers")
    if workers is None or workers.value != 0 or not loader.is_written_here or not loader.is_reached:
        return None
    found = loader.passed(name)
    if not all(needs_workers(loader, name, _plain(value)) for value in found) or is_failure_expected(loader, name):
        return None
    names = _names_of_workers(loader)
    if workers.default and is_prevented(loader, names):
        return None
    return Unused(workers, next((value.default for value in found if isinstance(value, Const)), ""))


def _names_of_workers(loader: Loader) -> frozenset[str]:
    """The last names of the expressions that give the number of workers."""
    places = argument_sites.sites_of(loader, "num_workers") or ()
    return frozenset(filter(None, (name_of(each.node) for each in places if each.node is not None)))


def is_failure_expected(loader: Loader, *names: str) -> bool:
    """True if the program expects the error that arguments cause which need workers: pytest.raises, try, ..."""
    at_use = all(name == "timeout" for name in names)  # that one passes the constructor
    return loader.is_error_expected("AssertionError" if at_use else "ValueError", at_use=at_use)


def _plain(value: Value) -> Value:
    return Const(value.value) if isinstance(value, Const) else value


def cause_of_options(loader: Loader, *options: str) -> str:
    """What loaders share that one change would fix: function, options, and how their number of workers is written.

    Empty where that number is not the same expression for sure.
    """
    given = loader.argument("num_workers")
    name = dotted(given.value) if given is not None else ""
    if not name:
        return ""
    tree = loader.frame.scope.module.tree
    return f"{outermost_definition(loader.call, tree) if loader.call in tree else ''}:{'+'.join(options)}:{name}"
