"""The cells of a notebook as one Python module, and the way back from its places and edits to the cells."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from dataloader_lint.diagnostics import Diagnostic, Place, Position, Reason, TextEdit
from dataloader_lint.source.decoding import UnreadableError, line_starts
from dataloader_lint.source.magics import Hidden, blanked, to_python
from dataloader_lint.source.notebooks import Cell

# As many newlines as make two blank lines, so that what is put between functions brings none into a cell that has no
# need for them. What is added below a cell's last line stands before its end, what is added above the first one behind.
_BETWEEN = "\n\n\n"


@dataclass(frozen=True, slots=True)
class Module:
    """Cells as one module. Cells that are no Python are blank in it, and no cell has more or fewer lines than before.

    `starts` are the offsets in `text` where cells begin, `line_starts` those where lines do. `hidden` says where the
    text is not that of the cell, `broken` which cells are no Python, and why.
    """

    text: str
    cells: tuple[Cell, ...]
    starts: tuple[int, ...]
    line_starts: tuple[int, ...]
    hidden: tuple[Hidden, ...]
    broken: tuple[tuple[Cell, UnreadableError], ...]

    def parts(self) -> list[str]:
        """The Python of each cell."""
        ends = (*self.starts[1:], len(self.text))
        return [self.text[start : end - len(_BETWEEN)] for start, end in zip(self.starts, ends, strict=True)]

    def located(self, one: Diagnostic) -> Diagnostic:
        """A diagnostic and its fix with the cells that they lie in, and positions within these."""
        cell = self._cell_at(self._offset(one.start))
        fix = one.fix
        if fix is not None:
            fix = replace(fix, edits=tuple(self._edit(edit) for edit in fix.edits))
        because = tuple(
            self.reason(each) if each.filename == one.filename and each.cell is None else each for each in one.because
        )
        first, last = (self._place(cell, self.line_starts[line - 1]).line for line in one.statement_lines)
        return replace(
            one,
            cell=self.cells[cell].number,
            start=self._place(cell, self._offset(one.start)),
            end=self._place(cell, self._offset(one.end)),
            statement_lines=(first, last),
            fix=fix,
            because=because,
            places=tuple(map(self._other_place, one.places)),
        )

    def _other_place(self, one: Place) -> Place:
        cell = self._cell_at(self._offset(one.start))
        first, last = (self._place(cell, self.line_starts[line - 1]).line for line in one.statement_lines)
        start, end = (self._place(cell, self._offset(each)) for each in (one.start, one.end))
        return replace(one, cell=self.cells[cell].number, start=start, end=end, statement_lines=(first, last))

    def reason(self, one: Reason) -> Reason:
        """A step of a chain with the cell that it lies in, and its position within that."""
        cell = self._cell_at(self._offset(one.position))
        return replace(one, cell=self.cells[cell].number, position=self._place(cell, self._offset(one.position)))

    def spliced(self, edits: Sequence[tuple[int, int, str]]) -> tuple[Cell, ...] | None:
        """The cells with some edits of the module applied, given as start, end and content, sorted and apart.

        None where that cannot be: an edit changes what only IPython understands, or goes over the end of a cell.
        """
        texts = [cell.text + _BETWEEN for cell in self.cells]
        for start, end, content in reversed(edits):
            cell = self._cell_at(start)
            if cell + 1 < len(self.starts) and end > self.starts[cell + 1]:
                return None
            if any(piece.start < end and start < piece.end for piece in self.hidden):
                return None
            # A piece that is not shown at all stands before what is replaced, and behind what is inserted.
            first, last = self._in_cell(cell, start, start < end), self._in_cell(cell, end, False)
            texts[cell] = texts[cell][:first] + content + texts[cell][last:]
        if not all(text.endswith(_BETWEEN) for text in texts):
            return None
        pairs = zip(self.cells, texts, strict=True)
        return tuple(replace(cell, text=text.removesuffix(_BETWEEN)) for cell, text in pairs)

    def _edit(self, edit: TextEdit) -> TextEdit:
        start, end, content = self._offset(edit.start), self._offset(edit.end), edit.content
        cell = self._cell_at(start)
        if start > self.starts[cell] + len(self.parts()[cell]):  # below the last line, which need not have an end
            content = "\n" + content.removesuffix("\n")
        return TextEdit(self._place(cell, start), self._place(cell, end), content, self.cells[cell].number)

    def _offset(self, position: Position) -> int:
        return self.line_starts[position.line - 1] + position.column

    def _cell_at(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def _in_cell(self, cell: int, offset: int, is_behind: bool) -> int:
        """An offset in a cell's own text; `is_behind` says on which side of a piece that is not shown at all."""
        begin = self.starts[cell]
        inside = offset - begin
        for piece in self.hidden:
            is_before = piece.end < offset or (piece.end == offset and (is_behind or piece.start < piece.end))
            if piece.start >= begin and is_before:
                inside += len(piece.original) - (piece.end - piece.start)
        return inside

    def _place(self, cell: int, offset: int) -> Position:
        """A place in a cell; its end for what lies behind it."""
        line = bisect_right(self.line_starts, offset) - 1
        begin = self.line_starts[line]
        column = offset - begin
        for piece in self.hidden:
            if begin <= piece.start and piece.end <= offset:
                column += len(piece.original) - (piece.end - piece.start)
        text = self.cells[cell].text
        lines = line_starts(text)
        end = Position(len(lines), len(text) - lines[-1])
        return min(Position(line - bisect_right(self.line_starts, self.starts[cell]) + 2, column), end)


def join(cells: Sequence[Cell]) -> Module:
    """One module of all cells, in their order."""
    parts: list[str] = []
    starts: list[int] = []
    hidden: list[Hidden] = []
    broken: list[tuple[Cell, UnreadableError]] = []
    length = 0
    for cell in cells:
        python, pieces = to_python(cell.text)
        problem = _problem(python)
        if problem is not None:
            python, pieces = blanked(cell.text)
            broken.append((cell, problem))
        starts.append(length)
        hidden += (piece.shifted(length) for piece in pieces)
        parts += (python, _BETWEEN)
        length += len(python) + len(_BETWEEN)
    text = "".join(parts)
    return Module(text, tuple(cells), tuple(starts), tuple(line_starts(text)), tuple(hidden), tuple(broken))


@lru_cache(maxsize=1024)
def _problem(python: str) -> UnreadableError | None:
    """Why some text is no Python by itself."""
    if not python.strip():
        return None
    if "\0" in python or any("\ud800" <= char <= "\udfff" for char in python):
        return UnreadableError("this cell holds characters that Python source must not")
    from dataloader_lint.source.parsing import parse

    try:
        parse(python)
    except UnreadableError as error:
        return error
    return None
