"""Models and tools of the agents that other people's clients talk to."""

import heald
from heald.core.errors import ProviderError
from heald.core.messages import ToolResult
from heald.providers.scripted import Script, ScriptedRequest

S = heald.testing.ScriptedModel
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PDF = "JVBERi0xLjQKJSVFT0YK"


@heald.tool
async def weather(city: str) -> str:
    """Weather of a city."""
    return f"{city}: 3 °C, snow"


@heald.tool(effect="run")
async def launch(what: str) -> str:
    """Launch something."""
    return f"{what} launched"


def answers(request: ScriptedRequest) -> Script:
    """Answer by the last request and the results that follow it. No space separates a text from the next."""
    asked = max(number for number, message in enumerate(request.messages) if message.role == "user")
    text = request.messages[asked].words
    count = sum(message.role == "user" for message in request.messages)
    last = request.messages[-1]
    if last.role == "tool" and last is not request.messages[asked]:
        results = [block for block in last.content if isinstance(block, ToolResult)]
        return "Done: " + ", ".join(f"{result.status} {result.text}" for result in results)
    if "both" in text:
        return ["First ours.", S.call("weather", city="Oslo"), S.call("locate", of="me")]
    if "weather" in text:
        return [S.think("Oslo is cold."), "Let me see.", S.call("weather", city="Oslo")]
    if "launch" in text:
        return ["I launch it.", S.call("launch", what="rocket")]
    if "locate" in text:
        return ["I ask you.", S.call("locate", of="me")]
    if "fail" in text:
        return ["Half a ", S.fail(ProviderError("The model is out of order.", status=400))]
    if "long" in text:
        return "Word after word. " * 200
    if "seen" in text:
        kinds = [getattr(block, "media_type", "text") for block in request.messages[asked].content]
        return f"I see {' and '.join(kinds)}: {request.messages[asked].text}"
    return f"Answer {count} to “{text}”."


def model() -> heald.testing.ScriptedModel:
    return S([answers] * 60, piece=6, pause=0.002)


def slow() -> heald.testing.ScriptedModel:
    return S([answers] * 60, piece=6, pause=0.02)


LOCATE = {
    "name": "locate",
    "description": "Where the user is.",
    "parameters": {"type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]},
}
