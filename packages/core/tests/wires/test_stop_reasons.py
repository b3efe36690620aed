"""The stop reasons of every wire: the list of regular ends is closed, and no call of any other message runs."""

import re
from collections.abc import Mapping, Sequence

import pytest

import heald
from heald.core.envelope import Event
from heald.core.events import MessageDelta
from heald.core.messages import ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import amazon_event, wire_reply, wire_stream
from heald_check import check_log

PAY = ToolCall(id="call_1", name="pay", input={"amount": 5})
FINISHED = {
    "chat": ("stop", "eos", "eos_token", "end_turn", "stop_sequence", "tool_calls", "function_call", "tool_use"),
    "responses": ("completed",),
    "messages": ("end_turn", "tool_use", "stop_sequence"),
    "gemini": ("STOP",),
    "ollama": ("stop", None),
    "converse": ("end_turn", "tool_use", "stop_sequence", None),
}
"""Reasons after which calls run. None is an absent reason, which old servers send with their terminal event."""
CUT = {
    "chat": ("length", "max_tokens", "model_length", "model_context_window_exceeded"),
    "responses": ("incomplete:max_output_tokens",),
    "messages": ("max_tokens", "model_context_window_exceeded"),
    "gemini": ("MAX_TOKENS",),
    "ollama": ("length",),
    "converse": ("max_tokens", "model_context_window_exceeded"),
}
FILTERED = {
    "chat": ("content_filter", "safety", "sensitive", "refusal"),
    "responses": ("incomplete:content_filter",),
    "messages": ("refusal",),
    "gemini": ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
    "converse": ("guardrail_intervened", "content_filtered"),
}
INTERRUPTED = {
    "chat": (
        *("insufficient_system_resource", "time_limit", "cancelled", "abort", "network_error", "repetition"),
        *("other", "unknown", "null", "Stop", "stop ", "something new"),
    ),
    "responses": ("incomplete", "incomplete:steered", "incomplete:max_messages", "in_progress", "queued", "other"),
    "messages": ("abort", "cancelled", "model_error", "something new"),
    "gemini": (
        *("CONTINUATION", "OTHER", "ESCALATION", "PUP_LIMITED_DISABLED", "MISSING_THOUGHT_SIGNATURE", "NO_IMAGE"),
        *("IMAGE_OTHER", "stop", "SOMETHING_NEW"),
    ),
    "ollama": ("load", "unload", "abort", "something new"),
    "converse": ("malformed_model_output", "malformed_tool_use", "something new"),
}
"""Reasons that are not known, or known not to be a regular end."""


def rows(table: Mapping[str, Sequence[str | None]]) -> list[tuple[str, str | None]]:
    return [(wire, reason) for wire, reasons in table.items() for reason in reasons]


def answer(wire: str, reason: str | None) -> Reply:
    """The answer with one call, and with another stop reason in its end."""
    reply = wire_reply(wire, calls=[PAY])
    stream = wire_stream(wire, calls=[PAY])
    match wire:
        case "chat":
            stream = replace(stream, b'"finish_reason":"tool_calls"', b'"finish_reason":', reason)
        case "messages":
            stream = replace(stream, b'"stop_reason":"tool_use"', b'"stop_reason":', reason)
        case "gemini":
            stream = replace(stream, b'"finishReason":"STOP"', b'"finishReason":', reason)
        case "ollama":
            stream = replace(stream, b'"done_reason":"stop"', b'"done_reason":', reason)
        case "converse":
            end = amazon_event("messageStop", {} if reason is None else {"stopReason": reason})
            stream = [end if b"messageStop" in event else event for event in stream]
        case _:
            status, _, detail = (reason or "").partition(":")
            stream[-1] = re.sub(
                rb'"status":"completed"(?=,"output")',
                b'"status":"%s","incomplete_details":%s'
                % (status.encode(), b'{"reason":"%s"}' % detail.encode() if detail else b"null"),
                stream[-1],
            )
    return Reply(stream, content_type=reply.content_type)


def replace(stream: list[bytes], end: bytes, field: bytes, reason: str | None) -> list[bytes]:
    assert sum(end in event for event in stream) == 1
    value = b"null" if reason is None else b'"%s"' % reason.encode()
    return [event.replace(end, field + value) for event in stream]


