"""What people see when data loading goes wrong, in their own words and in those of Python and torch.

Each symptom has patterns for the messages, the rules that find its causes, the likeliest first, and a few sentences:
what it means and what to measure. The more specific symptoms stand first: the first one that fits is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Symptom:
    """A symptom with its page.

    `messages` are patterns to search for in one line of what a program printed. `words` are patterns for a sentence
    about a program that printed nothing. Both ignore case, blank space and quotation marks.
    """

    title: str
    page: str
    rules: tuple[str, ...] = ()
    messages: tuple[re.Pattern[str], ...] = field(default=())
    words: tuple[re.Pattern[str], ...] = field(default=())


def _patterns(several: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(each, re.IGNORECASE) for each in several)


def _seen(title: str, page: str, rules: str, *messages: str, words: tuple[str, ...] = ()) -> Symptom:
    text = " ".join(line.strip() for line in page.split("\n")).strip()
    return Symptom(title, text, tuple(rules.split()), _patterns(messages), _patterns(words))


# What cannot be pickled: `can't` up to Python 3.11, `cannot` since.
_NO_PICKLE = r"can(?:.?t|not) (?:pickle|get)"

_NOT_OF_GPU = r"^(?!.*\b(?:gpu|cuda|vram)\b).*"

SYMPTOMS = (
    _seen(
        "A lambda cannot be pickled",
        """Workers that are started by spawn (Windows, macOS) or forkserver (Linux from Python 3.14 on) get the Dataset,
        its transforms and the functions pickled. A lambda cannot be pickled.""",
        "DL201 DL204 DL203",
        rf"{_NO_PICKLE} (?:local object )?.*<lambda>",
        r"attribute lookup <lambda> on ",
    ),
    _seen(
        "A class defined in a function or in a notebook cannot be pickled",
        "Workers that are not forked import the class by its name. Move it to the top level of a module.",
        "DL208 DL202 DL204",
        rf"{_NO_PICKLE} local object .*<locals>\.(?-i:[A-Z])\w*",
        rf"{_NO_PICKLE} <class ",
        r"attribute lookup (?-i:[A-Z])\w* on ",
        r"can.?t get attribute (?-i:[A-Z])\w* on <module __(?:mp_)?main__",
    ),
    _seen(
        "A nested function cannot be pickled",
        "Workers that are not forked import the function by its name. Move it to the top level of a module.",
        "DL202 DL204 DL203",
        rf"{_NO_PICKLE} local object",
        rf"{_NO_PICKLE} <function ",
        r"attribute lookup \w+ on ",
        r"can.?t get attribute \w+ on <module __(?:mp_)?main__",
    ),
    _seen(
        "The main module starts workers while it is imported",
        "Workers that are not forked import the main module, which starts workers again. Guard its code.",
        "DL206 DL210",
        r"attempt has been made to start a new process before",
        r"freeze_support\(\)",
    ),
    _seen(
        "CUDA in a forked worker",
        "The main process has used CUDA before the workers were forked, and worker code uses it again.",
        "DL207 DL215",
        r"cannot re-initialize cuda in forked subprocess",
        r"cuda (?:runtime )?error(?: \(3\))? ?:.*initialization error",
    ),
    _seen(
        "A CUDA tensor cannot be pinned",
        "With `pin_memory=True` batches must be on the CPU. Something moved the samples to CUDA before.",
        "DL215 DL207",
        r"cannot pin .*only dense cpu tensors can be pinned",
        r"cannot pin torch\.cuda",
    ),
    _seen(
        "A worker may not start processes",
        "The workers of a DataLoader are daemonic. Use threads in them, more workers, or `num_workers=0`.",
        "DL214",
        r"daemonic processes are not allowed to have children",
    ),
    _seen(
        "Out of shared memory",
        """Workers hand batches over in shared memory (`/dev/shm`), and it is full. Docker gives 64 MB by
        default. Measure: `df -h /dev/shm` while the program runs. Cure: `docker run --shm-size=8g` or `--ipc=host`,
        an `emptyDir` with `medium: Memory` in Kubernetes, fewer workers, a smaller `prefetch_factor` or smaller
        samples.""",
        "DL307 DL608 DL305",
        r"signal: bus error",
        r"unexpected bus error encountered in worker",
        r"insufficient shared memory",
        r"out of shared memory",
        r"unable to (?:write to|open|mmap|allocate|resize).*(?:shared memory|/torch_|/dev/shm)",
        r"no space left on device.*(?:shm|torch_)",
    ),
    _seen(
        "Too many open files",
        """Each tensor from a worker is an open file of the main process until it is freed. Measure: `ulimit -n`, and
        `ls /proc/PID/fd | wc -l` while the program runs. Cure: free batches (`clone()` what you keep), close files,
        or raise the limit with `ulimit -n 65536`.""",
        "DL611 DL608 DL205",
        r"\[errno 24\]",
        r"too many open files",
        r"received \d+ items of ancdata",
        r"too many fds",
    ),
    _seen(
        "A worker was killed for its memory",
        """The system ended the worker, as a rule because memory ran out. Check with `dmesg -T | grep -i oom` or the
        limit of the container. Measure the memory of each worker (`Pss` in `/proc/PID/smaps_rollup`) over an epoch.
        If it grows from batch to batch, the rules below find the cause. If not: fewer workers.""",
        "DL101 DL102 DL104 DL103 DL105 DL611",
        r"signal: (?:killed|terminated)",
        r"worker .*exited unexpectedly with exit code -?9\b",
        r"^(?:.* \d+ +)?killed(?: +\S*python.*)?$",  # what a shell says of a process
        r"\boom.?kill",
        words=(r"\b(?:workers?|process(?:es)?|training|script|program) (?:\w+ ){0,2}killed\b",),
    ),
    _seen(
        "No memory for another worker",
        """The system refused memory when a process was started or shared memory was made. A fork needs as much as the
        main process holds where memory must not be overcommitted. Measure: `free -m`, `ulimit -v`, the limit of the
        container. Cure: fewer workers, and less in the main process before they start.""",
        "DL305 DL101 DL102 DL611",
        r"\[errno 12\]",
        r"cannot allocate memory",
    ),
    _seen(
        "The thread that pins batches ended",
        """With `pin_memory=True`, a thread of the main process copies batches into page-locked memory. An exception
        ended it, and this message does not say which: look above it for another one, such as too many open files or a
        CUDA error. With `pin_memory=False` the program may show it directly.""",
        "DL611 DL215 DL608",
        r"pin memory thread exited unexpectedly",
    ),
    _seen(
        "A worker crashed in native code",
        """A library crashed: one with threads or handles that do not survive a fork, a broken file, or versions that do
        not fit. Measure: `num_workers=0`, then `python -X faulthandler`, to see the line; then one worker with
        `multiprocessing_context="spawn"`. If only forked workers crash, the rules below find the cause.""",
        "DL501 DL205 DL209 DL207",
        r"signal: (?:segmentation fault|aborted|floating point exception|illegal instruction)",
        r"unexpected (?:segmentation fault|floating-point exception) encountered in worker",
    ),
    _seen(
        "The paging file of Windows is too small",
        """Each worker of Windows imports torch and its CUDA libraries and reserves memory for them. Measure: the
        commit size of the processes in the task manager. Cure: fewer workers, or a larger paging file.""",
        "DL305",
        r"\[?winerror 1455\]?",
        r"paging file is too small",
    ),
    _seen(
        "Samples of different sizes",
        """The default `collate_fn` stacks the tensors of a batch, and these have different sizes. Print the shapes with
        `num_workers=0` and `batch_size=1`. Cure: resize, crop or pad each sample, or a `collate_fn` that pads or
        returns a list. Images with one channel or four among others with three are a common cause. No rule finds
        this.""",
        "",
        r"stack expects each tensor to be equal size",
        r"each element in list of batch should be of equal size",
        r"trying to resize storage that is not resizable",
        r"all input arrays must have the same shape",
    ),
    _seen(
        "A sample is None",
        "`__getitem__` returns None for some samples, or a field of them is None.",
        "DL604 DL617",
        r"batch must contain tensors.*found <?(?:class )?nonetype",
        r"expected tensor as element \d+ in argument \d+, but got nonetype",
        r"could not infer dtype of nonetype",
    ),
    _seen(
        "The default collate_fn does not know the class of a sample",
        """It takes tensors, NumPy arrays, numbers, strings, and dicts, tuples and lists of these. Return such, or write
        a `collate_fn`. For `torch_geometric.data.Data`, use the DataLoader of `torch_geometric.loader`. No rule finds
        this.""",
        "",
        r"batch must contain tensors.*found",
    ),
    _seen(
        "An image could not be read",
        "`cv2.imread` returns None for a missing or broken file and says nothing.",
        "DL617 DL604",
        r"-215:assertion failed\) *!_?(?:src|ssize|img)\.empty\(\)",
    ),
    _seen(
        "persistent_workers without workers",
        "`persistent_workers=True` needs `num_workers` above 0.",
        "DL301 DL310",
        r"persistent_workers option needs num_workers",
    ),
    _seen(
        "prefetch_factor without workers",
        "`prefetch_factor` needs `num_workers` above 0; otherwise it must be left out or None.",
        "DL302 DL310",
        r"prefetch_factor option could only be specified in multiprocessing",
        r"prefetch_factor must be greater than 0",
    ),
    _seen(
        "Worker options without workers",
        "`multiprocessing_context` and `timeout` need `num_workers` above 0.",
        "DL303 DL310",
        r"multiprocessing_context can only be used with multi-process loading",
        r"SingleProcessDataLoaderIter requires timeout == 0",
    ),
    _seen(
        "Arguments that exclude each other",
        "A sampler, a batch sampler or an iterable Dataset decides about order and batches itself.",
        "DL304",
        r"is mutually exclusive with",
        r"dataloader with iterabledataset: expected unspecified",
    ),
    _seen(
        "A loader changed after it was made",
        "Most attributes of a DataLoader cannot be set later. Make another one.",
        "DL311",
        r"attribute should not be set after \w+ is initialized",
    ),
    _seen(
        "The start method is set twice",
        "Set it once, under the main guard.",
        "DL210",
        r"context has already been set",
    ),
    _seen(
        "More workers than CPUs",
        "More workers than CPUs cost memory and make nothing faster.",
        "DL305",
        r"suggested max number of worker",
    ),
    _seen(
        "Fewer workers than could be",
        "Lightning counts workers only. Measure an epoch with 0, 2, 4 and 8 workers before you change them.",
        "DL306",
        r"does not have many workers which may be a bottleneck",
    ),
    _seen(
        "Pinned memory without a GPU",
        "`pin_memory=True` has no use here. Write `pin_memory=torch.cuda.is_available()`.",
        "DL403",
        r"pin_memory argument is set as true but (?:no accelerator|not supported)",
    ),
    _seen(
        "A tensor is made of a list of arrays",
        "Make one array of them first.",
        "DL606",
        r"list of numpy\.ndarrays is extremely slow",
    ),
    _seen(
        "An archive or database that forked workers share",
        "Forked workers share the position and the locks of what was opened before. Open it in the worker.",
        "DL205",
        r"bad magic number for file header",
        r"badzipfile",
        r"mdb_(?:readers_full|bad_rslot)",
        r"error -3 while decompressing data",
    ),
    _seen(
        "A handle, lock or generator cannot be pickled",
        """Workers that are not forked get the Dataset pickled, and it keeps an open file, a connection, a lock, a
        generator or another handle. Python 3.14 also says which attribute. Open it in the worker on first use.""",
        "DL205 DL204 DL203",
        r"(?:h5py )?objects cannot be pickled",
        rf"{_NO_PICKLE} \w+ (?:object|instance)s?",
        rf"{_NO_PICKLE} [\w.]+\.[\w.]+ (?:object|instance)s?",
        r"cannot serialize [\w.]+ object",
        r"self\.\w+ cannot be converted to a python object for pickling",
    ),
    _seen(
        "A sample still has its graph",
        "A worker may send only tensors without a graph. Compute under `torch.no_grad()`, or call `detach()`.",
        "DL213",
        r"cowardly refusing to serialize non-leaf tensor",
    ),
    _seen(
        "The length of an iterable Dataset does not hold",
        "Each worker iterates over all of it: the samples come once per worker.",
        "DL601",
        r"length of iterabledataset .* was reported to be",
    ),
    _seen(
        "No worker info in the main process",
        "`get_worker_info()` is None without workers.",
        "DL610",
        r"nonetype object has no attribute (?:num_workers|id)\b",
    ),
    _seen(
        "A library that does not survive a fork",
        "It has threads or locks of its own. Use it in workers only, or start these by spawn or forkserver.",
        "DL209 DL205",
        r"this class is not fork-safe",
        r"is multi-threaded, use of fork\(\) may lead to deadlocks",
        r"current process just got forked, after parallelism has already been used",
    ),
    _seen(
        "The DataLoader timed out",
        """A worker gave no batch in `timeout` seconds: it hangs, or the first batch takes longer. Measure:
        `py-spy dump --pid PID` of the worker shows its line.""",
        "DL209 DL205 DL501 DL616",
        r"dataloader timed out after",
    ),
    _seen(
        "Only a child process can be tested",
        """Not the error itself: the iterator of a loader was copied into a forked process, and its clean-up runs there.
        Look for an exception above it. `del` the iterator before other processes are started. No rule finds this.""",
        "",
        r"can only (?:test|join) a child process",
    ),
    _seen(
        "The Dataset is empty",
        "The sampler got 0 samples. Print `len(dataset)`; as a rule a path or a pattern is wrong. No rule finds this.",
        "",
        r"num_samples should be a positive integer value, but got num_samples=0",
    ),
    _seen(
        "The default device is CUDA",
        """`torch.set_default_device("cuda")` makes the random sampler ask for a generator on CUDA. Pass
        `generator=torch.Generator(device="cuda")` to the DataLoader, or set no default device. No rule finds this.""",
        "",
        r"expected a cuda device type for generator but found cpu",
    ),
    _seen(
        "A worker ended before it got the Dataset",
        """The worker failed while it started, and the other side of the pipe reports that. The cause is in another
        traceback above or below: something that cannot be pickled, or a main module without a guard. With
        `num_workers=0` the program shows other errors directly.""",
        "DL206 DL204 DL201 DL205",
        r"eoferror: ran out of input",
        r"pickle data was truncated",
        r"\[errno 32\] broken pipe",
        r"connectionreseterror|\[errno 104\]|connection reset by peer",
    ),
    _seen(
        "A worker exited unexpectedly",
        """The worker is gone, and this message does not say why. Look for another message above it. On Windows and
        macOS it is mostly an import or a pickling error while workers start; on Linux mostly memory
        (`dmesg -T | grep -i oom`) or shared memory (`df -h /dev/shm`). With `num_workers=0` an exception of the
        Dataset shows its own traceback.""",
        "DL206 DL201 DL204 DL101 DL102 DL104",
        r"dataloader workers? (?:\(pids?(?:\(s\))? .*\) )?exited unexpectedly",
    ),
    _seen(
        "It hangs without a message",
        """A worker waits for a lock that a thread of the main process held when the worker was forked, or a retry never
        ends. Measure: `py-spy dump --pid PID` for a worker. Then try `multiprocessing_context="spawn"`: if it runs,
        a fork is the cause.""",
        "DL209 DL501 DL205 DL616",
        words=(r"\b(?:hang|hangs|hanging|hung|stuck|freezes|frozen|deadlocks?|deadlocked)\b",),
    ),
    _seen(
        "GPU use goes up and down, or stays low",
        """The GPU waits for batches. Measure the share of an iteration that passes before the batch is there, and an
        epoch with 0, 2, 4 and 8 workers. If only the first batches of each epoch are slow, workers are restarted.""",
        "DL306 DL605 DL309 DL401 DL606 DL614",
        words=(
            r"gpu.{0,40}(?:util|usage|use|load).{0,60}(?:up and down|drop|fluctuat|oscillat|low|\b0 ?%|zero|idle)",
            r"(?:low|poor) gpu (?:util|usage|use|load)",
            r"gpu.{0,30}(?:idle|starv|wait)",
        ),
    ),
    _seen(
        "Memory grows",
        """Within an epoch: forked workers copy the pages of Python objects that they read. From epoch to epoch: a
        cache, or batches that are kept. Measure `Pss` in `/proc/PID/smaps_rollup` of each process, not RSS, which
        counts shared pages several times.""",
        "DL101 DL102 DL104 DL611 DL103",
        words=(
            rf"{_NOT_OF_GPU}(?:memory|ram)\b.{{0,60}}(?:grow|increas|leak|keeps|climb|rises|rising)",
            rf"{_NOT_OF_GPU}(?:memory leak|out of (?:cpu memory|ram)\b)",
        ),
    ),
    _seen(
        "The first batch of each epoch is slow",
        "The workers are restarted for each epoch.",
        "DL309 DL308 DL206",
        words=(
            r"(?:first (?:batch|iteration)|start|beginning) of (?:each|every|an|the) epoch",
            r"between epochs",
        ),
    ),
    _seen(
        "Workers draw the same random numbers",
        "A generator that was made before the workers start is in the same state in each of them.",
        "DL602 DL603",
        words=(r"same (?:random|augment|crop|number|order)", r"identical (?:random|augment)"),
    ),
    _seen(
        "Samples come twice",
        "Each worker, or each process, iterates over all of an iterable Dataset.",
        "DL601 DL603",
        words=(
            r"duplicate(?:d|s)? (?:sample|data|batch|item)",
            r"(?:sample|data|batch|item)s? .{0,30}(?:twice|repeated)",
        ),
    ),
)
