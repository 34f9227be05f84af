"""What cannot be pickled for a worker, or by one."""

from __future__ import annotations

from dataloader_lint.rules.symptoms.base import seen

# What cannot be pickled: `can't` up to Python 3.11, `cannot` since.
_NO_PICKLE = r"can(?:.?t|not) (?:pickle|get)"

PICKLING = (
    seen(
        "A lambda, nested function or local class cannot be pickled",
        """The message ends before the name of what cannot be pickled. With `<lambda>` at its end it is a lambda;
        `make.<locals>.Name` is a class, and `make.<locals>.name` a function, that a function defines. Workers that are
        not forked import such things by name. Move it to the top level of a module.""",
        "DL201 DL204 DL202 DL208",
        rf"{_NO_PICKLE} local object[^\w<]*$",
    ),
    seen(
        "A lambda cannot be pickled",
        """Workers that are started by spawn (Windows, macOS) or forkserver (Linux from Python 3.14 on) get the Dataset,
        its transforms and the functions pickled. A lambda cannot be pickled.""",
        "DL201 DL204 DL203",
        rf"{_NO_PICKLE} (?:local object )?.*<lambda>",
        r"attribute lookup <lambda> on ",
        asked=(
            "lambda pickle",
            "lambda windows",
            "lambda worker",
            "lambda collate",
            "lambda transform",
            "lambda dataset|loader",
            "lambda",
        ),
    ),
    seen(
        "A class or function that its module no longer holds",
        """pickle looks a class or function up by its name, and finds another object there: the cell or module was run
        again, or a decorator or wrapper took its place under the same name. Restart, or give the wrapped one another
        name. No rule finds this.""",
        "",
        r"its not the same object as",
        asked=("pickle notebook respawn",),
    ),
    seen(
        "A class defined in a function or in a notebook cannot be pickled",
        "Workers that are not forked import the class by its name. Move it to the top level of a module.",
        "DL208 DL202 DL204",
        rf"{_NO_PICKLE} local object .*<locals>\.(?-i:[A-Z])\w*",
        rf"{_NO_PICKLE} <class ",
        r"attribute lookup (?-i:[A-Z])\w* on ",
        r"can.?t get attribute (?-i:[A-Z])\w* on <module __(?:mp_)?main__",
        asked=(
            "=notebook",
            "notebook pickle",
            "notebook worker hang",
            "notebook worker windows",
            "notebook worker crash",
            "notebook dataset pickle",
            "nested dataset pickle",
        ),
    ),
    seen(
        "A lock of forked processes in a spawned worker",
        """`multiprocessing.Lock()`, `Value` and `Queue` belong to the start method that was set when they were made.
        Make them with the context of the loader: `multiprocessing.get_context("spawn").Lock()`.""",
        "DL217",
        r"a semlock created in a fork context",
    ),
    seen(
        "A nested function cannot be pickled",
        "Workers that are not forked import the function by its name. Move it to the top level of a module.",
        "DL202 DL204 DL203",
        rf"{_NO_PICKLE} local object",
        rf"{_NO_PICKLE} <function ",
        r"attribute lookup \w+ on ",
        r"can.?t get attribute \w+ on <module __(?:mp_)?main__",
        asked=(
            "nested pickle",
            "nested worker|windows",
            "nested collate",
        ),
    ),
    seen(
        "A handle, lock or generator cannot be pickled",
        """Workers that are not forked get the Dataset pickled, and it keeps an open file, a connection, a lock, a
        generator or another handle. Python 3.14 also says which attribute. Open it in the worker on first use.""",
        "DL205 DL204 DL203",
        r"(?:h5py )?objects cannot be pickled",
        rf"{_NO_PICKLE} \w+ (?:object|instance)s?",
        rf"{_NO_PICKLE} [\w.]+\.[\w.]+ (?:object|instance)s?",
        r"cannot serialize [\w.]+ object",
        r"self\.\w+ cannot be converted to a python object for pickling",
        r"provided stream index=-?\d+ was not previously added",
        asked=(
            "storage pickle",
            "pickle windows|spawn",
            "pickle worker",
            "pickle loader|dataset",
            "pickle crash",
        ),
    ),
    seen(
        "A sample still has its graph",
        "A worker may send only tensors without a graph. Compute under `torch.no_grad()`, or call `detach()`.",
        "DL213",
        r"cowardly refusing to serialize non-leaf tensor",
        asked=("pickle graph",),
    ),
)
