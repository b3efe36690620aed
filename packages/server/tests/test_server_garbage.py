"""A server has garbage collected rarely while it serves, and puts the process back as it was."""

import asyncio
import gc
from collections.abc import Generator

import pytest

import heald
import heald_server


@pytest.fixture
def usual_collector() -> Generator[None]:
    """The collector as Python starts with it."""
    thresholds, is_frozen = gc.get_threshold(), bool(gc.get_freeze_count())
    gc.unfreeze()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*thresholds)
    if is_frozen:
        gc.freeze()


@pytest.mark.usefixtures("usual_collector")
async def test_a_server_examines_loaded_modules_never_and_new_objects_rarely() -> None:
    ready = asyncio.Event()
    agent = heald.Agent(heald.testing.ScriptedModel(["Hello."]))
    serving = asyncio.create_task(heald_server.serve_async(agent, port=0, ready=lambda _: ready.set()))
    await ready.wait()
    try:
        assert gc.get_threshold() == (10_000, 10, 10)
        assert gc.get_freeze_count() > 10_000
    finally:
        serving.cancel()
        await asyncio.wait([serving])
    assert gc.get_threshold() == (700, 10, 10)
    assert gc.get_freeze_count() == 0
