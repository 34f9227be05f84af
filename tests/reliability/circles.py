"""A grammar of programs whose values are made of themselves: in loops, on `self`, through helpers.

Nobody writes such programs as a whole, but each line of them stands in real code. They are not run.
"""

from __future__ import annotations

import random

HEAD = """\
import copy, functools, itertools, json, os, threading
from collections import defaultdict
import cv2, h5py, numpy as np, torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import (
    BatchSampler, ConcatDataset, DataLoader, Dataset, DistributedSampler, RandomSampler, Subset, TensorDataset,
    random_split,
)
from torchvision.transforms import Compose, Lambda
from tqdm import tqdm

accelerator = Accelerator()
"""
# What `{x}` is made into; the rules look into most of these.
MAKING = (
    *("Subset({x}, range(3))", "ConcatDataset([{x}, {x}])", "DistributedSampler({x})", "BatchSampler({x}, 2, False)"),
    *("RandomSampler({x}, generator={x})", "random_split({x}, [1, 2])[0]", "TensorDataset({x})", "tqdm({x})"),
    *("DataLoader({x}, num_workers=2)", "DataLoader({x}, batch_sampler={x}, collate_fn={x})", "enumerate({x})"),
    *("iter({x})", "functools.partial({x}, 1)", "Compose([{x}])", "Lambda({x})", "nn.DataParallel({x})", "{x}()"),
    *("np.array({x})", "np.random.default_rng({x})", "np.concatenate([{x}, {x}])", "torch.tensor({x})"),
    *("torch.stack({x})", "torch.device({x})", "torch.Generator(device={x}).manual_seed({x})", "{x}.to({x})"),
    *("list({x})", "tuple({x})", "dict({x})", "sorted({x})", "reversed({x})", "map(str, {x})", "zip({x}, {x})"),
    *("itertools.chain({x}, {x})", "itertools.islice({x}, 2)", "copy.deepcopy({x})", "json.load({x})", "str({x})"),
    *("{x} + {x}", "{x} * 2", "[{x}]", "({x}, {x})", '{{"a": {x}}}', "{{**{x}}}", "[*{x}]", "[y for y in {x}]"),
    *("{x}[0]", "{x}[1:]", '{x}.get("a")', "{x}.items()", "{x} or {x}", "{x} if {x} else 1", "lambda: {x}"),
    *("accelerator.prepare({x})", "accelerator.prepare({x}, {x})", "defaultdict({x})", 'h5py.File({x}["a"])'),
    *("functools.lru_cache(maxsize=None)({x})", "os.listdir({x})", 'getattr({x}, "a")', "threading.Lock()"),
)


def circular(chance: random.Random) -> str:
    """The text of one program."""

    def made(name: str) -> str:
        return chance.choice(MAKING).format(x=name)

    def one_of(*names: str) -> str:
        return chance.choice(names)

    attributes = ("self.a", "self.b", "self.items")
    kept = [f"        {one_of(*attributes)} = {made(one_of('data', *attributes))}" for _ in range(4)]
    read = [
        f"        for _ in range(2):\n            x = {made(one_of('x', 'self.more()', *attributes))}" for _ in range(4)
    ]
    given = one_of("batch_size=4", "sampler=x", "collate_fn=y", "generator=build(x)", "sampler=DistributedSampler(x)")
    lines = [
        HEAD,
        "class Images(Dataset):",
        "    def __init__(self, root, data=None):",
        "        self.root = root",
        "        self.items = os.listdir(root)",
        "        self.a = data",
        *kept,
        "        while data:",
        f"            data = {made('data')}",
        f"            self.b = {made('data')}",
        "    def more(self):",
        f"        self.a = {made('self.b')}",
        f"        return {made('self.a')}",
        "    def __getitem__(self, index):",
        "        x = self.items[index]",
        *read,
        "        self.b[index] = x",
        "        self.a.append(x)",
        "        x = self.a.to(cv2.resize(x, (2, 2)))",
        "        return x, self.a[index], self.b.random(), torch.tensor(self.items[index])",
        "    def __len__(self):",
        "        return len(self.items)",
        "def build(x):",
        "    for _ in range(2):",
        f"        x = {made('x')}",
        f"    return {made('x')}",
        'x = Images("a")',
        "for _ in range(2):",
        f"    x = {made('x')}",
        f"    y = {made('x')}",
        f"    x = {one_of('y', 'build(y)', 'build(x)', 'Images(x)')}",
        f"loader = DataLoader({one_of('x', 'Images(y, y)', 'build(x)')}, num_workers=4, pin_memory=True, {given})",
        "device = torch.device('cuda')",
        "for _ in range(2):",
        f"    loader = {one_of('loader', 'build(loader)', made('loader'))}",
        f"    device = {one_of('device', 'torch.device(device)', made('device'))}",
        "for epoch in range(4):",
        f"    for batch in {one_of('loader', 'tqdm(loader)', 'enumerate(loader)', made('loader'))}:",
        "        batch = batch.to(device)",
        f"        batch = {made('batch')}",
        "        batch.cuda().sum().backward()",
    ]
    return "\n".join(lines) + "\n"
