"""The bare loop's OpenAI Responses."""

from typing import Any

import orjson

from benchmarks.scenarios import PROMPT
from benchmarks.tools import FUNCTIONS, TOOLS

_TOOLS = [
    {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema}
    for tool in TOOLS
]


def url(base_url: str, _model: str) -> str:
    return f"{base_url}/v1/responses"


def opening() -> list[dict[str, Any]]:
    return [{"role": "user", "content": PROMPT}]


def body(model: str, history: list[dict[str, Any]]) -> dict[str, Any]:
    return {"model": model, "input": history, "tools": _TOOLS, "stream": True, "store": False}


class Turn:
    def __init__(self, text: list[str]) -> None:
        self.deltas = 0
        self.text = text
        self.usage: dict[str, Any] | None = None
        self._arguments: dict[str, list[str]] = {}
        self._items: list[dict[str, Any]] = []

    def feed(self, event: dict[str, Any]) -> None:
        match event["type"]:
            case "response.output_text.delta":
                self.deltas += 1
                self.text.append(event["delta"])
            case "response.function_call_arguments.delta":
                self.deltas += 1
                self._arguments.setdefault(event["item_id"], []).append(event["delta"])
            case "response.output_item.done":
                self._items.append(event["item"])
            case "response.completed":
                self.usage = event["response"]["usage"]
            case _:
                pass

    async def continuation(self) -> list[dict[str, Any]]:
        calls = [item for item in self._items if item["type"] == "function_call"]
        if not calls:
            return []
        results: list[dict[str, Any]] = []
        for call in calls:
            arguments = "".join(self._arguments[call["id"]])
            output = await FUNCTIONS[call["name"]](**orjson.loads(arguments))
            results.append({"type": "function_call_output", "call_id": call["call_id"], "output": output})
        return [*self._items, *results]
