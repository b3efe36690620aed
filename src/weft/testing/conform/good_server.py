"""A server that gets everything right: what an answer to each probe looks like on each wire.

    async with ScriptedServer(GoodServer("chat")) as server: ...

It is what the checks are tested against, and a pattern for whoever writes a server.
"""

from collections.abc import Callable
from itertools import count
from typing import Any

from weft.core.json import JsonObject
from weft.core.tools import ToolCall
from weft.testing.conform import probes
from weft.testing.conform.api import APIS
from weft.testing.exchange import Request
from weft.testing.replies import Hang, Reply
from weft.testing.streams import wire_reply

KEY = "sk-right"


class GoodServer:
    """Answers each request of the bench as its API would. Call ids are never used twice."""

    def __init__(self, wire: str) -> None:
        self._wire = wire
        self._api = APIS[wire]
        self._numbers = count(1)

    def __call__(self, request: Request) -> Reply:
        return self._refusal(request) or self._answer(request.content.decode())

    def _refusal(self, request: Request) -> Reply | None:
        body = request.body
        if any(probes.WRONG_KEY in value for value in request.headers.values()):
            return self._error(401, "The key is not valid.", "authentication_error", "UNAUTHENTICATED")
        if not isinstance(body, dict):
            return self._error(400, "The request is no JSON.", "invalid_request_error", "INVALID_ARGUMENT")
        if probes.UNKNOWN_MODEL in request.path + request.content.decode():
            return self._error(404, "There is no such model.", "not_found_error", "NOT_FOUND")
        if not isinstance(request.body.get(self._api.history), list):
            return self._error(400, "The conversation is no list.", "invalid_request_error", "INVALID_ARGUMENT")
        return None

    def _error(self, status: int, message: str, kind: str, google: str) -> Reply:
        bodies: dict[str, JsonObject] = {
            "messages": {"type": "error", "error": {"type": kind, "message": message}},
            "gemini": {"error": {"code": status, "message": message, "status": google}},
            "ollama": {"error": message},
        }
        openai: JsonObject = {"error": {"message": message, "type": kind, "param": None, "code": None}}
        return Reply.json(bodies.get(self._wire, openai), status=status)

    def _answer(self, asked: str) -> Reply:
        for sign, answer in self._answers().items():
            if sign in asked:
                return answer()
        return self._say(text=["Hello ", "there."])

    def _answers(self) -> dict[str, Callable[[], Reply]]:
        """By what stands in the request; the first that is found there counts."""
        oslo, rome = {"city": "Oslo"}, {"city": "Rome"}
        weather = probes.GET_WEATHER.name
        return {
            probes.RESULT: lambda: self._say(text=["It is 17 degrees ", "and it rains."]),
            probes.LOCKER: lambda: self._say(text=probes.LOCKER_NUMBER),
            probes.REPEAT: lambda: self._say(text=list(probes.UNICODE)),
            probes.NO_TOOL: lambda: self._say(text="Cold, perhaps."),
            probes.WEATHER: lambda: self._say(calls=[self._call(weather, oslo)]),
            probes.CLOCK: lambda: self._say(calls=[self._call(probes.GET_TIME.name, {})]),
            probes.TWO_CITIES: lambda: self._say(
                text="Both.", calls=[self._call(weather, oslo), self._call(weather, rome)]
            ),
            probes.COUNT: lambda: self._say(
                text=["one, ", "two, ", "three"], stop="max_tokens", usage=(11, probes.LIMIT)
            ),
            probes.FOUR_WORDS: lambda: self._say(text=["alpha ", "beta "], stop="stop_sequence"),
            probes.COLOUR: lambda: self._say(text="Red."),
            probes.LONG: self._endless,
        }

    def _say(self, **said: Any) -> Reply:
        return wire_reply(self._wire, **said)

    def _call(self, name: str, arguments: JsonObject) -> ToolCall:
        return ToolCall(id=f"call_{next(self._numbers)}", name=name, input=arguments)

    def _endless(self) -> Reply:
        """An answer that goes on until the client leaves."""
        whole = self._say(text=["one, ", "two, ", "three"])
        return Reply([*whole.body[:-3], Hang()], content_type=whole.content_type)
