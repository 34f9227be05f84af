"""What `benchmarks.compare` tells from costs, and how it says so. Nothing is timed here."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import grown, trees
from benchmarks.compare import FIGURES, PAGE
from benchmarks.compare_page import next_factor, render_page
from benchmarks.costs import Command, Spread, exponent, ratios, run, spread
from benchmarks.floor import matters
from benchmarks.goals import Goal, exponent_of, goals
from benchmarks.rule_cost import counted_run, rows
from benchmarks.tables import number, table, times
from benchmarks.where import IMPORTS, PARSE, kind_of
from dataloader_lint import Settings, lint_paths


def costs(*cpu: float, memory: float = 50) -> dict[str, list[float]]:
    return {"cpu": list(cpu), "wall": [2 * each for each in cpu], "memory": [memory] * len(cpu)}


def package(**tools: dict[str, list[float]]) -> dict[str, Any]:
    return {"files": 3, "lines": 1000, "parsed_files": 1, "findings": 2, "same": True, "costs": tools}


def curve(**sizes: float) -> dict[str, Any]:
    measured = {size: costs(cpu) for size, cpu in sizes.items()}
    numbers = {size.strip("_"): 10 * int(size.strip("_")) for size in sizes if size != "start"}
    return {
        "lines": numbers,
        "given_up": dict.fromkeys(numbers, 0),
        "costs": {size.strip("_"): cost for size, cost in measured.items()},
    }


@pytest.mark.parametrize("power", [0.5, 1, 2])
def test_exponent_of_a_power_is_the_power(power: float) -> None:
    sizes = [1, 2, 4, 8]
    assert exponent(sizes, [3 * size**power for size in sizes]) == pytest.approx(power)


@pytest.mark.parametrize(("sizes", "found"), [([1, 2], [0, 1]), ([2, 2], [1, 2])])
def test_exponent_needs_costs_and_different_sizes(sizes: list[float], found: list[float]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - what it says is the standard library's
        exponent(sizes, found)


def test_start_noise_and_what_was_given_up_are_not_fitted() -> None:
    found = curve(start=1, _1=1.01, _10=1.5, _100=6, _1000=51)
    assert exponent_of(found) == pytest.approx(1)
    found["costs"]["1000"] = costs(1000)
    found["given_up"]["1000"] = 1
    assert exponent_of(found) == pytest.approx(1)
    assert exponent_of(curve(start=1, _1=1.01, _10=1.5)) is None


def test_ratios_are_taken_round_by_round() -> None:
    assert ratios([2, 40, 9], [1, 10, 3]) == Spread(3, 2, 4)
    assert ratios([20], [1, 10]) == Spread(20, 20, 20)


def test_run_tells_what_a_process_costs(tmp_path: Path) -> None:
    busy = "data = bytearray(200 * 2**20)\nfor number in range(10**6): pass\nprint('done')"
    cost = run(Command((sys.executable, "-c", busy)), tmp_path, tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == "done\n"
    assert cost.cpu > 0 and cost.wall > 0
    # Linux counts what the parent held when it forked as well: little in the command itself, a lot in a long test run.
    assert cost.memory > 200


def test_run_takes_no_failure_for_a_figure(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"exits with 3\nwhy"):
        run(
            Command((sys.executable, "-c", "import sys; print('why', file=sys.stderr); sys.exit(3)")),
            tmp_path,
            tmp_path / "out.txt",
        )


def test_cells() -> None:
    assert times(Spread(1.504, 1.2, 2)) == "1.5 (1.2 to 2)"
    assert times(Spread(3, 3, 3), " s") == "3 s"
    assert number(12345.6) == "12,346" and number(0.01234) == "0.0123"
    assert table(["", "a"], [["b", "1"]]) == "|  | a |\n| --- | --: |\n| b | 1 |"


def test_goals_say_by_how_much_they_are_missed() -> None:
    at_most, at_least = Goal("", spread([5]), 2), Goal("", spread([5]), 25, at_least=True)
    assert not at_most.reached and at_most.missing == "2.5 times too much"
    assert not at_least.reached and at_least.missing == "5 times too little"
    assert Goal("", spread([2.1]), 2).missing == "5 % too much"
    assert Goal("", spread([1.79]), 1.8, at_least=True).missing == "1 % too little"
    assert Goal("", spread([2]), 2).verdict == Goal("", spread([25]), 25, at_least=True).verdict == "yes"


def test_goals_say_when_they_are_not_reached_each_time() -> None:
    at_most, at_least = Goal("", Spread(1, 0.5, 3), 2), Goal("", Spread(3, 1, 4), 2, at_least=True)
    assert at_most.verdict == at_least.verdict == "yes, though not each time"
    assert Goal("", Spread(3, 1, 4), 2).verdict == "**no**, 1.5 times too much"


def test_packages_are_added_up_and_peers_held_against_the_packages_they_ran_on() -> None:
    both = {
        "a 1": package(one=costs(2, 2), cores=costs(1, 1), warm=costs(1, 1), floor=costs(1, 2), torchfix=costs(60)),
        "b 1": package(one=costs(4, 4), cores=costs(3, 2), warm=costs(1, 1, memory=300), floor=costs(1, 2)),
    }
    found = {goal.what: goal.measured for goal in goals({"packages": {"measured": {}, **both}})}
    assert found["CPU time: 1 process / parse only"] == Spread(2.25, 1.5, 3)
    assert found["CPU time: TorchFix / 1 process"] == Spread(30, 30, 30)
    assert found["peak memory of a process on any package"].middle == 300


def test_all_projects_at_once_have_a_goal_of_their_own() -> None:
    figures = {"together": {"costs": {"one": {"wall": [9, 10]}, "cores": {"wall": [5, 5]}}}}
    (goal,) = goals(figures)
    assert goal.measured == Spread(1.9, 1.8, 2) and goal.reached


def test_next_factor_depends_on_what_parsing_takes() -> None:
    assert "cannot come from anything else" in next_factor({PARSE: 0.8, IMPORTS: 0.2})
    text = next_factor({PARSE: 0.1, IMPORTS: 0.2, "rules": 0.7})
    assert "would take 95% of its time" in text and "50% of everything else" in text and "*rules*" in text


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        (
            ["/lib/libcst/_nodes/base.py", "/lib/libcst/_parser/entrypoints.py", "/x/dataloader_lint/engine/linter.py"],
            PARSE,
        ),
        (["/x/dataloader_lint/rules/base.py", "<frozen importlib._bootstrap>", "/x/dataloader_lint/cli.py"], IMPORTS),
        (["/lib/re.py", "/x/dataloader_lint/rules/base.py", "/x/dataloader_lint/semantics/syntax/tree.py"], "rules"),
    ],
)
def test_kinds_of_time(files: list[str], kind: str) -> None:
    assert kind_of(files)[0] == kind


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("class A(Dataset):\n    pass\n", True),
        ("class A(Base,\n        data.IterableDataset[int]):\n    pass\n", True),
        ("class A(LightningDataModule): ...  # num_workers\n", True),
        ("loader = DataLoader(images)\n", True),
        ("class DataLoader(Base): ...\n", False),
        ("def DataLoader(images): ...\n", False),
        ("from torch.utils.data import DataLoader, Dataset\n", False),
    ],
)
def test_what_the_floor_parses(source: str, expected: bool) -> None:
    assert matters(source.encode()) is expected


def test_made_programs_are_python_of_the_size_asked_for() -> None:
    module = ast.parse(trees.with_sites(3))
    assert sum(isinstance(node, ast.ClassDef) for node in module.body) == 3
    sources = ["from __future__ import annotations\nx = 1\n", "y = 2"]
    text = trees.huge(sources, 1_000)
    ast.parse(text)
    assert 1_000 <= len(text) < 1_050


def test_grown_programs_are_python_of_the_size_asked_for(tmp_path: Path) -> None:
    attributes = ast.parse(grown.with_attributes(10))
    assert (
        sum(isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) for node in ast.walk(attributes)) == 10
    )
    callers = ast.parse(grown.with_callers(7))
    assert sum(isinstance(node, ast.Call) and ast.unparse(node.func) == "make" for node in ast.walk(callers)) == 7
    assert grown.with_fixes(["x = 1\n"], 30_000).count("persistent_workers=True") == 3
    grown.projects(3, tmp_path)
    assert len(list(tmp_path.iterdir())) == 3 and len(trees.sources_of(tmp_path)) == 63
    assert all(ast.parse(path.read_text()) for path in trees.sources_of(tmp_path))


def test_grown_programs_have_findings(tmp_path: Path) -> None:
    grown.project(12, tmp_path / "project")
    for name, text in (("attributes", grown.with_attributes(4)), ("callers", grown.with_callers(2))):
        (tmp_path / f"{name}.py").write_text(text)
    found = lint_paths([tmp_path], Settings())
    assert {Path(one.filename).name for one in found} == {
        "attributes.py",
        "callers.py",
        "base.py",
        "data0.py",
        "data10.py",
    }


def test_rules_are_counted_and_the_costliest_stands_first(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(trees.with_sites(2))
    # The first one may compile modules.
    _, once, again = (counted_run([tmp_path], ("--select", "DL101,DL301")) for _ in range(3))
    assert once["calls"] == pytest.approx(again["calls"], rel=0.002)
    assert set(once["of_rules"]["calls"]) == {"DL101", "DL301"}
    shares = {code: {"calls": share, "seconds": share} for code, share in (("DL1", 0.2), ("DL2", 2.5), ("DL3", 0.01))}
    found = {
        "packages": ["a-1"],
        "calls": 1000,
        "names": {"DL1": "one", "DL2": "two", "DL3": "three"},
        "shares": shares,
        "added": {"DL2": 0.4},
    }
    assert [row.code for row in rows(found)] == ["DL2", "DL1", "DL3"]
    page = render_page({"rules": {"measured": MEASURED, **found}})
    assert "| DL2 two | 2.5 | 2.5 | 0.4 |" in page and "| DL1 one | 0.2 | 0.2 |  |" in page
    assert "three" not in page and "The other 1 rules have less than 0.1 %" in page
    assert [goal.reached for goal in goals({"rules": found})] == [True]


MEASURED = {
    **dict.fromkeys(("system", "cpu", "cores", "memory", "python", "dataloader-lint", "libcst", "flake8", "ruff"), "x"),
    "torchfix": "x",
    "date": "x",
    "load": 1.0,
    "cores": 2,
}


def test_trees_hold_as_many_files_as_asked_for(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "data.py").write_text("class A(Dataset): ...\n")
        for each in range(9):
            (folder / f"other{each}.py").write_text("x = 1\n")
    made = trees.tree_of([first, second], 25, tmp_path / "tree")
    assert len(made) == len(set(made)) == len(trees.sources_of(tmp_path / "tree")) == 25
    assert trees.tenth([first, second], 20, tmp_path / "tenth") == 20
    assert sum(matters(path.read_bytes()) for path in trees.sources_of(tmp_path / "tenth")) == 2


def test_page_is_made_from_the_figures() -> None:
    """Where this fails: `python -m benchmarks.compare --redraw`."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    page = PAGE.read_text(encoding="utf-8")
    assert page == render_page(figures)
    assert all(f"## {title}" in page for title in ("Side by side", "As the work grows", "Where the time goes"))
