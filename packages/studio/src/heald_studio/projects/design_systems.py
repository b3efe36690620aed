"""Stores design systems."""

from datetime import UTC, datetime

import msgspec

from heald.core.ids import new_id
from heald.sessions.store import Store
from heald_studio.projects.document_store import DocumentStore
from heald_studio.prompt.design_system import parse_design_system


class StoredDesignSystem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    id: str
    name: str
    content: str
    created_at: str
    """As ISO 8601 text, like `updated_at`."""
    updated_at: str


class DesignSystemStore(DocumentStore[StoredDesignSystem]):
    """The design systems in a session store: named texts with the rules of a design."""

    def __init__(self, store: Store) -> None:
        missing = "There is no design system {}; list them to see which there are."
        super().__init__(store, "design_system", StoredDesignSystem, missing)

    async def add(self, owner: str, name: str, content: str) -> StoredDesignSystem:
        """Store a design system. Raises BadInput if it is too long for a prompt."""
        parsed = parse_design_system(content, name)
        now = datetime.now(UTC).isoformat()
        added = StoredDesignSystem(
            id=new_id("dsy"), name=parsed.name, content=parsed.text, created_at=now, updated_at=now
        )
        await self.create(owner, added.id, added.name, added)
        return added

    async def change(
        self, owner: str, name: str, *, title: str | None = None, content: str | None = None
    ) -> StoredDesignSystem:
        before = await self.get(owner, name)
        parsed = parse_design_system(before.content if content is None else content, title or before.name)
        changed = msgspec.structs.replace(
            before, name=parsed.name, content=parsed.text, updated_at=datetime.now(UTC).isoformat()
        )
        await self.put(name, changed)
        if changed.name != before.name:
            await self.store.rename(name, changed.name)
        return changed

    async def delete(self, owner: str, name: str) -> None:
        await self.get(owner, name)
        await self.store.delete(name)
