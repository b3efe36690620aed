"""Opens sessions by name."""

from collections.abc import Generator
from contextlib import suppress
from typing import Any, Generic

from heald.agent.agent import Agent
from heald.core.arguments import checked
from heald.core.errors import ConfigurationError
from heald.core.type_parameters import OutputT
from heald.sessions.resumption import DEFAULT_AFTER_CRASH, AfterCrash
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store
from heald.sessions.store_errors import NoSuchSession, SessionExists
from heald.sessions.stores import open_store


class OpeningSession(Generic[OutputT]):
    """A session that is being opened. Await it, or use it as an async context manager that closes the session."""

    def __init__(
        self,
        name: str,
        agent: Agent[OutputT],
        store: str | Store,
        title: str,
        after_crash: AfterCrash,
        deps: object = None,
    ) -> None:
        self._name = name
        self._agent = agent
        self._store = store
        self._title = title
        self._after_crash: AfterCrash = after_crash
        self._deps = deps
        self._session: Session[OutputT] | None = None

    def __await__(self) -> Generator[Any, None, Session[OutputT]]:
        return self._open().__await__()

    async def __aenter__(self) -> Session[OutputT]:
        self._session = await self._open()
        return self._session

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def _open(self) -> Session[OutputT]:
        store = open_store(self._store) if isinstance(self._store, str) else self._store
        try:
            try:
                await store.info(self._name)
            except NoSuchSession:
                await self._create(store)
            session = await Session.open(
                store, self._name, after_crash=self._after_crash, deps=self._deps, **self._agent.options
            )
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
            permissions=self._agent.permissions.mode,
            budget=options["budget"],
            history=self._agent.messages,
        )
        with suppress(SessionExists):  # another process may be faster
            await store.create(SessionInfo(id=self._name, title=self._title, settings=settings.data()))


@checked
def open_session(
    name: str,
    agent: Agent[OutputT],
    *,
    store: str | Store,
    title: str = "",
    after_crash: AfterCrash = DEFAULT_AFTER_CRASH,
    deps: object = None,
) -> OpeningSession[OutputT]:
    """Open a conversation that outlives the process: create the session `name`, or continue it.

    `store` is a URL (see `open_store`) or a `Store`. The session has the model, tools, instructions, permissions and
    budget of `agent`, which itself is not used. Await the result, or use it with `async with`. Raises SessionBusy while
    another process has the session open. An exchange that a dead process left open is continued; with
    `after_crash="close"` it is closed as failed. Tools get `deps` as `ToolContext.deps`, also those of an exchange that
    is continued; a request may bring its own.
    """
    if not name:
        raise ConfigurationError("open_session: name must be the name of a session, not ''.")
    return OpeningSession(name, agent, store, title, after_crash, deps)
