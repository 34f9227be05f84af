"""The doctor as a gate: reports in one table, limits, what CI services read, `--try`, and what memory is blamed on."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from benchmarks import processes
from dataloader_lint.doctor.compare import Limits, NoReportError, Numbers, broken, load, share, size, table
from dataloader_lint.doctor.measured import LoaderReport, Symptom, Worker
from dataloader_lint.doctor.output_ci import github, junit
from dataloader_lint.doctor.records import Settings
from dataloader_lint.doctor.report import Report
from doctor.programs import LIMIT, examined, explained, line_of, write

SETTINGS = Settings(1, 4, 2, False, False, "", "fork", True, 0.0, False, True)


def report(memory: int = 10**8, wait: float = 1.0) -> Report:
    workers = [Worker(0, 7, 0, ((1, 5 * 10**7), (9, memory)), None, 1, 0)]
    loader = LoaderReport(
        "loader 1 (Rows)",
        ("train.py", 7),
        SETTINGS,
        9,
        1,
        4.0,
        wait,
        1.0,
        0.2,
        *[None] * 2,
        workers,
        [],
        {},
        {},
        0,
        0,
        *[None] * 4,
    )
    return Report([loader])


def test_limits_of_one_run_and_against_another() -> None:
    before = load(report().to_json())
    assert before[0].memory == 10**8 and before[0].wait == 0.5 and before[0].batch == pytest.approx(2 / 9)
    now = report(3 * 10**8, 3.0)
    assert [each.text for each in broken(Limits(10**8, 0.6), now, before)] == [
        "loader 1 (Rows): a worker holds 200 MB more than in the report before, 100 MB are allowed",
        "loader 1 (Rows): the loop waits for 75% of its time, 60% are allowed",
    ]
    assert broken(Limits(2 * 10**8, 0.75), now, before) == []
    assert "250 MB more than at its start" in broken(Limits(10**8), now, None)[0].text
    assert broken(Limits(), now, before) == broken(Limits(1), now, []) == []
    other = Numbers("loader 2 (New)", ("", 0), None, None, None, None)
    lines = list(table([*before, other], load(now.to_json())))
    assert lines[1].split("  ")[0] == "loader 1 (Rows)" and "100 MB -> 300 MB" in lines[1] and "50% -> 75%" in lines[1]
    assert lines[2].startswith("loader 2 (New)") and "? -> ?" in lines[2]


def test_what_is_no_report_and_no_limit() -> None:
    for text in ("", "[]", "{}", '{"version": 1}', '{"version": 1, "loaders": [{}]}'):
        with pytest.raises(NoReportError):
            load(text)
    with pytest.raises(NoReportError, match="only 1 is known"):
        load('{"version": 9}')
    assert [size(each) for each in ("200MB", "1.5g", "12", "3 kB")] == [2 * 10**8, 15 * 10**8, 12, 3000]
    assert [share(each) for each in ("20%", "0.2", "1")] == [0.2, 0.2, 1.0]
    for text in ("200%", "x", "-1"):
        with pytest.raises(ValueError, match="float"):
            share(text)


def test_what_ci_services_read() -> None:
    one = report()
    one.loaders[0].symptoms = [Symptom("waiting", "waits: 50%\nof it", "help", ("DL306",), 3, place=("a,b.py", 3))]
    over = broken(Limits(wait=0.1), one, None)
    suite = ET.fromstring(junit(one, over))
    assert suite.get("failures") == "2" and [case.get("name") for case in suite.iter("testcase")] == [
        "waiting",
        "limit",
    ]
    lines = list(github(one, over))
    assert lines[0] == "::error file=a%2Cb.py,line=3::waits: 50%25%0Aof it"
    assert lines[1].startswith("::error file=train.py,line=7::loader 1 (Rows): the loop waits")
    assert ET.fromstring(junit(report(), [])).get("failures") == "0"


def test_symptoms_fail_no_service_where_limits_decide() -> None:
    one = report()
    one.loaders[0].symptoms = [Symptom("waiting", "waits", "help", ("DL306",), 3, place=("a.py", 3))]
    suite = ET.fromstring(junit(one, [], only_limits=True))
    assert suite.get("failures") == "0" and suite.get("tests") == "1"
    assert [case.text for case in suite.iter("system-out")] == ["waits\nhelp"]
    assert list(github(one, [], only_limits=True)) == ["::warning file=a.py,line=3::waits"]
    over = broken(Limits(wait=0.1), one, None)
    assert ET.fromstring(junit(one, over, only_limits=True)).get("failures") == "1"


FILLED = """
    from torch.utils.data import DataLoader, Dataset


    class Rows(Dataset):
        def __init__(self):
            self.cache = {}

        def __len__(self):
            return 400

        def __getitem__(self, index):
            if index not in self.cache:
                self.cache[index] = [0.5 + number for number in range(2_000)]
            return self.cache[index][0]


    if __name__ == "__main__":
        for loader in (DataLoader(Rows(), batch_size=4, num_workers=2), DataLoader(range(8))):
            for batch in loader:
                pass
"""


@pytest.mark.evidence
def test_a_cache_that_workers_fill_is_blamed_and_never_cheap(tmp_path: Path) -> None:
    found = examined(tmp_path, FILLED)
    line = line_of(FILLED, "self.cache[index] =")
    assert explained(found)["cache"] == {("DL104", line)}
    assert not any(one["row"] == line for loader in found["loaders"] for one in loader["cheap"])
    growing = [each for each in found["symptoms"] if each["kind"] == "growth"]
    assert all({one["code"] for one in each["findings"]} == {"DL104"} for each in growing)
    assert {each["loader"] for each in found["symptoms"] if each["kind"] == "cache"} == {"loader 1 (Rows)"}


@pytest.mark.evidence
def test_a_gate_and_trials_from_end_to_end(tmp_path: Path) -> None:
    program = """
        import time

        from torch.utils.data import DataLoader, Dataset


        class Slow(Dataset):
            def __len__(self):
                return 24

            def __getitem__(self, index):
                time.sleep(0.02)
                return index


        if __name__ == "__main__":
            for batch in DataLoader(Slow(), batch_size=2):
                time.sleep(0.01)
            open("trained.txt", "a").write("x")
    """
    write(tmp_path, program)
    command = [sys.executable, "-m", "dataloader_lint", "doctor", "train.py"]
    first = [*command, "--try", "--output-format", "json", "--output-file", "before.json"]
    assert processes.run(first, cwd=tmp_path, seconds=LIMIT).returncode == 1
    before = json.loads((tmp_path / "before.json").read_text())
    assert any(each["setting"].startswith("num_workers=") and not each["error"] for each in before["trials"])
    assert (tmp_path / "trained.txt").read_text() == "x"  # the second run was elsewhere, and ended at the loader
    done = processes.run([*command, "--compare", "before.json", "--max-wait", "99%"], cwd=tmp_path, seconds=LIMIT)
    assert done.returncode == 0 and "loader 1 (Slow)" in done.stdout and " -> " in done.stdout
    done = processes.run([*command, "--max-wait", "10%", "--output-format", "github"], cwd=tmp_path, seconds=LIMIT)
    assert done.returncode == 1 and "::error file=train.py" in done.stdout and "10%25 are allowed" in done.stdout
    done = processes.run([*command, "--compare", "train.py"], cwd=tmp_path)
    assert done.returncode == 2 and "train.py is no report as JSON" in done.stderr
