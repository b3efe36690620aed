"""The memory of an agent: a book about the person and a book about the project."""

from collections.abc import Sequence
from functools import cached_property

from heald.core.errors import ConfigurationError
from heald.tools.definitions import Tool
from heald.tools.memory.book import MemoryBook
from heald.tools.memory.fact import Evidence, Fact, FactScope, FactSubject


class FactBooks:
    """The facts of both books as one list. A fact is in the book that the letter of its id names."""

    def __init__(self, project: MemoryBook, person: MemoryBook | None = None) -> None:
        self.project = project
        self.person = person

    @property
    def _books(self) -> list[MemoryBook]:
        return [self.project] if self.person is None else [self.person, self.project]

    def facts(self, session: str = "") -> list[Fact]:
        """Return the facts that count in every conversation, and in that of a session."""
        return [
            fact
            for book in self._books
            for fact in book.facts()
            if fact.scope == "lasting" or any(event.session == session for event in fact.evidence)
        ]

    @property
    def state(self) -> tuple[object, ...]:
        """A value that differs after each change."""
        return tuple(book.state for book in self._books)

    def add(
        self, text: str, about: FactSubject, evidence: Sequence[Evidence] = (), *, scope: FactScope = "lasting"
    ) -> Fact:
        """Add a fact. See `MemoryBook.add`."""
        book = self.person if about == "person" and self.person is not None else self.project
        return book.add(text, about, evidence, scope=scope)

    def replace(self, fact_id: str, text: str) -> Fact:
        """Change the words of a fact."""
        return self._find(fact_id).replace(fact_id, text)

    def keep(self, fact_id: str) -> Fact:
        """Let a fact count in every conversation."""
        return self._find(fact_id).keep(fact_id)

    def remove(self, fact_id: str) -> Fact:
        """Remove a fact."""
        return self._find(fact_id).remove(fact_id)

    def rewind(self, session: str, at: int, to: int) -> None:
        """Note that a session continues from an earlier event."""
        for book in self._books:
            book.rewind(session, at, to)

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """The tools `remember` and `forget`."""
        from heald.tools.memory.tools import memory_tools

        return memory_tools(self)

    def find(self, words: str, session: str = "") -> Fact:
        """Return the fact of an id, or the only one that holds these words. Raises ConfigurationError if there is
        none."""
        facts = self.facts(session)
        matches = [fact for fact in facts if fact.id == words] or [
            fact for fact in facts if words.strip(" .").casefold() in fact.text.casefold()
        ]
        if len(matches) != 1:
            problem = "There is no fact" if not matches else f"{len(matches)} facts match; give the id of"
            raise ConfigurationError(f"{problem} {words[:60]!r} in the memory.")
        return matches[0]

    def _find(self, fact_id: str) -> MemoryBook:
        for book in self._books:
            if fact_id.startswith(book.letter):
                return book
        raise ConfigurationError(f"There is no fact {fact_id[:20]!r} in the memory.")
