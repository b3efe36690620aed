"""Keeps the context of an agent within the size that its model accepts.

Tokens are estimated from the length of a request; the estimate learns from the usage that the endpoint reports.
"""

import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from heald.agent.compaction import (
    INSTRUCTIONS,
    RECENT,
    apply_compaction,
    find_cut,
    replacement,
    split_text,
    transcript,
)
from heald.core.context_events import CompactionReason, ConversationCompacted
from heald.core.errors import ProviderError
from heald.core.json import encode
from heald.core.messages import Block, File, Image, Message, Text, ToolCall, ToolDefinition, ToolResult, user_message
from heald.core.recent_results import RecentResults
from heald.core.running_total import RunningTotal
from heald.core.turn import Settings, Usage
from heald.providers.base import ProviderSession
from heald.providers.tool_host import LimitReached

if TYPE_CHECKING:
    from heald.agent.conversation import Conversation

_BYTES_PER_TOKEN = 3.2
_MESSAGE_TOKENS = 6  # the marks around a message
_IMAGE_TOKENS = 1000
_ASK_FROM = 700
"""Below this many tokens no endpoint is asked for its size: the request fits everywhere."""
_MARGIN = 1.04
_WORTH_IT = 0.1
"""The share of the context that a compaction must remove."""
_UNSURE = 0.15
"""Within this share of the limit the provider counts the tokens, if it can."""
_LEAST = 300
"""The fewest tokens of messages that are worth a summary."""
_REFUSED_SHARE = 0.7
"""The share of a refused request that the next one may have."""
_MAX_PARTS = 8
"""The largest number of requests for one summary."""
_MIN_SUMMARY, _MAX_SUMMARY = 160, 2000
_ROOM_TO_THINK = 4000
_LARGE_WINDOW = 32_000
_RESULT_SHARE = 8
"""The part of the context that one result may fill: an eighth."""
_LEAST_RESULT = 400
"""The tokens that a result may have in any context."""
_STATED_SIZE = (
    r"(?i)(?:context (?:length|size|window)|n_ctx|maximum(?: (?:prompt|input))?(?: (?:length|tokens|of))?|max_model_len"
    r"|limit|up to|only)\D{0,30}?(\d{3,7})|(\d{3,7})(?: tokens?)? (?:maximum|limit)"
)


