"""One look at a picture for all who ask, told in steps, given up when nobody waits."""

import asyncio
import time
from functools import partial

import pytest

from heald_local.detection import DetectionJob, start_detection
from heald_pictures.errors import UnreadablePicture
from local_support import Bench, dense, line, needs_vision, page, picture_request

pytestmark = needs_vision


async def test_all_who_ask_share_one_look_and_receive_every_step() -> None:
    first, second = start_detection(line("#fffffb")), start_detection(line("#fffffb"))
    assert first is second
    steps = [step async for step in first.progress()]
    again = [step async for step in second.progress()]
    assert [step.stage for step in steps] == [step.stage for step in again]
    assert steps[0].stage == "regions"
    assert steps[-1].stage == "done"
    assert (await first.result()).texts
    first.release()
    second.release()
    cached = start_detection(line("#fffffb"))
    assert cached is first
    cached.release()


async def test_a_look_that_nobody_waits_for_stops_and_can_be_requested_repeatedly() -> None:
    look = start_detection(dense())
    async for _ in look.progress():
        break
    look.release()
    begun = time.monotonic()
    async with asyncio.timeout(60):
        while not look.is_done:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    print(f"stopped after {time.monotonic() - begun:.2f} s")
    assert look.detection is None
    again = start_detection(dense())
    assert again is not look
    again.release()


async def test_a_sketch_is_drawn_once_for_all_callers() -> None:
    look = DetectionJob(b"")
    drawn: list[str] = []

    def draw(stack: str) -> str:
        time.sleep(0.05)
        drawn.append(stack)
        return f"<p>{stack}</p>"

    asked = ["html_css", "html_css", "svg", "html_css"]
    sketches = await asyncio.gather(
        *(asyncio.to_thread(look.draw_sketch, stack, partial(draw, stack)) for stack in asked)
    )
    assert sketches == [f"<p>{stack}</p>" for stack in asked]
    assert sorted(drawn) == ["html_css", "svg"]


async def test_one_who_disconnects_does_not_stop_the_others() -> None:
    first, second = start_detection(line("#fbffff")), start_detection(line("#fbffff"))
    first.release()
    assert (await second.result()).texts
    second.release()


async def test_a_fault_is_sent_to_everyone_and_not_remembered() -> None:
    looks = [start_detection(b"no picture")]
    for _ in range(2):
        with pytest.raises(UnreadablePicture):
            await looks[-1].result()
        looks[-1].release()
        looks.append(start_detection(b"no picture"))
    assert len(set(map(id, looks))) == 3
    looks[-1].release()


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
        await bench.ask(picture_request(page("#fffbff")))
        beating.cancel()
    print(f"the loop was held up for at most {worst * 1000:.0f} ms")
    assert worst < 2


async def test_two_agents_at_one_picture_look_once_and_both_finish() -> None:
    async with Bench() as first, Bench() as second:
        results = await asyncio.gather(
            first.ask(picture_request(line("#fbfbff"))), second.ask(picture_request(line("#fbfbff")))
        )
        assert [result.status for result in results] == ["completed", "completed"]
        assert first.file() == second.file()
