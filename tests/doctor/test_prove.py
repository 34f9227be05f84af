"""`doctor --prove`: verdicts, the copy of the project, what is written; and two programs from end to end."""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import processes
from dataloader_lint.diagnostics import Diagnostic, Fix, Level, Position, Safety, TextEdit
from dataloader_lint.doctor.command import main as doctor
from dataloader_lint.doctor.measured import Symptom
from dataloader_lint.doctor.prove import command, scratch
from dataloader_lint.doctor.prove.measures import Loader, Measure, measure_of
from dataloader_lint.doctor.prove.patches import all_patched, as_diff, silenced_line
from dataloader_lint.doctor.prove.proving import Proof
from dataloader_lint.doctor.prove.record import NotOursError, dumped
from dataloader_lint.doctor.prove.verdicts import Kind, Trials, Verdict, judge
from dataloader_lint.doctor.script import Ran, Script
from dataloader_lint.doctor.seen import Seen
from dataloader_lint.engine import baseline
from doctor.programs import LIMIT, left_of, line_of, write

MB = 1_000_000


def finding(code: str, level: Level = Level.MEMORY, filename: str = "a.py", edit: TextEdit | None = None) -> Diagnostic:
    place = Position(2, 0)
    fix = Fix(Safety.SAFE, "Change it", (edit,)) if edit is not None else None
    return Diagnostic(filename, place, place, code, "`Rows.paths`: a list", "", (2, 2), fix, level=level)


def run(memory: int = 0, seconds: float = 1.0, digests: str = "abc", error: str = "", exit_code: int = 0) -> Measure:
    loader = Loader("Rows", 10, seconds, None, memory, 4, 0.1, 0.5, tuple(digests), "float32")
    return Measure(error, exit_code, {"Rows": loader})


@pytest.mark.parametrize(
    ("code", "before", "after", "kind", "text"),
    [
        (
            "DL101",
            [run(900 * MB)] * 3,
            [run(100 * MB)] * 3,
            Kind.CONFIRMED,
            "-800 MB over 4 workers (800 MB to 800 MB)",
        ),
        ("DL101", [run(900 * MB)] * 3, [run(100 * MB)] * 2 + [run(910 * MB)], Kind.NO_EFFECT, "1.00 to 1.00 times"),
        ("DL101", [run(900 * MB)], [run(100 * MB)], Kind.NOT_TRIED, "one pair only"),
        (
            "DL309",
            [run(seconds=2.0)] * 3,
            [run(), run(seconds=0.8), run()],
            Kind.CONFIRMED,
            "2.0 x faster (2.0 to 2.5)",
        ),
        ("DL309", [run()] * 3, [run(seconds=0.99)] * 3, Kind.NO_EFFECT, "0.99 to 0.99 times"),
        (
            "DL309",
            [run(seconds=seconds) for seconds in (1.0, 2.0, 3.0)],
            [run(seconds=seconds) for seconds in (0.5, 1.5, 2.5)],
            Kind.NO_EFFECT,
            "0.50 to 0.83 times",
        ),
        ("DL101", [run()] * 2, [run(digests="abd")] * 2, Kind.BREAKS, "1 of 3 batches of `Rows` are other ones"),
        ("DL602", [run()] * 2, [run(digests="xyz")] * 2, Kind.CONFIRMED, "which is the point"),
        ("DL602", [run()] * 2, [run()] * 2, Kind.NO_EFFECT, "all batches are the same"),
        ("DL602", [run(), run(digests="axc")], [run(digests="xyz")] * 2, Kind.NO_EFFECT, "times that before"),
        ("DL301", [run(error="ValueError: x")], [run()], Kind.CONFIRMED, "raises ValueError: x; with the fix it runs"),
        ("DL301", [run()], [run(error="KeyError: 1")], Kind.BREAKS, "with the fix the program raises KeyError: 1"),
        ("DL301", [run(error="E: x")], [run(error="E: x")], Kind.NOT_TRIED, "with the fix and without"),
        ("DL301", [run()], [run(exit_code=3)], Kind.BREAKS, "exit code 3"),
    ],
)
def test_verdicts(code: str, before: list[Measure], after: list[Measure], kind: Kind, text: str) -> None:
    found = judge(finding(code), Trials(tuple(before), tuple(after)))
    assert found.kind is kind
    assert text in found.text


