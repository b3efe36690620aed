"""Reads messages in the forms that other programs use, and writes them in one: the internal message.

Accepted are the messages of the Chat Completions API (`tool_calls`, `tool_call_id`, parts), those of Anthropic's API
(`source`, `tool_use_id`), UI messages of the AI SDK (`parts`), and internal messages:

    {"role": "user", "content": "Read a.py", "timestamp": 1763000000000}
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a.py"}}]}
    {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "…"}]}

A chat message is the short form for a list of messages to show: `{role, content, timestamp}` with text only.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast, get_args

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, as_list, as_object, as_objects, encode_text, loads, parse_strict
from heald.core.messages import (
    Block,
    File,
    Grounding,
    Image,
    ImageDetail,
    Message,
    Reasoning,
    ResultPart,
    Role,
    Source,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
)
from heald.core.ui_messages import from_ui_messages

_SYSTEM = ("system", "developer")
_PARTS = "text, reasoning, image, image_url, input_audio, file, document, tool_use, tool_result and grounding"


# --- reading ------------------------------------------------------------------------------------------------------


def system_texts(messages: Iterable[Message | Mapping[str, Any]]) -> list[str]:
    """Return the texts of the system messages."""
    return [
        _text(cast(JsonObject, message))
        for message in messages
        if type(message) is not Message  # most are, and a check for a mapping is slow
        and isinstance(message, Mapping)
        and message.get("role") in _SYSTEM
    ]


def parse_messages(messages: Sequence[JsonObject], *, results_last: bool = False) -> list[Message]:
    """Convert all but the system messages. The last one is the request, or with `results_last` the results of calls."""
    roles = ("user", "tool") if results_last else ("user",)
    if not messages or messages[-1].get("role") not in roles:
        also = ", or results of role 'tool'" if results_last else ""
        raise ConfigurationError(f"The last message must be the request, of role 'user'{also}; put it at the end.")
    return read_messages(messages)


def as_messages(messages: Iterable[Message | Mapping[str, Any]]) -> list[Message]:
    """Return messages as they are, or convert those of another form."""
    items = list(messages)
    if not items or _are_valid(items):
        return cast("list[Message]", items)
    typed = [check_message(message, number) for number, message in enumerate(items) if isinstance(message, Message)]
    return typed if len(typed) == len(items) else read_messages(items)


def _are_valid(items: list[Any]) -> bool:
    """Return whether all items are messages that can be stored and read again as they are, by one conversion of all."""
    try:
        return msgspec.convert(msgspec.to_builtins(items), list[Message]) == items
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError):
        return False


def check_message(message: Message, number: int = 0) -> Message:
    """Return a message that can be stored and read again. A text as its content becomes a block, bytes become base64.

    A program can make a message of anything: msgspec checks only what it decodes. Raises ConfigurationError.
    """
    if isinstance(cast(object, message.content), str):
        message = msgspec.structs.replace(message, content=[Text(cast(str, message.content))])
    try:
        read = msgspec.convert(msgspec.to_builtins(message), Message)
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"Message {number} is not a valid heald.Message: {str(error)[:200]}.") from None
    return message if read == message else read


def read_messages(messages: Iterable[Message | Mapping[str, Any]]) -> list[Message]:
    """Convert messages of any accepted form, without the system messages. Results of one turn become one message."""
    conversation: list[Message] = []
    seen: set[str] = set()
    for number, message in enumerate(messages):
        for read in [check_message(message, number)] if isinstance(message, Message) else _read(message, number, seen):
            if read.role == "tool" and conversation and conversation[-1].role == "tool":  # one message for one turn
                first = conversation.pop()
                read = Message(role="tool", content=[*first.content, *read.content], timestamp=first.timestamp)
            seen.update(call.id for call in read.tool_calls)
            conversation.append(read)
    return conversation


def _read(message: Any, number: int, seen: set[str]) -> list[Message]:
    if not isinstance(message, Mapping):
        raise ConfigurationError(
            f"Message {number} is {type(message).__name__}; give an object with a role and content, or a heald.Message."
        )
    fields = cast(JsonObject, message)
    if fields.get("role") in _SYSTEM:
        return []
    if isinstance(fields.get("parts"), list) and "content" not in fields:
        converted = from_ui_messages([fields], number)
        return [read for plain in converted for read in _read(plain, number, seen)]
    role, timestamp = _role(fields, number), _timestamp(fields, number)
    if role == "tool" and "tool_call_id" in fields:
        result = ToolResult(id=str(fields["tool_call_id"]), status="ok", content=_text(fields))
        return [Message(role="tool", content=[result], timestamp=timestamp)]
    blocks = _blocks(fields, number, seen)
    results: list[Block] = [block for block in blocks if isinstance(block, ToolResult)]
    others: list[Block] = [block for block in blocks if not isinstance(block, ToolResult)]
    if role == "tool" and (others or not results):
        raise ConfigurationError(
            f"Message {number} has the role 'tool' and no result; give a tool_call_id, or blocks of type tool_result."
        )
    read = [Message(role="tool", content=results, timestamp=timestamp)] if results else []
    return [*read, Message(role=role, content=others, timestamp=timestamp)] if others or not results else read


def _role(message: JsonObject, number: int) -> Role:
    match message.get("role"):
        case "user" | "assistant" | "tool" as role:
            return role
        case other:
            raise ConfigurationError(
                f"Message {number} has the role {str(other)[:40]!r}; there are system, user, assistant and tool."
            )


def _timestamp(message: JsonObject, number: int) -> float | None:
    value = message.get("timestamp")
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise ConfigurationError(f"The timestamp of message {number} is not a number; give milliseconds since 1970.")


def _blocks(message: JsonObject, number: int, seen: set[str]) -> list[Block]:
    content = message.get("content")
    if content is not None and not isinstance(content, str | list):
        raise ConfigurationError(f"The content of message {number} is neither text nor a list of blocks.")
    blocks: list[Block] = [Text(content)] if isinstance(content, str) and content else []
    new_ids: set[str] = set()
    for part in as_list(content):
        block = _read_part(part, number, seen | new_ids)
        blocks += block
        new_ids.update(call.id for call in block if isinstance(call, ToolCall))
    return [*blocks, *(_call(call, number) for call in as_objects(message.get("tool_calls")))]


def _read_part(part: Any, number: int, seen: set[str]) -> list[Block]:
    if isinstance(part, Block):
        return check_message(Message(role="user", content=[part]), number).content
    if isinstance(part, str):
        return [Text(part)] if part else []
    if not isinstance(part, Mapping):
        raise ConfigurationError(
            f"A part of message {number} is {type(part).__name__}; give a text or an object with a type."
        )
    return _block(dict(cast("Mapping[str, Any]", part)), number, seen)


def read_parts(parts: Iterable[Any]) -> list[Block]:
    """Convert the parts of one user message: texts, our blocks, and objects with a type."""
    return [block for part in parts for block in _read_part(part, 0, set())]


def _block(part: JsonObject, number: int, seen: set[str]) -> list[Block]:
    match part.get("type"):
        case "text" | "input_text" | "output_text" | None:
            text = part.get("text")
            if not isinstance(text, str):
                raise ConfigurationError(
                    f"A part of message {number} has no text; give an object such as "
                    '{"type": "text", "text": "Hello"}.'
                )
            return [Text(text)] if text else []
        case "refusal":
            return [Text(str(part.get("refusal") or ""), refusal=True)]
        case "redacted_thinking":
            return []
        case "reasoning" | "thinking":
            text = part.get("text") or part.get("thinking")
            return [Reasoning(text)] if isinstance(text, str) and text else []
        case "tool_use":
            name = str(part.get("name", ""))
            return [ToolCall(id=str(part.get("id") or _call_id(name, seen)), name=name, input=_input(part, number))]
        case "tool_result":
            return [_result(part, number)]
        case "grounding":
            return [Grounding([_source(source) for source in as_objects(part.get("sources"))])]
        case kind:
            return [*_media(part, str(kind), number)]  # pyrefly: ignore[bad-return]


def _media(part: JsonObject, kind: str, number: int) -> list[Image | File]:
    match kind:
        case "image_url":
            image_url = part.get("image_url")
            media_type, data, url = _location(str(as_object(image_url).get("url", "")) or str(image_url))
            image = Image(media_type=media_type, data=data) if data else Image(url=url)
            return [_with_detail(image, as_object(image_url).get("detail"))]
        case "image" | "document" if as_object(part.get("source")):
            return [_from_source(as_object(part["source"]), kind, part.get("title"), number)]
        case "image" | "file" if part.get("data") or part.get("url") or part.get("file_id"):
            names = ("media_type", "data", "url", "file_id")
            fields = {name: part[name] for name in names if isinstance(part.get(name), str)}
            if kind == "image":
                return [_with_detail(Image(**fields), part.get("detail"))]
            name = part.get("name")
            named = {"media_type": "application/octet-stream", **fields}
            return [File(name=name if isinstance(name, str) else None, **named)]
        case "input_audio":
            audio = as_object(part.get("input_audio"))
            media_type = "audio/mpeg" if audio.get("format") == "mp3" else f"audio/{audio.get('format') or 'wav'}"
            return [File(media_type=media_type, data=str(audio.get("data", "")))]
        case "file" if as_object(part.get("file")).get("file_data"):
            file = as_object(part["file"])
            media_type, data, _ = _location(str(file["file_data"]))
            return [File(media_type=media_type, data=data or str(file["file_data"]), name=file.get("filename"))]
        case _:
            raise ConfigurationError(
                f"Message {number} has a part of the type {kind[:40]!r} that cannot be read; there are {_PARTS}."
            )


def _with_detail(image: Image, detail: Any) -> Image:
    return msgspec.structs.replace(image, detail=detail) if detail in get_args(ImageDetail) else image


def _from_source(source: JsonObject, kind: str, title: Any, number: int) -> Image | File:
    """Read the `source` of an image or a document in the form of Anthropic's API."""
    file = source.get("file_id")
    default = "image/png" if kind == "image" else "application/pdf"
    media_type = str(source.get("media_type") or default)
    name = title if isinstance(title, str) else None
    match source.get("type"), source.get("data"), source.get("url"):
        case "base64", str(data), _:
            return Image(media_type=media_type, data=data) if kind == "image" else _file(media_type, name, data=data)
        case "url", _, str(url):
            return Image(url=url) if kind == "image" else _file(media_type, name, url=url)
        case "file", _, _ if isinstance(file, str):
            return Image(file_id=file) if kind == "image" else _file(media_type, name, file_id=file)
        case "text", str(text), _ if kind == "document":
            return _file("text/plain", name, data=b64encode(text.encode()).decode())
        case _:
            raise ConfigurationError(
                f"The source of {'an image' if kind == 'image' else 'a document'} in message {number} cannot be read; "
                "give base64 data, a url or a file_id."
            )


