"""Generated programs under a stand-in for torch: a safe fix leaves everything as it is but the pitfall.

A failing program is shown with its seed: `python -m reliability.fix_programs SEED 1 --show` in `tests/` makes it again.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import processes
from reliability.budget import within
from reliability.fix_programs import Program, compared, fixed, harm, outcomes, summary, tried

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the programs are run in forked processes")


def check(programs: list[Program]) -> Counter[str]:
    """How often each code was fixed; fails where a fix did harm."""
    bad = [str(each) for each in programs if each.complaints]
    assert not bad, f"{summary(programs)}\n" + f"\n{'=' * 80}\n".join(bad[:5])
    return sum((each.fixed for each in programs), Counter[str]())


def test_safe_fixes_change_nothing_else(tmp_path: Path) -> None:
    programs = tried(range(60, 180), tmp_path, unsafe=False)
    codes = check(programs)
    assert len(codes) >= 7
    assert sum(each.ran for each in programs) >= 15


def test_unsafe_fixes_bring_no_errors(tmp_path: Path) -> None:
    programs = tried(range(1000, 1050), tmp_path, unsafe=True)
    codes = check(programs)
    assert len(codes) >= 8
    assert sum(each.ran for each in programs) >= 10


@pytest.mark.long
@pytest.mark.parametrize("unsafe", [False, True])
def test_many_programs(tmp_path: Path, unsafe: bool) -> None:
    first = int(time.time())
    total = Counter[str]()
    for seed in within("hundreds of programs fixed", range(first, first + 2_000, 100)):
        programs = tried(range(seed, seed + 100), tmp_path / str(seed), unsafe, everywhere=True)
        total += check(programs)
        print(summary(programs))
    print(first, dict(total))


# What holds the programs against each other must see what is wrong.

MAKE = "from torch.utils.data import DataLoader\n\n\ndef make(fn, **options):\n"
RUN = "\n\nif __name__ == '__main__':\n    print(list(make(None)))\n"


@pytest.mark.parametrize(
    ("before", "after", "unsafe", "is_seen"),
    [
        ("print(1)", "print(1)  # the same", False, False),
        ("print(1)", "print(2)", False, True),
        ("print(1)", "print(1)\nraise ValueError", False, True),
        ("print(1)", "print(2)", True, False),
        ("print(1)", "print(unknown)", True, True),
        ("print(1)", "len()", True, True),
        ("import torch\ntorch.zeros(1).to('cuda')", "import torch\ntorch.zeros(1)", False, True),
        (
            f"{MAKE}    return DataLoader([1], num_workers=0, persistent_workers=True){RUN}",
            f"{MAKE}    return DataLoader([1], num_workers=0){RUN}",
            False,
            False,
        ),
        (
            f"{MAKE}    return DataLoader([1], num_workers=0, persistent_workers=True){RUN}",
            f"{MAKE}    return DataLoader([1], num_workers=wokers){RUN}",
            False,
            True,
        ),
        (
            f"{MAKE}    return DataLoader([1, 2], num_workers=1, collate_fn=lambda rows: rows){RUN}",
            f"{MAKE}    return DataLoader([1, 2], num_workers=1, collate_fn=list){RUN}",
            False,
            False,
        ),
        (
            f"{MAKE}    return DataLoader([1, 2], num_workers=1, collate_fn=list){RUN}",
            f"{MAKE}    return DataLoader([1, 2], num_workers=1, collate_fn=lambda rows: rows){RUN}",
            False,
            True,
        ),
    ],
)
def test_differences_are_seen(before: str, after: str, unsafe: bool, is_seen: bool, tmp_path: Path) -> None:
    program = Program(0, {"main.py": before.encode()}, {"main.py": after.encode()})
    compared([program], tmp_path, unsafe, everywhere=True)
    assert bool(program.complaints) is is_seen, program


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x = 1\n", b"x = \n"),
        (b"x = 1  # one\n", b"x = 1\n"),
        (b"x = 1\r\ny = 2\r\n", b"x = 1\r\ny = 2\n"),
        (b"x = 1\r\ny = 2\r\n", b"x = 1\r\r\ny = 2\r\n"),
        (b"\xef\xbb\xbfx = 1\n", b"x = 2\n"),
    ],
)
def test_harm_to_the_text_is_seen(before: bytes, after: bytes) -> None:
    assert list(harm(before, after))
    assert not list(harm(before, before))


def test_copies_that_nobody_waits_for_are_late(tmp_path: Path) -> None:
    text = (
        "import torch\n"
        "batch = torch.arange(2).pin_memory()\n"
        "moved = batch.to('cuda', non_blocking=True)\n"
        "batch.zero_()\n"
        "print(moved, torch.arange(2).to('cuda').to('cpu', non_blocking=True))\n"
    )
    (tmp_path / "main.py").write_text(text)
    cuda = {"STUB_ACCELERATOR": "cuda"}
    late, in_time = outcomes([(str(tmp_path), "main.py", cuda | {"STUB_RACES": each}) for each in "10"], 60)
    assert late[0] == "tensor([0, 0], cuda) tensor([0, 0], cpu)\n"
    assert in_time[0] == "tensor([0, 1], cuda) tensor([0, 1], cpu)\n"


COMBINATIONS = """
import random
import torch
from torch.utils.data import BatchSampler, DataLoader, IterableDataset, SequentialSampler

