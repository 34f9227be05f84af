"""Python's built-in functions and classes."""

from __future__ import annotations

from dataloader_lint.semantics.libraries.rows import Call

ROWS = {
    "builtins.abs": Call(as_random_as_arguments=True),
    "builtins.all": Call(iterates="now"),
    "builtins.any": Call(iterates="now"),
    "builtins.bool": Call(gives="bool", copies_to_cpu=True),
    "builtins.bytes": Call(as_random_as_arguments=True),
    "builtins.dict": Call(gives="dict", iterates="now"),
    "builtins.dict.fromkeys": Call(gives="dict"),
    "builtins.divmod": Call(as_random_as_arguments=True),
    "builtins.enumerate": Call(iterates="now", streams="argument"),
    "builtins.filter": Call(iterates="now", streams="argument"),
    "builtins.float": Call(gives="float", as_random_as_arguments=True, copies_to_cpu=True),
    "builtins.frozenset": Call(gives="set", iterates="now"),
    "builtins.hash": Call(as_random_as_arguments=True),
    "builtins.input": Call(gives="str"),
    "builtins.int": Call(gives="int", as_random_as_arguments=True, copies_to_cpu=True),
    "builtins.iter": Call(iterates="now", streams="argument"),
    "builtins.len": Call(gives="int", as_random_as_arguments=True),
    "builtins.list": Call(gives="list", iterates="now", as_random_as_arguments=True, streams="argument"),
    "builtins.map": Call(iterates="now", streams="argument"),
    "builtins.max": Call(iterates="now", as_random_as_arguments=True),
    "builtins.min": Call(iterates="now", as_random_as_arguments=True),
    "builtins.open": Call(
        gives="file", as_random_as_arguments=True, opens="an open file", shared="position", streams="source"
    ),
    "builtins.pow": Call(as_random_as_arguments=True),
    "builtins.print": Call(copies_to_cpu=True),
    "builtins.range": Call(streams="source"),
    "builtins.repr": Call(gives="str"),
    "builtins.reversed": Call(yields_argument=True, streams="argument"),
    "builtins.round": Call(gives="int", as_random_as_arguments=True),
    "builtins.set": Call(gives="set", iterates="now"),
    "builtins.sorted": Call(gives="list", iterates="now", streams="argument"),
    "builtins.staticmethod": Call(gives_argument=True),
    "builtins.str": Call(gives="str", as_random_as_arguments=True),
    "builtins.sum": Call(iterates="now", as_random_as_arguments=True),
    "builtins.tuple": Call(iterates="now", as_random_as_arguments=True, streams="argument"),
    "builtins.zip": Call(iterates="now", streams="argument"),
}
