"""Scenes about Datasets, scripts, copies between devices, OpenCV and loops, around all that fixes touch."""

from __future__ import annotations

from reliability.fix_places import ROWS, Chance, consumed, head, in_block, in_function, indented
from reliability.fix_records import records
from reliability.fix_scenes import HELPER, Files, functions, joined, options

# DL204: functions that Datasets keep.

ITEMS = ("x * 2", "x + k", "(x, k, G)", "f'{x:>{k}}'", "helper([x, k])", "[x for x in range(k)]", "(n := x, n)", "x")


def kept(chance: Chance) -> Files:
    """A Dataset that keeps a lambda or a local function, in one of many ways."""
    item, default = chance.of(*ITEMS), chance.of("", "", ", k=k", ", k=3", ", *more")
    written = f"lambda x{default}: {item}"
    kind = chance.randrange(11)
    lines = ["class Kept(Dataset):"]
    init = ["def __init__(self, k=2):"]
    make = "Kept()"
    top = ["k = 4"]
    if kind == 0:
        init += [f"    self.fn = {written}"]
    elif kind == 1:
        init += [f"    fn = {written}", "    self.fn = fn", "    k = 9"]
    elif kind == 2:
        lines += [f"    fn = staticmethod({written})"]
        init += ["    self.k = k"]
    elif kind == 3:
        init = ["def __init__(self, k=2, fn=None):", f"    self.fn = fn or ({written})"]
    elif kind == 4:
        init = ["def __init__(self, k=2, fn=None):", "    self.fn = fn"]
        make = f"Kept(fn={written})"
    elif kind == 5:
        init += ["    def fn(x):", f"        return {item}", "", "    self.fn = fn"]
        init += chance.of([], ["    self.other = fn"], ["    print(fn(1))"], ["    k = 8"])
    elif kind == 6:
        init += [f"    self.fns = [{written}, {written}]", "    self.fn = self.fns[0]"]
    elif kind == 7:
        init += [f"    self.fn = functools.partial({written})"]
    elif kind == 8:
        init += [f"    self.fn = transforms.Compose([transforms.Lambda({written})])"]
    elif kind == 9:
        top += [f"shared = {written}", "", ""]
        init += ["    self.fn = shared"]
    else:
        init += [f"    self.fn = (lambda y: (y, k)) if k else {written}"]
    lines += indented(init)
    lines += ["", "    def __len__(self):", "        return 4", "", "    def __getitem__(self, index):"]
    lines += [
        chance.of("        return str(self.fn(index))", "        fn = self.fn", "        return repr(self.fn(index))")
    ]
    if "fn = self.fn" in lines[-1]:
        lines.append("        return str(fn(index))")
    lines += ["", ""]
    if chance.now(0.2):
        lines += [
            "class More(Kept):",
            "    def __init__(self):",
            "        super().__init__(3)",
            "        self.k = 1",
            "",
            "",
        ]
        make = make.replace("Kept(", "More(") if make == "Kept()" else make
    tail = chance.of("num_workers=2", "num_workers=2", "num_workers=0", "num_workers=1, batch_size=2")
    body = [f"dataset = {make}", f"loader = DataLoader(dataset, {tail})", *consumed(chance, "loader")]
    body += chance.of([], ["print(dataset.fn(2))"], ["print(str(Kept().fn(3)))"] if kind != 4 else [])
    start = [*head(chance), "from torchvision import transforms", *HELPER]
    if chance.now(0.25):
        rest = [chance.of("from rows import Kept", "from rows import *"), "", "", "k = 4", "", ""]
        rest = [*rest, "More = Kept", ""] if "More(" in make else rest
        shown = [line.replace("More", "Kept") for line in body]
        return {"rows.py": joined(start, top, lines), "main.py": joined(head(chance), rest, in_function(chance, shown))}
    return {"main.py": joined(start, top, lines, in_function(chance, body))}


# DL101, DL103: lists and arrays that Datasets keep.