def stated_window(error: ProviderError) -> int | None:
    """Return the context size that the words of an error state."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", str(error))
    sizes = [int(statement[1] or statement[2]) for statement in re.finditer(_STATED_SIZE, text)]
    return next((size for size in sizes if size >= 512), None)


class ContextWindow:
    """The size of a model's context, and what of it the conversation needs."""

    def __init__(self, conversation: "Conversation") -> None:
        self._conversation = conversation
        self._session: ProviderSession | None = None
        self._size: int | None = None
        self._asked = False
        self._factor = 1.0  # reported tokens for each estimated one
        self._total = RunningTotal(_message_size)
        self._fixed_parts: tuple[list[ToolDefinition], str, float] = ([], "", _MESSAGE_TOKENS)  # with their tokens
        self._sent = 0.0

    async def size(self) -> int | None:
        """The size of the current model's context in tokens; None if it is not known."""
        self._follow_model()
        if self._size is None and not self._asked:
            self._asked = True
            ask = getattr(self._conversation.session, "context_window", None)
            self._size = await ask() if ask is not None else None
        return self._size

    @property
    def known_size(self) -> int | None:
        """The size, if it is known without a request."""
        return self._size

    def tokens(self, messages: Sequence[Message] | None = None) -> int:
        """Estimate the input tokens of the next request, or of one with other messages."""
        return round(self._raw(messages) * self._factor)

    def estimate(self, session: ProviderSession) -> int:
        """Estimate the input tokens of a request of another session with the current model."""
        system = len(session.settings.system.encode("utf-8", "replace")) / _BYTES_PER_TOKEN
        return round((system + sum(map(_message_size, session.messages))) * self._factor)

    def measure_request(self) -> bool:
        """Note the length of the next request. Returns whether every model accepts one of its length."""
        session = self._follow_model()
        self._sent = self._fixed(session) + self._total.of(session.messages)
        return self._sent * self._factor < _ASK_FROM

    def after_request(self, usage: Usage) -> None:
        """Learn from the usage of that request."""
        first = usage.iterations[0] if usage.iterations else None
        reported = usage.total_input if first is None else first.total_input if first.kind == "message" else None
        if reported and reported > 50 and self._sent > 50:
            self._factor = min(max(reported / self._sent * _MARGIN, 0.4), 4.0)

    async def fit(self) -> ConversationCompacted | None:
        """Shorten the context if the next request would not fit."""
        size = await self.size()
        self._conversation.fit_tools(size)
        self._conversation.runtime.output_bytes = self._result_bytes(size)
        compaction = await self._fit(self._limit(size)) if size is not None else None
        self.measure_request()
        return compaction

    def _result_bytes(self, size: int | None) -> int | None:
        """Return the bytes that one result may have in a context of this size."""
        if size is None:
            return None
        return round(max(size // _RESULT_SHARE, _LEAST_RESULT) * _BYTES_PER_TOKEN / self._factor)

    async def _fit(self, limit: float) -> ConversationCompacted | None:
        if abs(self.tokens() - limit) < limit * _UNSURE:
            await self._count()
        return await self._compact("window", limit) if self.tokens() > limit else None

    async def _count(self) -> None:
        """Let the provider count the tokens of the next request, if its API does that."""
        from heald.providers.token_count import count_tokens

        counted = await count_tokens(self._conversation.session)
        if counted.exact:
            self._factor = counted.tokens / self._raw()

    async def shrink(self, error: ProviderError) -> ConversationCompacted | None:
        """Shorten a context that the endpoint refused as too long. Returns None if that would not help."""
        self._follow_model()
        stated = stated_window(error)
        if stated is not None:
            self._size = min(stated, self._size or stated)
        limit = self.tokens() * _REFUSED_SHARE
        if self._size is not None:
            limit = min(limit, self._limit(self._size))
        return await self._compact("refused", limit)

    async def compact(self) -> ConversationCompacted | None:
        """Shorten the context as far as it is sensible, because a person asked for it. Returns None if that would not
        help, or if an exchange has begun meanwhile."""
        await self.size()
        return await self._compact("requested", self.tokens() * 0.5, summarise=True)

    def _follow_model(self) -> ProviderSession:
        """Return the session of the current model. What is known of another model is forgotten."""
        session = self._conversation.session
        if session is not self._session:
            self._session, self._size, self._asked, self._factor = session, None, False, 1.0
        return session

    def _limit(self, size: int) -> float:
        """The most input tokens: the answer needs room as well."""
        answer_tokens = self._conversation.settings.max_output_tokens or 16_000
        return size - min(answer_tokens, size / 4)

    # --- shortening --------------------------------------------------------------------------------------------------

    async def _compact(
        self, reason: CompactionReason, limit: float, *, summarise: bool = False
    ) -> ConversationCompacted | None:
        messages = self._conversation.messages
        before = self.tokens()
        plan = ConversationCompacted(reason, shortened=max(len(messages) - RECENT, 0), tokens_before=before)
        shorter = apply_compaction(messages, plan)
        if not summarise and self.tokens(shorter) <= limit * 0.8:
            return self._finish(plan)
        room = max(limit - self._fixed(self._conversation.session) * self._factor, limit * 0.1)
        cut = find_cut(shorter, lambda message: _message_size(message) * self._factor, room * 0.4)
        if cut and before - self.tokens(messages[cut:]) >= max(before * _WORTH_IT, _LEAST):
            plan = await self._summarise(plan, shorter, cut, room)
        if self.tokens(apply_compaction(messages, plan)) > limit:
            characters = max(round(room * 0.1 * _BYTES_PER_TOKEN), 100)
            plan = msgspec.structs.replace(plan, shortened=len(messages), kept=min(characters, plan.kept))
        return self._finish(plan)

    def _finish(self, plan: ConversationCompacted) -> ConversationCompacted | None:
        """Change the context, if that is worth it."""
        conversation = self._conversation
        shorter = apply_compaction(conversation.messages, plan)
        after = self.tokens(shorter)
        if plan.tokens_before - after < plan.tokens_before * _WORTH_IT:
            return None
        if plan.reason == "requested" and conversation.exchange is not None:
            return None
        conversation.session.messages[:] = shorter
        return msgspec.structs.replace(plan, tokens_after=after)

    async def _summarise(
        self, plan: ConversationCompacted, messages: Sequence[Message], cut: int, room: float
    ) -> ConversationCompacted:
        """Replace messages by a summary of the model, or by rule if the model fails."""
        removed, rest = messages[:cut], messages[cut:]
        if self._conversation.settings.compact_by == "provider":
            from heald.agent.provider_compaction import compact_at_provider  # few conversations choose it

            if (compacted := await compact_at_provider(self._conversation, plan, removed, rest)) is not None:
                return compacted
        tokens = round(min(max(room * 0.25, _MIN_SUMMARY), _MAX_SUMMARY))
        text, usage, cost = await self._ask(transcript(removed), tokens)
        characters = round(tokens * _BYTES_PER_TOKEN / self._factor)
        message = replacement(removed, rest, text[: characters * 2] if text else None, max_characters=characters)
        return msgspec.structs.replace(
            plan,
            removed=cut,
            message=message,
            written_by="model" if text else "rule",
            usage=usage,
            cost_usd=cost,
        )

    async def _ask(self, text: str, tokens: int) -> tuple[str, Usage, float | None]:
        """Let the model summarise a text, in parts if it is long. Returns the summary with its usage and cost."""
        conversation = self._conversation
        size = self._size or max(self.tokens() * _REFUSED_SHARE, 4096)
        system = INSTRUCTIONS.format(words=round(tokens * 0.6))
        room = size - tokens - len(system) / _BYTES_PER_TOKEN * self._factor - 100
        characters = max(round(room * _BYTES_PER_TOKEN / self._factor * 0.85) - tokens * 4, 800)
        parts = split_text(text, characters)
        if len(parts) > _MAX_PARTS:
            parts = [parts[0], *parts[-(_MAX_PARTS - 1) :]]
        settings = _summary_settings(conversation.settings, system, tokens, size)
        summary, usage, cost = "", Usage(), 0.0
        for part in parts:
            request = f"Summary so far:\n{summary}\n\nThe messages after it:\n{part}" if summary else part
            session = conversation.models.open_aside([user_message(request)], settings)
            try:
                turn = await conversation.ask_aside(session)
            except (ProviderError, LimitReached) as error:
                logging.getLogger("heald").warning("The conversation could not be summarised: %s", error)
                return "", usage, cost
            finally:
                await session.close()
            usage += turn.usage + turn.discarded
            spent = turn.cost_usd if turn.cost_usd is not None else session.cost(turn.usage).usd
            if turn.discarded.total is not None:
                failed = session.cost(turn.discarded).usd
                spent = None if spent is None or failed is None else spent + failed
            cost = None if spent is None or cost is None else cost + spent
            if conversation.account is not None:
                conversation.account.count_aside(turn.usage + turn.discarded, spent)
            summary = turn.text.strip() or summary
        return summary, usage, cost

    # --- estimating --------------------------------------------------------------------------------------------------

    def _raw(self, messages: Sequence[Message] | None = None) -> float:
        session = self._conversation.session
        if messages is not None:
            return self._fixed(session) + sum(map(_message_size, messages))
        return self._fixed(session) + self._total.of(session.messages)

    def _fixed(self, session: ProviderSession) -> float:
        """The tokens of the instructions and tools."""
        tools, system, tokens = self._fixed_parts
        if tools != session.tools or system != session.settings.system:
            tools, system = list(session.tools), session.settings.system
            tokens = _fixed_tokens.find((tools, system)) or _fixed_tokens.add((tools, system), _measure(tools, system))
            self._fixed_parts = tools, system, tokens
        files = getattr(session, "text_files", None)
        return tokens if files is None else tokens + (len(files.attached) + files.format_size) / _BYTES_PER_TOKEN


def _summary_settings(settings: Settings, system: str, tokens: int, size: float) -> Settings:
    """The settings of a request for a summary. A large model gets room to think."""
    limit = tokens + (_ROOM_TO_THINK if size >= _LARGE_WINDOW else 0)
    return msgspec.structs.replace(
        settings,
        system=system,
        max_output_tokens=limit,
        tool_choice="auto",
        output_schema=None,
        stop_sequences=[],
        websocket=False,
    )


_fixed_tokens = RecentResults[float]()


def _measure(tools: Sequence[ToolDefinition], system: str) -> float:
    """Estimate the tokens of instructions and tools."""
    size = len(system.encode("utf-8", "replace")) + sum(len(encode(tool)) for tool in tools)
    return size / _BYTES_PER_TOKEN + _MESSAGE_TOKENS


def _message_size(message: Message) -> float:
    return sum(map(_block_size, message.content), _MESSAGE_TOKENS)


def _text_size(text: str) -> float:
    return (len(text) if text.isascii() else len(text.encode("utf-8", "replace"))) / _BYTES_PER_TOKEN


def _block_size(block: Block) -> float:
    if type(block) is Text:
        return _text_size(block.text)
    if type(block) is ToolResult:
        content = block.content
        return _text_size(content) if isinstance(content, str) else sum(map(_block_size, content))
    if type(block) is ToolCall:
        return len(encode(block)) / _BYTES_PER_TOKEN
    match block:
        case Image():
            return _IMAGE_TOKENS
        case File(data=data):
            return max(len(data or "") / 40, 500)
        case _:
            return len(encode(block)) / _BYTES_PER_TOKEN
