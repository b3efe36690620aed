"""Lets a provider compact a conversation, where its API has an endpoint for that.

The provider answers with items that stand for the conversation, some of them encrypted. They are sent back as they are.
"""

from collections.abc import Sequence
from typing import TypeGuard

import msgspec

from heald.core.errors import MalformedResponse
from heald.core.json import JsonObject, as_objects, encode
from heald.core.messages import Message, Native
from heald.core.turn import Usage
from heald.providers.api_call import call_api
from heald.providers.base import ProviderSession
from heald.providers.defaults import batches_of_context, tape_of_context
from heald.providers.session import WireSession
from heald.wires.request import TurnRequest
from heald.wires.responses_usage import parse_usage

_SECONDS = 300.0


class CompactedConversation(msgspec.Struct, frozen=True):
    """A conversation in the provider's own form."""

    native: Native
    usage: Usage


def can_compact(session: ProviderSession) -> TypeGuard[WireSession]:
    """Whether the settings choose the provider's endpoint, and the API and the provider have one. A recording and a
    batch hold turns only."""
    if not isinstance(session, WireSession) or session.settings.compact_by != "provider":
        return False
    if tape_of_context.get() is not None or batches_of_context.get() is not None:
        return False
    model = session.model
    return model.wire.encode_compaction is not None and "compaction_endpoint" not in model.endpoint.quirks.without


async def compact_conversation(session: WireSession, messages: Sequence[Message]) -> CompactedConversation:
    """Let the provider compact messages. Raises a ProviderError."""
    model = session.model
    assert model.wire.encode_compaction is not None
    request = TurnRequest(
        model=model.name,
        messages=list(messages),
        settings=session.settings,
        provider=model.provider,
        quirks=model.endpoint.quirks,
    )
    path, body = model.wire.encode_compaction(request, model.wire.build_request(request))
    headers = model.wire.build_headers(request)
    reply = await call_api(model, model.base_url + path, body=encode(body), headers=headers, seconds=_SECONDS)
    answer = reply.object()
    items: list[JsonObject] = as_objects(answer.get("output"))
    if not items:
        raise MalformedResponse("The provider compacted the conversation to nothing; it is summarised by the model.")
    native = Native(wire=model.wire.name, provider=model.provider, model=model.name, content=items)
    return CompactedConversation(native, parse_usage(answer, items))
