"""No regular expression takes more than linear time, whatever it is given: each is found in the code by itself.

Texts are made from an expression's own parts: what it looks for, cut off at each place and repeated, and each sign that
it repeats, thousands of times. The slowest ones are then tried with a million signs.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import dataloader_lint
from dataloader_lint.rules.messages import answer
from dataloader_lint.rules.questions.concepts import patterns

HERE = Path(dataloader_lint.__file__).parent
_FUNCTIONS = ("compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")
_ANCHORED = {"match", "fullmatch"}
# One after the other, as with the next size an exponential or a cubic one might not come to an end.
SIZES = {22: 0.02, 34: 0.02, 40: 0.02, 46: 0.02, 60: 0.02, 300: 0.02, 3_000: 0.03}
LARGE = 1_000_000
SECONDS_FOR_LARGE = 2.0  # most take a tenth of that; a quadratic one takes hours


@dataclass(frozen=True)
class Expression:
    """A regular expression of the package, and how it is used: from a place on, or anywhere in a text."""

    place: str
    pattern: re.Pattern[Any]
    is_anchored: bool


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FUNCTIONS:
            if isinstance(node.func.value, ast.Name) and node.func.value.id == "re":
                yield node, node.func.attr


def _expressions() -> Iterator[Expression]:
    modules = [each.name for each in pkgutil.walk_packages([str(HERE)], "dataloader_lint.")]
    texts = {name: _text(name) for name in modules if not name.endswith("__main__")}
    for name, text in texts.items():
        namespace = vars(importlib.import_module(name)) if "re." in text else {}
        kept = {each: value for each, value in namespace.items() if isinstance(value, re.Pattern)}
        for variable, pattern in kept.items():
            uses = set(re.findall(rf"\b{variable}\.(\w+)\(", text))
            yield Expression(f"{name}.{variable}", pattern, bool(uses) and uses <= _ANCHORED)
        for call, function in _calls(ast.parse(text)):
            value = (
                eval(compile(ast.Expression(call.args[0]), name, "eval"), {**namespace, "re": re})
                if (_is_constant(call.args[0], namespace))
                else None
            )
            if function == "compile" and value is not None and any(each.pattern == value for each in kept.values()):
                continue
            where = f"{name}:{call.lineno}"
            assert value is not None or where.startswith(_BY_PATTERNS), f"{where}: keep it in a name of the module"
            if value is not None:
                flags = re.MULTILINE if "re.MULTILINE" in ast.unparse(call) else 0
                yield Expression(where, re.compile(value, flags), function in _ANCHORED)
    for concept, pattern in patterns().items():
        yield Expression(f"{patterns.__module__}: {concept}", pattern, False)


# Made from the patterns that users write, or from a table, and tried below by what uses them; from a name, which is
# escaped.
_BY_PATTERNS = (
    "dataloader_lint.cli.nothing_known:",
    "dataloader_lint.cli.without_effect:",
    "dataloader_lint.edits.array_uses:",
    "dataloader_lint.rules.questions.concepts:",
    "dataloader_lint.rules.transfers._shared.device_stores:",
    "dataloader_lint.semantics.project.required_versions:",  # in names of the module
    "dataloader_lint.rules.symptoms.base:",
    "dataloader_lint.source.globs:",
    "dataloader_lint.source.discovery:",
    "dataloader_lint.source.gitignore:",
)


def _is_constant(node: ast.expr, namespace: dict[str, Any]) -> bool:
    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    return all(isinstance(namespace.get(name), str | bytes) for name in names)


def _text(module: str) -> str:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


EXPRESSIONS = list(_expressions())


def _signs(items: list[tuple[Any, Any]]) -> list[str]:
    """Signs that a set holds, or one that it does not exclude."""
    is_negated = bool(items) and items[0][0] is op.NEGATE
    found: list[str] = []
    for kind, value in items:
        if kind is op.LITERAL:
            found.append(chr(value))
        elif kind is op.RANGE:
            found += [chr(value[0]), chr(value[1])]
        elif kind is op.CATEGORY:
            found += {"DIGIT": "1", "SPACE": " \n", "WORD": "a_1"}.get(str(value).rsplit("_", 1)[1], "-")
    if not is_negated:
        return found[:4]
    return [sign for sign in ("a", " ", "\n", "(", '"', "1", "[") if sign not in found][:4]


def _samples(parsed: Any, depth: int = 0) -> list[list[str]]:
    """Texts that fit, each as the list of its pieces; several where there are alternatives."""
    found: list[list[str]] = [[]]
    for kind, value in parsed:
        more: list[list[str]]
        if kind is op.LITERAL:
            more = [[chr(value)]]
        elif kind is op.NOT_LITERAL:
            more = [["a"], [" "]]
        elif kind is op.ANY:
            more = [["a"], [" "]]
        elif kind is op.IN:
            more = [[sign] for sign in _signs(value)] or [[]]
        elif kind is op.BRANCH:
            more = [sample for each in value[1] for sample in _samples(each, depth + 1)]
        elif kind is op.SUBPATTERN:
            more = _samples(value[3], depth + 1)
        elif kind is op.ATOMIC_GROUP:
            more = _samples(value, depth + 1)
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, _, inner = value
            once = _samples(inner, depth + 1)
            more = [each * max(least, 1) for each in once[:3]] + ([[]] if not least else [])
        elif kind is op.GROUPREF:
            more = [['"""'], ["'''"]]
        else:  # looks around, and edges
            more = [[]]
        found = [[*before, *after] for after in more for before in found][:24]
    return found


