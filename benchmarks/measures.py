"""The measurements of `benchmarks.compare`, each a function of a plan and the folders of the packages to figures."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import re
import shutil
import sys
import venv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks import grown, processes, trees
from benchmarks.costs import Command, Cost, interleave, run
from benchmarks.floor import matters

ROOT = Path(__file__).resolve().parent.parent
TORCHFIX = "0.7.0"
US = (sys.executable, "-m", "dataloader_lint", "--isolated", "--exit-zero", "--output-format", "concise")
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tools:
    """What we are measured beside."""

    flake8_alone: Path
    torchfix: Path
    ruff: str

    @classmethod
    def install(cls, cache: Path, *, peers: bool) -> Tools:
        """Make the virtual environments of the other tools unless they are there.

        Raises:
            FileNotFoundError: ruff is not installed.
        """
        scripts = "Scripts" if sys.platform == "win32" else "bin"
        wanted = {"flake8-alone": [f"flake8=={metadata.version('flake8')}"], "torchfix": [f"torchfix=={TORCHFIX}"]}
        for name, requirements in wanted.items() if peers else ():
            done = cache / name / ("-".join(requirements) + ".done")
            if not done.exists():
                venv.create(cache / name, clear=True, with_pip=True)
                python = cache / name / scripts / "python"
                processes.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True, seconds=1800)
                done.touch()
        ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
        if ruff is None:
            raise FileNotFoundError("ruff is not installed; it comes with `pip install '.[dev]'`")
        return cls(cache / "flake8-alone" / scripts / "flake8", cache / "torchfix" / scripts / "torchfix", ruff)


@dataclass(frozen=True, slots=True)
class Plan:
    """How measurements are made: with which tools, in which folder, how often, and whom to tell."""

    tools: Tools
    folder: Path
    rounds: int
    quick: bool
    say: Callable[[str], None]

    def measure(self, commands: Mapping[str, Command], rounds: int = 0) -> dict[str, list[Cost]]:
        """Run commands in turn, from the repository's root, so that no file there counts as a module of the code."""
        outputs = self.folder / "outputs"
        outputs.mkdir(exist_ok=True)
        return interleave(commands, rounds or self.rounds, ROOT, outputs, lambda text: self.say(f"    {text}"))

    def output(self, name: str) -> bytes:
        """What a command wrote in its last round."""
        return (self.folder / "outputs" / f"{name}.txt").read_bytes()

    def fresh(self, name: str) -> Path:
        """A folder with nothing in it."""
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        return path


def ours(path: Path, *options: str) -> Command:
    """Our command line in one process without a cache, unless options say otherwise."""
    return Command((*US, *(options or ("-j", "1", "--no-cache")), str(path)), exits=(0,))


def flake8(program: Sequence[str], path: Path, select: str) -> Command:
    """flake8 in one process, with no settings but these."""
    return Command((*program, "--isolated", "--jobs=1", f"--select={select}", str(path)))


def measure_package(plan: Plan, folder: Path, *, with_peers: bool) -> Figures:
    """All tools on one package; flake8 and TorchFix, which take long, only if asked for, TorchFix once."""
    tools = plan.tools
    cache = plan.fresh("cache")
    outputs = plan.fresh("outputs")
    floor = (sys.executable, "-m", "benchmarks.floor", str(folder))
    warm = ours(folder, "-j", "1", "--cache-dir", str(cache))
    commands = {
        "floor": Command(floor),
        "gated": Command((*floor, "gated")),
        "one": ours(folder),
        "cores": ours(folder, "-j", "0", "--no-cache"),
        "warm": warm,
        "ruff": Command((tools.ruff, "check", "--isolated", "--no-cache", str(folder))),
    }
    if with_peers:
        commands["flake8"] = flake8([str(tools.flake8_alone)], folder, "E9")
        commands["plugin"] = flake8([sys.executable, "-m", "flake8"], folder, "DL")
    run(warm, ROOT, outputs / "fill.txt")
    costs = plan.measure(commands)
    if with_peers:
        torchfix = Command((str(tools.torchfix), "--select", "ALL", "--jobs", "1", str(folder)))
        costs |= plan.measure({"torchfix": torchfix}, rounds=1)
    return {
        **json.loads(plan.output("floor")),
        "findings": plan.output("one").count(b": DL"),
        "same": plan.output("one") == plan.output("cores") == plan.output("warm"),
        "costs": as_figures(costs),
    }


