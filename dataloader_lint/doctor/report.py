"""What a run of the doctor comes to, with every way to show it."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from dataloader_lint.doctor.measured import Measured


@dataclass(slots=True)
class Report(Measured):
    """What was measured, what it means, and where the cause is."""

    def text(self, *, ascii_only: bool = False, width: int = 100) -> str:
        """The report for a terminal."""
        from dataloader_lint.doctor.output_text import emit

        return "\n".join(emit(self, ascii_only=ascii_only, width=width))

    def to_json(self) -> str:
        """The report as one JSON object."""
        from dataloader_lint.doctor.output_json import emit

        return emit(self)

    def to_html(self) -> str:
        """The report as one HTML page that loads nothing."""
        from dataloader_lint.doctor.output_html import emit

        return emit(self)

    def to_sarif(self) -> str:
        """The findings that explain a symptom, as SARIF 2.1.0."""
        from dataloader_lint.doctor.output_sarif import emit

        return emit(self)

    def __str__(self) -> str:
        encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
        return self.text(ascii_only=not encoding.startswith("utf"))

    def _repr_html_(self) -> str:
        """What a notebook shows: the text as it is, since a page of its own would change the notebook's style."""
        from html import escape

        return f"<pre>{escape(self.text())}</pre>"
