"""A server as one of the nodes of a store.

It proves that it is alive, claims the work of dead nodes, runs the commands that other nodes post for its sessions, and
feeds its streams with the events that other nodes store: one read and one encoding for all readers of a session.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic

from heald.core.errors import HealdError
from heald.core.json import encode
from heald.sessions.commit_clock import clock_of
from heald.sessions.news import News
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.shared_store import (
    HEARTBEAT_SECONDS,
    NODE_SECONDS,
    READERS_SECONDS,
    RETRY_CLAIM_SECONDS,
    EventFeed,
    PostedCommand,
    SharedStore,
)
from heald.sessions.store_errors import Fenced, NoSuchSession, SessionBusy, StoreCorrupt, StoreError, StoreFull
from heald_server.cluster.forwarding import ForwardedCall, ForwardedReply, Forwarder, decode_command, read_reply
from heald_server.cluster.node_tasks import NodeTasks, wait_for_event
from heald_server.cluster.placement import Placement
from heald_server.cluster.store_placement import CLAIM_SECONDS
from heald_server.http.errors import ApiError
from heald_server.open_sessions import OpenSessions
from heald_server.settings import ServerSettings

MOST_CLAIMED = 16
"""Sessions that are claimed at once, so that other nodes get some too."""
LONGEST_LAG = 10.0
"""A node whose event loop does nothing for so long counts as dead, though its process lives."""
FIRST_RETRY_SECONDS = 0.5
"""When a claimed session that could not be opened is claimed once more. Each failure doubles it, up to
`RETRY_CLAIM_SECONDS`: a short trouble of the store does not hold up a takeover."""
IDLE_SECONDS = 5.0
"""Where there are several nodes, a session that is not used for so long is released."""
COMMANDS_SECONDS = 2.0
"""How often commands of other nodes are read though there was no news of any: news may be lost."""
EVENTS_SECONDS = 5.0
"""How often events of other nodes are read though there was no news of any."""
_UNKNOWN = 2**62
"""The end of a log that is not known: it is read until nothing comes."""
_START_SECONDS = 5.0
"""How long room is kept for a request that is about to start."""
_THIN_BEATS = 60
DAMAGED = "damaged"
"""The kind of the records that name damaged sessions."""

_log = logging.getLogger("heald_server.cluster.node")


class NodeTrouble:
    """Logs what a node cannot do: once, and once more when the reason changes or when it works."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}

    def report(self, what: str, error: Exception) -> None:
        reason = str(error) or type(error).__name__
        if self._reasons.get(what) != reason:
            _log.warning("%s: %s", what, reason)
        self._reasons[what] = reason

    def clear(self, what: str) -> None:
        if self._reasons.pop(what, None) is not None:
            _log.info("over: %s", what)


