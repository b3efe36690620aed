"""The bare loop's Gemini."""

from typing import Any

from benchmarks.scenarios import PROMPT
from benchmarks.tools import FUNCTIONS, TOOLS

_TOOLS = [
    {
        "functionDeclarations": [
            {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema} for tool in TOOLS
        ]
    }
]


def url(base_url: str, model: str) -> str:
    return f"{base_url}/v1beta/models/{model}:streamGenerateContent?alt=sse"


def opening() -> list[dict[str, Any]]:
    return [{"role": "user", "parts": [{"text": PROMPT}]}]


def body(_model: str, history: list[dict[str, Any]]) -> dict[str, Any]:
    return {"contents": history, "tools": _TOOLS}


class Turn:
    def __init__(self, text: list[str]) -> None:
        self.deltas = 0
        self.text = text
        self.usage: dict[str, Any] | None = None
        self.finish_reason: str | None = None
        self._calls: list[dict[str, Any]] = []
        self._growing: dict[str, list[str]] | None = None

    def feed(self, event: dict[str, Any]) -> None:
        self.usage = event["usageMetadata"]
        for candidate in event["candidates"]:
            for part in candidate["content"]["parts"]:
                if "text" in part:
                    self.deltas += 1
                    self.text.append(part["text"])
                elif "functionCall" in part:
                    self._feed_call(part)
            self.finish_reason = candidate.get("finishReason")

    def _feed_call(self, part: dict[str, Any]) -> None:
        fragment = part["functionCall"]
        if "name" in fragment:
            self._calls.append(part)
            self._growing = {} if fragment.pop("willContinue", False) else None
            return
        if self._growing is None:
            return
        for partial in fragment.get("partialArgs", ()):
            self.deltas += 1
            self._growing.setdefault(partial["jsonPath"].removeprefix("$."), []).append(partial["stringValue"])
        if not fragment.get("willContinue"):
            self._calls[-1]["functionCall"]["args"] = {key: "".join(value) for key, value in self._growing.items()}
            self._growing = None

    async def continuation(self) -> list[dict[str, Any]]:
        if not self._calls:
            return []
        results: list[dict[str, Any]] = []
        for part in self._calls:
            call = part["functionCall"]
            output = await FUNCTIONS[call["name"]](**call["args"])
            results.append({"functionResponse": {"name": call["name"], "response": {"output": output}}})
        return [{"role": "model", "parts": self._calls}, {"role": "user", "parts": results}]
