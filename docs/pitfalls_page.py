"""Makes docs/pitfalls.md: the pitfalls that guides about slow, greedy or hanging loaders name, and what finds each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dataloader_lint.rules.base import Rule

HEAD = """<!-- Made by docs/pitfalls_page.py: edit that. -->

# Pitfalls and the rules that find them

What guides and forum threads about DataLoader warn of, and the rule that finds it in your code. Rules in *italics* are
off by default; `--extend-select CODE` turns them on. Where no rule can tell, the last column says what to measure."""


@dataclass(frozen=True, slots=True)
class Pitfall:
    """One pitfall: how guides name it, the rules that find it, and what else there is to say or to measure."""

    name: str
    codes: tuple[str, ...] = ()
    note: str = ""


GROUPS: Mapping[str, tuple[Pitfall, ...]] = {
    "Memory": (
        Pitfall("A list of file names, indexed by every worker", ("DL101",)),
        Pitfall("A list or dict that is copied on read by forked workers", ("DL101", "DL102")),
        Pitfall(
            "A dict of gigabytes from `pickle.load`, asked for the id of the sample: `self.scans[ref['scan_id']]`",
            ("DL102",),
        ),
        Pitfall("The same dict from `json.load` or `torch.load`, or through a helper function", ("DL102",)),
        Pitfall("A dict by utterance or file, and the list of its keys", ("DL102", "DL101")),
        Pitfall("Objects of a class of one's own in a list or dict", ("DL101", "DL102")),
        Pitfall("An array of `dtype=object`, or `np.load(..., allow_pickle=True)`", ("DL103",)),
        Pitfall(
            "File names in a pandas table read by `.iloc[index]`",
            ("DL103",),
            "Reported where the project requires a pandas before 3, and a value is used as a path or a text. pandas 3 "
            "without pyarrow copies as much, and with it nothing ([figures](evidence/text-columns.md)); which one runs "
            "is not in the code. Measure: RSS of a worker after one epoch; cure: `dtype_backend='pyarrow'`.",
        ),
        Pitfall(
            "`np.array([json.loads(line) for line in file])`",
            ("DL103",),
            "Reported where an element is asked for a field; a line of JSON may be a number.",
        ),
        Pitfall("Padded arrays in place of lists: `np.array([[...]])`", (), "This is the cure; nothing to report."),
        Pitfall("`astype(np.string_)`", (), "Removed in NumPy 2: use `np.bytes_`. ruff's NPY201 finds it."),
        Pitfall(
            "`multiprocessing.Manager().list(...)` as a shared list",
            ("DL205",),
            "The manager itself is reported; its proxy is safe but slow: each access is a message to another process.",
        ),
        Pitfall("An array in memory that spawned workers copy", ("DL106",)),
        Pitfall("`gc.collect()` for every sample", ("DL607",)),
        Pitfall("`torch.cuda.empty_cache()` in every step", ("DL607",)),
        Pitfall(
            "`prefetch_factor * num_workers` batches in (shared) memory",
            ("DL307",),
            "Measure: `df -h /dev/shm` while the loader runs.",
        ),
        Pitfall(
            "Samples above 5 MB, loaded faster than they are used",
            (),
            "The size is known at run time only. Measure: bytes of a batch times `num_workers * prefetch_factor`, "
            "against `df -h /dev/shm`.",
        ),
        Pitfall("`file_system` sharing leaks shared memory", ("DL608",)),
        Pitfall(
            "Batches that are kept hold open file descriptors",
            ("DL611",),
            "Measure: the number of entries in `/proc/PID/fd`.",
        ),
    ),
    "Processes": (
        Pitfall("CUDA in `__getitem__` of forked workers", ("DL207",)),
        Pitfall("CUDA tensors that the Dataset keeps", ("DL215",)),
        Pitfall(
            "`set_start_method('spawn', force=True)` as the cure for CUDA in workers",
            (),
            "Right where workers must use CUDA; nothing to report.",
        ),
        Pitfall("OpenCV and forked workers: threads, and deadlocks", ("DL501",)),
        Pitfall("A lambda kept by a Dataset, or an open HDF5 file", ("DL204", "DL205")),
        Pitfall(
            "Other open handles: databases, archives, video readers, thread pools, locks",
            ("DL205",),
            "Also in a global that forked workers share, if it breaks there ([runs](evidence/handles.md)).",
        ),
        Pitfall("Lambdas, closures and nested functions as `collate_fn` or transform", ("DL201", "DL202", "DL204")),
        Pitfall("No `if __name__ == '__main__'` around the loop", ("DL206",)),
        Pitfall("The start method set at module level", ("DL210",)),
        Pitfall(
            "`os.name != 'posix'` as a test for spawned workers",
            (),
            "macOS is posix and spawns. Ask `multiprocessing.get_start_method()`.",
        ),
        Pitfall("`persistent_workers=True` with `num_workers=0`", ("DL301",)),
        Pitfall(
            "`num_workers=os.cpu_count() // 8`, which is 0 on small machines, beside options for workers", ("DL310",)
        ),
        Pitfall("Workers restarted in every epoch", ("DL309",)),
        Pitfall("Processes started in a worker", ("DL214",)),
    ),
    "Speed": (
        Pitfall(
            "`num_workers=0`", ("DL306",), "Data in memory may be faster without workers: measure an epoch of both."
        ),
        Pitfall("More workers than CPU cores", ("DL305",)),
        Pitfall("The directory listed in `__getitem__`", ("DL614",)),
        Pitfall("A whole file read in `__getitem__`", ("DL605",)),
        Pitfall(
            "Decoders, tokenizers or `Compose` made for every sample",
            ("DL615",),
            "`Compose` reads no file and is not reported. Measure: `python -m cProfile` of `dataset[0]`, called twice.",
        ),
        Pitfall("`collate_fn` that grows tensors or converts lists of arrays", ("DL606",)),
        Pitfall(
            "Small copies in a loop: `torch.tensor(a[:, :, c])` for each channel",
            (),
            "Too many loops are harmless. Measure: `python -m cProfile` of `dataset[0]`.",
        ),
        Pitfall("`pin_memory=True` without `non_blocking=True`", ("DL401",)),
        Pitfall("Batches that go to the GPU without `pin_memory`", ("DL406", "DL402")),
        Pitfall("`pin_memory=True` on a machine without a GPU", ("DL403",)),
        Pitfall("`pin_memory=True` and a batch class of one's own", ("DL407",)),
        Pitfall("`OMP_NUM_THREADS` set after `import torch`", ("DL502",)),
        Pitfall(
            "`cv2.setNumThreads(0)` in the main function, where workers are spawned",
            ("DL501",),
            "Reported where the loader itself asks for spawned workers. Measure: `cv2.getNumThreads()` in a sample.",
        ),
        Pitfall("`torch.set_num_threads(8)` in workers", ("DL503",)),
        Pitfall(
            "Many small files; kornia, DALI or turbojpeg as the cure",
            (),
            "A matter of storage. Measure: `iostat -x 1` and the time of `dataset[i]` for 100 random `i`.",
        ),
    ),
    "Samples": (
        Pitfall("An IterableDataset that every worker goes through as a whole", ("DL601",)),
        Pitfall("Broken samples returned as None", ("DL604",)),
        Pitfall("`while True: try ... except: index = random`, or `return self[index + 1]`", ("DL616",)),
        Pitfall("`cv2.imread` gives None for a broken file", ("DL617",)),
        Pitfall("`__len__` of an attribute that nobody sets", (), "A type checker finds it."),
    ),
}


ON_REAL_CODE = """## The newest rules on real code