class ServerNode:
    """Connects the sessions of a server to the other nodes of its store."""

    def __init__(
        self,
        store: SharedStore,
        sessions: OpenSessions,
        *,
        folders: Sequence[str],
        settings: ServerSettings,
        placement: Placement,
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._folders = folders
        self._room = settings.room
        self._keep_deltas = settings.keep_deltas
        self._placement = placement
        self.forwarder = Forwarder(store)
        self._beat: float | None = None
        self._tick = 0.0
        self._end_support: Callable[[], None] = lambda: None
        self._draining = False
        self._stale: dict[str, int] = {}  # sessions that are watched here, and the ends of their logs
        self._on_commands, self._on_events = asyncio.Event(), asyncio.Event()
        self._feed = store if isinstance(store, EventFeed) else None
        self._new_readers: set[str] = set()  # sessions with readers here that are not announced yet
        self._next_announcement = 0.0
        if self._feed is not None:
            sessions.on_first_reader = self._on_first_reader
        self._on_thinned = asyncio.Event()
        self._on_thinned.set()
        self._tasks = NodeTasks()
        self._unsubscribe: Callable[[], None] | None = None
        self._on_records: list[Callable[[str], object]] = []
        self._retries: dict[str, float] = {}  # when claimed sessions that could not be opened are tried once more
        self._starting: dict[str, float] = {}  # sessions whose exchanges are about to start, and until when
        self._trouble = NodeTrouble()
        sessions.ask_release = self.forwarder.ask_release
        if placement.passes_on:
            sessions.on_open(self._offer_requests)

    @property
    def name(self) -> str:
        return self._store.node

    @property
    def room(self) -> int:
        """Sessions that may run here at once."""
        return self._room

    @property
    def is_ready(self) -> bool:
        """Whether the node may get requests: it does not drain, the store answered lately, and its tasks run."""
        is_beating = self._beat is not None and monotonic() - self._beat < NODE_SECONDS
        return not self._draining and is_beating and self._tasks.are_alive

    @property
    def task_ages(self) -> Mapping[str, float]:
        """Seconds since the last beat of each background task."""
        return self._tasks.ages

    async def must_pass_on(self, session: str, folder: str | None = None) -> bool:
        """Whether a request is to be stored for another node: this one is full and another has room for its session,
        which may work in a folder, or the placement decides where it runs. If not, room is kept for it here until its
        exchange runs: requests that come together must not all take the last place."""
        if self._placement.passes_on:
            return True
        if self._is_full():
            others = [node for node in await self._store.list_nodes() if node.name != self.name and node.room > 0]
            if any(folder is None or folder in node.folders for node in others):
                return True
        self._starting[session] = monotonic() + _START_SECONDS
        return False

    def end_start(self, session: str) -> None:
        """The exchange of a request that was not passed on runs, or was refused."""
        self._starting.pop(session, None)

    def _is_full(self) -> bool:
        """Whether no further exchange may run here. Those about to start are looked at only if that may be so."""
        return self._sessions.busy + len(self._starting) >= self._room and self._count_busy() >= self._room

    def _count_busy(self) -> int:
        """Count the exchanges that run here or are about to."""
        now = monotonic()
        for session, until in list(self._starting.items()):
            opened = self._sessions.find_open(session)
            if until < now or (opened is not None and opened.current is not None):
                del self._starting[session]
        return self._sessions.busy + len(self._starting)

    def _offer_requests(self, info: SessionInfo, session: Session) -> None:
        """Have requests that begin here known to the placement too, so that they are placed anew if this node dies."""
        session.subscribe(
            lambda _: self._tasks.start("offer", self._placement.offer(info.id)), types=["exchange_request"]
        )

    async def offer(self, session: str) -> None:
        """Have the work of a session placed."""
        await self._placement.offer(session)

    def on_records(self, callback: Callable[[str], object]) -> None:
        """Call back with a kind of records when they have changed, or may have."""
        self._on_records.append(callback)

    async def start(self) -> None:
        try:
            await self._send_heartbeat()
        except StoreFull as error:  # what is stored can be read; the node is ready when there is room
            _log.error("the node is not ready: %s", error)
        self._tick = monotonic()
        self._end_support = self._store.support_heartbeat(lambda: monotonic() - self._tick < LONGEST_LAG)
        self._unsubscribe = self._store.subscribe_news(self._on_news)
        self._tasks.keep_running("heartbeat", self._beat_for_ever)
        self._tasks.keep_running("commands", self._serve_commands)
        self._tasks.keep_running("events", self._feed_hubs)
        await self._placement.start(self)

    def drain(self) -> None:
        """Accept no more work, and report that the node is not ready."""
        if not self._draining:
            self._draining = True
            self._tasks.start("drain", self._placement.stop())

    async def stop(self) -> None:
        """End the node, after its sessions were released."""
        self._draining = True
        await self._placement.stop()
        if self._unsubscribe is not None:
            self._unsubscribe()
        self._end_support()
        await self._tasks.stop()
        with suppress(StoreError):
            await self._store.end_node()

    # --- being alive -------------------------------------------------------------------------------------------------

    async def _beat_for_ever(self) -> None:
        failing = False
        beats = 0
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            self._tick = monotonic()
            self._tasks.beat("heartbeat")
            try:
                async with asyncio.timeout(NODE_SECONDS):
                    await self._send_heartbeat()
                beats += 1
                if beats % 5 == 0:
                    nodes = len(await self._store.list_nodes())
                    clock_of(asyncio.get_running_loop()).nodes = max(nodes, 1)
                    if nodes > 1:
                        await self._sessions.close_idle(IDLE_SECONDS)
                if beats % _THIN_BEATS == 0 and self._keep_deltas is not None and self._on_thinned.is_set():
                    self._on_thinned.clear()
                    self._tasks.start("thinning", self._thin_out(self._keep_deltas))
                failing = False
            except (HealdError, TimeoutError) as error:
                if not failing:
                    _log.error("the store does not answer: %s", error or type(error).__name__)
                failing = True

    async def _send_heartbeat(self) -> None:
        await self._store.heartbeat(folders=self._folders, room=max(self._room - self._count_busy(), 0))
        self._beat = monotonic()

    async def _thin_out(self, seconds: float) -> None:
        """Join the deltas of old sessions, a few at a time."""
        try:
            while await self._store.thin_out(seconds=seconds):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        except HealdError as error:
            _log.warning("old sessions cannot be thinned out: %s", error)
        finally:
            self._on_thinned.set()

    # --- work --------------------------------------------------------------------------------------------------------

    async def claim_sessions(self, *, starts: bool = True) -> list[str]:
        """Claim sessions in the store whose node is dead or missing, and start their work here. With `starts=False`
        they are only found, and stay free."""
        self._tasks.beat("claims")
        room = min(self._room - self._count_busy(), MOST_CLAIMED)
        if self._draining or room <= 0 or not self.is_ready:
            return []
        try:
            claimed = list(await self._store.claim_work(room))
            self._trouble.clear("no work can be claimed")
        except (HealdError, TimeoutError) as error:
            self._trouble.report("no work can be claimed", error)
            raise
        for session in claimed:
            if starts:
                self._starting[session] = monotonic() + _START_SECONDS
                self._tasks.start("continue", self._continue(session))
            else:
                await self._store.unclaim_work(session, seconds=0.0)
        return claimed

    async def run_session(self, session: str, on_beat: Callable[[], object]) -> None:
        """Run the work of a session here until none is left, and call back about every second meanwhile.

        It waits as long as another living node has the session. It raises if the work must go on elsewhere.
        """
        while True:
            on_beat()
            if self._draining:
                raise HealdError("The node stops; the work goes on elsewhere.")
            try:
                info = await self._store.info(session)
                if info.work == "idle":
                    return
                async with self._sessions.use(info):
                    pass  # opening it continues its exchange and its queued requests
            except NoSuchSession:
                return
            except (SessionBusy, Fenced):
                pass  # another node has it
            except StoreCorrupt as error:
                await self._set_aside(session, str(error))
                return
            await asyncio.sleep(HEARTBEAT_SECONDS)

    async def run_command(self, session: str, command: str, body: bytes) -> None:
        """Send a command to a session, wherever it runs: `cancel`, or `approvals/{approval}` with a JSON decision."""
        name, _, approval = command.partition("/")
        path = {"session": session} | ({"approval": approval} if approval else {})
        call = ForwardedCall(
            operation=f"POST /sessions/{{session}}/{name}" + ("/{approval}" if approval else ""),
            session=session,
            owner=(await self._store.info(session)).owner,
            path=path,
            content_type="application/json",
            body=body,
        )
        read_reply(await self.forwarder.deliver(call))

    async def _continue(self, session: str) -> None:
        """Open a claimed session, which continues its exchange and its queued requests."""
        try:
            info = await self._store.info(session)
            opened = self._sessions.find_open(session)
            if opened is not None and opened.error is None and opened.epoch < info.epoch:
                opened.fence()  # it was another node's meanwhile, and has to be opened anew
            async with self._sessions.use(info):
                _log.info("continues the work of another node", extra={"session": session})
                self._retries.pop(session, None)
        except (SessionBusy, NoSuchSession, Fenced):
            return  # another node was faster, or it was deleted
        except StoreCorrupt as error:
            await self._set_aside(session, str(error))
        except ApiError:
            await self._unclaim(session)
        except StoreError as error:
            _log.warning("a session could not be continued: %s", error, extra={"session": session})
            await self._unclaim(session)
        except Exception:
            _log.exception("The requests of a session could not be continued.", extra={"session": session})
            await self._unclaim(session)
        finally:
            self.end_start(session)

    async def _unclaim(self, session: str) -> None:
        seconds = self._retries.get(session, FIRST_RETRY_SECONDS)
        self._retries[session] = min(seconds * 2, RETRY_CLAIM_SECONDS)
        with suppress(HealdError):
            await self._store.unclaim_work(session, seconds=seconds)

    async def _set_aside(self, session: str, reason: str) -> None:
        """Name a damaged session for the operator, and let no node claim it."""
        _log.error("a session is damaged and set aside: %s", reason, extra={"session": session})
        with suppress(HealdError):
            await self._store.put_record(DAMAGED, session, reason.encode())
            await self._store.unclaim_work(session, forget=True)

    # --- news --------------------------------------------------------------------------------------------------------

    def _on_news(self, news: News) -> None:
        match news.topic:
            case "events":
                self._on_appended(news)
            case "commands":
                self._on_commands.set()
            case "work":
                self._placement.wake()
            case "records":
                self._publish_records(news.name)
            case "lost":
                self._stale |= dict.fromkeys(self._sessions.watched(), _UNKNOWN)
                self._next_announcement = 0.0
                for event in (self._on_events, self._on_commands):
                    event.set()
                self._placement.wake()
                self._publish_records("")
            case "replies" | "readers":
                pass

    def _publish_records(self, kind: str) -> None:
        for callback in self._on_records:
            callback(kind)

    def _on_appended(self, news: News) -> None:
        opened = self._sessions.find_open(news.session)
        if opened is not None and opened.error is None:
            if news.epoch > opened.epoch:
                opened.fence()
            return
        if news.seq == 0:
            self._sessions.hub(news.session).invalidate()  # it was deleted
        elif self._sessions.is_watched(news.session) and not self._extend_hub(news):
            self._stale[news.session] = max(news.seq, self._stale.get(news.session, 0))
            self._on_events.set()

    def _extend_hub(self, news: News) -> bool:
        """Add the events that news carry to the hub of their session. Returns False if they must be read."""
        hub = self._sessions.hub(news.session)
        if self._feed is None or not news.rows or hub.tail is None or news.first > hub.tail + 1:
            return False
        events = self._feed.decode_news(news)
        if events is not None:
            hub.extend(events)
        return events is not None

    def _on_first_reader(self, session: str) -> None:
        self._new_readers.add(session)
        self._on_events.set()

    async def _announce_readers(self) -> None:
        """Have news of the sessions that are read here, whichever node writes them: of new ones at once, of all of them
        again and again. Those that are open here too: they may move to another node."""
        if self._feed is None:
            return
        new, self._new_readers = self._new_readers, set()
        now = monotonic()
        if now >= self._next_announcement:
            self._next_announcement = now + READERS_SECONDS / 3
            new.update(self._sessions.list_read())
        if new:
            try:
                await self._feed.announce_readers(sorted(new))
            except HealdError:
                self._new_readers |= new
                raise

    async def _feed_hubs(self) -> None:
        """Read what other nodes stored in sessions that are watched here."""
        while True:
            self._tasks.beat("events")
            if not await wait_for_event(self._on_events, EVENTS_SECONDS):
                hubs = [self._sessions.hub(name) for name in self._sessions.watched()]
                self._stale |= {hub.session: _UNKNOWN for hub in hubs if hub.tail is not None}
            self._on_events.clear()
            stale, self._stale = self._stale, {}
            try:
                await self._read_stale(stale)
                await self._announce_readers()
                self._trouble.clear("events of other nodes cannot be read")
            except Exception as error:
                for name in stale:
                    self._sessions.hub(name).invalidate()
                if not isinstance(error, HealdError):
                    raise
                self._trouble.report("events of other nodes cannot be read", error)

    async def _read_stale(self, stale: Mapping[str, int]) -> None:
        """Read the logs of sessions up to their known ends. What is left is read the next time."""
        hubs = [self._sessions.hub(name) for name in stale if self._sessions.is_watched(name)]
        cursors = {hub.session: hub.tail for hub in hubs if hub.tail is not None}
        for hub in hubs:
            if hub.tail is None:
                hub.invalidate()  # its readers read once for themselves
                hub.tail = end if (end := stale[hub.session]) < _UNKNOWN else None
        if not cursors:
            return
        for session, events in (await self._store.read_many(cursors)).items():
            self._sessions.hub(session).extend(events)
            if events and events[-1].seq < stale[session]:
                self._stale[session] = max(stale[session], self._stale.get(session, 0))
                self._on_events.set()

    # --- commands ----------------------------------------------------------------------------------------------------

    async def _serve_commands(self) -> None:
        while True:
            self._tasks.beat("commands")
            await wait_for_event(self._on_commands, COMMANDS_SECONDS)
            self._on_commands.clear()
            try:
                commands = await self._store.read_commands()
                self._trouble.clear("commands of other nodes cannot be read")
            except HealdError as error:
                self._trouble.report("commands of other nodes cannot be read", error)
                await asyncio.sleep(CLAIM_SECONDS)
                self._on_commands.set()
                continue
            for command in commands:
                self._tasks.start("command", self._run_command(command))

    async def _run_command(self, posted: PostedCommand) -> None:
        command = decode_command(posted.body)
        if isinstance(command, ForwardedCall):
            reply = await self.forwarder.answer(command)
        else:
            reply = ForwardedReply(status=200, moved=await self._sessions.release_idle(posted.session, command.waiting))
        try:
            await self._store.reply_command(posted.id, encode(reply))
        except HealdError as error:
            _log.warning("a command cannot be answered: %s", error, extra={"session": posted.session})
