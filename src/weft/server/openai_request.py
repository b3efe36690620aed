"""Requests of clients of /v1: the parameters of a chat completion, and the session that a conversation continues.

A parameter that cannot be honoured is refused, never ignored. Such clients send their conversation with every request.
"""

from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from time import monotonic
from typing import Any

import msgspec
from starlette.responses import Response

from weft.agent.engine import ModelLike
from weft.agent.exchange import Exchange
from weft.agent.result import SchemaShape
from weft.core.errors import ConfigurationError, WeftError
from weft.core.json import JsonObject, as_list, as_object, encode
from weft.core.messages import Message, ToolDefinition
from weft.core.turn import Reason
from weft.providers.model import Model
from weft.server.client_bodies import read_tools
from weft.server.client_conversation import ClientConversation, exchanged_texts, is_same_conversation
from weft.server.context import ServerContext
from weft.server.errors import ApiError
from weft.server.guest_shapes import CompletionBody
from weft.server.operations import json_response
from weft.sessions.session import Session
from weft.sessions.settings import apply_request_settings
from weft.sessions.store import NoSuchSession, SessionInfo

_DEFAULTS: Mapping[str, tuple[Any, ...]] = {
    "logprobs": (False,),
    "top_logprobs": (0,),
    "logit_bias": ({},),
    "modalities": (["text"],),
    "functions": ([],),
    "function_call": ("auto", "none"),
}
"""Values of parameters that are not honoured which ask for nothing."""
_KNOWN = frozenset(CompletionBody.__struct_fields__) - _DEFAULTS.keys()
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
_SEEDED = ("chat",)
"""APIs that have the parameters `seed`, `frequency_penalty` and `presence_penalty`."""
_WITHOUT_STOP = ("responses",)
_MAX_STOPS = 4


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """The parameters of a request, beside its messages."""

    streams: bool
    usage: bool
    """The stream ends with a chunk of usage."""
    tools: list[ToolDefinition]
    settings: JsonObject = field(default_factory=dict[str, Any])
    """Fields of `Settings` that differ from the agent's own."""
    output: JsonObject | None = None
    """A JSON Schema of the answer."""
    store: bool | None = None
    show_tools: bool | None = None

    def output_shape(self) -> SchemaShape | None:
        """Compile the schema of the answer."""
        return compile_output(self.output, "response_format")


def read_completion_request(body: JsonObject, model: ModelLike | None) -> CompletionRequest:
    """Read a body. `model` is the model that answers, as far as it is known."""
    check_parameters(body, _KNOWN, _DEFAULTS)
    if body.get("n") not in (None, 1):
        raise refusal("n", "There is one answer to a request; n must be 1.")
    tools = read_tools(body) or []
    wire = model.endpoint.wire if isinstance(model, Model) else None
    settings: JsonObject = {}
    read_numbers(body, settings, ("max_tokens", "max_completion_tokens"))
    _read_stop(body, settings, wire)
    _read_extra(body, settings, wire)
    _read_tool_choice(body, settings, tools)
    effort = body.get("reasoning_effort")
    if effort is not None:
        if effort not in EFFORTS:
            raise refusal("reasoning_effort", f"reasoning_effort is one of {', '.join(EFFORTS)}.")
        settings["reasoning"] = Reason(effort=effort)
    return CompletionRequest(
        streams=read_flag(body, "stream") or False,
        usage=as_object(body.get("stream_options")).get("include_usage") is True,
        tools=tools,
        settings=settings,
        output=_read_format(body),
        store=read_flag(body, "store"),
        show_tools=read_flag(body, "show_tools"),
    )


def check_parameters(body: JsonObject, known: frozenset[str], defaults: Mapping[str, tuple[Any, ...]]) -> None:
    """Refuse a parameter that is not known, unless its value is one of its `defaults`, which ask for nothing."""
    for name, value in body.items():
        if name not in known and value is not None and value not in defaults.get(name, ()):
            raise refusal(name[:60], f"The parameter {name[:60]!r} is not supported here; leave it out.")


def compile_output(schema: JsonObject | None, param: str) -> SchemaShape | None:
    """Compile the schema of an answer, which the client gave as the parameter `param`."""
    if schema is None:
        return None
    try:
        return SchemaShape(schema)
    except ConfigurationError as error:
        raise refusal(param, str(error)) from None


def read_numbers(body: JsonObject, settings: JsonObject, limits: Sequence[str]) -> None:
    """Read the sampling parameters into settings. `limits` are the names of the maximum of output tokens."""
    for name, low, high in (("temperature", 0.0, 2.0), ("top_p", 0.0, 1.0)):
        value = body.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise refusal(name, f"{name} is a number from {low:g} to {high:g}.")
        settings[name] = float(value)
    for name in limits:
        value = body.get(name)
        if value is None:
            continue
        if type(value) is not int or value < 1:
            raise refusal(name, f"{name} is a number of at least 1.")
        settings["max_output_tokens"] = value
    parallel = read_flag(body, "parallel_tool_calls")
    if parallel is not None:
        settings["parallel_tool_calls"] = parallel


def _read_stop(body: JsonObject, settings: JsonObject, wire: str | None) -> None:
    given = body.get("stop")
    if given is None or given == []:
        return
    stops: list[Any] = [given] if isinstance(given, str) else as_list(given)
    if not stops or len(stops) > _MAX_STOPS or not all(isinstance(each, str) and each for each in stops):
        raise refusal("stop", f"stop is a text, or a list of at most {_MAX_STOPS} texts.")
    if wire in _WITHOUT_STOP:
        raise refusal("stop", "The API of this model has no stop sequences; leave stop out.")
    settings["stop_sequences"] = stops


