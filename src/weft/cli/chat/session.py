"""The stored session behind `weft chat`: begin, resume, undo, cost."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256

import msgspec

from weft.cli.project_notes import read_notes
from weft.cli.run import NO_MODEL, require_key
from weft.cli.sessions import list_sessions
from weft.cli.terminal import format_usd
from weft.core.envelope import Event
from weft.core.errors import ConfigurationError, WeftError
from weft.core.events import ExchangeRequest, ExchangeResponse, FileChanged, SessionRewound
from weft.core.turn import Usage
from weft.server.models import KnownModels
from weft.sessions.resumption import AfterCrash
from weft.sessions.session import Session
from weft.sessions.sessions import Sessions
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo, StoreError, iterate_events
from weft.tools.builtin import named_tools
from weft.tools.function_tools import ToolLike
from weft.tools.shell.sandbox import Sandbox
from weft.tools.workspace.base import PathFault, Workspace
from weft.tools.workspace.diff import unified_diff
from weft.tools.workspace.disk import DiskWorkspace

KIND = "chat"
"""The kind of these sessions: a server does not list them, since their workspace is a path."""
_MAX_MODELS = 40
EventHandler = Callable[[Event], None]


class ChatSession:
    """Holds one open session between `begin` or `resume` and `close`."""

    def __init__(
        self,
        sessions: Sessions,
        models: KnownModels,
        settings: SessionSettings,
        *,
        sandbox: Sandbox,
        own_tools: Callable[[], Sequence[ToolLike]],
        on_event: EventHandler,
        after_crash: AfterCrash = "continue",
    ) -> None:
        self._sessions = sessions
        self._models = models
        self._settings = settings
        self._sandbox = sandbox
        self._own_tools = own_tools
        self._on_event = on_event
        self._after_crash: AfterCrash = after_crash
        self._session: Session | None = None
        self._held: list[Event] | None = None  # events of a resumed session whose history is not shown yet
        self._opened_at = 0

    @property
    def session(self) -> Session:
        assert self._session is not None
        return self._session

    @property
    def model(self) -> str:
        return self._settings.model

    @property
    def folder(self) -> str:
        return self._settings.workspace or ""

    @property
    def is_busy(self) -> bool:
        return self._session is not None and self._session.engine.current is not None

    async def begin(self) -> None:
        """Open a new session."""
        self.check(self._settings.model)
        settings = msgspec.structs.asdict(self._settings)
        opened = await self._open(await self._sessions.create(kind=KIND, **settings), self._settings)
        await self.close()
        self._session = opened

    async def resume(self, info: SessionInfo, model: str | None = None) -> None:
        """Continue an earlier session with its settings, or with another model."""
        stored = SessionSettings.of(info.settings)
        if stored.workspace != self.folder:
            raise ConfigurationError(
                f"That session works in {stored.workspace}; run `weft chat` there to go on with it."
            )
        name = model or stored.model
        self.check(name)
        settings = msgspec.structs.replace(stored, model=name)
        self._held = []
        try:
            opened = await self._open(info, settings)
        except BaseException:
            self._held = None
            raise
        self._opened_at = opened.bus.seq
        await self.close()
        self._session, self._settings = opened, settings

    async def change_model(self, name: str) -> None:
        """Continue the conversation with another model."""
        self.check(name)
        session = self.session
        await session.configure(model=name)
        await session.close()
        self._settings = msgspec.structs.replace(self._settings, model=name)
        self._session = await self._open(await self._sessions.store.info(session.session), self._settings)

    def check(self, name: str) -> None:
        """Raise if a model cannot be used for a conversation."""
        if not name:
            raise ConfigurationError(NO_MODEL)
        if name.startswith("local/"):
            raise ConfigurationError(f"{name} builds pages and does not talk; `weft build` uses it.")
        require_key(self._models, name)

    async def earlier(self) -> list[SessionInfo]:
        """List earlier sessions of this folder that have events, the latest first."""
        found: list[SessionInfo] = []
        async for info in list_sessions(self._sessions, kind=KIND):
            here = self._session is not None and info.id == self._session.session
            if info.last_seq and not here and info.settings.get("workspace") == self.folder:
                found.append(info)
            if len(found) == 20:
                break
        return found

    async def events(self) -> list[Event]:
        return [event async for event in iterate_events(self._sessions.store, self.session.session)]

    async def history(self) -> list[Event]:
        """Read the events from before this process resumed the session."""
        return [event for event in await self.events() if event.seq <= self._opened_at]

    def show_events(self) -> None:
        """Show what happens in a resumed session from now on, and what still waits in it for the person."""
        held, self._held = self._held or [], None
        for event in (*self.session.waiting_events, *held):
            self._on_event(event)

    async def cost(self) -> str:
        """Describe tokens and cost so far. Undone exchanges count: they were paid for."""
        await self.session.flush()
        usage, usd, asked = Usage(), 0.0, 0
        unknown = False
        for event in await self.events():
            if isinstance(event.data, ExchangeResponse):
                asked += 1
                usage += event.data.usage
                unknown |= event.data.cost_usd is None
                usd += event.data.cost_usd or 0
        tokens = f"{usage.total_input or 0:,} tokens in, {usage.total_output or 0:,} out"
        least = "at least " if unknown and usd else ""
        money = "cost unknown" if unknown and not usd else f"{least}{format_usd(usd)}"
        return f"{asked} exchanges with {self.model}: {tokens}, {money}."

    async def model_names(self) -> list[str]:
        """List the models that can be used now, the current one marked."""
        views = await asyncio.to_thread(self._models.list_models)
        names = [view.name for view in views if not view.name.startswith("local/")]
        left = len(names) - _MAX_MODELS
        listed = [f"{'*' if name == self.model else ' '} {name}" for name in names[:_MAX_MODELS]]
        return [*listed, *([f"  and {left} more; `weft models` lists all"] if left > 0 else [])]

    async def diff(self, path: str = "") -> str:
        """Return the changes of files that this conversation made, of all or of one."""
        await self.session.flush()
        first: dict[str, int] = {}
        for event in await self.events():
            if isinstance(event.data, FileChanged):
                first.setdefault(event.data.path, event.data.revision - 1)
        workspace = self.session.workspace
        diffs: list[str] = []
        for name, revision in first.items():
            if path and name != path:
                continue
            now = workspace.read(name, remember=False) if workspace.exists(name) else None
            diffs.append(unified_diff(name, workspace.content_at(name, revision), now))
        return "".join(diffs)

    async def undo(self) -> list[str]:
        """Remove the last exchange from the conversation and restore its files. Returns lines to print."""
        await self.session.flush()
        found = _last_exchange(await self.events())
        if found is None:
            return ["There is nothing to undo."]
        request, changes = found
        await self.session.rewind(request.seq - 1)
        assert isinstance(request.data, ExchangeRequest)
        asked = " ".join(request.data.message.words.split())[:60]
        return [f"Undone: {asked}", *_restore_files(self.session.workspace, changes)]

    async def close(self) -> None:
        """Close the session. One without events is deleted."""
        session, self._session = self._session, None
        if session is None:
            return
        with suppress(StoreError):
            await session.close()
            if not (await self._sessions.store.info(session.session)).last_seq:
                await self._sessions.delete(session.session)

    async def _open(self, info: SessionInfo, settings: SessionSettings) -> Session:
        model = self._models.open(settings.model)
        tools = [*named_tools(settings.tools, self._sandbox), *self._own_tools()]
        instructions = [text for text in (settings.instructions, read_notes(self.folder)) if text]
        session = await self._sessions.open(
            info.id, model=model, tools=tools, instructions=instructions, after_crash=self._after_crash
        )
        session.subscribe(self._receive)
        return session

    def _receive(self, event: Event) -> None:
        if self._held is not None:
            self._held.append(event)
        else:
            self._on_event(event)


def _last_exchange(events: Sequence[Event]) -> tuple[Event, list[FileChanged]] | None:
    """Find the last request that was not undone, and the changes of files in its exchange."""
    requests: list[Event] = []
    for event in events:
        if isinstance(event.data, ExchangeRequest):
            requests.append(event)
        elif isinstance(event.data, SessionRewound):
            upto = event.data.seq
            requests = [request for request in requests if request.seq <= upto]
    if not requests:
        return None
    last = requests[-1]
    changes = [
        event.data for event in events if event.exchange == last.exchange and isinstance(event.data, FileChanged)
    ]
    return last, changes


def _restore_files(workspace: Workspace, changes: Sequence[FileChanged]) -> list[str]:
    """Restore files to their content before these changes, except those that were changed since."""
    lines: list[str] = []
    for path in dict.fromkeys(change.path for change in changes):
        mine = [change for change in changes if change.path == path]
        try:
            lines.append(_restore_file(workspace, path, mine[0].revision - 1, mine[-1].hash))
        except (PathFault, WeftError) as error:
            lines.append(f"{path} stays as it is: {error}")
    return lines


def _restore_file(workspace: Workspace, path: str, revision: int, last: str | None) -> str:
    before = workspace.content_at(path, revision)
    now = workspace.read(path, remember=False) if workspace.exists(path) else None
    if (sha256(now).hexdigest() if now is not None else None) != last:
        return f"{path} stays as it is: it was changed since."
    # With a workspace of its own: the session's revisions notice it like any change from outside.
    disk = DiskWorkspace(workspace.root)
    try:
        if before is None:
            disk.delete(path, on_change=id)
            return f"{path} is deleted again."
        disk.write(path, before, on_change=id)
        return f"{path} is restored."
    finally:
        disk.close()