def test_memory_is_saved_by_an_attribute_that_is_large_enough() -> None:
    before, after = (run(900 * MB),) * 3, (run(100 * MB),) * 3
    for held, kind in ((150 * MB, Kind.CONFIRMED), (60 * MB, Kind.CONFIRMED), (45 * MB, Kind.NO_EFFECT)):
        assert judge(finding("DL101"), Trials(before, after, held=held)).kind is kind
    found = judge(finding("DL101"), Trials(before, after, held=MB))
    assert found.text == "it holds 1.0 MB, and 800 MB less are in use: no effect of its own here" and found.bytes == 0
    faster = tuple(replace(each, loaders={"Rows": replace(each.loaders["Rows"], seconds=0.5)}) for each in after)
    found = judge(finding("DL101"), Trials(before, faster, held=MB))
    assert found.kind is Kind.CONFIRMED and found.text.startswith("2.0 x faster") and found.bytes is None
    peaks = (steps(peak=900 * MB),) * 3, (steps(peak=500 * MB),) * 3
    assert judge(finding("DL101"), Trials(*peaks, held=90 * MB)).kind is Kind.NO_EFFECT
    assert judge(finding("DL101"), Trials(*peaks, held=110 * MB)).kind is Kind.CONFIRMED


def test_a_verdict_by_spawned_workers_and_by_the_kind_of_batches() -> None:
    fails = run(error="PicklingError: no")
    one = finding("DL201", Level.WARNING)
    assert judge(one, Trials((run(),), (run(),), (fails, run()))).kind is Kind.CONFIRMED
    assert judge(one, Trials((run(),), (run(),), (run(), run()))).text == "it runs with spawned workers as well"
    assert judge(one, Trials((run(),), (run(),), (fails, fails))).kind is Kind.NOT_TRIED
    other = Loader("Rows", 10, 1.0, None, 0, 4, 0.1, 0.5, tuple("xyz"), "float64")
    trials = Trials((run(),), (Measure(loaders={"Rows": other}),), plain=(run(), run()))
    found = judge(finding("DL101"), trials)
    assert found.kind is Kind.BREAKS and found.text.endswith("(float64 in place of float32)")


def steps(*losses: float, peak: int = 0) -> Measure:
    return replace(run(), losses=losses, peak=peak)


def test_a_loss_that_is_another_one_with_the_fix() -> None:
    plain, fixed = (steps(0.5, 0.25), steps(0.5, 0.25)), (steps(0.5, 0.3), steps(0.5, 0.3))
    found = judge(finding("DL309"), Trials(plain, fixed, plain=plain))
    assert found.kind is Kind.BREAKS
    assert found.text == "with the fix the loss of step 2 is 0.3 in place of 0.25 from the same batches"
    # The program's own losses vary, those of other sums in their last digits, and for DL602 they are the point.
    vary = (steps(0.5, 0.25), steps(0.5, 0.2))
    assert judge(finding("DL309"), Trials(plain, fixed, plain=vary)).kind is Kind.NO_EFFECT
    close = (steps(0.5, 0.250001), steps(0.5, 0.25))
    assert judge(finding("DL502"), Trials(plain, close, plain=plain)).kind is Kind.NO_EFFECT
    other = tuple(replace(run(digests="xyz"), losses=each.losses) for each in fixed)
    found = judge(finding("DL602"), Trials(plain, other, plain=plain))
    assert found.kind is Kind.CONFIRMED and "the loss of step 2" in found.text


def test_batches_that_differ_in_the_only_pair_break_nothing_yet() -> None:
    found = judge(finding("DL101"), Trials((run(),), (run(digests="abd"),)))
    assert found.kind is Kind.NOT_TRIED and "one pair only" in found.text


def test_what_the_main_process_held() -> None:
    before, after = (steps(peak=900 * MB),) * 3, (steps(peak=500 * MB),) * 3
    found = judge(finding("DL620"), Trials(before, after))
    assert found.kind is Kind.CONFIRMED
    assert found.text.startswith(
        "-400 MB in the main process (400 MB to 400 MB), in each of 3 pairs, with the same batches"
    )
    assert "the main process 900 MB -> 500 MB" in found.numbers
    assert "start 100 ms -> 100 ms; waits 56% -> 56%" in found.numbers


def test_one_cause_of_several_is_confirmed_by_what_can_be_pickled_with_its_fix() -> None:
    before, after = replace(run(), symptoms=frozenset({"a", "b"})), replace(run(), symptoms=frozenset({"b"}))
    fails = run(error="AttributeError: no")
    one = finding("DL201", Level.WARNING)
    found = judge(one, Trials((before,), (after,), (fails, fails), symptom="`collate_fn` cannot be pickled", key="a"))
    assert found.kind is Kind.CONFIRMED
    assert found.text == (
        "`collate_fn` cannot be pickled: no more with the fix, and something else raises AttributeError: no"
    )
    assert judge(one, Trials((before,), (after,), (fails, fails), symptom="x", key="b")).kind is Kind.NOT_TRIED
    # The same where it raises with forked workers as well, and where it raises nothing.
    trials = Trials((replace(before, error="E: 1"),), (replace(after, error="E: 2"),), symptom="raised E: 1", key="a")
    assert judge(finding("DL303"), trials).text == "raised E: 1: no more with the fix, and something else raises E: 2"
    assert judge(finding("DL502"), Trials((before,) * 2, (after,) * 2, symptom="x", key="a")).kind is Kind.CONFIRMED
    assert judge(finding("DL502"), Trials((before,) * 2, (before, after), symptom="x", key="a")).kind is Kind.NO_EFFECT


