"""Typed answers and required calls at endpoints that behave as OpenAI, Anthropic, llama.cpp and Ollama do."""

from typing import Any

import msgspec
import pytest

import heald
from heald.core.json import JsonObject, as_object, encode_text
from heald.core.messages import ToolCall
from heald.testing import ReceivedRequest, Reply, ScriptedServer, wire_reply


class City(msgspec.Struct):
    name: str
    people: int
    country: str = "unknown"


ANSWER = {"name": "Oslo", "people": 7, "country": None}


@heald.tool
def count_people(city: str) -> int:
    """Count the people of a city."""
    return 7 if city == "Oslo" else 0


def model_at(server: ScriptedServer, wire: str, **quirks: Any) -> heald.Model:
    base = server.url if wire == "ollama" else f"{server.url}/v1"
    return heald.Model("m", wire=wire, base_url=base, quirks=heald.providers.Quirks(**quirks))


def has_results(body: JsonObject) -> bool:
    return '"role":"tool"' in encode_text(body) or '"function_call_output"' in encode_text(body)


CALL = ToolCall(id="call_1", name="count_people", input={"city": "Oslo"})


def refusal_of_open_objects(body: JsonObject, place: JsonObject) -> Reply | None:
    """The refusal of OpenAI's API for a strict schema with an object that is open or has optional members."""
    schema = as_object(place.get("schema"))
    closed = schema.get("additionalProperties") is False and schema.get("required") == list(schema["properties"])
    if closed or place.get("strict") is not True:
        return None
    message = "Invalid schema for response_format 'output': 'additionalProperties' is required to be false."
    return Reply.json({"error": {"message": message, "type": "invalid_request_error"}}, 400)


@pytest.mark.parametrize("wire", ["chat", "responses"])
async def test_openai_accepts_the_schema_beside_tools(wire: str) -> None:
    def answer(request: ReceivedRequest) -> Reply:
        body = request.body
        place = body["response_format"]["json_schema"] if wire == "chat" else body["text"]["format"]
        refused = refusal_of_open_objects(body, place)
        if refused is not None:
            return refused
        if not has_results(body):
            return wire_reply(wire, calls=[CALL])
        return wire_reply(wire, text=encode_text(ANSWER))

    async with ScriptedServer(answer) as server:
        agent = heald.Agent(model_at(server, wire, typed_output="with_tools"), tools=[count_people], output=City)
        result = await agent.run("Which city?")
    assert result.output == City("Oslo", 7)
    assert len(server.requests) == 2


@pytest.mark.parametrize("wire", ["chat", "ollama"])
async def test_a_grammar_never_forbids_calls(wire: str) -> None:
    """llama.cpp and Ollama compile the schema to a grammar that a call cannot pass; the model invents the data."""

    def answer(request: ReceivedRequest) -> Reply:
        body = request.body
        constrained = "response_format" in body or "format" in body
        if constrained and body.get("tools"):
            return wire_reply(wire, text=encode_text({"name": "Atlantis", "people": 1, "country": None}))
        if constrained:
            return wire_reply(wire, text=encode_text(ANSWER))
        if not has_results(body):
            return wire_reply(wire, calls=[CALL])
        return wire_reply(wire, text="It is Oslo, with seven people.")

    async with ScriptedServer(answer) as server:
        agent = heald.Agent(model_at(server, wire), tools=[count_people], output=City)
        result = await agent.run("Which city?")
    assert result.output == City("Oslo", 7)
    bodies = [request.body for request in server.requests]
    assert [bool(body.get("tools")) for body in bodies] == [True, True, False]
    assert "JSON Schema" in bodies[0]["messages"][0]["content"]


@pytest.mark.parametrize(("wire", "word"), [("chat", "response_format"), ("messages", "output_config.format")])
async def test_an_endpoint_that_refuses_schemas_gets_instructions(wire: str, word: str) -> None:
    def answer(request: ReceivedRequest) -> Reply:
        if word.split(".")[0] in request.body:
            return Reply.json({"error": {"message": f"{word}: Extra inputs are not permitted."}}, 400)
        return wire_reply(wire, text=f"Here it is:\n```json\n{encode_text(ANSWER)}\n```\n")

    async with ScriptedServer(answer) as server:
        agent = heald.Agent(model_at(server, wire), output=City)
        retries: list[Any] = []
        agent.subscribe(lambda event: retries.append(event.data) if event.type == "retry_scheduled" else None)
        first = await agent.run("Which city?")
        second = await agent.run("And now?")
    assert (first.output, second.output) == (City("Oslo", 7), City("Oslo", 7))
    assert len(server.requests) == 3  # the refusal is remembered
    assert [retry.attempt for retry in retries] == [2]


async def test_another_refusal_is_not_repeated() -> None:
    refusal = Reply.json({"error": {"message": "The parameter temperature is unknown."}}, 400)
    async with ScriptedServer([refusal]) as server:
        with pytest.raises(heald.HealdError, match="temperature"):
            await heald.Agent(model_at(server, "chat"), output=City).run("Which city?")
    assert len(server.requests) == 1


@pytest.mark.parametrize("choice", ["required", "count_people"])
@pytest.mark.parametrize("wire", ["chat", "responses", "messages", "gemini"])
async def test_a_required_call_is_required_once(wire: str, choice: str) -> None:
    def answer(request: ReceivedRequest) -> Reply:
        forced = encode_text(request.body.get("tool_choice") or request.body.get("toolConfig"))
        if "required" in forced or "count_people" in forced or '"any"' in forced or "ANY" in forced:
            return wire_reply(wire, calls=[CALL])
        return wire_reply(wire, text="Seven.")

    async with ScriptedServer(answer) as server:
        agent = heald.Agent(
            model_at(server, wire),
            tools=[count_people],
            settings=heald.Settings(tool_choice=choice),
            budget=heald.Budget(turns=5),
        )
        first = await agent.run("How many?")
        second = await agent.run("And now?")
    assert (first.status, first.text, first.turns) == ("completed", "Seven.", 2)
    assert (second.text, second.turns) == ("Seven.", 2)  # it is required for each request
