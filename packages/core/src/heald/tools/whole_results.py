"""Keeps results that are too large for the model whole, and reads them page by page: the tool `read_result`.

The model gets the first page, the end and a handle: the last lines of a command or a log matter most. The texts are
kept in memory, oldest dropped first; a stored session keeps them as blobs besides, so that handles survive a restart.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Annotated

import msgspec

from heald.core.digest import sha256
from heald.core.messages import ResultPart, Text, WholeResult
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.function_tools import tool
from heald.tools.result_text import TEXT_BYTES, encoded_size, plain_text
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import Parts, ToolOutput

MAX_CHARACTERS = 8_000_000
"""Maximum characters of one result that are kept."""
MAX_ALL_CHARACTERS = 32_000_000
"""Maximum characters of all results that are kept in memory."""
SHORT = TEXT_BYTES // 6
"""Characters of a text that fits into an event, however they are encoded."""
_PAGE_BYTES = TEXT_BYTES - 4096
_HANDLE = 8
_LEAST = 200

Load = Callable[[str], Awaitable[bytes]]
"""Reads a text from a store by its SHA-256. Raises an exception if the store does not have it."""


class WholeResults:
    """The large results of one conversation by handle."""

    def __init__(self, room: int = MAX_ALL_CHARACTERS) -> None:
        self._room = room
        self._digests: dict[str, str] = {}
        self._texts: OrderedDict[str, str] = OrderedDict()
        self.load: Load | None = None
        """Set by a session whose store has the texts."""

    def __len__(self) -> int:
        return len(self._digests)

    def keep(self, text: str) -> WholeResult:
        """Keep a text, at most `MAX_CHARACTERS` of it."""
        text = text[:MAX_CHARACTERS]
        digest = sha256(text.encode()).hexdigest()
        handle = self._handle(digest)
        self._digests[handle] = digest
        self._texts[digest] = text
        self._texts.move_to_end(digest)
        while len(self._texts) > 1 and sum(map(len, self._texts.values())) > self._room:
            self._texts.popitem(last=False)
        return WholeResult(handle=handle, characters=len(text), blob=digest)

    def restore(self, whole: WholeResult) -> None:
        """Make a handle of an earlier process known. Its text is loaded when it is read."""
        self._digests[whole.handle] = whole.blob

    def content(self, digest: str) -> bytes | None:
        """Return a text that is in memory, for a store."""
        text = self._texts.get(digest)
        return text.encode() if text is not None else None

    async def read(self, handle: str) -> str:
        """Return the whole text of a handle. Raises ToolFault if there is none."""
        digest = self._digests.get(handle)
        if digest is None:
            latest = ", ".join(list(self._digests)[-5:])
            hint = f"the latest are {latest}" if latest else "there is none in this conversation"
            raise ToolFault(f"There is no result with the handle {handle[:80]!r}; {hint}.", "unknown_handle")
        text = self._texts.get(digest)
        if text is None and self.load is not None:
            try:
                text = (await self.load(digest)).decode()
            except Exception:  # each store raises its own
                text = None
        if text is None:
            raise ToolFault(
                f"The result {handle!r} is no longer stored; call the tool that gave it once more.", "expired_handle"
            )
        return text

    def _handle(self, digest: str) -> str:
        length = _HANDLE
        while self._digests.get(handle := f"r-{digest[:length]}", digest) != digest:
            length += 4
        return handle


def page_end(text: str, offset: int, limit: int, room: int = _PAGE_BYTES) -> int:
    """Return the end of a page of at most `limit` characters that fits into `room` bytes of an event."""
    end = min(offset + limit, len(text))
    while end - offset > _LEAST and (weight := encoded_size(text[offset:end])) > room:
        length = end - offset
        end = offset + max(min(length * room // weight, length * 9 // 10), _LEAST)
    return end


def first_page(content: Parts, limit: int, whole_results: WholeResults) -> tuple[Parts, WholeResult | None]:
    """Return the content if its text fits, else its first page, a note with the handle, its end, and the kept whole."""
    is_text = isinstance(content, str)
    texts = [content] if isinstance(content, str) else [part.text for part in content if isinstance(part, Text)]
    if sum(map(len, texts)) <= min(limit, SHORT):
        return _plain(content), None
    text = plain_text("\n".join(texts))
    if len(text) <= limit and encoded_size(text) <= TEXT_BYTES:
        return _plain(content), None
    whole = whole_results.keep(text)
    end = page_end(text, 0, limit * 3 // 4, _PAGE_BYTES * 3 // 4)
    last = page_end(text[::-1], 0, limit // 4, _PAGE_BYTES // 4)
    page = _with_note(text, 0, end, whole.handle)
    page = f"{page[:-1]}; the last {last:,} follow]\n\n{text[-last:]}"
    if len(text) > whole.characters:
        page += f"\n[Only the first {whole.characters:,} of {len(text):,} characters are kept.]"
    if is_text:
        return page, whole
    others: list[ResultPart] = [part for part in content if not isinstance(part, str | Text)]
    return [Text(page), *others], whole


def _plain(content: Parts) -> Parts:
    if isinstance(content, str):
        return plain_text(content)
    return [Text(plain_text(part.text)) if isinstance(part, Text) else part for part in content]


def _with_note(text: str, offset: int, end: int, handle: str) -> str:
    total = min(len(text), MAX_CHARACTERS)
    place = f"characters {offset:,} to {end:,} of {total:,}"
    if end >= total:
        return f"{text[offset:end]}\n\n[{place}, the end]"
    return f'{text[offset:end]}\n\n[{place}; read_result(handle="{handle}", offset={end}) reads on]'


@cache
def read_result_tool() -> Tool:
    """Return the tool that reads on in a result, made at its first use: few conversations have a large result."""

    @tool(
        effect="none",
        summary=lambda arguments: f"Read on in {arguments['handle']} at {arguments.get('offset', 0):,}",
        max_output=10 * MAX_CHARACTERS,
        idempotent=True,
    )
    async def read_result(ctx: ToolContext, handle: str, offset: Annotated[int, msgspec.Meta(ge=0)] = 0) -> ToolOutput:
        """Read on in a result that was too long to be shown whole.

        Args:
            handle: The handle that stands at the end of its first page.
            offset: The character to start at.
        """
        if ctx.host is None:
            raise ToolFault("Results are kept by the runtime of an agent, and there is none.")
        text = await ctx.host.whole_results.read(handle)
        if offset >= len(text):
            raise ToolFault(f"The result has {len(text):,} characters; {offset:,} is behind its end.", "behind_the_end")
        page = text[offset : offset + ctx.host.max_output]
        end = page_end(text, offset, ctx.host.output_limit(page))
        return ToolOutput(content=_with_note(text, offset, end, handle), summary=f"{offset:,} to {end:,}")

    return read_result
