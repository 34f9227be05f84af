"""The bytes that a file must hold to be worth parsing. Runs on every file, so it imports nothing."""

from __future__ import annotations

# One of these is in every file that a rule has something to say about. Searching for each in turn is several times
# faster than one regular expression with alternatives, and needs no `re`.
_WORDS = (
    b"DataLoader",
    b"Dataset",
    b"cv2",
    b"collate_fn",
    b"num_workers",
    b"pin_memory",
    b"worker_init_fn",
    b"set_start_method",
    b"h5py",
    b"lmdb",
    b"_NUM_THREADS",
    b"set_num_threads",
    b"default_rng",
    b"RandomState",
    b"get_worker_info",
    b"set_epoch",
    b"set_sharing_strategy",
    b"functools",  # memoising decorators on what workers call
)
_TRANSFERS = (b".cuda(", b".to(")
_IMAGES = (b"PIL", b"torchvision", b"transforms")


def may_matter(source: bytes) -> bool:
    """Whether any rule could have something to say about this file. False is certain, True is only a maybe."""
    if b"\0" in source:  # UTF-16, or broken; either way the words must be found for the reader to hear about it
        source = source.replace(b"\0", b"")
    if any(word in source for word in _WORDS):
        return True
    # Transforms that a Dataset of another file keeps.
    if b"lambda" in source and any(word in source for word in _IMAGES):
        return True
    # A file that moves batches may get its loader from elsewhere, and need not name torch either.
    return (b"torch" in source or b"loader" in source) and any(call in source for call in _TRANSFERS)