def test_the_key_of_a_symptom_is_the_same_in_the_next_run() -> None:
    one, other = (
        Symptom("pickling", f"`collate_fn` cannot be pickled: <function at 0x{n}>", "", ("DL201",), 4) for n in "17"
    )
    assert one.key == other.key
    grown = [Symptom("growth", f"each worker grew by {n} MB", "", ("DL101",), 2, names=("paths",)) for n in (1, 2)]
    assert grown[0].key == grown[1].key != one.key


def test_the_report_has_a_line_for_each_finding_first() -> None:
    several = [Verdict(finding("DL101"), Kind.CONFIRMED, "-812 MB over 4 workers, " * 9, numbers="start 1 s -> 1 s")]
    several += [Verdict(finding("DL309"), Kind.NO_EFFECT, "nothing")] * 30
    proof = Proof(several, runs=7, seconds=61.0)
    lines = list(command.report_lines(proof, []))
    assert lines[0] == "31 findings in the files that ran: 1 confirmed, 30 no effect here (7 runs, 61.0 s)"
    assert lines[2].startswith("confirmed       a.py:2 DL101  -812 MB over 4 workers") and len(lines[2]) <= 100
    assert lines[22] == "... and 11 more"
    assert "    before -> after: start 1 s -> 1 s" in lines
    found = json.loads(command.as_json(proof))["findings"]
    assert len(found) == 31 and found[0]["verdict"] == "confirmed" and found[0]["row"] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--write", "x.diff"], "--write needs --prove"),
        (["--measured", "x.json"], "--measured needs --record or --prove"),
        (["--prove", "--record"], "--record does nothing with --prove"),
        (["--prove", "--max-wait", "20%"], "--max-wait does nothing with --prove"),
        (["--prove", "--try"], "--try does nothing with --prove"),
        (["--prove", "--output-format", "junit"], "--prove writes text or json, and not junit"),
    ],
)
def test_options_that_would_do_nothing(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, PROGRAM)
    assert doctor([*options, str(path)]) == 2
    assert capsys.readouterr().err == f"dataloader-lint: {message}\n"


def test_the_copy_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src" / "__pycache__").mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "src" / "train.py").write_text("a")
    (tmp_path / "linked").symlink_to(tmp_path.parent)
    monkeypatch.chdir(tmp_path / "src")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}/elsewhere")
    with scratch.scratch_of(Script("train.py"), {str(tmp_path / "src" / "train.py"): b"b"}) as copy:
        there = Path(copy.script.path)
        assert there.read_text() == "b" and not (there.parent / "__pycache__").exists()
        assert Path(copy.script.folder).samefile(there.parent)
        paths = copy.script.variables["PYTHONPATH"].split(os.pathsep)
        assert paths == [copy.folder + "/", "/elsewhere", f"{copy.folder}/src", copy.folder]
        assert (Path(copy.folder) / "linked").resolve() == tmp_path.parent
        assert copy.original(str(there)) == str(tmp_path / "src" / "train.py")
        assert copy.original("/elsewhere/a.py") is None
    assert not Path(copy.folder).exists()
    assert (tmp_path / "src" / "train.py").read_text() == "a"
    monkeypatch.setattr(scratch, "_MOST_BYTES", 0)
    with pytest.raises(scratch.TooLargeError, match="keep data elsewhere"), scratch.scratch_of(Script("train.py"), {}):
        pass


