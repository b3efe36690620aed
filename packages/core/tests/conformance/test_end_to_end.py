"""Every case over HTTP: a scripted server, a session, and what an application sees of it."""

from json import loads

import pytest

from heald.core.errors import ErrorInfo, ProviderError
from heald.core.json import encode
from heald.core.payload import Payload
from heald.providers.base import ProviderTurn
from heald.testing.server import EVENT_STREAM, Reply, ScriptedServer
from heald.testing.streams import wire_reply

from .batches import batches, running
from .case import Case, all_cases
from .endpoint import CONTENT_TYPES, PATHS, session_of
from .matching import match
from .runner import build_next, check, result_of

CASES = all_cases()
STREAMS = [name for name, case in CASES.items() if case.stream is not None]
REQUESTS = [name for name, case in CASES.items() if case.expect_request is not None]


@pytest.mark.parametrize("names", batches(STREAMS))
async def test_stream(names: list[str]) -> None:
    for name in names:
        with running(name):
            await stream(CASES[name])


async def stream(case: Case) -> None:
    """Hold the stream of a case against what it expects."""
    content_type = case.content_type or CONTENT_TYPES.get(case.wire, EVENT_STREAM)
    replies = [Reply(case.pieces(), content_type=content_type), wire_reply(case.wire, text="Next.")]
    async with ScriptedServer(replies) as server:
        session = session_of(server, case)
        events: list[Payload] = []
        turn: ProviderTurn | None = None
        error: ErrorInfo | None = None
        try:
            turn = await session.stream_turn(events.append)
        except ProviderError as raised:
            error = raised.info()
        check(case, events, turn.message if turn is not None else None, error)
        assert server.requests[0].path == PATHS[case.wire].format(model=case.model)
        assert len(server.requests) == 1
        if turn is not None and turn.tool_calls:
            session.append_tool_results(turn, [result_of(call) for call in turn.tool_calls])
            await session.stream_turn(events.append)
            assert server.requests[1].body == loads(encode(build_next(case, turn.message, turn.stop_reason)))
            if case.expect_next is not None:
                match(case.expect_next, server.requests[1].body)
        await session.close()


@pytest.mark.parametrize("names", batches(REQUESTS))
async def test_request(names: list[str]) -> None:
    for name in names:
        with running(name):
            await request(CASES[name])


async def request(case: Case) -> None:
    """Hold the request of a case against what it expects."""
    async with ScriptedServer([wire_reply(case.wire, text="Hello.")]) as server:
        session = session_of(server, case)
        turn = await session.stream_turn(lambda _: None)
        await session.close()
        match(case.expect_request, server.requests[0].body)
        assert turn.message.text == "Hello."
