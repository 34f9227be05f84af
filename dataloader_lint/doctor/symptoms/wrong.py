"""Symptoms of wrong data: samples that repeat, change, stay away, or are made from values of another process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from dataloader_lint.doctor import words
from dataloader_lint.doctor.measured import LoaderReport, Symptom
from dataloader_lint.doctor.records import LoaderRecord
from dataloader_lint.doctor.symptoms.ranks import FEWEST, WRONG

_SAME = 0.9


def random(record: LoaderRecord, _report: LoaderReport) -> Iterator[Symptom]:
    """Generators that are in the same state in several workers or epochs, and are drawn from."""
    seen: dict[str, list[tuple[int, int, int, str, str]]] = {}
    for lines in record.workers.values():
        start = next((line for line in lines if line["kind"] == "start"), None)
        epoch = next((line for line in lines if line["kind"] == "epoch"), None)
        drawn = next((line for line in lines if line["kind"] == "drawn"), None)
        if start is None or epoch is None or drawn is None or start["worker"] < 0:
            continue
        for path, after in drawn["states"].items():
            before = epoch["states"].get(path)
            if before is not None and before != after:
                seen.setdefault(path, []).append((start["round"], start["worker"], start["pid"], before, after))
    for path, states in seen.items():
        where = _repetition(states)
        if where:
            title = f"`{path}` draws the same random numbers in {where}"
            advice = "seed it in each worker from `torch.initial_seed()`, in a `worker_init_fn`"
            yield Symptom("randomness", title, advice, ("DL602",), WRONG, float(len(states)))


def _repetition(states: Sequence[tuple[int, int, int, str, str]]) -> str:
    """Between what the states repeat, in words; "" if they do not."""

    def same(one: tuple[int, int, int, str, str], other: tuple[int, int, int, str, str]) -> bool:
        return one[3] == other[3] or one[4] == other[4]

    pairs = list(combinations(states, 2))
    workers = any(same(a, b) for a, b in pairs if a[0] == b[0] and a[1] != b[1])
    epochs = any(same(a, b) for a, b in pairs if a[0] != b[0] and a[1] == b[1])
    return " and ".join(text for is_so, text in ((workers, "all workers"), (epochs, "each epoch")) if is_so)


def duplicates(record: LoaderRecord, _report: LoaderReport) -> Iterator[Symptom]:
    """Samples of an iterable Dataset that come from several workers."""
    by_worker: dict[tuple[int, int], list[str]] = {}
    for lines in record.workers.values():
        start = next((line for line in lines if line["kind"] == "start"), None)
        if start is None or start["worker"] < 0:
            continue
        for line in lines:
            if line["kind"] == "samples" and line["epoch"] == 0:
                digests = [digest for index, digest in line["digests"] if index is None and digest is not None]
                by_worker.setdefault((start["round"], start["worker"]), []).extend(digests)
    for (one, first), (other, second) in combinations(sorted(by_worker.items()), 2):
        a, b = set(first), set(second)
        fewest = min(len(a), len(b))
        if one[0] != other[0] or fewest < FEWEST or 2 * len(a) < len(first) or 2 * len(b) < len(second):
            continue
        shared = len(a & b) / fewest
        if shared >= _SAME:
            title = f"workers return the same samples: {shared:.0%} of {fewest} of one came from another as well"
            advice = "give each worker its share with `get_worker_info()`"
            yield Symptom("duplicates", title, advice, ("DL601",), WRONG, float(len(first)))
            return


def changing(record: LoaderRecord, _report: LoaderReport) -> Iterator[Symptom]:
    """Samples with the same index that differ although nothing random was used."""
    seen: dict[int, set[str]] = {}
    if record.has_several_datasets:
        return
    for line in record.of_kind("samples"):
        for index, digest in line["digests"]:
            if index is None or digest is None or line["drawn"] or not line["known"]:
                continue
            seen.setdefault(index, set()).add(digest)
    changed = [index for index, digests in seen.items() if len(digests) > 1]
    if changed:
        title = (
            f"{len(changed)} of {len(seen)} samples changed when they were read again, without use of Python's, "
            f"NumPy's or torch's random generators (the first: index {min(changed)})"
        )
        advice = "return a copy of what is stored, and change that"
        yield Symptom("changing", title, advice, ("DL613", "DL205"), WRONG, float(len(changed)))


def order(record: LoaderRecord, _report: LoaderReport) -> Iterator[Symptom]:
    """Epochs whose samples come in one and the same order, though they are shuffled."""
    if not record.settings.shuffles or record.has_several_datasets:
        return
    orders: dict[tuple[int, int], str] = {}
    for lines in record.workers.values():
        start = None  # the main process begins again in each epoch
        for line in lines:
            if line["kind"] == "start":
                start = line
            elif line["kind"] == "order" and start is not None and start["worker"] <= 0:
                orders[start["round"], line["epoch"]] = line["digest"]
    if len(orders) >= 2 and len(set(orders.values())) == 1:
        sampler = record.contents.sampler if record.contents is not None else "the sampler"
        title = f"`{sampler}` shuffles, and each of {len(orders)} epochs begins with the same samples"
        advice = "call `set_epoch(epoch)` of the sampler in each epoch, and make its generator once"
        yield Symptom("order", title, advice, ("DL603",), WRONG, float(len(orders)))


def stale(record: LoaderRecord, _report: LoaderReport) -> Iterator[Symptom]:
    """Values that the main process changed while workers went on with their own."""
    read = {name for line in record.of_kind("touched") for name in line["names"]}
    for name, (before, now) in record.stale.items():
        if name in read:
            title = f"`{name}` was {before} when the workers started and is {now} now; they still see {before}"
            advice = "keep it in a tensor in shared memory, or restart the workers"
            names = (name.rpartition(".")[2],)
            yield Symptom("stale", title, advice, ("DL609",), WRONG, 5.0, names=names)
    other: dict[str, tuple[str, str]] = {}
    for line in record.of_kind("variables"):
        for name, value in line["values"].items():
            here = record.variables.get(name, value)
            if here != value:
                other[name] = here, value
    for name, (here, there) in other.items():
        title = f"the global `{name}` is {here} in the main process and {there} in its workers, which import it again"
        advice = "give it to the Dataset as an attribute"
        yield Symptom("stale", title, advice, ("DL211",), WRONG, 5.0, names=(name,))


def left_out(record: LoaderRecord, _report: LoaderReport) -> Iterator[Symptom]:
    """Samples that `drop_last` leaves out of each epoch; no harm in training, so only with a finding."""
    size = record.settings.batch_size or 0
    if not record.settings.drop_last or not size or not any(each.ended for each in record.epochs):
        return
    count = record.contents.samples if record.contents is not None else None
    if count is None:  # of an iterable Dataset
        return
    if count % size:
        title = f"{count % size} of {count} samples are left out of each epoch (`drop_last=True`)"
        advice = "`drop_last=False` where results are counted"
        yield Symptom("left-out", title, advice, ("DL313",), WRONG, float(count % size), needs_finding=True)


def empty(record: LoaderRecord, _report: LoaderReport) -> Iterator[Symptom]:
    """Epochs that end without a batch although workers read samples: each of them drops its own rest."""
    settings = record.settings
    if not settings.drop_last or not settings.num_workers or record.batches:
        return
    if any(each.ended for each in record.epochs):
        title = (
            f"an epoch ends without a batch: each of {words.several(settings.num_workers, 'worker')} drops what does "
            f"not fill a batch of {settings.batch_size} (`drop_last=True`)"
        )
        yield Symptom("empty", title, "`drop_last=False`, or fewer workers", ("DL621",), WRONG, 20.0)
