"""Programs that `benchmarks.evidence` measures beside those of the proofs: one for memory, one for time.

Both use `probe`, as the proofs do, and are run by their harness.
"""

from __future__ import annotations

# The ways to keep the names of files, in the order of the picture's colours.
STORAGES = {
    "list": "list of str",
    "dict": "dict",
    "object": "object array",
    "array": "StringDType array",
    "packed": "bytes packed in arrays",
    "tensor": "bytes packed in tensors",
}

# Arguments: a key of STORAGES, and the number of samples. Says the memory of all processes, in bytes: `alone` before
# workers are started, and `epoch` at eleven places of the epoch, from the first batch on. Each worker reads single
# samples in scattered order, each of them once, without a list of the order that would take memory of its own.
MEMORY = """
import sys

import numpy as np
import probe
import torch
from torch.utils.data import DataLoader, Dataset, Sampler

KIND, COUNT = sys.argv[1], int(sys.argv[2])
BATCH = COUNT // 100


class Scattered(Sampler):
    def __len__(self):
        return COUNT

    def __iter__(self):
        return (number * 7_368_787 % COUNT for number in range(COUNT))


class Names(Dataset):
    def __len__(self):
        return COUNT

    def __init__(self):
        self.kind = KIND
        names = (f"images/{number:09d}.jpg" for number in range(COUNT))
        if KIND == "list":
            self.names = list(names)
        elif KIND == "dict":
            self.names = dict(enumerate(names))
        elif KIND == "object":
            self.names = np.fromiter(names, dtype=object, count=COUNT)
        elif KIND == "array":
            self.names = np.empty(COUNT, dtype=np.dtypes.StringDType())
            for number, name in enumerate(names):
                self.names[number] = name
        else:
            self.bytes = np.empty(20 * COUNT, dtype=np.uint8)
            self.ends = np.empty(COUNT + 1, dtype=np.int64)
            self.ends[0] = 0
            for number, name in enumerate(names):
                self.ends[number + 1] = self.ends[number] + len(name)
                self.bytes[self.ends[number] : self.ends[number + 1]] = np.frombuffer(name.encode(), dtype=np.uint8)
            if KIND == "tensor":
                self.bytes, self.ends = torch.from_numpy(self.bytes), torch.from_numpy(self.ends)

    def __getitem__(self, index):
        if self.kind in ("packed", "tensor"):
            name = bytes(self.bytes[int(self.ends[index]) : int(self.ends[index + 1])].tolist()).decode()
        else:
            name = self.names[index]
        return len(name)


if __name__ == "__main__":
    names = Names()
    alone = probe.memory()
    loader = DataLoader(names, batch_size=BATCH, sampler=Scattered(), num_workers=2)
    epoch = []
    for number, batch in enumerate(loader):
        if number % 10 == 0 or number == 99:
            epoch.append(probe.memory())
    probe.say(alone=alone, epoch=epoch)
"""

# Arguments: how samples are made (waits, computes, memory), their number, of a batch, of workers, "persistent" or
# nothing. Says the seconds of each of four epochs.
TIME = """
import sys
import time

import probe
import torch
from torch.utils.data import DataLoader, Dataset

KIND, COUNT, BATCH, WORKERS = sys.argv[1], *map(int, sys.argv[2:5])


class Rows(Dataset):
    def __init__(self):
        self.rows = torch.zeros(COUNT, 16)

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        if KIND == "waits":
            time.sleep(0.002)
        elif KIND == "computes":
            sum(number * number for number in range(40_000))
        return self.rows[index]


if __name__ == "__main__":
    loader = DataLoader(Rows(), batch_size=BATCH, num_workers=WORKERS, persistent_workers="persistent" in sys.argv)
    for epoch in range(4):
        start = time.perf_counter()
        for batch in loader:
            pass
        probe.say(seconds=time.perf_counter() - start)
"""
