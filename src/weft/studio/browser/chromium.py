"""Finds Chromium, starts it over pipes without a network, and ends it with every process that it started.

It ends with this process as well: a Chromium that is driven by a pipe exits when the other end of the pipe closes. The
pipes carry the DevTools protocol: JSON messages that end with NUL, a `sessionId` for every tab, no port.
"""

import asyncio
import contextlib
import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from weft.studio.browser.page import BrowserError

Params = dict[str, Any]
Listener = Callable[[str, Params], None]  # gets the method and the parameters of an event

MAX_MESSAGE = 256 * 1024 * 1024


class _Message(msgspec.Struct, rename={"session": "sessionId"}):
    id: int = 0
    session: str = ""
    method: str = ""
    params: Params = {}
    result: Params = {}
    error: Params | None = None


class CommandFailed(Exception):
    """The browser answered a command with an error."""


class DevToolsConnection(asyncio.Protocol):
    """Sends commands and receives results and events. If the browser ends, every open command raises BrowserError."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()
        self._pending: dict[int, asyncio.Future[Params]] = {}
        self._listeners: dict[str, Listener] = {}
        self._pieces: list[bytes] = []
        self._size = 0
        self._last = 0
        self._reading: asyncio.ReadTransport | None = None
        self._writing: asyncio.WriteTransport | None = None
        self._decoder = msgspec.json.Decoder(_Message)

    async def connect(self, reading: int, writing: int) -> None:
        """Connect over these descriptors. The connection owns them from now on."""
        loop = asyncio.get_running_loop()
        self._reading, _ = await loop.connect_read_pipe(lambda: self, os.fdopen(reading, "rb", 0))
        self._writing, _ = await loop.connect_write_pipe(asyncio.Protocol, os.fdopen(writing, "wb", 0))

    async def call(self, method: str, params: Params | None = None, session: str = "") -> Params:
        """Run a command and return its result."""
        self._last += 1
        number = self._last
        future = asyncio.get_running_loop().create_future()
        self._send(number, method, params or {}, session)
        self._pending[number] = future
        try:
            return await future
        finally:
            self._pending.pop(number, None)

    def post(self, method: str, params: Params | None = None, session: str = "") -> None:
        """Run a command whose result does not matter."""
        if not self.lost.is_set():
            self._last += 1
            self._send(self._last, method, params or {}, session)

    def subscribe(self, session: str, listener: Listener) -> None:
        self._listeners[session] = listener

    def unsubscribe(self, session: str) -> None:
        self._listeners.pop(session, None)

    def close(self) -> None:
        for transport in (self._reading, self._writing):
            if transport is not None:
                transport.close()
        self._fail_pending()

    def data_received(self, data: bytes) -> None:
        head, *rest = data.split(b"\0")
        self._pieces.append(head)
        self._size += len(head)
        if self._size > MAX_MESSAGE:
            self.close()
            return
        for piece in rest:
            whole = b"".join(self._pieces) if len(self._pieces) > 1 else self._pieces[0]
            self._pieces, self._size = [piece], len(piece)
            self._on_message(whole)

    def connection_lost(self, exc: Exception | None) -> None:
        self.close()

    def _send(self, number: int, method: str, params: Params, session: str) -> None:
        if self._writing is None or self.lost.is_set():
            raise connection_lost()
        message: Params = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        self._writing.write(msgspec.json.encode(message) + b"\0")

    def _on_message(self, raw: bytes) -> None:
        try:
            message = self._decoder.decode(raw)
        except msgspec.DecodeError:
            return
        if not message.id:
            listener = self._listeners.get(message.session)
            if listener is not None:
                listener(message.method, message.params)
            return
        future = self._pending.get(message.id)
        if future is None or future.done():
            return
        if message.error is not None:
            future.set_exception(CommandFailed(str(message.error.get("message", ""))))
        else:
            future.set_result(message.result)

    def _fail_pending(self) -> None:
        self.lost.set()
        for future in self._pending.values():
            if not future.done():
                future.set_exception(connection_lost())
        self._pending.clear()


def connection_lost() -> BrowserError:
    return BrowserError("The browser went away while it rendered the page; try again.", "gone")


# --- the process -----------------------------------------------------------------------------------------------------


NOT_FOUND = "Chromium was not found; install it (Debian: apt install chromium) or set WEFT_CHROMIUM=path."

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
_PATHS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)

NO_NETWORK = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://nowhere.invalid:9",
    "--proxy-bypass-list=<-loopback>",
)
"""No name is resolved, and all traffic, to this machine too, goes to a proxy that does not exist."""

ONLY_LOOPBACK = ("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", *NO_NETWORK[1:])
"""The same for a browser whose tabs use a proxy on this machine."""

_FLAGS = """
--headless=new --remote-debugging-pipe --no-first-run --no-default-browser-check --no-startup-window --no-pings
--no-service-autorun --password-store=basic --use-mock-keychain --disable-gpu --disable-dev-shm-usage
--disable-background-networking --disable-background-timer-throttling --disable-backgrounding-occluded-windows
--disable-breakpad --disable-client-side-phishing-detection --disable-component-extensions-with-background-pages
--disable-component-update --disable-crash-reporter --disable-default-apps --disable-domain-reliability
--disable-extensions --disable-hang-monitor --disable-ipc-flooding-protection --disable-lcd-text
--disable-notifications --disable-popup-blocking --disable-prompt-on-repost --disable-quic
--disable-renderer-backgrounding --disable-search-engine-choice-screen --disable-speech-api --disable-sync
--dns-prefetch-disable --block-new-web-contents --deny-permission-prompts
--force-webrtc-ip-handling-policy=disable_non_proxied_udp --webrtc-ip-handling-policy=disable_non_proxied_udp
--font-render-hinting=none --force-color-profile=srgb --force-device-scale-factor=1 --hide-scrollbars
--metrics-recording-only --mute-audio --js-flags=--max-old-space-size=512 --lang=en-US
"""
_DISABLED_FEATURES = """
AcceptCHFrame AutofillServerCommunication CertificateTransparencyComponentUpdater DialMediaRouteProvider
DnsOverHttps IsolateOrigins IsolateSandboxedIframes MediaRouter NetworkTimeServiceQuerying OptimizationHints
PaintHolding PreconnectToSearch Prerender2 SpareRendererForSitePerProcess SpeculationRules Translate
WebRtcHideLocalIpsWithMdns site-per-process
"""
_PREFIX = "weft-chromium-"
_SHORT_FOLDER = "/tmp"
_LONGEST_FOLDER = 30
_LOCK = "owner.lock"
START_SECONDS = 20.0
_INHERITED_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "FONTCONFIG_FILE", "FONTCONFIG_PATH")


def has_chromium() -> bool:
    """Whether there is a browser that can render pages."""
    try:
        find_chromium()
    except BrowserError:
        return False
    return True


def find_chromium() -> Path:
    """Find the program: WEFT_CHROMIUM if it is set, else the first one that is installed. Raises BrowserError."""
    chosen = os.environ.get("WEFT_CHROMIUM")
    if chosen:
        found = shutil.which(chosen)
        if found is None:
            raise BrowserError("WEFT_CHROMIUM names no program that can be run; set it to Chromium's path.", "missing")
        return Path(found)
    for name in (*_NAMES, *_PATHS):
        found = shutil.which(name)
        if found is not None:
            return Path(found)
    raise BrowserError(NOT_FOUND, "missing")


def command_line(program: Path, profile: Path, network: Sequence[str], *, sandbox: bool) -> list[str]:
    guard = [] if sandbox else ["--no-sandbox", "--no-zygote-sandbox"]
    return [
        str(program),
        *_FLAGS.split(),
        f"--disable-features={','.join(_DISABLED_FEATURES.split())}",
        *network,
        *guard,
        f"--user-data-dir={profile}",
        f"--crash-dumps-dir={profile}",
    ]


class Profile:
    """An empty profile folder, locked as long as it is in use."""

    def __init__(self) -> None:
        _remove_orphans()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_profiles_folder()))
        self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self) -> None:
        """Remove the folder, in two attempts: a killed browser may still write the first time."""
        for _ in range(2):
            shutil.rmtree(self.path, ignore_errors=True)
        lock, self._lock = self._lock, -1
        if lock >= 0:  # this may be called several times
            os.close(lock)


def _profiles_folder() -> str:
    """The folder of profiles. Chromium makes a socket in its profile, whose path may have about a hundred bytes."""
    usual = tempfile.gettempdir()
    is_short = len(os.fsencode(usual)) <= _LONGEST_FOLDER or not os.access(_SHORT_FOLDER, os.W_OK)
    return usual if is_short else _SHORT_FOLDER


def _remove_orphans() -> None:
    """Remove the profiles of killed processes: their locks are free."""
    for left in Path(_profiles_folder()).glob(f"{_PREFIX}*"):
        try:
            lock = os.open(left / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
        except OSError:
            pass
        finally:
            os.close(lock)


class Chromium:
    """A browser process and the connection to it."""

    def __init__(self, pid: int, connection: DevToolsConnection, profile: Profile) -> None:
        self.pid = pid
        self.connection = connection
        self._profile = profile

    @classmethod
    async def start(cls, network: Sequence[str]) -> "Chromium":
        """Start one, with its own sandbox where that works: not for root, and not where namespaces are forbidden."""
        program = find_chromium()
        if os.geteuid() != 0:
            with contextlib.suppress(BrowserError):
                return await cls._start(program, network, sandbox=True)
        return await cls._start(program, network, sandbox=False)

    @classmethod
    async def _start(cls, program: Path, network: Sequence[str], *, sandbox: bool) -> "Chromium":
        profile = Profile()
        connection = DevToolsConnection()
        try:
            pid, reading, writing = _spawn(command_line(program, profile.path, network, sandbox=sandbox), profile.path)
        except OSError:
            profile.remove()
            raise BrowserError("Chromium could not be started; check that WEFT_CHROMIUM can be run.", "start") from None
        chromium = cls(pid, connection, profile)
        try:
            await connection.connect(reading, writing)
            async with asyncio.timeout(START_SECONDS):
                await connection.call("Browser.getVersion")
        except (TimeoutError, BrowserError, CommandFailed):
            await chromium.close()
            raise BrowserError(
                "Chromium was started but did not answer; run it once by hand to see what it lacks.", "start"
            ) from None
        except BaseException:
            await chromium.close()
            raise
        return chromium

    @property
    def alive(self) -> bool:
        return not self.connection.lost.is_set()

    def memory(self) -> dict[int, int]:
        """Return the resident bytes of each process below this one; empty on systems without /proc."""
        return {pid: _resident(pid) for pid in _descendants(self.pid)}

    async def close(self) -> None:
        """Kill it and all its processes, and remove its profile."""
        self.connection.close()
        below = list(_descendants(self.pid))
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        for pid in below:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        await _run_in_thread(partial(_reap, self.pid))
        await _run_in_thread(self._profile.remove)


def _spawn(arguments: list[str], home: Path) -> tuple[int, int, int]:
    """Start a program that reads commands at descriptor 3 and writes at 4, in a process group of its own."""
    its_reading, writing = _pipe()
    reading, its_writing = _pipe()
    environment = {name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ}
    environment |= {"HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8", "TZ": "UTC"}
    environment["DBUS_SESSION_BUS_ADDRESS"] = "disabled:"
    try:
        pid = os.posix_spawn(
            arguments[0],
            arguments,
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, its_reading, 3),
                (os.POSIX_SPAWN_DUP2, its_writing, 4),
            ],
            setpgroup=0,
        )
    except BaseException:
        os.close(reading)
        os.close(writing)
        raise
    finally:
        os.close(its_reading)
        os.close(its_writing)
    return pid, reading, writing


def _pipe() -> tuple[int, int]:
    """Open a pipe whose descriptors do not collide with 3 and 4, which the program expects."""
    low = os.pipe()
    try:
        reading, writing = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low)
    finally:
        for end in low:
            os.close(end)
    return reading, writing


async def _run_in_thread(work: Callable[[], None]) -> None:
    """Run in a thread, or directly while the interpreter shuts down and starts no more threads."""
    try:
        await asyncio.to_thread(work)
    except RuntimeError:
        work()


def _reap(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def _descendants(pid: int) -> Iterator[int]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                children = file.read()
            for child in map(int, children.split()):
                yield child
                yield from _descendants(child)


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0
