"""What pictures cost is in the call, in the exchange, in its budget; and where nobody knows, that is said."""

import base64
import io
from collections.abc import Sequence
from typing import Any

import pytest
from PIL import Image

import heald
from heald.core.envelope import Event
from heald.core.events import ExchangeResponse, ToolCompleted, ToolFailed
from heald.core.json import JsonObject
from heald.testing.server import Hang, Reply, ScriptedServer
from heald_check import check_log
from heald_studio.imaging.costs import gemini_tokens, openai_tokens
from heald_studio.imaging.gemini import GeminiImages
from heald_studio.imaging.images import ImageMaker
from heald_studio.imaging.openai import OpenAIImages
from heald_studio.imaging.provider import ImageProvider
from heald_studio.imaging.replicate import ReplicateImages
from heald_studio.tools.family import studio_tools
from studio_tools_support import call, finder

WANTED = [{"prompt": "A hill", "name": "hill.png", "width": 64, "height": 48}]
USAGE: JsonObject = {"input_tokens": 1000, "output_tokens": 1000, "input_tokens_details": {"image_tokens": 400}}
ONE = 600 * 5e-6 + 400 * 8e-6 + 1000 * 30e-6
"""Dollars of that usage, by the list price of the model: text in, pictures in, out."""


def _picture() -> str:
    out = io.BytesIO()
    Image.new("RGB", (64, 48), "red").save(out, "PNG")
    return base64.b64encode(out.getvalue()).decode()


def _made(usage: JsonObject | None = USAGE) -> Reply:
    counted = {"usage": usage} if usage is not None else {}
    return Reply.json({"created": 1, "data": [{"b64_json": _picture()}], **counted})


async def _ran(painter: ImageProvider, *turns: Any, **options: Any) -> list[Event]:
    tools = studio_tools(finder(), images=ImageMaker((painter,)))
    model = heald.testing.ScriptedModel([*turns, "Done."])
    agent = heald.Agent(model, tools=tools, permissions="auto", **options)
    events = [event async for event in agent.stream("Go.")]
    assert not check_log(events)
    return events


def _costs(events: Sequence[Event]) -> list[float | None]:
    return [event.data.cost_usd for event in events if isinstance(event.data, ToolCompleted | ToolFailed)]


def _response(events: Sequence[Event]) -> ExchangeResponse:
    data = events[-1].data
    assert isinstance(data, ExchangeResponse)
    return data


async def test_a_priced_picture_counts() -> None:
    async with ScriptedServer([_made(), _made()]) as server:
        painter = OpenAIImages("k", base_url=server.url)
        events = await _ran(painter, [call("generate_images", images=[*WANTED, *WANTED])])
    assert _costs(events) == [pytest.approx(2 * ONE)]
    assert _response(events).cost_usd == pytest.approx(2 * ONE)  # the scripted model costs nothing
    result = next(event.data for event in events if event.type == "tool_result")
    assert "This cost $0.07" in result.text  # pyright: ignore


async def test_edits_and_cutouts_count() -> None:
    async with ScriptedServer([_made(), _made(), _made()]) as server:
        painter = OpenAIImages("k", base_url=server.url)
        events = await _ran(
            painter,
            [call("generate_images", images=WANTED)],
            [call("edit_image", path="assets/hill.png", instruction="Make it blue.")],
        )
    assert _costs(events) == [pytest.approx(ONE)] * 2
    assert _response(events).cost_usd == pytest.approx(2 * ONE)


@pytest.mark.parametrize("reply", [_made(None), _made({"input_tokens": "many"})])
async def test_what_is_not_counted_has_no_known_price(reply: Reply) -> None:
    async with ScriptedServer([reply]) as server:
        events = await _ran(OpenAIImages("k", base_url=server.url), [call("generate_images", images=WANTED)])
    assert _costs(events) == [None]
    assert _response(events).cost_usd is None
    result = next(event.data for event in events if event.type == "tool_result")
    assert "What this cost is not known" in result.text  # pyright: ignore


