"""Processes and threads."""

from __future__ import annotations

from dataloader_lint.semantics.libraries.rows import Call

ROWS = {
    "concurrent.futures.ProcessPoolExecutor": Call(starts="process"),
    "concurrent.futures.ThreadPoolExecutor": Call(opens="a thread pool", shared="pool"),
    "concurrent.futures.process.ProcessPoolExecutor": Call(starts="process"),
    "concurrent.futures.thread.ThreadPoolExecutor": Call(opens="a thread pool", shared="pool"),
    "multiprocessing.Manager": Call(opens="a `multiprocessing.Manager`", starts="process"),
    "multiprocessing.Pool": Call(opens="a pool of processes", shared="pool", starts="process"),
    "multiprocessing.Process": Call(starts="process"),
    "multiprocessing.context.Process": Call(starts="process"),
    "multiprocessing.cpu_count": Call(gives="int", positive=True, cpus="number"),
    "multiprocessing.get_context": Call(starts="context"),
    "multiprocessing.pool.Pool": Call(starts="process"),
    "multiprocessing.process.BaseProcess": Call(starts="process"),
    "multiprocessing.set_start_method": Call(sets_start_method=True),
    "psutil.cpu_count": Call(gives="int", positive=True, cpus="number"),
    "queue.Queue": Call(opens="a `queue.Queue`"),
    "threading.BoundedSemaphore": Call(opens="a `threading.BoundedSemaphore`"),
    "threading.Condition": Call(opens="a `threading.Condition`"),
    "threading.Event": Call(opens="a `threading.Event`"),
    "threading.Lock": Call(opens="a `threading.Lock`"),
    "threading.RLock": Call(opens="a `threading.RLock`"),
    "threading.Semaphore": Call(opens="a `threading.Semaphore`"),
    "threading.Thread": Call(opens="a `threading.Thread`", shared="thread"),
    "threading.local": Call(opens="a `threading.local`"),
}
