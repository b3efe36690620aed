"""Makes large messages of MCP servers small before the MCP package parses them.

The package parses a message in one step that blocks the event loop. Here a message is measured first: one that is too
large becomes an error response. The schemas of listed tools are moved out of the message, as bytes, and compiled later
in a thread. Structured content that is large becomes text.
"""

import asyncio
import re
from hashlib import sha256

import msgspec
from msgspec import Raw

from heald.core.json import JsonObject

MAX_MESSAGE = 8 * 1024 * 1024
"""Maximum bytes of a message."""
SCHEMA_KEY = "x-heald-schema"
"""Stands in the place of a schema, with its digest."""
_SMALL = 32 * 1024
_MAX_STRINGS = 200_000
"""Maximum strings of a message that is scanned."""
_MAX_OUTSIDE = 2 * 1024 * 1024
"""Maximum bytes of it that are not in strings."""
_PARSED_STRINGS, _PARSED_OUTSIDE = 20_000, 256 * 1024
"""The same for a message that is parsed whole."""
_MAX_STRUCTURED = 32 * 1024
_MAX_HELD = 64 * 1024 * 1024
_SLICE = 64 * 1024
_MARK = b'"inputSchema"'
_HEADERS = b"x-mcp-header"
_ID = re.compile(rb'"id"\s*:\s*(\d{1,15})\s*[,}]')
_HEAD = 400
_members = msgspec.json.Decoder(dict[str, Raw])
_items = msgspec.json.Decoder(list[Raw])


class MessageTooLarge(ValueError):
    """A message is too large to be parsed."""


class RawSchemas:
    """The schemas of listed tools as they arrived, by digest, until the tools are read."""

    def __init__(self) -> None:
        self._held: dict[str, bytes] = {}
        self._size = 0

    def add(self, raw: bytes) -> str:
        digest = sha256(raw).hexdigest()
        if digest not in self._held:
            self._size += len(raw)
            if self._size > _MAX_HELD:
                raise MessageTooLarge
            self._held[digest] = raw
        return digest

    def find(self, schema: JsonObject) -> bytes | JsonObject:
        """Return the schema of a listed tool as bytes. A schema that is still in its place is returned unchanged."""
        return self._held.get(str(schema.get(SCHEMA_KEY)), schema)

    def clear(self) -> None:
        self._held, self._size = {}, 0


async def shrink_message(message: bytes, schemas: RawSchemas) -> bytes:
    """Return the message without what is large in it, or an error response in its place."""
    if len(message) <= _SMALL and _MARK not in message:
        return message
    try:
        return await _shrink(message, schemas)
    except (MessageTooLarge, RecursionError):
        return error_response(message)
    except msgspec.DecodeError:
        return message if len(message) <= _SMALL else b""


def error_response(message: bytes) -> bytes:
    """Return a response for the request that a message answers, or no message if it does not show its id."""
    id_match = _ID.search(message[:_HEAD]) or _ID.search(message[-_HEAD:])
    if id_match is None:
        return b""
    error = {"code": -32603, "message": "The message is too large."}
    return msgspec.json.encode({"jsonrpc": "2.0", "id": int(id_match[1]), "error": error})


async def _shrink(message: bytes, schemas: RawSchemas) -> bytes:
    if len(message) > MAX_MESSAGE:
        raise MessageTooLarge
    strings, outside = await _measure(message)
    envelope = _members.decode(message)
    result = envelope.get("result")
    if result is not None and _begins(result, b"{"):
        members = _members.decode(result)
        await asyncio.sleep(0)
        if "tools" in members and _begins(members["tools"], b"["):
            members["tools"] = await _without_schemas(members["tools"], schemas)
        elif len(memoryview(members.get("structuredContent", b""))) > _MAX_STRUCTURED:
            _structured_to_text(members)
        else:
            return _check_parsed(message, strings, outside)
        envelope["result"] = Raw(msgspec.json.encode(members))
        message = msgspec.json.encode(envelope)
        strings, outside = await _measure(message)
    return _check_parsed(message, strings, outside)


async def _measure(message: bytes) -> tuple[int, int]:
    """Return the number of strings of a message and the bytes outside of them. Raises MessageTooLarge."""
    quotes = outside = start = 0
    while start < len(message):
        stop = start + _SLICE
        while message[stop - 1 : stop] == b"\\":  # an escape is not divided
            stop += 1
        part = message[start:stop]
        if b"\\" in part:
            part = part.replace(b"\\\\", b"").replace(b'\\"', b"")
        pieces = part.split(b'"')
        outside += sum(map(len, pieces[quotes % 2 :: 2]))
        quotes += len(pieces) - 1
        if quotes > 2 * _MAX_STRINGS or outside > _MAX_OUTSIDE:
            raise MessageTooLarge
        start = stop
        await asyncio.sleep(0)
    return quotes // 2, outside


def _check_parsed(message: bytes, strings: int, outside: int) -> bytes:
    if strings > _PARSED_STRINGS or outside > _PARSED_OUTSIDE:
        raise MessageTooLarge
    return message


def _begins(raw: Raw, sign: bytes) -> bool:
    return memoryview(raw)[:1].tobytes() == sign


async def _without_schemas(tools: Raw, schemas: RawSchemas) -> Raw:
    light: list[Raw] = []
    for tool in _items.decode(tools):
        members = _members.decode(tool)
        schema = members.get("inputSchema")
        if schema is not None and _begins(schema, b"{"):
            schema = bytes(schema)
            digest = schemas.add(schema)
            if _HEADERS not in schema:  # the MCP package reads these headers from the schema itself
                members["inputSchema"] = Raw(msgspec.json.encode({"type": "object", SCHEMA_KEY: digest}))
        members.pop("outputSchema", None)
        light.append(Raw(msgspec.json.encode(members)))
        await asyncio.sleep(0)
    return Raw(msgspec.json.encode(light))


def _structured_to_text(members: dict[str, Raw]) -> None:
    """Replace structured content by its text, unless the content has a text, which repeats it by convention."""
    structured = members.pop("structuredContent")
    try:
        content = _items.decode(members.get("content", Raw(b"[]")))
        texts = [part for part in content if bytes(_members.decode(part).get("type", b"")) == b'"text"']
    except msgspec.DecodeError:
        return
    if not texts:
        text = {"type": "text", "text": bytes(structured).decode("utf-8", "replace")}
        members["content"] = Raw(msgspec.json.encode([*content, text]))
