"""Globs of settings: what `**/` and braces match, in every place where a glob may stand."""

from __future__ import annotations

import fnmatch
import random
import re
import time
from itertools import product
from pathlib import Path

import pytest

from commands import BAD, ONLY, here, run, write
from dataloader_lint.source.globs import MOST_ALTERNATIVES, UnfitGlobError, absolute, alternatives, matcher, split_list

__all__ = ["here"]

MATCHES = [
    ("**/x.py", "x.py a/x.py a/b/x.py", "ax.py a/bx.py x.pyi a/x.py/b"),
    ("a/**/x.py", "a/x.py a/b/x.py a/b/c/x.py", "ax.py b/a/x.py a/bx.py"),
    ("a/**/**/x.py", "a/x.py a/b/x.py a/b/c/x.py", "ax.py"),
    ("**/gen/**/x.py", "gen/x.py a/gen/x.py gen/a/x.py a/gen/b/c/x.py", "agen/x.py gena/x.py x.py"),
    ("a/**", "a/x.py a/b/x.py a/", "a ab/x.py"),
    ("a**/x.py", "a/x.py ab/c/x.py", "x.py ax.py"),
    ("{a,b}.py", "a.py b.py", "{a,b}.py c.py ab.py"),
    ("{a,b}/{x,y}.py", "a/x.py b/y.py", "a/z.py"),
    ("{a,b{c,d}}.py", "a.py bc.py bd.py", "b.py bc"),
    ("{**/,}x.py", "x.py a/x.py", "ax.py"),
    ("{a,}.py", "a.py .py", "{a,}.py"),
    ("{{cookiecutter.name}}/x.py", "{{cookiecutter.name}}/x.py", "cookiecutter.name/x.py"),
    ("{a.py", "{a.py", "a.py"),
    ("{a,b.py", "{a,b.py", "a.py"),
    ("[{]a,b}.py", "{a,b}.py", "a.py b.py"),
    ("[!a]/**/x.py", "b/x.py b/c/x.py", "a/x.py"),
    ("[**/]x", "*x /x", "ax x"),
    ("?.py", "a.py", ".py"),
]


@pytest.mark.parametrize(("glob", "inside", "outside"), MATCHES)
def test_what_a_glob_matches(glob: str, inside: str, outside: str) -> None:
    assert {text: matcher(glob)(text) for text in inside.split()} == dict.fromkeys(inside.split(), True)
    assert {text: matcher(glob)(text) for text in outside.split()} == dict.fromkeys(outside.split(), False)


def test_globs_of_one_star_are_those_of_fnmatch() -> None:
    chance = random.Random(7)
    texts = ["".join(each) for length in range(4) for each in product("ab/.", repeat=length)]
    for _ in range(300):
        glob = "".join(chance.choice(["a", "b", "/", ".", "*", "?", "[ab]", "[!a]", "[", "]"]) for _ in range(5))
        if "**/" not in glob:
            assert [matcher(glob)(text) for text in texts] == [fnmatch.fnmatchcase(text, glob) for text in texts], glob


def test_two_stars_are_any_number_of_folders() -> None:
    """Against a regular expression that says so, for globs without other stars."""
    chance = random.Random(11)
    for _ in range(300):
        parts = [chance.choice(["a", "b", "**"]) for _ in range(chance.randint(1, 4))] + [chance.choice("ab")]
        expected = "".join("(?:.*/)?" if part == "**" else f"{part}/" for part in parts[:-1]) + parts[-1]
        for length in range(1, 5):
            for names in product("ab", repeat=length):
                text = "/".join(names)
                assert matcher("/".join(parts))(text) == bool(re.fullmatch(expected, text)), (parts, text)


def test_too_many_alternatives_are_refused_and_the_rest_is_quick() -> None:
    for glob in ("**/a/" * 40, "{a,b}" * 40, "{" + "a," * 100 + "}", "{a,{b," * 40 + "}}" * 40):
        with pytest.raises(UnfitGlobError):
            alternatives(glob)
    assert len(alternatives("**/a/" * 6)) == MOST_ALTERNATIVES
    start = time.process_time()
    assert not matcher("**/a/" * 6 + "b")("a/" * 2_000)
    assert not matcher("*a" * 60 + "b")("a" * 4_000)
    for unclosed in ("{" * 100_000, "{,[" * 30_000, "{a}" * 30_000, "{" * 30_000 + "}" * 30_000):
        assert alternatives(unclosed) == [unclosed]
    assert time.process_time() - start < 10


def test_commas_in_braces_part_no_list() -> None:
    assert split_list("a,{b,c},d") == ["a", "{b,c}", "d"]
    assert split_list("{a,{b,c}},d") == ["{a,{b,c}}", "d"]
    assert split_list("{a,b") == ["{a", "b"]
    assert split_list("a},b") == ["a}", "b"]


def test_the_folder_of_the_settings_is_no_glob(tmp_path: Path) -> None:
    folder = tmp_path / "{a,b}[c]*?"
    assert matcher(absolute("**/x.py", str(folder)))(f"{folder}/x.py")
    assert not matcher(absolute("**/x.py", str(folder)))(f"{tmp_path}/a[c]*?/x.py")
    assert absolute("../x/*.py", "/a/b") == "/a/x/*.py"


@pytest.mark.thorough
@pytest.mark.usefixtures("here")
def test_in_all_settings() -> None:
    for name in ("x.py", "a/x.py", "a/b/x.py", "a/y.py", "a/z.py"):
        write(name, BAD)

    def reported(*options: str) -> list[str]:
        out = run(*ONLY, "--output-format", "concise", "--no-cache", *options)[1]
        return [line.split(":")[0] for line in out.splitlines() if "DL301" in line]

    everything = ["a/b/x.py", "a/y.py", "a/z.py", "x.py", "a/x.py"]
    assert sorted(reported()) == sorted(everything)
    for table in (
        'exclude = ["**/x.py"]',
        'extend-exclude = ["**/x.py"]',
        'per-file-ignores = {"**/x.py" = ["DL301"]}',
    ):
        write("pyproject.toml", f"[tool.dataloader-lint]\n{table}\n")
        assert reported() == ["a/y.py", "a/z.py"], table
    for table in (
        'exclude = ["{y,z}.py"]',
        'extend-exclude = ["a/{y,z}.py"]',
        'per-file-ignores = {"{y,z}.py" = ["DL3"]}',
    ):
        write("pyproject.toml", f"[tool.dataloader-lint]\n{table}\n")
        assert reported() == ["a/b/x.py", "a/x.py", "x.py"], table
    write("pyproject.toml", "")
    assert reported("--exclude", "**/x.py,{y,q}.py") == ["a/z.py"]
    assert reported("--per-file-ignores", "{**/x,a/y}.py:DL301") == ["a/z.py"]
    many = "**/a/" * 20
    code, out, err = run("--exclude", many)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "it expands to more than 64 globs with its `**/` and braces" in err