LISTS = (
    "[f'{n}.png' for n in range(count)]",
    "[n * 2 for n in range(count)]",
    "[n / 2 for n in range(count)]",
    "list(range(count))",
    "sorted(str(n) for n in range(count))",
    "np.array([f'{n}.png' for n in range(count)], dtype=object)",
    "np.array([n for n in range(count)], dtype=object)",
    "np.array([n / 3 for n in range(count)], object)",
)
USES = (
    "print(len(dataset.kept))",
    "print(dataset.kept[0])",
    "print(dataset.kept == [])",
    "print(dataset.kept + [1])",
    "dataset.kept.append(3)",
    "print(json.dumps(dataset.kept[1]))",
    "print(sorted(dataset.kept))",
    "print(dataset.kept and 1)",
    "print(', '.join(map(str, dataset.kept)))",
    "print(dataset.kept.index(dataset.kept[1]))",
    "print(dataset.kept[1:3])",
    "print(isinstance(dataset.kept, (list, np.ndarray)))",
    "print(getattr(dataset, 'kept')[:1] + [])",
    "dataset.kept.sort()",
)
OWN_USES = (
    "self.kept[index]",
    "self.kept[index][:1] if isinstance(self.kept[index], str) else self.kept[index]",
    "str(self.kept[index])",
    "len(self.kept) + index",
    "f'{self.kept[index]:>8}'",
    "'%s' % self.kept[index]",
    "next(each for at, each in enumerate(self.kept) if at == index)",
    "self.kept[index] if self.kept[index] in self.kept else 0",
    "{self.kept[index]: 1}[self.kept[index]]",
    "self.kept[index] or 'nothing'",
    "self.kept[-index]",
    "range(9)[self.kept[index]] if isinstance(self.kept[index], int) else 0",
)


def stored(chance: Chance) -> Files:
    """A Dataset that keeps a list, used by itself, its subclasses and others."""
    kind, use = chance.of(*LISTS), chance.of(*OWN_USES)
    lines = ["class Kept(Dataset):", "    def __init__(self, count=5):", f"        self.kept = {kind}", ""]
    lines += ["    def __len__(self):", "        return len(self.kept)", "", "    def __getitem__(self, index):"]
    lines += [f"        return str({use})", "", ""]
    if chance.now(0.2):
        lines += ["class More(Kept):", "    def __getitem__(self, index):"]
        lines += [
            f"        return {chance.of('str((self.kept + self.kept)[index])', 'str(self.kept.count(index))')}",
            "",
            "",
        ]
    name = "More" if "class More(Kept):" in lines else "Kept"
    body = [f"dataset = {name}()", "loader = DataLoader(dataset, num_workers=2)"]
    body += [*chance.some(USES, 0.08), *consumed(chance, "loader")]
    if chance.now(0.4):
        start = joined(head(chance), ["import json", f"from rows import {name}", "", ""])
        return {"rows.py": joined(head(chance), lines), "main.py": start + joined(in_function(chance, body))}
    return {"main.py": joined(head(chance), ["import json", "", ""], lines, in_function(chance, body))}


# DL206, DL210, DL502: what a script does as soon as it is run.


def scripts(chance: Chance) -> Files:
    """Statements of a script in any order, with definitions, imports, constants and guards between them."""
    pieces = [
        ["k = 3"],
        ["SIZE: int = 2"],
        ["names = ['a', 'b']"],
        ["def late(row):", "    return row + SIZE", ""],
        ["class Late:", "    size = 1", "    names = 'inside'", ""],
        ["import json"],
        ["print('said', len(sys.argv))"],
        ["for number in range(2):", "    print(number)", "    print('''a", "b''')"],
        ["if __name__ == '__main__':", "    print('guarded')"],
        ["if __name__ == '__main__': print('on one line')"],
        ["with contextlib.nullcontext() as nothing:", "    print(nothing)"],
        ["try:", "    import missing_module", "except ImportError:", "    missing_module = None"],
        ["os.environ['OMP_NUM_THREADS'] = '2'"],
        ["def reads():", "    return loader", ""],
        ["total = sum(int(batch) for batch in loader)"],
        ["Rows.extra = 1"],
        ["x = y = 0; print(x)"],
        ["@decorated", "def wrapped():", "    return 1", ""],
        ["def with_default(size=2):", "    return size", ""],
        ["del_me = 1", "del del_me"],
        ["assert loader is not None"],
        ["global_names = sorted(name for name in globals() if name.islower() and name < 'm')", "print(global_names)"],
        ["if len(sys.argv) > 5: sys.exit(3)"],
    ]
    setter = [f"torch.multiprocessing.set_start_method('{chance.of('fork', 'spawn')}')"]
    setter = chance.of([], [], setter, ["if __name__ == '__main__':", *indented(setter)])
    count = chance.of("2", "1", "0")
    rest = chance.some(pieces, 0.35)
    chance.shuffle(rest)
    loader = [f"loader = DataLoader(Rows(), num_workers={count})", *in_block(chance, consumed(chance, "loader"))]
    place = chance.randrange(len(rest) + 1)
    readers = {"loader", "total", "assert"}
    early = [piece for piece in rest[:place] if not any(word in line for line in piece for word in readers)]
    late = [piece for piece in rest if piece not in early]
    body = [line for piece in (*early, loader, *late) for line in piece]
    main = joined(head(chance), setter, ["", ""], ROWS.splitlines(), ["", ""], body)
    if chance.now(0.35):
        name = chance.of("k", "SIZE", "loader", "late", "Rows", "total")
        way = chance.of(
            f"from script import {name}", "from script import *", f"import script\n\n{name} = script.{name}"
        )
        bound = f"{name} = " in main or f"{name}: " in main or f"def {name}(" in main or f"class {name}(" in main
        tail = f"print({name} is not None)" if bound else "print('no name')"
        way = way if bound else "import script"
        return {"script.py": main, "main.py": joined([way, "", tail])}
    return {"main.py": main}


