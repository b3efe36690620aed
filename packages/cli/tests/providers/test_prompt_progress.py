"""llama.cpp's server reports how much of a prompt is read: an event, a sign of life, and asked for only there."""

import asyncio
import json

import pytest

import heald
from heald.core.context_events import PromptProgress
from heald.core.envelope import Event
from heald.providers.watchdog import Timeouts, Watchdog
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald_check import check_log

LLAMA = {"/props": {"default_generation_settings": {"n_ctx": 8192}}}
LONG = "Read this. " * 400


def progress(processed: int) -> bytes:
    """A chunk as llama.cpp's server sends it."""
    delta = {"role": "assistant", "content": None}
    chunk = {
        "choices": [{"finish_reason": None, "index": 0, "delta": delta}],
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "prompt_progress": {"total": 800, "cache": 0, "processed": processed, "time_ms": 10},
    }
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def slow_reply() -> Reply:
    answer = wire_reply("chat", text="Done.")
    return Reply([progress(200), progress(800), *answer.body])


@pytest.mark.parametrize("facts", [LLAMA, {}])
async def test_progress_is_asked_for_and_published(facts: dict[str, object]) -> None:
    events: list[Event] = []
    async with ScriptedServer([slow_reply()], facts=facts) as server:
        model = heald.Model("m", base_url=f"{server.url}/v1", api_key="none")
        async with heald.Agent(model) as agent:
            agent.subscribe(events.append)
            result = await agent.run(LONG)
    assert (result.status, result.text) == ("completed", "Done.")
    assert check_log(events) == []
    assert server.requests[0].body.get("return_progress") == (True if facts else None)
    reports = [event.data for event in events if isinstance(event.data, PromptProgress)]
    assert [(report.processed, report.total, report.percent) for report in reports] == [(200, 800, 25), (800, 800, 100)]


async def test_progress_keeps_the_patience_with_the_first_content() -> None:
    watchdog = Watchdog(Timeouts(socket=0.05, content=0.05))
    stopped = asyncio.Event()
    watchdog.start(stopped.set, first=600)
    watchdog.saw(content=True, begun=False)
    await asyncio.sleep(0.3)
    assert watchdog.error is None
    watchdog.saw(content=True)
    async with asyncio.timeout(120):
        await stopped.wait()
    assert watchdog.error is not None
    watchdog.stop()


def test_a_terminal_shows_it() -> None:
    from heald_cli.event_text import describe_progress

    assert describe_progress(PromptProgress("m", 320, 800)) == "reading the prompt, 40 %"
    assert describe_progress(PromptProgress("m", 800, 800)) == "thinking"
    assert PromptProgress("m", 1, 0).percent == 0
