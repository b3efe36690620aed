"""Lets models rebuild pictures in projects, and keeps the projects of one model, stack and day together as a folder.

A folder of results is a session without a conversation, as a project is; its settings name the projects.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import suppress
from importlib.resources.abc import Traversable

import msgspec

from heald.core.errors import HealdError
from heald.core.media import picture_type
from heald_studio.bad_input import BadInput
from heald_studio.export.single_page import single_page
from heald_studio.input.pictures import read_picture
from heald_studio.projects.project import Project, VariantRef
from heald_studio.request import BuildRequest, View
from heald_studio.server.evaluation_results import EvaluationResults, ResultsStore
from heald_studio.studio import Studio

_MOST_PICTURES = 500
_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
_AT_ONCE = 2
"""Pictures that one run works on at the same time."""


class EvaluationStep(msgspec.Struct, frozen=True, kw_only=True):
    """One picture of a run that is done."""

    picture: str
    error: str = ""
    """Why there is no page; empty if there is one."""


class Evaluations:
    """The folder of pictures that a studio is evaluated with, runs on them, and their results."""

    def __init__(self, studio: Studio, pictures: Traversable) -> None:
        self._studio = studio
        self._folder = pictures
        self.results = ResultsStore(studio.projects.store)

    def list_pictures(self) -> list[str]:
        """Return the names of the pictures, sorted."""
        return sorted(_list_pictures(self._folder, ""))[:_MOST_PICTURES]

    def check_pictures(self, names: Sequence[str]) -> None:
        """Raise BadInput for a picture that is not listed."""
        picture_names = set(self.list_pictures())
        unknown = next((name for name in names if name not in picture_names), None)
        if unknown is not None:
            message = f"There is no picture {unknown[:100]!r}; list the pictures to see which there are."
            raise BadInput(message, "not_found")

    async def run(self, owner: str, model: str, stack: str, pictures: Sequence[str]) -> AsyncGenerator[EvaluationStep]:
        """Rebuild pictures in projects of the owner. A caller that closes the generator cancels those that run."""
        results = await self.results.open(owner, model, stack)
        gate = asyncio.Semaphore(_AT_ONCE)

        async def build(picture: str) -> EvaluationStep:
            async with gate:
                return await self._build(owner, results, picture)

        tasks = [asyncio.create_task(build(picture)) for picture in pictures]
        try:
            for done in asyncio.as_completed(tasks):
                yield await done
        finally:
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)  # a caller that is cancelled meanwhile does not cancel them once more

    async def _build(self, owner: str, results: EvaluationResults, picture: str) -> EvaluationStep:
        try:
            request = await asyncio.to_thread(self._request, results, picture)
        except HealdError as error:
            return EvaluationStep(picture=picture, error=str(error))
        creating = asyncio.create_task(self._studio.create(owner, request))
        try:
            project = await asyncio.shield(creating)
            await self.results.add(owner, results.id, picture, project.id)
            (variant,) = (await self._studio.wait_version(owner, project.id, project.versions[0].id)).variants
        except HealdError as error:
            return EvaluationStep(picture=picture, error=str(error))
        except asyncio.CancelledError:
            with suppress(HealdError):
                project = await creating
                await self._studio.cancel(owner, project.id, VariantRef(project.versions[0].id, 0))
            raise
        if variant.status == "completed":
            return EvaluationStep(picture=picture)
        reason = variant.error.message if variant.error is not None else variant.note
        return EvaluationStep(picture=picture, error=reason or f"The model ended without a page: {variant.status}.")

    def _request(self, results: EvaluationResults, picture: str) -> BuildRequest:
        return BuildRequest(
            mode="image",
            views=(View(read_picture(self._read(picture), name=picture)),),
            stack=results.stack,
            models=(results.model,),
            variants=1,
            title=f"{picture.rpartition('.')[0]}, {results.name}",
        )

    def _read(self, picture: str) -> bytes:
        try:
            return self._folder.joinpath(picture).read_bytes()
        except OSError as error:
            raise BadInput(f"The picture {picture[:100]!r} cannot be read: {error.strerror}.", "not_found") from None

    async def page(self, owner: str, results: EvaluationResults, picture: str) -> str:
        """Return the page of a picture as one document; empty if its project was deleted or has no page."""
        try:
            project = await self._studio.get(owner, results.projects.get(picture, ""))
            files = await self._studio.files(owner, project.id, VariantRef(project.versions[0].id, 0))
            stack = self._studio.find_stack(project.stack)
            return await asyncio.to_thread(single_page, stack, files, title=project.title)
        except HealdError:
            return ""

    async def target(self, owner: str, every: Sequence[EvaluationResults], picture: str) -> tuple[str, bytes]:
        """Return the media type and the bytes of the picture that the projects of some folders were built from."""
        for results in every:
            with suppress(HealdError):
                project = await self._studio.get(owner, results.projects.get(picture, ""))
                data = await self._first_target(project)
                return picture_type(data) or "image/png", data
        raise self.results.no_such(picture)

    async def _first_target(self, project: Project) -> bytes:
        return await self._studio.projects.store.blob(project.id, project.targets[0].blob)


def _list_pictures(folder: Traversable, prefix: str) -> Iterator[str]:
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _list_pictures(entry, f"{prefix}{entry.name}/")
        elif entry.name.lower().endswith(_SUFFIXES):
            yield f"{prefix}{entry.name}"
