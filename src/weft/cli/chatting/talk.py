"""The conversation behind the screen: a session on a folder, kept so that it can be gone on with."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256

import msgspec

from weft.cli.paint import dollars
from weft.cli.run import NO_MODEL
from weft.cli.sessions import all_of
from weft.core.envelope import Event
from weft.core.errors import ConfigurationError, WeftError
from weft.core.events import ExchangeRequest, ExchangeResponse, FileChanged, SessionRewound
from weft.core.usage import Usage
from weft.providers.model import Model
from weft.server.models import KnownModels
from weft.sessions.errors import StoreError
from weft.sessions.session import Session
from weft.sessions.sessions import Sessions
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo, events_of
from weft.tools.builtin import named_tools
from weft.tools.shell.sandbox import Sandbox
from weft.tools.workspace.base import PathFault, Workspace
from weft.tools.workspace.disk import DiskWorkspace

KIND = "chat"
"""What kind of session it is: not one of a server's, since its folder is named by its path."""
Hear = Callable[[Event], None]


class Talk:
    """One session at a time, always open between `begin` or `resume` and `close`."""

    def __init__(
        self, sessions: Sessions, models: KnownModels, settings: SessionSettings, *, sandbox: Sandbox, hear: Hear
    ) -> None:
        self._sessions = sessions
        self._models = models
        self._settings = settings
        self._sandbox = sandbox
        self._hear = hear
        self._session: Session | None = None

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
        """A new session."""
        self.check(self._settings.model)
        fields = SessionSettings.__struct_fields__
        settings = {name: getattr(self._settings, name) for name in fields}
        opened = await self._opened(await self._sessions.create(kind=KIND, **settings), self._settings)
        await self.close()
        self._session = opened

    async def resume(self, info: SessionInfo, model: str | None = None) -> None:
        """Go on with an earlier one, with its own settings, and with another model if one is given."""
        kept = SessionSettings.of(info.settings)
        if kept.workspace != self.folder:
            raise ConfigurationError(f"That session works in {kept.workspace}; run `weft chat` there to go on with it.")
        name = model or kept.model
        self.check(name)
        settings = msgspec.structs.replace(kept, model=name)
        opened = await self._opened(info, settings)
        await self.close()
        self._session, self._settings = opened, settings

    async def change_model(self, name: str) -> None:
        """The same conversation, with another model from here on."""
        self.check(name)
        session = self.session
        await session.configure(model=name)
        await session.close()
        self._settings = msgspec.structs.replace(self._settings, model=name)
        self._session = await self._opened(await self._sessions.store.info(session.session), self._settings)

    def check(self, name: str) -> None:
        """Raises what is wrong with a model before anything is begun with it."""
        if not name:
            raise ConfigurationError(NO_MODEL)
        if name.startswith("local/"):
            raise ConfigurationError(f"{name} builds pages and does not talk; `weft build` uses it.")
        model = self._models.open(name)
        if isinstance(model, Model):
            model.require_key()

    async def earlier(self) -> list[SessionInfo]:
        """Sessions of this folder in which something was said, the last one first."""
        found: list[SessionInfo] = []
        async for info in all_of(self._sessions, kind=KIND):
            here = self._session is not None and info.id == self._session.session
            if info.last_seq and not here and info.settings.get("workspace") == self.folder:
                found.append(info)
            if len(found) == 20:
                break
        return found

    async def events(self) -> list[Event]:
        return [event async for event in events_of(self._sessions.store, self.session.session)]

    async def cost(self) -> str:
        """What the conversation took so far, taken-back exchanges included: they were paid for."""
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
        money = "cost unknown" if unknown and not usd else f"{least}{dollars(usd)}"
        return f"{asked} exchanges with {self.model}: {tokens}, {money}."

    async def undo(self) -> list[str]:
        """Take the last exchange back: out of the conversation, and its files as they were. Gives what to say."""
        await self.session.flush()
        found = _last_exchange(await self.events())
        if found is None:
            return ["There is nothing to undo."]
        request, changes = found
        await self.session.rewind(request.seq - 1)
        assert isinstance(request.data, ExchangeRequest)
        asked = " ".join(request.data.message.words.split())[:60]
        return [f"Undone: {asked}", *_restored(self.session.workspace, changes)]

    async def close(self) -> None:
        """Leave the session. One in which nothing was said is not kept."""
        session, self._session = self._session, None
        if session is None:
            return
        with suppress(StoreError):
            await session.close()
            if not (await self._sessions.store.info(session.session)).last_seq:
                await self._sessions.delete(session.session)

    async def _opened(self, info: SessionInfo, settings: SessionSettings) -> Session:
        model = self._models.open(settings.model)
        session = await self._sessions.open(info.id, model=model, tools=named_tools(settings.tools, self._sandbox))
        session.subscribe(self._hear)
        return session


def _last_exchange(events: Sequence[Event]) -> tuple[Event, list[FileChanged]] | None:
    """The last request that is still in the conversation, and what its exchange did to files."""
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


def _restored(workspace: Workspace, changes: Sequence[FileChanged]) -> list[str]:
    """Put files back as they were before these changes, but for those that were changed again since."""
    said: list[str] = []
    for path in dict.fromkeys(change.path for change in changes):
        mine = [change for change in changes if change.path == path]
        try:
            said.append(_put_back(workspace, path, mine[0].revision - 1, mine[-1].hash))
        except (PathFault, WeftError) as error:
            said.append(f"{path} stays as it is: {error}")
    return said


def _put_back(workspace: Workspace, path: str, revision: int, last: str | None) -> str:
    before = workspace.content_at(path, revision)
    now = workspace.read(path, remember=False) if workspace.exists(path) else None
    if (sha256(now).hexdigest() if now is not None else None) != last:
        return f"{path} stays as it is: it was changed again since."
    # By a hand of its own, as if a person had done it: the session's revisions notice it like any foreign change.
    hand = DiskWorkspace(workspace.root)
    try:
        if before is None:
            hand.delete(path, on_change=id)
            return f"{path} is gone again."
        hand.write(path, before, on_change=id)
        return f"{path} is as it was before."
    finally:
        hand.close()
