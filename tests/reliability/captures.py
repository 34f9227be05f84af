"""Programs around a lambda or local function given as `collate_fn`, which reads names in every way that Python has."""

from __future__ import annotations

import itertools
import random
import sys
import textwrap
from collections.abc import Iterator

HEAD = '''
import contextlib, enum, json
from torch.utils.data import DataLoader

m = 7

class Empty:
    """One of the module; functions have others."""

class Color(enum.Enum):
    RED = 1

class Point:
    __match_args__ = ("x", "y")
    def __init__(self, x, y):
        self.x, self.y = x, y

@contextlib.contextmanager
def given(value):
    yield value

def same(value=None, **values):
    return value if value is not None else values
'''

# How the function around the callable gets `k`, with the statement that makes the loader at `...`.
AROUND = {
    "parameter": "def make(k):\n    ...\n",
    "keyword": "def make(*rows, k=2, **more):\n    ...\n",
    "starred": "def make(first, *k):\n    k, = k or (first,)\n    ...\n",
    "assigned": "def make(n):\n    k = n\n    ...\n",
    "unpacked": "def make(n):\n    (k, *others), j = [n, 1], 2\n    ...\n",
    "annotated": "def make(n):\n    k: int = n\n    ...\n",
    "loop": "def make(n):\n    for k in range(n + 1): pass\n    ...\n",
    "in loop": "def make(n):\n    for k in range(n + 1):\n        ...\n    return made\n",
    "with": "def make(n):\n    with given(n) as k:\n        ...\n    return made\n",
    "with tuple": "def make(n):\n    with given((n, 1)) as (k, *j):\n        ...\n    return made\n",
    "walrus": "def make(n):\n    if (k := n): pass\n    ...\n",
    "walrus in a comprehension": "def make(n):\n    [k := each for each in [n]]\n    ...\n",
    "matched": "def make(n):\n    match n:\n        case k: pass\n    ...\n",
    "matched rest": "def make(n):\n    match [1, n]:\n        case [_, *k]: k = k[0]\n    ...\n",
    "matched star": "def make(n):\n    match [n]:\n        case [*j]: k = j[0]\n    ...\n",
    "matched mapping": "def make(n):\n    match {'a': n}:\n        case {**rest}: k = rest['a']\n    ...\n",
    "matched only": "def make(n):\n    match {'a': n}:\n        case {'a': int() as k, **j} if k: pass\n    ...\n",
    "caught": "def make(n):\n    try: raise ValueError(n)\n    except ValueError as j: k = j.args[0]\n    ...\n",
    "caught group": "def make(n):\n    try: raise ExceptionGroup('g', [ValueError(n)])\n"
    "    except* ValueError as j: k = j.exceptions[0].args[0]\n    ...\n",
    "bound again": "def make(n):\n    k = n\n    ...\n    k = 9\n    return made\n",
    "added to": "def make(n):\n    k = n\n    ...\n    k += 1\n    return made\n",
    "deleted pair": "def make(k):\n    j = k\n    ...\n    made.collate_fn([1]); del j, k\n    return made\n",
    "nonlocal": "def make(n):\n    k = n\n    def i():\n        nonlocal k\n        k += 1\n    ...\n    i()\n"
    "    return made\n",
    "outer": "def outer(k):\n    def make(n):\n        ...\n    return make\nmake = outer(3)\n",
    "class inside": "def make(k):\n    class Inner:\n        k = 9\n        ...\n    return Inner.made\n",
    "method": "class Maker:\n    k = 5\n    def make(self, k):\n        ...\nmake = Maker().make\n",
    "function": "def make(n):\n    def k(): return n\n    k = k()\n    ...\n",
    "imported": "def make(n):\n    import json as j\n    k = len(j.dumps(n))\n    ...\n",
    "global": "def make(n):\n    global k\n    k = n\n    ...\n",
    "module": "k = 3\ndef make(n):\n    ...\n",
    "local class": "def make(k):\n    class Empty: pass\n    class Color: RED = k\n    Point = same\n    ...\n",
    "shadowed": "def make(k):\n    m, json, same = k, k, str\n    ...\n",
}
if sys.version_info >= (3, 12):
    AROUND |= {
        "generic": "def make[T](k: T) -> DataLoader:\n    ...\n",
        "in a generic": "def outer[T](k: T):\n    def make(n: T):\n        ...\n    return make\nmake = outer(3)\n",
        "type parameter": "def make[*k](n):\n    ...\n",
        "of a class": "class Maker[k]:\n    def make(self, n):\n        ...\nmake = Maker().make\n",
        "alias": "def make(n):\n    type k = list[n]\n    ...\n",
    }

