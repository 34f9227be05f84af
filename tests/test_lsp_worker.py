"""The thread that lints: what is done first, and what stops."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from dataloader_lint.lsp.worker import Urgency, Worker
from dataloader_lint.semantics import interrupts


def always() -> bool:
    return True


def endless(begun: threading.Event) -> Callable[[], None]:
    """Work that goes on until it is stopped, as a lint would be."""

    def work() -> None:
        begun.set()
        while True:
            interrupts.check()

    return work


def play(scene: Callable[[Worker], object]) -> None:
    worker = Worker()
    try:
        asyncio.run(asyncio.wait_for(scene(worker), 60))  # type: ignore[arg-type]
    finally:
        worker.shutdown()


def test_the_most_urgent_work_is_done_first() -> None:
    async def scene(worker: Worker) -> None:
        gate, done = threading.Event(), []
        worker.submit(Urgency.KEY, lambda: gate.wait(60) and None)
        for urgency in (Urgency.REST, Urgency.OPENED, Urgency.KEY, Urgency.QUESTION, Urgency.AHEAD, Urgency.KEY):
            worker.submit(urgency, lambda urgency=urgency: done.append(urgency))
        gate.set()
        await worker.run(Urgency.REST, always, lambda: None)
        assert done == sorted(done)
        assert len(done) == 6

    play(scene)


def test_what_is_not_wanted_any_more_stops_and_what_waits_is_not_begun() -> None:
    async def scene(worker: Worker) -> None:
        begun, wanted, others = threading.Event(), [True], []
        running = asyncio.ensure_future(worker.run(Urgency.KEY, lambda: wanted[0], endless(begun)))
        waiting = asyncio.ensure_future(worker.run(Urgency.KEY, lambda: wanted[0], lambda: others.append(1)))
        await asyncio.to_thread(begun.wait, 60)
        wanted[0] = False
        assert await running is None
        assert await waiting is None
        assert others == []

    play(scene)


def test_cancelling_whoever_waits_stops_the_work() -> None:
    async def scene(worker: Worker) -> None:
        begun = threading.Event()
        running = asyncio.ensure_future(worker.run(Urgency.QUESTION, always, endless(begun)))
        await asyncio.to_thread(begun.wait, 60)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await worker.run(Urgency.REST, always, lambda: 7) == 7

    play(scene)


def test_errors_reach_whoever_waits_and_the_thread_goes_on() -> None:
    async def scene(worker: Worker) -> None:
        worker.submit(Urgency.KEY, lambda: 1 / 0 and None)
        with pytest.raises(ZeroDivisionError):
            await worker.run(Urgency.KEY, always, lambda: 1 / 0)
        assert await worker.run(Urgency.KEY, always, lambda: 7) == 7

    play(scene)


def test_shutting_down_stops_the_work_and_ends_the_thread() -> None:
    worker, begun = Worker(), threading.Event()

    async def scene() -> object:
        running = asyncio.ensure_future(worker.run(Urgency.KEY, always, endless(begun)))
        await asyncio.to_thread(begun.wait, 60)
        worker.shutdown()
        return await asyncio.wait_for(running, 60)

    assert asyncio.run(scene()) is None
