"""`python -m dataloader_lint`."""

import os
import sys

# Python looks for modules in the working directory first when it is started like this, and so would run the `json.py`
# or `libcst.py` of whatever project is linted. What Python itself imports for `-m`, such as `types`, it has run from
# there before it comes to this file; `python -P -m dataloader_lint` and the command `dataloader-lint` run none of it.
try:
    folder = os.getcwd()
except OSError:  # it has been deleted
    folder = ""
if sys.path and sys.path[0] in ("", folder) and not sys.flags.safe_path:
    del sys.path[0]

from dataloader_lint.cli import main

if __name__ == "__main__":
    sys.exit(main())
