"""Tools that a client runs: their definitions, and the calls that wait for a result.

A client sends definitions (name, description, JSON Schema). The model is offered them beside the agent's own tools. A
call of one waits until `resolve` brings its result. Definitions and results come from outside and are checked here.
"""

import asyncio
import base64
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

from weft.core.errors import ConfigurationError, WeftError
from weft.core.events import ClientToolRequested
from weft.core.json import JsonObject, as_object, depth_of, encode
from weft.core.lazy import lazy_pattern
from weft.core.media import describe_picture_fault, picture_type
from weft.core.messages import File, Image, ResultPart, Text, ToolCall, ToolDefinition
from weft.tools.approvals import NotPending
from weft.tools.context import Emit, ToolContext
from weft.tools.definitions import TOOL_NAME, Tool
from weft.tools.json_schema import find_schema_problem
from weft.tools.results import Parts, ToolFault, ToolOutput, plain_text, to_content

MAX_TOOLS = 128
"""Maximum number of client tools of a session."""
MAX_TOTAL = 256 * 1024
"""Maximum bytes of all definitions as JSON."""
MAX_DESCRIPTION = 8_000
MAX_RESULT = 1_000_000
"""Maximum bytes of a result as JSON."""
CLIENT_TOOL_TIMEOUT = 600.0
"""Seconds that a call waits for its result by default."""
_MARGIN = 60.0  # seconds; a call that waits for a client ends by its own time limit, not by the runtime's
_MAX_REASON = 2_000
_MAX_DEPTH = 100
_FINISHED = 1_000  # calls whose end is remembered, to explain why a result comes too late

_WEB_URL = lazy_pattern(r"https?://[^\s]{1,2000}\Z")
_SCHEMA_KEYS = ("input_schema", "inputSchema", "parameters")
_PART_TYPES = ("text", "image", "file")

ClientToolLike = ToolDefinition | Tool | Mapping[str, Any]
"""A definition, or an object with its name, description and schema. Of a `Tool` only the definition is used."""


class ResultTooLarge(WeftError):
    """A result exceeds the size limit."""

    code = "invalid_request"


# --- definitions -----------------------------------------------------------------------------------------------------


def read_client_tools(tools: Iterable[object]) -> list[ToolDefinition]:
    """Check the definitions of a client. Raises ConfigurationError that names the first unusable one.

    The schema may be called `input_schema`, `inputSchema` or `parameters`; OpenAI's `{"type": "function", "function":
    {…}}` is accepted too.
    """
    read: dict[str, ToolDefinition] = {}
    total = 0
    for number, given in enumerate(tools, 1):
        if number > MAX_TOOLS:
            raise ConfigurationError(f"There are more than {MAX_TOOLS} client tools; offer fewer.")
        definition = _read_definition(given, number)
        if definition.name in read:
            raise ConfigurationError(f"There are two client tools named {definition.name!r}; rename one of them.")
        read[definition.name] = definition
        total += len(encode(definition))
        if total > MAX_TOTAL:
            raise ConfigurationError(f"The client tools have more than {MAX_TOTAL:,} bytes; offer fewer.")
    return list(read.values())


def _read_definition(given: object, number: int) -> ToolDefinition:
    if isinstance(given, Tool):
        given = given.definition
    if isinstance(given, ToolDefinition):
        given = {"name": given.name, "description": given.description, "input_schema": given.input_schema}
    if not isinstance(given, Mapping):
        raise ConfigurationError(f"The client tool {number} is not an object with name, description and input_schema.")
    fields = dict(cast("Mapping[str, Any]", given))
    if isinstance(fields.get("function"), Mapping):
        fields = dict(cast("Mapping[str, Any]", fields["function"]))
    name, description = fields.get("name"), fields.get("description") or ""
    if not isinstance(name, str) or not TOOL_NAME.match(name):
        raise ConfigurationError(
            f"The client tool {number} needs a name of at most 64 letters, digits, _ and -, not {str(name)[:80]!r}."
        )
    if not isinstance(description, str) or len(description) > MAX_DESCRIPTION:
        raise ConfigurationError(
            f"The client tool {name!r} needs a description that is a text of at most {MAX_DESCRIPTION:,} characters."
        )
    schema = next((fields[key] for key in _SCHEMA_KEYS if fields.get(key) is not None), None)
    schema = _with_type(schema)
    problem = find_schema_problem(schema)
    if problem:
        raise ConfigurationError(f"The client tool {name!r} {problem}.")
    return ToolDefinition(name=name, description=plain_text(description), input_schema=as_object(schema))


