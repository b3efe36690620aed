"""`ServerEditorAgent`: the methods that an editor calls over ACP, for the sessions of a Heald server."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from acp import RequestError, schema

from heald.core.errors import HealdError
from heald_cli.editors.editor_sessions import EditorSessions, describe_agent
from heald_cli.editors.requests import McpConfig, answered, check_folders, refusal
from heald_cli.editors.server_session import ServerSession
from heald_server.client.address import parse_address
from heald_server.client.errors import ConnectionLost
from heald_server.client.rest import RestClient
from heald_server.client.timing import Timing

_NO_SERVERS = "The MCP servers of the editor are not used in a session of a server."
_ON_SERVER = "The settings of this session belong to the server; change them there."


class ServerEditorAgent(EditorSessions[ServerSession]):
    """The agent of one editor whose sessions are on a server. It leaves them with `close`, and cancels nothing."""

    def __init__(self, url: str, token: str | None) -> None:
        super().__init__()
        self._address = url, token
        self._rest = RestClient(*parse_address(url, token), Timing())

    def cancel_all(self) -> None:
        """Cancel nothing: the exchanges belong to the server."""

    async def close(self) -> None:
        """Leave all sessions."""
        await super().close()
        await self._rest.close()

    # --- connection --------------------------------------------------------------------------------------------------

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: schema.ClientCapabilities | None = None,
        client_info: schema.Implementation | None = None,
        **_: Any,
    ) -> schema.InitializeResponse:
        return describe_agent(
            protocol_version,
            schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, audio=False, embedded_context=True),
                mcp_capabilities=schema.McpCapabilities(http=False, sse=False),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                ),
            ),
            [],
        )

    async def authenticate(self, method_id: str, **_: Any) -> schema.AuthenticateResponse:
        raise refusal("The server is used with the token in HEALD_TOKEN; there is nothing else to authenticate.")

    # --- sessions ----------------------------------------------------------------------------------------------------

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[McpConfig] | None = None,
        **_: Any,
    ) -> schema.NewSessionResponse:
        session = await self._join(None, cwd, mcp_servers, is_replayed=False)
        return schema.NewSessionResponse(session_id=session.id)

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[McpConfig] | None = None,
        additional_directories: list[str] | None = None,
        **_: Any,
    ) -> schema.LoadSessionResponse:
        await self._join(session_id, cwd, mcp_servers, is_replayed=True)
        return schema.LoadSessionResponse()

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[McpConfig] | None = None,
        **_: Any,
    ) -> schema.ResumeSessionResponse:
        await self._join(session_id, cwd, mcp_servers, is_replayed=False)
        return schema.ResumeSessionResponse()

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[McpConfig] | None = None,
        **_: Any,
    ) -> schema.ForkSessionResponse:
        raise RequestError.method_not_found("session/fork")

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> schema.ListSessionsResponse:
        try:
            page = await answered(self._rest.list_sessions(cursor))
        except ConnectionLost as fault:
            raise refusal(f"The server at {self._rest.address} cannot be reached: {fault}.") from None
        listed = [
            schema.SessionInfo(
                session_id=session.id,
                cwd=cwd or "/",  # a session of a server can be joined from any folder
                title=session.title or None,
                updated_at=datetime.fromtimestamp(session.updated, UTC).isoformat(),
            )
            for session in page.sessions
            if session.last_seq
        ]
        return schema.ListSessionsResponse(sessions=listed, next_cursor=page.next)

    # --- one session -------------------------------------------------------------------------------------------------

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> schema.SetSessionModeResponse:
        raise refusal(_ON_SERVER)

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> schema.SetSessionConfigOptionResponse:
        raise refusal(_ON_SERVER)

    # --- parts -------------------------------------------------------------------------------------------------------

    async def _join(
        self, session: str | None, cwd: str, servers: list[McpConfig] | None, *, is_replayed: bool
    ) -> ServerSession:
        assert self._client is not None
        folder = await asyncio.to_thread(check_folders, cwd, None)
        before = self._open.pop(session, None) if session is not None else None
        if before is not None:
            await before.close()
        joined = await answered(ServerSession.open(self._client, self._rest, self._address, session, folder))
        self._open[joined.id] = joined
        try:
            await answered(joined.begin(is_replayed=is_replayed))
        except (RequestError, HealdError):
            del self._open[joined.id]
            await joined.close()
            raise
        if servers:
            joined.notes.append(_NO_SERVERS)
        return joined
