"""agentx: the documented sequence, fields of each event, and logs that end early."""

from dialect_support import S, answered, arguments, asked, begun, dropped, ended, log_of, look, objects, played, spoken
from heald.core.events import AssistantMessage, ToolFailed, UserMessage
from heald.core.messages import Block, File, Image, Message, Reasoning, Text, ToolCall, ToolResult, user_message
from heald_server.protocols.agentx.dialect import AgentXDialect

CALL = ToolCall(id="call_1", name="look", input={"place": "home"})


async def test_the_documented_sequence() -> None:
    events = await played(["I look. ", S.call("look", place="home")], "Done.", tools=[look], piece=100)
    assert [frame["type"] for frame in objects(spoken(AgentXDialect(), events))] == [
        *("exchange_request", "user_message", "conversation_start", "message_start", "conversation_thinking"),
        *("text_content_block_start", "conversation_responding", "text_delta", "text_content_block_stop"),
        *("tool_use_content_block_start", "input_json_delta", "tool_use_content_block_stop"),
        *("message_delta", "message_stop", "assistant_message", "tool_call", "tool_use_message", "tool_planned"),
        *("tool_executing", "tool_completed", "tool_result", "tool_use_message_update"),
        *("message_start", "conversation_thinking", "text_content_block_start", "conversation_responding"),
        *("text_delta", "text_content_block_stop", "message_delta", "message_stop", "assistant_message"),
        *("conversation_end", "exchange_response"),
    ]


def test_the_envelope_of_an_event() -> None:
    frame = objects(spoken(AgentXDialect(), log_of(asked(), answered())))[0]
    assert frame == {
        "type": "exchange_request",
        "uuid": "evt_1",
        "agentId": "ses_1",
        "timestamp": 1000100,
        "exchangeId": "ex_1",
        "data": {
            "userMessage": {"id": "ex_1-user-0", "role": "user", "content": "Go.", "timestamp": 1000100},
            "requestedAt": 1000100,
        },
    }


def test_usage_counts_all_tokens() -> None:
    response = objects(spoken(AgentXDialect(), log_of(asked(), answered())))[-1]["data"]
    assert (response["usage"], response["costUsd"], response["durationMs"]) == ({"input": 10, "output": 7}, 0.001, 12)


def test_further_user_messages_have_ids_of_their_own() -> None:
    log = log_of(asked(), UserMessage(user_message("Go.")), UserMessage(user_message("Faster.")), answered())
    request, first, second = objects(spoken(AgentXDialect(), log))[:3]
    assert request["data"]["userMessage"]["id"] == first["data"]["id"]
    assert second["data"]["id"] != first["data"]["id"]


def test_messages_with_media_thinking_and_calls() -> None:
    content: list[Block] = [Reasoning("Hm."), Text("See."), Image(media_type="image/png", data="AAAA"), CALL]
    pdf = user_message("Read", File(media_type="application/pdf", url="https://x/y.pdf"))
    log = log_of(
        asked(), UserMessage(pdf), AssistantMessage(Message(role="assistant", content=content, id="msg_1")), answered()
    )
    user, assistant = (frame["data"] for frame in objects(spoken(AgentXDialect(), log))[1:3])
    assert user["content"] == [
        {"type": "text", "text": "Read"},
        {"type": "file", "mediaType": "application/pdf", "url": "https://x/y.pdf"},
    ]
    assert assistant["content"][1] == {"type": "image", "mediaType": "image/png", "data": "AAAA"}
    assert (assistant["thinking"], assistant["toolCalls"][0]["name"]) == ("Hm.", "look")


def test_a_result_of_parts_is_json_in_the_message() -> None:
    parts = ToolResult(id="call_1", status="ok", content=[Text("x"), Image(data="AAAA")])
    log = log_of(asked(), CALL, parts, answered())
    *_, result, message, _ = objects(spoken(AgentXDialect(), log))
    assert result["data"]["content"][0] == {"type": "text", "text": "x"}
    assert message["data"]["toolResult"]["output"]["value"].startswith('[{"type":"text"')


def test_other_events_have_their_fields_in_camel_case() -> None:
    log = log_of(asked(), ToolFailed("call_1", "look", "error", 12.5, "broken"), answered())
    frame = objects(spoken(AgentXDialect(), log))[1]
    assert frame["data"] == {"id": "call_1", "name": "look", "status": "error", "durationMs": 12.5, "summary": "broken"}


def test_a_log_that_ends_early_is_closed() -> None:
    log = log_of(asked(), begun(), arguments("call_1", "look", "{}"), ended(stop="tool_use"), CALL, begun("msg_2"))
    frames = objects(spoken(AgentXDialect(), log))
    assert [frame["type"] for frame in frames[-5:]] == [
        *("message_discarded", "tool_result", "tool_use_message_update", "error_message", "exchange_response")
    ]
    assert frames[-1]["data"]["status"] == "failed"
    assert len({frame["uuid"] for frame in frames}) == len(frames)


def test_a_discarded_attempt_is_named() -> None:
    frames = objects(
        spoken(AgentXDialect(), log_of(asked(), begun(), dropped(), begun(attempt=2), ended(), answered()))
    )
    (discarded,) = [frame for frame in frames if frame["type"] == "message_discarded"]
    assert discarded["data"]["message"] == {"id": "msg_1"}
    assert discarded["data"]["error"]["code"] == "overloaded"
