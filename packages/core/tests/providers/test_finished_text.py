"""A streamed text that differs from the finished one is requested once more; then the finished text counts."""

import heald
from heald.core.json import JsonObject
from heald.core.retry import Retry
from heald.events import Event, ExchangeResponse, MessageDelta, MessageDiscarded, TextDelta
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import sse_event
from heald_check import check_log

NOTE = "The text that was streamed differed from the finished text twice; this is the finished text."


def reply(streamed: str, finished: str) -> Reply:
    item: JsonObject = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": finished, "annotations": []}],
    }
    response: JsonObject = {"id": "r", "model": "m", "status": "completed", "output": [item]}
    events: list[JsonObject] = [
        {"type": "response.created", "response": response | {"status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item | {"content": []}},
        {"type": "response.output_text.delta", "output_index": 0, "delta": streamed},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]
    return Reply([sse_event(event, event["type"]) for event in events])


async def run(*replies: Reply) -> tuple[list[Event], int]:
    async with ScriptedServer(replies) as server:
        model = heald.Model("m", wire="responses", base_url=server.url)
        agent = heald.Agent(model, retry=Retry(base=0))
        events = [event async for event in agent.stream("Hi")]
        assert not check_log(events)
        return events, len(server.requests)


def notes(events: list[Event]) -> list[str]:
    return [note for event in events if isinstance(event.data, MessageDelta) for note in event.data.notes]


async def test_two_that_differ_cost_two_requests() -> None:
    wrong = reply("Hello wold", "Hello world")
    events, requests = await run(wrong, wrong, wrong)
    assert requests == 2
    assert [event.data.text for event in events if isinstance(event.data, TextDelta)] == ["Hello wold", "Hello world"]
    assert sum(isinstance(event.data, MessageDiscarded) for event in events) == 1
    assert notes(events) == [NOTE]
    end = events[-1].data
    assert isinstance(end, ExchangeResponse)
    assert end.note == NOTE


async def test_a_second_one_that_is_right_has_no_note() -> None:
    events, requests = await run(reply("Hello wold", "Hello world"), reply("Hello world", "Hello world"))
    assert (requests, notes(events)) == (2, [])
    assert [event.data.text for event in events if isinstance(event.data, TextDelta)] == ["Hello wold", "Hello world"]
