"""Replaces messages by what the provider's own endpoint for compacting makes of them."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from heald.agent.compaction import replacement
from heald.core.context_events import ConversationCompacted
from heald.core.errors import ProviderError
from heald.core.messages import Message
from heald.core.turn import Usage
from heald.providers.compaction import CompactedConversation, can_compact, compact_conversation
from heald.providers.session import WireSession
from heald.providers.tool_host import LimitReached

if TYPE_CHECKING:
    from heald.agent.conversation import Conversation

_MAX_CHARACTERS = 4000
"""The length of the text that another provider is sent instead: the requests of the user."""


async def compact_at_provider(
    conversation: "Conversation", plan: ConversationCompacted, removed: Sequence[Message], rest: Sequence[Message]
) -> ConversationCompacted | None:
    """Let the provider compact the removed messages. None if its API cannot, or failed to.

    The message holds the provider's own form, and the requests as text for any other provider.
    """
    session = conversation.session
    if not can_compact(session):
        return None
    try:
        compacted = await _compact_within_budget(conversation, session, removed)
    except (ProviderError, LimitReached) as error:
        logging.getLogger("heald").warning("The provider could not compact the conversation: %s", error)
        return None
    await session.load_prices()
    cost = session.cost(compacted.usage).usd
    if conversation.account is not None:
        conversation.account.count_aside(compacted.usage, cost)
    text = replacement(removed, rest, None, max_characters=_MAX_CHARACTERS)
    return msgspec.structs.replace(
        plan,
        removed=len(removed),
        message=Message(role="assistant", content=text.content, native=compacted.native),
        written_by="provider",
        usage=compacted.usage,
        cost_usd=cost,
    )


async def _compact_within_budget(
    conversation: "Conversation", session: WireSession, removed: Sequence[Message]
) -> CompactedConversation:
    """Compact within the account of the running exchange. Raises LimitReached if that is used up."""
    account = conversation.account
    if account is None or not account.is_limited:
        return await compact_conversation(session, removed)
    await session.load_prices()
    tokens = conversation.window.tokens(removed)
    usd = session.cost(Usage(input=tokens)).usd
    reservation = await account.reserve(tokens=tokens, usd=usd or 0.0, turns=0)
    try:
        if (reached := account.reached(turns=False)) is not None:
            raise reached
        return await compact_conversation(session, removed)
    finally:
        reservation.release()
