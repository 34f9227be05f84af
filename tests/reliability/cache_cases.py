"""Small projects in which a change of one file changes the findings in another."""

from __future__ import annotations

from dataclasses import dataclass

from dataloader_lint.semantics.project.dependencies import OPENED

LOADING = "from torch.utils.data import DataLoader, Dataset, IterableDataset\n"
ROWS = """\
class Rows({0}):
    def __init__(self, names):
        self.names = [str(name) for name in names]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return self.names[index]


"""
USED = "DataLoader(Rows(x), num_workers=2)\n"
PINNING = LOADING + "\n\ndef make_loader(data):\n    return DataLoader(data, num_workers=2, pin_memory=True)\n"
MOVING = "for batch in {0}(range(8)):\n    batch.cuda()\n"
IMAGES = """\
import cv2
from torch.utils.data import DataLoader, Dataset
from pkg.deep import x


class Images(Dataset):
    def __init__(self, p): self.p = p
    def __getitem__(self, i): return cv2.resize(self.p[i], (2, 2))


loader = DataLoader(Images(x), num_workers=4)
"""
SEEDED = """\
import random, torch
from torch.utils.data import Dataset, get_worker_info


class Flow(Dataset):
    def __init__(self, p): self.p = torch.tensor(p); self.is_seeded = False
    def __len__(self): return len(self.p)
    def __getitem__(self, i):
        if not self.is_seeded:
            info = get_worker_info()
            if info is not None:
                random.seed(info.id)
                self.is_seeded = True
        return self.p[i] * random.random()
"""
SAMPLED = """\
from torch.utils.data import DataLoader, DistributedSampler

from middle import run

loader = DataLoader(range(8), sampler=DistributedSampler(range(8)))
for {0} in range(3):
    run(loader)
"""
PERSISTENT = """\
from torch.utils.data import DataLoader, Dataset

from middle import run


class Rows(Dataset):
    def __init__(self):
        self.scale = 1

    def __getitem__(self, index):
        return index * self.scale


data = Rows()
loader = DataLoader(data, num_workers=2, persistent_workers=True)
for epoch in range(3):
    data.scale = epoch
    run(loader)
"""
MIDDLE = "from engine import *\n\nDataLoader = None\n\n\ndef run(loader):\n    fit(loader)\n"
FIT = "def fit(loader):\n    for batch in loader:\n        batch.backward()\n"
DEEPER = (
    "# DataLoader\nfrom deeper import learn\n\n\ndef fit(loader):\n    for batch in loader:\n        learn(batch)\n"
)
LOOKED_AT = """\
if __name__ == "__main__":
    for row in Rows(open("names")):
        print(row)
"""
LIMIT = "import cv2\n\ncv2.setNumThreads(0)\n"


@dataclass(frozen=True)
class Case:
    """A project, and a change of it that changes what is found.

    `kinds` are those of questions without which nobody notices. The first is the one that the case is about; others, if
    any, are those that notice the change as well.
    """

    name: str
    kinds: str
    before: dict[str, str]
    after: dict[str, str | None]
    fixes: str = ""


