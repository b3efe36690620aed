"""Memory: gives a conversation the facts that earlier ones noted, and notes what its requests state.

The facts stand at the end of the instructions. They change only where the prompt is another one anyway, so that the
provider's cache of it holds: with the first turn, after a compaction, and when a fact was changed or is missing.
"""

import logging
import os
from collections.abc import Sequence

import msgspec

from heald.agent.conversation import Conversation
from heald.agent.strategy import NextRequest, Strategy, StreamTurn
from heald.core.arguments import checked
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError
from heald.core.events import ConversationSteered, ExchangeRequest, SessionRewound
from heald.core.messages import Message, ToolCall
from heald.providers.base import OnEvent, ProviderTurn
from heald.tools.definitions import Tool
from heald.tools.memory.book import MemoryBook
from heald.tools.memory.choice import MAX_TOKENS, choose_facts, describe_facts, missing_facts
from heald.tools.memory.fact import Evidence, Fact, FactSubject
from heald.tools.memory.fact_books import FactBooks
from heald.tools.memory.session_evidence import SessionEvidence
from heald.tools.memory.statements import find_statements

_log = logging.getLogger("heald")
_EVENTS = frozenset({ExchangeRequest.type, ConversationSteered.type, ToolCall.type, SessionRewound.type})
_SMALL_SHARE = 8
"""A context gives at most one token of so many to facts."""


class Memory:
    """Facts that outlive a conversation: `Agent(model, tools=memory.tools, strategies=[memory.strategy])`.

    Each fact names the events that it came from: the session and the number in its log. It has no effect while they
    are undone. A request holds at most 500 tokens of facts, those that have most in common with it.

    Args:
        project: The file of the facts about the project and of decisions. Without it, all facts end with the process.
        person: The file of the facts about the person, for all projects. By default they are in the other file.
    """

    def __init__(
        self, project: str | os.PathLike[str] | None = None, person: str | os.PathLike[str] | None = None
    ) -> None:
        self._books = FactBooks(MemoryBook(project), MemoryBook(person, letter="p") if person is not None else None)

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools `remember` and `forget`."""
        return self._books.tools

    def strategy(self) -> Strategy:
        """Return the strategy for one conversation."""
        return MemoryStrategy(self._books)

    def facts(self, session: str = "") -> list[Fact]:
        """Return the facts that count in every conversation, and those of a session."""
        return self._books.facts(session)

    @checked
    def add(self, text: str, about: FactSubject = "project") -> Fact:
        """Add a fact that a person states. Raises ConfigurationError if it is too long, or the memory is full."""
        return self._books.add(text, about)

    def replace(self, fact_id: str, text: str) -> Fact:
        """Change the words of a fact. Raises ConfigurationError if there is none."""
        return self._books.replace(fact_id, text)

    def keep(self, fact_id: str) -> Fact:
        """Let a fact of one conversation count in every one. Raises ConfigurationError if there is none."""
        return self._books.keep(fact_id)

    def remove(self, fact_id: str) -> Fact:
        """Remove a fact. Raises ConfigurationError if there is none."""
        return self._books.remove(fact_id)


class MemoryStrategy(Strategy):
    """Adds the facts for each request to its instructions."""

    def __init__(self, books: FactBooks, *, notes: bool = True) -> None:
        """With `notes` the statements of requests are noted."""
        self._books = books
        self._notes = notes
        self._evidence = SessionEvidence()
        self._chosen: list[Fact] | None = None
        self._base = ""
        self._length = 0
        self._exchange: str | None = None
        self._is_compacted = False

    def attach(self, conversation: Conversation) -> None:
        super().attach(conversation)
        self._evidence = conversation.runtime.session_objects.get(SessionEvidence)
        self._evidence.session = conversation.bus.session
        self._is_compacted = bool(conversation.messages) and _is_summary(conversation.messages[0])
        conversation.bus.subscribe(self._on_event, types=_EVENTS)

    async def before_turn(self, request: NextRequest) -> None:
        self._base = request.system
        request.system = self._add_to(request.system)

    async def stream_turn(self, stream: StreamTurn, on_event: OnEvent) -> ProviderTurn:
        """The context may have been compacted since the request was prepared: its facts are chosen anew then."""
        if self._has_shrunk():
            session, system = self.conversation.session, self._add_to(self._base)
            if session.settings.system != system:
                session.settings = msgspec.structs.replace(session.settings, system=system)
                self.conversation.window.measure_request()
        return await stream(on_event)

    def _add_to(self, system: str) -> str:
        try:
            chosen = self._choose()
        except ConfigurationError as error:
            _log.warning("%s", error)
            return system
        return f"{system}\n\n{describe_facts(chosen)}".strip() if chosen else system

    def _has_shrunk(self) -> bool:
        return len(self.conversation.messages) < self._length

    def _choose(self) -> list[Fact]:
        """Return the facts for the next request: those of the last one, as long as they will do."""
        conversation = self.conversation
        facts = self._books.facts(conversation.bus.session)
        has_shrunk, self._length = self._has_shrunk(), len(conversation.messages)
        self._is_compacted = self._is_compacted or has_shrunk
        if not self._is_compacted:  # what was stated in this conversation is still in its messages
            facts = [fact for fact in facts if not fact.is_only_of(conversation.bus.session)]
        request = _last_request(conversation.messages)
        if self._chosen is None or has_shrunk or not self._will_do(self._chosen, facts, request):
            size = conversation.window.known_size
            tokens = MAX_TOKENS if size is None else min(MAX_TOKENS, size // _SMALL_SHARE)
            self._chosen = choose_facts(facts, request, tokens)
        self._exchange = conversation.exchange
        return self._chosen

    def _will_do(self, chosen: list[Fact], facts: list[Fact], request: str) -> bool:
        """Whether the chosen facts still hold, and none is missing that the request needs and no message has."""
        by_id = {fact.id: fact.text for fact in facts}
        if any(by_id.get(fact.id) != fact.text for fact in chosen):
            return False
        if self.conversation.exchange == self._exchange:
            return True  # a fact that was noted meanwhile is in a message
        return not missing_facts(facts, chosen, request)

    def _on_event(self, event: Event) -> None:
        if event.session != self.conversation.bus.session:
            return
        match event.data:
            case ExchangeRequest(message=message) | ConversationSteered(message=message):
                self._evidence.add_request(event.seq, message.words)
                if self._notes:
                    self._note_statements(event.seq, message.words)
            case ToolCall(id=call_id):
                self._evidence.add_call(call_id, event.seq)
            case SessionRewound(seq=seq):
                self._evidence.rewind(event.seq, seq)
                self._books.rewind(event.session, event.seq, seq)
            case _:
                pass

    def _note_statements(self, seq: int, words: str) -> None:
        evidence = (Evidence(self.conversation.bus.session, seq),)
        for statement in find_statements(words):
            if self.conversation.runtime.hide_secrets(statement.text) != statement.text:
                continue
            try:
                self._books.add(statement.text, statement.about, evidence, scope=statement.scope)
            except ConfigurationError as error:
                _log.warning("%s", error)
                return


def _last_request(messages: Sequence[Message]) -> str:
    return next((message.words for message in reversed(messages) if message.role == "user"), "")


def _is_summary(message: Message) -> bool:
    return message.role == "user" and message.said == ""
