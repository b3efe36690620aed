"""The files of the editor, with unsaved changes, and `run_command` in a terminal of it, if the user chose that instead
of the sandbox.

`EditorWorkspace` reads and writes through the editor, so that the agent sees what the person sees. Paths, links,
protected files, revisions and locks are those of the folder on disk. Tools run in threads and wait there for the
editor. The event loop itself cannot wait for it: what it reads, such as previews, comes from the disk.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from acp import Client, RequestError, schema
from pydantic import ValidationError

from heald.agent.background_loop import is_in_loop
from heald.tools.workspace.base import Change, FileEdit, OnChange
from heald.tools.workspace.contents import decode_text
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.path_errors import as_path_faults
from heald.tools.workspace.paths import PathFault, quote_path
from heald.tools.workspace.resolver import Resolver
from heald.tools.workspace.revisions import Step

EDITOR_SECONDS = 60.0
"""Time limit for one file operation of the editor."""
_NOT_FOUND = -32002
FAULTS = (RequestError, ValidationError, ConnectionError, TimeoutError)
"""The errors of a request to the editor."""


def describe_fault(error: Exception) -> str:
    """Return why a request to the editor failed, as the end of a sentence."""
    if isinstance(error, ValidationError):
        return "the editor's answer is not of the form that ACP describes"
    if isinstance(error, TimeoutError):
        return f"the editor did not answer within {EDITOR_SECONDS:g} s"
    return " ".join(str(error).split())[:300].rstrip(".") or "the editor gave no reason"


class EditorWorkspace(DiskWorkspace):
    """A folder whose text files are read and written by the editor, as far as it offers that."""

    def __init__(self, root: str, client: Client, session: str, *, reads: bool, writes: bool) -> None:
        super().__init__(root)
        self._client = client
        self._session = session
        self._reads, self._writes = reads, writes
        self._loop = asyncio.get_running_loop()
        self._fetched = threading.local()

    def read(self, path: str, *, limit: int | None = None, remember: bool = True) -> bytes:
        """Read a file. What is not shown to the model, such as the files that a search looks into, is read from disk,
        since an editor may open every file that it is asked for."""
        if not remember:
            return super().read(path, limit=limit, remember=False)
        with self._fetch([path]):
            return super().read(path, limit=limit, remember=True)

    def read_text(self, path: str, *, limit: int | None = None, remember: bool = True) -> str:
        with self._fetch([path]):
            return super().read_text(path, limit=limit, remember=remember)

    def _apply(self, edits: Sequence[FileEdit], on_change: OnChange, *, new: bool = False) -> Sequence[Change]:
        """Apply edits. The editor is not waited for under the lock, which the event loop needs too; the tools' own
        locks keep writers of one file apart."""
        with self._fetch([edit.path for edit in edits]):
            with self._lock:
                steps = [step for step in self._plan(edits, new) if step.before != step.after]
            if not steps:
                return []
            self._commit(steps)
        with self._lock:
            made = [self._revisions.add(step.path, step.before, step.after) for step in steps]
            for changes in made:
                for change in changes:
                    on_change(change)
        self._mark_formatted(steps)
        return [changes[-1] for changes in made]

    def _read(self, path: str, limit: int) -> bytes:
        fetched = self._fetched_text(path)
        if fetched is None:
            return super()._read(path, limit)
        if len(fetched) > limit:
            raise PathFault(
                f"{quote_path(path)} has {len(fetched)} bytes, more than the {limit} that may be read at once.",
                "too_large",
            )
        return fetched

    def _current(self, path: str) -> bytes | None:
        on_disk = super()._current(path)  # checks links and protected paths
        fetched = self._fetched_text(path)
        return on_disk if fetched is None else fetched

    def _commit(self, steps: Sequence[Step]) -> None:
        through_editor = [step for step in steps if self._is_for_editor(step)]
        done: list[Step] = []
        try:
            for step in through_editor:
                self._send(step, (step.after or b"").decode())
                done.append(step)
            rest = [step for step in steps if step not in through_editor]
            if rest:
                super()._commit(rest)
        except BaseException:
            for step in reversed(done):
                with suppress(PathFault, OSError):
                    self._restore(step)
            raise

    def _is_for_editor(self, step: Step) -> bool:
        """Whether the editor writes it: text, but no deletion, for which the protocol has no request."""
        return self._writes and step.after is not None and decode_text(step.after) is not None and self._may_wait

    @property
    def _may_wait(self) -> bool:
        return not is_in_loop(self._loop)

    def _restore(self, step: Step) -> None:
        before = decode_text(step.before) if step.before is not None else None
        if before is not None:
            self._send(step, before)
        else:
            super()._commit([Step(step.path, step.after, step.before)])

    def _send(self, step: Step, text: str) -> None:
        with as_path_faults(step.path):
            real = self._real(step.path)
            _make_folder(self._resolver, real)
        place = f"{self.root}/{real}"
        try:
            self._wait(lambda: self._client.write_text_file(session_id=self._session, path=place, content=text))
        except FAULTS as error:
            raise PathFault(
                f"{quote_path(step.path)} was not written: {describe_fault(error)}. Try again, or tell the user.",
                "io_error",
            ) from None

    # --- what the editor shows --------------------------------------------------------------------------------------

    def _fetch(self, paths: Sequence[str]) -> "_FetchedTexts":
        """Ask the editor for files before the lock is held. The texts count for this thread until the block ends."""
        texts: dict[str, bytes] = {}
        for path in dict.fromkeys(self.normal(path) for path in paths) if self._reads and self._may_wait else ():
            text = self._ask(path)
            if text is not None:
                texts[path] = text
        return _FetchedTexts(self._fetched, texts)

    def _fetched_text(self, path: str) -> bytes | None:
        texts: dict[str, bytes] = getattr(self._fetched, "texts", {})
        return texts.get(path)

    def _ask(self, path: str) -> bytes | None:
        """Return the text of a file in the editor; None if the disk decides."""
        try:
            with self._lock, as_path_faults(path):
                real = self._resolver.resolve_target(path)
            on_disk = super().read(path, remember=False)
        except PathFault:
            return None  # there is no such file, or the disk reports the fault
        if decode_text(on_disk) is None:
            return None
        try:
            answer: schema.ReadTextFileResponse = self._wait(
                lambda: self._client.read_text_file(session_id=self._session, path=f"{self.root}/{real}")
            )
        except FAULTS as error:
            if isinstance(error, RequestError) and error.code == _NOT_FOUND:
                return None
            raise PathFault(f"{quote_path(path)} was not read: {describe_fault(error)}.", "io_error") from None
        text = answer.content.encode("utf-8", "replace")
        if not self._writes and _folded(on_disk) == _folded(text):
            return on_disk  # the same text; a write to the disk keeps its line endings
        return text

    def _mark_formatted(self, steps: Sequence[Step]) -> None:
        """Accept what the editor did to files as it saved them: many format on save. It is not a change by others."""
        for step in steps:
            if not self._is_for_editor(step):
                continue
            with suppress(PathFault):
                self.read(step.path)

    def _wait(self, request: Callable[[], Any]) -> Any:
        async def send() -> Any:
            async with asyncio.timeout(EDITOR_SECONDS):
                return await request()

        return asyncio.run_coroutine_threadsafe(send(), self._loop).result()


class _FetchedTexts:
    """Sets the texts that count in this thread, for the duration of a block."""

    def __init__(self, place: threading.local, texts: dict[str, bytes]) -> None:
        self._place = place
        self._texts = texts

    def __enter__(self) -> None:
        self._before: dict[str, bytes] = getattr(self._place, "texts", {})
        self._place.texts = {**self._before, **self._texts}

    def __exit__(self, *_: object) -> None:
        self._place.texts = self._before


def _folded(text: bytes) -> bytes:
    return text.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").rstrip(b"\n")


def _make_folder(resolver: Resolver, real: str) -> None:
    os.close(resolver.make_folder(real.rpartition("/")[0], []))