CASES = [
    Case(
        "a constant of another file",
        "content",
        {
            "train.py": LOADING + "import x\nDataLoader(d, persistent_workers=True, num_workers=x.N)\n",
            "x.py": "N = 0\n",
        },
        {"x.py": "N = 4\n"},
    ),
    Case(
        "a module that was missing",
        "located",
        {"train.py": LOADING + "from env.x import N\nDataLoader(d, persistent_workers=True, num_workers=N)\n"},
        {"env/x.py": "N = 0\n"},
    ),
    Case(
        "a submodule that was missing",
        "below",
        {
            "train.py": LOADING + "import env\nDataLoader(d, persistent_workers=True, num_workers=env.x.N)\n",
            "env/__init__.py": "",
        },
        {"env/x.py": "N = 0\n"},
    ),
    Case(
        "a package around a module that is imported",
        "packages",
        {"data.py": IMAGES, "pkg/deep.py": "x = 1\n", "limits.py": LIMIT},
        {"pkg/__init__.py": "import limits\n"},
    ),
    Case(
        "a package around a script",
        "packaged",
        {"tool/show.py": LOADING + "\n\n" + ROWS.format("Dataset") + LOOKED_AT},
        {"tool/__init__.py": ""},
    ),
    Case(
        "what the project requires",
        "requirements",
        {"data.py": LOADING + "from torchdata.datapipes.iter import IterDataPipe\n"},
        {"requirements.txt": "torchdata<0.10\n"},
    ),
    Case(
        "a caller",
        "callers importers users_at holders held located",
        {"train.py": LOADING + "\n\ndef make(n):\n    return DataLoader(x, num_workers=n, persistent_workers=True)\n"},
        {"other.py": "from train import make\n\nloader = make(0)  # a DataLoader\n"},
    ),
    Case(
        "a loader elsewhere",
        "users_at importers",
        {"data.py": LOADING + "\n\n" + ROWS.format("Dataset")},
        {"train.py": LOADING + "from data import Rows as R\n\nloader = DataLoader(R(x), num_workers=0)\n"},
    ),
    Case(
        "the workers of a loader elsewhere",
        OPENED,
        {
            "data.py": LOADING + "\n\n" + ROWS.format("Dataset"),
            "train.py": LOADING + "from data import Rows\n\nDataLoader(Rows(x), num_workers=0)\n",
        },
        {"train.py": LOADING + "from data import Rows\n\nDataLoader(Rows(x), num_workers=2)\n"},
    ),
    Case(
        "a word in another file",
        "held",
        {"a.py": SEEDED, "b.py": LOADING + "OPTS = {'persistent_workers': True}\n"},
        {"b.py": LOADING + "OPTS = {}\n"},
    ),
    Case(
        "a limit of threads above",
        "holders",
        {"data.py": IMAGES, "pkg/deep.py": "x = 1\n"},
        {"main.py": "import data\n" + LIMIT},
    ),
    Case(
        "a function that comes to be defined",
        "function",
        {
            "train.py": PERSISTENT,
            "middle.py": "from engine import fit\n\nDataLoader = None\n\n\ndef run(loader):\n    fit(loader)\n",
            "engine.py": "def learn(loader):\n    for batch in loader:\n        batch.step()\n\n\nfit = learn\n",
        },
        {"other.py": "def fit():\n    pass\n"},
    ),
    Case(
        "a function that comes to train",
        "leading located opened",
        {
            "train.py": SAMPLED.format("turn"),
            "middle.py": MIDDLE,
            "engine.py": DEEPER,
            "deeper.py": "# DataLoader\ndef learn(x):\n    x.forward()\n",
        },
        {"deeper.py": "# DataLoader\ndef learn(x):\n    x.backward()\n"},
    ),
    Case(
        "a base that becomes a Dataset",
        "dataset located opened",
        {
            "root.py": "class Root:\n    pass\n",
            "parts.py": "from root import Root\n\n\nclass Middle(Root):\n    pass\n",
            "data.py": LOADING
            + "from parts import Middle\n\n\n"
            + ROWS.format("Middle").replace("__getitem__", "row")
            + USED,
        },
        {
            "root.py": LOADING
            + "\n\nclass Root(Dataset):\n    def __getitem__(self, index):\n        return self.row(index)\n"
        },
    ),
    Case(
        "a base that becomes a Dataset, for a file that speaks of no loading",
        "subclasses",
        {
            "root.py": "class Root:\n    pass\n",
            "parts.py": "from root import Root\n\n\nclass Middle(Root):\n    pass\n",
            "data.py": "import h5py\nfrom parts import Middle\n\n\nclass Rows(Middle):\n"
            "    def __init__(self, path):\n        self.file = h5py.File(path)\n\n"
            "    def __getitem__(self, index):\n        return self.file[index]\n",
        },
        {"root.py": LOADING + "\n\nclass Root(Dataset):\n    pass\n"},
    ),
    Case(
        "a test that begins to expect the error",
        "tested",
        {
            "making.py": LOADING
            + "\n\ndef make(d, n=0):\n    return DataLoader(d, num_workers=n, persistent_workers=True)\n",
            "test_making.py": "import pytest\n",
        },
        {
            "test_making.py": "import pytest\nfrom making import make\n\n\ndef test_make():\n"
            "    with pytest.raises(ValueError):\n        make([1])\n"
        },
    ),
    Case(
        "a subclass that fills a list",
        "importers",
        {
            "base.py": LOADING + "\n\nclass Rows(Dataset):\n    def __init__(self, file):\n        self.file = file\n"
            "        self.infos = self.load()\n\n    def load(self):\n        raise NotImplementedError\n\n"
            "    def __getitem__(self, index):\n        return self.infos[index]\n"
        },
        {
            "videos.py": "import functools\nfrom base import Rows\n\n\nclass Videos(Rows):\n    def load(self):\n"
            "        infos = []\n        for line in open(self.file):\n            infos.append(dict(name=line))\n"
            "        return infos\n"
        },
    ),
    Case(
        "a function that comes to collate",
        "collating opened",
        {
            "pack.py": "# A DataLoader takes it.\ndef pack(rows):\n    return lambda: rows\n",
            "train.py": LOADING + "import pack\n\nloader = DataLoader(x, num_workers=2, collate_fn=None)\n",
        },
        {"train.py": LOADING + "import pack\n\nloader = DataLoader(x, num_workers=2, collate_fn=pack.pack)\n"},
    ),
    Case(
        "a module of which only PYTHONPATH tells, and a second one of its name",
        "called",
        {"parts/loaders.py": PINNING, "train.py": "from loaders import make_loader\n\n" + MOVING.format("make_loader")},
        {"others/loaders.py": PINNING},
    ),
    Case(
        "a module that is loaded by a name with unknown parts",
        "matching held",
        {
            "train.py": "import importlib\n\nname = input()\nmodule = importlib.import_module(f'tasks.{name}.parser')\n"
            + MOVING.format("module.make_loader"),
        },
        {"tasks/cars/parser.py": PINNING},
    ),
]

# Their answers matter only in ways that other questions tell of as well, as far as we know.
ONLY_ASKED = {
    ("namespace", "parts", 0): {"__init__.py": "", "parts/rows.py": ""},
    ("class", "Shrink"): {"shrink.py": "class Shrink:\n    pass\n"},
    ("beside_loaders", "make"): {"make.py": LOADING + "loader = DataLoader(x)\n"},
}
ASKING = """\
from torch.utils.data import DataLoader, Dataset
from api import make


class Lines(Dataset):
    def __init__(self, file, extra: Shrink):
        self.lines = [f"{line} " for line in open(file)]
        self.extra = extra
        self.later = lambda x: x

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        return self.lines[index], self.extra[index]
"""
