"""Ollama cuts a prompt that is longer than its context in silence, so requests name the size of the context."""

from typing import Any

import pytest

import heald
from heald.core.errors import ProviderError
from heald.core.messages import user_message
from heald.testing import Reply, ScriptedServer, wire_reply


def model_description(size: int, parameters: str = "") -> dict[str, Any]:
    return {"model_info": {"general.architecture": "llama", "llama.context_length": size}, "parameters": parameters}


async def options_sent(facts: dict[str, Any], turns: int = 1, **quirks: Any) -> tuple[list[Any], ScriptedServer]:
    replies = [wire_reply("ollama", text="Yes.") for _ in range(turns)]
    async with ScriptedServer(replies, facts=facts) as server:
        model = heald.Model("small", wire="ollama", base_url=server.url, quirks=heald.providers.Quirks(**quirks))
        session = heald.providers.open_provider_session(model, messages=[user_message("Hello?")])
        for _ in range(turns):
            turn = await session.stream_turn(lambda _: None)
            session.append_tool_results(turn, [])
        await session.close()
    return [request.body.get("options") for request in server.requests], server


@pytest.mark.parametrize(("size", "sent"), [(8192, 8192), (131_072, 16_384)])
async def test_the_size_of_the_model_up_to_a_cap(size: int, sent: int) -> None:
    options, server = await options_sent({"/api/show": model_description(size)}, turns=2)
    assert options == [{"num_ctx": sent}] * 2
    assert [request.body for request in server.fact_requests] == [{"model": "small"}]  # it is asked for once


async def test_the_cap_can_be_set() -> None:
    options, _ = await options_sent({"/api/show": model_description(131_072)}, context_cap=65_536)
    assert options == [{"num_ctx": 65_536}]


async def test_the_size_in_the_model_file_stays() -> None:
    options, _ = await options_sent({"/api/show": model_description(131_072, "stop  x\nnum_ctx    32768\n")})
    assert options == [None]


@pytest.mark.parametrize("facts", [{}, {"/api/show": []}, {"/api/show": {"model_info": {"llama.context_length": "8"}}}])
async def test_a_server_that_does_not_know_it(facts: dict[str, Any]) -> None:
    options, _ = await options_sent(facts)
    assert options == [None]


async def test_the_turn_reports_a_server_that_is_away() -> None:
    async with ScriptedServer([Reply()]) as server:
        url = server.url
    model = heald.Model("small", wire="ollama", base_url=url)
    session = heald.providers.open_provider_session(
        model, messages=[user_message("Hello?")], retry=heald.Retry(attempts=1)
    )
    with pytest.raises(ProviderError):
        await session.stream_turn(lambda _: None)
    await session.close()