def _with_type(schema: object) -> object:
    """Return the schema of an object. A tool without parameters may have none, and some clients omit the type."""
    if schema is None or schema == {}:
        return {"type": "object", "properties": {}}
    fields = as_object(schema)
    return {"type": "object", **fields} if "properties" in fields and "type" not in fields else schema


def check_names(definitions: Iterable[ToolDefinition], own: Collection[str]) -> None:
    """Raise ConfigurationError if a client tool has the name of one of the agent's own tools."""
    for definition in definitions:
        if definition.name in own:
            raise ConfigurationError(
                f"The agent has a tool named {definition.name!r} of its own; give the client's tool another name."
            )


def client_tool(definition: ToolDefinition, timeout: float = CLIENT_TOOL_TIMEOUT) -> Tool:
    """Make a tool whose calls wait for a client."""

    async def run(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        if context.host is None:
            raise ToolFault("No client can be asked to run this call.")
        return await context.host.client_calls.request(context.call, arguments, timeout, context.emit)

    return Tool(definition=definition, run=run, effect="none", timeout=timeout + _MARGIN, on_client=True)


# --- results ---------------------------------------------------------------------------------------------------------


def parse_client_result(content: object, is_error: bool = False) -> ToolOutput | ToolFault:
    """Check the result of a client: a text, parts, or any JSON. `{"type": "execution-denied", "reason": …}` is a
    denial.

    Raises ConfigurationError for a result that cannot be used and ResultTooLarge for one above the limit.
    """
    if not isinstance(cast(object, is_error), bool):
        raise ConfigurationError("is_error of a result is true or false.")
    _check_size(content)
    denial = as_object(content)
    if denial.get("type") == "execution-denied":
        reason = denial.get("reason") or ""
        if not isinstance(reason, str):
            raise ConfigurationError("The reason of a denied execution is a text.")
        return ToolFault(
            f"The client did not run this call. {plain_text(reason)[:_MAX_REASON]}".strip(), status="denied"
        )
    return ToolOutput(content=_read_content(content), is_error=is_error)


def _check_size(content: object) -> None:
    try:
        size = len(encode(content))
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise ConfigurationError("The content of a result is a text, parts, or a JSON value.") from None
    if size > MAX_RESULT:
        raise ResultTooLarge(f"The result has {size:,} bytes, and a result may have {MAX_RESULT:,}; send less.")
    if depth_of(content) > _MAX_DEPTH:
        raise ConfigurationError("The result is nested too deeply; make it flatter.")


def _read_content(content: object) -> Parts:
    if isinstance(content, str):
        return plain_text(content)
    if isinstance(content, Text | Image | File):
        content = [content]
    if not isinstance(content, list | tuple):
        return plain_text(to_content(content)) if content is not None else ""  # pyright: ignore[reportArgumentType]
    items = list(cast("Sequence[Any]", content))
    parts = [
        item for item in items if isinstance(item, Text | Image | File) or as_object(item).get("type") in _PART_TYPES
    ]
    if not items or len(parts) < len(items):
        return plain_text(encode(items).decode())
    return [_read_part(part) for part in parts]


def _read_part(given: Any) -> ResultPart:
    try:
        part = given if isinstance(given, Text | Image | File) else msgspec.convert(given, Text | Image | File)
    except (msgspec.ValidationError, ValueError) as error:
        raise ConfigurationError(f"A part of the result cannot be read: {str(error)[:200]}.") from None
    if isinstance(part, Text):
        return Text(plain_text(part.text))
    if (part.data is None) == (part.url is None):
        raise ConfigurationError("A picture or file in a result has exactly one of data and url.")
    if part.url is not None:
        if not _WEB_URL.match(part.url):
            raise ConfigurationError("A url in a result begins with https:// or http://.")
        return part
    try:
        raw = base64.b64decode(part.data or "", validate=True)
    except ValueError:
        raise ConfigurationError("The data of a picture or file in a result is not base64.") from None
    if isinstance(part, File):
        return part
    fault = describe_picture_fault(raw)
    if fault is not None:
        raise ConfigurationError(f"A picture in a result cannot be used: {fault}.")
    return Image(media_type=picture_type(raw) or "", data=part.data)


class PendingClientCalls:
    """The calls of a session that wait for a client.

    A result is accepted from the moment that the call is published, which is before the call starts: a reactor may
    answer at `tool_call`.
    """

    def __init__(self) -> None:
        self._calls: dict[str, tuple[ClientToolRequested, asyncio.Future[ToolOutput | ToolFault]]] = {}
        self._expected: dict[str, ToolOutput | ToolFault | None] = {}  # published, not requested; with an early result
        self._finished: OrderedDict[str, str] = OrderedDict()  # the reason why a further result is refused

    @property
    def open_calls(self) -> list[ClientToolRequested]:
        """The calls that wait for a result."""
        return [request for request, future in self._calls.values() if not future.done()]

    def is_open(self, call: str) -> bool:
        """Return whether the call waits for its result."""
        return call in self._calls and not self._calls[call][1].done()

    def expect(self, call: str) -> None:
        """Accept the result of a call that is about to be published."""
        self._expected[call] = None

    def forget(self, calls: Iterable[ToolCall]) -> None:
        """Accept no result of these calls any more."""
        for call in calls:
            if call.id in self._expected:
                del self._expected[call.id]
                self._finish(call.id, "it was not run")

    def restore(self, request: ClientToolRequested) -> None:
        """Let a call wait on that an earlier process has requested of a client."""
        self._calls[request.id] = (request, asyncio.get_running_loop().create_future())

    async def request(self, call: ToolCall, arguments: JsonObject, seconds: float, emit: Emit) -> ToolOutput:
        """Publish a call for a client and wait for its result. Raises ToolFault if it is denied or none arrives."""
        is_restored = call.id in self._calls
        if not is_restored:
            self.restore(ClientToolRequested(call.id, call.name, arguments, seconds))
        request, future = self._calls[call.id]
        early = self._expected.pop(call.id, None)
        if early is not None and not future.done():
            future.set_result(early)
        reason = "its exchange was cancelled"
        try:
            if not is_restored:
                emit(request)
            await asyncio.wait([future], timeout=seconds)
            if not future.done():
                reason = f"its time limit of {seconds:g} s is over"
                raise ToolFault(f"No client sent the result of this call within {seconds:g} s.", status="timeout")
            reason = "it has a result already"
            outcome = future.result()
            if isinstance(outcome, ToolFault):
                raise outcome
            return outcome
        finally:
            del self._calls[call.id]
            self._finish(call.id, reason)

    def resolve(self, call_id: str, content: object, is_error: bool = False) -> None:
        """Give a waiting call its result. Raises NotPending for a call that does not wait, ConfigurationError or
        ResultTooLarge for a result that cannot be used; the call waits on then."""
        self._check(call_id)
        outcome = parse_client_result(content, is_error)
        if call_id in self._expected:
            self._expected[call_id] = outcome
        else:
            self._calls[call_id][1].set_result(outcome)

    def _check(self, call_id: object) -> None:
        if not isinstance(call_id, str):
            raise ConfigurationError("The id of a call is a text.")
        if self.is_open(call_id) or (call_id in self._expected and self._expected[call_id] is None):
            return
        is_answered = call_id in self._calls or call_id in self._expected
        reason = "it has a result already" if is_answered else self._finished.get(call_id, "no such call is known")
        raise NotPending(f"The call {call_id[:100]!r} does not wait for a result: {reason}.")

    def _finish(self, call: str, reason: str) -> None:
        self._finished[call] = reason
        if len(self._finished) > _FINISHED:
            self._finished.popitem(last=False)
