"""Scenes about batches of records: dicts, tuples and classes of them, parts of which are copied to a device."""

from __future__ import annotations

from reliability.fix_places import Chance, head, in_block, in_function, indented

CLASSES = """\
class Record(dict):
    def to(self, device{more}):
        print("moved as a whole", device)
        return self

    cuda = {cuda}


class Pair(collections.namedtuple("Pair", "x y")):
    def to(self, device{more}):
        print("moved as a pair", device)
        return self

    def cuda(self{more}):
        return self
"""
RECORDS = """\
class Records(Dataset):
    def __init__(self, make):
        self.make = make

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.make(index)
"""
# What a sample is, and the parts of a batch that are moved.
SAMPLES = (
    ("(torch.tensor(index), index)", ("batch[0]", "batch[1]")),
    ("{'x': torch.tensor(index), 'y': 1.5}", ("batch['x']", "batch['y']")),
    ("(index, {'x': torch.tensor(index)})", ("batch[0]", "batch[1]['x']")),
    ("(Record(x=torch.tensor(index)), index)", ("batch[0]", "batch[1]", "batch[0]['x']")),
    ("Record(x=torch.tensor(index))", ("batch", "batch['x']")),
    ("(Pair(torch.tensor(index), 1), index)", ("batch[0]", "batch[0].x", "batch[1]")),
    ("{'x': Pair(torch.tensor(index), 1)}", ("batch['x']", "batch['x'].y")),
    ("(np.arange(3) + index, str(index))", ("batch[0]",)),
)
DEVICES = (
    "torch.device('cuda' if torch.cuda.is_available() else 'cpu')",
    "torch.cuda.is_available() and 'cuda' or 'cpu'",
    "torch.device(os.environ.get('STUB_ACCELERATOR') or 'cpu')",
    "os.environ.get('STUB_ACCELERATOR') or 'cpu'",
)
# Where the device is kept, and how it is read.
PLACES = (
    ("device = {0}", "device"),
    ("args = types.SimpleNamespace()\nargs.device = {0}", "args.device"),
    ("args = argparse.ArgumentParser().parse_args([])\nargs.device = {0}", "args.device"),
    ("args = argparse.Namespace(device='mps' if MPS else 'cpu')\nif not MPS:\n    args.device = {0}", "args.device"),
    ("class Config:\n    device = {0}\n", "Config.device"),
    ("class Config:\n    device = {0}\n\nConfig.device = 'mps' if MPS else 'cpu'", "Config.device"),
    ("class Config:\n    def __init__(self):\n        self.device = {0}\n\nconfig = Config()", "config.device"),
    ("class Config:\n    device = {0}\n\nconfig = Config()\nvars(config).update(device=pick())", "config.device"),
)


def records(chance: Chance) -> dict[str, str]:
    """Records of one or another class, made in this file or in another one."""
    sample, parts = chance.of(*SAMPLES)
    more = chance.of("", "", ", non_blocking=False", ", **more", ", *, non_blocking=False, copy=False")
    classes = CLASSES.format(more=more, cuda=chance.of("to", "property(lambda self: self.to)"))
    kept, device = chance.of(*PLACES)
    places = kept.format(chance.of(*DEVICES)).splitlines()
    moved = [f"{part}.to({device})" for part in chance.some(parts, 0.8)]
    if chance.now(0.2):
        moved = [f"{part}.cuda() if torch.cuda.is_available() else {part}" for part in parts]
    size = chance.of("", "batch_size=2", "batch_size=int('2')", "batch_size=None")
    given = ", ".join(
        each for each in ("Records(make)", size, "pin_memory=True", chance.of("", "num_workers=2")) if each
    )
    body = [*places, f"loader = DataLoader({given})"]
    body += ["for batch in loader:", *indented(in_block(chance, [f"print({each})" for each in moved] or ["pass"]))]
    imports = ["import argparse", "import collections", "import types"]
    rows = [*RECORDS.splitlines(), "", ""]
    make = ["def make(index):", f"    return {sample}", "", ""]
    pick = ["MPS = os.environ.get('STUB_ACCELERATOR') == 'mps'", "", "", "def pick():"]
    pick += ["    return 'mps' if MPS else 'cpu'", "", ""]
    files = {}
    if chance.now(0.4):
        files["shapes.py"] = "\n".join([*head(chance), "import collections", "", "", *classes.splitlines(), ""])
        imports.append(chance.of("from shapes import Pair, Record", "from shapes import *"))
        own = []
    else:
        own = [*classes.splitlines(), "", ""]
    lines = [*head(chance), *imports, "", "", *pick, *own, *rows, *make, *in_function(chance, body), ""]
    return {**files, "main.py": "\n".join(lines)}
