"""Faults of servers that speak the other APIs, and what counts as the model's choice and not as a fault."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from test_conform import Change, each_body, each_event, instead, verdicts_of, wrong_in

from good_server import GoodServer
from heald.core.json import JsonObject, as_object, as_objects
from heald.testing.server import Cut, ReceivedRequest, Reply
from heald.testing.streams import wire_reply
from heald_check.conform import prompts
from heald_check.conform.checks import PROBED_WIRES

Edit = Callable[[JsonObject], JsonObject | None]


def edit_type(kind: str, edit: Edit) -> Change:
    """Change the events of one type."""
    return each_event(lambda data: edit(data) if data.get("type") == kind else data)


def drop(kind: str) -> Change:
    return edit_type(kind, lambda _: None)


def renamed(reply: Reply, _: ReceivedRequest) -> Reply:
    steps = [s.replace(b"event: ", b"event: my_") if isinstance(s, bytes) else s for s in reply.body]
    return replace(reply, body=steps) if reply.status == 200 else reply


def with_item(**fields: object) -> Edit:
    return lambda data: data | {"item": data["item"] | fields} if data["item"]["type"] == "function_call" else data


def with_candidate(**fields: object) -> Edit:
    return lambda data: data | {"candidates": [candidate | fields for candidate in as_objects(data["candidates"])]}


def without_finish(data: JsonObject) -> JsonObject:
    for candidate in as_objects(data["candidates"]):
        candidate.pop("finishReason", None)
    return data


def text_arguments(line: JsonObject) -> JsonObject:
    for call in as_objects(line["message"].get("tool_calls")):
        call["function"]["arguments"] = '{"city": "Oslo"}'
    return line


def as_array(reply: Reply, _: ReceivedRequest) -> Reply:
    if reply.status != 200:
        return reply
    events = [step.removeprefix(b"data: ") for step in reply.body if isinstance(step, bytes)]
    return Reply([b"[", b",".join(events), b"]"], content_type="application/json")


def never_named(block: JsonObject) -> JsonObject:
    return block | {"content_block": {n: v for n, v in as_object(block["content_block"]).items() if n != "name"}}


FAULTS: dict[str, tuple[str, Change, dict[str, str]]] = {
    # --- responses -------------------------------------------------------------------------------------------
    "no terminal event": (
        "responses",
        drop("response.completed"),
        {"terminal": "no response.completed", "finish": "", "usage": "no usage", "decode": "Heald drops"},
    ),
    "truncation as completed": (
        "responses",
        instead(prompts.COUNT, "responses", text="one", usage=(11, 16)),
        {"truncation": "“completed” after 16 tokens"},
    ),
    "names of events": ("responses", renamed, {"event-names": "event “my_response.created” holds"}),
    "no sequence numbers": (
        "responses",
        each_event(lambda data: {name: value for name, value in data.items() if name != "sequence_number"}),
        {"order": "an event has no sequence_number (every answer)"},
    ),
    "items never done": (
        "responses",
        drop("response.output_item.done"),
        {"order": "an output item has no"},
    ),
    "no call ids": (
        "responses",
        each_event(lambda data: with_item(call_id="")(data) if "item" in data else data),
        {"call-ids": "a call has no id"},
    ),
    "final arguments differ": (
        "responses",
        edit_type("response.output_item.done", with_item(arguments='{"city":"Bergen"}')),
        {"arguments": "are not those of its deltas"},
    ),
    "another response id at the end": (
        "responses",
        edit_type("response.completed", lambda data: data | {"response": data["response"] | {"id": "resp_other"}}),
        {"envelope": "different response ids"},
    ),
    # --- messages --------------------------------------------------------------------------------------------
    "no message_stop": (
        "messages",
        drop("message_stop"),
        {"terminal": "no message_stop (every answer)"},
    ),
    "no message_start": (
        "messages",
        drop("message_start"),
        {"order": "came before message_start", "role": "no role", "usage": "usage has no input_tokens"},
    ),
    "blocks never stopped": ("messages", drop("content_block_stop"), {"order": "a content block"}),
    "names missing in events": (
        "messages",
        lambda reply, _: (
            replace(reply, body=[s[s.index(b"data:") :] if isinstance(s, bytes) else s for s in reply.body])
            if reply.status == 200
            else reply
        ),
        {"event-names": "events have no name"},
    ),
    "stop sequence told as end_turn": (
        "messages",
        instead(prompts.FOUR_WORDS, "messages", text="alpha beta "),
        {"stop-sequence": "“end_turn”, not stop_sequence"},
    ),
    "no tool name": (
        "messages",
        edit_type("content_block_start", lambda d: never_named(d) if d["content_block"]["type"] == "tool_use" else d),
        {"call-fields": "a call has no name"},
    ),
    "no usage at the end": (
        "messages",
        edit_type("message_delta", lambda data: {name: value for name, value in data.items() if name != "usage"}),
        {"usage": "message_delta counts no output_tokens (every answer)"},
    ),
    # --- gemini ----------------------------------------------------------------------------------------------
    "no finishReason": ("gemini", each_event(without_finish), {"finish": "no finish reason", "decode": "Heald drops"}),
    "wrong role": (
        "gemini",
        each_event(with_candidate(content={"role": "robot", "parts": [{"text": "Hello."}]})),
        {"role": "the role “robot”", "tool-call": "no call", "no-arguments": "no call"},
    ),
    "no total": (
        "gemini",
        each_event(lambda d: d | {"usageMetadata": {"promptTokenCount": 1}} if "usageMetadata" in d else d),
        {"usage": "no candidatesTokenCount", "usage-sum": "usage has no total"},
    ),
    # --- ollama ----------------------------------------------------------------------------------------------
    "arguments as text": ("ollama", each_event(text_arguments), {"arguments": "arguments that are a string"}),
    "no line with done": (
        "ollama",
        each_event(lambda line: None if line["done"] else line),
        {"terminal": "no line with done", "finish": "", "usage": "no usage", "decode": "Heald drops"},
    ),
    "lines after done": (
        "ollama",
        each_body(lambda body: [*body, body[-1]]),
        {"after-end": "an event after the last one (every answer)"},
    ),
    "no model in lines": (
        "ollama",
        each_event(lambda line: {name: value for name, value in line.items() if name != "model"}),
        {"envelope": "a line has no model"},
    ),
    "lines as JSON": (
        "ollama",
        lambda reply, _: replace(reply, content_type="application/json") if reply.status == 200 else reply,
        {"content-type": "application/json"},
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_is_reported_where_it_belongs(fault: str) -> None:
    wire, change, expected = FAULTS[fault]
    wrong = await wrong_in(wire, change)
    assert wrong.keys() == expected.keys(), wrong
    for check, seen in expected.items():
        assert seen in wrong[check].seen


async def test_gemini_with_an_array_instead_of_events() -> None:
    wrong = await wrong_in("gemini", as_array)
    assert "not one event" in wrong["text"].seen


# --- what is the model's choice, and what a server may decline ----------------------------------------------------


async def skipped_in(wire: str, change: Change, *only: str, key: str | None = "sk-right") -> dict[str, str]:
    good = GoodServer(wire)
    verdicts = await verdicts_of(wire, lambda request: change(good(request), request), *only, key=key)
    assert [verdict for verdict in verdicts if verdict.outcome == "wrong"] == []
    return {verdict.check: verdict.seen for verdict in verdicts if verdict.outcome == "skipped"}


@pytest.mark.parametrize("wire", PROBED_WIRES)
async def test_a_model_that_makes_one_call_of_two(wire: str) -> None:
    seen = await skipped_in(wire, instead(prompts.TWO_CITIES, wire, text="I will not."))
    assert seen == {"parallel": "the model made no calls in one answer"}


@pytest.mark.parametrize(
    ("sign", "check"),
    [
        (prompts.LOCKER, "turns"),
        (prompts.REPEAT, "unicode"),
        (prompts.RESULT, "continuation"),
        (prompts.COUNT, "truncation"),
        (prompts.FOUR_WORDS, "stop-sequence"),
        (prompts.COLOUR, "image"),
    ],
)
async def test_a_model_that_does_something_else(sign: str, check: str) -> None:
    seen = await skipped_in("chat", instead(sign, text="I would rather not.", usage=(11, 7)))
    assert seen.keys() == {check}
    assert "the model" in seen[check]


async def test_ollama_has_no_tool_choice_so_calls_are_the_models_choice() -> None:
    def change(reply: Reply, request: ReceivedRequest) -> Reply:
        return wire_reply("ollama", text="17, I think.") if b'"tools"' in request.content else reply

    seen = await skipped_in("ollama", change)
    assert seen["tool-call"] == seen["no-arguments"] == "the model made no call"
    assert seen["arguments"] == "no answer has a call"


def refuses(sign: str, status: int = 400) -> Change:
    error = {"error": {"message": "Not with this model.", "type": "invalid_request_error"}}
    return lambda reply, request: Reply.json(error, status) if sign in request.content.decode() else reply


async def test_a_server_may_decline_pictures_and_tools() -> None:
    assert (await skipped_in("chat", refuses(prompts.COLOUR))).keys() == {"image"}
    seen = await skipped_in("chat", refuses('"tools"'))
    assert {"tool-call", "no-arguments", "tool-choice-none", "parallel", "continuation"} < seen.keys()
    assert "the server refuses: HTTP 400, “Not with this model.”" in seen["tool-call"]


async def test_a_crash_is_no_refusal_and_neither_is_a_plain_request_declined() -> None:
    assert (await wrong_in("chat", refuses(prompts.COLOUR, 500))).keys() == {"image"}
    assert "text" in await wrong_in("chat", refuses(prompts.HELLO))


async def test_a_server_that_stays_busy() -> None:
    seen = await skipped_in("chat", refuses(prompts.COLOUR, 429))
    assert "the server is busy: HTTP 429" in seen["image"]


async def test_a_server_that_is_too_busy_to_refuse() -> None:
    seen = await skipped_in("chat", refuses(prompts.UNKNOWN_MODEL, 503))
    assert seen == {"unknown-model": "the server is busy: HTTP 503"}


async def test_a_server_that_breaks_instead_of_refusing() -> None:
    wrong = await wrong_in("chat", lambda reply, _: reply if reply.status == 200 else Reply([b"{", Cut()], status=500))
    assert wrong["malformed-json"].seen == "the connection broke after 1 bytes"


async def test_a_server_that_was_busy_once_is_repeated() -> None:
    busy = [refuses(prompts.COLOUR, 429)]
    change: Change = lambda reply, request: (  # noqa: E731
        busy.pop()(reply, request) if busy and prompts.COLOUR in request.content.decode() else reply
    )
    assert await skipped_in("chat", change) == {}


async def test_without_a_key_a_wrong_one_is_not_tried() -> None:
    seen = await skipped_in("chat", lambda reply, _: reply, key=None)
    assert seen == {"invalid-key": "no key is configured; name one with --api-key-env"}


async def test_an_answer_that_is_over_too_soon_cannot_be_cancelled() -> None:
    seen = await skipped_in("chat", instead(prompts.LONG, text="No."))
    assert seen == {"cancel": "the answer was over before it could be cancelled"}


@pytest.mark.parametrize(
    ("status", "seen"),
    [
        (500, "the next request fails: HTTP 500, “Still busy writing.”"),
        (503, "the server is busy afterwards: HTTP 503, “Still busy writing.”"),
    ],
)
async def test_a_server_that_fails_after_a_cancel(status: int, seen: str) -> None:
    left: list[ReceivedRequest] = []
    good = GoodServer("chat")

    def answer(request: ReceivedRequest) -> Reply:
        if left:
            return Reply.json({"error": {"message": "Still busy writing.", "type": "server_error"}}, status)
        if prompts.LONG in request.content.decode():
            left.append(request)
        return good(request)

    (verdict,) = await verdicts_of("chat", answer, "cancel")
    assert (verdict.outcome, verdict.case) == ("wrong", "C02")
    assert verdict.seen == seen
    assert left[0].closed_early.is_set()


async def test_only_what_is_asked_for_is_sent() -> None:
    asked: list[ReceivedRequest] = []
    good = GoodServer("chat")

    def answer(request: ReceivedRequest) -> Reply:
        asked.append(request)
        return good(request)

    verdicts = await verdicts_of("chat", answer, "unicode", "continuation")
    assert [verdict.check for verdict in verdicts] == ["unicode", "continuation"]
    assert len(asked) == 3
    assert asked[2].body["messages"][1]["tool_calls"][0]["id"] == asked[2].body["messages"][2]["tool_call_id"]
