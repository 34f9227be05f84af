"""What a run without findings has looked at, where that is no DataLoader that this linter knows.

Asked only then. The first file with a DataLoader ends the search, so that most projects pay for a few files.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dataloader_lint.settings import Settings

_LOADING = (b"oader", b"ataset", b"Trainer")
_OWN_LOADER = rb"(?m)^class[ \t]+(\w*Loader)\b"
# The arguments of a call, with calls among them.
_ARGUMENTS = rb"\((?:[^()]|\([^()]{0,200}\)){0,500}?\b(?:batch_size|num_workers)\b"
_MOST_NAMED = 3


def remarks(files: Sequence[str], settings: Settings) -> tuple[str, list[str]]:
    """What to say behind "All checks passed!", and lines for below it; empty where a file holds a known DataLoader.

    It is told by words alone: one in a comment counts as well, and then nothing is claimed.
    """
    from dataloader_lint.engine.run import content

    known = (b"DataLoader", *settings.extra_words)
    about_loading: dict[str, bytes] = {}
    for path in files:
        source = content(path)
        if any(word in source and _has_word(source, word) for word in known):
            return "", []
        if any(word in source for word in _LOADING):
            about_loading[path] = source
    if not files or any(map(_holds_known_loader, about_loading.values())):
        return "", []
    has_dataset = any(_has_word(source, rb"\w*(?:Dataset|datasets)") for source in about_loading.values())
    count = len(files)
    kinds = "DataLoader" if has_dataset else "DataLoader or Dataset"
    where = f"{count} file{'' if count == 1 else 's'}, no {kinds} in {'it' if count == 1 else 'them'}."
    return where, list(_own_loaders(about_loading)) if about_loading else []


def _has_word(source: bytes, pattern: bytes) -> bool:
    import re  # few runs that find nothing need it, and it takes as long as they do

    return re.search(rb"\b%s\b" % pattern, source) is not None


def _holds_known_loader(source: bytes) -> bool:
    """True if the text may make a loader of a library: its name and that of its package are there."""
    import re

    from dataloader_lint.semantics.libraries.catalogue import LOADERS, TRAINER_OPTIONS, TRAINERS

    words = frozenset(re.findall(rb"\w+", source))
    for name in (*LOADERS, *TRAINER_OPTIONS, *TRAINERS):
        package, _, rest = name.partition(".")
        if package.encode() in words and rest.rpartition(".")[2].encode() in words:
            return True
    return False


def _own_loaders(sources: dict[str, bytes]) -> Iterator[str]:
    """A line for each class of the files that is called like a loader and made with arguments of one."""
    import re

    defined = {name: path for path, source in sources.items() for name in re.findall(_OWN_LOADER, source)}
    made = (
        name
        for name in sorted(defined)
        if any(name in source and re.search(rb"\b%s%s" % (name, _ARGUMENTS), source) for source in sources.values())
    )
    for _, name in zip(range(_MOST_NAMED), made, strict=False):
        text = name.decode("utf-8", "replace")
        whole = f"{_module_of(defined[name])}.{text}"
        yield f"`{text}` is not known. If it takes the arguments of DataLoader: --extend-dataloaders {whole}"


def _module_of(path: str) -> str:
    folder, file = os.path.split(os.path.abspath(path))
    parts = [] if file == "__init__.py" else [os.path.splitext(file)[0]]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    return ".".join(parts)
