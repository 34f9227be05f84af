"""Targets, and how far the figures of `benchmarks.compare` are from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.costs import Spread, exponent, ratios, spread
from benchmarks.editor import CPU, MOVE

Figures = dict[str, Any]
# By part of the figures, what grows.
CURVES = {
    "copies": "copies",
    "files": "files of a project",
    "projects": "projects in a run",
    "huge": "length of a file",
    "fixes": "length of a file with many fixes",
    "sites": "sites in a file",
    "attributes": "attributes of a class",
    "callers": "callers of a function",
}
NOISE = 0.05  # seconds of CPU that say nothing


@dataclass(frozen=True, slots=True)
class Goal:
    """Something measured that is to be at most, or at least, a limit."""

    what: str
    measured: Spread
    limit: float
    unit: str = ""
    at_least: bool = False

    @property
    def aim(self) -> str:
        """The limit in words."""
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}{self.unit}"

    @property
    def reached(self) -> bool:
        """True if the middle of what was measured keeps to the limit."""
        return self.measured.middle >= self.limit if self.at_least else self.measured.middle <= self.limit

    @property
    def verdict(self) -> str:
        """True if the limit is kept to, each time or only in the middle, and by how much it is missed."""
        if not self.reached:
            return f"**no**, {self.missing}"
        worst = self.measured.low if self.at_least else self.measured.high
        always = worst >= self.limit if self.at_least else worst <= self.limit
        return "yes" if always else "yes, though not each time"

    @property
    def missing(self) -> str:
        """By how much the limit is missed."""
        factor = self.limit / self.measured.middle if self.at_least else self.measured.middle / self.limit
        by = f"{factor:.2g} times" if factor >= 1.1 else f"{max(factor - 1, 0.01) * 100:.0f} %"
        return f"{by} {'too little' if self.at_least else 'too much'}"


def goals(figures: Figures) -> list[Goal]:
    """All goals that the figures say something about."""
    found: list[Goal] = []
    if packages := list(packages_of(figures).values()):
        one = added(packages, "one", "cpu")
        found.append(Goal("CPU time: 1 process / parse only", ratios(one, added(packages, "floor", "cpu")), 1.3))
        with_torchfix = [each for each in packages if "torchfix" in each["costs"]]
        if with_torchfix:
            theirs, mine = added(with_torchfix, "torchfix", "cpu"), added(with_torchfix, "one", "cpu")
            found.append(Goal("CPU time: TorchFix / 1 process", ratios(theirs, mine), 25, at_least=True))
        walls = ratios(added(packages, "one", "wall"), added(packages, "cores", "wall"))
        found.append(Goal("wall time: 1 process / all cores, project by project", walls, 1.8, at_least=True))
        memory = [max(each["costs"][tool]["memory"]) for each in packages for tool in ("one", "cores", "warm")]
        found.append(Goal("peak memory of a process on any package", spread([max(memory)]), 250, " MiB"))
    if "together" in figures:
        costs = figures["together"]["costs"]
        walls = ratios(costs["one"]["wall"], costs["cores"]["wall"])
        found.append(Goal("wall time: 1 process / all cores, all projects at once", walls, 1.8, at_least=True))
    if "tenth" in figures:
        costs = figures["tenth"]["costs"]
        added_share = ratios(costs["plugin"]["cpu"], costs["flake8"]["cpu"])
        share = Spread(*(100 * (value - 1) for value in (added_share.middle, added_share.low, added_share.high)))
        found.append(Goal("CPU time added to flake8 if 10 % of the files matter", share, 8, " %"))
    if "warm" in figures:
        unchanged = spread(figures["warm"]["costs"]["unchanged"]["wall"])
        found.append(Goal(f"wall time: {figures['warm']['files']:,} files, nothing changed", unchanged, 0.5, " s"))
    if "waits" in figures:
        found += _of_waits(figures["waits"])
    if "startup" in figures:
        costs = figures["startup"]["costs"]
        bare = spread(costs["bare"]["cpu"]).middle
        over = spread([1000 * (value - bare) for value in costs["no_matter"]["cpu"]])
        found.append(Goal("CPU time: a file that cannot matter, above `python -c pass`", over, 60, " ms"))
        found.append(Goal("CPU time: one small file with findings", spread(costs["small"]["cpu"]), 0.6, " s"))
    curves = {title: figures[part] for part, title in CURVES.items() if part in figures}
    for title, curve in curves.items():
        fitted = exponent_of(curve)
        if fitted is not None:
            found.append(Goal(f"growth exponent: {title}", spread([fitted]), 1.1))
    if curves:
        most = max(memory_of(curve) for curve in curves.values())
        found.append(Goal("peak memory of a process as the work grows", spread([most]), 300, " MiB"))
    if "rules" in figures and figures["rules"]["added"]:
        most = max(figures["rules"]["added"].values())
        found.append(Goal("function calls that one rule adds to a run", spread([most]), 1, " %"))
    return found


def _of_waits(figures: Figures) -> list[Goal]:
    """The goals for hooks and editors."""
    found: list[Goal] = []
    limits = {
        "unchanged": ("nothing changed", 0.35),
        "leaf": ("one file changed", 0.5),
        "central": ("a file changed that most depend on", 1.0),
    }
    for name, (title, limit) in limits.items() if "costs" in figures else ():
        found.append(Goal(f"CPU time of a hook: {title}", spread(figures["costs"][name]["cpu"]), limit, " s"))
    keys = [each["times"][CPU][0] for each in figures["editor"].values()]
    if keys:
        found.append(Goal("CPU time of the server for a key in a long file", spread(keys), 250, " ms"))
    moves = [value for each in figures["editor"].values() for value in each["times"][MOVE]]
    if moves:
        found.append(Goal("wall time: code actions after a cursor move", spread(moves), 30, " ms"))
    return found


def packages_of(figures: Figures) -> dict[str, Figures]:
    """What was measured on each package, by name and version."""
    return {name: found for name, found in figures.get("packages", {}).items() if name != "measured"}


def added(packages: Sequence[Figures], tool: str, what: str) -> list[float]:
    """The costs of a tool on several packages, added up round by round."""
    return [sum(values) for values in zip(*(found["costs"][tool][what] for found in packages), strict=False)]


def memory_of(found: Figures) -> float:
    """The memory of the largest process of a curve, in MiB."""
    return float(max(max(found["costs"][size]["memory"]) for size in found["lines"]))


def exponent_of(found: Figures) -> float | None:
    """How the cost of a curve grows with its lines, without what starting takes.

    Left out are sizes that cost hardly more than starting does, since noise is most of the difference, and those with
    a file that took so long that it was not linted to its end. None where fewer than two are left.
    """
    start = spread(found["costs"]["start"]["cpu"]).middle
    costs = {size: spread(found["costs"][size]["cpu"]).middle - start for size in found["lines"]}
    fitted = [size for size, cost in costs.items() if cost >= NOISE and not found["given_up"][size]]
    if len(fitted) < 2:
        return None
    return exponent([found["lines"][size] for size in fitted], [costs[size] for size in fitted])
