"""The store that the options of a command name: a file in the data folder, or a database."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from heald.config.paths import DATABASE, data_folder
from heald.core.errors import ConfigurationError
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import Store
from heald.sessions.store_errors import NoSuchSession
from heald.sessions.stores import open_store


def open_named_store(data: str | None, url: str | None, *, node: str = "", news: str = "") -> Store:
    """Open the store at a URL, or that of a data folder."""
    if url:
        return open_store(url, node=node, news=news)
    if news:
        return open_store("sqlite:///", news=news)  # raises the error that explains what is missing
    return SqliteStore(data_folder(data) / DATABASE)


@asynccontextmanager
async def open_sessions(data: str | None = None, url: str | None = None) -> AsyncGenerator[Sessions]:
    """Open the sessions of a data folder, or of the store at a URL, for the duration of the block."""
    store = open_named_store(data, url)
    try:
        yield Sessions(store)
    finally:
        await store.close()


async def list_sessions(sessions: Sessions, search: str = "", kind: str | None = None) -> AsyncIterator[SessionInfo]:
    """Yield all sessions whose title contains a text, the last changed first."""
    after: str | None = None
    while True:
        page = await sessions.list(search=search, limit=200, after=after, kind=kind)
        for info in page.sessions:
            yield info
        after = page.next
        if after is None:
            return


async def find_session(sessions: Sessions, name: str) -> SessionInfo:
    """Find a session by its id or by the beginning of it."""
    try:
        return await sessions.store.info(name)
    except NoSuchSession as unknown:
        infos = [info async for info in list_sessions(sessions) if info.id.startswith(name)] if name else []
        if len(infos) == 1:
            return infos[0]
        if not infos:
            raise ConfigurationError(f"{str(unknown).partition(';')[0]}; `heald sessions list` shows them.") from None
        raise ConfigurationError(f"{len(infos)} sessions begin with {name[:60]!r}; write more of the id.") from None
