"""Searches in the text of all sessions of a user."""

import asyncio
from time import monotonic
from typing import Annotated

import msgspec

from heald.sessions.session_info import SessionInfo
from heald.sessions.store_errors import NoSuchSession
from heald_server.context import ServerContext
from heald_server.http.operations import ApiCall, Operation
from heald_server.routes.fields import Name
from heald_server.session_texts import SessionTexts, TextEntry

_SECONDS = 3.0  # after which the client asks for the rest
_PAGE = 20
_AROUND = 80  # characters of an excerpt on each side
_MAX_PER_SESSION = 3


class SearchQuery(msgspec.Struct, frozen=True, kw_only=True):
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    """Words that a message holds, all of them, in any case."""
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 30
    after: Name | None = None
    """The `next` of the page before."""


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    session: str
    seq: int
    """The event with the text."""
    title: str
    """Of the session."""
    kind: str
    """The purpose of the session; empty for a plain conversation."""
    parent: str | None
    """The project of a variant, or the session that it was forked from."""
    role: str
    """`user`, `assistant` or `tool`."""
    excerpt: str


class SearchView(msgspec.Struct, frozen=True):
    hits: list[SearchHit]
    next: str | None
    """The cursor of older sessions; None if all were searched."""


class TextSearchRoutes:
    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._texts = SessionTexts(context.sessions.store)

    def operations(self) -> list[Operation]:
        return [
            Operation("GET", "/search", self.search, "Search in the text of sessions.", SearchView, query=SearchQuery)
        ]

    async def search(self, call: ApiCall) -> SearchView:
        query: SearchQuery = call.query
        words = query.text.casefold().split()
        until = monotonic() + _SECONDS
        hits: list[SearchHit] = []
        after = query.after
        while words:
            page = await self._context.sessions.store.list(limit=_PAGE, after=after, owner=call.owner)
            for info in page.sessions:
                hits += await self._search_session(info, words)
                await asyncio.sleep(0)  # other requests are served in between
            after = page.next
            if after is None or len(hits) >= query.limit or monotonic() > until:
                break
        return SearchView(hits, after if words else None)

    async def _search_session(self, info: SessionInfo, words: list[str]) -> list[SearchHit]:
        if not info.last_seq:
            return []
        try:
            entries = await self._texts.read(info)
        except NoSuchSession:
            return []  # deleted meanwhile
        matches = [entry for entry in reversed(entries) if all(word in entry.folded for word in words)]
        return [
            SearchHit(
                session=info.id,
                seq=entry.seq,
                title=info.title,
                kind=info.kind,
                parent=info.parent,
                role=entry.role,
                excerpt=_excerpt(entry, words[0]),
            )
            for entry in matches[:_MAX_PER_SESSION]
        ]


def _excerpt(entry: TextEntry, word: str) -> str:
    at = min(entry.folded.find(word), len(entry.text))
    start, end = max(0, at - _AROUND), at + len(word) + _AROUND
    text = " ".join(entry.text[start:end].split())
    return f"{'…' if start else ''}{text}{'…' if end < len(entry.text) else ''}"