def measure_startup(plan: Plan, packages: Sequence[Path]) -> Figures:
    """Files so small that starting is most of it."""
    folder = plan.fresh("startup")
    no_matter, small = _file(folder, 0, trees.NO_MATTER), _file(folder, 1, trees.with_sites(1))
    commands = {
        "bare": Command((sys.executable, "-c", "pass")),
        "no_matter": ours(no_matter),
        "libcst": Command((sys.executable, "-c", "import libcst")),
        "small": ours(small),
    }
    costs = plan.measure(commands, rounds=3 if plan.quick else 5 * plan.rounds)
    return {"findings": plan.output("small").count(b": DL"), "costs": as_figures(costs)}


def measure_sites(plan: Plan, packages: Sequence[Path]) -> Figures:
    """One file with more and more Datasets and loaders."""
    folder = plan.fresh("sites")
    return _curve(plan, {size: _file(folder, size, trees.with_sites(size)) for size in _sizes(plan, 1, 10, 100, 1000)})


def measure_huge(plan: Plan, packages: Sequence[Path]) -> Figures:
    """One file that is longer and longer, with few places that matter."""
    folder = plan.fresh("huge")
    sources = [path.read_text(encoding="utf-8", errors="ignore") for path in trees.sources_of(packages[0])]
    sizes = _sizes(plan, 150_000, 300_000, 600_000, 1_200_000)
    found = _curve(plan, {size: _file(folder, size, trees.huge(sources, size)) for size in sizes})
    return {"package": packages[0].name, **found}


def measure_copies(plan: Plan, packages: Sequence[Path]) -> Figures:
    """More and more copies of the first package."""
    package = packages[0]
    folder = plan.fresh("copies")
    places = {}
    for number in _sizes(plan, 1, 2, 4, 8):
        places[number] = folder / str(number)
        trees.copies(package, number, places[number])
    return {"package": package.name, **_curve(plan, places)}


def measure_fixes(plan: Plan, packages: Sequence[Path]) -> Figures:
    """One file that is longer and longer, with a safe fix for each 10,000 characters; all of them are laid out."""
    folder = plan.fresh("fixes")
    sources = [path.read_text(encoding="utf-8", errors="ignore") for path in trees.sources_of(packages[0])]
    sizes = _sizes(plan, 150_000, 300_000, 600_000, 1_200_000)
    found = _curve(plan, {size: _file(folder, size, grown.with_fixes(sources, size)) for size in sizes})
    return {"package": packages[0].name, **found}


def measure_attributes(plan: Plan, packages: Sequence[Path]) -> Figures:
    """One Dataset with more and more attributes, half of them lists."""
    folder = plan.fresh("attributes")
    sizes = _sizes(plan, 250, 500, 1000, 2000)
    return _curve(plan, {size: _file(folder, size, grown.with_attributes(size)) for size in sizes})


def measure_callers(plan: Plan, packages: Sequence[Path]) -> Figures:
    """One function that makes a loader, with more and more callers."""
    folder = plan.fresh("callers")
    sizes = _sizes(plan, 125, 250, 500, 1000)
    return _curve(plan, {size: _file(folder, size, grown.with_callers(size)) for size in sizes})


def measure_files(plan: Plan, packages: Sequence[Path]) -> Figures:
    """One project with more and more files."""
    return _folders(plan, "files", grown.project, _sizes(plan, 1250, 2500, 5000, 10_000))


def measure_projects(plan: Plan, packages: Sequence[Path]) -> Figures:
    """More and more projects in one run."""
    return _folders(plan, "projects", grown.projects, _sizes(plan, 12, 25, 50, 100))


def _folders(plan: Plan, name: str, make: Callable[[int, Path], None], sizes: Sequence[int]) -> Figures:
    folder = plan.fresh(name)
    for size in sizes:
        make(size, folder / str(size))
    return _curve(plan, {size: folder / str(size) for size in sizes})


def measure_tenth(plan: Plan, packages: Sequence[Path]) -> Figures:
    """flake8 with and without our plugin where a tenth of the files matter."""
    folder = plan.fresh("tenth")
    files = trees.tenth(packages, 100 if plan.quick else 500, folder)
    commands = {
        "flake8": flake8([str(plan.tools.flake8_alone)], folder, "E9"),
        "plugin": flake8([sys.executable, "-m", "flake8"], folder, "DL"),
    }
    costs = plan.measure(commands)
    names = [one.name for one in packages]
    return {"packages": names, "files": files, "lines": _lines(trees.sources_of(folder)), "costs": as_figures(costs)}


def measure_together(plan: Plan, packages: Sequence[Path]) -> Figures:
    """All packages by one command, in one process and on all cores."""
    one, cores = (Command((*US, "-j", jobs, "--no-cache", *map(str, packages)), exits=(0,)) for jobs in "10")
    costs = plan.measure({"one": one, "cores": cores})
    return {
        "packages": [each.name for each in packages],
        "same": plan.output("one") == plan.output("cores"),
        "costs": as_figures(costs),
    }


