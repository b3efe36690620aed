"""The bare loop's Chat Completions."""

from typing import Any

import orjson

from benchmarks.scenarios import PROMPT
from benchmarks.tools import FUNCTIONS, TOOLS

_TOOLS = [
    {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
    }
    for tool in TOOLS
]


def url(base_url: str, _model: str) -> str:
    return f"{base_url}/v1/chat/completions"


def opening() -> list[dict[str, Any]]:
    return [{"role": "user", "content": PROMPT}]


def body(model: str, history: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "model": model,
        "messages": history,
        "tools": _TOOLS,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


class Turn:
    def __init__(self, text: list[str]) -> None:
        self.deltas = 0
        self.text = text
        self.usage: dict[str, Any] | None = None
        self.finish_reason: str | None = None
        self._calls: dict[int, dict[str, Any]] = {}

    def feed(self, event: dict[str, Any]) -> None:
        if event.get("usage"):
            self.usage = event["usage"]
        for choice in event["choices"]:
            delta = choice["delta"]
            if delta.get("content"):
                self.deltas += 1
                self.text.append(delta["content"])
            for fragment in delta.get("tool_calls") or ():
                self._feed_call(fragment)
            if choice["finish_reason"]:
                self.finish_reason = choice["finish_reason"]

    def _feed_call(self, fragment: dict[str, Any]) -> None:
        call = self._calls.setdefault(fragment["index"], {"id": None, "name": None, "arguments": []})
        if fragment.get("id"):
            call["id"] = fragment["id"]
        function = fragment["function"]
        if function.get("name"):
            call["name"] = function["name"]
        if function.get("arguments"):
            self.deltas += 1
            call["arguments"].append(function["arguments"])

    async def continuation(self) -> list[dict[str, Any]]:
        if not self._calls:
            return []
        calls: list[dict[str, Any]] = []
        results: list[dict[str, Any]] = []
        for call in self._calls.values():
            arguments = "".join(call["arguments"])
            function = {"name": call["name"], "arguments": arguments}
            calls.append({"id": call["id"], "type": "function", "function": function})
            output = await FUNCTIONS[call["name"]](**orjson.loads(arguments))
            results.append({"role": "tool", "tool_call_id": call["id"], "content": output})
        return [{"role": "assistant", "content": "".join(self.text) or None, "tool_calls": calls}, *results]
