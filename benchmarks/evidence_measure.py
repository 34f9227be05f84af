"""Measures what docs/evidence.md shows: every proof at a telling size, memory over an epoch, time per epoch."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.evidence_programs import MEMORY, STORAGES, TIME

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from evidence.harness import START_METHODS, Outcome, Proof, find_proofs, run  # noqa: E402
from evidence.test_dl606 import GROWING  # noqa: E402

Figures = dict[str, Any]
Progress = Callable[[str], None]  # is told what comes next
Measurement = Callable[[Path, Progress], Figures]  # the folder is for the files of the programs

TIMES = 5  # how often what takes time is run
SAMPLES = 500_000  # of which the memory is measured; what a thousand need is taken off
FEW = 1_000


@dataclass(frozen=True, slots=True)
class Shown:
    """How the programs of a proof are run for the page."""

    arguments: tuple[str, ...] = ()
    start_method: str = "fork"
    threads: str = ""  # what OMP_NUM_THREADS is, where the programs need more than one thread


# What needs more than no arguments and forked workers.
SHOWN: Mapping[str, Shown] = {
    **{code: Shown(start_method="spawn") for code in ("DL201", "DL202", "DL203", "DL204", "DL206", "DL208", "DL211")},
    "DL106": Shown(start_method="spawn"),
    "DL306": Shown(("1000", "0.005")),
    "DL308": Shown(("16",)),
    "DL309": Shown(("3",), "spawn"),
    "DL310": Shown(("--workers", "0")),
    "DL316": Shown(("0",)),
    "DL619": Shown(("0",)),
    "DL401": Shown(("64",)),
    "DL402": Shown(("65536",)),
    "DL502": Shown(threads="2"),
    "DL503": Shown(("parallel",), threads="2"),
    "DL602": Shown(("3",)),
    "DL604": Shown(("0",)),
    "DL605": Shown(("400", "30000")),
    "DL606": Shown(("64", "12288", "0")),
    "DL607": Shown(("50",)),
    "DL608": Shown(("regular",)),
    "DL610": Shown(("0",)),
    "DL611": Shown(("300",)),
    "DL613": Shown(("0", "no")),
    "DL614": Shown(("32",)),
}
_EXCEPTION = re.compile(r"\b\w+(?:Error|Exception|Interrupt)\b")
# What the programs say that is no mere count.
UNITS = {"growth": " bytes a sample"}


def read_proofs() -> dict[str, Proof]:
    """All proofs by the code of their rule."""
    return find_proofs()


def measurements() -> dict[str, Measurement]:
    """All that can be measured, by name: the proofs by the code of their rule, and what is measured beside them."""
    return {
        **{code: partial(measure_proof, proof) for code, proof in find_proofs().items()},
        "memory": measure_memory,
        "workers": measure_workers,
        "restarts": measure_restarts,
        "batches": measure_batches,
    }


def describe_machine() -> Figures:
    """Where and when figures are made; `load` is the load average of the last minute, `memory` is in GiB."""
    import torch

    names = [line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    memory = next(int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal"))
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": names[0] if names else "unknown CPU",
        "cores": len(os.sched_getaffinity(0)),
        "memory": round(memory / 2**20),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "load": round(os.getloadavg()[0], 1),
    }


def measure_proof(proof: Proof, folder: Path, progress: Progress) -> Figures:
    """What the two programs of a proof say; those that time themselves run several times.

    `missing` is what they need and this machine lacks: they are not run then, since what they would say is no
    measurement. Raises UnexpectedError where a program fails by what it is not meant to show.
    """
    shown = SHOWN.get(proof.rule, Shown())
    figures: Figures = {
        "repair": _repair(proof, folder / "safe"),
        "start_method": shown.start_method,
        "arguments": list(shown.arguments),
    }
    missing = proof.unmet()
    if missing:
        return {**figures, "missing": missing}
    environment = {"OMP_NUM_THREADS": shown.threads} if shown.threads else None
    sides = (("before", proof.run_before, proof.symptom), ("after", proof.run_after, proof.cure))
    for side, launch, claim in sides:
        progress(f"{proof.rule} {side}")
        figures[side] = _run_often(
            partial(launch, folder, *shown.arguments, start_method=shown.start_method, environment=environment),
            f"{proof.rule} {side}",
            claim,
        )
    return figures


def _run_often(launch: Callable[[], Outcome], name: str, claim: str) -> Figures:
    """What one run was seen to do, and the seconds of all runs of a program that times itself."""
    outcome = launch()
    seen = describe(outcome)
    check_seen(name, claim, outcome, seen)
    seconds = _seconds(outcome)
    if seconds:
        seconds += [second for _ in range(TIMES - 1) for second in _seconds(launch())]
    return {"seen": seen, "seconds": seconds}


class UnexpectedError(Exception):
    """A program failed by something that its proof does not claim; that is nothing to publish."""


def check_seen(name: str, claim: str, outcome: Outcome, seen: str) -> None:
    """Raise UnexpectedError for an exception or a hang that the claim of a program does not name."""
    odd = set(_EXCEPTION.findall(seen)) - set(_EXCEPTION.findall(claim))
    if odd or outcome.hung or not (outcome.said or outcome.error or outcome.worker_errors):
        raise UnexpectedError(f"{name} is to show {claim!r}, but was seen to do {seen!r}\n{outcome.stderr[-2_000:]}")


def describe(outcome: Outcome) -> str:
    """What a program was seen to do, in one line, without the time that it took."""
    values: dict[str, list[Any]] = defaultdict(list)
    for line in outcome.said:
        for key, value in line.items():
            values[key].append(value)
    values.pop("seconds", None)
    parts = [f"{key.replace('_', ' ')}: {_short(each)}{UNITS.get(key, '')}" for key, each in values.items()]
    if outcome.hung:
        parts.append("does not come to an end")
    if outcome.worker_errors:
        parts.append(f"worker: {widen(str(outcome.worker_errors[0]))}")
    if outcome.error is not None:
        parts.append(widen(str(outcome.error)))
    return "; ".join(parts)


def measure_memory(folder: Path, progress: Progress) -> Figures:
    """Bytes of all processes at places of an epoch, beyond those of the same program with few samples."""
    found: Figures = {}
    for method in START_METHODS:
        found[method] = {}
        for kind in STORAGES:
            progress(f"memory: {kind}, {method}")
            many, few = (
                run(MEMORY, folder, kind, str(count), start_method=method, timeout=600).values
                for count in (SAMPLES, FEW)
            )
            base = statistics.mean(few["epoch"])
            points = [(0.0, many["alone"] - few["alone"])]
            places = [*range(0, 100, 10), 99]
            points += [((place + 1) / 100, each - base) for place, each in zip(places, many["epoch"], strict=True)]
            found[method][kind] = [[share, round(value)] for share, value in points]
    return {"samples": SAMPLES, "points": found}


def measure_workers(folder: Path, progress: Progress) -> Figures:
    """Seconds of epochs by the kind of samples and the number of workers."""
    sizes = {"waits": (400, 20), "computes": (400, 20), "memory": (10_000, 50)}
    return {
        kind: {
            str(number): _epochs(folder, progress, kind, *size, number, "persistent" if number else "")
            for number in (0, 1, 2, 4)
        }
        for kind, size in sizes.items()
    }


def measure_restarts(folder: Path, progress: Progress) -> Figures:
    """Seconds of epochs by the start method and whether workers persist."""
    return {
        method: {
            "started anew": _epochs(folder, progress, "memory", 200, 20, 2, method=method),
            "persistent": _epochs(folder, progress, "memory", 200, 20, 2, "persistent", method=method),
        }
        for method in START_METHODS
    }


def measure_batches(folder: Path, progress: Progress) -> Figures:
    """Seconds of epochs by `batch_size`, and of batches by their rows, grown row by row and joined at once."""

    def collating(launch: Callable[..., Outcome], rows: int) -> list[float]:
        progress(f"time: collating {rows} rows")
        return _seconds(launch(folder, str(rows), "256", "0"))

    rows = (64, 256, 1024, 4096)
    return {
        "batch_size": {
            str(size): _epochs(folder, progress, "memory", 4_096, size, 2, "persistent") for size in (1, 8, 64, 512)
        },
        "grown": {str(number): collating(GROWING.run_before, number) for number in rows},
        "joined": {str(number): collating(GROWING.run_after, number) for number in rows},
    }


def _epochs(folder: Path, progress: Progress, kind: str, *arguments: object, method: str = "fork") -> list[float]:
    """The seconds of all epochs but the first, which is the only one to start workers that persist."""
    progress(f"time: {kind} {arguments} {method}")
    texts = [str(each) for each in arguments]
    runs = [run(TIME, folder, kind, *texts, start_method=method, timeout=600) for _ in range(2)]
    assert all(outcome.values for outcome in runs)
    return [line["seconds"] for outcome in runs for line in outcome.said[1:]]


def _repair(proof: Proof, folder: Path) -> str:
    """Who repairs the program of a proof, and with which option."""
    if proof.after is not None:
        return "by hand"
    from dataloader_lint.engine.fixer import fix_source

    before, after = proof.programs()
    safe = fix_source(before.encode(), str(folder / "program.py"), proof.lint_settings())
    return "`--fix`" if safe.source.decode() == after else "`--fix --unsafe-fixes`"


def _seconds(outcome: Outcome) -> list[float]:
    return [line["seconds"] for line in outcome.said if "seconds" in line]


def _short(values: list[Any]) -> str:
    texts = Counter(_value(value) for value in values)
    if len(texts) > 3:
        return f"{len(values)} values"
    return ", ".join(f"{text} ({count} times)" if count > 1 else text for text, count in texts.items())


def _value(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,.0f}" if abs(value) >= 10 or value == int(value) else f"{value:.2g}"
    return widen(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def widen(text: str, most: int = 110) -> str:
    if "Original Traceback" in text:
        text = f"in a worker: {text.strip().splitlines()[-1]}"
    line = re.sub(r" at 0x[0-9a-f]+", "", " ".join(text.split()))
    return line if len(line) <= most else line[: most - 3].rstrip() + "..."


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()
