"""The grammar of each protocol: what is begun is ended, ids are used once, nothing comes after the end."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from dialect_support import objects
from heald_server.dialects.frame import Frame


class Balance:
    """What was started and not ended. Ids are used once."""

    def __init__(self) -> None:
        self.open: set[tuple[str, str]] = set()
        self.used: set[tuple[str, str]] = set()

    def start(self, kind: str, name: str) -> None:
        assert (kind, name) not in self.used, f"{kind} {name} began twice"
        self.used.add((kind, name))
        self.open.add((kind, name))

    def within(self, kind: str, name: str) -> None:
        assert (kind, name) in self.open, f"{kind} {name} is not open"

    def end(self, kind: str, name: str) -> None:
        self.within(kind, name)
        self.open.discard((kind, name))


def check_ai_sdk(frames: Sequence[Frame]) -> None:
    assert frames[-1].data == "[DONE]"
    balance = Balance()
    message = step = False
    ready: set[str] = set()
    for chunk in objects(frames):
        kind = str(chunk["type"])
        if kind == "start":
            assert not message
            message, balance = True, Balance()
            continue
        assert message, f"{kind} outside of a message"
        name = str(chunk.get("id", chunk.get("toolCallId", "")))
        match kind:
            case "start-step":
                assert not step
                step = True
            case "finish-step":
                assert step
                assert not {kind for kind, _ in balance.open} & {"text", "reasoning"}
                step = False
            case "text-start" | "reasoning-start":
                assert step
                balance.start(kind.split("-")[0], name)
            case "text-delta" | "reasoning-delta":
                assert chunk["delta"]
                balance.within(kind.split("-")[0], name)
            case "text-end" | "reasoning-end":
                balance.end(kind.split("-")[0], name)
            case "tool-input-start":
                balance.start("tool", name)
            case "tool-input-delta":
                balance.within("tool", name)
                assert name not in ready
            case "tool-input-available":
                if ("tool", name) not in balance.open:
                    balance.start("tool", name)
                ready.add(name)
            case "tool-approval-request":
                assert name in ready
                balance.within("tool", name)
            case "tool-input-error":
                if ("tool", name) not in balance.open:
                    balance.start("tool", name)
                assert name not in ready
                balance.end("tool", name)
            case "tool-output-available" | "tool-output-error" | "tool-output-denied":
                assert name in ready
                balance.end("tool", name)
            case "finish" | "abort":
                assert not balance.open
                assert not step
                message = False
            case _:
                assert kind in ("error", "source-url", "file", "message-metadata") or kind.startswith("data-"), kind
    assert not message


_AG_UI: dict[str, tuple[str, str, str]] = {
    "TEXT_MESSAGE_START": ("start", "text", "messageId"),
    "TEXT_MESSAGE_CONTENT": ("within", "text", "messageId"),
    "TEXT_MESSAGE_END": ("end", "text", "messageId"),
    "REASONING_START": ("start", "reasoning", "messageId"),
    "REASONING_END": ("end", "reasoning", "messageId"),
    "REASONING_MESSAGE_START": ("start", "thought", "messageId"),
    "REASONING_MESSAGE_CONTENT": ("within", "thought", "messageId"),
    "REASONING_MESSAGE_END": ("end", "thought", "messageId"),
    "TOOL_CALL_START": ("start", "tool", "toolCallId"),
    "TOOL_CALL_ARGS": ("within", "tool", "toolCallId"),
    "TOOL_CALL_END": ("end", "tool", "toolCallId"),
    "STEP_STARTED": ("start", "step", "stepName"),
    "STEP_FINISHED": ("end", "step", "stepName"),
}


def check_ag_ui(frames: Sequence[Frame]) -> None:
    balance = Balance()
    running = False
    unanswered: set[str] = set()
    for told in objects(frames):
        kind = str(told["type"])
        if kind == "RUN_STARTED":
            assert not running
            running = True
            continue
        assert running, f"{kind} outside of a run"
        if kind in _AG_UI:
            verb, what, key = _AG_UI[kind]
            {"start": balance.start, "within": balance.within, "end": balance.end}[verb](what, str(told[key]))
            assert told.get("delta") != ""
        if kind == "TOOL_CALL_START":
            unanswered.add(str(told["toolCallId"]))
        elif kind == "TOOL_CALL_RESULT":
            unanswered.remove(str(told["toolCallId"]))
        elif kind in ("RUN_FINISHED", "RUN_ERROR"):
            assert not balance.open
            assert not unanswered
            running = False
        else:
            assert kind in _AG_UI or kind in ("CUSTOM", "STATE_SNAPSHOT", "STATE_DELTA"), kind
    assert not running


def check_loop(frames: Sequence[Frame]) -> None:
    balance = Balance()
    for frame in frames:
        assert isinstance(frame.data, dict)
        match frame.event:
            case "content_delta":
                assert frame.data["delta"]
            case "tool_call_start":
                assert isinstance(frame.data["arguments"], dict)
                balance.start("tool", str(frame.data["id"]))
            case "tool_call_result":
                balance.end("tool", str(frame.data["id"]))
            case other:
                assert other == "done"
                assert not balance.open
    assert frames[-1].event == "done"


def check_normalized(frames: Sequence[Frame]) -> None:
    told = objects(frames)
    assert {item["type"] for item in told} <= {"text", "reasoning", "tool_call", "usage", "error", "end"}
    assert told[-1]["type"] == "end"
    for before, after in pairwise(told):
        if before["type"] == "error":
            assert after["type"] == "end"


def check_openai(frames: Sequence[Frame]) -> None:
    assert frames[-1].data == "[DONE]"
    finished: set[str] = set()
    for chunk in objects(frames):
        if "error" in chunk:
            continue
        assert chunk["object"] == "chat.completion.chunk"
        if not chunk["choices"]:
            assert chunk["id"] in finished
            continue
        assert chunk["id"] not in finished
        (choice,) = chunk["choices"]
        if choice["finish_reason"] is not None:
            assert choice["delta"] == {}
            finished.add(str(chunk["id"]))


def check_responses(frames: Sequence[Frame]) -> None:
    """Items begin once and end once; deltas are whole in the end; a response ends with all that it held."""
    number = 0
    running = False
    items: dict[str, tuple[int, str]] = {}
    ended: dict[str, str] = {}
    text: dict[str, str] = {}
    for event in objects(frames):
        kind = str(event["type"])
        if kind == "response.created":
            assert not running
            running, number, items, ended, text = True, 0, {}, {}, {}
        assert running, f"{kind} outside of a response"
        assert event["sequence_number"] == number
        number += 1
        match kind:
            case "response.output_item.added":
                assert event["output_index"] == len(items)
                assert event["item"]["id"] not in items
                items[event["item"]["id"]] = (event["output_index"], event["item"]["type"])
            case "response.output_item.done":
                name = event["item"]["id"]
                assert items[name] == (event["output_index"], event["item"]["type"])
                assert name not in ended
                ended[name] = event["item"].get("status", "completed")
            case "response.output_text.delta":
                assert event["delta"]
                text[event["item_id"]] = text.get(event["item_id"], "") + event["delta"]
            case "response.output_text.done":
                assert event["text"] == text[event["item_id"]]
            case "response.completed" | "response.incomplete" | "response.failed":
                running = False
                output = [item["id"] for item in event["response"]["output"]]
                assert set(items) == set(ended)
                assert output == [name for name in items if name in output]
                assert kind != "response.completed" or {ended[name] for name in output} <= {"completed", "failed"}
            case "error":
                running = False
            case _:
                assert kind.startswith("response.")
    assert not running


def check_studio(frames: Sequence[Frame]) -> None:
    balance = Balance()
    told = objects(frames)
    waiting: set[str] = set()
    assert told[0]["type"] == "variantCount"
    for message in told:
        assert message["variantIndex"] == 0
        match message["type"]:
            case "toolStart" if message["eventId"] in waiting:  # completed, once, when the path is known
                balance.within("tool", str(message["eventId"]))
                waiting.discard(str(message["eventId"]))
            case "toolStart":
                balance.start("tool", str(message["eventId"]))
                if message["data"]["name"] == "create_file":
                    waiting.add(str(message["eventId"]))
            case "toolResult":
                balance.end("tool", str(message["eventId"]))
            case "variantComplete" | "variantError":
                assert not balance.open
            case kind:
                assert kind in ("variantCount", "status", "assistant", "thinking", "setCode", "error")


def check_agentx(frames: Sequence[Frame]) -> None:
    uuids: set[str] = set()
    exchange = message = False
    blocks: set[int] = set()
    calls: dict[str, list[str]] = {}
    for event in objects(frames):
        kind, data = str(event["type"]), event["data"]
        assert event["uuid"] not in uuids, f"{event['uuid']} is used twice"
        uuids.add(event["uuid"])
        assert isinstance(event["timestamp"], int)
        if kind == "exchange_request":
            assert not exchange
            exchange, calls = True, {}
        assert exchange, f"{kind} outside of an exchange"
        match kind:
            case "message_start":
                assert not message
                message, blocks = True, set[int]()
            case "message_stop":
                assert message
                assert not blocks
                message = False
            case "message_discarded":
                assert message
                message = False
            case "tool_call":
                assert data["id"] not in calls
                calls[data["id"]] = ["tool_call"]
            case "tool_use_message" | "tool_use_message_update":
                calls[data["toolCall"]["id"]].append(kind)
            case "tool_result":
                calls[data["toolId"]].append(kind)
            case "exchange_response":
                whole = ["tool_call", "tool_use_message", "tool_result", "tool_use_message_update"]
                assert all(parts == whole for parts in calls.values()), calls
                assert not message
                exchange = False
            case _ if kind.endswith("_block_start"):
                assert message
                blocks.add(event["index"])
            case _ if kind.endswith("_block_stop"):
                blocks.remove(event["index"])
            case _:
                pass
    assert not exchange


CHECKS: dict[str, Callable[[Sequence[Frame]], None]] = {
    "ai-sdk": check_ai_sdk,
    "ag-ui": check_ag_ui,
    "agentx": check_agentx,
    "loop": check_loop,
    "normalized": check_normalized,
    "openai": check_openai,
    "responses": check_responses,
    "studio": check_studio,
}
