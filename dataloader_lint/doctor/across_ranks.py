"""What the ranks of one program tell each other when they have ended: who waits, and which samples they share.

Each rank has a doctor of its own. Those of one machine leave what they measured in a folder of its temporary files,
read what the others left, and each puts what it means into its own report.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from dataloader_lint.doctor import words
from dataloader_lint.doctor.measured import Symptom
from dataloader_lint.doctor.records import LoaderRecord
from dataloader_lint.doctor.symptoms.ranks import FEWEST, SPEED, WRONG

_PATIENCE = 15.0  # seconds in which the other ranks must end, too
_SHARED = 0.5  # of the samples of a rank
_UNEVEN = 0.2  # of the time of the loop, by which one rank waits longer than another
_LEAST_WAIT = 0.5  # seconds


@dataclass(frozen=True, slots=True)
class Group:
    """The ranks of one program: which one this is, of how many, how many are on this machine, and what it is called."""

    rank: int
    ranks: int
    local: int
    name: str

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> Group | None:
        """The group that torchrun started this process in; None if it is alone."""
        rank, ranks = variables.get("RANK", ""), variables.get("WORLD_SIZE", "")
        if not (rank.isdecimal() and ranks.isdecimal() and int(ranks) > 1):
            return None
        local = variables.get("LOCAL_WORLD_SIZE", ranks)
        several = ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT")
        # The ranks of one machine have one parent; all else is the same in the next run, too.
        name = "-".join([*(variables.get(each, "") for each in several), str(os.getppid())])
        return cls(int(rank), int(ranks), int(local) if local.isdecimal() else int(ranks), name)

    @property
    def folder(self) -> str:
        """Where the ranks of this machine leave what they measured."""
        user = os.getuid() if hasattr(os, "getuid") else 0
        key = hashlib.sha256(f"{user} {self.name}".encode()).hexdigest()[:16]
        return os.path.join(tempfile.gettempdir(), f"dataloader-lint-ranks-{key}")


def symptoms_across(group: Group, records: Sequence[LoaderRecord], patience: float = _PATIENCE) -> list[Symptom]:
    """What this rank's loaders and those of the other ranks on this machine show together.

    Waits for the others to end, for so many seconds.
    """
    if group.local < 2:
        return []
    try:
        _make(group.folder)
    except OSError as error:
        print(f"dataloader-lint: the ranks are not compared: {group.folder} {error.strerror}", file=sys.stderr)
        return []
    try:
        _leave(group, f"rank{group.rank}.json", json.dumps([_told(each) for each in records]))
        known = _others(group, patience)
    except (OSError, ValueError):
        return []
    finally:
        _clear(group)
    return list(_symptoms(known))


def _make(folder: str) -> None:
    """Make the folder, unless another rank has. Raises OSError if others may write there: its name is no secret."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, mode=0o700)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "is no folder, or a link")
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o077):
        raise PermissionError(errno.EPERM, "is open to other users")


def _told(record: LoaderRecord) -> dict[str, Any]:
    digests = [
        digest
        for line in record.of_kind("samples")
        if line["epoch"] == 0
        for index, digest in line["digests"]
        if index is None and digest is not None
    ]
    return {
        "name": f"{record.dataset}, iterated at {words.place(record.place)}",
        "place": [*record.place],
        "wait": record.waited,
        "step": record.stepped,
        "shuffles": record.settings.shuffles,
        "indices": record.indices,
        "digests": digests,
    }


def _leave(group: Group, name: str, text: str) -> None:
    path = os.path.join(group.folder, name)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.new", path)


def _others(group: Group, patience: float) -> dict[int, list[dict[str, Any]]]:
    """What all ranks of this machine have left, as soon as all have, or when the time is over."""
    end = time.monotonic() + patience
    while True:
        names = [each for each in os.listdir(group.folder) if each.startswith("rank") and each.endswith(".json")]
        if len(names) >= group.local or time.monotonic() > end:
            break
        time.sleep(0.05)
    known = {}
    for each in names:
        with open(os.path.join(group.folder, each), encoding="utf-8") as file:
            known[int(each[4:-5])] = json.load(file)
    return dict(sorted(known.items()))


def _clear(group: Group) -> None:
    """The last of the ranks takes the folder away."""
    with contextlib.suppress(OSError):
        _leave(group, f"read{group.rank}", "")
        if (
            sum(each.startswith("read") and not each.endswith(".new") for each in os.listdir(group.folder))
            >= group.local
        ):
            shutil.rmtree(group.folder, ignore_errors=True)


def _symptoms(known: Mapping[int, Sequence[dict[str, Any]]]) -> Iterator[Symptom]:
    """The symptoms of several ranks; a loader of one is that of another if the same line iterates it."""
    if len(known) < 2:
        return
    loaders: dict[tuple[str, int], dict[int, dict[str, Any]]] = {}
    for rank, several in known.items():
        for each in several:
            loaders.setdefault((each["place"][0], each["place"][1]), {}).setdefault(rank, each)
    for place, by_rank in loaders.items():
        if len(by_rank) > 1:
            yield from _waiting(place, by_rank)
            yield from _shared(place, by_rank)


def _waiting(place: tuple[str, int], by_rank: Mapping[int, dict[str, Any]]) -> Iterator[Symptom]:
    shares = {rank: each["wait"] / max(1e-9, each["wait"] + each["step"]) for rank, each in by_rank.items()}
    slowest = max(shares, key=lambda rank: shares[rank])
    others = [share for rank, share in shares.items() if rank != slowest]
    wait = by_rank[slowest]["wait"]
    if shares[slowest] - min(others) < _UNEVEN or wait < _LEAST_WAIT:
        return
    low, high = f"{min(others):.0%}", f"{max(others):.0%}"
    title = (
        f"rank {slowest} waits for batches for {shares[slowest]:.0%} of its time, "
        f"{'the other rank' if len(others) == 1 else 'the others'} for {low if low == high else f'{low} to {high}'}: "
        f"{'it' if len(others) == 1 else 'they'} wait{'s' if len(others) == 1 else ''} for rank {slowest} in the step"
    )
    advice = "look at the report of that rank: its share of the data, or its machine, is slower"
    yield Symptom("rank-waits", title, advice, (), SPEED, wait, place=place)


def _shared(place: tuple[str, int], by_rank: Mapping[int, dict[str, Any]]) -> Iterator[Symptom]:
    found: list[tuple[float, int, int, int]] = []
    kind = "indices" if any(each["indices"] for each in by_rank.values()) else "digests"
    for (one, first), (other, second) in combinations(by_rank.items(), 2):
        a, b = set(first[kind]), set(second[kind])
        fewest = min(len(a), len(b))
        if fewest >= FEWEST:
            found.append((len(a & b) / fewest, fewest, one, other))
    share, fewest, one, other = max(found, default=(0.0, 0, 0, 0))
    if share < _SHARED:
        return
    pairs = sum(each[0] >= _SHARED for each in found)
    more = f", and so do {pairs - 1} other pairs of ranks" if pairs > 1 else ""
    title = f"ranks {one} and {other} read the same samples: {share:.0%} of {fewest} in the first epoch{more}"
    advice = "give each rank its share: a `DistributedSampler`, or `rank` and `world_size` in an iterable Dataset"
    codes = ("DL618", "DL623") if kind == "indices" else ("DL601",)
    # Where all ranks evaluate on all data, that may be meant.
    needs_finding = kind == "indices" and not any(each["shuffles"] for each in by_rank.values())
    yield Symptom("rank-samples", title, advice, codes, WRONG, float(fewest), place=place, needs_finding=needs_finding)
