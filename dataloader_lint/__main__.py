"""`python -m dataloader_lint`."""

from __future__ import annotations

import os
import sys

# Python looks for modules in the working directory first when it is started like this, and so would run the `json.py`
# or `libcst.py` of whatever project is linted.
if sys.path and sys.path[0] in ("", os.getcwd()) and not sys.flags.safe_path:
    del sys.path[0]

from dataloader_lint.cli import main

if __name__ == "__main__":
    sys.exit(main())