# DL401, DL402, DL403, DL404: copies.

COPIES = (
    "batch.to(device)",
    "batch.to(device, torch.float16)",
    "batch.to(device=device)",
    "batch.to(dtype=torch.float32, device=device)",
    "batch.to(torch.float16)",
    "batch.to(other)",
    "batch.to(*where)",
    "batch.to(**options)",
    "batch.to(device, **options)",
    "batch.to(device, non_blocking=True)",
    "batch.to(device, None, True)",
    "batch.to('cpu', non_blocking=True)",
    "batch.to(device, non_blocking=True).to('cpu', non_blocking=True)",
    "batch.cuda()",
    "batch.cuda(non_blocking=True)",
    "batch.float().cuda()",
    "batch.to(device).float()",
    "batch.cuda(0)",
    "batch.to('cuda')",
    "batch.to('mps')",
    "batch.to(pick())",
    "(batch).to(device)",
    "batch.to(device) if len(batch) else batch",
    "move(batch, device)",
)
DEVICES = (
    "torch.device('cuda' if torch.cuda.is_available() else 'cpu')",
    "'cuda' if torch.cuda.is_available() else 'cpu'",
    "torch.device('cuda')",
    "'cuda:0'",
    "torch.device('cpu')",
    "torch.device('mps' if torch.backends.mps.is_available() else 'cpu')",
    "'cuda' if torch.cuda.is_available() else 'mps' if torch.backends.mps.is_available() else 'cpu'",
    "torch.accelerator.current_accelerator() or 'cpu'",
    "pick()",
    "os.environ.get('STUB_ACCELERATOR') or 'cpu'",
)
MOVING = """\
class Graph:
    def __init__(self, rows):
        self.rows = torch.stack(list(rows))

    def to(self, device):
        print("moved", device)
        self.rows = self.rows.to(device)
        return self

    def cuda(self):
        return self.to("cuda")

    def float(self):
        return self

    def pin_memory(self):
        return self

    def __len__(self):
        return 1

    def tolist(self):
        return self.rows.tolist()

    sum = numpy = zero_ = tolist


def pick():
    return os.environ.get("STUB_ACCELERATOR") or "cpu"


def move(batch, where):
    return batch.to(where)


def as_graph(rows):
    return Graph(rows)


"""


def moves(chance: Chance) -> Files:
    """Batches that are copied to a device, and what is done with both copies."""
    pins = chance.of(
        "pin_memory=True", "pin_memory=True", "pin_memory=True", "pin_memory=False", "pin_memory=pinned", ""
    )
    parts = [pins, chance.of("num_workers=2", "num_workers=0", ""), chance.of("", "", "", "collate_fn=as_graph")]
    given = ", ".join(part for part in ("Rows()", "batch_size=2", *parts) if part)
    waits = "as_graph" in given  # its objects know no other way
    copy = chance.of(*(each for each in COPIES if not waits or "True" not in each))
    after = chance.of(
        ["print(moved.tolist())"],
        ["batch.zero_()", "print(moved.tolist())"],
        ["print(moved.sum())", "print(batch.tolist())"],
        ["print(moved)"],
        ["saved.append(moved)"],
        ["print(moved.numpy() if getattr(moved, 'where', 'cpu') == 'cpu' else moved.tolist())"],
        ["print(moved.sum().to('cpu', non_blocking=True).item())"],
        ["host = moved.to('cpu', non_blocking=True)", "torch.cuda.synchronize()", "print(host.numpy())"],
        ["host = moved.to('cpu', non_blocking=True)", "print(host.numpy())"],
    )
    after = [each for each in after if not waits or "True" not in each] or ["print(moved.tolist())"]
    name = chance.of("moved", "moved", "batch")
    line = f"{name} = {copy}"
    after = [each.replace("moved", name) for each in after]
    options_ = chance.of("{'non_blocking': True}", "dict(copy=True)", "{}", "dict(dtype=torch.float32)")
    body = [f"device = {chance.of(*DEVICES)}", "where = ('cpu', torch.float32)", f"options = {options_}", "saved = []"]
    body += ["pinned = torch.cuda.is_available()", "other = torch.zeros(2).to(pick())", f"loader = DataLoader({given})"]
    body += [
        "for batch in loader:",
        *indented(in_block(chance, [line, *after])),
        "print([str(each) for each in saved])",
    ]
    return {
        "main.py": joined(head(chance), MOVING.splitlines(), ROWS.splitlines(), ["", ""], in_function(chance, body))
    }


