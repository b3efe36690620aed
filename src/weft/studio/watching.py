"""Whoever looks at a project is told when it changes. Only the newest state counts."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager

from weft.studio.projects.project import Project


class Watchers:
    """Those who look, by project."""

    def __init__(self) -> None:
        self._places: dict[str, set[asyncio.Queue[Project | None]]] = {}
        self._told: dict[str, float] = {}

    def tell(self, project: Project) -> None:
        if project.id in self._places:
            self._told[project.id] = project.updated
        self._put(project.id, project)

    def told(self, name: str) -> float:
        """When the project had last changed, of what its watchers were told."""
        return self._told.get(name, 0.0)

    def end(self, name: str) -> None:
        """The project is gone."""
        self._put(name, None)

    @contextmanager
    def at(self, name: str) -> Generator[AsyncGenerator[Project]]:
        """Each new state of a project from now on, until the project is gone."""
        place: asyncio.Queue[Project | None] = asyncio.Queue(1)
        self._places.setdefault(name, set()).add(place)
        try:
            yield _states(place)
        finally:
            self._places[name].discard(place)
            if not self._places[name]:
                del self._places[name]
                self._told.pop(name, None)

    def _put(self, name: str, state: Project | None) -> None:
        for place in self._places.get(name, ()):
            if place.full():
                place.get_nowait()
            place.put_nowait(state)


async def _states(place: "asyncio.Queue[Project | None]") -> AsyncGenerator[Project]:
    while (state := await place.get()) is not None:
        yield state
