"""A good server passes every check; each fault of a chat server is told by exactly the checks that are about it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from good_server import KEY, GoodServer
from heald.core.json import JsonObject, as_objects, encode
from heald.core.messages import ToolCall
from heald.providers.model import Model
from heald.testing.server import Cut, Hang, ReceivedRequest, Reply, ReplyFunction, ScriptedServer, Step
from heald.testing.streams import sse_event, wire_reply
from heald_check.conform import prompts
from heald_check.conform.checks import PROBED_WIRES, ConformanceResult, run_checks
from heald_check.conform.probe_client import ProbeClient, ProbeTimeouts

QUICK = ProbeTimeouts(silence=5.0, tail=0.05, pause=0.01)

Change = Callable[[Reply, ReceivedRequest], Reply]


async def verdicts_of(wire: str, answer: ReplyFunction, *only: str, key: str | None = KEY) -> list[ConformanceResult]:
    async with ScriptedServer(answer) as server:
        model = Model("model", wire=wire, base_url=f"{server.url}/v1", api_key=key)
        return [verdict async for verdict in run_checks(ProbeClient(model, QUICK), only)]


async def wrong_in(wire: str, change: Change) -> dict[str, ConformanceResult]:
    """What is wrong with a good server whose replies are changed."""
    good = GoodServer(wire)
    verdicts = await verdicts_of(wire, lambda request: change(good(request), request))
    return {verdict.check: verdict for verdict in verdicts if verdict.outcome == "wrong"}


def each_event(edit: Callable[[JsonObject], JsonObject | None]) -> Change:
    """Change every event of every stream. None leaves it out."""

    def change(reply: Reply, _: ReceivedRequest) -> Reply:
        return replace(reply, body=_edited(reply, edit)) if reply.status == 200 else reply

    return change


def _edited(reply: Reply, edit: Callable[[JsonObject], JsonObject | None]) -> list[Step]:
    steps: list[Step] = []
    for step in reply.body:
        if not isinstance(step, bytes) or b"[DONE]" in step:
            steps.append(step)
            continue
        head, mark, data = step.rpartition(b"data: ")
        edited = edit(ReceivedRequest("", "", {}, data, 0).body)
        if edited is not None:
            steps.append(head + mark + encode(edited) + (b"\n\n" if mark else b"\n"))
    return steps


def each_body(edit: Callable[[list[Step]], list[Step]]) -> Change:
    """Change the steps of every stream."""
    return lambda reply, _: replace(reply, body=edit(list(reply.body))) if reply.status == 200 else reply


def instead(sign: str, wire: str = "chat", **said: Any) -> Change:
    """Another answer to the probe whose request holds the sign."""

    def change(reply: Reply, request: ReceivedRequest) -> Reply:
        other = prompts.RESULT in request.content.decode() and sign != prompts.RESULT
        return wire_reply(wire, **said) if sign in request.content.decode() and not other else reply

    return change


def delta_of(chunk: JsonObject) -> JsonObject:
    choices = as_objects(chunk.get("choices"))
    return cast(JsonObject, choices[0]["delta"]) if choices else {}


def each_call(edit: Callable[[JsonObject], object]) -> Change:
    """Change every fragment of a call."""

    def edit_chunk(chunk: JsonObject) -> JsonObject:
        for call in as_objects(delta_of(chunk).get("tool_calls")):
            edit(call)
        return chunk

    return each_event(edit_chunk)


def with_choice(**fields: Any) -> Callable[[JsonObject], JsonObject]:
    def edit(chunk: JsonObject) -> JsonObject:
        for choice in as_objects(chunk["choices"]):
            choice.update(fields)
        return chunk

    return edit


def finishing(old: str, new: str) -> Callable[[JsonObject], JsonObject]:
    def edit(chunk: JsonObject) -> JsonObject:
        for choice in as_objects(chunk["choices"]):
            choice["finish_reason"] = new if choice["finish_reason"] == old else choice["finish_reason"]
        return chunk

    return edit


def without_end(reply: Reply, request: ReceivedRequest) -> Reply:
    reply = each_event(with_choice(finish_reason=None))(reply, request)
    return replace(reply, body=[step for step in reply.body if step != sse_event("[DONE]")])


def as_200(reply: Reply, _: ReceivedRequest) -> Reply:
    return replace(reply, status=200)


def with_role(chunk: JsonObject) -> JsonObject:
    delta_of(chunk).pop("role", None)
    return chunk


def with_usage(change: Callable[[JsonObject], JsonObject | None]) -> Callable[[JsonObject], JsonObject | None]:
    def edit(chunk: JsonObject) -> JsonObject | None:
        if "usage" not in chunk:
            return chunk
        usage = change(chunk["usage"])
        return None if usage is None else chunk | {"usage": usage}

    return edit


def halved(call: JsonObject) -> None:
    """Every second half of the arguments is lost."""
    if call["function"]["arguments"].endswith("}"):
        call["function"]["arguments"] = ""


def as_object_arguments(call: JsonObject) -> None:
    if call.get("id"):
        call["function"]["arguments"] = {"city": "Oslo"}
    else:
        call["function"]["arguments"] = None


def counting_ids() -> Callable[[JsonObject], JsonObject]:
    numbers = iter(range(10_000))
    return lambda chunk: chunk | {"id": f"chunk-{next(numbers)}"}


@pytest.mark.parametrize("wire", PROBED_WIRES)
async def test_a_good_server_passes_everything(wire: str) -> None:
    verdicts = await verdicts_of(wire, GoodServer(wire))
    assert [verdict for verdict in verdicts if verdict.outcome != "ok"] == []
    assert len(verdicts) == len({verdict.check for verdict in verdicts}) > 25
    assert all(verdict.seen and verdict.right.endswith(".") for verdict in verdicts)


@pytest.mark.parametrize("wire", PROBED_WIRES)
async def test_the_order_is_always_the_same(wire: str) -> None:
    first, second = [await verdicts_of(wire, GoodServer(wire)) for _ in range(2)]
    assert first == second


late_text = sse_event(
    {
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "delta": {"content": " And more."}, "finish_reason": None}],
    }
)

FAULTS: dict[str, tuple[Change, dict[str, str]]] = {
    "no [DONE] and no finish reason": (
        without_end,
        {
            "finish": "no finish reason (every answer)",
            "done-marker": "no [DONE] (every answer)",
            "decode": "Heald drops the answer",
        },
    ),
    "no [DONE]": (each_body(lambda body: body[:-1]), {"done-marker": "no [DONE]"}),
    "unknown finish reason": (each_event(finishing("stop", "done")), {"finish": "“done” is not a finish reason"}),
    "finish reason twice": (
        each_body(lambda body: [*body[:-1], body[-3], body[-1]]),
        {"finish": "the finish reason came twice (every answer)"},
    ),
    "calls end in stop": (each_event(finishing("tool_calls", "stop")), {"finish-calls": "stop with a call (parallel)"}),
    "stop is told as tool_calls": (each_event(finishing("stop", "tool_calls")), {"finish-calls": "without a call"}),
    "no ids": (each_call(lambda call: call.pop("id", None)), {"call-ids": "a call has no id (tool-call"}),
    "empty ids": (each_call(lambda call: call.update(id="")), {"call-ids": "a call has no id (tool-call"}),
    "the same ids again": (
        each_call(lambda call: call.update({"id": f"call_{call['index']}"} if "id" in call else {})),
        {"call-ids": "a call has the id of a call in another answer (no-arguments, parallel)"},
    ),
    "one id for all": (
        each_call(lambda call: call.update({"id": "call_a"} if "id" in call else {})),
        {"call-ids": "two calls of one answer have the same id (parallel)"},
    ),
    "index reused": (
        each_call(lambda call: call.update(index=0)),
        {"call-index": "index 0 stands for two calls (parallel)"},
    ),
    "no index": (each_call(lambda call: call.pop("index")), {"call-index": "a call has no index (tool-call"}),
    "index from 1": (
        each_call(lambda call: call.update(index=call["index"] + 1)),
        {"call-index": "indexes 1 (tool-call, no-arguments); indexes 1, 2 (parallel)"},
    ),
    "no type": (each_call(lambda call: call.pop("type", None)), {"call-fields": "without the type “function”"}),
    "name again": (
        each_call(lambda call: call["function"].update(name="get_weather") if "id" not in call else None),
        {"call-fields": "a call's name", "no-arguments": "though tool_choice names get_time"},
    ),
    "no name": (each_call(lambda call: call["function"].pop("name", None)), {"call-fields": "without its name"}),
    "invalid arguments": (each_call(halved), {"arguments": "is not JSON"}),
    "arguments as objects": (
        each_call(as_object_arguments),
        {"arguments": "arguments that are not a string (tool-call"},
    ),
    "no usage": (each_event(with_usage(lambda _: None)), {"usage": "no usage (every answer)"}),
    "half a usage": (
        each_event(with_usage(lambda usage: {name: n for name, n in usage.items() if name != "completion_tokens"})),
        {"usage": "usage has no completion_tokens", "usage-sum": "11 is not the total of 18"},
    ),
    "usage that does not add up": (
        each_event(with_usage(lambda usage: usage | {"total_tokens": 99})),
        {"usage-sum": "11 + 7 is not the total of 99"},
    ),
    "reasoning beside the output": (
        each_event(with_usage(lambda usage: usage | {"completion_tokens_details": {"reasoning_tokens": 50}})),
        {"usage-sum": "more reasoning tokens than output tokens"},
    ),
    "errors as 200": (
        as_200,
        dict.fromkeys(
            ("unknown-model", "malformed-request", "malformed-json", "invalid-key"), "an error sent as HTTP 200, “The"
        ),
    ),
    "errors of another shape": (
        lambda reply, _: reply if reply.status == 200 else Reply.json({"detail": "No."}, reply.status),
        dict.fromkeys(("unknown-model", "malformed-request", "malformed-json", "invalid-key"), 'is not {"error"'),
    ),
    "errors as pages": (
        lambda reply, _: (
            reply
            if reply.status == 200
            else replace(reply, body=[b"<html>No.</html>"], content_type="text/html", framing="chunked")
        ),
        dict.fromkeys(("unknown-model", "malformed-request", "malformed-json", "invalid-key"), "text/html"),
    ),
    "errors with another status": (
        lambda reply, _: reply if reply.status == 200 else replace(reply, status=422),
        dict.fromkeys(("unknown-model", "malformed-request", "malformed-json", "invalid-key"), "HTTP 422"),
    ),
    "wrong content type": (
        lambda reply, _: replace(reply, content_type="text/plain") if reply.status == 200 else reply,
        {"content-type": "text/plain (every answer)"},
    ),
    "truncation told as stop": (
        each_event(finishing("length", "stop")),
        {"truncation": "the finish reason “stop” after 16 tokens"},
    ),
    "output limit ignored": (
        instead(prompts.COUNT, text="one, two, three", usage=(11, 900)),
        {"truncation": "900 tokens of output, though the limit was 16"},
    ),
    "stop sequence ignored": (
        instead(prompts.FOUR_WORDS, text="alpha beta gamma delta"),
        {"stop-sequence": "the stop sequence and what follows it"},
    ),
    "tool_choice ignored": (
        instead(prompts.WEATHER, text="Rain."),
        {"tool-call": "no call, though tool_choice names get_weather"},
    ),
    "tool_choice none ignored": (
        instead(prompts.NO_TOOL, calls=[ToolCall(id="call_x", name="get_weather", input={"city": "Oslo"})]),
        {"tool-choice-none": "a call, though tool_choice is none"},
    ),
    "no arguments as empty text": (
        each_call(lambda call: call["function"].update(arguments="") if len(call["function"]["arguments"]) < 2 else 0),
        {"no-arguments": "empty arguments"},
    ),
    "no role": (each_event(with_role), {"role": "no role (every answer)"}),
    "chunks with ids of their own": (each_event(counting_ids()), {"envelope": "different ids"}),
    "null choices": (
        each_event(lambda chunk: chunk if chunk["choices"] else chunk | {"choices": None}),
        {"envelope": "a chunk has no list of choices"},
    ),
    "no blank line at the end": (
        each_body(lambda body: [*body[:-1], b"data: [DONE]\n"]),
        {"framing": "the last event lacks the blank line"},
    ),
    "a line that is not a field": (
        each_body(lambda body: [b"ping\n\n", *body]),
        {"framing": "a line that is not a field: “ping”"},
    ),
    "events after [DONE]": (
        each_body(lambda body: [*body, cast(bytes, body[-2])]),
        {"after-end": "an event after the last one"},
    ),
    "content after the finish reason": (
        each_body(lambda body: [*body[:-2], late_text, *body[-2:]]),
        {"after-end": "content after the finish reason"},
    ),
    "a body that stays open": (each_body(lambda body: [*body, Hang()]), {"after-end": "the body stays open"}),
    "damaged characters": (
        instead(prompts.REPEAT, text=prompts.UNICODE.encode().decode("latin-1")),
        {"unicode": "damaged characters"},
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_is_reported_where_it_belongs(fault: str) -> None:
    change, expected = FAULTS[fault]
    wrong = await wrong_in("chat", change)
    assert wrong.keys() == expected.keys(), wrong
    for check, seen in expected.items():
        assert seen in wrong[check].seen


@pytest.mark.parametrize(
    ("fault", "check", "case"),
    [
        ("no ids", "call-ids", "T06"),
        ("the same ids again", "call-ids", "T11"),
        ("index reused", "call-index", "T02"),
        ("no index", "call-index", "T04"),
        ("index from 1", "call-index", "T05"),
        ("no type", "call-fields", "T16"),
        ("arguments as objects", "arguments", "V08"),
        ("invalid arguments", "arguments", "V03"),
        ("no arguments as empty text", "no-arguments", "V01"),
        ("no usage", "usage", "U04"),
        ("errors as 200", "unknown-model", "F08"),
        ("no [DONE] and no finish reason", "finish", "F10"),
        ("finish reason twice", "finish", "T14"),
        ("calls end in stop", "finish-calls", "T19"),
    ],
)
async def test_a_fault_names_its_case(fault: str, check: str, case: str) -> None:
    assert (await wrong_in("chat", FAULTS[fault][0]))[check].case == case


async def test_without_usage_there_is_nothing_to_add_up() -> None:
    change, good = FAULTS["no usage"][0], GoodServer("chat")
    (verdict,) = await verdicts_of("chat", lambda request: change(good(request), request), "usage-sum")
    assert (verdict.outcome, verdict.seen) == ("skipped", "no answer has usage")


async def test_bytes_that_are_no_utf_8() -> None:
    def edit(body: list[Step]) -> list[Step]:
        return [step.replace("ü".encode(), b"\xfc") if isinstance(step, bytes) else step for step in body]

    wrong = await wrong_in("chat", each_body(edit))
    assert "damaged characters" in wrong["unicode"].seen
    assert "invalid UTF-8 at byte" in wrong["utf-8"].seen
    assert wrong.keys() <= {"unicode", "utf-8", "decode"}


async def test_an_event_that_is_no_json() -> None:
    wrong = await wrong_in("chat", each_body(lambda body: [body[0], sse_event("{oops"), *body[1:]]))
    assert "“{oops” is not JSON" in wrong["json"].seen


async def test_an_error_in_the_stream_is_reported_once() -> None:
    wrong = await wrong_in(
        "chat", lambda reply, request: error_stream if prompts.HELLO in request.content.decode() else reply
    )
    assert {"text", "cancel"} < wrong.keys()
    assert "an error in the stream, “Out of memory.”" in wrong["text"].seen
    assert not {"finish", "done-marker", "usage", "decode"} & wrong.keys()


error_stream = Reply([sse_event({"error": {"message": "Out of memory.", "type": "server_error"}}), sse_event("[DONE]")])


async def test_an_answer_that_is_no_stream() -> None:
    whole = Reply.json({"object": "chat.completion", "choices": [{"message": {"content": "Hello."}}]})
    wrong = await wrong_in("chat", lambda reply, _: whole if reply.status == 200 else reply)
    assert "HTTP 200 with application/json and not one event" in wrong["text"].seen
    assert "content-type" not in wrong


async def test_a_connection_that_breaks() -> None:
    wrong = await wrong_in("chat", each_body(lambda body: [*body[:2], Cut()]))
    assert "the connection broke after" in wrong["text"].seen
    assert "finish" not in wrong
