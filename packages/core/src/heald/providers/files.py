"""Uploads files to a provider, for requests that would be too large otherwise.

The APIs limit the size of a request: 20 MB for Gemini, 32 MB for Anthropic, 50 MB for OpenAI. Messages keep their data;
only what is sent names the uploaded file instead.
"""

import asyncio
import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec.structs import replace

from heald.core.errors import InvalidRequest, MalformedResponse, ServerFault
from heald.core.json import JsonObject, as_object, encode
from heald.core.lazy import lazy_property
from heald.core.messages import Block, File, Image, Message
from heald.core.running_total import RunningTotal
from heald.providers.model import Model
from heald.providers.multipart import encode_form

if TYPE_CHECKING:
    from heald.providers.api_call import ApiReply

_LEAST = 256 * 1024
"""Smaller files stay in the request."""
_SECONDS = 600.0
_POLL_SECONDS = 1.0
_POLLS = 120
_ANTHROPIC_BETA = {"anthropic-beta": "files-api-2025-04-14"}
_PLACES = {"messages": "/files", "chat": "/files", "responses": "/files"}


async def upload_file(model: Model, data: bytes, media_type: str, name: str = "file") -> str:
    """Upload a file to the provider of a model and return its id, for `File(file_id=…)`. Gemini's id is a URI."""
    match model.wire.name:
        case "messages":
            return await _upload_form(model, {}, data, media_type, name, _ANTHROPIC_BETA)
        case "chat" | "responses":
            return await _upload_form(model, {"purpose": "user_data"}, data, media_type, name, {})
        case "gemini":
            return await _upload_resumable(model, data, media_type, name)
        case wire:
            raise InvalidRequest(f"The {wire} wire has no Files API; send the data itself, or a URL.")


async def _upload_form(
    model: Model, fields: dict[str, str], data: bytes, media_type: str, name: str, headers: dict[str, str]
) -> str:
    from heald.providers.api_call import call_api

    boundary, body = encode_form(fields, data, media_type, name)
    form = {"content-type": f"multipart/form-data; boundary={boundary}", **headers}
    url = f"{model.base_url}{_PLACES[model.wire.name]}"
    reply = await call_api(model, url, body=body, headers=form, seconds=_SECONDS)
    return _read_id(reply.object(), "id")


async def _upload_resumable(model: Model, data: bytes, media_type: str, name: str) -> str:
    """Upload to Gemini: one request that announces the file, one with its bytes."""
    from heald.providers.api_call import call_api

    parts = urlsplit(model.base_url)
    start = await call_api(
        model,
        f"{parts.scheme}://{parts.netloc}/upload{parts.path}/files",
        body=encode({"file": {"displayName": name}}),
        headers={
            "x-goog-upload-protocol": "resumable",
            "x-goog-upload-command": "start",
            "x-goog-upload-header-content-length": str(len(data)),
            "x-goog-upload-header-content-type": media_type,
        },
    )
    place = start.headers.get("x-goog-upload-url", "")
    if urlsplit(place).netloc != parts.netloc:
        raise MalformedResponse("The server did not name a place on its own host for the upload; nothing was sent.")
    command = {"x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0", "content-type": media_type}
    reply = await call_api(model, place, body=data, headers=command, seconds=_SECONDS)
    return await _wait_until_active(model, reply)


async def _wait_until_active(model: Model, reply: "ApiReply") -> str:
    from heald.providers.api_call import call_api

    file = as_object(reply.object().get("file"))
    for _ in range(_POLLS):
        match file.get("state"):
            case "PROCESSING":
                await asyncio.sleep(_POLL_SECONDS)
                file = (await call_api(model, f"{model.base_url}/{_read_id(file, 'name')}", method="GET")).object()
            case "FAILED":
                raise ServerFault("The provider could not read the uploaded file; check its type.")
            case _:
                return _read_id(file, "uri")
    raise ServerFault("The provider did not finish with the uploaded file in time; try again.")


def _read_id(answer: JsonObject, key: str) -> str:
    file_id = answer.get(key)
    if not isinstance(file_id, str) or not file_id:
        raise MalformedResponse(f"The answer to the upload has no {key!r}; check the base URL and the wire.")
    return file_id


class UploadedFiles:
    """The files of one conversation that were uploaded, and the messages that name them."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._limit = model.endpoint.quirks.upload_over
        self._ids: dict[str, str] = {}  # by data
        self._replaced: dict[int, tuple[Message, Message]] = {}  # by the identity of the message, which is kept alive

    def wants_upload(self, messages: list[Message]) -> bool:
        """Whether the request would hold more data than the limit of the endpoint."""
        return self._limit is not None and self._data.of(messages) > self._limit

    @lazy_property
    def _data(self) -> RunningTotal:
        return RunningTotal(_message_data)

    async def upload(self, messages: Sequence[Message]) -> None:
        """Upload the large files of the messages, each once."""
        for message in messages:
            if id(message) in self._replaced or all(_data_size(block) < _LEAST for block in message.content):
                continue
            content = [await self._named(block) for block in message.content]
            self._replaced[id(message)] = (message, replace(message, content=content))

    def replace(self, messages: list[Message]) -> list[Message]:
        """Return the messages with the ids of uploaded files in place of their data."""
        if not self._replaced:
            return messages
        return [self._replaced.get(id(message), (message, message))[1] for message in messages]

    async def _named(self, block: Block) -> Block:
        """Return a large block with the id of its file, which is uploaded if it is new."""
        if not isinstance(block, Image | File) or block.data is None or len(block.data) < _LEAST:
            return block
        if block.data not in self._ids:
            name = (block.name if isinstance(block, File) else None) or "file"
            data = base64.b64decode(block.data)
            self._ids[block.data] = await upload_file(self._model, data, block.media_type, name)
        return replace(block, file_id=self._ids[block.data], data=None)


def _message_data(message: Message) -> int:
    return sum(map(_data_size, message.content))


def _data_size(block: Block) -> int:
    return len(block.data) if isinstance(block, Image | File) and block.data is not None else 0
