"""`EditorAgent`: the methods that an editor calls over ACP."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from os.path import realpath
from typing import Any

import msgspec
from acp import RequestError, schema

from heald.agent.folder_extras import FolderExtras
from heald.core.errors import HealdError
from heald.core.messages import ToolDefinition
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.store_errors import BadCursor, NoSuchSession
from heald.tools.client_tools import check_names
from heald.tools.families import named_tools
from heald.tools.permissions import MODES, Mode
from heald.tools.registry import Registry, ToolLike
from heald.tools.shell.sandbox import Sandbox
from heald_cli.editors.editor_sessions import EditorSessions, describe_agent
from heald_cli.editors.requests import (
    AUTH_REQUIRED,
    KEY_METHOD,
    NOT_FOUND,
    McpConfig,
    answered,
    check_folders,
    client_tools_of,
    describe_session,
    key_method,
    mcp_servers_of,
    refusal,
)
from heald_cli.editors.session import CALL_METHOD, EditorAbilities, EditorSession, SessionParts
from heald_server.models import ModelSource

ConfigOption = schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean
_MODES: dict[Mode, tuple[str, str]] = {
    "ask": ("Ask", "Reads freely; asks before it writes files, runs commands or uses the network."),
    "inside": ("Inside", "Works in the folder without a question; asks for new hosts, pushes and what else leaves it."),
    "auto": ("Auto", "Runs every call without a question. Commands stay in the sandbox unless you chose otherwise."),
    "read-only": ("Plan", "Only reads; it cannot write files or run commands."),
}
_PAGE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorOptions:
    """The settings of `heald acp`."""

    kind: str
    """The kind of the sessions in the store."""
    settings: SessionSettings
    """For new sessions; an empty model means that none can be used."""
    check_model: Callable[[str], None]
    """Raises if a model cannot be used for a conversation."""
    default_model: Callable[[], str]
    """Chooses a model if none is named; "" if there is none."""
    find_extras: Callable[[SessionSettings], FolderExtras]
    """Returns what a session gets from its folder: notes, skills, hooks and a map of the code."""
    own_tools: Callable[[], Sequence[ToolLike]] = tuple[ToolLike, ...]
    """Returns tools of the user's own, beside those that the settings name."""
    problems: tuple[str, ...] = ()
    """Sentences about tools that could not be started; each session shows them once."""
    use_files: bool = True
    use_terminal: bool = False


