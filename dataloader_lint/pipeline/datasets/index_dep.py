"""How a value depends on the requested sample: the index, a key found at it, or a part of the sample.

`IndexDependence` is the transfer function: it maps the dependence of operands to that of a result. Subclasses resolve
names: one within a single function, one along calls through all worker code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from enum import IntEnum

import libcst as cst

from dataloader_lint.semantics.libraries.short_names import MAKING_ARRAYS, SAME_ELEMENTS
from dataloader_lint.semantics.limits import INDEX_NESTING
from dataloader_lint.semantics.syntax.expressions import last_name
from dataloader_lint.semantics.syntax.file_names import field_of, names_file, path_behind
from dataloader_lint.semantics.values.values import Frame


class IndexDep(IntEnum):
    """How an expression depends on the index argument; larger values distinguish samples better."""

    NONE = 0
    SAMPLE = 1  # something computed from the sample: a label, a part of a row
    PLACE = 2  # a place that is searched for the index: one of as many as there are samples, or of a few shards
    KEY = 3  # an element of a list of keys: `self.ids[index]`
    INDEX = 4  # the index itself, or arithmetic on it


# The result of these calls depends on the index as much as their arguments do.
_SAME_FUNCTIONS = frozenset(
    {
        *("Path", "PurePath", "abs", "abspath", "arange", "divmod", "expanduser", "float", "format", "hash", "int"),
        *("int64", "join", "linspace", "max", "md5", "min", "range", "repr", "round", "sha1", "sha256", "str"),
        *MAKING_ARRAYS,
        *SAME_ELEMENTS,
    }
)
# The result of these methods depends on the index as much as their object does.
_SAME_METHODS = frozenset(
    {
        *("as_posix", "astype", "copy", "cpu", "decode", "encode", "format", "hexdigest", "item", "joinpath", "long"),
        *("lower", "numpy", "strip", "tolist", "upper", "zfill"),
    }
)
# Searches for a place in a sorted list: `np.searchsorted(self.ends, index)`.
_SEARCHES = frozenset({"bisect", "bisect_left", "bisect_right", "bucketize", "digitize", "searchsorted"})
# What finds or counts the places where a comparison holds: `np.nonzero(self.ends > index)`.
_PLACES = frozenset({"argmax", "argmin", "argwhere", "count_nonzero", "flatnonzero", "next", "nonzero", "sum", "where"})
_BOUNDING_OPERATORS = (cst.Modulo, cst.FloorDivide)
_FEW = 1000  # things of which one is chosen by the index, in turn
_STRINGS = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)
# Kinds of expressions that depend on nothing, or whose dependence is unknown.
# Exact types: `isinstance` with LibCST's abstract classes takes ten times as long.
_OPAQUE: frozenset[type[cst.CSTNode]] = frozenset(
    {
        cst.SimpleString,
        cst.ConcatenatedString,
        cst.TemplatedString,
        cst.Integer,
        cst.Float,
        cst.Imaginary,
        cst.Lambda,
        cst.Comparison,
        cst.Await,
        cst.Yield,
        cst.Ellipsis,
    }
)


class IndexDependence(ABC):
    """Dependence of expressions, each in the frame that binds its parameters; None for a single function."""

    # The dependence of `index % n` and `index // n`: a read is per sample, but a key is one of few.
    bounded = IndexDep.INDEX
    max_nesting = 100  # nested expressions, or expressions that values come from

    def __init__(self) -> None:
        # Keeps nodes and frames alive, so that no id is reused.
        self._cached: dict[tuple[int, int], tuple[cst.CSTNode, Frame | None, IndexDep]] = {}
        self._running: set[tuple[int, int]] = set()
        self._cut_off = 0  # how often a recursive or too deep question was cut off

    def of(self, node: cst.CSTNode | None, frame: Frame | None) -> IndexDep:
        """How an expression depends on the index."""
        if node is None or type(node) in _OPAQUE:
            return IndexDep.NONE
        key = (id(node), id(frame))
        if key in self._cached:
            return self._cached[key][2]
        if key in self._running or len(self._running) > INDEX_NESTING:
            self._cut_off += 1
            return IndexDep.NONE
        cut_off = self._cut_off
        self._running.add(key)
        found = self._transfer(node, frame)
        self._running.discard(key)
        if cut_off == self._cut_off or not self._running:
            self._cached[key] = (node, frame, found)
        return found

    def most(self, nodes: Iterable[cst.CSTNode], frame: Frame | None) -> IndexDep:
        """The strongest dependence of some expressions."""
        return max((self.of(node, frame) for node in nodes), default=IndexDep.NONE)

    @abstractmethod
    def name(self, node: cst.Name, frame: Frame | None) -> IndexDep:
        """How a name depends on the index."""

    def call_result(self, node: cst.Call, frame: Frame | None, given: IndexDep) -> IndexDep:
        """The dependence of the result of the project's own code, called with arguments of dependence `given`."""
        return IndexDep.NONE

    def is_next_sample(self, node: cst.Call, frame: Frame | None) -> bool:
        """True if a call takes the next sample of a stream."""
        return False

    def _transfer(self, node: cst.CSTNode, frame: Frame | None) -> IndexDep:
        if type(node) is cst.Name:
            return self.name(node, frame)
        path = path_behind(node)
        if path is not None and self.of(path, frame) >= IndexDep.KEY:
            return IndexDep.KEY
        if isinstance(node, cst.Subscript):
            return self._subscript(node, frame)
        if isinstance(node, cst.Call):
            return self._call(node, frame)
        if isinstance(node, cst.Attribute):
            owner = self.of(node.value, frame)
            return owner if owner is IndexDep.KEY and names_file(node.attr.value) else min(owner, IndexDep.SAMPLE)
        if isinstance(node, cst.BinaryOperation):
            return self._arithmetic(node, frame)
        if isinstance(node, cst.BooleanOperation):
            return self.most((node.left, node.right), frame)
        if isinstance(node, cst.IfExp):
            return self.most((node.body, node.orelse), frame)
        if isinstance(node, cst.UnaryOperation):
            return IndexDep.NONE if isinstance(node.operator, cst.Not) else self.of(node.expression, frame)
        if isinstance(node, cst.NamedExpr | cst.StarredElement):
            return self.of(node.value, frame)
        if isinstance(node, cst.FormattedString):
            inner = [part.expression for part in node.parts if isinstance(part, cst.FormattedStringExpression)]
            return self.most(inner, frame)
        if isinstance(node, cst.Tuple | cst.List | cst.Set):
            return self.most((element.value for element in node.elements), frame)
        if isinstance(node, cst.Dict):
            return min(self.most((element.value for element in node.elements), frame), IndexDep.SAMPLE)
        if isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp):
            return min(self.most((node.elt, node.for_in.iter), frame), IndexDep.SAMPLE)
        return IndexDep.NONE

    def found_by(self, test: cst.BaseExpression, frame: Frame | None) -> IndexDep:
        """The dependence of a place that a search finds by a test: `index >= self.ends[place]`."""
        if isinstance(test, cst.BooleanOperation):
            return max(self.found_by(test.left, frame), self.found_by(test.right, frame))
        if isinstance(test, cst.UnaryOperation):
            return self.found_by(test.expression, frame)
        if not isinstance(test, cst.Comparison):
            return IndexDep.NONE
        compared = self.most((test.left, *(each.comparator for each in test.comparisons)), frame)
        return IndexDep.PLACE if compared is IndexDep.INDEX else IndexDep.NONE

    def _search(self, node: cst.Call, name: str, given: IndexDep, frame: Frame | None) -> IndexDep:
        """The dependence of a place that a call searches for the sample; NONE if it is no such call."""
        if name in _SEARCHES:
            return IndexDep.PLACE if given is IndexDep.INDEX else IndexDep.NONE
        if name not in _PLACES:
            return IndexDep.NONE
        tests: list[cst.BaseExpression] = [node.func.value] if isinstance(node.func, cst.Attribute) else []
        for arg in node.args[:1]:
            if isinstance(arg.value, cst.GeneratorExp | cst.ListComp):  # next(n for n, end in ... if index < end)
                tests += [arg.value.elt, *(each.test for each in arg.value.for_in.ifs)]
            elif name != "where" or len(node.args) == 1:
                tests.append(arg.value)
        return max((self.found_by(each, frame) for each in tests), default=IndexDep.NONE)

    def _arithmetic(self, node: cst.BinaryOperation, frame: Frame | None) -> IndexDep:
        left, right = self.of(node.left, frame), self.of(node.right, frame)
        if isinstance(node.operator, cst.Modulo | cst.BitAnd) and isinstance(node.right, cst.Integer):
            if node.right.evaluated_value <= _FEW:
                return min(left, IndexDep.SAMPLE)  # `names[index % 10]`: one of ten
        if isinstance(node.operator, _BOUNDING_OPERATORS) and not isinstance(node.left, _STRINGS):
            return min(max(left, right), self.bounded)
        return max(left, right)

    def _subscript(self, node: cst.Subscript, frame: Frame | None) -> IndexDep:
        inside = [each.slice.value for each in node.slice if isinstance(each.slice, cst.Index)]
        index = self.most(inside, frame)
        if index is IndexDep.INDEX:
            return IndexDep.KEY  # the element at the index
        if index is not IndexDep.NONE:
            return IndexDep.SAMPLE
        owner = self.of(node.value, frame)
        if owner is IndexDep.INDEX:
            return owner  # a part of an index from the sampler
        if owner is IndexDep.PLACE and _is_search(node.value):
            return owner
        return owner if owner is IndexDep.KEY and names_file(field_of(node)) else min(owner, IndexDep.SAMPLE)

    def _call(self, node: cst.Call, frame: Frame | None) -> IndexDep:
        if self.is_next_sample(node, frame):
            return IndexDep.INDEX
        given = self.most((arg.value for arg in node.args), frame)
        name = last_name(node.func)
        found = self._search(node, name, given, frame)
        if found is not IndexDep.NONE:
            return found
        owner = IndexDep.NONE
        if isinstance(node.func, cst.Attribute):
            owner = self.of(node.func.value, frame)
            if name in _SAME_METHODS and owner is not IndexDep.NONE:
                return max(owner, given)
            if name in ("get", "pop") and given is IndexDep.INDEX:
                return IndexDep.KEY
        if any(isinstance(arg.value, cst.SimpleString) and ".." in arg.value.raw_value for arg in node.args):
            return min(max(given, owner), IndexDep.SAMPLE)  # `join(path, "..")`: a folder holds many files
        if owner is IndexDep.NONE and (name in _SAME_FUNCTIONS or name in _SAME_METHODS or "hash" in name):
            return given
        result = min(max(given, owner), IndexDep.SAMPLE)
        return max(result, self.call_result(node, frame, given)) if given > IndexDep.SAMPLE else result


def _is_search(node: cst.BaseExpression) -> bool:
    """True for a search, or a part of what it gives: `np.nonzero(self.ends > index)[0]`."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return isinstance(node, cst.Call) and last_name(node.func) in _SEARCHES | _PLACES


def of_part(value: cst.BaseExpression, path: tuple[int, ...], whole: IndexDep) -> IndexDep:
    """The dependence of a part of an unpacked value.

    `divmod(index, n)` gives two indices, but of a pair from a sampler only the first is one: the other is usually a
    label.
    """
    if whole is not IndexDep.INDEX:
        return min(whole, IndexDep.SAMPLE)
    return IndexDep.SAMPLE if isinstance(value, cst.Name) and path not in ((), (0,)) else whole
