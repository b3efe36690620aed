"""Stores design systems: named texts with the rules of a design, each of one owner.

A design system is a session without a conversation, as a project is; its settings hold the text.
"""

from datetime import UTC, datetime
from typing import cast

import msgspec

from weft.core.errors import NotFound
from weft.core.ids import new_id
from weft.core.json import JsonObject
from weft.sessions.store import NoSuchSession, SessionInfo, Store
from weft.studio.request import parse_design_system

KIND = "design_system"
_FIELD = "design_system"
_MOST_LISTED = 200


class NoSuchDesignSystem(NotFound):
    """There is no design system of that id, or it belongs to another owner."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no design system {name[:100]!r}; list them to see which there are.")


class StoredDesignSystem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    id: str
    name: str
    content: str
    created_at: str
    """As ISO 8601 text, like `updated_at`."""
    updated_at: str


class DesignSystemStore:
    """The design systems in a session store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def list(self, owner: str) -> list[StoredDesignSystem]:
        page = await self._store.list(owner=owner, kind=KIND, limit=_MOST_LISTED)
        return [_read(info) for info in page.sessions]

    async def add(self, owner: str, name: str, content: str) -> StoredDesignSystem:
        """Store a design system. Raises BadInput if it is too long for a prompt."""
        parsed = parse_design_system(content, name)
        now = datetime.now(UTC).isoformat()
        added = StoredDesignSystem(
            id=new_id("dsy"), name=parsed.name, content=parsed.text, created_at=now, updated_at=now
        )
        info = SessionInfo(id=added.id, owner=owner, kind=KIND, title=added.name, settings=_settings(added))
        await self._store.create(info)
        return added

    async def change(
        self, owner: str, name: str, *, title: str | None = None, content: str | None = None
    ) -> StoredDesignSystem:
        before = await self.get(owner, name)
        parsed = parse_design_system(before.content if content is None else content, title or before.name)
        changed = msgspec.structs.replace(
            before, name=parsed.name, content=parsed.text, updated_at=datetime.now(UTC).isoformat()
        )
        await self._store.configure(name, _settings(changed))
        if changed.name != before.name:
            await self._store.rename(name, changed.name)
        return changed

    async def get(self, owner: str, name: str) -> StoredDesignSystem:
        try:
            info = await self._store.info(name)
        except NoSuchSession:
            raise NoSuchDesignSystem(name) from None
        if info.owner != owner or info.kind != KIND:
            raise NoSuchDesignSystem(name)
        return _read(info)

    async def delete(self, owner: str, name: str) -> None:
        await self.get(owner, name)
        await self._store.delete(name)


def _settings(system: StoredDesignSystem) -> JsonObject:
    return {_FIELD: cast(JsonObject, msgspec.to_builtins(system))}


def _read(info: SessionInfo) -> StoredDesignSystem:
    return msgspec.convert(info.settings.get(_FIELD), StoredDesignSystem)