async def run(
    wire: str, reason: str | None, quirks: heald.providers.Quirks | None = None
) -> tuple[list[int], heald.AgentResult, list[Event]]:
    """Run an exchange whose first answer ends so. Returns the payments that were made."""
    paid: list[int] = []

    @heald.tool
    async def pay(amount: int) -> str:
        """Pay an amount."""
        paid.append(amount)
        return "paid"

    events: list[Event] = []
    async with ScriptedServer([answer(wire, reason), wire_reply(wire, text="Done.")]) as server:
        quirks = quirks or heald.providers.Quirks()
        model = heald.Model("m", wire=wire, base_url=server.url, api_key="no-key", quirks=quirks)
        async with heald.Agent(model, tools=[pay], retry=heald.Retry(base=0.0)) as agent:
            agent.subscribe(events.append)
            result = await agent.run("Pay.")
    assert check_log(events) == []
    return paid, result, events


def ends(events: list[Event]) -> list[MessageDelta]:
    return [event.data for event in events if isinstance(event.data, MessageDelta)]


@pytest.mark.parametrize(("wire", "reason"), rows(FINISHED))
async def test_the_calls_of_a_finished_message_run(wire: str, reason: str | None) -> None:
    paid, result, events = await run(wire, reason)
    assert (paid, result.text, result.note) == ([5], "Done.", None)
    assert (ends(events)[0].stop_reason, ends(events)[0].interrupted) == ("tool_use", False)


@pytest.mark.parametrize(("wire", "reason"), [*rows(CUT), *rows(FILTERED)])
async def test_no_call_of_a_message_that_was_cut_off_or_filtered_runs(wire: str, reason: str) -> None:
    paid, _, events = await run(wire, reason)
    assert paid == []
    assert not ends(events)[0].interrupted


@pytest.mark.parametrize(("wire", "reason"), rows(INTERRUPTED))
async def test_no_call_of_a_message_that_ended_for_another_reason_runs(wire: str, reason: str) -> None:
    paid, _, events = await run(wire, reason)
    assert paid == []
    end = ends(events)[0]
    assert (end.stop_reason, end.provider_stop_reason, end.interrupted) == ("max_tokens", reason, True)
    results = [event.data for event in events if isinstance(event.data, heald.ToolResult)]
    assert [result.status for result in results] == ["invalid_input"]
    assert f"ended the message early ({reason!r})" in results[0].text


@pytest.mark.parametrize(("wire", "reason"), [(wire, reasons[0]) for wire, reasons in INTERRUPTED.items()])
async def test_the_result_has_the_reason_of_an_answer_that_was_interrupted(wire: str, reason: str) -> None:
    stream = wire_stream(wire, text="Half an ans")
    tail = [event for event in answer(wire, reason).body if isinstance(event, bytes)][-1:]
    if wire in ("chat", "messages", "converse"):
        whole = [event for event in answer(wire, reason).body if isinstance(event, bytes)]
        tail = whole[len(whole) - (3 if wire == "chat" else 2) :]
    body = [*stream[: len(stream) - len(tail)], *tail]
    content_type = wire_reply(wire, text="x").content_type
    async with ScriptedServer([Reply(body, content_type=content_type)]) as server:
        model = heald.Model("m", wire=wire, base_url=server.url, api_key="no-key")
        async with heald.Agent(model) as agent:
            result = await agent.run("Answer.")
    assert (result.text, result.status, result.stop_reason) == ("Half an ans", "completed", "max_tokens")
    assert result.note == f"The provider ended the answer early ({reason!r}); it may be unfinished."


@pytest.mark.parametrize("reason", [None, ""])
async def test_a_chat_server_that_sends_no_reason_is_believed_only_if_it_is_known_to_do_so(reason: str | None) -> None:
    """An empty reason is an absent one. `[DONE]` ends the message of a provider with `finish_optional` only."""
    paid, _, _ = await run("chat", reason, heald.providers.Quirks(finish_optional=True))
    assert paid == [5]
    paid, _, events = await run("chat", reason)
    assert paid == []
    assert "message_discarded" in [event.type for event in events]
