"""Where nodes stand in a module's code: one pass of LibCST's code generation that notes only the wanted ones."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst
from libcst._nodes.internal import CodegenState

from dataloader_lint.source.parsing import room_for_recursion

Node = cst.CSTNode


def spans(module: cst.Module, wanted: Iterable[Node]) -> dict[int, tuple[int, int]]:
    """Start and end in `module.code` of the wanted nodes, by `id`; without the blank lines and comments before them."""
    state = _Recorder(module, {id(node) for node in wanted})
    with room_for_recursion():
        module._codegen(state)
    return state.found


class _Recorder(CodegenState):
    """Code generation that notes where the wanted nodes begin and end, without leading blank space."""

    __slots__ = ("_offset", "_open", "_wanted", "found")

    def __init__(self, module: cst.Module, wanted: set[int]) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline, provider=self)
        self._wanted = wanted
        self._offset = 0
        self._open: list[tuple[int, int]] = []
        self.found: dict[int, tuple[int, int]] = {}

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self._offset += len(token)

    def add_token(self, value: str) -> None:
        self._offset += len(value)

    def pop_trailing_newline(self) -> None:
        """Nothing was kept, so there is nothing to take back."""

    def before_codegen(self, node: Node) -> None:
        if id(node) in self._wanted:
            self._open.append((id(node), self._offset))

    def after_codegen(self, node: Node) -> None:
        if self._open and self._open[-1][0] == id(node):
            key, start = self._open.pop()
            self.found.setdefault(key, (start, self._offset))

    def record_syntactic_position(  # type: ignore[override]  # a plain context manager: it is entered for every node
        self, node: Node, *, start_node: Node | None = None, end_node: Node | None = None
    ) -> _Span:
        return _Span(self, node, start_node, end_node)


class _Span:
    """Notes the syntactic extent of a node: without the blank lines and comments that LibCST puts before it."""

    __slots__ = ("_end_node", "_node", "_start", "_start_node", "_state")

    def __init__(self, state: _Recorder, node: Node, start_node: Node | None, end_node: Node | None) -> None:
        self._state = state
        self._node = node
        self._start_node = start_node
        self._end_node = end_node

    def __enter__(self) -> None:
        state = self._state
        if id(self._node) in state._wanted:
            # The end of some statements is that of their last child, which must be recorded for it to be known.
            for helper in (self._start_node, self._end_node):
                if helper is not None:
                    state._wanted.add(id(helper))
        self._start = state._offset

    def __exit__(self, *error: object) -> None:
        state = self._state
        if id(self._node) not in state._wanted:
            return
        start, end = self._start, state._offset
        if self._start_node is not None and id(self._start_node) in state.found:
            start = state.found[id(self._start_node)][0]
        if self._end_node is not None and id(self._end_node) in state.found:
            end = state.found[id(self._end_node)][1]
        state.found[id(self._node)] = (start, end)
