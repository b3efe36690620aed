"""The text files of a session on a server, as an exchange left them."""

import asyncio
from collections.abc import Mapping, Sequence

from weft.core.events import FileChanged
from weft.remote.calls import Calls
from weft.remote.errors import ServerRefused
from weft.tools.workspace.text import decoded

_AT_ONCE = 8


class RemoteFiles:
    """Knows which revision each file is at, and fetches contents once."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._known: dict[str, int] = {}
        self._texts: dict[tuple[str, int], str | None] = {}  # None is no text, or gone
        self._room = asyncio.Semaphore(_AT_ONCE)

    def begin(self, revisions: Mapping[str, int]) -> None:
        """Those that the session wrote before we came."""
        self._known = dict(revisions)
        self._texts.clear()

    def changed(self, change: FileChanged) -> None:
        if change.hash is None:
            self._known.pop(change.path, None)
        else:
            self._known[change.path] = change.revision

    def now(self) -> list[tuple[str, int]]:
        """Which there are at this moment, and at which revision."""
        return sorted(self._known.items())

    async def texts(self, session: str, files: Sequence[tuple[str, int]]) -> dict[str, str]:
        """The contents of those that are text and still to be had."""
        contents = await asyncio.gather(*(self._text(session, file) for file in files))
        return {path: text for (path, _), text in zip(files, contents, strict=True) if text is not None}

    async def _text(self, session: str, file: tuple[str, int]) -> str | None:
        async with self._room:
            if file not in self._texts:
                self._texts = {known: text for known, text in self._texts.items() if known[0] != file[0]}
                self._texts[file] = await self._fetch(session, *file)
            return self._texts[file]

    async def _fetch(self, session: str, path: str, revision: int) -> str | None:
        try:
            return decoded(await self._calls.file(session, path, revision))
        except ServerRefused:
            return None
