"""What an expression can be: `Evaluator.values`."""

from __future__ import annotations

import pytest

from asking import asked
from dataloader_lint.semantics.values.values import CallResult, Class, Const, Function, Mapping, Opaque, Sequence, Value

BEFORE = """
SIZE = 4
OPTIONS = {"workers": 2, **{"pin": True}}
NAMES = ["a", "b"]
parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=8)
args = parser.parse_args()


class Rows:
    kind = "rows"

    def __init__(self, size=3):
        self.size = size

    @property
    def double(self):
        return self.size * 2


class Wide(Rows):
    kind = "wide"


ROWS = {"rows": Rows, "wide": Wide}


def choose(flag):
    return 1 if flag else 2


def last(*args, **kwargs):
    return kwargs["size"]
"""
TABLE = [
    # constants and arithmetic
    ("SIZE", "4"),
    ("SIZE * 2 + 1", "9"),
    ("'a' + 'b'", "str"),
    ("f'{SIZE}.png'", "str"),
    ("not SIZE", "False"),
    ("SIZE > 2", "True"),
    ("max(SIZE, 2)", "4"),
    ("SIZE if flag else 0", "0 | 4"),
    ("flag", "unknown"),
    # dicts
    ("OPTIONS['workers']", "2"),
    ("OPTIONS['pin']", "True"),
    ("OPTIONS.get('workers', 0)", "2"),
    ("dict(OPTIONS, workers=5)['workers']", "5"),
    ("copy.deepcopy(OPTIONS)['workers']", "2"),
    ("(OPTIONS | {'workers': 6})['workers']", "6"),
    ("{**OPTIONS, 'workers': 7}['workers']", "7"),
    ("OPTIONS", "dict"),
    # lists and what stands in them
    ("NAMES", "list"),
    ("NAMES[0]", "'a'"),
    ("sorted(NAMES)", "list"),
    ("tuple(NAMES)", "tuple"),
    ("os.listdir('x')", "list"),
    ("len(NAMES)", "int"),
    ("np.zeros(4)", "array"),
    ("torch.zeros(4)", "tensor"),
    # options: a default is a known value with a label
    ("args.workers", "8 by default"),
    # classes, objects and functions
    ("Rows", "class Rows"),
    ("Rows(5).size", "5"),
    ("Rows().size", "3"),
    ("Rows(5).double", "10"),
    ("Wide.kind", "'wide'"),
    ("Wide(2).size", "2"),
    ("ROWS['wide'](6).size", "6"),
    ("getattr(Rows(5), 'size')", "5"),
    ("choose", "function choose"),
    ("choose(flag)", "1 | 2"),
    ("choose(True)", "1"),
    ("last(size=9)", "9"),
    ("partial(choose, True)()", "1 | 2"),
]


def shown(value: Value) -> str:
    """One value in a few words."""
    if isinstance(value, Const):
        return f"{value.value!r} by default" if value.default else repr(value.value)
    if isinstance(value, Opaque | Sequence):
        return value.kind
    if isinstance(value, Class | Function):
        kind = "class" if isinstance(value, Class) else "function"
        return f"{kind} {value.scope.node.name.value}"  # type: ignore[attr-defined]
    if isinstance(value, CallResult):
        return f"object of {value.library or shown(value.by)}"
    return "dict" if isinstance(value, Mapping) else type(value).__name__.lower()


@pytest.mark.parametrize(("expression", "answer"), TABLE)
def test_values(expression: str, answer: str) -> None:
    found = asked(expression, BEFORE, "flag").values
    assert " | ".join(sorted(map(shown, found))) == answer
