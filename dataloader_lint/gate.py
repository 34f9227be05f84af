"""The bytes that a file must hold to be worth parsing. Runs on every file, so it imports next to nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# What a file can be about. A file about loading concerns every rule; one that only touches a subject beside it concerns
# the rules that name that subject, as `Rule.subjects`.
DEVICES = "devices"
DERIVED = "derived"
EVALUATIONS = "evaluations"
HOOKS = "hooks"
ITERATIONS = "iterations"
LOADING = "loading"
MEMOISING = "memoising"
OPENCV = "opencv"
RANDOM = "random"
STORES = "stores"
THREADS = "threads"
TRAINERS = "trainers"
TRANSFERS = "transfers"
TRANSFORMS = "transforms"
SPARED = "spared"  # of a file that was found out to be about nothing
# DERIVED is about no rule: the file has classes whose bases are elsewhere. Where such a base is a Dataset of the
# project, the file is about loading (`Session.derives_datasets`).
# What a file has something to say about by itself. The others matter where workers run what stands there, or where
# what loaders are given keeps it.
ON_ITS_OWN = frozenset({EVALUATIONS, HOOKS, ITERATIONS, LOADING, THREADS, TRAINERS, TRANSFERS})
SUBJECTS = frozenset(
    {
        *(DEVICES, DERIVED, EVALUATIONS, ITERATIONS, LOADING, MEMOISING, OPENCV, RANDOM, STORES, THREADS, TRANSFERS),
        *(HOOKS, TRAINERS, TRANSFORMS),
    }
)

# Searching for each word in turn is several times faster than one regular expression with alternatives.
_LOADING = (
    b"DataLoader",
    b"DataModule",
    b"DataPipe",
    b"Dataset",
    b"ImageFolder",
    b"torch_geometric.datasets",
    b"torchaudio.datasets",
    b"torchgeo.datasets",
    b"torchtext.datasets",
    b"torchvision.datasets",
    b"Loader(",
    b"loader(",
    b"loaders(",
    b"collate_fn",
    b"num_workers",
    b"dataloader_persistent_workers",
    b"dataloader_prefetch_factor",
    b"pin_memory",
    b"worker_init_fn",
    b"set_start_method",
    b"get_worker_info",
    b"set_epoch",
    b"torchdata",
    b"set_sharing_strategy",
)
_KEPT = (b"PIL", b"torchvision", b"transforms", b"defaultdict(lambda")
_SUBJECTS = (
    (HOOKS, (b"on_epoch_begin", b"on_train_epoch_")),  # of trainers; they may change what another file loads
    (MEMOISING, (b"lru_cache", b"functools.cache", b"import cache")),
    (OPENCV, (b"cv2",)),
    (RANDOM, (b"default_rng(", b"RandomState(", b"random.Random(", b"torch.Generator(", b"albumentations")),
    (
        STORES,
        (
            b"decord",
            b"gdal",
            b"h5py",
            b"lmdb",
            b"openslide",
            b"rasterio",
            b"open_file(",
            b"openFile(",
            b"sqlite3",
            b"tarfile",
            b"zipfile",
        ),
    ),
    (THREADS, (b"_NUM_THREADS", b"set_num_threads")),
)
# How files that name albumentations make what holds a generator; torchvision's pipelines hold none.
_PIPELINES = (b"Compose(", b"Sequential(")
_MOVES = (b".cuda(", b".to(")
_NO_GRADIENTS = (b"no_grad", b"inference_mode", b".eval()")
_FUNCTIONS = (b"lambda",)
# Ways to go over a loader that other files than the one that makes it use as well.
_ITERATING = (b"cycle(", b".next()")
_LEADING = (
    b"class Compose",
    b"Compose(",
    b"functools",
    b"default_rng",
    b"RandomState",
    b".to(",
    b"multiprocessing",
    b"backward(",
    b"optimizer_step(",
    b"set_default_",  # of the device, for what the file imports
    b".fit(",
    b"rainer(",  # makes a trainer, or one of a subclass, whose methods are given what makes the loaders
    b"_loader, ",  # takes loaders from one function to the next
)
# Moves to what is spelled as a data type, or as the device of another tensor, go to no device that is known.
_TRANSFER = (
    rb"\.cuda\(|\.to\(\s*(?!(?:dtype\s*=\s*)?(?:torch\.(?:b?float|int|long|half|double|bool|uint|complex)"
    rb"|[\w.]*\bdtype\b|(?!self\.|args\.|cfg\.|config\.)\w+\.device\s*[,)]))"
)
# What is moved may be a batch: there are loaders or epochs, a function that is given batches, a loop over what is
# called like data (`for x, y in data.train()`), an object that keeps items of what it is given (`self.real =
# data[0].to(...)`), or an item with a name (`data["image"].to(...)`). Networks, which move what is theirs, have none of
# these. A move that does not wait matters whatever it moves.
_MOVING = (b"oader", b"poch", b"non_blocking")
# Nothing may be looked for twice: of a line only the first `def` counts, and what stands in brackets has a bound.
_BATCHES = (
    rb"^(?>[^\n]*?\bdef\b)[^\n]*\bbatch|\.to\([^()]{0,200}\bTrue\b"
    rb"|\bself\.\w+\s*=\s*\w+\[[^\n\]]{0,200}\]\.(?:to|cuda)\("
    rb"|(?:\[|\.get\()[\"'][^\"'\n]{0,100}[\"'][\])]\.(?:to|cuda)\("
)
_DATA = (b"data", b"eval", b"split", b"test", b"train", b"valid")
# Bases that are no Datasets, whatever project they are in.
_OTHER_BASES = frozenset(
    b"ABC ABCMeta Enum Exception Function Generic IntEnum Module NamedTuple Optimizer Protocol RuntimeError Sequential"
    b" T TestCase Thread TypedDict ValueError abc autograd dict enum int list metaclass nn object optim str torch"
    b" threading tuple typing unittest".split()
)
# What code that reads samples has some of, if not torch or NumPy.
_READING = (b"__getitem__", b"__iter__", b"__len__", b"torch", b"numpy", b"listdir(", b"glob", b"open(", b"read_")


def subjects(source: bytes, words: tuple[bytes, ...] = ()) -> frozenset[str]:
    """What the rules could have something to say about in this file. Empty is certain, the rest only a maybe.

    `words` are the last parts of the names that the settings add (`Settings.extra_words`).
    """
    if b"\0" in source:  # UTF-16, or broken; either way the words must be found for the reader to hear about it
        source = source.replace(b"\0", b"")
    if any(word in source for word in _LOADING) or (words and any(word in source for word in words)):
        return frozenset({LOADING})
    found = {subject for subject, words in _SUBJECTS if any(word in source for word in words)}
    # Transforms and vocabularies that a Dataset of another file keeps.
    if any(word in source for word in _FUNCTIONS) and any(word in source for word in _KEPT):
        found.add(TRANSFORMS)
    # A file that moves batches may get its loader from elsewhere, and need not name torch either.
    if b".cuda(" in source or (b".to(" in source and (b"torch" in source or b"loader" in source)):
        import re

        if re.search(_TRANSFER, source):
            found.add(DEVICES)
            if (
                any(word in source for word in _MOVING)
                or re.search(_BATCHES, source, re.MULTILINE)
                or _loops_over_data(source)
            ):
                found.add(TRANSFERS)
    if any(word in source for word in _NO_GRADIENTS) and (b"oader" in source or _loops_over_data(source)):
        found.add(EVALUATIONS)
    if b"oader" in source and any(word in source for word in _ITERATING):
        found.add(ITERATIONS)
    if b"TrainingArguments" in source and b"_transform(" in source:
        found.add(TRAINERS)
    if b"\nclass " in source and any(word in source for word in _READING) and _has_other_base(source):
        found.add(DERIVED)
    return frozenset(found)


def _loops_over_data(source: bytes) -> bool:
    """True for `for x, y in data.train():`, `for batch in splits["valid"]:`."""
    import re

    for line in re.findall(rb"\n[ \t]+for[ \t]([^\n]{1,200})", source):
        names, _, iterated = line.partition(b" in ")
        is_batch = b"," in names or names.startswith(b"batch")
        if is_batch and b".items(" not in iterated and any(word in iterated for word in _DATA):
            return True
    return False


def _has_other_base(source: bytes) -> bool:
    """True if a class at the top of a file may derive from a Dataset of another file."""
    import re

    heads = re.findall(rb"\nclass[ \t]+\w+[ \t]*\(([^)]+)", source)
    return any(not _OTHER_BASES.issuperset(re.findall(rb"\w+", bases)) for bases in heads)


def words_about(about: frozenset[str]) -> frozenset[bytes]:
    """Words of which a statement holds one that is about such subjects, none of which is loading itself."""
    texts = [
        text
        for subject, several in (*_SUBJECTS, (DEVICES, _MOVES), (RANDOM, _PIPELINES), (TRANSFORMS, _FUNCTIONS))
        if subject in about
        for text in several
    ]
    return frozenset(text.rstrip(b"(").rpartition(b".")[2].rpartition(b" ")[2] for text in texts)


def may_matter(source: bytes, words: tuple[bytes, ...] = ()) -> bool:
    """True if any rule could report something in this file. False is certain, True is only a maybe."""
    return bool(subjects(source, words))


def may_lead_on(source: bytes) -> bool:
    """True if a file that cannot matter may hold what facts about other files depend on, such as calls of theirs."""
    return any(word in source for word in _LEADING)


class Gate:
    """What the files of a run are about; each is looked at once, by whoever comes to it first.

    `words` are those of the settings, as for `subjects`.
    """

    __slots__ = ("_about", "words")

    def __init__(self, words: tuple[bytes, ...] = ()) -> None:
        self.words = words
        self._about: dict[str, frozenset[str]] = {}

    def subjects(self, path: str, source: bytes) -> frozenset[str]:
        """What a file is about that holds this; its path is absolute."""
        found = self._about.get(path)
        if found is None:
            found = self._about[path] = subjects(source, self.words)
        return found

    def know(self, path: str, about: frozenset[str]) -> None:
        """Take in what `subjects` said of a file in an earlier run, when it held the same."""
        self._about.setdefault(path, about)

    def mentions_loading(self, path: str, read: Callable[[str], bytes]) -> bool:
        """True if a file is about loading; `read` gives what it holds, where nobody has come to it yet."""
        about = self._about.get(path)
        return LOADING in (subjects(read(path), self.words) if about is None else about)

    def turned_away(self, path: str) -> bool:
        """True if a file was read and cannot matter."""
        return path in self._about and not self._about[path]