def _file(media_type: str, name: str | None, **place: str) -> File:
    return File(media_type=media_type, name=name, **place)


def _location(url: str) -> tuple[str, str | None, str]:
    """Split a data URL into its media type and data. Another URL has neither."""
    head, _, data = url.partition(";base64,")
    return (head.removeprefix("data:"), data, url) if data else ("application/octet-stream", None, url)


def _call_id(name: str, seen: set[str]) -> str:
    """Number a call that has no id."""
    number = 0
    while f"{name}-{number}" in seen:
        number += 1
    return f"{name}-{number}"


def _input(part: JsonObject, number: int) -> JsonObject:
    arguments = part.get("input")
    if arguments is not None and not isinstance(arguments, dict):
        raise ConfigurationError(f"The input of a tool_use block in message {number} is not an object.")
    return as_object(arguments)


def _call(call: JsonObject, number: int) -> ToolCall:
    function = as_object(call.get("function"))
    try:
        arguments = parse_strict(str(function.get("arguments") or "{}"))
    except ValueError as error:
        raise ConfigurationError(f"The arguments of a call in message {number} are not valid JSON: {error}.") from None
    return ToolCall(id=str(call.get("id", "")), name=str(function.get("name", "")), input=as_object(arguments))


def _result(part: JsonObject, number: int) -> ToolResult:
    call = part.get("tool_use_id") or part.get("tool_call_id") or part.get("id")
    if not isinstance(call, str):
        raise ConfigurationError(
            f"A tool_result block in message {number} has no tool_use_id; give the id of its call."
        )
    content = part.get("content")
    failed = bool(part.get("is_error")) or _is_failure(content)
    parts = _result_parts(content, number)
    name = str(part.get("name", ""))
    return ToolResult(id=call, name=name, status="error" if failed else "ok", content=parts)


