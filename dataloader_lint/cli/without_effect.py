"""Options that change nothing: for rules that are off, or with names that the project does not hold.

A spelling mistake in the name of a loader, a Dataset, or a class with a number of samples would go unnoticed.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataloader_lint.settings import Settings

_ADDED = ("extend_dataloaders", "extend_datasets", "extend_iterable_datasets")
# The rules that an option is about.
_RULES = {
    "max_workers": ("DL305",),
    "max_prefetched_batches": ("DL307",),
    "samples": ("DL101", "DL102", "DL103"),
    "memory_threshold": ("DL101", "DL102", "DL103"),
}
# Names among several that are assigned, and names that are imported, on one line or in brackets.
_ASSIGNED = rb"(?m)^[\w \t,.*()\[\]]{0,200}\b%s\b[\w \t,.*)\]]{0,200}=(?!=)"
_IMPORTED = rb"(?m)^[ \t]*(?:from\b[^\n]*\b)?import\b(?:[ \t]*\([^)]*|[^\n]*)\b%s\b"
_DEFINED = rb"(?m)^[ \t]*(?:async[ \t]+def|def|class)[ \t]+(%s)\b|^[ \t]*(%s)[ \t]*(?::[^=\n]+)?="


def for_rules_off(given: frozenset[str], settings: Settings) -> Iterator[str]:
    """What to say of each given setting that is only about rules that are off, a line for each."""
    if given.isdisjoint(_RULES):
        return
    from dataloader_lint.rules.selection import selected_rules

    on = {found.rule.code for found in selected_rules(settings)}
    for key, codes in _RULES.items():
        if key in given and on.isdisjoint(codes):
            verb = "is" if len(codes) == 1 else "are"
            yield f"{key.replace('_', '-')}: {', '.join(codes)} {verb} off; use --extend-select {','.join(codes)}"


def unmatched(settings: Settings) -> Iterator[str]:
    """What is wrong with the names in the settings, a line for each.

    A qualified name whose first part is no package or module of the project may be that of a library that is not
    installed: nothing is said of it.
    """
    if not (settings.samples or settings.extra_words):
        return
    from dataloader_lint.source.projects import Roots

    project = Roots(settings.roots).of(os.getcwd())
    folders = tuple(dict.fromkeys((project, os.path.join(project, "src"), *settings.src, *settings.roots)))
    for key in _ADDED:
        for name in getattr(settings, key):
            problem = _problem(name, folders)
            if problem:
                yield f"{key.replace('_', '-')}: {problem}"
    globs = [glob for glob, _ in settings.samples if glob != "*"]
    if globs:
        for glob in _without_class(globs, project):
            yield f"samples: the project has no class {glob!r}"


def _problem(name: str, folders: tuple[str, ...]) -> str:
    """Why a qualified name means nothing; empty if it means something, or comes from elsewhere."""
    from dataloader_lint.engine.run import content

    first, *others = name.split(".")
    for folder in folders:
        base = os.path.join(folder, first)
        if not (os.path.isdir(base) or os.path.isfile(f"{base}.py")):
            continue
        length = 1
        while length < len(others) and _is_module(os.path.join(base, *others[:length])):
            length += 1
        path = os.path.join(folder, first, *others[: length - 1])
        text = content(f"{path}.py") or content(os.path.join(path, "__init__.py"))
        if not text and not os.path.isfile(os.path.join(path, "__init__.py")):
            continue  # a folder of the same name, such as one with data
        module, rest = ".".join([first, *others[: length - 1]]), others[length - 1]
        return "" if _is_compiled(path, rest) else _in_module(module, rest, text)
    return ""


def _in_module(module: str, name: str, text: bytes) -> str:
    word = name.encode()
    if re.search(_DEFINED % (word, word), text) or re.search(_ASSIGNED % word, text):
        return ""
    if re.search(_IMPORTED % word, text):
        return f"{module} only imports {name}: name the module that defines it"
    if re.search(rb"\b%s\b|(?m:^from .* import \*)" % word, text):
        return ""
    from dataloader_lint.source.key import suggestion

    known = {(one or other).decode() for one, other in re.findall(_DEFINED % (rb"\w+", rb"\w+"), text)}
    return f"{module} defines no {name}{suggestion(name, sorted(known))}"


def _is_compiled(folder: str, name: str) -> bool:
    """True if a folder holds a file of that name that is no source file, such as `data.cpython-313-darwin.so`."""
    try:
        files = os.listdir(folder)
    except OSError:  # a module, or no folder to look into
        return False
    return any(file.startswith(f"{name}.") and not file.endswith(".py") for file in files)


def _is_module(path: str) -> bool:
    return os.path.isdir(path) or os.path.isfile(f"{path}.py")


def _without_class(globs: list[str], project: str) -> list[str]:
    """The globs that match no word of the project's files: a class of a library is named where it is used."""
    from dataloader_lint.engine.run import content
    from dataloader_lint.source.globs import matcher
    from dataloader_lint.source.projects import contents_of

    left = {glob: matcher(glob) for glob in globs}
    seen: set[bytes] = set()
    for path in (each for several in contents_of(project) for each in several):
        if not left:
            break
        new = {*re.findall(rb"\b[^\W\d]\w*", content(path))} - seen
        seen |= new
        words = [word.decode() for word in new]
        left = {glob: test for glob, test in left.items() if not any(map(test, words))}
    return list(left)
