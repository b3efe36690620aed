"""A book of facts: a file that only its owner may read, and that several processes may change."""

import os
import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from time import time

import msgspec

from heald.config.paths import write_private_file
from heald.core.errors import ConfigurationError
from heald.tools.memory.fact import Evidence, Fact, FactScope, FactSubject, Rewind, is_undone

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None

MAX_TEXT = 400
"""The most characters of a fact."""
MAX_LASTING = 200
_MAX_OF_SESSION = 60
_MAX_FACTS = 600


class BookContent(msgspec.Struct, frozen=True, omit_defaults=True):
    """The content of the file of a book."""

    folder: str = ""
    """The folder that the facts are about, for people who read the file."""
    last: int = 0
    """The number of the last fact."""
    facts: tuple[Fact, ...] = ()
    rewinds: dict[str, tuple[Rewind, ...]] = {}
    """The rewinds of sessions that facts came from."""


class MemoryBook:
    """The facts about a person, or about a project. Without a path they are kept in this process only.

    Every method reads the file if another process changed it. A fact whose events are all undone is hidden until they
    are redone; one that is removed is removed from the file too.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, letter: str = "f", folder: str = "") -> None:
        """`letter` begins the ids of the facts."""
        self.path = Path(path) if path is not None else None
        self.letter = letter
        self._content = BookContent(folder)
        self._stamp: tuple[int, int, int] | None = None

    def facts(self) -> list[Fact]:
        """Return the facts in their order, without those that are undone."""
        content = self._read()
        return [fact for fact in content.facts if not _is_hidden(fact, content)]

    @property
    def state(self) -> object:
        """A value that differs after each change."""
        return self._read()

    def add(
        self, text: str, about: FactSubject, evidence: Sequence[Evidence] = (), *, scope: FactScope = "lasting"
    ) -> Fact:
        """Add a fact. One with the same words gets the further evidence. Raises ConfigurationError if it cannot."""
        text = clean_text(text)
        with self._changing() as content:
            same = next((fact for fact in content.facts if _key(fact.text) == _key(text)), None)
            if same is not None:
                merged = (*same.evidence, *(event for event in evidence if event not in same.evidence))
                is_lasting = "lasting" in (scope, same.scope)
                fact = msgspec.structs.replace(
                    same, evidence=merged, scope="lasting" if is_lasting else "session", text=text
                )
                facts = tuple(fact if other is same else other for other in content.facts)
                self._write(msgspec.structs.replace(content, facts=facts))
                return fact
            _check_room(content, scope)
            number = content.last + 1
            fact = Fact(
                id=f"{self.letter}{number}",
                text=text,
                about=about,
                evidence=tuple(evidence),
                scope=scope,
                time=round(time(), 3),
            )
            facts = _prune((*content.facts, fact))
            self._write(msgspec.structs.replace(content, last=number, facts=facts))
            return fact

    def replace(self, fact_id: str, text: str) -> Fact:
        """Change the words of a fact, and keep it in every conversation. Raises ConfigurationError if there is none."""
        text = clean_text(text)
        return self._change(fact_id, lambda fact: msgspec.structs.replace(fact, text=text, scope="lasting"))

    def keep(self, fact_id: str) -> Fact:
        """Let a fact of one conversation count in every one. Raises ConfigurationError if there is none."""
        return self._change(fact_id, lambda fact: msgspec.structs.replace(fact, scope="lasting"))

    def remove(self, fact_id: str) -> Fact:
        """Remove a fact from the file. Raises ConfigurationError if there is none."""
        with self._changing() as content:
            fact = _find(content, fact_id)
            self._write(
                msgspec.structs.replace(content, facts=tuple(other for other in content.facts if other is not fact))
            )
            return fact

    def clear(self) -> int:
        """Remove all facts. Returns how many there were."""
        with self._changing() as content:
            self._write(msgspec.structs.replace(content, facts=(), rewinds={}))
            return len(content.facts)

    def rewind(self, session: str, at: int, to: int) -> None:
        """Note that the event `at` of a session continues its conversation from the event `to`."""
        if not any(event.session == session for fact in self._read().facts for event in fact.evidence):
            return
        with self._changing() as content:
            noted = content.rewinds.get(session, ())
            if noted and noted[-1].at >= at:
                return
            rewinds = {**content.rewinds, session: (*noted, Rewind(at, to))}
            self._write(msgspec.structs.replace(content, rewinds=rewinds))

    def _change(self, fact_id: str, change: Callable[[Fact], Fact]) -> Fact:
        with self._changing() as content:
            fact = _find(content, fact_id)
            changed = change(fact)
            facts = tuple(changed if other is fact else other for other in content.facts)
            self._write(msgspec.structs.replace(content, facts=facts))
            return changed

    @contextmanager
    def _changing(self) -> Generator[BookContent]:
        """Hold the lock of the file, and give what is in it."""
        if self.path is None or fcntl is None:
            yield self._read()
            return
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigurationError(f"The memory {self.path} cannot be changed: {error.strerror}.") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield self._read()
        finally:
            os.close(handle)

    def _read(self) -> BookContent:
        if self.path is None:
            return self._content
        try:
            status = os.stat(self.path)
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp != self._stamp:
                self._content = msgspec.json.decode(self.path.read_bytes(), type=BookContent)
                self._stamp = stamp
        except FileNotFoundError:
            if self._stamp is not None:
                self._content, self._stamp = BookContent(self._content.folder), None
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"The memory {self.path} cannot be read: {error}; mend or delete it.") from None
        return self._content

    def _write(self, content: BookContent) -> None:
        if self.path is not None:
            write_private_file(self.path, msgspec.json.format(msgspec.json.encode(content), indent=1), "The memory")
            status = os.stat(self.path)
            self._stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        self._content = content


def book_path(data: Path, owner: str, folder: str | None) -> Path:
    """Return the path of the book about a folder, or about the person if there is none, of an owner of sessions."""
    name = sha256(f"{owner}\0{folder or ''}".encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return data / "memory" / f"{'person' if folder is None else 'project'}-{name}.json"


def clean_text(text: str) -> str:
    """Return the words of a fact in one line. Raises ConfigurationError if there are none, or too many."""
    text = " ".join(text.split())
    if not text or len(text) > MAX_TEXT:
        raise ConfigurationError(f"A fact needs a text of 1 to {MAX_TEXT} characters, not of {len(text)}.")
    return text


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().casefold()


def _is_hidden(fact: Fact, content: BookContent) -> bool:
    """Whether all events that a fact came from are undone."""
    return bool(fact.evidence) and all(
        is_undone(event.seq, content.rewinds.get(event.session, ())) for event in fact.evidence
    )


def _find(content: BookContent, fact_id: str) -> Fact:
    fact = next((fact for fact in content.facts if fact.id == fact_id and not _is_hidden(fact, content)), None)
    if fact is None:
        raise ConfigurationError(f"There is no fact {fact_id[:20]!r} in the memory.")
    return fact


def _check_room(content: BookContent, scope: FactScope) -> None:
    if scope == "lasting" and sum(fact.scope == "lasting" for fact in content.facts) >= MAX_LASTING:
        raise ConfigurationError(f"The memory is full: it has {MAX_LASTING} facts; forget those that no longer hold.")


def _prune(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Drop the oldest facts that count in one conversation only, where that has too many, or the book has."""
    last = facts[-1]
    dropped: set[str] = set()
    if last.scope == "session":
        session = last.evidence[-1].session if last.evidence else ""
        of_session = [fact.id for fact in facts if fact.scope == "session" and _is_of(fact, session)]
        dropped.update(of_session[:-_MAX_OF_SESSION])
    rest = [fact for fact in facts if fact.id not in dropped]
    if len(rest) > _MAX_FACTS:
        temporary = [fact.id for fact in rest if fact.scope == "session"]
        dropped.update(temporary[: len(rest) - _MAX_FACTS])
    return tuple(fact for fact in facts if fact.id not in dropped)


def _is_of(fact: Fact, session: str) -> bool:
    return any(event.session == session for event in fact.evidence)
