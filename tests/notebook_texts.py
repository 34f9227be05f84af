"""Notebooks for tests: made from the texts of cells, in the shapes that they are written in."""

from __future__ import annotations

import json
from typing import Any

PYTHON = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def cell(source: object, kind: str = "code", **more: object) -> dict[str, Any]:
    """A cell as Jupyter writes it, with its source as a list of lines where it is given as text."""
    lines = source.splitlines(keepends=True) if isinstance(source, str) else source
    code = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": lines, **code, **more}


def notebook(*cells: object, **more: object) -> dict[str, Any]:
    """A notebook with these cells, of which texts become code cells."""
    made = [cell(each) if isinstance(each, str) else each for each in cells]
    return {"cells": made, "metadata": PYTHON, "nbformat": 4, "nbformat_minor": 5, **more}


def encoded(content: object, **style: Any) -> bytes:
    """A notebook's bytes, in Jupyter's own style unless another one is asked for."""
    return (json.dumps(content, **{"indent": 1, "ensure_ascii": False, **style}) + "\n").encode()


def source_of(content: bytes, number: int) -> str:
    """The text of a cell, counted from 1."""
    source = json.loads(content)["cells"][number - 1]["source"]
    return source if isinstance(source, str) else "".join(source)