class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(5))

OPTIONS = {
    "batch_size": (1, 2, None), "shuffle": (False, None), "sampler": (None, [0, 2]), "num_workers": (0, 0, 0, -1),
    "batch_sampler": (None, [[0], [1, 2]]), "drop_last": (False, True), "timeout": (0, 0, 3, -1),
    "persistent_workers": (False, True), "prefetch_factor": (None, 2), "multiprocessing_context": (None, "fork"),
    "collate_fn": (None, list), "pin_memory_device": ("", "cuda"),
}
chance = random.Random(1)
loader = DataLoader([1])
for number in range(600):
    options = {name: chance.choice(values) for name, values in OPTIONS.items() if chance.random() < 0.3}
    dataset = chance.choice((range(5), Stream(), [torch.tensor(1), torch.tensor(2)], [{"a": 1}, {"a": 2}]))
    try:
        loader = DataLoader(dataset, **options)
        batches = [getattr(each, "tolist", lambda: each)() for each in loader]
        print(number, len(batches), loader.batch_size, loader.drop_last, loader.prefetch_factor)
    except Exception as error:
        print(number, type(error).__name__, str(error).partition("got")[0].replace(" ", ""))
    try:
        loader.batch_size = 2
    except ValueError as error:
        print(error)
moved = torch.zeros(2)
for arguments, keywords in (
    (("cpu", torch.float16, True), {}), ((torch.float16,), {"non_blocking": True}), ((moved, True), {}),
    (("cpu",), {"device": "cpu"}), (("cpu",), {"blocking": True}), ((torch.float16,), {"dtype": torch.float32}),
    (("cpu", None, True, True), {}), (("cpu", True), {"non_blocking": True}), ((), {"device": "cpu", "copy": True}),
):
    try:
        print(moved.to(*arguments, **keywords).dtype)
    except Exception as error:
        print(type(error).__name__)
"""


@pytest.mark.evidence
def test_the_stand_in_raises_what_torch_raises(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(COMBINATIONS)
    command = [sys.executable, "-W", "ignore", "main.py"]
    real = processes.run(command, cwd=tmp_path, check=True)
    [[printed, _, error]] = outcomes([(str(tmp_path), "main.py", {})], 60)
    assert not error
    assert printed.splitlines() == real.stdout.splitlines()


@pytest.mark.parametrize("imports", ["import functools\n", ""])
def test_what_a_program_shares_with_others(imports: str, tmp_path: Path) -> None:
    """A name that another file brings by `import *`, or has of its own beside one, is not taken."""
    make = f"{imports}{MAKE}    return DataLoader([1], collate_fn=lambda rows: [rows, fn], **options)\n"
    files = {
        "lib.py": make,
        "stars.py": "collate_for_make = partial = 'from a star'\n",
        "main.py": f"from stars import *\n{make}\n\nprint(collate_for_make, partial, list(make(2)))\nimport user\n",
        "user.py": "collate_for_make = 'mine'\nfrom \\\n    lib import *\nprint(collate_for_make, list(make(1)))\n",
    }
    program = Program(0, {name: text.encode() for name, text in files.items()})
    fixed(program, tmp_path / "fixing", unsafe=False)
    assert program.fixed == {"DL201": 2 if imports else 1}
    compared([program], tmp_path / "running", unsafe=False)
    check([program])
