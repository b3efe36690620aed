"""One task for an exchange and its tool, and a way to leave the tool behind in it."""

import asyncio
import contextlib

import pytest

from weft.agent.driver import Driver


async def test_work_runs_in_the_same_task_and_off_the_frames() -> None:
    seen: list[object] = []
    ended = asyncio.Event()

    async def work() -> None:
        await asyncio.sleep(0)
        seen.append(asyncio.current_task())

    async def main() -> None:
        seen.append(asyncio.current_task())
        await driver.run_inline(work())
        await asyncio.sleep(0)
        seen.append(asyncio.current_task())

    driver = Driver(main(), "test", ended.set)
    await asyncio.wait_for(ended.wait(), 5)
    assert len(set(seen)) == 1


async def test_an_error_of_the_work_is_one_of_anyone_who_asked() -> None:
    ended = asyncio.Event()
    caught: list[str] = []

    async def work() -> None:
        raise ValueError("no")

    async def main() -> None:
        try:
            await driver.run_inline(work())
        except ValueError as error:
            caught.append(str(error))

    driver = Driver(main(), "test", ended.set)
    await asyncio.wait_for(ended.wait(), 5)
    assert caught == ["no"]


@pytest.mark.parametrize("error", [None, asyncio.CancelledError()])
async def test_what_does_not_end_is_left_behind(error: BaseException | None) -> None:
    ended, begun, free = asyncio.Event(), asyncio.Event(), asyncio.Event()
    after: list[object] = []

    async def deaf() -> None:
        begun.set()
        while not free.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await free.wait()
        after.append("late")

    async def main() -> None:
        try:
            await driver.run_inline(deaf())
        except asyncio.CancelledError:
            after.append("cancelled")
        await asyncio.sleep(0)
        after.append("went on")

    driver = Driver(main(), "test", ended.set)
    await begun.wait()
    first = driver.task
    first.cancel()
    await asyncio.sleep(0)
    assert not first.done()
    driver.detach(error)
    await asyncio.wait_for(ended.wait(), 5)
    assert after == (["went on"] if error is None else ["cancelled", "went on"])
    free.set()
    await asyncio.wait_for(first, 5)
    assert after[-1] == "late"


async def test_cancelled_before_its_first_step() -> None:
    ended = asyncio.Event()
    ran: list[int] = []

    async def main() -> None:
        ran.append(1)

    driver = Driver(main(), "test", ended.set)
    driver.task.cancel()
    await asyncio.wait_for(ended.wait(), 5)
    assert ran == []


async def test_work_that_does_not_wait_ends_before_the_loop_runs_anything_else() -> None:
    ended = asyncio.Event()
    order: list[str] = []

    async def work() -> None:
        order.append("work")

    async def main() -> None:
        asyncio.get_running_loop().call_soon(order.append, "loop")
        await driver.run_inline(work())
        order.append("main")

    driver = Driver(main(), "test", ended.set)
    await asyncio.wait_for(ended.wait(), 5)
    assert order == ["work", "main", "loop"]


async def test_a_cancellation_reaches_work_that_waits() -> None:
    ended = asyncio.Event()
    order: list[str] = []

    async def work() -> None:
        driver.task.cancel()
        await asyncio.sleep(0)
        order.append("work")

    async def main() -> None:
        try:
            await driver.run_inline(work())
        except asyncio.CancelledError:
            order.append("cancelled")

    driver = Driver(main(), "test", ended.set)
    await asyncio.wait_for(ended.wait(), 5)
    assert order == ["cancelled"]