# What the callable gives for a batch `b`, with `k` read in one way or another.
EXPRESSIONS = """
f"{b!r:>{k}}"
f"{m:{k}.{k}}" 'x' f"{k}"
f"{f'{k}':{m}}"
f"{k=}{k!r}"
f"{b[0]:{'>' if k else '<'}{k + 1}}"
[k for k in [k, 1]]
[k for k in range(k)]
{k: b for k in (k, m)}
[x + k for x in b if x < k]
[(x, y) for x in range(k) for y in range(x + k)]
[b for b in b], k
sum(b for b in b if b != k)
sorted(b, key=lambda x: x * k)
(lambda k=k: k)(), (lambda k: k + m)(1)
(lambda *b, j=k: (b, j))(1)
b[:k], b[k - 1:], b[-1:k:1]
(*b, *[k]), [*b, k], {**{'k': k}}
k if k < 3 < k + m else -k
not k or k and m
json.dumps([k, m]), same(k=k), same(b)
same(*[k]), same(**{'j': k})
[k][0], {'k': k}['k'], (k,)
k in b, k is not None, m @ k if False else k
str(k).join('ab'), Empty, Color.RED
[[k for _ in b] for k in [k]]
{x for x in b if (lambda: x + k)()}
[lambda: k][0](), [(lambda x=k: x)() for _ in b]
""".strip().splitlines()

# Bodies of functions; a function may also return any of the expressions.
BODIES = """
match b:|    case Empty(): return k|    case [int(first), *rest]: return first, rest, k
match Empty():|    case Empty(): return k|return None
match Color.RED:|    case Color.RED: return k|    case _: return m
match {'a': b, 'c': k}:|    case {'a': [x, *y], **rest} if (z := k): return x, y, rest, z
match Point(k, b):|    case Point(x=int() as j, y=[*rest]): return j, rest, k|    case Point(j, rest): return m
match k:|    case 1 | 2 | 3 as j: return j, k|    case None: return 0|    case j: return j
try: raise ExceptionGroup('g', [ValueError(k)])|except* ValueError as e: j = e.exceptions[0].args|return j, k
try: return b[k + 9]|except (IndexError, json.JSONDecodeError) as e: return str(type(e)), k|finally: j = k
with given(k) as (j): return j, b
with given([k, 1]) as [j, *i], given(b): return j, i
j, *i = b|for j, (x, *y) in [(k, (1, 2))]: i += [j, x, y]|return i
global g|g = k|return g + m
import json as j|from enum import Enum as E|return j.dumps(k), E.__name__
class A:|    j = k|    def f(self): return k|    i = [k for _ in 'a']|return A.j, A().f(), A.i
def f(x=k, *y, z: int = m) -> int: return x, y, z, k|return f()
def f(): return k|return f(), f"{f():{k}}"
x: int = k|x += k|return x
x = [k, k]|x[0], y = k, 2|del x[1], y|return x
j = k|del j|j = 2|return j
while True:|    if (j := k): break|else: return m|return j
async def f():|    async with given(k) as a: return a|return f.__name__, k
assert k is not None, f"{k:{m}}"|return [y for x in [[k]] for y in x]
def f():|    nonlocal i|    i = k|i = 0|f()|return i
@same|def f(): return k|return f()
return [(yield_ := k) for _ in b], yield_
""".strip().splitlines()

LOADER = "made = DataLoader([1, 2], num_workers=2, collate_fn={})"
CALL = """
made = make(2)
print(made.collate_fn([1, 2, 3]), made.collate_fn([5]))
"""


def programs(chance: random.Random) -> Iterator[tuple[str, str]]:
    """All programs in random order, each with what it is made of."""
    callables = [("lambda", each) for each in EXPRESSIONS]
    callables += [("def", f"return {each}") for each in EXPRESSIONS] + [("def", each) for each in BODIES]
    pairs = list(itertools.product(AROUND, callables))
    chance.shuffle(pairs)
    for around, (kind, code) in pairs:
        yield f"{around}, {kind}: {code}", _program(AROUND[around], kind, code)


def _program(around: str, kind: str, code: str) -> str:
    if kind == "lambda":
        lines = [LOADER.format(f"lambda b: ({code})")]
    else:
        lines = ["def collate(b):", *(f"    {line}" for line in code.split("|")), LOADER.format("collate")]
    before, _, after = around.partition("...")
    indent = " " * (len(before) - len(before.rstrip(" ")))
    body = textwrap.indent("\n".join(lines), indent).lstrip()
    result = "" if (after.strip() and "return made" in after) or "class Inner" in before else f"\n{indent}return made"
    return f"{HEAD}\n{before}{body}{result}{after}{CALL}"
