"""Facts about library calls that start processes."""

from __future__ import annotations

# Calls whose result has `Pool`, `Process` and `Manager` of its own.
START_CONTEXTS = frozenset({"multiprocessing.get_context", "torch.multiprocessing.get_context"})
# Calls that start a process of Python's `multiprocessing`, at once or when the result is used. `joblib` and the
# `multiprocess` package are not among them: in a worker joblib goes on without processes, and `multiprocess` does not
# know that the worker is one.
PROCESS_STARTERS = frozenset(
    {
        *(
            f"{package}.{name}"
            for package in ("multiprocessing", "torch.multiprocessing")
            for name in ("Manager", "Pool", "Process")
        ),
        "torch.multiprocessing.spawn",
        "multiprocessing.context.Process",
        "multiprocessing.pool.Pool",
        "multiprocessing.process.BaseProcess",
        "concurrent.futures.ProcessPoolExecutor",
        "concurrent.futures.process.ProcessPoolExecutor",
        "tqdm.contrib.concurrent.process_map",
    }
)
