"""Measures what forked workers copy of a text column that pandas reads: docs/evidence/text-columns.md.

    python -m benchmarks.text_columns --older FOLDER    pandas before 3, from `pip install --target FOLDER 'pandas<3'`

A file of two million paths is read with `read_csv`. Two forked workers take 200,000 of them, in random order, and each
says by how much its private memory (`/proc/self/smaps_rollup`) has grown.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from benchmarks import processes

PAGE = Path(__file__).resolve().parent.parent / "docs" / "evidence" / "text-columns.md"
LIMIT = 300  # seconds for a program

PROGRAM = """
import gc
import json
import os
import sys

import pandas
import torch
from torch.utils.data import DataLoader, Dataset

COUNT = int(sys.argv.pop())
storage, access = sys.argv[1:]
if storage == "python" and pandas.__version__ >= "3":
    pandas.set_option("mode.string_storage", "python")
table = pandas.read_csv("paths.csv", **({"dtype_backend": "pyarrow"} if storage == "dtype_backend" else {}))
kept = {
    "table.iloc[i, 0]": lambda: table,
    'table["path"].values[i]': lambda: table["path"].values,
    'table["path"].tolist()[i]': lambda: table["path"].tolist(),
}[access]()
is_table = access == "table.iloc[i, 0]"


def private_bytes():
    with open("/proc/self/smaps_rollup") as file:
        return sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Private"))


class Paths(Dataset):
    start = None

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        if self.start is None:
            self.start = private_bytes()
        os.path.join("root", kept.iloc[index, 0] if is_table else kept[index])
        return os.getpid(), private_bytes() - self.start if index % 499 == 0 else -1


if __name__ == "__main__":
    gc.freeze()  # the collector touches all objects there are, and would copy pages that hold no text
    order = torch.randperm(COUNT, generator=torch.Generator().manual_seed(0))[: COUNT // 10].tolist()
    grown = {}
    for batch in DataLoader(
        Paths(), batch_size=1000, sampler=order, num_workers=2, multiprocessing_context="fork", collate_fn=list
    ):
        grown.update({process: size for process, size in batch if size >= 0})
    print(json.dumps({"dtype": str(table["path"].dtype), "MB": sum(grown.values()) / 1e6}))
"""

COUNT = 2_000_000
HEAD = """<!-- Made by `python -m benchmarks.text_columns`: run it again instead of editing. -->

# Text columns in workers

`read_csv` reads a file of two million paths of 26 characters. Two forked workers take 200,000 of them in random order.
What counts is by how much the private memory of both grows: taking a Python string out of a column changes its
reference count, and so copies its page. The garbage collector is kept from other objects (`gc.freeze()`). The rule is
DL103.

pandas 3 keeps texts in Arrow's memory if pyarrow is installed, and else as Python strings, as before. It is no
requirement of pandas.

| pandas | Storage of texts | Type of the column | Read by | Copied by two workers |
|---|---|---|---|---|
"""

STORAGES = {
    "older": {"default": "Python strings", "dtype_backend": '`dtype_backend="pyarrow"`'},
    "newer": {"python": "Python strings, as without pyarrow", "default": "Arrow, as pyarrow is installed"},
}
ACCESSES = ("table.iloc[i, 0]", 'table["path"].values[i]', 'table["path"].tolist()[i]')


def main() -> None:
    """Runs all programs and writes the page."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--python", default=sys.executable, help="the interpreter with pandas 3 and pyarrow")
    options.add_argument("--older", required=True, help="a folder with a pandas before 3")
    given = options.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "program.py"
        script.write_text(PROGRAM, encoding="utf-8")
        with (Path(folder) / "paths.csv").open("w", encoding="utf-8") as file:
            file.write("path,label\n")
            file.writelines(f"images/train/{number:09d}.jpg,{number % 10}\n" for number in range(COUNT))
        for age, storages in STORAGES.items():
            env = {**os.environ, "PYTHONPATH": given.older if age == "older" else ""}
            ask = [given.python, "-c", "import importlib.metadata as m; print(m.version('pandas'))"]
            version = processes.run(ask, env=env).stdout.strip()
            for storage, words in storages.items():
                for access in ACCESSES:
                    command = [given.python, script.name, storage, access, str(COUNT)]
                    done = processes.run(command, cwd=folder, env=env, seconds=LIMIT)
                    said = json.loads(done.stdout)
                    rows.append(f"| {version} | {words} | `{said['dtype']}` | `{access}` | {said['MB']:.0f} MB |")
                    print(rows[-1], flush=True)
    PAGE.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
