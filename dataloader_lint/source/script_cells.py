"""Scripts that other tools read as notebooks: comments divide them into cells, and cells run one by one."""

from __future__ import annotations

import re

# Jupytext, VS Code and Spyder (`# %%`, `#%%`), Jupytext's light format (`# +`, `# -`), and Databricks.
_CELL = re.compile(r"^#[ \t]?(?:%%|\+(?:[ \t]+\{.*\})?$|COMMAND -{4}|Databricks notebook source)", re.MULTILINE)


def has_cells(text: str) -> bool:
    """True if comments at the beginning of lines divide a script into cells."""
    return ("%%" in text or "# +" in text or "COMMAND" in text or "Databricks" in text) and bool(_CELL.search(text))
