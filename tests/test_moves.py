"""DL401: which moves of parts of default batches are safe not to block."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from dataloader_lint.engine.fixer import fix_source
from dataloader_lint.settings import Settings

HEAD = "import argparse\nimport torch\nfrom torch.utils.data import DataLoader, Dataset, TensorDataset\n"
DATASET = "from torch.utils.data import Dataset\n"
CUDA = 'torch.device("cuda" if torch.cuda.is_available() else "cpu")'
ROWS = """
class Rows(Dataset):
    def __init__(self, rows, transform):
        self.rows, self.transform = rows, transform

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return {sample}

def train(rows, transform, options):
    for {target} in DataLoader(Rows(rows, transform), pin_memory=True{more}):
        print({moved})
"""


def rows(
    moved: str = 'image.to("cuda")',
    sample: str = "self.transform(self.rows[index]), 1",
    target: str = "image, label",
    more: str = "",
) -> str:
    return HEAD + dedent(ROWS).format(moved=moved, sample=sample, target=target, more=more)


def own(method: str, base: str = "dict") -> str:
    return f"class Record({base}):\n    {method}\n        return self\n"


SAFE, UNSAFE, NONE = "safe", "unsafe", "none"
# The file with the move, what other files hold, and which fix there is.
PARTS: dict[str, tuple[str, dict[str, str], str]] = {
    "a part of a tuple": (rows(), {}, SAFE),
    "a part of a dict": (rows('batch["x"].to("cuda")', '{"x": self.transform(1)}', "batch"), {}, SAFE),
    "a part of what nobody knows": (rows('batch[0].to("cuda")', "self.transform(1)", "batch"), {}, SAFE),
    "with cuda": (rows("image.cuda()"), {}, SAFE),
    "batches of a known size": (rows(more=", batch_size=8"), {}, SAFE),
    "a Dataset from elsewhere": (
        HEAD + 'def train(ds):\n    for x, y in DataLoader(ds, pin_memory=True):\n        print(x.to("cuda"))\n',
        {},
        SAFE,
    ),
    "a class with a move like that of tensors": (
        rows() + own("def to(self, device, non_blocking=False):"),
        {"other.py": own("def to(self, *args, **kwargs):")},
        UNSAFE,
    ),
    "another `to`": (rows(), {"other.py": "def total(self, to):\n    return a.to == to\n"}, SAFE),
    # `default_collate` keeps the classes of dicts, named tuples and lists, which may have moves of their own.
    "a class of the file": (rows() + own("def to(self, device):"), {}, UNSAFE),
    "a class of another file": (rows(), {"lib/other.py": own("def to(self, device):", "UserDict")}, UNSAFE),
    "a class with `cuda`": (rows("image.cuda()"), {"other.py": own("def cuda(self):", "NamedTuple")}, UNSAFE),
    "dicts of a library": (
        rows(),
        {"other.py": f"{DATASET}from transformers import AutoTokenizer\n"},
        UNSAFE,
    ),
    "a class that is registered": (
        rows(),
        {"other.py": f"{DATASET}default_collate_fn_map[Graph] = stack\n"},
        UNSAFE,
    ),
    "an attribute of a batch": (rows('batch.x.to("cuda")', "self.transform(1)", "batch"), {}, UNSAFE),
    "batches of any size": (rows(more=", batch_size=options.size"), {}, UNSAFE),
    "samples as they are": (rows(more=", batch_size=None"), {}, UNSAFE),
    "samples of a class, as they are": (
        rows(more=", batch_size=None"),
        {"other.py": own("def to(self, device):")},
        NONE,
    ),
    "a whole batch": (rows('batch.to("cuda")', "self.transform(1)", "batch"), {}, NONE),
    "a collate_fn": (rows(more=", collate_fn=options.collate"), {}, NONE),
}


def fix_of(source: str, others: dict[str, str], folder: Path) -> str:
    (folder / "setup.cfg").touch()
    for name, content in {**others, "train.py": source}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    settings = Settings(select=("DL401",))
    for kind in (SAFE, UNSAFE):
        result = fix_source(source.encode(), str(folder / "train.py"), settings, unsafe=kind == UNSAFE)
        if result.fixed:
            return kind if b"non_blocking=True" in result.source else f"{kind} by type"
    return NONE


@pytest.mark.parametrize("kind", PARTS)
def test_parts_of_default_batches(kind: str, tmp_path: Path) -> None:
    source, others, expected = PARTS[kind]
    assert fix_of(source, others, tmp_path) == expected


CONFIG = f"class Config:\n    device = {CUDA}\n\nconfig = Config()\n"
PARSED = "args = argparse.ArgumentParser().parse_args()\n"
BY_TYPE = "safe by type"


def at(device: str, setting: str = "", more: str = "") -> str:
    move = f"for (batch,) in DataLoader(TensorDataset(images), pin_memory=True):\n        print(batch.to({device}))\n"
    return f"{HEAD}{setting}\n\ndef train(images{more}):\n    {move}"


PUBLIC = f"{HEAD}\n\ndef {{name}}(images, device{{hint}}):\n    for (batch,) in DataLoader(TensorDataset(images), pin_memory=True):\n        print(batch.to(device))\n"  # noqa: E501
CALLS = f"{DATASET}import torch\nfrom train import {{name}}\n\n{{name}}(torch.zeros(2), {CUDA})\n"


def public(name: str = "train", hint: str = "", more: str = "") -> tuple[str, dict[str, str]]:
    return PUBLIC.format(name=name, hint=hint) + more, {"main.py": CALLS.format(name=name)}


# Only the caller in sight has CUDA; users of a library may have MPS, on which a copy that does not block can go wrong.
CALLERS: dict[str, tuple[tuple[str, dict[str, str]], str]] = {
    "a public function": (public(), NONE),
    "a private function": (public("_train"), SAFE),
    "a device by its annotation": (public(hint=": torch.device"), "safe by type"),
    "another annotation": (public(hint=": str"), NONE),
    "a script": (public(more="\nif __name__ == '__main__':\n    print(1)\n"), SAFE),
}


@pytest.mark.parametrize("kind", CALLERS)
def test_devices_that_callers_choose(kind: str, tmp_path: Path) -> None:
    (source, others), expected = CALLERS[kind]
    assert fix_of(source, others, tmp_path) == expected


DEVICES: dict[str, tuple[str, dict[str, str], str]] = {
    "a constant": (at("DEVICE", f"DEVICE = {CUDA}"), {}, SAFE),
    "and, or": (at("DEVICE", 'DEVICE = torch.cuda.is_available() and "cuda" or "cpu"'), {}, SAFE),
    "a class": (at("Config.device", CONFIG), {}, SAFE),
    "an object": (at("config.device", CONFIG), {}, SAFE),
    "options": (at("args.device", f"{PARSED}args.device = {CUDA}"), {}, SAFE),
    "options of main": (
        at("args.device", more=", args")
        + f"\ndef main():\n    {PARSED}    args.device = {CUDA}\n    train(torch.zeros(2), args)\n",
        {},
        SAFE,
    ),
    "another module": (at("config.device", "import config"), {"config.py": f"import torch\ndevice = {CUDA}\n"}, SAFE),
    "keywords of torch": (at("Config.device", CONFIG + "torch.zeros(1, device=config.device)"), {}, SAFE),
    "an option that is given a default": (
        at(
            "args.device",
            "parser = argparse.ArgumentParser()\nparser.add_argument('--device', default='cuda')\n" + PARSED,
        ),
        {},
        NONE,
    ),
    "an option that is used as it is": (
        at(
            "device",
            "p = argparse.ArgumentParser()\np.add_argument('--on', default='cuda')\n"
            "args = p.parse_args()\ndevice = torch.device(args.on)",
        ),
        {},
        BY_TYPE,
    ),
    "options, unless they say so": (
        at("args.device", f"{PARSED}if args.device is None:\n    args.device = {CUDA}"),
        {},
        NONE,
    ),
    "options that also have the name": (
        at("args.device", f"p = argparse.ArgumentParser()\np.add_argument('--device')\n{PARSED}args.device = {CUDA}"),
        {},
        NONE,
    ),
    "options of unknown callers": (at("args.device", more=", args"), {}, NONE),
    "and without or": (at("DEVICE", 'DEVICE = NAME and "cuda"'), {}, NONE),
    "or a name": (at("DEVICE", 'DEVICE = input() or "cuda"'), {}, NONE),
    "a class that is changed": (at("Config.device", CONFIG + 'Config.device = "mps"'), {}, NONE),
    "a class that is derived from": (at("config.device", CONFIG + 'class Own(Config):\n    device = "mps"'), {}, NONE),
    "an object that is updated": (at("config.device", CONFIG + 'vars(config).update(device="mps")'), {}, NONE),
    "an object with a method for it": (at("config.device", CONFIG + 'config.update(device="mps")'), {}, NONE),
    "an object by its dict": (at("config.device", CONFIG + 'config.__dict__["device"] = "mps"'), {}, NONE),
    "an object by name": (at("config.device", CONFIG + 'setattr(config, "device", "mps")'), {}, NONE),
    "in a loop": (at("config.device", CONFIG + 'for config.device in ("cuda", "mps"):\n    pass'), {}, NONE),
    "among others": (at("config.device", CONFIG + 'config.rate, (config.device, _) = 1, ("mps", 2)'), {}, NONE),
    "entered": (at("config.device", CONFIG + "with chosen() as config.device:\n    pass"), {}, NONE),
    "in a loop of the class": (
        at("Config.device", 'class Config:\n    for device in ("cuda", "mps"):\n        pass\n'),
        {},
        NONE,
    ),
    "a field": (at("Config.device", 'class Config:\n    device: str = "cuda"\n'), {}, NONE),
    "a class with a base": (at("config.device", CONFIG.replace("Config:", "Config(Base):")), {}, NONE),
    "a class with a decorator": (at("config.device", "@choose\n" + CONFIG), {}, NONE),
    "a class that answers by itself": (
        at(
            "config.device", CONFIG.replace("\n\n", "\n    def __getattribute__(self, name):\n        return 'mps'\n\n")
        ),
        {},
        NONE,
    ),
    "a class that another file changes": (
        at("config.device", CONFIG),
        {"other.py": f"{DATASET}from train import Config\nConfig.device = 'mps'\n"},
        NONE,
    ),
    "another module that is changed": (
        at("config.device", "import config"),
        {
            "config.py": f"import torch\ndevice = {CUDA}\n",
            "main.py": f"{DATASET}import config\nconfig.device = 'mps'\n",
        },
        NONE,
    ),
    "another module that changes itself": (
        at("config.device", "import config"),
        {"config.py": f"import torch\ndevice = {CUDA}\nif mac:\n    device = 'mps'\n"},
        NONE,
    ),
    "another module with a star": (
        at("config.device", "import config"),
        {"config.py": f"import torch\ndevice = {CUDA}\nfrom local import *\n"},
        NONE,
    ),
    "another module with a function": (
        at("config.device", "import config"),
        {"config.py": "device = 'cuda'\ndef choose(name):\n    global device\n    device = name\n"},
        NONE,
    ),
    "by the object in a loop": (
        HEAD + "class Trainer:\n    def __init__(self):\n        self.device = 'cuda'\n\n    def train(self, images):\n"
        "        for self.device in ('cuda', 'mps'):\n"
        "            for (batch,) in DataLoader(TensorDataset(images), pin_memory=True):\n"
        "                print(batch.to(self.device))\n",
        {},
        NONE,
    ),
}


@pytest.mark.parametrize("kind", DEVICES)
def test_devices(kind: str, tmp_path: Path) -> None:
    source, others, expected = DEVICES[kind]
    assert fix_of(source, others, tmp_path) == expected