Each of these rules was run over public repositories that had no part in its making, and each finding was read in its
context. Right means that what the message says is true, and that a maintainer would want to know it. The kinds of
findings that were not right were then taken out of the rules, and the rules were run again.

The code: 316 repositories of all sizes in four batches, one after the other (InternVL, VILA, Open-Sora-Plan,
LLaMA-Factory, torchgeo, boltz, nerfstudio, sentence-transformers, TimeMixer, small classifiers, ...). For DL612, DL613
and DL614 also 52 passages of single files that a search for such places found in other repositories; only the
statements that matter were linted there.

| Rule | First run: right | After the changes: right | Repositories | Missed places |
|---|---|---|---|---|
| DL313 | 44 of 56 (79 %) | 39 of 39 | 26 | 3, and 5 more after the changes |
| DL405 | 12 of 16 (75 %) | 12 of 12 | 7 | 18 |
| DL612 | 2 of 2; 26 of 26 in passages | the same | 1; 20 passages | none |
| DL613 (opt-in) | 0 of 4 | none left | 2 | 1 passage |
| DL614 | 1 of 1; 18 of 18 in passages | the same | 1; 15 passages | 1 passage |
| DL616 | 52 of 52 | 37 of 37 | 11 | 2, found now |
| DL214 | 0 of 1 | none left | 1 | none |
| DL301 | 2 of 2 | the same | 2 | |
| DL302 | 2 of 2 | the same | 1 | |
| DL209 (opt-in), DL215, DL216, DL407 | no finding | no finding | 0 | none |

- What counts is code that was read after a change. With what the first batch had led to, DL313 was right in 12 of 12
  findings of the second batch, and then in 18 of 19 of the third: 30 of 31. The wrong one is no finding any more.
- DL313, first run: seven loops of other tasks, four metrics that compare the samples of a batch, one loader picked by a
  key. Five right findings went with them. Earlier, four findings in torchtune were on purpose: the shapes of batches
  are compiled.
- DL405, first run: four moves of what is on the device already. Missed are devices that come through an attribute of
  another object, as `trainer.device`. There are fewer than 20 findings in all, so its share says little.
- DL613, first run: two replaced words, which stay the same the second time, and two lists that rotate on purpose. It is
  opt-in now, as no finding was a bug. Missed is a row of `DataFrame.values`.
- DL616: of several handlers in one method that call it again, one is reported now: 6 findings in boltz instead of 23.
- DL214, first run: a process that is started for a list of devices only, and nobody passes one. The rule stays on, as
  this way of reasoning has changed for all code.
- DL301 to DL303 and DL310 for `TrainingArguments` of transformers: none of the 40 lines that set or read its loader
  options is reported, and none is wrong. The findings of DL301 and DL302 are calls of DataLoader.
- No code was found that starts processes in workers, keeps CUDA tensors for workers, uses an asynchronous file system
  in them, or returns a batch class that is not pinned. Most such programs raise at once, and are corrected before they
  are published. What these rules do is shown by their proofs and fixtures only."""


def render(rules: Mapping[str, tuple[Rule, str]]) -> str:
    """Renders the page. `rules` maps each code to its rule and the link to its page; KeyError for an unknown code."""
    parts = [HEAD]
    for title, pitfalls in GROUPS.items():
        rows = ["| Pitfall | Rules | Note |", "|---|---|---|"]
        for pitfall in pitfalls:
            found = ", ".join(_link(*rules[code]) for code in pitfall.codes) or "none"
            rows.append(f"| {pitfall.name} | {found} | {pitfall.note} |")
        parts.append(f"## {title}\n\n" + "\n".join(rows))
    return "\n\n".join([*parts, ON_REAL_CODE]) + "\n"


def _link(rule: Rule, target: str) -> str:
    name = rule.name if rule.default else f"*{rule.name}*"
    return f"[{rule.code}]({target}) {name}"
