"""Whoever looks at a project is told when it changes. Only the newest state counts."""

import asyncio
from collections.abc import AsyncGenerator

from weft.studio.projects.project import Project


class Watchers:
    """Those who look, by project."""

    def __init__(self) -> None:
        self._places: dict[str, set[asyncio.Queue[Project]]] = {}

    def tell(self, project: Project) -> None:
        for place in self._places.get(project.id, ()):
            if place.full():
                place.get_nowait()
            place.put_nowait(project)

    async def of(self, name: str) -> AsyncGenerator[Project]:
        """Each new state of a project, as long as somebody asks for it."""
        place: asyncio.Queue[Project] = asyncio.Queue(1)
        self._places.setdefault(name, set()).add(place)
        try:
            while True:
                yield await place.get()
        finally:
            self._places[name].discard(place)
            if not self._places[name]:
                del self._places[name]
