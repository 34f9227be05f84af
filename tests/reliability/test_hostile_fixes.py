"""Programs against fixes: run before and after, in four layouts of the text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reliability.fix_programs import Program, compared, fixed
from reliability.hostile_fixes import PROGRAMS


def _with_tabs(text: str) -> str:
    lines = text.split("\n")
    return "\n".join("\t" * ((len(each) - len(each.lstrip(" "))) // 4) + each.lstrip(" ") for each in lines)


LAYOUTS: dict[str, Callable[[str], bytes]] = {
    "plain": lambda text: text.encode(),
    "windows": lambda text: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
    "tabs": lambda text: _with_tabs(text).encode(),
    "last line": lambda text: text.rstrip("\n").encode(),
}


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_hostile_programs(unsafe: bool, tmp_path: Path) -> None:
    programs: list[Program] = []
    for files in PROGRAMS.values():
        for layout in LAYOUTS.values():
            program = Program(len(programs), {name: layout(text) for name, text in files.items()})
            fixed(program, tmp_path / "fixing" / str(program.seed), unsafe)
            programs.append(program)
    compared([each for each in programs if each.after != each.before], tmp_path / "running", unsafe, everywhere=True)
    wrong = [each for each in programs if each.complaints]
    assert not wrong, "\n\n".join(map(str, wrong[:5]))
    assert sum(each.after != each.before for each in programs) > 30
