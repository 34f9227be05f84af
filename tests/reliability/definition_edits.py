"""Random edits of definitions that other files may use, and of what is between them: comments and blank lines."""

from __future__ import annotations

import random
import re
from pathlib import Path

from reliability.sequences import Edit, Sequence

_HEAD = re.compile(r"(?m)^(?:class|def) (\w+)")
_COMMENTS = ("# changed", "# noqa", "# noqa: DL101", "# DataLoader(num_workers=2)", "# class Base(Dataset):", '# """')


def _edited(sequence: Sequence, path: Path, lines: list[str]) -> None:
    sequence.put(path, "".join(lines))


def _lines(sequence: Sequence) -> tuple[Path, list[str]] | None:
    """A file and its lines; None where there is none with any."""
    path = sequence.file()
    lines = path.read_bytes().decode("utf-8", "replace").splitlines(keepends=True) if path is not None else []
    return (path, lines) if path is not None and lines else None


def _comment(sequence: Sequence) -> str:
    """A line more with a comment, in whatever it comes to stand."""
    found = _lines(sequence)
    if found is None:
        return ""
    path, lines = found
    place = sequence.chance.randrange(len(lines) + 1)
    text = sequence.chance.choice(_COMMENTS)
    indent = sequence.chance.choice(["", "    ", "        "])
    _edited(sequence, path, [*lines[:place], f"{indent}{text}\n", *lines[place:]])
    return f"{path.name}:{place}: {text}"


def _remark(sequence: Sequence) -> str:
    """A comment at the end of a line, or one less."""
    found = _lines(sequence)
    if found is None:
        return ""
    path, lines = found
    place = sequence.chance.randrange(len(lines))
    line = lines[place].rstrip("\n")
    text = sequence.chance.choice(_COMMENTS)
    lines[place] = f"{line.partition('  #')[0]}\n" if "  #" in line else f"{line}  {text}\n"
    _edited(sequence, path, lines)
    return f"{path.name}:{place}: {lines[place].strip()!r}"


def _blank_lines(sequence: Sequence) -> str:
    """A blank line more, or one less."""
    found = _lines(sequence)
    if found is None:
        return ""
    path, lines = found
    blank = [number for number, line in enumerate(lines) if not line.strip()]
    if blank and sequence.chance.random() < 0.4:
        del lines[sequence.chance.choice(blank)]
    else:
        lines.insert(sequence.chance.randrange(len(lines) + 1), sequence.chance.choice(["\n", "    \n"]))
    _edited(sequence, path, lines)
    return path.name


def _blocks(lines: list[str]) -> list[tuple[int, int]]:
    """Where the functions and classes at the top begin, decorators included, and end."""
    tops = [number for number, line in enumerate(lines) if line[:1].strip() and line[0] not in ")]}#'\""]
    starts = [each for each in tops if lines[each].startswith(("def ", "class ", "@"))]
    starts = [each for each in starts if not lines[each - 1].startswith("@")] if starts else []
    ends = {
        start: next((each for each in tops if each > start and not _goes_on(lines, each)), len(lines))
        for start in starts
    }
    return list(ends.items())


def _goes_on(lines: list[str], number: int) -> bool:
    return number > 0 and lines[number - 1].startswith("@")


def _reorder(sequence: Sequence) -> str:
    """A definition moves to another place in its file."""
    found = _lines(sequence)
    blocks = _blocks(found[1]) if found is not None else []
    if found is None or len(blocks) < 2:
        return ""
    path, lines = found
    (start, end), (other, _) = sequence.chance.sample(blocks, 2)
    block = lines[start:end]
    if other > start:
        _edited(sequence, path, [*lines[:start], *lines[end:other], *block, *lines[other:]])
    else:
        _edited(sequence, path, [*lines[:other], *block, *lines[other:start], *lines[end:]])
    return f"{path.name}: {block[0].strip()}"


def _change(sequence: Sequence, pattern: str, news: tuple[str, ...]) -> str:
    """What a pattern finds somewhere, with one of these in place of its first group."""
    found = _lines(sequence)
    if found is None:
        return ""
    path, text = found[0], "".join(found[1])
    places = list(re.finditer(pattern, text))
    if not places:
        return ""
    match, new = sequence.chance.choice(places), sequence.chance.choice(news)
    if match[1] == new:
        return ""
    _edited(sequence, path, [text[: match.start(1)], new, text[match.end(1) :]])
    return f"{path.name}: {match[1]!r} -> {new!r}"


def _base(sequence: Sequence) -> str:
    bases = ("(Dataset)", "", "(object)", "(IterableDataset)", "(Base)", "(nn.Module)")
    return _change(sequence, r"(?m)^class \w+(\([^()\n]*\)|)(?=:)", bases)


def _default(sequence: Sequence) -> str:
    return _change(sequence, r"(?m)^ *def [^\n]*?=\s*([\w.'\"]+)(?=[,)])", ("0", "4", "None", "True", "[]", "'fork'"))


def _decorator(sequence: Sequence) -> str:
    heads = ("@staticmethod\n", "@property\n", "@lru_cache(maxsize=None)\n", "@register\n", "")
    return _change(sequence, r"(?m)^((?:@[^\n]*\n)?)(?=def |class )", heads)


def _whole_body(sequence: Sequence) -> str:
    """A function comes to do something else."""
    bodies = ("return 1", "raise NotImplementedError", "return DataLoader(args[0], num_workers=2)", "pass", "yield 1")
    return _change(sequence, r"(?m)^ *def [^\n]*:\n(?: *\"\"\"[^\"]*\"\"\"\n)? +(\S[^\n]*)$", bodies)


def _at_the_top(sequence: Sequence) -> str:
    """A statement more at the top of a file."""
    path = sequence.file()
    if path is None:
        return ""
    text = path.read_bytes().decode("utf-8", "replace")
    names = _HEAD.findall(text) or ["x"]
    name = sequence.chance.choice(names)
    module = sequence.file()
    stem = module.stem if module is not None else "x"
    line = sequence.chance.choice(
        [
            f"__all__ = ['{name}']",
            "__all__ = []",
            f"from {stem} import *",
            f"{name} = None",
            f"{name}_too = {name}",
            f"class {name}_too({name}):\n    pass",
            f"def added(*args):\n    return {name}(*args)",
            "def added():\n    return 1",
            f"if True:\n    del {name}",
            "import multiprocessing\nmultiprocessing.set_start_method('spawn')",
        ]
    )
    where = random.Random(sequence.chance.random()).choice(["end", "start"])
    sequence.put(path, f"{text}\n\n{line}\n" if where == "end" else f"{line}\n{text}")
    return f"{path.name}: {line!r} at the {where}"


DEFINITION_EDITS: tuple[Edit, ...] = (
    *(3 * (_comment, _remark, _blank_lines)),
    *(2 * (_reorder, _base, _default, _decorator, _whole_body, _at_the_top)),
)
