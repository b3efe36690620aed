"""The bare loop's Anthropic Messages."""

from typing import Any

import orjson

from benchmarks.scenarios import PROMPT
from benchmarks.tools import FUNCTIONS, TOOLS

_TOOLS = [{"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in TOOLS]


def url(base_url: str, _model: str) -> str:
    return f"{base_url}/v1/messages"


def opening() -> list[dict[str, Any]]:
    return [{"role": "user", "content": PROMPT}]


def body(model: str, history: list[dict[str, Any]]) -> dict[str, Any]:
    return {"model": model, "max_tokens": 64_000, "messages": history, "tools": _TOOLS, "stream": True}


class Turn:
    def __init__(self, text: list[str]) -> None:
        self.deltas = 0
        self.text = text
        self.usage: dict[str, Any] | None = None
        self.stop_reason: str | None = None
        self._blocks: dict[int, dict[str, Any]] = {}
        self._arguments: dict[int, list[str]] = {}

    def feed(self, event: dict[str, Any]) -> None:
        match event["type"]:
            case "content_block_delta":
                self._feed_delta(event["index"], event["delta"])
            case "content_block_start":
                self._blocks[event["index"]] = event["content_block"]
            case "message_start":
                self.usage = event["message"]["usage"]
            case "message_delta":
                self.usage = event["usage"]
                self.stop_reason = event["delta"]["stop_reason"]
            case _:
                pass

    def _feed_delta(self, index: int, delta: dict[str, Any]) -> None:
        if delta["type"] == "text_delta":
            self.deltas += 1
            self.text.append(delta["text"])
            return
        if delta["type"] == "input_json_delta":
            self.deltas += 1
            self._arguments.setdefault(index, []).append(delta["partial_json"])

    async def continuation(self) -> list[dict[str, Any]]:
        if not self._arguments:
            return []
        results: list[dict[str, Any]] = []
        for index, fragments in self._arguments.items():
            call = self._blocks[index]
            call["input"] = orjson.loads("".join(fragments))
            output = await FUNCTIONS[call["name"]](**call["input"])
            results.append({"type": "tool_result", "tool_use_id": call["id"], "content": output})
        content = [block for block in self._blocks.values() if block["type"] == "tool_use"]
        if self.text:
            content.insert(0, {"type": "text", "text": "".join(self.text)})
        return [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
