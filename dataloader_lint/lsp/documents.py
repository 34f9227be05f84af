"""The documents that are open: pygls's workspace, with changes applied where editors mean them.

pygls ends lines at form feeds and other characters that end no line in editors, and misplaces what lies past the end of
a line; so changes of a text are applied here. All else, notebooks and their cells among it, is pygls's own.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from dataloader_lint.lsp.places import ENCODINGS
from dataloader_lint.source.decoding import line_starts

# The two halves of a character, which an editor that counts in UTF-16 may insert one by one.
_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class Text(TextDocument):
    """A document whose text the client changes in parts."""

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Apply one change. Of several in one message each is for the text after those before it."""
        text = change.text
        if isinstance(change, types.TextDocumentContentChangePartial):
            text = changed(self.source, change.range, text, self.position_codec.encoding)
        super().apply_change(types.TextDocumentContentChangeWholeDocument(text))


class Documents(Workspace):
    """pygls's workspace with such documents. Changes of what is not open are ignored."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> Text:
        return Text(doc_uri, source, version, language_id, position_codec=self.position_codec)

    def update_text_document(
        self, text_doc: types.VersionedTextDocumentIdentifier, change: types.TextDocumentContentChangeEvent
    ) -> None:
        """Apply a change of a document."""
        if unquote(text_doc.uri) in self.text_documents:
            super().update_text_document(text_doc, change)

    def put_notebook_document(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """Open a notebook; what was known of it before is forgotten."""
        known = self.notebook_documents.get(unquote(params.notebook_document.uri))
        for cell in known.cells if known is not None else ():
            self.remove_text_document(cell.document)
        super().put_notebook_document(params)

    def update_notebook_document(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Apply a change of a notebook: its cells, or their texts."""
        if unquote(params.notebook_document.uri) in self.notebook_documents:
            super().update_notebook_document(params)


def changed(text: str, place: types.Range, new: str, units: types.PositionEncodingKind | str | None) -> str:
    """A text with what stands in a range replaced.

    A line past the last one means the end of the text, a column past the end of a line the end of that line.
    """
    starts = line_starts(text)
    first, last = sorted(((place.start.line, place.start.character), (place.end.line, place.end.character)))
    kind = types.PositionEncodingKind(units or types.PositionEncodingKind.Utf16)
    before, _ = _split(text, starts, first, kind)
    _, after = _split(text, starts, last, kind)
    result = before + new + after
    return result if result.isascii() else _HALVES.sub(_joined, result)


def _split(text: str, starts: list[int], place: tuple[int, int], units: types.PositionEncodingKind) -> tuple[str, str]:
    """What stands before a place and what behind it; halves of a character where UTF-16 puts the place between them."""
    line, column = place
    if line >= len(starts):
        return text, ""
    start = starts[line]
    end = starts[line + 1] if line + 1 < len(starts) else len(text)
    content = text[start:end].rstrip("\r\n")
    if units is types.PositionEncodingKind.Utf32 or content.isascii():
        at = start + min(column, len(content))
        return text[:at], text[at:]
    name, width = ENCODINGS[units]
    encoded = content.encode(name, "surrogatepass")
    at = min(column * width, len(encoded))
    while width == 1 and at < len(encoded) and encoded[at] & 0xC0 == 0x80:  # within a character of UTF-8
        at -= 1
    parts = [part.decode(name, "surrogatepass") for part in (encoded[:at], encoded[at:])]
    return text[:start] + parts[0], parts[1] + text[start + len(content) :]


def _joined(halves: re.Match[str]) -> str:
    return halves.group().encode("utf-16-le", "surrogatepass").decode("utf-16-le")