def _result_parts(content: Any, number: int) -> str | list[ResultPart]:
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    parts = as_objects(content)
    if not parts or not all(isinstance(part.get("type"), str) for part in parts):
        return encode_text(content)
    read = [block for part in parts for block in _block(part, number, set())]
    media = [block for block in read if isinstance(block, Text | Image | File)]
    return [*media] if len(media) == len(read) else encode_text(content)


def _is_failure(content: Any) -> bool:
    """Return whether a result, or its JSON, is `{"status": "error", "error": …}`."""
    if isinstance(content, str):
        if not content.startswith('{"status"'):
            return False
        try:
            content = loads(content)
        except ValueError:
            return False
    return tool_failure(content) is not None


def tool_failure(value: Any) -> JsonObject | None:
    """Return the error of `{"status": "error", "error": {"message", "code"}}`; None for any other value."""
    fields = as_object(value)
    if fields.get("status") != "error" or not fields.keys() <= {"status", "error", "result"}:
        return None
    error = fields.get("error")
    if error is not None and not isinstance(error, dict):
        return None
    return {"message": "Unknown error", **as_object(error)}


def _source(source: JsonObject) -> Source:
    url, quote = source.get("url"), source.get("quote")
    return Source(
        str(source.get("title", "")), url if isinstance(url, str) else None, quote if isinstance(quote, str) else None
    )


def _text(message: JsonObject) -> str:
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in as_objects(content) if isinstance(part.get("text"), str))


def read_tool_definition(tool: Any) -> ToolDefinition:
    """Read a tool for a model: a `ToolDefinition`, a `Tool`, an object of OpenAI's form, or one with a `jsonSchema`."""
    definition = getattr(tool, "definition", tool)
    if isinstance(definition, ToolDefinition):
        return definition
    fields = as_object(tool)
    fields = as_object(fields.get("function")) or fields
    name = fields.get("name")
    if not isinstance(name, str) or not name:
        raise ConfigurationError(
            f"A tool is {type(tool).__name__} without a name; give name, description and jsonSchema, or a heald.Tool."
        )
    schemas = (fields.get(key) for key in ("jsonSchema", "json_schema", "input_schema", "inputSchema", "parameters"))
    schema = next((schema for schema in schemas if schema is not None), None)
    if not isinstance(schema, dict):
        raise ConfigurationError(f"The tool {name[:64]!r} has no jsonSchema; give a JSON Schema of type object.")
    return ToolDefinition(
        name=name, description=str(fields.get("description") or ""), input_schema=cast(JsonObject, schema)
    )


# --- writing ------------------------------------------------------------------------------------------------------
