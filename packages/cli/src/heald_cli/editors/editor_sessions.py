"""`EditorSessions`: the methods of ACP that concern a session that the editor has open."""

from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

from acp import PROTOCOL_VERSION, Client, RequestError, schema

from heald import __version__
from heald_cli.editors.content import Block
from heald_cli.editors.requests import answered, refusal


class SessionInEditor(Protocol):
    async def prompt(self, blocks: Sequence[Block]) -> schema.PromptResponse: ...
    def cancel(self) -> None: ...
    async def close(self) -> None: ...


SessionT = TypeVar("SessionT", bound=SessionInEditor)


class EditorSessions(Generic[SessionT]):
    """The part that both agents of an editor share: the connection, and the sessions that are open in it."""

    def __init__(self) -> None:
        self._client: Client | None = None
        self._open: dict[str, SessionT] = {}

    def on_connect(self, conn: Client) -> None:
        self._client = conn

    async def close(self) -> None:
        """Close all sessions."""
        while self._open:
            _, session = self._open.popitem()
            await session.close()

    async def prompt(self, session_id: str, prompt: list[Block], **_: Any) -> schema.PromptResponse:
        return await answered(self._opened(session_id).prompt(prompt))

    async def cancel(self, session_id: str, **_: Any) -> None:
        session = self._open.get(session_id)
        if session is not None:
            session.cancel()

    async def close_session(self, session_id: str, **_: Any) -> schema.CloseSessionResponse:
        session = self._opened(session_id)
        del self._open[session_id]
        await answered(session.close())
        return schema.CloseSessionResponse()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise RequestError.method_not_found(f"_{method}")

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Ignore notifications that are not part of the protocol, as it demands."""

    def _opened(self, session: str) -> SessionT:
        opened = self._open.get(session)
        if opened is None:
            raise refusal(f"There is no open session {session[:100]!r}; create or load it first.")
        return opened


def describe_agent(
    protocol_version: int, capabilities: schema.AgentCapabilities, auth_methods: list[schema.AuthMethodAgent]
) -> schema.InitializeResponse:
    """Answer `initialize` with the newest version that both sides speak."""
    return schema.InitializeResponse(
        protocol_version=min(protocol_version, PROTOCOL_VERSION) if protocol_version > 0 else PROTOCOL_VERSION,
        agent_info=schema.Implementation(name="heald", title="Heald", version=__version__),
        agent_capabilities=capabilities,
        auth_methods=[*auth_methods],
    )
