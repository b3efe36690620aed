"""What works on this machine, found out by trying it. Nothing is asked over the network unless that is wanted."""

import asyncio
import logging
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import msgspec

from weft import __version__
from weft.cli.settled import check_variables, settled
from weft.config.places import shown
from weft.config.schema import COMMANDS
from weft.config.sources import sources
from weft.core.errors import WeftError
from weft.providers.config import configured_providers
from weft.providers.keys import has_key, key_of, locked, origin_of
from weft.providers.model import Endpoint, Model
from weft.providers.presets import PRESETS
from weft.tools.shell.sandbox import Sandbox

State = Literal["ok", "missing", "wrong", "skipped"]
_PATIENCE = 10.0


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at. What is missing can be done without; what is wrong cannot."""

    name: str
    state: State
    said: str
    fix: str = ""
    """How to get it, if it is not there."""


Check = Callable[[], "Awaitable[list[Finding]] | list[Finding]"]


def checks(data: Path, *, network: bool = False) -> Iterator[tuple[str, Check]]:
    """All that is looked at, with the name under which a person waits for it."""
    yield "python", python
    yield "data", lambda: data_folder(data)
    yield "configuration", configuration
    yield "sandbox", sandbox
    yield "programs", programs
    yield "chromium", chromium
    yield "parts", parts
    yield "page", page
    yield "prices", prices
    yield "keys", keys
    yield "local servers", local_servers
    yield "network", (reach if network else not_reached)


# --- the machine ----------------------------------------------------------------------------------------------------


def python() -> list[Finding]:
    said = f"{platform.python_version()} on {platform.system()} {platform.machine()}, weft {__version__}"
    return [Finding("python", "ok" if sys.version_info >= (3, 11) else "wrong", said, "Install Python 3.11 or newer.")]


def data_folder(place: Path) -> list[Finding]:
    """Whether sessions can be kept there. Nothing stays behind."""
    fix = "Name another folder with --data or WEFT_DATA."
    there = place
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        return [Finding("data folder", "wrong", f"{there} is no folder", fix)]
    try:
        if there == place:
            with tempfile.NamedTemporaryFile(dir=place, prefix=".weft-"):
                return [Finding("data folder", "ok", f"{place} can be written")]
    except OSError as error:
        return [Finding("data folder", "wrong", f"{place} cannot be written: {error.strerror}", fix)]
    if not os.access(there, os.W_OK | os.X_OK):
        return [Finding("data folder", "wrong", f"{place} cannot be made in {there}", fix)]
    return [Finding("data folder", "ok", f"{place} will be made when it is needed")]


def configuration() -> list[Finding]:
    """Every file that would be obeyed, checked whole; one that is not, named."""
    try:
        check_variables(os.environ)
        now = sources()
        own = configured_providers()
        for command in COMMANDS:
            settled(command, {}, {}, now.documents)
    except WeftError as error:
        return [Finding("settings", "wrong", str(error), "Correct it; `weft config` shows what is set.")]
    found = [Finding("settings", "ok", f"{shown(each.path)} is obeyed") for each in now.documents]
    found += [Finding("settings", "ok", f"providers of your own: {', '.join(own)}")] if own else []
    if now.ignored is not None:
        said, _, fix = str(now.ignored).partition("; ")
        found.append(Finding("settings", "missing", said, fix))
    return found


def sandbox() -> list[Finding]:
    """Commands of models, really tried."""
    quiet = logging.NullHandler()  # what the sandbox logs is said below
    logging.getLogger("weft").addHandler(quiet)
    try:
        reason = Sandbox().available()
    finally:
        logging.getLogger("weft").removeHandler(quiet)
    if reason is None:
        return [Finding("sandbox", "ok", f"bubblewrap runs commands ({shutil.which('bwrap')})")]
    if platform.system() != "Linux":
        return [Finding("sandbox", "missing", "bubblewrap is for Linux only, so models run no commands", "")]
    if shutil.which("bwrap") is None:
        install = "Debian, Ubuntu: apt install bubblewrap. Fedora: dnf install bubblewrap."
        said = "bubblewrap (bwrap) is not installed, so models run no commands"
        return [Finding("sandbox", "missing", said, install)]
    fix = "Allow user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or a container with them."
    return [Finding("sandbox", "missing", reason.removeprefix("Commands cannot be run: "), fix)]


def programs() -> list[Finding]:
    found: list[Finding] = []
    ripgrep = shutil.which("rg")
    if ripgrep is None:
        install = "Debian, Ubuntu: apt install ripgrep."
        found.append(Finding("ripgrep", "missing", "not found, so searches take longer", install))
    elif Sandbox().available() is not None or not os.path.realpath(ripgrep).startswith("/usr/"):
        why = "it runs in the sandbox only" if Sandbox().available() is not None else "it is not below /usr"
        found.append(Finding("ripgrep", "missing", f"{ripgrep} is there and not used: {why}", "Searches work without."))
    else:
        found.append(Finding("ripgrep", "ok", _version(ripgrep)))
    ffmpeg = shutil.which("ffmpeg")
    if ffmpeg is not None:
        found.append(Finding("ffmpeg", "ok", _version(ffmpeg, "-version")))
    elif find_spec("cv2") is not None:
        found.append(Finding("ffmpeg", "ok", "not found; recordings are read by OpenCV instead"))
    else:
        fix = "Debian, Ubuntu: apt install ffmpeg."
        found.append(Finding("ffmpeg", "missing", "not found, so of recordings only animated pictures are read", fix))
    return found


def _version(program: str, word: str = "--version") -> str:
    """The first line that a program says about itself."""
    try:
        done = subprocess.run([program, word], capture_output=True, timeout=_PATIENCE, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return f"{program}, which does not say its version"
    return f"{done.stdout.decode('utf-8', 'replace').partition(chr(10))[0][:80].strip()} ({program})"


# --- the studio -----------------------------------------------------------------------------------------------------


async def chromium() -> list[Finding]:
    """A page, really rendered."""
    if find_spec("PIL") is None:
        return []  # the parts say it
    from weft.studio.browser.browser import Browser
    from weft.studio.browser.chromium import find_chromium
    from weft.studio.browser.rendering import Viewport
    from weft.studio.browser.serving import serve_files

    install = "Debian: apt install chromium. Elsewhere install Chrome, or set WEFT_CHROMIUM to its path."
    try:
        program = find_chromium()
    except WeftError:
        said = "not found, so pages are neither scored nor captured"
        return [Finding("chromium", "missing", said, install)]
    browser = Browser(pages=1, seconds=30)
    try:
        seen = await browser.render(serve_files({"index.html": "<p>It works.</p>"}), viewport=Viewport(320, 200))
        right = any("It works." in each.text for each in seen.texts)
        said = f"{program} renders pages" if right else f"{program} renders pages, but without their text"
        fonts = "Install fonts (Debian: apt install fonts-dejavu)."
        return [Finding("chromium", "ok" if right else "wrong", said, fonts)]
    except WeftError as error:
        return [Finding("chromium", "wrong", f"{program} does not render: {error}", install)]
    finally:
        await asyncio.to_thread(browser.close)


_PARTS: dict[str, dict[str, str]] = {
    "studio": {"numpy": "numpy", "PIL": "pillow", "pillow_heif": "pillow-heif"},
    "local": {"numpy": "numpy", "PIL": "pillow", "onnxruntime": "onnxruntime"},
    "mcp": {"mcp": "mcp"},
    "claude": {"claude_agent_sdk": "claude-agent-sdk"},
    "keyring": {"keyring": "keyring"},
}
_FOR = {
    "studio": "pages are built from pictures",
    "local": "pages are built without any model, and text is read in pictures",
    "mcp": "tools of MCP servers are used",
    "claude": "the Claude Agent SDK is used as a model",
    "keyring": "keys are kept in the keyring of the system",
}


def parts() -> list[Finding]:
    found: list[Finding] = []
    for extra, modules in _PARTS.items():
        lacking = [package for module, package in modules.items() if find_spec(module) is None]
        name = f"weft[{extra}]"
        if lacking:
            said = f"without {', '.join(lacking)}; with it {_FOR[extra]}"
            found.append(Finding(name, "missing", said, f"pip install 'weft[{extra}]'"))
        elif extra == "local" and not _can_read():
            said = "onnxruntime is here, but the models that read text are not"
            found.append(Finding(name, "missing", said, "pip install 'weft[local]'"))
        else:
            found.append(Finding(name, "ok", _FOR[extra]))
    return found


def _can_read() -> bool:
    """Whether the models that read text are here."""
    from weft.vision.models import available

    return available()


def page() -> list[Finding]:
    from weft.studio.libraries.packages import installed, packages

    built = resources.files("weft.server").joinpath("built", "index.html").is_file()
    fix = "From a checkout: make made; a wheel has it."
    found = [Finding("page", "ok", "is built")] if built else [Finding("page", "missing", "is not built", fix)]
    if installed():
        return [*found, Finding("libraries", "ok", f"{len(packages())} packages for previews without a network")]
    said = "of previews are not here, so pages that use them look bare"
    return [*found, Finding("libraries", "missing", said, "From a checkout: make made; a wheel has them.")]


# --- models ---------------------------------------------------------------------------------------------------------


def prices() -> list[Finding]:
    from weft.providers.prices.stored import read

    try:
        listed = read()
    except WeftError as error:
        said, _, _ = str(error).partition("; ")
        return [Finding("prices", "missing", said, "From a checkout: make made; a wheel has them.")]
    models = sum(len(each.models) for each in listed.providers)
    return [Finding("prices", "ok", f"of {models} models, {listed.origin}")]


def endpoints() -> dict[str, Endpoint]:
    try:
        return PRESETS | configured_providers()
    except WeftError:
        return dict(PRESETS)


def keys() -> list[Finding]:
    """Which keys there are, and where. What they are is never looked at further than that it could be a key."""
    found: list[Finding] = []
    unset: list[str] = []
    for provider, endpoint in endpoints().items():
        held = origin_of(endpoint.key_envs)
        if held is None:
            unset += list(endpoint.key_envs[:1]) if endpoint.key_required else []
            continue
        name, origin = held
        try:
            if key_of(endpoint.key_envs) is None:
                said = locked(endpoint.key_envs).strip()
                found.append(Finding(f"key {provider}", "wrong", said, f"weft key remove {name} forgets it."))
                continue
            Model.at(replace(endpoint, base_url=endpoint.base_url or "https://its-own.example"), "any")
            where = "is set" if origin == "environment" else "is in the keyring of the system"
            found.append(Finding(f"key {provider}", "ok", f"{name} {where}"))
        except WeftError as error:
            found.append(Finding(f"key {provider}", "wrong", str(error), "Set it anew."))
    if found:
        return found
    said = f"none of {', '.join(dict.fromkeys(unset))} is set, and none is in the keyring"
    fix = "export ANTHROPIC_API_KEY=…, or `weft key set anthropic`, or use a local model."
    return [Finding("keys", "missing", said, fix)]


def local_servers() -> list[Finding]:
    from weft.providers.local.servers import PROVIDERS, LocalServers

    servers = LocalServers().find()
    if not servers:
        said = f"none of {', '.join(PROVIDERS)} answers on this machine"
        fix = "Start one, such as `ollama serve`, for models without a key."
        return [Finding("local servers", "missing", said, fix)]
    return [
        Finding(f"local {each.provider}", "ok", f"{len(each.models)} models at {each.address}, as {each.models[0]}")
        for each in servers
    ]


# --- the network ----------------------------------------------------------------------------------------------------


def not_reached() -> list[Finding]:
    return [Finding("network", "skipped", "was not tried", "weft doctor --network tries it.")]


async def reach() -> list[Finding]:
    """Whether the providers' addresses answer at all. No key is sent."""
    known = {name: each for name, each in endpoints().items() if each.base_url.startswith("https://")}
    keyed = {name: each for name, each in known.items() if has_key(each.key_envs)}
    wanted = keyed or {name: known[name] for name in ("anthropic", "openai", "gemini") if name in known}
    return list(await asyncio.gather(*(_reached(name, each.base_url) for name, each in wanted.items())))


async def _reached(provider: str, url: str) -> Finding:
    from weft.http1 import once
    from weft.http1.faults import Fault
    from weft.http1.proxy import proxy_for
    from weft.http1.request import Target
    from weft.http1.trust import trust
    from weft.providers.transport import reason_of

    name = f"network {provider}"
    fix = "Look at the connection, at HTTPS_PROXY, and at firewalls."
    try:
        target = Target.of(url, proxy_for(url))
        async with (
            asyncio.timeout(_PATIENCE),
            once.get(target, {"User-Agent": "weft"}, tls=trust(), connect_timeout=_PATIENCE) as answer,
        ):
            return Finding(name, "ok", f"{url} answers ({answer.status})")
    except (Fault, OSError, ValueError) as error:
        why = "no answer in time" if isinstance(error, TimeoutError) else reason_of(error)
        return Finding(name, "missing", f"{url} cannot be reached ({why})", fix)
