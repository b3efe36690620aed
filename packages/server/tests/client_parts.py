"""A model and a tool for tests with clients of other systems."""

import heald
from heald.core.errors import ProviderError
from heald.providers.scripted import Script, ScriptedRequest
from serving_parts import S


@heald.tool
async def weather(city: str) -> str:
    """Weather of a city."""
    return f"{city}: 3 °C, snow"


def answers(request: ScriptedRequest) -> Script:
    """By what was asked last, and how far it got."""
    asked = max(number for number, message in enumerate(request.messages) if message.role == "user")
    text = request.messages[asked].text
    seen = sum(message.role == "user" for message in request.messages)
    if "weather" in text and asked == len(request.messages) - 1:
        return [S.think("Oslo is cold."), "Let me see. ", S.call("weather", city="Oslo")]
    if "fail" in text:
        return ["Half a ", S.fail(ProviderError("The model is out of order.", status=400))]
    if "long" in text:
        return "Word after word. " * 30
    return f"Answer {seen} to “{text}”."


def model() -> heald.testing.ScriptedModel:
    return S([answers] * 50, piece=6, pause=0.002)
