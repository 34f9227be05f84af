"""Paths and folders: `os`, `glob`, `pathlib`."""

from __future__ import annotations

from dataloader_lint.semantics.libraries.rows import Call

ROWS = {
    "glob.glob": Call(gives="list", elements="str", lists_files="pattern", streams="source"),
    "glob.iglob": Call(gives="iterator", elements="str", lists_files="pattern", streams="source"),
    "natsort.natsorted": Call(gives="list"),
    "natsort.os_sorted": Call(gives="list"),
    "os.cpu_count": Call(gives="int", positive=True, cpus="number"),
    "os.environ.get": Call(as_random_as_arguments=True),
    "os.fspath": Call(gives="str", as_random_as_arguments=True),
    "os.getcwd": Call(gives="str"),
    "os.getenv": Call(as_random_as_arguments=True),
    "os.listdir": Call(gives="list", elements="str", lists_files="folder", streams="source"),
    "os.process_cpu_count": Call(gives="int", positive=True, cpus="number"),
    "os.sched_getaffinity": Call(gives="set", cpus="set"),
    "os.path.abspath": Call(gives="str", as_random_as_arguments=True),
    "os.path.basename": Call(gives="str"),
    "os.path.dirname": Call(gives="str", as_random_as_arguments=True),
    "os.path.exists": Call(gives="bool"),
    "os.path.expanduser": Call(gives="str", as_random_as_arguments=True),
    "os.path.isdir": Call(gives="bool"),
    "os.path.isfile": Call(gives="bool"),
    "os.path.join": Call(gives="str", as_random_as_arguments=True),
    "os.path.normpath": Call(gives="str", as_random_as_arguments=True),
    "os.path.realpath": Call(gives="str", as_random_as_arguments=True),
    "os.scandir": Call(gives="iterator", lists_files="folder", streams="source"),
    "os.walk": Call(gives="iterator", lists_files="folder", streams="source"),
    "pathlib.Path": Call(gives="path", as_random_as_arguments=True),
    "pathlib.Path.open": Call(opens="an open file", shared="position"),
}
