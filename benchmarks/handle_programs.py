"""The programs of `benchmarks/handles.py` for handles of Python itself: how each is prepared, opened and read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Handle:
    """A way to open something: the package it needs, and the bodies of the functions of its program."""

    name: str
    package: str  # on PyPI, with `<` and a version where it has to be an older one; empty for Python itself
    prepare: str
    make: str
    read: str


_ROWS = """with open("rows.bin", "wb") as file:
    for i in range(COUNT):
        file.write(i.to_bytes(4, "little") * 1000)"""
_SEEK = 'handle.seek(4000 * index)\nreturn int.from_bytes(handle.read(4), "little")'
_MEMBER = "return int(handle.open(str(index)).read())"


def _file(name: str, opened: str, written: str) -> Handle:
    return Handle(name, "", written, f"return {opened}", _SEEK)


HANDLES = [
    _file("open", 'open("rows.bin", "rb")', _ROWS),
    _file("codecs.open", '__import__("codecs").open("rows.bin", "rb")', _ROWS),
    _file("Path.open", '__import__("pathlib").Path("rows.bin").open("rb")', _ROWS),
    *(
        _file(
            f"{name}.open",
            f'__import__("{name}").open("rows.z", "rb")',
            f'import {name}\nfile = {name}.open("rows.z", "wb")\nfile.write(b"".join(i.to_bytes(4, "little") * 1000 '
            "for i in range(COUNT)))\nfile.close()",
        )
        for name in ("gzip", "bz2", "lzma")
    ),
    Handle(
        "zipfile.ZipFile",
        "",
        'import zipfile\nwith zipfile.ZipFile("a.zip", "w") as file:\n    for i in range(COUNT):\n'
        "        file.writestr(str(i), str(i))",
        'import zipfile\nreturn zipfile.ZipFile("a.zip")',
        _MEMBER,
    ),
    Handle(
        "tarfile.open",
        "",
        'import io, tarfile\nwith tarfile.open("a.tar", "w") as file:\n    for i in range(COUNT):\n'
        "        info = tarfile.TarInfo(str(i))\n        info.size = len(str(i))\n"
        "        file.addfile(info, io.BytesIO(str(i).encode()))",
        'import tarfile\nreturn tarfile.open("a.tar")',
        "return int(handle.extractfile(str(index)).read())",
    ),
    Handle(
        "sqlite3.connect",
        "",
        'import sqlite3\nbase = sqlite3.connect("a.db")\nbase.execute("create table t (i integer)")\n'
        'base.executemany("insert into t values (?)", [(i,) for i in range(COUNT)])\nbase.commit()\nbase.close()',
        'import sqlite3\nreturn sqlite3.connect("a.db")',
        'return handle.execute("select i from t where rowid = ?", (index + 1,)).fetchone()[0]',
    ),
    Handle(
        "mmap.mmap",
        "",
        _ROWS,
        'import mmap\nwith open("rows.bin", "rb") as file:\n'
        "    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)",
        'return int.from_bytes(handle[4000 * index : 4000 * index + 4], "little")',
    ),
    Handle(
        "numpy.memmap",
        "",
        'np.arange(COUNT, dtype="<i4").tofile("a.bin")',
        'return np.memmap("a.bin", dtype="<i4", mode="r")',
        "return int(handle[index])",
    ),
    Handle(
        "numpy.load (.npz)",
        "",
        'np.savez("a.npz", **{str(i): i for i in range(COUNT)})',
        'return np.load("a.npz")',
        "return int(handle[str(index)])",
    ),
    Handle(
        "io.BytesIO",
        "",
        "pass",
        'import io\nreturn io.BytesIO(b"".join(i.to_bytes(4, "little") * 1000 for i in range(COUNT)))',
        _SEEK,
    ),
    Handle(
        "queue.Queue",
        "",
        "pass",
        "import queue\nfound = queue.Queue()\nfor i in range(99 * READS * COUNT):\n    found.put(i)\nreturn found",
        "handle.get(timeout=2)\nreturn index",
    ),
    Handle("threading.Lock", "", "pass", "import threading\nreturn threading.Lock()", "with handle:\n    return index"),
    Handle(
        "threading.Event",
        "",
        "pass",
        "import threading\nfound = threading.Event()\nfound.set()\nreturn found",
        "handle.wait(2)\nreturn index",
    ),
    Handle(
        "threading.Thread (started)",
        "",
        "pass",
        "import threading, time\nfound = threading.Thread(target=time.sleep, args=(600,), daemon=True)\n"
        "found.start()\nreturn found",
        "return index if handle.is_alive() else -1",
    ),
    Handle(
        "ThreadPoolExecutor (unused before)",
        "",
        "pass",
        "from concurrent.futures import ThreadPoolExecutor\nreturn ThreadPoolExecutor(2)",
        "return handle.submit(abs, index).result()",
    ),
    Handle(
        "ThreadPoolExecutor (used before)",
        "",
        "pass",
        "from concurrent.futures import ThreadPoolExecutor\nfound = ThreadPoolExecutor(2)\n"
        "list(found.map(abs, range(9)))\n"
        "return found",
        "return handle.submit(abs, index).result()",
    ),
    Handle(
        "multiprocessing.Pool",
        "",
        "pass",
        "import multiprocessing\nreturn multiprocessing.Pool(1)",
        "return handle.apply_async(abs, (index,)).get(5)",
    ),
    Handle(
        "socket.create_connection",
        "",
        "pass",
        "import socket\nserver = socket.create_server(('127.0.0.1', 0))\n"
        "KEPT.append(server)\nreturn socket.create_connection(server.getsockname())",
        "return index if handle.getpeername() else -1",
    ),
    Handle(
        "os.walk",
        "",
        'import os\nfor i in range(COUNT):\n    os.makedirs(f"walked/{i}", exist_ok=True)',
        'import os\nreturn os.walk("walked")',
        "next(handle, None)\nreturn index",
    ),
    Handle(
        "shelve.open",
        "",
        'import shelve\nwith shelve.open("a.shelf") as shelf:\n    for i in range(COUNT):\n        shelf[str(i)] = i',
        'import shelve\nreturn shelve.open("a.shelf", "r")',
        "return handle[str(index)]",
    ),
    Handle(
        "multiprocessing.Manager",
        "",
        "pass",
        "import multiprocessing\nreturn multiprocessing.Manager()",
        "return index if handle.address else -1",
    ),
    Handle(
        "multiprocessing.Manager().list",
        "",
        "pass",
        "import multiprocessing\nmanager = multiprocessing.Manager()\nKEPT.append(manager)\n"
        "return manager.list(range(COUNT))",
        "return handle[index]",
    ),
    Handle(
        "multiprocessing.Lock",
        "",
        "pass",
        "import multiprocessing\nreturn multiprocessing.Lock()",
        "with handle:\n    return index",
    ),
]
