"""Programs that do the same with and without the doctor: what they print, which files they leave, what outlives them.

Each runs plainly and under the doctor, in two folders. What they print goes through `print`, so that order counts.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

from benchmarks import processes
from doctor.programs import LIMIT

pytestmark = pytest.mark.evidence

HEAD = """
import atexit, os, signal, subprocess, sys, threading, time
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset
class Rows(Dataset):
    def __init__(self, count=8): self.count = count
    def __len__(self): return self.count
    def __getitem__(self, i): return i
def read(**more):
    return [b.tolist() for b in DataLoader(Rows(), batch_size=4, **more)]
"""

PROGRAMS = {
    "a forked child goes on as the program": """
        print("before", flush=True)
        if os.fork():
            sys.exit()
        os.setsid()  # a daemon
        open("late.txt", "w").write(str(read(num_workers=1)))
    """,
    "a forked child raises": """
        pid = os.fork()
        if pid == 0:
            raise ValueError("in the child")
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), read(num_workers=1))
    """,
    "a forked child iterates the loader of its parent": """
        loader = DataLoader(Rows(), batch_size=4)
        pid = os.fork()
        if pid == 0:
            print([b.tolist() for b in loader], flush=True)
            sys.exit(3)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), [b.tolist() for b in loader])
    """,
    "children of multiprocessing train": """
        import multiprocessing
        def train(rank, queue): queue.put((rank, read(num_workers=1)))
        if __name__ == "__main__":
            queue = multiprocessing.Queue()
            several = [multiprocessing.Process(target=train, args=(n, queue)) for n in range(2)]
            for each in several: each.start()
            print(sorted(queue.get() for _ in several))
            for each in several: each.join()
            print(read(), [each.exitcode for each in several])
    """,
    "a child of multiprocessing that is not waited for": """
        import multiprocessing
        def late(): time.sleep(1); open("late.txt", "w").write("done")
        if __name__ == "__main__":
            multiprocessing.get_context("spawn").Process(target=late).start()
            print(read())
    """,
    "threads that go on after the main one": """
        def work(n):
            time.sleep(0.3 * (n + 1))
            print("thread", n, read(num_workers=n % 2), flush=True)
        for n in range(3): threading.Thread(target=work, args=(n,)).start()
        atexit.register(lambda: print("at exit", threading.active_count()))
        print("main ends", flush=True)
    """,
    "a daemon thread is not waited for": """
        threading.Thread(target=lambda: (time.sleep(60), print("never")), daemon=True).start()
        rows = read(num_workers=1)
        # The feeder thread of a queue ends a moment after the loader has gone.
        end = time.monotonic() + 30
        while threading.active_count() > 2 and time.monotonic() < end: time.sleep(0.01)
        print(rows, threading.active_count(), [t.name for t in threading.enumerate()])
    """,
    "functions at exit, in their order, that iterate": """
        atexit.register(lambda: print("first registered", read()))
        import logging, concurrent.futures, weakref
        held = Rows()
        weakref.finalize(held, print, "finalized")
        atexit.register(lambda: print("last registered", read(num_workers=1)))
        print("main")
    """,
    "a function at exit that was registered before logging": """
        print(read())
    """,
    "destructors run when they do": """
        class Held(Rows):
            def __init__(self, name): super().__init__(4); self.name = name
            def __del__(self): print("deleted", self.name, flush=True)
        def epoch(name):
            for b in DataLoader(Held(name), batch_size=4): pass
            print("after", name, flush=True)
        epoch("one"); epoch("two")
        loader = DataLoader(Held("three"), batch_size=2)
        for b in loader: break
        del loader, b
        print("before the end", flush=True)
        last = Held("four")
        for b in DataLoader(last): pass
    """,
    "a loader that dies while it is iterated": """
        import weakref
        loader = DataLoader(Rows(), batch_size=2)
        reference, batches = weakref.ref(loader), iter(loader)
        del loader
        print(reference() is None, [b.tolist() for b in batches])
    """,
    "descriptors are closed with each loader": """
        def count(): return len(os.listdir("/proc/self/fd"))
        before = count()
        for _ in range(6): read(num_workers=2)
        # The feeder threads of the queues close their pipes a moment after the loader has gone.
        end = time.monotonic() + 30
        while count() > before and time.monotonic() < end: time.sleep(0.01)
        print(count() - before)
    """,
    "all descriptors are closed, and one is used again": """
        def init(worker): os.closerange(20, 256)
        class Writes(Rows):
            def __getitem__(self, i):
                with open(f"{i}.txt", "w") as file: file.write(str(i)); return i
        print([b.tolist() for b in DataLoader(Writes(), batch_size=4)])
        file = os.open("mine.txt", os.O_WRONLY | os.O_CREAT)
        os.dup2(file, 9)
        print(read())
        os.write(9, b"mine alone")
    """,
    "exit codes of sys.exit": """
        print(read()); sys.exit(7)
    """,
    "sys.exit with a text": """
        print(read()); sys.exit("a text for stderr")
    """,
    "sys.exit that is caught": """
        try: sys.exit(2)
        except SystemExit as error: print("caught", error.code, read())
    """,
    "an exception that a hook of the program prints": """
        def hook(kind, value, trace): print("hook", kind.__name__, value)
        sys.excepthook = hook
        print(read())
        raise KeyError("x")
    """,
    "os._exit at once": """
        print(read(num_workers=1), flush=True); os._exit(9)
    """,
    "another program in its place": """
        print(read(), flush=True)
        os.execv(sys.executable, [sys.executable, "-c", "print('another')"])
    """,
    "killed by a signal": """
        print(read(), flush=True); os.kill(os.getpid(), signal.SIGKILL)
    """,
    "handlers of signals": """
        print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.getsignal(signal.SIGTERM))
        seen = []
        signal.signal(signal.SIGALRM, lambda *_: seen.append("alarm")); signal.setitimer(signal.ITIMER_REAL, 0.05)
        time.sleep(0.2); print(read(num_workers=1), seen)
        try: signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt: print("interrupted once")
        print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
    """,
    "a handler for dying children": """
        seen = []
        signal.signal(signal.SIGCHLD, lambda *_: seen.append(1))
        print(read(num_workers=1))
        subprocess.run(["true"]); time.sleep(0.1)
        print(bool(seen))
    """,
    "asyncio, with threads and a child": """
        import asyncio
        async def main():
            several = await asyncio.gather(*[asyncio.to_thread(read, num_workers=n) for n in (0, 1)])
            child = await asyncio.create_subprocess_exec("echo", "hi", stdout=asyncio.subprocess.PIPE)
            print(several, (await child.communicate())[0])
        asyncio.run(main())
    """,
    "asyncio that is cancelled": """
        import asyncio
        async def main():
            task = asyncio.create_task(asyncio.sleep(60))
            await asyncio.sleep(0.05); task.cancel()
            try: await task
            except asyncio.CancelledError: print("cancelled", await asyncio.to_thread(read))
        asyncio.run(main())
    """,
    "a pool of processes at the end": """
        from concurrent.futures import ProcessPoolExecutor
        if __name__ == "__main__":
            with ProcessPoolExecutor(1) as pool: print(pool.submit(pow, 2, 5).result(), read(num_workers=1))
    """,
    "a subprocess that outlives it": """
        code = "import time; time.sleep(1.5); open('late.txt', 'w').write('done')"
        subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        print(read(num_workers=1))
    """,
    "what a subprocess finds in its environment": """
        code = "import os, sys; print(os.environ.get('PYTHONPATH'), sys.path[1:], 'LINT' in str(os.environ))"
        print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout, read())
    """,
    "the main module": """
        import __main__
        print(__name__, __spec__, __file__ == os.path.abspath(sys.argv[0]), __main__ is sys.modules["__main__"])
        print(sorted(vars(__main__))[:12], __builtins__, __cached__, __loader__.name, sys.argv[1:], read())
    """,
    "the main module is replaced": """
        import types
        new = types.ModuleType("__main__"); new.value = 1
        sys.modules["__main__"] = new
        print(read()); del sys.modules["__main__"]
    """,
    "the path of modules": """
        print([os.path.relpath(p) for p in sys.path[:1]], len(sys.path), [type(f).__name__ for f in sys.meta_path])
        print("sitecustomize" in sys.modules, sys.flags, sys.orig_argv[2:], read())
        sys.path.clear()
    """,
    "closed streams": """
        print("hello", flush=True)
        os.close(1); os.close(2)
        read(num_workers=1)
        open("done.txt", "w").write("done")
    """,
    "streams that are no files": """
        class Upper:
            def write(self, text): open("log.txt", "a").write(text.upper())
            def flush(self): pass
        sys.stdout = sys.stderr = Upper()
        print(read(num_workers=1))
        sys.stdout = None
    """,
    "standard input": """
        print(sys.stdin.readline().strip(), read(num_workers=1), sys.stdin.read().strip())
    """,
    "another folder, and its own removed": """
        os.makedirs("run/deep"); os.chdir("run/deep")
        print(read(num_workers=1)); open("out.txt", "w").write("x")
        os.mkdir("gone"); os.chdir("gone"); os.rmdir("../gone")
    """,
    "a loader with frozen attributes": """
        class Frozen(DataLoader):
            def __setattr__(self, name, value):
                if "worker_init_fn" in vars(self) and name != "_iterator": raise AttributeError(name)
                super().__setattr__(name, value)
            @property
            def timeout(self): return 0
            @timeout.setter
            def timeout(self, value): print("set", value)
        print([b.tolist() for b in Frozen(Rows(), batch_size=4, num_workers=1)])
    """,
    "a loader with slots and its own iterator": """
        class Mine(DataLoader):
            def _get_iterator(self): print("asked"); return iter([torch.tensor([1])])
        print([b.tolist() for b in Mine(Rows(), num_workers=2)])
        class Counted(DataLoader):
            def __iter__(self): return (b * 2 for b in super().__iter__())
        print([b.tolist() for b in Counted(Rows(), batch_size=4, num_workers=1)])
    """,
    "everything about a Dataset that may be seen is printed": """
        class Loud(Rows):
            def __getattribute__(self, name):
                if not name.startswith("__"): print("get", name)
                return super().__getattribute__(name)
            def __getattr__(self, name): print("missing", name); raise AttributeError(name)
            def __reduce__(self): print("reduce"); return Loud, ()
            def __len__(self): print("len"); return 4
            def __sizeof__(self): print("sizeof"); return 1
            def __eq__(self, other): print("eq"); return self is other
            __hash__ = object.__hash__
            def __repr__(self): print("repr"); return "Loud"
        print([b.tolist() for b in DataLoader(Loud(), batch_size=2)])
    """,
    "a container that counts how often it is read": """
        class Paths(list):
            def __iter__(self): print("iter"); return super().__iter__()
            def __len__(self): print("len"); return super().__len__()
            def __getstate__(self): print("state")
            def __reduce_ex__(self, protocol): print("reduce"); return super().__reduce_ex__(protocol)
        class Holds(Rows):
            def __init__(self): super().__init__(4); self.paths = Paths("abcd"); self.by = {"x": self.paths}
            def __getitem__(self, i): return self.paths[i]
        print(list(DataLoader(Holds(), batch_size=2)))
    """,
    "samples that are handed over once, from workers": """
        class Sample:
            def __init__(self, i): self.i = i; self.sent = 0
            def __reduce__(self):
                self.sent += 1
                return _made, (self.i, self.sent)
        def _made(i, sent):
            sample = Sample(i); sample.sent = sent
            return sample
        class Gives(Rows):
            def __getitem__(self, i): return Sample(i)
        if __name__ == "__main__":
            for b in DataLoader(Gives(4), batch_size=2, num_workers=1, collate_fn=list):
                print([(s.i, s.sent) for s in b])
    """,
    "a tensor of a class that notes its use": """
        class Noted(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                print(getattr(function, "__name__", "?"))
                return super().__torch_function__(function, types, args, kwargs)
        class Gives(Rows):
            def __getitem__(self, i): return torch.ones(2).as_subclass(Noted)
        for b in DataLoader(Gives(4), batch_size=2, collate_fn=list): pass
    """,
    "spawned workers, and a global of the main module": """
        LIMIT = 3
        class Limited(Rows):
            def __getitem__(self, i): return min(i, LIMIT)
        if __name__ == "__main__":
            for method in ("spawn", "forkserver"):
                loader = DataLoader(Limited(), batch_size=4, num_workers=1, multiprocessing_context=method)
                print(method, [b.tolist() for b in loader])
    """,
    "who is called at a collection of garbage": """
        import gc
        class Asked(Rows):
            def __getitem__(self, i): return len(gc.callbacks)
        print(len(gc.callbacks), [b.tolist() for b in DataLoader(Asked(), batch_size=4, num_workers=1)], gc.callbacks)
    """,
    "random numbers": """
        import random, numpy
        torch.manual_seed(0); random.seed(0); numpy.random.seed(0)
        class Drawn(Rows):
            def __getitem__(self, i): return i + float(torch.rand(())) + random.random() + float(numpy.random.rand())
        for workers in (0, 2):
            print([b.tolist() for b in DataLoader(Drawn(), batch_size=4, shuffle=True, num_workers=workers)])
        print(torch.rand(1), random.random(), numpy.random.rand())
    """,
    "temporary files are cleared": """
        import glob, shutil, tempfile
        for path in glob.glob(os.path.join(tempfile.gettempdir(), "dataloader-lint-*")): shutil.rmtree(path)
        print(read(num_workers=1), read())
    """,
    "persistent workers that are left": """
        loader = DataLoader(Rows(), batch_size=4, num_workers=2, persistent_workers=True)
        print([b.tolist() for _ in range(2) for b in loader])
        half = iter(DataLoader(Rows(80), batch_size=4, num_workers=1))
        print(next(half).tolist())
    """,
    "a module that it replaces a function of": """
        import json, pickle
        pickle.dumps = json.dumps = None
        print(read())
    """,
    "files that it opens are noted": """
        import builtins
        own = builtins.open
        def noted(*arguments, **named):
            print("open", arguments[0])
            return own(*arguments, **named)
        builtins.open = noted
        print(read(), read(num_workers=1))
        open("mine.txt", "w").close()
    """,
    "the constructor and the iterator as others see them": """
        import inspect, pickle
        print(list(inspect.signature(DataLoader.__init__).parameters)[:4], DataLoader.__init__.__name__)
        print(len(pickle.dumps(DataLoader(Rows()))), vars(DataLoader(Rows(), num_workers=1))["worker_init_fn"])
        loader = DataLoader(Rows(), num_workers=1); iterator = iter(loader)
        print(loader.worker_init_fn, loader.timeout, sorted(vars(loader))[:6], type(iterator).__name__)
    """,
}
PROGRAMS["a function at exit that was registered before logging"] = (
    """
import atexit
atexit.register(print, "registered before logging")
import logging, logging.handlers
class Last(logging.Handler):
    def emit(self, record): pass
    def flush(self): print("flushed")
    def close(self): print("closed"); super().close()
logging.getLogger().addHandler(Last())
"""
    + HEAD
    + PROGRAMS["a function at exit that was registered before logging"]
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_with_and_without(name: str, tmp_path: Path) -> None:
    text = PROGRAMS[name]
    text = text if HEAD in text else HEAD + dedent(text)
    plain, watched = (_ran(tmp_path / kind / "project", text, *options) for kind, options in _WAYS.items())
    assert watched[:2] == plain[:2], watched[3]
    assert watched[2] in (0, 1)
    assert "symptom" in watched[3] or "Nothing wrong" in watched[3] or "No DataLoader" in watched[3]
    if plain[2] > 1:
        assert f"exit code {plain[2]}" in watched[3]


_WAYS = {"plain": (), "watched": ("-m", "dataloader_lint", "doctor", "--output-file", "../report.txt")}


def _ran(folder: Path, text: str, *options: str) -> tuple[str, dict[str, str], int, str]:
    """What a program prints, the files that it leaves, its exit code, and the report, if there is one."""
    folder.mkdir(parents=True)
    (folder.parent / "pyproject.toml").touch()
    path = folder / "train.py"
    path.write_text(text)
    command = [sys.executable, *options, "train.py", *(["--"] if options else []), "--epochs", "1"]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = processes.run(command, cwd=folder, env=variables, seconds=LIMIT, input="first\nsecond\n")
    end = time.monotonic() + (20 if "late.txt" in text else 0)
    while time.monotonic() < end and not (folder / "late.txt").exists():
        time.sleep(0.1)
    time.sleep(0.3)
    files = {str(each.relative_to(folder)): each.read_text() for each in folder.rglob("*.*") if each.is_file()}
    report = folder.parent / "report.txt"
    shown = report.read_text() if report.exists() else done.stderr
    return done.stdout.replace(str(folder.parent), "FOLDER"), files, done.returncode, shown


def test_a_script_that_is_a_link_finds_its_modules(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "main.py").write_text("import beside, sys\nprint(beside.VALUE, sys.argv)\n")
    (tmp_path / "real" / "beside.py").write_text("VALUE = 5\n")
    (tmp_path / "linked.py").symlink_to(tmp_path / "real" / "main.py")
    (tmp_path / "pyproject.toml").touch()
    several = [
        processes.run([sys.executable, *options, "linked.py"], cwd=tmp_path).stdout
        for options in ((), ("-m", "dataloader_lint", "doctor", "--output-file", "report.txt"))
    ]
    assert several[0] == several[1] == "5 ['linked.py']\n"


def test_a_relative_script_that_leaves_its_folder_has_its_finding(tmp_path: Path) -> None:
    text = HEAD + dedent("""
        os.makedirs("outputs"); os.chdir("outputs")
        class Changed(Rows):
            def __init__(self): super().__init__(); self.change = lambda row: row
            def __getitem__(self, i): return self.change(i)
        print([b.tolist() for b in DataLoader(Changed(), batch_size=4, num_workers=1)])
    """)
    _, files, code, report = _ran(tmp_path / "project", text, *_WAYS["watched"])
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "lambda row" in each)
    assert code == 1 and f"train.py:{line} DL204" in report
    assert set(files) == {"train.py"}
