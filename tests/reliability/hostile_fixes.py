"""Programs that were written to be broken by safe fixes: each must do the same before and after them."""

from __future__ import annotations

DATA = "import torch\nfrom torch.utils.data import DataLoader, Dataset\n"
ROWS = (
    DATA
    + "\n\nclass Rows(Dataset):\n    def __len__(self):\n        return 4\n\n"
    + "    def __getitem__(self, index):\n        if index > 3:\n            raise IndexError\n"
    + "        return torch.tensor(index)\n\n\n"
)
RUN = "\n\nif __name__ == '__main__':\n    print([str(each) for each in make()])\n"
COLLATE = (
    ROWS
    + "def make():\n    k = 2\n    return DataLoader(Rows(), num_workers=1, collate_fn=lambda rows: {0})\n{1}"
    + RUN
)
SEED = (
    ROWS + "{0}def seed():\n    print('seed')\n\n\n{1}def make():\n"
    "    return DataLoader(Rows(), num_workers=1, worker_init_fn=seed)\n"
)
OPTIONS = ROWS + "{0}def make():\n    {1}\n    return DataLoader(Rows(), num_workers=0, {2})" + RUN
SCRIPT = ROWS + "{0}\nloader = DataLoader(Rows(), num_workers=1)\nfor batch in loader:\n    print(batch)\n{1}"
MOVE = (
    ROWS
    + "{0}\n\ndef make():\n    for batch in DataLoader(Rows(), pin_memory=True):\n        {1}\n    return []\n"
    + RUN
)

