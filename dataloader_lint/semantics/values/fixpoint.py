"""Fixpoint solver: each question is answered once; cycles and long searches end in "unknown"."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dataloader_lint.semantics.interrupts import check
from dataloader_lint.semantics.limits import EVALUATION_NESTING, EVALUATION_STEPS, EVALUATION_STEPS_KEPT
from dataloader_lint.semantics.values.values import NOTHING_KNOWN, Values

K = TypeVar("K")
T = TypeVar("T")
Key = tuple[object, object]


class Solver:
    """Keeps the stack of open questions, and the results that depend on them."""

    def __init__(self) -> None:
        self.steps = 0  # the questions that were looked into so far
        self.too_deep = 0  # how often an answer was unknown because the question was too deep inside others
        self._last_step = 0
        self._open = 0  # questions that count steps
        self._running: dict[Key, int] = {}  # questions being worked out, with their depth
        self._cuts = 0  # a bit for the depth of each running question that has cut off what is being worked out
        # Answers that such questions cut short, good for as long as these are running: by question, and by the depth of
        # the innermost of them.
        self._interim: dict[Key, tuple[object, Values, int]] = {}
        self._resting_on: dict[int, list[Key]] = {}

    def solve(self, key: Key, memo: dict[K, Values], memo_key: K, work_out: Callable[[], Values]) -> Values:
        """Work out the answer to a question and remember it.

        Results inside a cycle are provisional until the question at the cycle's head is answered.
        """
        if key in self._running:
            return self.widen(self._running[key])
        interim = self._interim.get(key)
        if interim is not None and interim[0] is memo:
            self._cuts |= interim[2]
            return interim[1]
        if not self._open:
            self._last_step = self.steps + EVALUATION_STEPS
        depth = len(self._running)
        if depth > EVALUATION_NESTING:
            return self.widen_deep()
        if self.steps > self._last_step:
            return self.widen(0)
        started = self.steps
        self.steps += 1
        if not self.steps & 255:
            check()
        before, self._cuts = self._cuts, 0
        self._running[key] = depth
        self._open += 1
        try:
            result = work_out()
        except RecursionError:  # the bound on nesting leaves room for what is between questions, but not for anything
            result = self.widen_deep()
        finally:
            self._open -= 1
            self._end(key, depth)
        above = self._cuts & ((1 << depth) - 1)
        if not above or self.steps - started > EVALUATION_STEPS_KEPT:  # recomputing would exhaust the budget again
            memo[memo_key] = result
            self._cuts = before
        else:
            self._interim[key] = (memo, result, above)
            self._resting_on.setdefault(above.bit_length() - 1, []).append(key)
            self._cuts = before | above
        return result

    def nested(self, key: Key, work_out: Callable[[], T], unknown: T) -> T:
        """Ask a question that the caller caches; `unknown` if it is open already, or nested too deep."""
        if key in self._running:
            self.widen(self._running[key])
            return unknown
        depth = len(self._running)
        if depth > EVALUATION_NESTING:
            self.widen_deep()
            return unknown
        self._running[key] = depth
        try:
            return work_out()
        except RecursionError:
            self.widen_deep()
            return unknown
        finally:
            self._end(key, depth)

    def settled(self, work_out: Callable[[], T]) -> tuple[T, bool]:
        """What `work_out` gives, and True if that is final: no question that is still open cut it short."""
        before, self._cuts = self._cuts, 0
        try:
            found = work_out()
            return found, not self._cuts
        finally:
            self._cuts |= before

    def _end(self, key: Key, depth: int) -> None:
        """Close a question, and drop the provisional results that depended on it."""
        del self._running[key]
        if self._resting_on:
            for each in self._resting_on.pop(depth, ()):
                self._interim.pop(each, None)
        if not depth:
            self._all_answered()

    def _all_answered(self) -> None:
        """The outermost question is answered."""

    def widen_deep(self) -> Values:
        """The answer to a question that is nested too deep: all open questions become provisional."""
        self.too_deep += 1
        return self.widen(0)

    def widen(self, depth: int) -> Values:
        """The answer to a question that is open already, at position `depth` of the stack."""
        self._cuts |= 1 << depth
        return NOTHING_KNOWN
