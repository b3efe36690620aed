"""Stores documents in sessions, each of one owner."""

from typing import Generic, TypeVar, cast

import msgspec

from heald.core.errors import NotFound
from heald.core.json import JsonObject
from heald.sessions.session_info import SessionInfo
from heald.sessions.store import Store
from heald.sessions.store_errors import NoSuchSession

_MOST_LISTED = 200
T = TypeVar("T", bound=msgspec.Struct)


class NoSuchDocument(NotFound):
    """There is no document of that name, or it belongs to another owner."""


class DocumentStore(Generic[T]):
    """Documents of one kind in a session store. A document is the settings of a session without a conversation.

    `missing` is the sentence for a document that does not exist, with a place for its name.
    """

    def __init__(self, store: Store, kind: str, document: type[T], missing: str) -> None:
        self.store = store
        self._kind = kind
        self._document = document
        self._missing = missing

    def no_such(self, name: str) -> NoSuchDocument:
        return NoSuchDocument(self._missing.format(repr(name[:100])))

    async def create(self, owner: str, name: str, title: str, document: T) -> None:
        info = SessionInfo(id=name, owner=owner, kind=self._kind, title=title, settings=self._settings(document))
        await self.store.create(info)

    async def get(self, owner: str, name: str) -> T:
        try:
            info = await self.store.info(name)
        except NoSuchSession:
            raise self.no_such(name) from None
        if info.owner != owner or info.kind != self._kind:
            raise self.no_such(name)
        return self._read(info)

    async def list_all(self, owner: str) -> list[T]:
        page = await self.store.list(owner=owner, kind=self._kind, limit=_MOST_LISTED)
        return [self._read(info) for info in page.sessions]

    async def put(self, name: str, document: T) -> None:
        """Replace a document."""
        await self.store.configure(name, self._settings(document))

    def _settings(self, document: T) -> JsonObject:
        return {self._kind: cast(JsonObject, msgspec.to_builtins(document))}

    def _read(self, info: SessionInfo) -> T:
        return msgspec.convert(info.settings.get(self._kind), self._document)
