"""Opens stores by URL, and sessions by name."""

from collections.abc import Generator
from contextlib import suppress
from typing import Any

from weft.agent.agent import Agent
from weft.core.errors import ConfigurationError
from weft.sessions.postgres.address import is_postgres, without_password
from weft.sessions.resumption import AfterCrash
from weft.sessions.session import Session
from weft.sessions.settings import SessionSettings
from weft.sessions.store import NoSuchSession, SessionExists, SessionInfo, Store

_EXAMPLES = (
    "use sqlite:///app.db for a file, sqlite:////srv/app.db for an absolute path, postgresql://user@host/database, "
    "or memory:"
)


def open_store(url: str, *, node: str = "", news: str = "") -> Store:
    """Open the store that a URL names: `sqlite:///path/to/file.db`, `postgresql://user@host/database` for a store that
    several nodes share (`pip install 'weft[postgres]'`), or `memory:` for one that ends with the process.

    As in SQLAlchemy, three slashes begin a relative path and four an absolute one. `node` is the name of this process
    among the nodes of a database; `news` is the URL of a NATS server (`nats://host:4222`) that carries the news between
    them instead of the database.
    """
    if news and not is_postgres(url):
        raise ConfigurationError("News by NATS are for nodes that share a PostgreSQL database; name one with --store.")
    scheme, colon, rest = url.partition(":")
    match scheme.lower():
        case "memory" if colon and rest in ("", "//"):
            from weft.sessions.memory import MemoryStore

            return MemoryStore()
        case "sqlite" if rest.startswith("///") and len(rest) > 3:
            from weft.sessions.sqlite import SqliteStore

            return SqliteStore(rest[3:])
        case "postgresql" | "postgres" if rest.startswith("//"):
            from weft.sessions.postgres.store import PostgresStore

            return PostgresStore(url, node=node, news_url=news)
        case _:
            raise ConfigurationError(f"There is no store {without_password(url)[:200]!r}; {_EXAMPLES}.")


class OpeningSession:
    """A session that is being opened. Await it, or use it as an async context manager that closes the session."""

    def __init__(self, name: str, agent: Agent, store: str | Store, title: str, after_crash: AfterCrash) -> None:
        self._name = name
        self._agent = agent
        self._store = store
        self._title = title
        self._after_crash: AfterCrash = after_crash
        self._session: Session | None = None

    def __await__(self) -> Generator[Any, None, Session]:
        return self._open().__await__()

    async def __aenter__(self) -> Session:
        self._session = await self._open()
        return self._session

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def _open(self) -> Session:
        store = open_store(self._store) if isinstance(self._store, str) else self._store
        try:
            try:
                await store.info(self._name)
            except NoSuchSession:
                await self._create(store)
            session = await Session.open(store, self._name, after_crash=self._after_crash, **self._agent.options)
        except BaseException:
            if isinstance(self._store, str):
                await store.close()
            raise
        if isinstance(self._store, str):
            session.own_store()
        return session

    async def _create(self, store: Store) -> None:
        """Create the session. Its settings hold the part of the agent that is data, for programs without the agent."""
        options = self._agent.options
        model, tools, instructions = options["model"], options["tools"], options["instructions"]
        settings = SessionSettings(
            model=model if isinstance(model, str) else "",
            tools=[tool for tool in tools if isinstance(tool, str)],
            instructions=instructions if isinstance(instructions, str) else "",
            permissions=self._agent.runtime.permissions.mode,
            budget=options["budget"],
            history=self._agent.messages,
        )
        with suppress(SessionExists):  # another process may be faster
            await store.create(SessionInfo(id=self._name, title=self._title, settings=settings.data()))


def open_session(
    name: str, agent: Agent, *, store: str | Store, title: str = "", after_crash: AfterCrash = "close"
) -> OpeningSession:
    """Open a conversation that outlives the process: create the session `name`, or continue it.

    `store` is a URL (see `open_store`) or a `Store`. The session has the model, tools, instructions, permissions and
    budget of `agent`, which itself is not used. Await the result, or use it with `async with`. Raises SessionBusy while
    another process has the session open. With `after_crash="continue"` an exchange that a dead process left open is
    continued.
    """
    return OpeningSession(name, agent, store, title, after_crash)
