"""Shapes of code whose cost must grow in line with their size: each gives a program with so many parts."""

from __future__ import annotations

from collections.abc import Callable


def times(number: int, line: str) -> str:
    """A line for each number; `{}` is the number, `{+}` the next one."""
    return "".join(line.replace("{+}", str(each + 1)).replace("{}", str(each)) for each in range(number))


ROWS = (
    "class D{}(Dataset):\n    def __init__(self, r):\n        self.p = list(open(r))\n"
    "    def __getitem__(self, i):\n        return self.p[i]\n"
)
OPTIONS = "def f(d, a):\n    kw = dict(num_workers=0)\n"
MADE = "    DataLoader(d, **kw)\n"
ZERO = "DataLoader(d, num_workers={}, persistent_workers=True)\n"


def worker_code(lines: str, fields: str = "") -> str:
    """A Dataset that runs some lines for each sample, and binds some fields before."""
    return (
        f"class D(Dataset):\n    def __init__(self, r):\n        self.r = list(open(r))\n{fields}"
        f"    def __getitem__(self, i):\n{lines}        return i\nDataLoader(D('x'), num_workers=2)\n"
    )


SHAPES: dict[str, Callable[[int], str]] = {
    "attributes": lambda n: worker_code(
        times(n, "        x = self.p{}[i]\n"), times(n, "        self.p{} = list(open(r))\n")
    ),
    "handles": lambda n: worker_code(
        times(n, "        x = self.h{}.read()\n"), times(n, "        self.h{} = open(r)\n")
    ),
    "comprehensions": lambda n: worker_code(
        times(n, "        x{} = [y for y in self.q{} if y]\n"),
        times(n, "        self.q{} = [str(z) for z in open(r)]\n"),
    ),
    "with blocks": lambda n: worker_code(
        times(n, "        with open(self.r[i]) as f{}:\n            x = f{}.read()\n")
    ),
    "with items": lambda n: f"with {', '.join(f'open({k}) as f{k}' for k in range(n))}:\n    {ZERO.replace('{}', '0')}",
    "f-strings": lambda n: worker_code(times(n, "        x = f'{self.r[i]}{i:{i}}' f'{self.r[{}]}'\n")),
    "calls in a chain": lambda n: (
        times(n, "def f{}(x, w):\n    return f{+}(x, w)\n")
        + f"def f{n}(x, w):\n    return DataLoader(x, num_workers=w, persistent_workers=True)\nf0([1], 0)\n"
    ),
    "callers": lambda n: (
        "def f(d, **kw):\n    return DataLoader(d, **kw)\n"
        + times(n, "def g{}(d):\n    for x in f(d, num_workers=0, pin_memory=True):\n        x.cuda()\n")
    ),
    "nested functions": lambda n: (
        "def f(d):\n"
        + times(n, "    def g{}(b):\n        return b + d\n    l{} = DataLoader(d, num_workers=2, collate_fn=g{})\n")
    ),
    "decorated functions": lambda n: (
        "import functools\ndef deco(f):\n    @functools.wraps(f)\n    def w(*a, **k):\n"
        "        return f(*a, **k)\n    return w\n"
        + times(n, "@deco\ndef make{}(d, k):\n    return DataLoader(d, num_workers=k, timeout=1)\nmake{}([1], 0)\n")
    ),
    "mixins": lambda n: (
        times(
            n,
            "class M{}:\n    def set{}(self, r):\n        self.p{} = list(open(r))\n"
            "    def get{}(self, i):\n        return self.p{}[i]\n",
        )
        + f"class D({times(n, 'M{}, ')}Dataset):\n    def __init__(self, r):\n"
        + times(n, "        self.set{}(r)\n")
        + "    def __getitem__(self, i):\n"
        + times(n, "        x = self.get{}(i)\n")
        + "        return x\n"
        + "DataLoader(D('x'), num_workers=2)\n"
    ),
    "classes in one elif": lambda n: (
        times(n, ROWS)
        + "def f(a):\n    if a == '': d = None\n"
        + times(n, "    elif a == {}:\n        d = D{}('x')\n")
        + "    return DataLoader(d, num_workers=2)\n"
    ),
    "classes in a table": lambda n: (
        times(n, ROWS)
        + "R = {"
        + times(n, "'d{}': D{}, ")
        + "}\ndef f(a):\n    return DataLoader(R[a]('x'), num_workers=2)\n"
    ),
    "wrappers of wrappers": lambda n: (
        "class W(Dataset):\n    def __init__(self, d):\n        self.d = d\n"
        "    def __getitem__(self, i):\n        return self.d[i]\nd = W([])\n"
        + times(n, "d = W(d)\n")
        + "DataLoader(d, num_workers=2)\n"
    ),
    "try": lambda n: (
        "def f(d):\n"
        + times(n, "    try:\n        l{} = DataLoader(d, timeout=3)\n    except KeyError:\n        pass\n")
    ),
    "match": lambda n: (
        "def f(d, a):\n    match a:\n"
        + times(n, "        case {}:\n            l = DataLoader(d, num_workers=0, timeout={})\n")
    ),
    "keywords on branches": lambda n: OPTIONS + times(n, "    if a == {}:\n        kw['timeout'] = {}\n") + MADE,
    "keywords in elif": lambda n: (
        OPTIONS + "    if a: pass\n" + times(n, f"    elif a == {{}}:\n        kw['timeout'] = 3\n    {MADE}")
    ),
    "keywords between loaders": lambda n: OPTIONS + times(n, f"    kw['prefetch_factor'] = {{}}\n{MADE}"),
    "copies of keywords": lambda n: OPTIONS + times(n, "    kw = dict(kw, timeout={})\n") + MADE,
    "copies on branches": lambda n: OPTIONS + times(n, "    if a == {}:\n        kw = dict(kw, timeout={})\n") + MADE,
    "merged keywords": lambda n: OPTIONS + times(n, "    kw |= dict(timeout={})\n") + MADE,
    "star arguments": lambda n: (
        "def f(*a, **k):\n    return DataLoader(*a, **k)\n"
        + times(n, "a{} = ([1],)\nf(*a{}, **dict(num_workers=0, timeout=3))\n")
    ),
    "one large dict": lambda n: "C = {" + times(n, "'a{}': {}, ") + "}\n" + times(n, ZERO.replace("{}", "C['a{}']")),
    "stores under keys": lambda n: "C = {}\n" + times(n, "C['a{}'] = {}\n") + times(n, ZERO.replace("{}", "C['a{}']")),
    "a large literal": lambda n: "X = [" + times(10 * n, "{}, ") + "]\n" + ZERO.replace("{}", "X[0]"),
    "conditions": lambda n: (
        "def f(d, a):\n" + times(n, "    if a[{}] and a[{+}] or not a[{}]:\n        l{} = DataLoader(d, timeout=3)\n")
    ),
    "one long condition": lambda n: (
        "def f(d, a):\n    if "
        + " and ".join(f"a[{each}]" for each in range(n))
        + ":\n        DataLoader(d, timeout=3)\n"
    ),
    "one long sum": lambda n: f"DataLoader(d, num_workers={' + '.join('0' * n)}, timeout=3)\n",
    "imports": lambda n: (
        times(n, "from pkg{} import a{}\nimport mod{}.sub as s{}\n")
        + times(n, "DataLoader(a{}(), num_workers=s{}.N, persistent_workers=True)\n")
    ),
    "overloads": lambda n: (
        "from typing import overload\n"
        + times(n, "@overload\ndef make(d, a: int = {}): ...\n")
        + "def make(d, a=0):\n    return DataLoader(d, num_workers=a, persistent_workers=True)\n"
        + times(n, "make([], {})\n")
    ),
    "conditional expressions": lambda n: (
        "def f(d, a):\n    n = 0\n"
        + times(n, "    n = {} if a == {} else n\n")
        + "    return DataLoader(d, num_workers=n, persistent_workers=True)\n"
    ),
}