async def test_a_model_that_is_in_no_list() -> None:
    async with ScriptedServer([_made()]) as server:
        painter = OpenAIImages("k", "my-own-image-model", base_url=server.url)
        events = await _ran(painter, [call("generate_images", images=WANTED)])
    assert _response(events).cost_usd is None


async def test_replicate_does_not_state() -> None:
    failed = Reply.json({"id": "p1", "status": "failed", "error": "no"})
    async with ScriptedServer(lambda _: failed) as server:
        painter = ReplicateImages("k", base_url=server.url, attempts=1)
        events = await _ran(painter, [call("generate_images", images=WANTED)])
    assert _response(events).cost_usd is None


async def test_what_is_drawn_here_is_free() -> None:
    async with ScriptedServer(lambda _: Reply.json({"error": {"message": "no"}}, 400)) as server:
        painter = OpenAIImages("k", base_url=server.url)
        events = await _ran(painter, [call("generate_images", images=WANTED)])
    assert _costs(events) == [0.0]
    assert _response(events).cost_usd == 0.0


async def test_a_budget_of_money_ends_after_them() -> None:
    async with ScriptedServer([_made(), _made()]) as server:
        painter = OpenAIImages("k", base_url=server.url)
        turns = [[call("generate_images", images=WANTED)]] * 3
        events = await _ran(painter, *turns, budget=heald.Budget(usd=ONE * 1.5))
        asked = len(server.requests)
    response = _response(events)
    assert (response.status, response.limit, asked) == ("limit", "usd", 2)
    assert response.cost_usd == pytest.approx(2 * ONE)


async def test_a_budget_of_money_is_not_kept_by_guessing() -> None:
    async with ScriptedServer(lambda _: _made(None)) as server:
        painter = OpenAIImages("k", base_url=server.url)
        turns = [[call("generate_images", images=WANTED)]] * 3
        events = await _ran(painter, *turns, budget=heald.Budget(usd=100.0))
        asked = len(server.requests)
    response = _response(events)
    assert (response.status, response.limit, asked) == ("limit", "usd", 1)
    assert response.note == "Something was used whose price is not known, so the budget of $100 cannot be enforced."


async def test_a_call_that_is_ended_has_cost_what_it_had() -> None:
    replies = [_made(), *[Reply([Hang()])] * 3]
    async with ScriptedServer(replies) as server:
        painter = OpenAIImages("k", base_url=server.url)
        tools = studio_tools(finder(), images=ImageMaker((painter,)))
        model = heald.testing.ScriptedModel([[call("generate_images", images=[*WANTED, *WANTED])], "Done."])
        agent = heald.Agent(model, tools=tools, permissions="auto")
        events: list[Event] = []
        async for event in agent.stream("Go."):
            events.append(event)
            if event.type == "tool_output_delta":  # the first picture is there
                agent.cancel()
    assert _costs(events) == [pytest.approx(ONE)]
    assert _response(events).status == "cancelled"
    assert _response(events).cost_usd == pytest.approx(ONE)


async def test_gemini_counts_pictures_apart() -> None:
    usage = {
        "promptTokenCount": 100,
        "candidatesTokenCount": 1300,
        "thoughtsTokenCount": 50,
        "candidatesTokensDetails": [{"modality": "IMAGE", "tokenCount": 1290}],
    }
    part = {"inlineData": {"mimeType": "image/png", "data": _picture()}}
    answer = {"candidates": [{"content": {"parts": [part]}}], "usageMetadata": usage}
    async with ScriptedServer([Reply.json(answer)]) as server:
        painter = GeminiImages("k", "gemini-2.5-flash-image", base_url=server.url)
        events = await _ran(painter, [call("generate_images", images=WANTED)])
    assert _costs(events) == [pytest.approx(100 * 0.3e-6 + 60 * 2.5e-6 + 1290 * 30e-6)]


@pytest.mark.parametrize("usage", [None, [], 5, {}, {"input_tokens": -1, "output_tokens": 2}, {"input_tokens": True}])
def test_usage_of_any_shape(usage: Any) -> None:
    assert openai_tokens({"usage": usage}) is None
    assert gemini_tokens({"usageMetadata": usage}) is None
