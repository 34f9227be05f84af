"""However deep names, calls and classes lead to one another: what is too deep is unknown, and no error.

The other findings of the file stay, with Python's own limit on recursion, and where the caller is deep already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dataloader_lint.diagnostics import Diagnostic
from dataloader_lint.engine.linter import examine
from dataloader_lint.rules.registry import INTERNAL_ERROR, UNREADABLE_FILE
from dataloader_lint.settings import Settings
from reliability.sweep import EVERY_RULE
from reliability.test_scale import BARS, HEAD

END = "DataLoader(x, num_workers=w, persistent_workers=True)"
LINE = "    return DataLoader(d, num_workers=0, persistent_workers=True)  # it is reported whatever else is there\n"
DECOY = f"\ndef decoy(d):\n{LINE}"


def times(number: int, lines: str) -> str:
    """Lines for each number, with `{}` for it, `{+}` for the next one and `{-}` for the one before."""
    return "".join(
        lines.replace("{}", str(each)).replace("{+}", str(each + 1)).replace("{-}", str(each - 1))
        for each in range(number)
    )


# By what leads on: code in which so many of them lead to a loader or to what it loads. Python allows less of some.
CHAINS: dict[str, Callable[[int], str]] = {
    "calls": lambda n: (
        times(n, "def f{}(x, w):\n    return f{+}(x, w)\n") + f"def f{n}(x, w):\n    return {END}\nf0([1], 0)\n"
    ),
    "calls up": lambda n: (
        f"def f0(x, w):\n    return {END}\n" + times(n, "def f{+}(x, w):\n    return f{}(x, w)\n") + f"f{n}([1], 0)\n"
    ),
    "results": lambda n: "def f0(): return 0\n" + times(n, "def f{+}():\n    return f{}()\n") + f"w = f{n}()\n{END}\n",
    "results args": lambda n: (
        "def f0(x): return x\n" + times(n, "def f{+}(x):\n    return f{}(x)\n") + f"w = f{n}(0)\n{END}\n"
    ),
    "aliases": lambda n: "a0 = 0\n" + times(n, "a{+} = a{}\n") + f"w = a{n}\n{END}\n",
    "aliases fn": lambda n: (
        "a0 = 0\ndef f(x):\n    a0 = 0\n" + times(n, "    a{+} = a{}\n") + f"    w = a{n}\n    {END}\n"
    ),
    "alias of loader": lambda n: (
        "l0 = DataLoader(x, num_workers=2, pin_memory=True)\n"
        + times(n, "l{+} = l{}\n")
        + f"for b in l{n}:\n    b.cuda()\n"
    ),
    "alias class": lambda n: (
        BARS.replace("{}", "0") + times(n, "Bars{+} = Bars{}\n") + f"DataLoader(Bars{n}(1), num_workers=2)\n"
    ),
    "attr chain": lambda n: "x = a" + ".b" * min(n, 2900) + "\nDataLoader(x, num_workers=x, persistent_workers=x)\n",
    "call chain expr": lambda n: (
        "x = a" + ".b()" * min(n, 1400) + "\nDataLoader(x, num_workers=x, persistent_workers=x)\n"
    ),
    "sub chain": lambda n: "x = a" + "[0]" * min(n, 1400) + "\nDataLoader(x, num_workers=x, persistent_workers=x)\n",
    "binop": lambda n: "w = " + " + ".join(["a"] * min(n, 2900)) + f"\n{END}\n",
    "boolop": lambda n: "w = " + " or ".join(["a"] * min(n, 2900)) + f"\n{END}\n",
    "not": lambda n: "w = " + "not " * min(n, 900) + f"0\n{END}\n",
    "ifexp": lambda n: "w = " + "0 if a else " * min(n, 900) + f"0\n{END}\n",
    "calls nested": lambda n: "def i(x): return x\nw = " + "i(" * min(n, 90) + "0" + ")" * min(n, 90) + f"\n{END}\n",
    "dicts nested": lambda n: (
        "w = " + "{'a': " * min(n, 90) + "0" + "}" * min(n, 90) + "['a']" * min(n, 90) + f"\n{END}\n"
    ),
    "subclasses": lambda n: (
        BARS.replace("{}", "0")
        + times(n, "class Bars{+}(Bars{}):\n    pass\n")
        + f"DataLoader(Bars{n}('x'), num_workers=2)\n"
    ),
    "subclasses super": lambda n: (
        BARS.replace("{}", "0")
        + times(
            n,
            "class Bars{+}(Bars{}):\n    def __init__(self, root):\n        super().__init__(root)\n"
            "        self.q{} = os.listdir(root)\n    def __getitem__(self, i): return super().__getitem__(i)\n",
        )
        + f"DataLoader(Bars{n}('x'), num_workers=2)\n"
    ),
    "dl subclasses": lambda n: (
        "class L0(DataLoader):\n    pass\n"
        + times(n, "class L{+}(L{}):\n    def __init__(self, d, **kw):\n        super().__init__(d, **kw)\n")
        + f"L{n}(x, num_workers=0, persistent_workers=True)\n"
    ),
    "kwargs wrappers": lambda n: (
        "def f0(x, **kw):\n    return DataLoader(x, **kw)\n"
        + times(n, "def f{+}(x, **kw):\n    return f{}(x, **kw)\n")
        + f"f{n}([1], num_workers=0, persistent_workers=True)\n"
    ),
    "dict copies": lambda n: (
        "k0 = dict(num_workers=0)\n"
        + times(n, "k{+} = dict(k{}, a{}=1)\n")
        + f"DataLoader(x, persistent_workers=True, **k{n})\n"
    ),
    "nested fns": lambda n: (
        "".join(" " * i + f"def f{i}(x, w):\n" for i in range(min(n, 95))) + " " * min(n, 95) + END + "\nf0([1], 0)\n"
    ),
    "nested classes": lambda n: (
        "".join(" " * i + f"class C{i}:\n" for i in range(min(n, 95)))
        + " " * min(n, 95)
        + "w = 0\nx = C0"
        + "".join(f".C{i}" for i in range(1, min(n, 95)))
        + "\nDataLoader(d, num_workers=x.w, persistent_workers=True)\n"
    ),
    "comps": lambda n: (
        "x0 = [1]\n"
        + times(n, "x{+} = [y for y in x{}]\n")
        + f"DataLoader(x{n}, num_workers=2)\nclass D(Dataset):\n    def __init__(self): self.p = x{n}\n"
        "    def __getitem__(self, i): return self.p[i]\nDataLoader(D(), num_workers=2)\n"
    ),
    "comps nested": lambda n: (
        "x = " + "[a for a in " * min(n, 80) + "b" + "]" * min(n, 80) + "\nDataLoader(x, num_workers=2)\n"
    ),
    "properties": lambda n: (
        "class C:\n    def __init__(self): self.p0 = 0\n"
        + times(n, "    @property\n    def p{+}(self): return self.p{}\n")
        + f"w = C().p{n}\n{END}\n"
    ),
    "methods": lambda n: (
        "class C:\n    def m0(self): return 0\n"
        + times(n, "    def m{+}(self): return self.m{}()\n")
        + f"w = C().m{n}()\n{END}\n"
    ),
    "methods worker": lambda n: (
        "class C(Dataset):\n    def __init__(self, r): self.p = os.listdir(r)\n    def m0(self, i): return self.p[i]\n"
        + times(n, "    def m{+}(self, i): return self.m{}(i)\n")
        + f"    def __getitem__(self, i): return self.m{n}(i)\nDataLoader(C('x'), num_workers=2)\n"
    ),
    "methods init": lambda n: (
        "class C(Dataset):\n    def m0(self, r): self.p = os.listdir(r)\n"
        + times(n, "    def m{+}(self, r): self.m{}(r)\n")
        + f"    def __init__(self, r): self.m{n}(r)\n"
        "    def __getitem__(self, i): return self.p[i]\nDataLoader(C('x'), num_workers=2)\n"
    ),
    "attrs": lambda n: (
        "class C(Dataset):\n    def __init__(self, r):\n        self.a0 = os.listdir(r)\n"
        + times(n, "        self.a{+} = self.a{}\n")
        + f"    def __getitem__(self, i): return self.a{n}[i]\nDataLoader(C('x'), num_workers=2)\n"
    ),
    "wrapped datasets": lambda n: (
        BARS.replace("{}", "") + "class W(Dataset):\n    def __init__(self, d): self.d = d\n"
        "    def __getitem__(self, i): return self.d[i]\nd0 = Bars('x')\n"
        + times(n, "d{+} = W(d{})\n")
        + f"DataLoader(d{n}, num_workers=2)\n"
    ),
    "wrapped nested": lambda n: (
        BARS.replace("{}", "") + "class W(Dataset):\n    def __init__(self, d): self.d = d\n"
        "    def __getitem__(self, i): return self.d[i]\nDataLoader("
        + "W(" * min(n, 90)
        + "Bars('x')"
        + ")" * min(n, 90)
        + ", num_workers=2)\n"
    ),
    "wrapper classes": lambda n: (
        BARS.replace("{}", "0")
        + times(
            n,
            "class Bars{+}(Dataset):\n    def __init__(self, r): self.d = Bars{}(r)\n"
            "    def __getitem__(self, i): return self.d[i]\n",
        )
        + f"DataLoader(Bars{n}('x'), num_workers=2)\n"
    ),
    "defaults": lambda n: (
        "def f0(w=0): return w\n" + times(n, "def f{+}(w=f{}()): return w\n") + f"w = f{n}()\n{END}\n"
    ),
    "decorators": lambda n: (
        times(n, "def d{+}(f):\n    return d{}(f)\n") + f"@d{n}\ndef f(x, w=0):\n    return {END}\nf([1])\n"
    ),
    "decorators in a circle": lambda n: (
        times(n, "def d{}(f):\n    return d{+}(f)\n")
        + f"def d{n}(f):\n    return d0(f)\n@d{n}\ndef f(x, w=0):\n    return {END}\nf([1])\n"
    ),
    "partials": lambda n: (
        "from functools import partial\nf0 = partial(DataLoader, num_workers=0)\n"
        + times(n, "f{+} = partial(f{}, timeout={})\n")
        + f"f{n}(x, persistent_workers=True)\n"
    ),
    "tuples": lambda n: (
        "t0 = (0,)\n" + times(n, "t{+} = (t{}, 1)\n") + f"w = t{n}" + "[0]" * min(n, 1400) + f"\n{END}\n"
    ),
    "self assign": lambda n: "w = 0\n" + times(n, "w = w + 1\n") + f"{END}\n",
    "ctor chain": lambda n: (
        times(n, "class C{}:\n    def __init__(self, x, w): self.c = C{+}(x, w)\n")
        + f"class C{n}:\n    def __init__(self, x, w): self.l = {END}\nC0([1], 0)\n"
    ),
    "loader passed on": lambda n: (
        times(n, "def f{}(l):\n    f{+}(l)\n") + f"def f{n}(l):\n    for e in range(3):\n        for b in l:\n"
        "            b = b.cuda()\nf0(DataLoader(d, num_workers=2, pin_memory=True))\n"
    ),
    "batch passed on": lambda n: (
        times(n, "def f{}(l):\n    f{+}(l)\n")
        + f"def f{n}(l):\n    l.cuda()\nfor b in DataLoader(d, num_workers=2, pin_memory=True):\n    f0(b)\n"
    ),
    "collate wrappers": lambda n: (
        "def c0(f): return lambda b: f(b)\n"
        + times(n, "def c{+}(f): return c{}(f)\n")
        + f"DataLoader(d, num_workers=2, collate_fn=c{n}(str))\n"
    ),
    "helpers random": lambda n: (
        "import random\ndef h0(): return random.random()\n"
        + times(n, "def h{+}(): return h{}()\n")
        + f"class D(Dataset):\n    def __getitem__(self, i): return h{n}()\nDataLoader(D(), num_workers=2)\n"
    ),
    "yield from": lambda n: (
        "def g0():\n    yield DataLoader(d, num_workers=0, persistent_workers=True)\n"
        + times(n, "def g{+}():\n    yield from g{}()\n")
        + f"for l in g{n}():\n    for b in l: b.cuda()\n"
    ),
    "samples": lambda n: (
        "class D(Dataset):\n    def __init__(self, r): self.p = os.listdir(r)\n"
        "    def __getitem__(self, i):\n        x0 = self.p[i]\n"
        + times(n, "        x{+} = x{} + 1\n")
        + f"        return x{n}\nDataLoader(D(1), num_workers=2)\n"
    ),
    "samples ix": lambda n: (
        "class D(Dataset):\n    def __init__(self, r): self.p = os.listdir(r)\n    def __getitem__(self, x0):\n"
        + times(n, "        x{+} = x{} + 1\n")
        + f"        return self.p[x{n}]\nDataLoader(D(1), num_workers=2)\n"
    ),
    "lambdas chain": lambda n: (
        "f0 = lambda b: b\n"
        + times(n, "f{+} = lambda b: f{}(b)\n")
        + f"DataLoader(d, num_workers=2, collate_fn=f{n})\n"
    ),
    "global reads": lambda n: (
        "G0 = 0\n"
        + times(n, "def s{}():\n    global G{+}\n    G{+} = G{}\n")
        + f"DataLoader(d, num_workers=G{n}, persistent_workers=True)\n"
    ),
    "metaclass type": lambda n: (
        BARS.replace("{}", "0")
        + times(n, "Bars{+} = type('Bars{+}', (Bars{},), dict())\n")
        + f"DataLoader(Bars{n}('x'), num_workers=2)\n"
    ),
}


def found(code: str, path: str = "/nonexistent/a.py") -> list[Diagnostic]:
    text = HEAD + code + DECOY
    diagnostics = examine(text, path, EVERY_RULE).diagnostics
    failed = [one for one in diagnostics if one.code in (INTERNAL_ERROR, UNREADABLE_FILE)]
    assert not [one.message for one in failed if "200 base classes" not in one.problem]  # which is only said
    place = text[: text.index(LINE)].count("\n") + 1
    assert "DL301" in {one.code for one in diagnostics if one.start.line == place}
    return diagnostics


def at_depth(depth: int, work: Callable[[], object]) -> None:
    if depth:
        at_depth(depth - 1, work)
    else:
        work()


@pytest.mark.parametrize("number", [1, 20, 50, 90, 300])
@pytest.mark.parametrize("chain", CHAINS)
def test_chains(chain: str, number: int) -> None:
    assert sys.getrecursionlimit() <= 1_000, "the test would prove nothing"
    found(CHAINS[chain](number))


@pytest.mark.long
@pytest.mark.parametrize("number", [1_000, 5_000])
@pytest.mark.parametrize("chain", CHAINS)
def test_long_chains(chain: str, number: int) -> None:
    found(CHAINS[chain](number))


@pytest.mark.parametrize("chain", ["calls", "kwargs wrappers", "samples ix", "subclasses super"])
def test_the_caller_is_deep_already(chain: str) -> None:
    """As for flake8 and editors: neither an error nor another answer."""
    code = CHAINS[chain](90)
    limit = sys.getrecursionlimit()
    known = found(code)

    def work() -> None:
        assert found(code) == known

    at_depth(800, work)
    assert sys.getrecursionlimit() == limit


def test_short_chains_are_followed() -> None:
    """As before: what is known at the other end of these is no more unknown than it was."""
    assert len([one for one in found(CHAINS["aliases"](80)) if one.code == "DL301"]) == 2
    assert len([one for one in found(CHAINS["calls"](10)) if one.code == "DL301"]) == 2


def test_chains_of_modules(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").touch()
    (tmp_path / "m0.py").write_text("W = 0\n", encoding="utf-8")
    for number in range(1, 150):
        (tmp_path / f"m{number}.py").write_text(f"from m{number - 1} import W\n", encoding="utf-8")
    found("from m149 import W\nDataLoader(x, num_workers=W, persistent_workers=True)\n", str(tmp_path / "a.py"))


def test_all_of_many_bases_count() -> None:
    """Sixty mixins that keep a list each are sixty findings."""
    mixins = times(
        60,
        "class M{}:\n    def __init__(self, r):\n        super().__init__(r)\n"
        "        self.p{} = sorted(os.listdir(r))\n",
    )
    bases, reads = times(60, "M{}, "), times(60, "self.p{}[i], ")
    code = f"{mixins}class D({bases}Dataset):\n    def __getitem__(self, i):\n        return ({reads})\n"
    diagnostics = found(f"{code}DataLoader(D('x'), num_workers=2)\n")
    assert len([one for one in diagnostics if one.code == "DL101"]) == 60


def test_a_class_with_too_many_bases_is_said() -> None:
    for number in (199, 200, 250):
        mixins = "".join(
            f"class M{each}:\n    def __init__(self, r):\n        self.p{each} = sorted(os.listdir(r))\n"
            for each in range(number)
        )
        names = ", ".join(f"M{each}" for each in range(number))
        reads = ", ".join(f"self.p{each}[i]" for each in range(number))
        source = (
            f"import os\nfrom torch.utils.data import DataLoader, Dataset\n{mixins}"
            f"class D(Dataset, {names}):\n    def __getitem__(self, i):\n        return ({reads})\n"
            "DataLoader(D('x'), num_workers=2)\n"
        )
        found = examine(source, "/nonexistent/a.py", Settings(select=("DL000", "DL101"))).diagnostics
        said = [one for one in found if one.code == "DL000"]
        assert len(said) == (number >= 200)
        for one in said:
            assert one.start.line == 3 + 3 * number
            assert one.problem.startswith("this class has more than 200 base classes")