def _worst_texts(pattern: str) -> list[tuple[str, str, str]]:
    """What texts begin with, what is repeated in them, and what they end with."""
    samples = sorted({"".join(each) for each in _samples(parser.parse(pattern))} - {""}, key=len)
    samples = samples[:3] + samples[-3:] if len(samples) > 6 else samples
    signs = [*sorted({sign for sample in samples for sign in sample if not sign.isalnum()} - {" "})[:5], " ", "a"]
    found: dict[tuple[str, str, str], None] = {}
    for sample in samples:
        whole = len(sample)
        for cut in {1, 3, whole // 4, whole // 2, whole - 2, whole - 1, whole} & set(range(1, whole + 1)):
            for part in (sample[:cut], sample[-cut:]):
                for sign in ("", *signs):
                    found[sample[:cut], part + sign, "\x01"] = None
                for sign in signs:
                    found[part, sign, "\x01\\"] = None
    return list(found)


def _text_of(parts: tuple[str, str, str], size: int) -> str:
    first, unit, last = parts
    return first + unit * (size // len(unit)) + last


def _seconds(expression: Expression, text: str | bytes) -> float:
    pattern = expression.pattern
    start = time.thread_time()
    if expression.is_anchored:
        pattern.match(text)
        pattern.fullmatch(text)
    else:
        for _ in pattern.finditer(text):
            pass
    return time.thread_time() - start


def _of_kind(expression: Expression, text: str) -> str | bytes:
    return text.encode("latin-1", "replace") if isinstance(expression.pattern.pattern, bytes) else text


def _source(expression: Expression) -> str:
    written = expression.pattern.pattern
    return written.decode("latin-1") if isinstance(written, bytes) else written


def slow_text(expression: Expression) -> str | None:
    """Why an expression is too slow, None where no text shows that it is."""
    texts = _worst_texts(_source(expression))

    def seconds(parts: tuple[str, str, str], size: int) -> float:
        return _seconds(expression, _of_kind(expression, _text_of(parts, size)))

    for size, most in SIZES.items():
        tried: list[tuple[float, tuple[str, str, str]]] = []
        for parts in texts:
            taken = seconds(parts, size)
            if taken > most and seconds(parts, size) > most:
                return f"{taken:.2f} s for {size} signs: {parts}"
            tried.append((taken, parts))
    for _, parts in sorted(tried)[-3:]:
        few = min(seconds(parts, size) for _ in range(3))
        many = min(seconds(parts, 4 * size) for _ in range(2))
        if many > 9 * few and many > 0.003:
            return f"{few:.4f} s for {size} signs and {many:.4f} s for four times as many: {parts}"
    for _, parts in sorted(tried)[-1:]:
        taken = seconds(parts, LARGE)
        if taken > SECONDS_FOR_LARGE:
            return f"{taken:.2f} s for {LARGE} signs: {parts}"
    return None


def test_expressions_are_found() -> None:
    assert len(EXPRESSIONS) > 60
    assert {"dataloader_lint.semantics.project.outline._DEFINED", "dataloader_lint.source.magics._TOKEN"} <= {
        each.place for each in EXPRESSIONS
    }


@pytest.mark.parametrize(
    "pattern",
    [
        rb"\bdef\b[^\n]*\bbatch",
        rb"\n[ \t]*class[ \t]+(\w+)[ \t]*(?:\[[^\]]*\][ \t]*)?(?:\(([^)]*)\))?[^\n:]*:",
        r"\s*(~=|<)?\s*\d+(\.(\d+|\*))*\s*(,\s*(~=|<)?\s*\d+(\.(\d+|\*))*\s*)*$",
        r"numpy(?![\w-])[ \t]*[^\n\"';\#]*?(?:<=?\s*1\b)",
        r"add_\w*path\w*\(",
        r"<[^>]*>",
        r"(?:[ \t]*(?:\r\n|\r|\n))*([ \t]+)\S",
        r"(a|a)*b",
    ],
)
def test_quadratic_ones_are_noticed(pattern: str | bytes) -> None:
    assert slow_text(Expression("here", re.compile(pattern), False)) is not None


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda each: each.place.removeprefix("dataloader_lint."))
def test_linear(expression: Expression) -> None:
    assert slow_text(expression) is None


@pytest.mark.parametrize(
    "part", ["can't pickle ", "killed ", "x", "DataLoader worker ", "memory ", "gpu goes up and ", "("]
)
def test_messages_of_one_long_line(part: str) -> None:
    """The patterns of `symptoms` hold `.*`, so that lines are cut before them."""
    start = time.process_time()
    answer(part * (LARGE // len(part)))
    assert time.process_time() - start < SECONDS_FOR_LARGE
