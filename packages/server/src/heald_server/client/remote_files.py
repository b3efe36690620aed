"""The files of a session on a server."""

import asyncio
from collections.abc import Mapping, Sequence

from heald.core.events import FileChanged
from heald.tools.workspace.contents import decode_text
from heald_server.client.errors import ServerRefused
from heald_server.client.rest import RestClient

_PARALLEL = 8


class RemoteFiles:
    """The text files of a session, each fetched once for each revision."""

    def __init__(self, rest: RestClient) -> None:
        self._rest = rest
        self._known: dict[str, int] = {}
        self._texts: dict[tuple[str, int], str | None] = {}  # None if it is not text, or deleted
        self._semaphore = asyncio.Semaphore(_PARALLEL)

    def begin(self, revisions: Mapping[str, int]) -> None:
        """Set the files that the session wrote before the client joined."""
        self._known = dict(revisions)
        self._texts.clear()

    def changed(self, change: FileChanged) -> None:
        if change.hash is None:
            self._known.pop(change.path, None)
        else:
            self._known[change.path] = change.revision

    def now(self) -> list[tuple[str, int]]:
        """Return the current files and their revisions."""
        return sorted(self._known.items())

    async def texts(self, session: str, files: Sequence[tuple[str, int]]) -> dict[str, str]:
        """Return the contents of the files that are text and still available."""
        contents = await asyncio.gather(*(self._text(session, file) for file in files))
        return {path: text for (path, _), text in zip(files, contents, strict=True) if text is not None}

    async def _text(self, session: str, file: tuple[str, int]) -> str | None:
        async with self._semaphore:
            if file not in self._texts:
                self._texts = {key: text for key, text in self._texts.items() if key[0] != file[0]}
                self._texts[file] = await self._fetch(session, *file)
            return self._texts[file]

    async def _fetch(self, session: str, path: str, revision: int) -> str | None:
        try:
            return decode_text(await self._rest.file(session, path, revision))
        except ServerRefused:
            return None
