"""Starts Chromium over pipes without a network, and ends it with every process that it started.

It ends with this process as well: a Chromium that is driven by a pipe exits when the other end of the pipe closes.
"""

import asyncio
import contextlib
import fcntl
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from heald_studio.browser.devtools import CommandFailed, DevToolsConnection
from heald_studio.browser.find_chromium import find_chromium
from heald_studio.browser.page import BrowserError
from heald_studio.browser.profile import Profile

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
START_SECONDS = 20.0
_INHERITED_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "FONTCONFIG_FILE", "FONTCONFIG_PATH")


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
            raise BrowserError(
                "Chromium could not be started; check that HEALD_CHROMIUM can be run.", "start"
            ) from None
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