PROGRAMS: dict[str, dict[str, str]] = {
    # Names.
    "a name of the class": {
        "main.py": ROWS + "class Maker:\n    k = 3\n"
        "    loader = DataLoader(Rows(), num_workers=1, collate_fn=lambda rows: (rows, k))\n\n\n"
        "k = 5\nif __name__ == '__main__':\n    print(list(Maker.loader))\n"
    },
    "a class-private name": {
        "main.py": ROWS + "class Maker:\n    def make(self):\n        __k = 3\n"
        "        return DataLoader(Rows(), num_workers=1, collate_fn=lambda rows: (rows, __k))\n\n\n"
        "if __name__ == '__main__':\n    print(list(Maker().make()))\n"
    },
    "a walrus around": {"main.py": COLLATE.format("(n := len(rows)) and (n, k)", "    print(n)\n")},
    "a walrus in the arguments": {
        "main.py": ROWS
        + "def make():\n    return DataLoader(Rows(), num_workers=(n := 1), collate_fn=lambda rows: (rows, n))\n"
        + RUN
    },
    "a name that is deleted": {
        "main.py": ROWS
        + "def make():\n    k = 2\n    loader = DataLoader(Rows(), num_workers=0, collate_fn=lambda rows: (rows, k))\n"
        "    first = list(loader)\n    del k\n    return first\n" + RUN
    },
    "a name that is global": {
        "main.py": ROWS + "k = 1\n\n\ndef make():\n    global k\n    k = 2\n"
        "    loader = DataLoader(Rows(), num_workers=0, collate_fn=lambda rows: (rows, k))\n    k = 3\n"
        "    return loader\n" + RUN
    },
    "a name that is nonlocal": {
        "main.py": ROWS + "def make():\n    k = 1\n\n    def change():\n        nonlocal k\n        k += 1\n\n"
        "    loader = DataLoader(Rows(), num_workers=0, collate_fn=lambda rows: (rows, k))\n    change()\n"
        "    return loader\n" + RUN
    },
    "a shadowed builtin": {
        "main.py": COLLATE.format("list(map(len, [rows]))", "").replace(
            "    k = 2", "    list = tuple\n    len = id and (lambda x: 7)"
        )
    },
    "a shadowed DataLoader": {
        "main.py": "def DataLoader(*args, **more):\n    print(sorted(more))\n    return []\n\n\n"
        "def make():\n    return DataLoader([1], num_workers=0, persistent_workers=True, prefetch_factor=2)\n" + RUN
    },
    "a DataLoader that is defined again": {
        "main.py": ROWS + "if len('x') > 0:\n    class DataLoader(DataLoader):\n"
        "        def __init__(self, *args, prefetch_factor=1, **more):\n"
        "            print(prefetch_factor)\n            super().__init__(*args, **more)\n\n\n"
        "def make():\n    return DataLoader(Rows(), num_workers=0, prefetch_factor=2)\n" + RUN
    },
    "names beyond ASCII": {
        "main.py": COLLATE.format("(rows, grüße, ﬁn)", "").replace("    k = 2", "    grüße = 'ü'\n    fin = 'ﬁ'")
    },
    "names that are the same": {
        "main.py": COLLATE.format("(rows, ﬀ)", "").replace("    k = 2", "    ff = 1\n    ﬀ = 2")
    },
    "nested f-strings": {"main.py": COLLATE.format("""f"{f'{len(rows):>{k}}' + '}'!r:>{k + 9}}" """, "")},
    "a lambda in a lambda": {"main.py": COLLATE.format("(lambda k: (lambda rows=rows: (rows, k))())(k)", "")},
    "a pattern": {
        "main.py": ROWS
        + "def make():\n    class Point:\n        __match_args__ = ('x',)\n\n    Limit = 1\n\n    def collate(rows):\n"
        "        match rows:\n            case Point(x):\n                return x\n"
        "            case [*_, last] if Limit:\n"
        "                return last\n        return rows\n\n"
        "    return DataLoader(Rows(), num_workers=1, collate_fn=collate)\n" + RUN
    },
    "a name for type checkers": {
        "main.py": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from functools import partial\n"
        + COLLATE.format("(rows, k)", "").replace("import torch\n", "import torch\n")
    },
    "an import that may fail": {
        "main.py": "try:\n    from nowhere import partial\nexcept ImportError:\n    partial = None\n"
        + COLLATE.format("(rows, k)", "    print(partial)\n")
    },
    # Functions that only call another one.
    "a method that is a property": {
        "main.py": ROWS + "class Tool:\n    calls = 0\n\n    @property\n    def pad(self):\n"
        "        Tool.calls += 1\n        count = Tool.calls\n        return [tuple, list][count % 2]\n\n\n"
        "def make():\n    tool = Tool()\n"
        "    return DataLoader(Rows(), num_workers=0, collate_fn=lambda rows: tool.pad(rows))\n" + RUN
    },
    "a method that is replaced": {
        "main.py": ROWS + "class Tool:\n    def pad(self, rows):\n        return rows\n\n\n"
        "def make():\n    tool = Tool()\n"
        "    loader = DataLoader(Rows(), num_workers=0, collate_fn=lambda rows: tool.pad(rows))\n"
        "    tool.pad = tuple\n    return loader\n" + RUN
    },
    "an object that is replaced": {
        "main.py": ROWS + "class Tool:\n    def pad(self, rows):\n        return rows\n\n\n"
        "def make():\n    tool = Tool()\n"
        "    loader = DataLoader(Rows(), num_workers=0, collate_fn=lambda rows: tool.pad(rows))\n"
        "    tool = None\n    return loader\n" + RUN
    },
    "a local function with the name of a function": {
        "main.py": ROWS + "def pad(rows, k=1):\n    return rows, k\n\n\ndef make():\n    def pad(rows):\n"
        "        return rows[:1]\n\n    def collate(rows):\n        return pad(rows)\n\n"
        "    return DataLoader(Rows(), num_workers=0, collate_fn=collate)\n" + RUN
    },
    "a local function that others look at": {
        "main.py": ROWS + "def pad(rows, k=1):\n    return rows, k\n\n\ndef make():\n    k = 2\n\n"
        "    def collate(rows):\n        return pad(rows)\n\n    print(collate.__name__, k)\n"
        "    return DataLoader(Rows(), num_workers=0, collate_fn=collate)\n" + RUN
    },
    "a local function that calls itself by another": {
        "main.py": ROWS + "def again(rows, function):\n    return rows, function is None\n\n\ndef make():\n"
        "    def collate(rows):\n        return again(rows, collate)\n\n"
        "    return DataLoader(Rows(), num_workers=0, collate_fn=collate)\n" + RUN
    },
    "an argument by a keyword of another name": {
        "main.py": ROWS + "def pad(rows, k=1):\n    return rows, k\n\n\n"
        "def make():\n    return DataLoader(Rows(), num_workers=0, collate_fn=lambda rows: pad([7], k=rows))\n" + RUN
    },
    "all arguments in two stars": {
        "main.py": ROWS + "def pad(*rows, **more):\n    return rows, more\n\n\n"
        "def make():\n    return DataLoader(Rows(), num_workers=0, collate_fn=lambda *a, **b: pad(*a, *a, **b))\n" + RUN
    },
    # Others who use a function.
    "called by a decorator": {
        "main.py": SEED.format("def run(function):\n    function()\n    return function\n\n\n@run\n", "") + RUN
    },
    "called by getattr": {
        "main.py": SEED.format("", "") + RUN + "    import sys\n    getattr(sys.modules['__main__'], 'se' + 'ed')()\n"
    },
    "called by what a star brings": {
        "hooks.py": SEED.format("", "__all__ = ['seed']\n"),
        "main.py": "from hooks import *\n\nif __name__ == '__main__':\n    seed()\n",
    },
    "called by a subclass": {
        "main.py": ROWS + "class Base:\n    def seed():\n        print('seed')\n\n    def make(self):\n"
        "        return DataLoader(Rows(), num_workers=1, worker_init_fn=Base.seed)\n\n\nclass Own(Base):\n"
        "    pass\n\n\n"
        "if __name__ == '__main__':\n    Own.seed()\n"
    },
    "called in a comprehension": {"main.py": SEED.format("", "") + "\n\n[each() for each in (seed,)]\n"},
    # Options.
    "an option with a comment for tools": {
        "main.py": OPTIONS.format(
            "", "pass", "persistent_workers=True,  # type: ignore[call-arg]\n        timeout=0,  # noqa: E501\n    "
        )
    },
    "an option between fmt comments": {
        "main.py": OPTIONS.format(
            "", "# fmt: off", "prefetch_factor=2, # keep\n                  pin_memory=False,\n    # fmt: on\n    "
        )
    },
    "an option with a walrus": {
        "main.py": OPTIONS.format("", "pass", "persistent_workers=(on := True)").replace(RUN, "") + RUN
    },
    "options that are read later": {
        "main.py": OPTIONS.format("", "kw = dict(persistent_workers=True)\n    print(len(kw))", "**kw")
    },
    "options that are global": {
        "main.py": OPTIONS.format("KW = {'prefetch_factor': 2}\n\n\n", "global KW", "**KW").replace(
            "print([", "print(KW, ["
        )
    },
    "options by locals": {"main.py": OPTIONS.format("", "kw = {'timeout': 5}\n    print(locals()['kw'])", "**kw")},
    "options in a class body": {
        "main.py": ROWS
        + "class Maker:\n    kw = {'timeout': 5}\n    loader = DataLoader(Rows(), **kw)\n\n\nprint(Maker.kw)\n"
    },
    "an option whose name is put together": {"main.py": OPTIONS.format("", "pass", "**{'prefetch' + '_factor': 2}")},
    "a caller over lines that expects the error": {
        "making.py": ROWS + "def make(n):\n    return DataLoader(Rows(), num_workers=n, timeout=1 if n else 5)\n",
        "main.py": "from making \\\n  import \\\n  make\n\ntry:\n    print(list(make(0)))\n"
        "except AssertionError:\n    print('expected')\n",
    },
    # Scripts.
    "a script that is imported for a name": {
        "main.py": "import script\n\nprint(script.batch)\n",
        "script.py": SCRIPT.format("", "").replace("num_workers=1", "num_workers=len('x')"),
    },
    "a script that a function reads": {
        "main.py": SCRIPT.format("def shown():\n    return batch\n", "print(shown())\n")
    },
    "a script with a global statement": {
        "main.py": SCRIPT.format(
            "def count():\n    global total\n    total = total + 1\n", "total = 1\ncount()\nprint(total)\n"
        )
    },
    "a script with names by text": {
        "main.py": SCRIPT.format("def show(name):\n    return globals()[name]\n", "print(show('batch'))\n")
    },
    "a script with its own exports": {
        "script.py": SCRIPT.format("__all__ = ['batch']\n", ""),
        "main.py": "if __name__ == '__main__':\n    from script import *\n\n    print(batch)\n",
    },
    "a script with form feeds": {
        "main.py": SCRIPT.format("\f", "\f\nprint('''a\n\f  b\n''')\n\f\nif True:\n    print(1)\n")
    },
    "a script with text over lines": {
        "main.py": SCRIPT.format(
            "", "print(f'''{batch}\n  {'''x'''}\n''', '''\\\n  y''', b'''\n z''')\nx = (1 +\n2)\nprint(x)\n"
        ).replace("{'''x'''}", "{str(1)}")
    },
    "a script with decorators": {
        "main.py": SCRIPT.format(
            "",
            "\ndef deco(f):\n    print(batch)\n    return f\n\n\n@deco\ndef f():\n    return batch\n\n\nprint(f())\n",
        )
    },
    "a script with a class that reads": {
        "main.py": SCRIPT.format("", "class Last:\n    value = batch\n\n\nprint(Last.value)\n")
    },
    "a script with a default": {"main.py": SCRIPT.format("", "def f(x=batch):\n    return x\n\n\nprint(f())\n")},
    "a script with annotations": {
        "main.py": SCRIPT.format("", "total: int\ntotal = 1  # type: int\nprint(total, __annotations__)\n")
    },
    "a script with a deleted name": {
        "main.py": SCRIPT.format("", "del batch\ntry:\n    batch\nexcept NameError:\n    print('gone')\n")
    },
    "a script that ends itself": {"main.py": SCRIPT.format("import sys\n", "sys.exit('done')\n")},
    # Moves.
    "a device by a walrus": {
        "main.py": MOVE.format("", "print(batch.to(device := 'cuda' if torch.cuda.is_available() else 'cpu'), device)")
    },
    "a device in a match": {
        "main.py": MOVE.format(
            "device = 'cuda'\nmatch torch.backends.mps.is_available():\n    case True:\n"
            "        device = 'mps'\n    case _ if not torch.cuda.is_available():\n        device = 'cpu'\n",
            "print(batch.to(device).tolist())",
        )
    },
    "a device captured by a pattern": {
        "main.py": MOVE.format(
            "device = 'cpu'\nmatch 'mps' if torch.backends.mps.is_available() else 'cpu':\n    case device:\n"
            "        pass\n",
            "moved = batch.to(device)\n        batch.zero_()\n        print(moved.tolist())",
        )
    },
    "a batch that is written by another name": {
        "main.py": MOVE.format(
            "device = 'cuda' if torch.cuda.is_available() else 'cpu'\n",
            "same = batch\n        moved = batch.to(device)\n        same.zero_()\n        print(moved.tolist())",
        )
    },
    "a batch that is kept and written": {
        "main.py": MOVE.format(
            "device = 'cuda' if torch.cuda.is_available() else 'cpu'\nkept = []\n",
            "kept.append(batch)\n        moved = batch.to(device)\n        kept[-1].zero_()\n"
            "        print(moved.tolist())",
        )
    },
    "a batch of a view": {
        "main.py": MOVE.format(
            "device = 'cuda' if torch.cuda.is_available() else 'cpu'\n",
            "moved = batch.view(-1).to(device)\n        batch.zero_()\n        print(moved.tolist())",
        )
    },
}
