"""A server that passes every conformance check: the right answer to each probe on each wire.

    async with ScriptedServer(GoodServer("chat")) as server: ...

The tests of the checks run against it; it also shows how a server should answer.
"""

from collections.abc import Callable
from itertools import count
from typing import Any

from heald.core.json import JsonObject
from heald.core.messages import ToolCall
from heald.testing.server import Hang, ReceivedRequest, Reply
from heald.testing.streams import wire_reply
from heald_check.conform import prompts
from heald_check.conform.api_rules import APIS

KEY = "sk-right"


class GoodServer:
    """Answers each probe as its API does. Call ids are never used twice."""

    def __init__(self, wire: str) -> None:
        self._wire = wire
        self._api = APIS[wire]
        self._numbers = count(1)

    def __call__(self, request: ReceivedRequest) -> Reply:
        return self._refusal(request) or self._answer(request.content.decode())

    def _refusal(self, request: ReceivedRequest) -> Reply | None:
        body = request.body
        if any(prompts.WRONG_KEY in value for value in request.headers.values()):
            return self._error(401, "The key is not valid.", "authentication_error", "UNAUTHENTICATED")
        if not isinstance(body, dict):
            return self._error(400, "The request is no JSON.", "invalid_request_error", "INVALID_ARGUMENT")
        if prompts.UNKNOWN_MODEL in request.path + request.content.decode():
            return self._error(404, "There is no such model.", "not_found_error", "NOT_FOUND")
        if not isinstance(request.body.get(self._api.history), list):
            return self._error(400, "The conversation is not a list.", "invalid_request_error", "INVALID_ARGUMENT")
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
        return self._reply(text=["Hello ", "there."])

    def _answers(self) -> dict[str, Callable[[], Reply]]:
        """The replies by a text of the request; the first text that the request contains counts."""
        oslo, rome = {"city": "Oslo"}, {"city": "Rome"}
        weather = prompts.GET_WEATHER.name
        return {
            prompts.RESULT: lambda: self._reply(text=["It is 17 degrees ", "and it rains."]),
            prompts.LOCKER: lambda: self._reply(text=prompts.LOCKER_NUMBER),
            prompts.REPEAT: lambda: self._reply(text=list(prompts.UNICODE)),
            prompts.NO_TOOL: lambda: self._reply(text="Cold, perhaps."),
            prompts.WEATHER: lambda: self._reply(calls=[self._call(weather, oslo)]),
            prompts.CLOCK: lambda: self._reply(calls=[self._call(prompts.GET_TIME.name, {})]),
            prompts.TWO_CITIES: lambda: self._reply(
                text="Both.", calls=[self._call(weather, oslo), self._call(weather, rome)]
            ),
            prompts.COUNT: lambda: self._reply(
                text=["one, ", "two, ", "three"], stop="max_tokens", usage=(11, prompts.LIMIT)
            ),
            prompts.FOUR_WORDS: lambda: self._reply(text=["alpha ", "beta "], stop="stop_sequence"),
            prompts.EDIT: lambda: self._reply(text=f"{prompts.EDITED_FILE}\n```\nprint('Good evening')\n```\n"),
            prompts.COLOUR: lambda: self._reply(text="Red."),
            prompts.LONG: self._endless,
        }

    def _reply(self, **answer: Any) -> Reply:
        return wire_reply(self._wire, **answer)

    def _call(self, name: str, arguments: JsonObject) -> ToolCall:
        return ToolCall(id=f"call_{next(self._numbers)}", name=name, input=arguments)

    def _endless(self) -> Reply:
        """An answer that continues until the client disconnects."""
        whole = self._reply(text=["one, ", "two, ", "three"])
        return Reply([*whole.body[:-3], Hang()], content_type=whole.content_type)