def _read_extra(body: JsonObject, settings: JsonObject, wire: str | None) -> None:
    extra: JsonObject = {}
    for name in ("seed", "frequency_penalty", "presence_penalty"):
        value = body.get(name)
        if value is None or (value == 0 and name != "seed"):
            continue
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or (name == "seed" and type(value) is not int):
            raise refusal(name, f"{name} is a number.")
        if wire is not None and wire not in _SEEDED:
            raise refusal(name, f"The API of this model has no {name}; leave it out.")
        extra[name] = value
    if extra:
        settings["extra"] = extra


def _read_tool_choice(body: JsonObject, settings: JsonObject, tools: list[ToolDefinition]) -> None:
    choice = body.get("tool_choice")
    named = as_object(as_object(choice).get("function")).get("name")
    if choice is None or choice == "auto":
        return
    if choice == "none" or (choice == "required" and tools):
        settings["tool_choice"] = choice
    elif isinstance(named, str) and any(tool.name == named for tool in tools):
        settings["tool_choice"] = named
    else:
        raise refusal("tool_choice", "tool_choice is auto, none, required, or one of the tools of this request.")


def _read_format(body: JsonObject) -> JsonObject | None:
    given = as_object(body.get("response_format"))
    match given.get("type"):
        case None | "text" if not given or given.get("type") == "text":
            return None
        case "json_object":
            return {"type": "object"}
        case "json_schema":
            schema = as_object(given.get("json_schema")).get("schema")
            if isinstance(schema, dict):
                return as_object(schema)
        case _:
            pass
    raise refusal("response_format", "response_format is text, json_object, or json_schema with a schema.")


def read_flag(body: JsonObject, name: str) -> bool | None:
    """Read a parameter that is true, false or not given."""
    value = body.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise refusal(name, f"{name} is true or false.")


def refusal(param: str, message: str) -> ApiError:
    """The error for a parameter that is wrong."""
    return ApiError("invalid", message, param=param)


# --- sessions --------------------------------------------------------------------------------------------------------


CLIENT_GONE = "The client closed the connection."
_MAX_CONVERSATIONS = 10_000
"""Conversations whose session is remembered."""
_READ_SECONDS = 60.0
"""Time in which a client reads an answer that is not kept."""


class OpenAISessions:
    """The sessions that continue conversations, by owner, model and requests; and sessions that are not kept."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._ended: deque[tuple[float, str]] = deque()  # sessions in memory, with the time of their end
        self._sessions: OrderedDict[bytes, str] = OrderedDict()  # by owner and the requests of the conversation

    async def find(self, conversation: ClientConversation) -> SessionInfo | None:
        """Find the stored session that holds the history of a conversation and is free."""
        known = self._sessions.get(_key(conversation, conversation.history))
        if known is None or not conversation.history:
            return None
        opened = self._context.open_sessions
        with suppress(ApiError):
            info = await opened.find_info(conversation.owner, known)
            async with opened.use(info) as session:
                theirs = exchanged_texts(conversation.history)
                is_free = session.engine.current is None or bool(session.client_calls)
                if is_free and is_same_conversation(theirs, exchanged_texts(session.engine.messages)):
                    return await self._context.sessions.store.info(known)
        return None

    def remember(self, conversation: ClientConversation, message: Message, info: SessionInfo) -> None:
        """Remember the session that answers a message of a conversation."""
        self._sessions[_key(conversation, [*conversation.history, message])] = info.id
        if len(self._sessions) > _MAX_CONVERSATIONS:
            self._sessions.popitem(last=False)

    def delete_later(self, exchange: Exchange, info: SessionInfo) -> None:
        """Delete a session in memory some time after the end of its exchange."""
        exchange.on_end(lambda: self._ended.append((monotonic(), info.id)))

    async def delete_ended(self) -> None:
        """Delete the sessions of requests that were answered without keeping one."""
        memory = self._context.in_memory()
        while self._ended and self._ended[0][0] < monotonic() - _READ_SECONDS:
            _, session = self._ended.popleft()
            await memory.open_sessions.close_session(session)
            with suppress(NoSuchSession):
                await memory.sessions.store.delete(session)

    def open_model(self, name: str) -> ModelLike | None:
        """Open the model that answers, as far as it is known."""
        with suppress(WeftError):
            return self._context.models.open(name or self._context.models.default)
        return None


def _key(conversation: ClientConversation, history: list[Message]) -> bytes:
    asked = [asked for asked, _ in exchanged_texts(history)]
    return sha256(encode([conversation.owner, conversation.model, conversation.system, asked])).digest()


async def configure_session(session: Session, settings: Mapping[str, object]) -> None:
    """Apply the parameters of a request from the next turn on, also in a process that continues it after a crash."""
    request: JsonObject = msgspec.to_builtins(dict(settings))
    if request != session.stored_settings.request:
        await session.configure(request=request)
    apply_request_settings(session, request)


_FAILURES: Mapping[object, int] = {
    "internal": 500,
    "invalid_request": 400,
    "context_overflow": 400,
    "content_blocked": 400,
    "model_not_found": 404,
    "quota_exhausted": 402,
}
"""Statuses by code; 502 for all others. Clients repeat a request for every status from 500 on."""


def failure_response(error: JsonObject, headers: dict[str, str]) -> Response:
    """The response for a request that failed: by our fault, by the provider's, or for lack of somebody to ask.

    What may succeed a second time was repeated already, and tools of the agent have run: clients shall not repeat it.
    """
    if error.get("type") == "permission_error":
        return json_response({"error": error}, 403, headers)
    code = error.get("code")
    headers = headers | {"X-Should-Retry": "false"}  # as the SDKs of this API know it
    return json_response({"error": error | {"type": code}}, _FAILURES.get(code, 502), headers)
