"""Drafts: the local converter builds the page of a version once, and its variants begin with that page."""

import asyncio
import logging
from collections.abc import Callable, Mapping

import msgspec

from heald.core.errors import HealdError
from heald.core.events import ExchangeResponse
from heald.core.messages import Message
from heald.sessions.settings import SessionSettings
from heald.sessions.store import iterate_events
from heald_studio.host import SessionHost
from heald_studio.preview.preview import has_page
from heald_studio.projects.exchange_result import await_result
from heald_studio.projects.project import Project, Variant, VariantScore, Version
from heald_studio.projects.session_files import read_session_files
from heald_studio.prompt.polish import DraftComparison, asks_for_more, polish_message
from heald_studio.prompt.texts import PromptTexts
from heald_studio.stacks.stack import Stack

DRAFT_IS_ENOUGH = "The draft shows no difference from the picture, so no model was called."
_log = logging.getLogger("heald_studio")


class DraftFailed(HealdError):
    """The converter made no page of the picture."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"No draft could be made: {reason.rstrip('.')}. Build without a draft, or retry it.")


class PolishRequest(msgspec.Struct, frozen=True):
    """The request of a variant that begins with a draft."""

    message: Message
    score: VariantScore | None
    """Of the draft; None if it could not be rendered."""
    is_needed: bool
    """Whether there is something to change."""


class _Draft(msgspec.Struct, frozen=True):
    files: Mapping[str, bytes]
    comparison: DraftComparison | None
    """None if it could not be rendered."""
    score: VariantScore | None


class Drafts:
    """Makes the drafts of versions, each once for all of its variants."""

    def __init__(self, host: SessionHost, texts: PromptTexts, find_stack: Callable[[str], Stack]) -> None:
        self._host = host
        self._texts = texts
        self._find_stack = find_stack
        self._tasks: dict[str, asyncio.Task[_Draft]] = {}  # by the session of the draft

    async def prepare(
        self, owner: str, project: Project, version: Version, variant: Variant, message: Message
    ) -> PolishRequest:
        """Put the draft of a version into the session of a variant, and return the request to polish it.

        `message` is the request to build the page. Raises DraftFailed."""
        draft = await self._make_once(owner, project, version, message)
        store = self._host.sessions.store
        settings = SessionSettings.of((await store.info(variant.session)).settings)
        stored = {path: await store.put_blob(variant.session, data) for path, data in draft.files.items()}
        await store.configure(variant.session, msgspec.structs.replace(settings, files=stored).data())
        return PolishRequest(
            polish_message(message, draft.files, draft.comparison, self._texts),
            draft.score,
            draft.comparison is None or draft.comparison.differs or asks_for_more(message),
        )

    async def close(self) -> None:
        """Stop waiting for drafts. The host keeps their exchanges running."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _make_once(self, owner: str, project: Project, version: Version, message: Message) -> _Draft:
        """Make the draft, or join the variant that is making it."""
        session = version.draft
        task = self._tasks.get(session)
        if task is None:
            task = self._tasks[session] = asyncio.create_task(
                self._make(owner, project, version, message), name=f"heald-draft-{session}"
            )
            task.add_done_callback(lambda done: self._forget(session, done))
        return await asyncio.shield(task)

    def _forget(self, session: str, task: "asyncio.Task[_Draft]") -> None:
        self._tasks.pop(session, None)
        if not task.cancelled():
            task.exception()  # its callers may all have been cancelled

    async def _make(self, owner: str, project: Project, version: Version, message: Message) -> _Draft:
        store = self._host.sessions.store
        stack = self._find_stack(project.stack)
        if not await self._is_made(version.draft):
            await self._convert(owner, version.draft, message)
        files = await read_session_files(store, version.draft)
        if not has_page(files, stack.entry):
            raise DraftFailed("the converter wrote no page")
        from heald_studio.score.changed_regions import find_changed_regions  # a server starts without numpy
        from heald_studio.score.scoring import compare_page, variant_score

        target = await store.blob(project.id, version.pictures[0].blob)
        try:
            score, *pictures = await compare_page(stack, files, target)
        except HealdError as error:
            _log.info("no score of a draft: %s", error)
            return _Draft(files, None, None)
        regions = await asyncio.to_thread(find_changed_regions, *pictures)
        return _Draft(files, DraftComparison(score, regions), variant_score(score))

    async def _is_made(self, session: str) -> bool:
        """Whether the converter is done, from an earlier try or process."""
        async for event in iterate_events(self._host.sessions.store, session):
            if isinstance(event.data, ExchangeResponse) and event.data.status == "completed":
                return True
        return False

    async def _convert(self, owner: str, session_id: str, message: Message) -> None:
        info = await self._host.sessions.store.info(session_id)
        async with self._host.use(info) as session:
            exchange = session.current  # an earlier process began it
            if exchange is None:
                async with self._host.admit(info, session):
                    exchange = session.send(message)
                self._host.begin(owner, exchange)
                await session.accepted(exchange)
            result = await await_result(exchange)
        if result.status != "completed":
            raise DraftFailed(
                result.error.message if result.error is not None else f"the converter was {result.status}"
            )
