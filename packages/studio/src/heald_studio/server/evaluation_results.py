"""The results of evaluations: the projects of one model, stack and day, together as a folder."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from time import time

import msgspec

from heald.core.ids import new_id
from heald.sessions.store import Store
from heald_studio.projects.document_store import DocumentStore


class EvaluationResults(msgspec.Struct, frozen=True, kw_only=True):
    """The projects in which one model rebuilt pictures in one stack on one day."""

    id: str
    model: str
    stack: str
    day: str
    """As ISO 8601 text, in UTC."""
    changed: float
    projects: dict[str, str] = {}
    """The id of the project for each picture."""

    @property
    def name(self) -> str:
        return f"{self.day} {self.model} {self.stack}"


class ResultsStore(DocumentStore[EvaluationResults]):
    """The folders of results in a session store."""

    def __init__(self, store: Store) -> None:
        missing = "There is no folder of results {}; list them to see which there are."
        super().__init__(store, "evaluation", EvaluationResults, missing)
        self._adding = asyncio.Lock()

    async def open(self, owner: str, model: str, stack: str) -> EvaluationResults:
        """Return today's folder of a model and a stack, a new one if there is none."""
        day = datetime.now(UTC).date().isoformat()
        for listed in await self.list_all(owner):
            if (listed.model, listed.stack, listed.day) == (model, stack, day):
                return listed
        results = EvaluationResults(id=new_id("evl"), model=model, stack=stack, day=day, changed=time())
        await self.create(owner, results.id, results.name, results)
        return results

    async def add(self, owner: str, name: str, picture: str, project: str) -> None:
        async with self._adding:
            results = await self.get(owner, name)
            projects = {**results.projects, picture: project}
            changed = msgspec.structs.replace(results, projects=projects, changed=time())
            await self.put(name, changed)


def shared_pictures(every: Sequence[EvaluationResults]) -> list[str]:
    """Return the pictures that all of the folders have, sorted."""
    names = [set(results.projects) for results in every]
    return sorted(set[str].intersection(*names)) if names else []
