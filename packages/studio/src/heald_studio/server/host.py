"""Connects the studio to a server: its sessions, limits and models."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from heald.agent.interface import ExchangeInterface
from heald.core.messages import Message
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.tools.registry import ToolLike
from heald_server.context import ServerContext
from heald_server.models import KnownModels, ModelSource
from heald_server.start_exchange import admit_exchange, pass_on
from heald_studio.agent_models import is_agent
from heald_studio.default_models import LOCAL_MODEL, rank_models
from heald_studio.page_text import PageText
from heald_studio.projects.versions import VARIANT_SESSION
from heald_studio.studio import Studio
from heald_studio.tools.family import load_tools, studio_tools


class StudioHost:
    """Gives the studio sessions of this server, within the limits of their owners."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    @property
    def sessions(self) -> Sessions:
        return self._context.sessions

    @asynccontextmanager
    async def use(self, info: SessionInfo) -> AsyncGenerator[Session]:
        await asyncio.to_thread(load_tools)  # here and not when the session opens, which would stop the event loop
        async with self._context.open_sessions.use(info) as session:
            yield session

    async def delete(self, session: str) -> None:
        await self._context.open_sessions.free_session(session)
        await self._context.sessions.delete(session)
        self._context.open_sessions.hub(session).invalidate()  # its readers learn that it is deleted

    def check(self, owner: str, count: int) -> None:
        self._context.meters.check_exchange(owner, count)

    def admit(self, info: SessionInfo, session: Session) -> AbstractAsyncContextManager[None]:
        return admit_exchange(self._context, info, session)

    def begin(self, owner: str, exchange: ExchangeInterface) -> None:
        self._context.meters.track_exchange(owner, exchange)

    async def pass_on(self, info: SessionInfo, message: Message, request: str) -> bool:
        return await pass_on(self._context, info, message, request) is not None

    def models(self) -> Sequence[str]:
        models = self._context.models
        default = models.operator_default if isinstance(models, KnownModels) else models.default
        offered = [model.name for model in models.list_models() if not is_agent(model.name)]  # a person chooses those
        return rank_models(offered, default or _local_default(models))


def _local_default(models: ModelSource) -> str:
    return models.default if models.default == LOCAL_MODEL else ""


def open_studio(context: ServerContext, **options: object) -> Studio:
    """Open the studio of a server. Sessions of its variants get the studio's tools and strategy."""
    studio = Studio(StudioHost(context), **options)  # pyright: ignore[reportArgumentType]
    context.on_stop(studio.close)
    before = context.session_tools

    def session_tools(info: SessionInfo) -> Mapping[str, ToolLike]:
        if info.kind != VARIANT_SESSION:
            return before(info)
        return {tool.name: tool for tool in studio_tools(studio.context_of(info))}

    def adopt(info: SessionInfo, session: Session) -> None:
        if info.kind != VARIANT_SESSION:
            return
        session.add_strategy(PageText())
        if session.resumed:
            studio.adopt(info, session.resumed[0])

    context.session_tools = session_tools
    context.open_sessions.on_open(adopt)
    context.protocol_state["studio"] = studio
    return studio