class EditorAgent(EditorSessions[EditorSession]):
    """The agent of one editor. It holds the open sessions until `close`."""

    def __init__(self, sessions: Sessions, models: ModelSource, sandbox: Sandbox, options: EditorOptions) -> None:
        super().__init__()
        self._sessions = sessions
        self._models = models
        self._sandbox = sandbox
        self._options = options
        self._abilities = EditorAbilities()

    def cancel_all(self) -> None:
        """Cancel every running exchange."""
        for session in self._open.values():
            session.cancel()

    # --- connection --------------------------------------------------------------------------------------------------

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: schema.ClientCapabilities | None = None,
        client_info: schema.Implementation | None = None,
        **_: Any,
    ) -> schema.InitializeResponse:
        fs = client_capabilities.fs if client_capabilities is not None else None
        self._abilities = EditorAbilities(
            reads=self._options.use_files and fs is not None and bool(fs.read_text_file),
            writes=self._options.use_files and fs is not None and bool(fs.write_text_file),
            terminal=self._options.use_terminal
            and client_capabilities is not None
            and bool(client_capabilities.terminal),
        )
        return describe_agent(
            protocol_version,
            schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, audio=False, embedded_context=True),
                mcp_capabilities=schema.McpCapabilities(http=True, sse=True),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    fork=schema.SessionForkCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                ),
                field_meta={"heald": {"clientTools": f"_{CALL_METHOD}"}},
            ),
            [] if self._key_problem() is None else [key_method()],
        )

    async def authenticate(self, method_id: str, **_: Any) -> schema.AuthenticateResponse:
        if method_id != KEY_METHOD:
            raise refusal(f"There is no authentication method {method_id[:60]!r}; use {KEY_METHOD!r}.")
        problem = self._key_problem()
        if problem is not None:
            raise RequestError(AUTH_REQUIRED, problem)
        return schema.AuthenticateResponse()

    # --- sessions ----------------------------------------------------------------------------------------------------

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[McpConfig] | None = None,
        **meta: Any,
    ) -> schema.NewSessionResponse:
        self._check_key()
        tools = client_tools_of(meta)
        folder = check_folders(cwd, additional_directories)
        settings = msgspec.structs.replace(self._options.settings, model=self._model(), workspace=folder)

        async def begin() -> EditorSession:
            info = await self._sessions.create(kind=self._options.kind, **msgspec.structs.asdict(settings))
            try:
                return await self._begin(info, mcp_servers or [], tools)
            except BaseException:
                await self._sessions.delete(info.id)
                raise

        session = await answered(begin())
        return schema.NewSessionResponse(session_id=session.id, **self._state(session))

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[McpConfig] | None = None,
        additional_directories: list[str] | None = None,
        **meta: Any,
    ) -> schema.LoadSessionResponse:
        session = await self._reopen(session_id, cwd, additional_directories, mcp_servers, meta)
        await answered(session.replay())
        return schema.LoadSessionResponse(**self._state(session))

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[McpConfig] | None = None,
        **meta: Any,
    ) -> schema.ResumeSessionResponse:
        session = await self._reopen(session_id, cwd, additional_directories, mcp_servers, meta)
        return schema.ResumeSessionResponse(**self._state(session))

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[McpConfig] | None = None,
        **meta: Any,
    ) -> schema.ForkSessionResponse:
        self._check_key()
        source = await self._find(session_id, check_folders(cwd, additional_directories))
        fork = await answered(self._sessions.fork(source.id))
        session = await answered(self._begin(fork, mcp_servers or [], client_tools_of(meta)))
        return schema.ForkSessionResponse(session_id=session.id, **self._state(session))

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> schema.ListSessionsResponse:
        folder = await asyncio.to_thread(realpath, cwd) if cwd is not None else None
        listed: list[schema.SessionInfo] = []
        while len(listed) < _PAGE:
            try:
                page = await self._sessions.list(limit=_PAGE, after=cursor, kind=self._options.kind)
            except BadCursor as error:
                raise refusal(str(error)) from None
            for info in page.sessions:
                place = info.settings.get("workspace")
                if info.last_seq and isinstance(place, str) and folder in (None, place):
                    listed.append(describe_session(info, place))
            cursor = page.next
            if cursor is None:
                break
        return schema.ListSessionsResponse(sessions=listed, next_cursor=cursor)

    # --- one session -------------------------------------------------------------------------------------------------

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> schema.SetSessionModeResponse:
        session = self._opened(session_id)
        if mode_id not in _MODES:
            raise refusal(f"There is no mode {mode_id[:60]!r}; choose one of {', '.join(MODES)}.")
        await answered(session.set_mode(mode_id))
        return schema.SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> schema.SetSessionConfigOptionResponse:
        session = self._opened(session_id)
        if config_id == "mode":
            await self.set_session_mode(session_id, str(value))
        elif config_id == "model":
            if session.is_busy:
                raise refusal("An exchange runs; stop it or wait for its end before you change the model.")
            try:
                self._options.check_model(str(value))
            except HealdError as error:
                raise refusal(str(error)) from None
            await answered(session.set_model(str(value)))
        else:
            raise refusal(f"There is no option {config_id[:60]!r}; there are mode and model.")
        return schema.SetSessionConfigOptionResponse(config_options=self._config_options(session))

    # --- parts -------------------------------------------------------------------------------------------------------

    async def _reopen(
        self,
        session: str,
        cwd: str,
        folders: list[str] | None,
        servers: list[McpConfig] | None,
        meta: dict[str, Any],
    ) -> EditorSession:
        self._check_key()
        tools = client_tools_of(meta)
        info = await self._find(session, check_folders(cwd, folders))
        before = self._open.get(info.id)
        if before is not None and before.is_busy:
            raise refusal("An exchange runs in this session; stop it or wait for its end before you load it.")
        if before is not None:
            del self._open[info.id]
            await answered(before.close())
        return await answered(self._begin(info, servers or [], tools))

    async def _find(self, session: str, folder: str) -> SessionInfo:
        try:
            info = await self._sessions.store.info(session)
        except NoSuchSession as error:
            raise RequestError(NOT_FOUND, str(error)) from None
        if info.kind != self._options.kind:
            raise RequestError(NOT_FOUND, str(NoSuchSession(session)))
        place = info.settings.get("workspace")
        if place != folder:
            raise refusal(f"That session works in {place}; open that folder to go on with it.")
        return info

    async def _begin(
        self, info: SessionInfo, servers: Sequence[McpConfig], tools: list[ToolDefinition] | None = None
    ) -> EditorSession:
        """Open a stored session with the MCP servers of the editor, and with the tools that it runs itself if given."""
        assert self._client is not None
        find_extras = self._options.find_extras
        parts = SessionParts(self._sessions, self._models, self._sandbox, self._client, self._abilities, find_extras)
        async with AsyncExitStack() as stack:
            notes = list(self._options.problems)
            extra: list[ToolLike] = list(self._options.own_tools())
            if servers:
                started = await stack.enter_async_context(mcp_servers_of(servers, str(info.settings.get("workspace"))))
                notes += [str(fault) for fault in started.failures.values()]
                extra.append(started)
            if tools is not None:
                builtin = named_tools(SessionSettings.of(info.settings).tools, self._sandbox)
                check_names(tools, {tool.name for tool in Registry([*builtin, *extra])})
            resources = stack.pop_all()
        if tools is not None:
            settings = msgspec.structs.replace(SessionSettings.of(info.settings), client_tools=tools)
            await self._sessions.store.configure(info.id, settings.data())
            info = await self._sessions.store.info(info.id)
        try:
            session = await EditorSession.open(parts, info, extra, resources)
        except BaseException:
            await resources.aclose()
            raise
        session.notes += notes
        self._open[info.id] = session
        return session

    def _state(self, session: EditorSession) -> dict[str, Any]:
        """Return the modes and options of a session, for the response that opens it."""
        modes = [schema.SessionMode(id=mode, name=name, description=text) for mode, (name, text) in _MODES.items()]
        return {
            "modes": schema.SessionModeState(current_mode_id=session.settings.mode(), available_modes=modes),
            "config_options": self._config_options(session),
        }

    def _config_options(self, session: EditorSession) -> list[ConfigOption]:
        settings = session.settings
        names = dict.fromkeys([settings.model, *(view.name for view in self._models.list_models())])
        modes = [
            schema.SessionConfigSelectOption(value=mode, name=name, description=text)
            for mode, (name, text) in _MODES.items()
        ]
        models = [
            schema.SessionConfigSelectOption(value=name, name=name)
            for name in names
            if not name.startswith("local/")  # which only builds pages
        ]
        return [
            schema.SessionConfigOptionSelect(
                type="select",
                id="mode",
                name="Mode",
                category="mode",
                current_value=settings.mode(),
                options=modes,
            ),
            schema.SessionConfigOptionSelect(
                type="select", id="model", name="Model", category="model", current_value=settings.model, options=models
            ),
        ]

    def _model(self) -> str:
        return self._options.settings.model or self._options.default_model()

    def _key_problem(self) -> str | None:
        """Return why no model can be used, if so."""
        try:
            self._options.check_model(self._model())
        except HealdError as error:
            return str(error)
        return None

    def _check_key(self) -> None:
        problem = self._key_problem()
        if problem is not None:
            raise RequestError(AUTH_REQUIRED, problem)
