"""Notifies subscribers of the changes of projects."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager

from heald_studio.projects.project import Project


class ProjectFeed:
    """Sends each new state of a project to its subscribers. A slow one only gets the newest."""

    def __init__(self) -> None:
        self._queues: dict[str, set[asyncio.Queue[Project | None]]] = {}
        self._published: dict[str, float] = {}

    def publish(self, project: Project) -> None:
        if project.id in self._queues:
            self._published[project.id] = project.updated
        self._enqueue(project.id, project)

    def last_published(self, name: str) -> float:
        """Return the `updated` time of the state that was published last."""
        return self._published.get(name, 0.0)

    def close(self, name: str) -> None:
        """End the streams of a project that was deleted."""
        self._enqueue(name, None)

    @contextmanager
    def subscribe(self, name: str) -> Generator[AsyncGenerator[Project]]:
        """Open a stream of each new state of a project, until it is deleted."""
        queue: asyncio.Queue[Project | None] = asyncio.Queue(1)
        self._queues.setdefault(name, set()).add(queue)
        try:
            yield _iterate(queue)
        finally:
            self._queues[name].discard(queue)
            if not self._queues[name]:
                del self._queues[name]
                self._published.pop(name, None)

    def _enqueue(self, name: str, state: Project | None) -> None:
        for queue in self._queues.get(name, ()):
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(state)


async def _iterate(queue: "asyncio.Queue[Project | None]") -> AsyncGenerator[Project]:
    while (state := await queue.get()) is not None:
        yield state
