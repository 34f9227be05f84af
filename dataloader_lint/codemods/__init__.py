"""Commands for `python -m libcst.tool codemod`; see `fixes`."""

from __future__ import annotations

import sys

from dataloader_lint.codemods.fixes import *  # noqa: F403

# The runner puts a configured module before the name that it is given. Where that is `dataloader_lint.codemods`, the
# full name of a command must lead here all the same.
for _name in ("dataloader_lint", "dataloader_lint.codemods"):
    sys.modules.setdefault(f"dataloader_lint.codemods.{_name}", sys.modules["dataloader_lint.codemods"])
