"""One look at a picture for all who ask, told in steps, given up when nobody waits."""

import asyncio
import time

import pytest
from local_support import Bench, dense, needs_vision, page, shown

from weft.providers.local.looking import look_at
from weft.vision import UnreadablePicture

pytestmark = needs_vision


async def test_all_who_ask_share_one_look_and_hear_every_step() -> None:
    first, second = look_at(page("#fffffb")), look_at(page("#fffffb"))
    assert first is second
    steps = [step async for step in first.progress()]
    again = [step async for step in second.progress()]
    assert [step.stage for step in steps] == [step.stage for step in again]
    assert steps[0].stage == "regions"
    assert steps[-1].stage == "done"
    assert (await first.result()).texts
    first.leave()
    second.leave()
    kept = look_at(page("#fffffb"))
    assert kept is first
    kept.leave()


async def test_a_look_that_nobody_waits_for_stops_and_can_be_asked_for_again() -> None:
    look = look_at(dense())
    async for _ in look.progress():
        break
    look.leave()
    begun = time.monotonic()
    async with asyncio.timeout(60):
        while not look.over:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    print(f"stopped after {time.monotonic() - begun:.2f} s")
    assert look.seen is None
    again = look_at(dense())
    assert again is not look
    again.leave()


async def test_one_who_leaves_does_not_stop_the_others() -> None:
    first, second = look_at(page("#fbffff")), look_at(page("#fbffff"))
    first.leave()
    assert (await second.result()).texts
    second.leave()


async def test_a_fault_is_told_to_everyone_and_not_remembered() -> None:
    looks = [look_at(b"no picture")]
    for _ in range(2):
        with pytest.raises(UnreadablePicture):
            await looks[-1].result()
        looks[-1].leave()
        looks.append(look_at(b"no picture"))
    assert len(set(map(id, looks))) == 3
    looks[-1].leave()


async def test_the_loop_stays_free_while_it_looks() -> None:
    worst = 0.0

    async def beat() -> None:
        nonlocal worst
        while True:
            begun = time.monotonic()
            await asyncio.sleep(0.005)
            worst = max(worst, time.monotonic() - begun - 0.005)

    async with Bench() as bench:
        beating = asyncio.create_task(beat())
        await bench.ask(shown(page("#fffbff")))
        beating.cancel()
    print(f"the loop was held up for at most {worst * 1000:.0f} ms")
    assert worst < 2


async def test_two_agents_at_one_picture_look_once_and_both_finish() -> None:
    async with Bench() as one, Bench() as other:
        results = await asyncio.gather(one.ask(shown(page("#fbfbff"))), other.ask(shown(page("#fbfbff"))))
        assert [result.status for result in results] == ["completed", "completed"]
        assert one.file() == other.file()
