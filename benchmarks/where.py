"""Where the time of a run goes: one process lints a folder, and a timer looks where it is.

    python -m benchmarks.where FOLDER        prints seconds of CPU by what was done, and by file, and how many files
                                             and lines were parsed, as JSON

Python delivers a signal only between two instructions of its own, so a look that is due while LibCST's parser runs
comes late. Each look therefore counts for the CPU time that has gone since the one before.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from types import FrameType

INTERVAL = 0.001  # seconds of CPU
IMPORTS = "importing"
PARSE = "parsing"
# What takes all that happens below it, by a part of a file's path, and then what the innermost of all others does; the
# first that fits.
WHOLE = (
    ("importlib._bootstrap", IMPORTS),
    ("libcst/_parser/", PARSE),
    ("dataloader_lint/source/parsing", PARSE),
    ("dataloader_lint/source/fast_tree", PARSE),
)
KINDS = (
    ("libcst/", "writing code with LibCST, for positions"),
    ("dataloader_lint/semantics/syntax/tree", "semantics: walking trees"),
    ("dataloader_lint/semantics/syntax/names", "semantics: binding names"),
    ("dataloader_lint/semantics/project/", "semantics: finding modules"),
    ("dataloader_lint/semantics/", "semantics: the rest"),
    ("dataloader_lint/pipeline/", "pipeline"),
    ("dataloader_lint/rules/", "rules"),
    ("dataloader_lint/source/", "finding and decoding files"),
    ("dataloader_lint/gate", "reading and gate"),
    ("dataloader_lint/runner", "reading and gate"),
)
OTHER = "command line, settings, output"


def kind_of(files: list[str]) -> tuple[str, str]:
    """What is done, and the file of ours that does it ("": none), by the files of a stack, innermost first.

    What a function of the standard library takes is put down to whoever called it.
    """
    ours = next((file.rpartition("dataloader_lint/")[2] for file in files if "dataloader_lint/" in file), "")
    for part, kind in WHOLE:
        if any(part in file for file in files):
            return kind, ours
    for file in files:
        for part, kind in KINDS:
            if part in file:
                return kind, ours
    return OTHER, ours


def main(folder: str) -> dict[str, dict[str, float]]:
    """Lint a folder in this process; seconds of CPU by what was done, and by file of ours without the parser.

    `parsed` says how many files were parsed, those among them that were opened for what they say to others, and lines.
    """
    parsed = {"files": 0.0, "lines": 0.0}
    kinds: defaultdict[str, float] = defaultdict(float)
    places: defaultdict[str, float] = defaultdict(float)
    last = time.process_time()

    def look(_: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.process_time()
        files = []
        while frame is not None:
            files.append(frame.f_code.co_filename.replace("\\", "/"))
            frame = frame.f_back
        kind, place = kind_of(files)
        kinds[kind] += now - last
        if kind not in (PARSE, IMPORTS) and place:
            places[place] += now - last
        last = now

    signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
    from dataloader_lint.cli import main as lint
    from dataloader_lint.semantics.project import project

    def count(*arguments: object) -> object:
        parsed["files"] += 1
        parsed["lines"] += str(arguments[-1]).count("\n")
        return made(*arguments)

    made: Callable[..., object] = vars(project)["ModuleFacts"]
    vars(project)["ModuleFacts"] = count
    sys.stdout, out = sys.stderr, sys.stdout
    try:
        lint(["--isolated", "--no-cache", "-j", "1", "--exit-zero", "--output-format", "concise", folder])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout = out
    return {"kinds": dict(kinds), "places": dict(places), "parsed": parsed}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
