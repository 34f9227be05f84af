"""Which findings explain a symptom, by their lines: those that a loader was made at, and those of its functions."""

from __future__ import annotations

from pathlib import Path

from dataloader_lint.diagnostics import Diagnostic, Level, Place, Position, Reason
from dataloader_lint.doctor.diagnosis import diagnose, summary
from dataloader_lint.doctor.findings import matching, of_loader
from dataloader_lint.doctor.records import Epoch, LoaderRecord, Settings
from dataloader_lint.doctor.seen import Machine
from dataloader_lint.doctor.symptoms.failing import errors
from doctor.programs import TWO_OBJECTS, growing, write


def finding(path: Path, line: int, code: str = "DL309", last: int = 0, places: tuple[int, ...] = ()) -> Diagnostic:
    start = Position(line, 4)
    lines = (line, last or line)
    more = tuple(Place(str(path), Position(each, 0), Position(each, 1), (each, each)) for each in places)
    return Diagnostic(str(path), start, start, code, "problem", "", lines, level=Level.SPEED, places=more)


def test_a_finding_where_another_loader_is_made_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    one, other, class_ = finding(path, 10, last=14), finding(path, 20), finding(path, 3, "DL104")
    several = [one, other, class_]
    made, others = [(str(path), 12), (str(path), 40)], [(str(path), 20), (str(path), 40)]
    assert of_loader(several, made, others) == [one, class_]
    assert of_loader(several, others, made) == [other, class_]
    assert of_loader(several, made, []) == several
    # One line may make both.
    assert of_loader([finding(path, 40)], made, others) == [finding(path, 40)]


def test_another_place_of_the_same_cause_is_the_one_that_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    one = finding(path, 5, "DL204", places=(8, 11))
    found = matching([one], ("DL204",), places=[(str(path), 11)], is_exact=True)
    assert [each.start.line for each in found] == [11]
    assert matching([one], ("DL204",), places=[(str(path), 30)], is_exact=True) == []
    assert matching([one], ("DL204",), places=[(str(path), 30)]) == [one]


def test_a_finding_whose_steps_lead_there_is_about_it(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    steps = (Reason(str(path), Position(30, 0), "made here"),)
    one, other = finding(path, 5, "DL202"), finding(path, 9, "DL202")
    there = Diagnostic(
        *(getattr(one, name) for name in ("filename", "start", "end", "code", "problem", "advice")),
        (5, 5),
        because=steps,
    )
    assert matching([other, there], ("DL202",), places=[(str(path), 30)], is_exact=True) == [there]


def test_what_a_worker_raised_and_not_that_it_raised() -> None:
    text = "RuntimeError: Caught RuntimeError in DataLoader worker process 0.\nOriginal Traceback\nRuntimeError: "
    (found,) = errors(f"{text}This class is not fork-safe", [])
    assert found.codes == ("DL209", "DL216")
    (other,) = errors(f"{text}nobody knows this", [])
    assert other.codes == ()  # an error of the program itself


def test_an_epoch_without_a_batch() -> None:
    settings = Settings(8, 128, 2, False, False, "", "fork", True, 0.0, True, False)
    record = LoaderRecord(("train.py", 7), settings, "", "Numbers")
    record.epochs = [Epoch(0.0, 0.1, ended=True)]
    found = [each for each in summary(record, 1, Machine()).symptoms if each.codes == ("DL621",)]
    assert [each.title for each in found] == [
        "an epoch ends without a batch: each of 8 workers drops what does not fill a batch of 128 (`drop_last=True`)"
    ]
    record.batches = 3
    assert not any(each.codes == ("DL621",) for each in summary(record, 1, Machine()).symptoms)


def test_growth_is_explained_by_what_is_large_enough(tmp_path: Path) -> None:
    path = write(tmp_path, TWO_OBJECTS)

    def blamed(held: int) -> tuple[set[str], set[str]]:
        record = growing(held)
        (loader,) = diagnose([record], script=str(path)).loaders
        growth = [each for each in loader.symptoms if each.kind == "growth"]
        assert len(growth) == 1
        return {found.code for found in growth[0].findings}, {each.finding.code for each in loader.cleared}

    small, cleared = blamed(800_000)
    assert "DL104" in small and "DL101" not in small and "DL101" in cleared
    # Larger, and still no more than a part of what workers grew by.
    assert "DL101" not in blamed(1_500_000)[0]
    assert blamed(2_500_000)[0] == {"DL101"}