# DL501: OpenCV.

WAYS = (
    (["import cv2"], "cv2.imread"),
    (["import cv2 as cv"], "cv.imread"),
    (["from cv2 import imread"], "imread"),
    (["from cv2 import (", "    imread as read,  # reads", "    resize,", ")"], "read"),
    (["from cv2 import *"], "imread"),
    (["try:", "    import cv2", "except ImportError:", "    cv2 = None"], "cv2.imread"),
    (["if True:", "    import cv2"], "cv2.imread"),
    (["if True: import cv2"], "cv2.imread"),
    (["import os.path, cv2"], "cv2.imread"),
    (["import cv2; SEEN = 1"], "cv2.imread"),
)


def pictures(chance: Chance) -> Files:
    """A Dataset that reads pictures with OpenCV, imported in one of many ways."""
    way, read = chance.of(*WAYS)
    start = head(chance)
    place = chance.of(len(start) - 10, len(start))
    inside = chance.now(0.2) and way[0] == "import cv2"
    start = start if inside else [*start[:place], *way, *start[place:]]
    lines = ["class Pictures(Dataset):", "    def __len__(self):", "        return 3", ""]
    lines += ["    def __getitem__(self, index):", *indented(way if inside else [], 2)]
    lines += [f"        return {read}('x' * index)", "", ""]
    workers = chance.of("2", "2", "1", "0")
    body = [f"loader = DataLoader(Pictures(), num_workers={workers})", *consumed(chance, "loader")]
    body += chance.of([], [], ["print(len(sys.argv))"])
    return {"main.py": joined(start, lines, in_function(chance, body))}


# DL603, DL606, DL308: loops.


def loops(chance: Chance) -> Files:
    """Epochs over samplers, and collate functions that stack arrays."""
    n = chance.of("2", "0")
    sampler = chance.of("sampler=sampler", "sampler=sampler", "sampler=DistributedSampler(rows)", "")
    target = chance.of("epoch", "_", "epoch, name", "state.epoch", "round_")
    over = "enumerate('ab')" if "," in target else "range(2)"
    collate = chance.of(
        "torch.tensor([np.asarray(row.numpy()) for row in rows])",
        "torch.tensor([row.numpy() for row in rows])",
        "torch.tensor(rows)",
        "torch.as_tensor([np.array(int(row)) for row in rows])",
    )
    lines = ["def collate(rows):", f"    return {collate}", "", ""]
    given = ", ".join(each for each in (sampler, f"num_workers={n}", chance.of("", "collate_fn=collate")) if each)
    body = ["rows = Rows()", "state = types.SimpleNamespace()", "sampler = DistributedSampler(rows)"]
    body += [f"loader = DataLoader(rows, {given})"]
    inner = chance.of(
        ["for batch in loader:", "    print(batch)"],
        ["for batch in loader: print(batch)"],
        ["for batch in loader:", "    print(batch)", "    batch.sum().backward()"],
        ["for step, batch in enumerate(loader):", "    print(step, batch)", "    batch.sum().backward()"],
        ["rows.count = 4", "for batch in loader:", "    print(batch)"],
        ["loader.dataset.count += 1", "print(list(loader))"],
        ["for batch in loader:", "    if not len(batch): continue", "    print(batch)", "else:", "    print('all')"],
    )
    body += [f"for {target} in {over}:", *indented(inner)]
    start = [*head(chance), "import types", "from torch.utils.data.distributed import DistributedSampler", "", ""]
    return {"main.py": joined(start, lines, ROWS.splitlines(), ["", ""], in_function(chance, body))}


SCENES = (
    options,
    options,
    options,
    functions,
    functions,
    functions,
    kept,
    kept,
    stored,
    scripts,
    scripts,
    moves,
    moves,
)
SCENES = (*SCENES, pictures, loops, records, records)
