"""What moves under the main guard, and when nothing does."""

from __future__ import annotations

import pytest

from dataloader_lint.engine.fixer import fix_source

SCRIPT = """import enum
import torch
from torch.utils.data import DataLoader, Dataset

{setting}


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        {body}
        return index


{work}
for batch in DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn"):
    print(batch)
{tail}"""


def fixed(setting: str = "", body: str = "pass", work: str = "", tail: str = "") -> str:
    text = SCRIPT.format(setting=setting, body=body, work=work, tail=tail)
    compile(text, "script.py", "exec")
    result = fix_source(text.encode(), "/nonexistent/script.py", unsafe=True)
    assert fix_source(text.encode(), "/nonexistent/script.py").source == text.encode()
    return result.source.decode() if result.fixed.get("DL206") else ""


@pytest.mark.parametrize(
    "setting",
    [
        "SIZE = 8",
        "SIZES = (8, -1, None)",
        "SIZES = [8, {'a': -1}]",
        "torch.multiprocessing.set_sharing_strategy('file_system')",
        "size: int = 2 * 4",
        "import sys\nsys.path.append('lib')",
        "import os\nos.environ['A'] = '1'",
        "import warnings\nwarnings.simplefilter('ignore')",
        "import os\nROOT = os.path.dirname(os.path.abspath(__file__))\nimport json",
        "import sys\nfrom pathlib import Path\nROOT = Path(sys.path[0]).parent / 'lib'",
        "try:\n    import cv2\nexcept ImportError:\n    cv2 = None",
        "try:\n    import cv2\nexcept ImportError:\n    print('no OpenCV')",
        "if enum:\n    import json\nelse:\n    json = None",
        "__version__ = str(1)",
        "import matplotlib; matplotlib.use('Agg')\nimport json",
        "import logging\nlogger = logging.getLogger(__name__)",
        "'a text'",
    ],
)
def test_what_workers_may_run_again_stays(setting: str) -> None:
    lines = fixed(setting, work="model = torch.nn.Linear(1, 1)").splitlines()
    guard = lines.index("def main():")
    assert lines[guard + 1] == "    model = torch.nn.Linear(1, 1)"
    assert setting.splitlines()[-1] in lines[:guard]


@pytest.mark.parametrize(
    "work",
    [
        "args = print()",
        "data = torch.load('x') if enum else None",
        "torch.manual_seed(0)",
        "rows = [1, int()]",
        "rows = []",
        "rows = list(enum)",
        "with open('x') as file: pass",
        "if enum:\n    model = torch.nn.Linear(1, 1)",
    ],
)
def test_work_moves(work: str) -> None:
    lines = fixed(work=work).splitlines()
    guard = lines.index("def main():")
    assert lines[guard + 1] == f"    {work.splitlines()[0]}"


@pytest.mark.parametrize(
    ("body", "work", "tail"),
    [
        ("print(TABLE)", "TABLE = {}", ""),
        ("print(TABLE)", "TABLE = {}\nTABLE.update(a=1)", ""),
        ("print(late)", "", "late = 1\n"),
        ("globals()", "", ""),
        ("pass", "rows = Rows()\n\n\ndef show():\n    pass\n", ""),
        ("pass", "", "def show():\n    pass\n"),
        ("pass", "", "if batch:\n    class Late:\n        pass\n"),
        ("pass", "", "if __name__ == '__main__':\n    print(1)\n"),
        ("pass", "torch.manual_seed(0)\nimport json\nimport os\nimport sys\nimport time\n", ""),
    ],
)
def test_nothing_moves_that_workers_read_or_that_is_cut_by_definitions(body: str, work: str, tail: str) -> None:
    assert not fixed(body=body, work=work, tail=tail)


@pytest.mark.parametrize(
    ("above", "blank_lines"),
    [("import torch", 1), ("import torch\n", 1), ("import torch\n\n", 2), ("def f():\n    pass", 2), ("", 0)],
)
def test_the_guard_stands_apart(above: str, blank_lines: int) -> None:
    loop = (
        "for batch in DataLoader(list(range(4)), num_workers=2, multiprocessing_context='spawn'):\n    print(batch)\n"
    )
    start = (
        f"from torch.utils.data import DataLoader\n{above}\n"
        if above
        else "from torch.utils.data import DataLoader\n\n"
    )
    result = fix_source(f"{start}# the work\n{loop}".encode(), "/nonexistent/script.py", unsafe=True)
    lines = result.source.decode().splitlines()
    guard = lines.index("if __name__ == '__main__':")  # in the quotes of the file
    assert lines[guard + 1] == "    # the work"
    assert guard - max(number for number, line in enumerate(lines[:guard]) if line) == max(blank_lines, 1) + 1


def test_headings_move_and_blank_lines_stay_single() -> None:
    work = """SIZE = 1
'''
Options
'''
rows = list(enum)


text = '''one


two'''
"""
    lines = fixed(work=work).splitlines()
    guard = lines.index("def main():")
    assert lines[guard - 3 : guard] == ["SIZE = 1", "", ""]
    expected = "    # Options\n    rows = list(enum)\n\n    text = '''one\n\n\ntwo'''\n\n    for batch"
    assert "\n".join(lines[guard + 1 :]).startswith(expected)


@pytest.mark.parametrize(
    ("setting", "work"),
    [
        ("SIZE = 1", "SIZE += 1"),
        ("", "print(id(1))\nid = 2"),
        ("", "print(globals())"),
        ("", "print(locals())"),
        ("def main():\n    pass", "rows = list(enum)"),
        ("", "global rows\nrows = 1"),
        ("", ""),
    ],
)
def test_a_guard_without_main(setting: str, work: str) -> None:
    """Names of `main` would have no value yet, or be no names of the module; one statement needs no function."""
    lines = fixed(setting=setting, work=work).splitlines()
    guard = lines.index('if __name__ == "__main__":')
    assert lines[guard + 1].startswith(f"    {(work or 'for batch in DataLoader(').splitlines()[0]}")
    assert "    main()" not in lines


def test_methods_that_are_called_like_builtins_are_no_reason_against_main() -> None:
    work = "from os.path import *\nmodel = torch.nn.Linear(1, 1)\nmodel.eval()\nprint(vars(model), model.main)"
    body = "torch.nn.Linear(1, 1).eval()"
    assert "def main():" in fixed("from os.path import *", body, work.partition("\n")[2])


def test_main_is_called_at_the_end() -> None:
    lines = fixed(work="rows = list(enum)", tail="# The end.\n\n\n").splitlines()
    assert lines[-5:] == ["    # The end.", "", "", 'if __name__ == "__main__":', "    main()"]


@pytest.mark.parametrize(
    "work",
    [
        "import warnings\nrows = Rows()\nwarnings.filterwarnings('ignore')\nprint(1)\nwarnings.filterwarnings('error')",
        "rows = Rows()\nenum.DEBUG = True\nprint(enum)",
        "rows = Rows()\ntorch.set_num_threads(2)\nif rows:\n    torch.set_num_threads(4)",
        "import warnings\nrows = Rows()\nwarnings.warn('slow')",
    ],
)
def test_settings_that_other_work_depends_on_keep_their_place(work: str) -> None:
    lines = [line.strip() for line in fixed(work=work).splitlines()]
    places = [lines.index(each.strip()) for each in work.splitlines() if not each.startswith("import")]
    assert places == sorted(places)
    assert places[0] > lines.index("def main():")
