"""Threads of plain functions: an idle one is used again, one that hangs is not."""

import asyncio
import multiprocessing
import threading

import pytest

from heald.tools import tool_threads
from heald.tools.tool_threads import in_thread


async def test_calls_one_after_another_share_a_thread() -> None:
    threads = {await in_thread(threading.get_ident, "ident") for _ in range(50)}
    assert len(threads) <= 3  # a thread is free a moment after its result is there


async def test_calls_at_the_same_time_have_threads_of_their_own() -> None:
    barrier = threading.Barrier(8)
    await asyncio.gather(*(in_thread(lambda: barrier.wait(30), "meet") for _ in range(8)))


async def test_a_call_that_hangs_keeps_its_thread_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_threads, "GRACE", 0.01)
    started, release = threading.Event(), threading.Event()

    def hang() -> None:
        started.set()
        release.wait(60)

    hanging = asyncio.create_task(in_thread(hang, "hang"))
    await asyncio.to_thread(started.wait, 30)
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    try:
        assert await asyncio.wait_for(in_thread(lambda: "works", "next"), 120) == "works"
    finally:
        release.set()


async def test_a_thread_is_named_for_its_call_and_ends_when_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_threads, "IDLE", 0.01)
    tool_threads._idle_threads.clear()  # pyright: ignore[reportPrivateUsage]
    thread = await in_thread(threading.current_thread, "named")
    assert await in_thread(lambda: threading.current_thread().name, "named") == "heald-tool-named"
    await asyncio.to_thread(thread.join, 30)
    assert not thread.is_alive()
    assert await in_thread(lambda: "again", "later") == "again"


def test_a_forked_process_starts_threads_of_its_own() -> None:
    async def call() -> str:
        return await asyncio.wait_for(in_thread(lambda: "called", "forked"), 120)

    assert asyncio.run(call()) == "called"
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=lambda: answers.put(asyncio.run(call())))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert answers.get() == "called"
