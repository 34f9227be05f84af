"""Runs when Python starts a script that is watched, before the script; takes itself away, then begins the watch.

This folder is on `PYTHONPATH` for that one process. What the script sees is what it would see without: the variable,
`sys.path`, and a `sitecustomize` of the user's own are as they are for `python SCRIPT`.
"""

import os
import sys

_BEFORE, _FOLDER = "DATALOADER_LINT_PYTHONPATH", "DATALOADER_LINT_FOLDER"
_HERE = os.path.dirname(os.path.abspath(__file__))


def _leave() -> str:
    """Undo what brought this module here; the folder of the watch."""
    before = os.environ.pop(_BEFORE, "")
    os.environ.pop("PYTHONPATH", None)
    if before:
        os.environ["PYTHONPATH"] = before[1:]
    sys.path[:] = [each for each in sys.path if os.path.abspath(each or os.curdir) != _HERE]
    sys.path_importer_cache.pop(_HERE, None)
    return os.environ.pop(_FOLDER, "")


def _begin(folder: str) -> None:
    root = os.path.dirname(os.path.dirname(os.path.dirname(_HERE)))
    try:
        import dataloader_lint
    except ImportError:  # the package was found in the working directory; workers that are spawned look for it, too
        sys.path.append(root)
    else:
        if os.path.dirname(os.path.dirname(os.path.abspath(dataloader_lint.__file__))) != root:
            print("dataloader-lint: another version of it is installed, which watches the script", file=sys.stderr)
    from dataloader_lint.doctor.child import begin

    begin(folder)


_folder = _leave()
_this = sys.modules.pop("sitecustomize")
try:
    import sitecustomize as _own  # type: ignore[import-not-found]  # noqa: F401 (that of the user)
except ModuleNotFoundError as error:
    if error.name != "sitecustomize":
        raise
    sys.modules["sitecustomize"] = _this  # for whoever imports it now; the watch takes it away
finally:
    if _folder:
        _begin(_folder)
