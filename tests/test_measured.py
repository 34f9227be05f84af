"""What the doctor recorded decides the level of findings in later runs."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from commands import here, run, write
from dataloader_lint import Diagnostic, Level, Position, Settings, lint_paths, load_settings
from dataloader_lint.doctor.prove.patches import findings_in
from dataloader_lint.doctor.prove.record import dumped
from dataloader_lint.doctor.prove.verdicts import Kind, Verdict
from dataloader_lint.engine.measured import as_measured
from dataloader_lint.lsp.checking import Document, check
from dataloader_lint.source.measurements import NOTHING
from dataloader_lint.source.pyproject import RECORD

__all__ = ["here"]

pytestmark = pytest.mark.usefixtures("here")
CODE = """\
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, count):
        self.paths = [f"{number:012d}.jpg" for number in range(count)]
        self.labels = {f"{number:012d}.jpg": number for number in range(count)}

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.labels[self.paths[index]]


loader = DataLoader(Images(300_000), num_workers=2)
"""
SIZE = 45_300_000
Levels = dict[str, tuple[str, str]]


def found(*arguments: str) -> Levels:
    """The level and the message of each finding about memory, by its code, and what stands on standard error."""
    code, out, err = run("--output-format", "json", "--select", "DL101,DL102,DL305", *arguments)
    assert code in (0, 1), err
    rows = {one["code"]: (one["level"], one["message"]) for one in json.loads(out)}
    return {**rows, "": ("", err)} if err else rows


def recorded(levels: dict[str, tuple[Kind, int | None]]) -> None:
    """Write the record that the doctor writes for the findings of `data.py`."""
    verdicts = [
        Verdict(one, *((kind := levels[one.code])[0], "", 3, kind[1] and 2 * kind[1], 2))
        for one in lint_paths(["data.py"])
        if one.code in levels
    ]
    assert len(verdicts) == len(levels)
    lines = Path("data.py").read_text().splitlines()
    write(RECORD, dumped(verdicts, lambda _: lines, "."))


def row(**changes: object) -> str:
    usual = {"path": "data.py", "code": "DL101", "name": "Images.paths", "verdict": "confirmed"}
    line = CODE.splitlines()[5].strip()
    return json.dumps({**usual, "line": line, "workers": 2, "bytes_per_worker": SIZE, **changes})


def record(*rows: str) -> str:
    return f'{{"version": 1, "measured": [{", ".join(rows)}]}}'


def test_measured_bytes_decide_the_level() -> None:
    write("data.py", CODE)
    before = found()
    assert {level for level, _ in before.values()} == {"note"}
    recorded({"DL101": (Kind.CONFIRMED, SIZE), "DL102": (Kind.NO_EFFECT, 0)})
    after = found()
    assert after["DL101"][0] == "memory"
    assert after["DL101"][1].startswith("`Images.paths` is copied to each worker, measured: 45 MB each; use a NumPy")
    assert after["DL102"][0] == "note" and after["DL102"][1].endswith("; measured: no effect here")
    assert all(len(message) <= 160 for _, message in after.values())
    assert run("--select", "DL101", "--quiet")[0] == 1 and run("--select", "DL102", "--quiet")[0] == 0


def test_what_had_no_effect_is_a_note() -> None:
    write("data.py", CODE)
    many = ("--samples", "Images:30000000")
    assert found(*many)["DL101"][0] == "memory"
    recorded({"DL101": (Kind.NO_EFFECT, 0)})
    assert found(*many)["DL101"][0] == "note"
    assert found("--severity", "DL101:error")["DL101"][0] == "error"
    assert "DL101" not in found("--no-notes")


def test_other_verdicts_change_nothing() -> None:
    write("data.py", CODE)
    before = found()
    for size in (None, SIZE):
        recorded({"DL101": (Kind.BREAKS, size)})
        assert found() == before


def test_what_was_confirmed_without_bytes_is_no_note() -> None:
    write("data.py", CODE)
    recorded({"DL101": (Kind.CONFIRMED, None)})
    level, message = found()["DL101"]
    assert level == "memory" and message.startswith("`Images.paths` is copied to each worker, as measured; use")


def test_an_error_is_cleared_by_no_record() -> None:
    write("data.py", "from torch.utils.data import DataLoader\n\nloader = DataLoader(data, persistent_workers=True)\n")
    (error,) = lint_paths(["data.py"])
    line = "loader = DataLoader(data, persistent_workers=True)"
    write(RECORD, record(row(code=error.code, name="", line=line, verdict="no effect here", bytes_per_worker=0)))
    assert [one.level for one in lint_paths(["data.py"], load_settings())] == [error.level] == [Level.ERROR]


def test_findings_are_known_when_they_move_and_not_when_their_line_is_another() -> None:
    write("data.py", CODE)
    recorded({"DL101": (Kind.CONFIRMED, SIZE)})
    write(
        "data.py",
        "import os\n\n\n" + CODE.replace("range(count)]", "range(count)]  # the\tfiles").replace(" = [", "  = ["),
    )
    assert found()["DL101"][0] == "memory"
    write("data.py", CODE.replace("range(count)]", "range(count + 1)]"))
    assert found()["DL101"][0] == "note"
    write("other.py", CODE)
    Path("data.py").unlink()
    assert found()["DL101"][0] == "note"


def test_of_findings_that_look_alike_none_is_taken_for_the_measured_one() -> None:
    def finding(line: int) -> Diagnostic:
        start, end = Position(line, 0), Position(line, 5)
        return Diagnostic("a.py", start, end, "DL401", "this is slow", "do it", (line, line), level=Level.SPEED)

    text, settings = "slow()\n" * 2, Settings(measured=(("DL401", "", "slow()", NOTHING),))
    one, other = finding(1), finding(2)
    assert [each.level for each in as_measured([one], text, settings)] == [Level.NOTE]
    assert as_measured([one, other], text, settings) == [one, other]
    assert {each.level for each in as_measured([one, other], text, settings)} == {Level.SPEED}


def test_the_cache_knows_the_record() -> None:
    write("data.py", CODE)
    old = time.time() - 60
    os.utime("data.py", (old, old))
    cached = ("--cache-dir", "cache")
    assert found(*cached)["DL101"][0] == "note"
    recorded({"DL101": (Kind.CONFIRMED, SIZE)})
    assert found(*cached)["DL101"][0] == found(*cached)["DL101"][0] == "memory"
    write(RECORD, Path(RECORD).read_text().replace(str(SIZE), str(3 * SIZE)))
    assert "140 MB" in found(*cached)["DL101"][1]
    Path(RECORD).unlink()
    assert found(*cached)["DL101"][0] == "note"


def test_the_nearest_record_counts_or_that_beside_the_baseline() -> None:
    write("src/data.py", CODE)
    write("ci/base.json", '{"version": 1, "findings": []}')
    write(RECORD, record(row(path="src/data.py")))
    assert found()["DL101"][0] == "memory"
    write(f"ci/{RECORD}", record(row(path="../src/data.py", bytes_per_worker=2 * SIZE)))
    assert "45 MB" in found()["DL101"][1]
    assert "91 MB" in found("--baseline", "ci/base.json")["DL101"][1]
    assert "91 MB" in found("--baseline", "ci/base.json", "--isolated")["DL101"][1]
    write(f"src/{RECORD}", record())
    assert found()["DL101"][0] == "note"


def test_without_the_files_of_the_project_there_is_no_record() -> None:
    write("data.py", CODE)
    write(RECORD, record(row()))
    assert found("--isolated")["DL101"][0] == "note"
    assert "DL101" in {one.code for one in lint_paths(["data.py"]) if one.level is Level.NOTE}
    assert [one.level for one in lint_paths(["data.py"], load_settings()) if one.code == "DL101"] == [Level.MEMORY]


def test_another_trial_starts_from_what_the_code_says() -> None:
    write("data.py", CODE)
    before = {one.message for one in findings_in([str(Path("data.py").absolute())])}
    write(RECORD, record(row()))
    assert {one.message for one in findings_in([str(Path("data.py").absolute())])} == before
    assert not any("measured" in each for each in before)


def test_editors_show_what_was_measured() -> None:
    write("data.py", CODE)
    write(RECORD, record(row()))
    checked = check(Document(str(Path("data.py").absolute()), CODE, str(Path.cwd())), ())
    assert [one.level for one in checked.found if one.code == "DL101"] == [Level.MEMORY]


DAMAGED = [
    ("", "not valid JSON: "),
    ("{", "not valid JSON: "),
    ("[" * 100_000, "not valid JSON: "),
    ("\0", "not valid JSON: "),
    ("[]", "no object with a list called measured"),
    ('{"version": 1, "measured": {}}', "no object with a list called measured"),
    ('{"version": 2, "measured": []}', "its version is 2, and only 1 is known"),
    ('{"version": "%s", "measured": []}' % ("x" * 10_000), "its version is xxxxxxxxxxxxxxxxxxxx, and only 1 is known"),
    (record("1"), "entry 1 is no finding"),
    (record(row(), row(path=3)), "entry 2 is no finding"),
    (record(row(bytes_per_worker=True)), "entry 1 is no finding"),
    (record(row(bytes_per_worker=-1)), "entry 1 is no finding"),
    (record(row(bytes_per_worker=1e300)), "entry 1 is no finding"),
    (record(row(bytes_per_worker="9" * 9)), "entry 1 is no finding"),
    (record(row(bytes_per_worker=0)).replace(": 0}", f": {'9' * 5000}}}"), "not valid JSON: "),
    (" " * 10_000_001, "it is longer than 10,000,000 bytes"),
]


@pytest.mark.parametrize(("text", "problem"), DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_record_is_one_line(text: str, problem: str) -> None:
    write("data.py", CODE)
    write(RECORD, text)
    findings = found()
    line = findings.pop("")[1]
    assert line.startswith(f"dataloader-lint: warning: {Path(RECORD).absolute()} is not a record of measurements that")
    assert problem in line and line.count("\n") == 1 and len(line) < 600
    assert {level for level, _ in findings.values()} == {"note"}


def test_a_record_that_is_no_file_is_one_line() -> None:
    write("data.py", CODE)
    os.mkfifo(RECORD)
    assert "it is not a regular file" in found()[""][1]
    Path(RECORD).unlink()
    Path(RECORD).mkdir()
    assert found()[""][1].count("\n") == 1


def test_rows_that_disagree_count_as_none() -> None:
    write("data.py", CODE)
    write(RECORD, record(row(), row(bytes_per_worker=0, verdict="no effect here")))
    assert found()["DL101"][0] == "note" and "measured" not in found()["DL101"][1]
    write(RECORD, record(row(), row()))
    assert found()["DL101"][0] == "memory"


def test_rows_of_names_that_are_no_findings_are_not_shown() -> None:
    write("data.py", CODE)
    write(RECORD, record(row(name="\x1b[31mImages.paths"), row(path="/etc/passwd"), row(code="DL999")))
    assert found()["DL101"][0] == "note" and "" not in found()