def test_fixes_of_several_findings_in_one_diff(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes("x = 'ü'\r\ny = 2\r\n".encode())

    def edited(line: int, start: int, end: int, text: str) -> Diagnostic:
        return finding("DL101", filename=str(path), edit=TextEdit(Position(line, start), Position(line, end), text))

    one, other, late = edited(2, 4, 5, "3"), edited(1, 4, 7, "'ä'"), edited(2, 0, 5, "z = 4")
    texts, left = all_patched([one, other, late, one])
    assert texts == {str(path): "x = 'ä'\r\ny = 3\r\n".encode()}
    assert left == [late]
    assert "+y = 3" in as_diff(texts, str(tmp_path)) and "--- a.py" in as_diff(texts, str(tmp_path))
    assert silenced_line(one) == "2: y = 2  # noqa: DL101"


def test_the_record_keeps_what_is_known_of_other_findings(tmp_path: Path) -> None:
    def lines_of(_: Diagnostic) -> list[str]:
        return ["", "self.paths  = 1"]

    path = str(tmp_path / "a.py")
    first = Verdict(finding("DL101", filename=path), Kind.CONFIRMED, "", 3, 800 * MB, 4, (2.0, 1.0))
    text = dumped([first], lines_of, str(tmp_path))
    row = {"path": "a.py", "code": "DL101", "name": "Rows.paths", "line": "self.paths = 1", "verdict": "confirmed"}
    row |= {"workers": 4, "bytes_per_worker": 200 * MB, "seconds_per_batch": [2.0, 1.0]}  # type: ignore[dict-item]
    assert json.loads(text) == {"version": 1, "measured": [row]}
    other = Verdict(finding("DL102", filename=path), Kind.NO_EFFECT, "", 3, 0, 4)
    both = json.loads(dumped([other], lines_of, str(tmp_path), text))["measured"]
    assert both[0] == row and both[1]["bytes_per_worker"] == 0
    again = json.loads(dumped([Verdict(first.finding, Kind.NO_EFFECT, "")], lines_of, str(tmp_path), text))["measured"]
    assert [each["verdict"] for each in again] == ["no effect here"]
    for text in ("[]", "{}", '{"version": 2, "measured": []}', '{"version": 1, "measured": [1]}', "import torch"):
        with pytest.raises(NotOursError):
            dumped([], lines_of, str(tmp_path), text)


PROGRAM = """
    import torch
    from torch.utils.data import DataLoader, Dataset


    class Rows(Dataset):
        def __init__(self, count):
            self.rows = [float(number) for number in range(count)]
            self.cache = {}

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, index):
            return torch.tensor(self.rows[index])


    def main():
        for epoch in range(2):
            for batch in DataLoader(Rows(64), batch_size=8, num_workers=1, collate_fn=lambda rows: torch.stack(rows)):
                print(epoch, batch.sum())
        open("trained.txt", "w").write("done")


    if __name__ == "__main__":
        main()
"""


def proven(folder: Path, *options: str) -> list[str]:
    command = [sys.executable, "-m", "dataloader_lint", "doctor", "--prove", "train.py", *options]
    return [*command, "--write", "fixes.diff", "--baseline", "base.json"]


@pytest.mark.evidence
def test_a_program_from_end_to_end(tmp_path: Path) -> None:
    path = write(tmp_path, PROGRAM)
    text = path.read_text()
    done = processes.run(proven(tmp_path), cwd=tmp_path, seconds=LIMIT)
    assert done.returncode == 1, done.stderr
    line = line_of(PROGRAM, "lambda rows")
    assert f"train.py:{line} DL201 confirmed" in done.stdout
    assert "where workers are spawned the program raises" in done.stdout
    assert path.read_text() == text and not (tmp_path / "trained.txt").exists()
    assert "collate_fn=torch.stack)" in (tmp_path / "fixes.diff").read_text()
    processes.run(["git", "apply", "-p0", "fixes.diff"], cwd=tmp_path)
    assert path.read_text() != text
    known = baseline.load((tmp_path / "base.json").read_text())
    assert not any(code == "DL201" for _, code, _ in known)
    record: dict[str, Any] = json.loads((tmp_path / ".dataloader-lint-measured.json").read_text())
    assert {"train.py"} == {row["path"] for row in record["measured"]}


@pytest.mark.evidence
def test_ctrl_c_leaves_verdicts_and_nothing_else(tmp_path: Path) -> None:
    slow = PROGRAM.replace("print(epoch, batch.sum())", 'import time; time.sleep(0.2); print("step", flush=True)')
    write(tmp_path, slow)
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    with processes.started(proven(tmp_path), cwd=tmp_path, seconds=LIMIT, env=environment) as running:
        while b"round 1" not in running.err:
            assert running.process.poll() is None
        os.kill(running.pid, signal.SIGINT)
        assert running.wait() in (0, 1)
        assert "It was stopped by Ctrl-C." in running.out.decode()
        assert left_of(running) == []
    # On a busy machine torch ends workers that are late, with or without the doctor, and what they made there stays.
    assert [each.name for each in (tmp_path / "tmp").iterdir() if not each.name.startswith("pymp-")] == []
    assert not (tmp_path / "trained.txt").exists()


def test_files_that_are_no_results_are_not_replaced(tmp_path: Path) -> None:
    path = write(tmp_path, PROGRAM)
    for option in ("--write", "--baseline", "--measured"):
        command = [sys.executable, "-m", "dataloader_lint", "doctor", "--prove", "train.py", option, "train.py"]
        done = processes.run(command, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith("dataloader-lint: train.py is there, and is no")
    assert path.read_text().startswith("import torch")


def test_a_program_whose_time_was_over_has_not_failed() -> None:
    assert measure_of(Ran(Seen(), -2, "The script was ended after 20 seconds", is_ended=True)) == Measure()
    assert measure_of(Ran(Seen(), -9)).error == "signal 9"
