"""The studio's sessions, as sessions of this server."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager

from weft.agent.exchange import Exchange
from weft.server.context import ServerContext
from weft.sessions.session import Session
from weft.sessions.sessions import Sessions
from weft.sessions.store import SessionInfo
from weft.studio.choosing import strongest_first
from weft.studio.making import KIND
from weft.studio.studio import Studio
from weft.studio.tools.family import studio_tools
from weft.tools.registry import ToolLike


class StudioHost:
    """Lets the studio open sessions here, under the limits of this server."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    @property
    def sessions(self) -> Sessions:
        return self._context.sessions

    def use(self, info: SessionInfo) -> AbstractAsyncContextManager[Session]:
        return self._context.open.use(info)

    async def delete(self, session: str) -> None:
        await self._context.open.close_one(session)
        await self._context.sessions.delete(session)
        self._context.open.hub(session).skip()  # whoever reads it is told that it is gone

    def check(self, owner: str, wanted: int) -> None:
        self._context.meters.check_exchange(owner, wanted)

    def begin(self, owner: str, exchange: Exchange) -> None:
        self._context.meters.begin(owner, exchange)

    def models(self) -> Sequence[str]:
        listed = [model.name for model in self._context.models.listed()]
        return strongest_first(listed, self._context.models.default)


def open_studio(context: ServerContext, **options: object) -> Studio:
    """The studio of a server: from here on its sessions have the studio's tools."""
    studio = Studio(StudioHost(context), **options)  # pyright: ignore[reportArgumentType]
    context.on_stop(studio.close)
    before = context.session_tools

    def session_tools(info: SessionInfo) -> Mapping[str, ToolLike]:
        if info.kind != KIND:
            return before(info)
        return {tool.name: tool for tool in studio_tools(studio.assignment_of(info))}

    context.session_tools = session_tools
    return studio
