"""A task that waits for a connection goes on in the step that brings the data, and can be cancelled like any other."""

import asyncio

import pytest

from heald.http1.task_waiter import TaskWaiter


async def _wait(waiter: TaskWaiter, steps: list[str]) -> None:
    for number in range(2):
        await waiter
        steps.append(f"woken {number}")


async def test_a_task_goes_on_within_the_callback_that_wakes_it() -> None:
    loop, steps = asyncio.get_running_loop(), list[str]()
    waiter = TaskWaiter(loop)
    task = asyncio.create_task(_wait(waiter, steps))
    await asyncio.sleep(0)

    def receive() -> None:
        waiter.wake()
        steps.append("callback ends")

    loop.call_soon(receive)
    loop.call_soon(waiter.wake)
    await task
    assert steps == ["woken 0", "callback ends", "woken 1"]


async def test_a_task_that_wakes_another_is_not_interrupted() -> None:
    steps: list[str] = []
    waiter = TaskWaiter(asyncio.get_running_loop())
    task = asyncio.create_task(_wait(waiter, steps))
    await asyncio.sleep(0)
    waiter.wake()
    waiter.wake()  # nobody waits any more
    steps.append("still here")
    await asyncio.sleep(0)
    assert steps == ["still here", "woken 0"]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_waiting_task_is_cancelled_once() -> None:
    waiter = TaskWaiter(asyncio.get_running_loop())
    causes: list[str] = []

    async def work() -> str:
        try:
            await waiter
        except asyncio.CancelledError as error:
            causes.append(str(error))
        await waiter  # it goes on waiting, and no second CancelledError comes
        return "done"

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel("enough")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert causes == ["enough"]
    waiter.wake()
    assert await task == "done"


async def test_a_timeout_ends_the_wait() -> None:
    waiter = TaskWaiter(asyncio.get_running_loop())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await waiter


async def test_a_task_keeps_its_context_variables() -> None:
    from contextvars import ContextVar

    variable: ContextVar[str] = ContextVar("variable")
    loop = asyncio.get_running_loop()
    waiter = TaskWaiter(loop)

    async def work() -> str:
        variable.set("of the task")
        await waiter
        return variable.get()

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    variable.set("of the callback")
    loop.call_soon(waiter.wake)
    assert await task == "of the task"