def measure_warm(plan: Plan, packages: Sequence[Path]) -> Figures:
    """A large tree with a cache: nothing changed since the last run, and one file changed."""
    folder, cache = plan.fresh("warm"), plan.fresh("cache")
    files = trees.tree_of(packages, 300 if plan.quick else 5000, folder)
    command = ours(folder, "-j", "0", "--cache-dir", str(cache))
    changed = next(path for path in files if matters(path.read_bytes()))

    def change() -> None:
        with changed.open("a", encoding="utf-8") as stream:
            stream.write("# changed\n")

    costs = plan.measure({"cold": command}, rounds=1)
    costs |= plan.measure({"unchanged": command, "changed": Command(command.arguments, (0,), change)})
    return {
        "packages": [one.name for one in packages],
        "files": len(files),
        "lines": _lines(files),
        "matter": sum(matters(path.read_bytes()) for path in files),
        "same": plan.output("cold") == plan.output("unchanged"),
        "costs": as_figures(costs),
    }


def measure_where(plan: Plan, packages: Sequence[Path]) -> Figures:
    """Where the time of one process goes, over all packages, and how much it parses."""
    totals: dict[str, dict[str, float]] = {"kinds": {}, "places": {}, "parsed": {}}
    for folder in packages:
        command = Command((sys.executable, "-m", "benchmarks.where", str(folder)))
        plan.measure({f"where-{folder.name}": command}, rounds=1)
        found = json.loads(plan.output(f"where-{folder.name}"))
        for name, total in totals.items():
            for key, value in found[name].items():
                total[key] = total.get(key, 0.0) + value
    return {"packages": [folder.name for folder in packages], **totals}


MEASURES: dict[str, Callable[[Plan, Sequence[Path]], Figures]] = {
    "startup": measure_startup,
    "sites": measure_sites,
    "huge": measure_huge,
    "fixes": measure_fixes,
    "attributes": measure_attributes,
    "callers": measure_callers,
    "files": measure_files,
    "projects": measure_projects,
    "copies": measure_copies,
    "tenth": measure_tenth,
    "together": measure_together,
    "warm": measure_warm,
    "where": measure_where,
}


def as_figures(costs: Mapping[str, Sequence[Cost]]) -> Figures:
    """The costs of each round as JSON can say them."""
    return {
        name: {
            "cpu": [round(cost.cpu, 4) for cost in rounds],
            "wall": [round(cost.wall, 4) for cost in rounds],
            "memory": [round(cost.memory, 1) for cost in rounds],
        }
        for name, rounds in costs.items()
    }


def describe(tools: Tools) -> Figures:
    """Where, when and with what it is measured; `load` is how many processes wanted a core in the last minute."""
    cpu = re.search(r"^model name\s*:\s*(.+)$", _read("/proc/cpuinfo"), re.MULTILINE)
    memory = re.search(r"^MemTotal:\s*(\d+)", _read("/proc/meminfo"), re.MULTILINE)
    ruff = processes.run([tools.ruff, "--version"], check=True).stdout.split()[-1]
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": cpu[1].strip() if cpu else platform.processor() or "unknown CPU",
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": round(int(memory[1]) / 2**20) if memory else None,
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("dataloader-lint", "libcst", "flake8")},
        "ruff": ruff,
        "torchfix": TORCHFIX,
    }


def _curve(plan: Plan, paths: Mapping[int, Path]) -> Figures:
    """The cost by size, and that of a file so small that it is all start, to be taken off."""
    small = _file(plan.fresh("start"), 0, trees.HEAD)
    commands = {"start": ours(small), **{str(size): ours(path) for size, path in paths.items()}}
    costs = plan.measure(commands)
    lines = {size: _lines([path] if path.is_file() else trees.sources_of(path)) for size, path in paths.items()}
    return {
        "lines": {str(size): number for size, number in lines.items()},
        "findings": {str(size): plan.output(str(size)).count(b": DL") for size in paths},
        "given_up": {str(size): plan.output(str(size)).count(b": DL000") for size in paths},
        "costs": as_figures(costs),
    }


def _sizes(plan: Plan, *sizes: int) -> tuple[int, ...]:
    return sizes[:2] if plan.quick else sizes


def _file(folder: Path, size: int, text: str) -> Path:
    """Write a file into a project of its own, where nothing else is looked for."""
    path = folder / str(size) / "module.py"
    path.parent.mkdir()
    (path.parent / "pyproject.toml").write_text('[project]\nname = "measured"\n', encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    return path


def _lines(paths: Sequence[Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in paths)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""
