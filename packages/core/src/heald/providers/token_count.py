"""Counts the input tokens of the next turn before it is sent: by the provider where its API does that, else estimated.

counted = await count_tokens(session)
counted.tokens, counted.exact, counted.context_window
"""

from collections.abc import Sequence
from typing import cast

import msgspec

from heald.core.errors import ProviderError
from heald.core.json import JsonObject, as_int, encode, encode_text
from heald.core.messages import Block, File, Image, Message, Reasoning, Text, ToolCall, ToolDefinition, ToolResult
from heald.core.turn import Settings
from heald.providers.api_call import call_api
from heald.providers.base import ProviderSession
from heald.providers.context_size import find_context_size
from heald.providers.model import Model
from heald.providers.session import WireSession
from heald.wires.request import TurnRequest

_BYTES_PER_TOKEN = 3.5
_PICTURE_TOKENS = 1500
_BYTES_PER_PAGE_TOKEN = 20.0
_MESSAGE_TOKENS = 4
_SECONDS = 20.0


class TokenCount(msgspec.Struct, frozen=True, kw_only=True):
    """The input tokens of a request."""

    tokens: int
    exact: bool
    """The provider counted them. Otherwise they are estimated from the length."""
    context_window: int | None = None
    """The size of the model's context, if it is known."""

    @property
    def left(self) -> int | None:
        """The tokens that are left in the context; None if its size is unknown."""
        return None if self.context_window is None else max(self.context_window - self.tokens, 0)


async def count_tokens(session: ProviderSession) -> TokenCount:
    """Count the input tokens of a session's next turn. A provider that cannot count, or fails to, is not an error."""
    estimated = estimate_tokens(session.messages, session.tools, session.settings)
    if not isinstance(session, WireSession):
        return TokenCount(tokens=estimated, exact=False)
    window = await find_context_size(session.model)
    try:
        counted = await _count(session.model, await session.prepare_request())
    except ProviderError:
        counted = None
    if counted is None:
        return TokenCount(tokens=estimated, exact=False, context_window=window)
    return TokenCount(tokens=counted, exact=True, context_window=window)


def estimate_tokens(
    messages: Sequence[Message], tools: Sequence[ToolDefinition] = (), settings: Settings | None = None
) -> int:
    """Estimate the input tokens of a request from its length."""
    size = len((settings or Settings()).system.encode()) / _BYTES_PER_TOKEN
    size += sum(len(encode(tool)) for tool in tools) / _BYTES_PER_TOKEN
    for message in messages:
        size += _MESSAGE_TOKENS + sum(_estimate_block(block) for block in message.content)
    return round(size)


def estimate_text(text: str) -> int:
    """Estimate the tokens of a text from its length."""
    return round(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)


def _estimate_block(block: Block) -> float:
    match block:
        case Text(text=text) | Reasoning(text=text):
            return len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN
        case Image():
            return _PICTURE_TOKENS
        case File(data=data):
            return max(len(data or "") * 3 / 4 / _BYTES_PER_PAGE_TOKEN, _MESSAGE_TOKENS)
        case ToolCall(name=name, input=arguments):
            return _MESSAGE_TOKENS + (len(name) + len(encode_text(arguments))) / _BYTES_PER_TOKEN
        case ToolResult(content=str(text)):
            return _MESSAGE_TOKENS + len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN
        case ToolResult(content=parts):
            return _MESSAGE_TOKENS + sum(_estimate_block(part) for part in cast("list[Block]", parts))
        case _:
            return 0.0


async def _count(model: Model, request: TurnRequest) -> int | None:
    """Let the provider count. None if its API has no such call."""
    counting = counting_request(model, request)
    if counting is None:
        return None
    url, body = counting
    headers = model.wire.build_headers(request)
    answer = (await call_api(model, url, body=encode(body), headers=headers, seconds=_SECONDS)).object()
    counts = (as_int(answer.get(key)) for key in ("input_tokens", "totalTokens", "inputTokens"))
    return next((count for count in counts if count is not None), None)


def counting_request(model: Model, request: TurnRequest) -> tuple[str, JsonObject] | None:
    """Return the address and the body of the call that counts the tokens of a request."""
    if model.wire.encode_count is None:
        return None
    path, body = model.wire.encode_count(request, model.wire.build_request(request))
    return model.base_url + path, body
