"""`weft doctor`: checks this machine, and explains how to get what is missing."""

import argparse
import asyncio
import inspect
import logging
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from weft import __version__
from weft.cli.options import add_options, check_variables, merge_settings, own_tool_settings
from weft.cli.own_tools import list_server_tools, load_functions
from weft.cli.terminal import CYAN, DIM, GREEN, RED, YELLOW, Colours, pad, show_progress
from weft.config.mcp_servers import ConfiguredServer
from weft.config.paths import data_path, display_path
from weft.config.schema import COMMANDS
from weft.config.sources import sources
from weft.core.errors import WeftError
from weft.core.json import encode_text
from weft.providers.config import configured_providers
from weft.providers.keys import find_key, find_key_origin, has_key, keyring_problem
from weft.providers.model import Endpoint, Model
from weft.providers.presets import PRESETS
from weft.studio.input.ffmpeg import find_ffmpeg
from weft.tools.own_functions import is_own
from weft.tools.sanitize import sanitize_text
from weft.tools.shell import cgroups
from weft.tools.shell.sandbox import Sandbox

EXAMPLES = """examples:
  weft doctor
  weft doctor --network     also check whether providers can be reached; no key is sent
  weft doctor --json

Values of keys are never shown. exit status: 0 everything that is needed works, 1 something is wrong"""
_MARKS = {"ok": ("✓", GREEN), "missing": ("–", YELLOW), "wrong": ("✗", RED), "skipped": ("·", DIM)}
_WIDTH = 18
_TIMEOUT_SECONDS = 10.0
_FROM_CHECKOUT = "From a checkout: make made; a wheel includes it."
_EXTRAS: dict[str, tuple[dict[str, str], str]] = {
    "studio": ({"numpy": "numpy", "PIL": "pillow", "pillow_heif": "pillow-heif"}, "pages are built from pictures"),
    "local": (
        {"numpy": "numpy", "PIL": "pillow", "onnxruntime": "onnxruntime"},
        "pages are built without any model, and text in pictures is read",
    ),
    "mcp": ({"mcp": "mcp"}, "tools of MCP servers are used"),
    "claude": ({"claude_agent_sdk": "claude-agent-sdk"}, "the Claude Agent SDK is used as a model"),
    "keyring": ({"keyring": "keyring"}, "keys are stored in the keyring of the system"),
}
"""Optional dependencies: their modules and packages, and their purpose."""


class DoctorFinding(msgspec.Struct, frozen=True):
    """The outcome of one check. Weft works without what is missing, not with what is wrong."""

    name: str
    state: Literal["ok", "missing", "wrong", "skipped"]
    said: str
    fix: str = ""
    """How to get it, if it is missing or wrong."""


Findings = Iterable[DoctorFinding]
Check = Callable[[], "Findings | Awaitable[Findings]"]


def _ok(name: str, text: str) -> DoctorFinding:
    return DoctorFinding(name, "ok", text)


def _missing(name: str, text: str, fix: str = "") -> DoctorFinding:
    return DoctorFinding(name, "missing", text, fix)


def _wrong(name: str, text: str, fix: str = "") -> DoctorFinding:
    return DoctorFinding(name, "wrong", text, fix)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--network", action="store_true", help="also connect to the providers")
    add_options(parser, "doctor")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    found = asyncio.run(_run_checks(data_path(options.data), options.network, options.json))
    healthy = all(finding.state != "wrong" for finding in found)
    if options.json:
        print(encode_text({"healthy": healthy, "findings": msgspec.to_builtins(found)}))
    return 0 if healthy else 1


async def _run_checks(data: Path, network: bool, quiet: bool) -> list[DoctorFinding]:
    checks: dict[str, Check] = {
        "python": _check_python,
        "data": lambda: _check_data_folder(data),
        "configuration": _check_configuration,
        "own tools": _check_own_tools,
        "sandbox": _check_sandbox,
        "programs": _check_programs,
        "chromium": _check_chromium,
        "extras": _check_extras,
        "page": _check_page,
        "prices": _check_prices,
        "keys": _check_keys,
        "local servers": _check_local_servers,
        "network": _check_network if network else _skip_network,
    }
    found: list[DoctorFinding] = []
    for name, check in checks.items():
        if not quiet:
            show_progress(name)
        some = await _run_check(name, check)
        found += some
        if not quiet:
            show_progress("")
            for finding in some:
                _print_finding(finding)
    return found


async def _run_check(name: str, check: Check) -> list[DoctorFinding]:
    """Run a check. One that raises is reported and does not stop the others."""
    try:
        found = check()
        return list(await found if inspect.isawaitable(found) else found)
    except (OSError, WeftError, ImportError) as error:
        return [_wrong(name, f"could not be checked: {error}")]


def _print_finding(finding: DoctorFinding) -> None:
    paint = Colours(sys.stdout)
    mark, colour = _MARKS[finding.state]
    print(f"{paint(mark, colour)} {pad(finding.name, _WIDTH)} {sanitize_text(finding.said)}")
    if finding.fix and finding.state != "ok":
        print(f"  {' ' * _WIDTH} {paint(sanitize_text(finding.fix), CYAN)}")
    sys.stdout.flush()


# --- the machine ----------------------------------------------------------------------------------------------------


def _check_python() -> Findings:
    text = f"{platform.python_version()} on {platform.system()} {platform.machine()}, weft {__version__}"
    yield (
        _ok("python", text) if sys.version_info >= (3, 11) else _wrong("python", text, "Install Python 3.11 or newer.")
    )


def _check_data_folder(data: Path) -> Findings:
    """Whether sessions can be stored. Leaves no file behind."""
    name, fix = "data folder", "Name another folder with --data or WEFT_DATA."
    existing = next(each for each in (data, *data.parents) if each.exists())
    if not existing.is_dir():
        yield _wrong(name, f"{existing} is no folder", fix)
    elif not os.access(existing, os.W_OK | os.X_OK):
        yield _wrong(name, f"{existing} cannot be written", fix)
    elif existing != data:
        yield _ok(name, f"{data} will be created when it is needed")
    else:
        try:
            with tempfile.NamedTemporaryFile(dir=data, prefix=".weft-"):
                yield _ok(name, f"{data} can be written")
        except OSError as error:
            yield _wrong(name, f"{data} cannot be written: {error.strerror}", fix)


def _check_configuration() -> Findings:
    """Check every file that counts, and name a project's file that does not."""
    try:
        check_variables(os.environ)
        now = sources()
        own = configured_providers()
        for command in COMMANDS:
            merge_settings(command, {}, now.documents)
    except WeftError as error:
        yield _wrong("settings", str(error), "Correct it; `weft config` shows what is set.")
        return
    for document in now.documents:
        yield _ok("settings", f"{display_path(document.path)} is used")
    if own:
        yield _ok("settings", f"providers of your own: {', '.join(own)}")
    if now.ignored is not None:
        text, _, fix = str(now.ignored).partition("; ")
        yield _missing("settings", text, fix)


async def _check_own_tools() -> Findings:
    """Load the tools and start the MCP servers that the settings name."""
    try:
        now = sources()
        some = [own_tool_settings(command, {}, now) for command in COMMANDS]
    except WeftError:
        return []  # the check of the settings reports it
    found: list[DoctorFinding] = []
    named = {(name, each.origin): each for one in some for each in one.names for name in each.value}
    for (name, origin), each in named.items():
        if each.key == "tools" and not is_own(name):
            continue
        try:
            loaded = load_functions([replace(each, value=[name])])
            found.append(_ok("own tools", f"{name} ({origin}) gives {', '.join(tool.name for tool in loaded)}"))
        except WeftError as error:
            found.append(_wrong("own tools", str(error), "Correct it, or remove the name."))
    servers = {each.name: each for one in some for each in one.servers}
    found += await asyncio.gather(*(_check_server(each) for each in servers.values()))
    if now.ignored_servers is not None:
        text, _, fix = str(now.ignored_servers).partition("; ")
        found.append(_missing("mcp", text, fix))
    return found


async def _check_server(server: ConfiguredServer) -> DoctorFinding:
    name = f"mcp {server.name}"
    try:
        listed = await list_server_tools(server)
    except WeftError as error:
        return _wrong(name, str(error), "Correct it, or remove the server.")
    return _ok(name, f"{server.where.partition(': ')[0]} gives {len(listed)} tools")


def _check_sandbox() -> Findings:
    """Run a command in the sandbox."""
    quiet = logging.NullHandler()  # the finding has the text of the log
    logging.getLogger("weft").addHandler(quiet)
    try:
        reason = Sandbox().available()
    finally:
        logging.getLogger("weft").removeHandler(quiet)
    if reason is None:
        yield _ok("sandbox", f"bubblewrap runs commands ({shutil.which('bwrap')})")
        limited = cgroups.kind()
        how = f"by {limited}" if limited is not None else "by counting; no control group is delegated to this process"
        yield _ok("sandbox", f"memory and processes of a command are limited {how}")
    elif platform.system() != "Linux":
        yield _missing("sandbox", "bubblewrap is for Linux only, so models run no commands")
    elif shutil.which("bwrap") is None:
        install = "Debian, Ubuntu: apt install bubblewrap. Fedora: dnf install bubblewrap."
        yield _missing("sandbox", "bubblewrap (bwrap) is not installed, so models run no commands", install)
    else:
        fix = "Allow user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or a container with them."
        yield _missing("sandbox", reason.removeprefix("Commands cannot be run: "), fix)


def _check_programs() -> Findings:
    ripgrep = shutil.which("rg")
    if ripgrep is None:
        yield _missing("ripgrep", "not found, so searches take longer", "Debian, Ubuntu: apt install ripgrep.")
    elif Sandbox().available() is not None or not os.path.realpath(ripgrep).startswith("/usr/"):
        reason = "it runs in the sandbox only" if Sandbox().available() is not None else "it is not below /usr"
        yield _missing("ripgrep", f"{ripgrep} exists and is not used: {reason}", "Searches work without it.")
    else:
        yield _ok("ripgrep", _version(ripgrep))
    ffmpeg = find_ffmpeg()
    if ffmpeg is not None:
        yield _ok("ffmpeg", _version(ffmpeg, "-version"))
    else:
        text = "not found, so the only recordings that can be read are animated pictures (GIF, WebP)"
        yield _missing("ffmpeg", text, "pip install 'weft[video]', or Debian, Ubuntu: apt install ffmpeg.")


def _version(program: str, word: str = "--version") -> str:
    """Return the first line that a program prints about itself."""
    try:
        done = subprocess.run([program, word], capture_output=True, timeout=_TIMEOUT_SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return f"{program}, which prints no version"
    return f"{done.stdout.decode('utf-8', 'replace').partition(chr(10))[0][:80].strip()} ({program})"


# --- the studio -----------------------------------------------------------------------------------------------------


async def _check_chromium() -> Findings:
    """Render a page."""
    if find_spec("PIL") is None:
        return []  # the check of the extras reports it
    from weft.studio.browser.browser import Browser
    from weft.studio.browser.chromium import find_chromium
    from weft.studio.browser.page import Viewport, serve_files

    install = "Debian: apt install chromium. Elsewhere install Chrome, or set WEFT_CHROMIUM to its path."
    try:
        program = find_chromium()
    except WeftError:
        return [_missing("chromium", "not found, so pages are neither scored nor captured", install)]
    browser = Browser(pages=1, seconds=30)
    try:
        rendering = await browser.render(serve_files({"index.html": "<p>It works.</p>"}), viewport=Viewport(320, 200))
        if any("It works." in each.text for each in rendering.texts):
            return [_ok("chromium", f"{program} renders pages")]
        fonts = "Install fonts (Debian: apt install fonts-dejavu)."
        return [_wrong("chromium", f"{program} renders pages, but without their text", fonts)]
    except WeftError as error:
        return [_wrong("chromium", f"{program} does not render: {error}", install)]
    finally:
        await asyncio.to_thread(browser.close)


def _check_extras() -> Findings:
    for extra, (modules, purpose) in _EXTRAS.items():
        name, fix = f"weft[{extra}]", f"pip install 'weft[{extra}]'"
        lacking = [package for module, package in modules.items() if find_spec(module) is None]
        if lacking:
            yield _missing(name, f"without {', '.join(lacking)}; with it {purpose}", fix)
        elif extra == "local" and not _has_ocr_models():
            yield _missing(name, "onnxruntime is installed, but the models that read text are not", fix)
        elif extra == "local" and not _has_icon_sets():
            yield _missing(name, "the icon sets are not installed: icons are traced, and have no names", fix)
        else:
            yield _ok(name, purpose)


def _has_ocr_models() -> bool:
    from weft.vision.see.models import available

    return available()


def _has_icon_sets() -> bool:
    from weft.vision.see.icon_sets import find_icon_set

    return find_icon_set() is not None


def _check_page() -> Findings:
    from weft.studio.cdn import is_installed, packages

    built = resources.files("weft.server").joinpath("built", "index.html").is_file()
    yield _ok("page", "is built") if built else _missing("page", "is not built", _FROM_CHECKOUT)
    if is_installed():
        yield _ok("libraries", f"{len(packages())} packages for previews without a network")
    else:
        yield _missing("libraries", "of previews are not installed; pages that use them lack styles", _FROM_CHECKOUT)


# --- models ---------------------------------------------------------------------------------------------------------


def _check_prices() -> Findings:
    from weft.providers.prices.price_list import read

    try:
        listed = read()
    except WeftError as error:
        yield _missing("prices", str(error).partition("; ")[0], _FROM_CHECKOUT)
        return
    yield _ok("prices", f"of {sum(len(each.models) for each in listed.providers)} models, {listed.origin}")


def _known_endpoints() -> dict[str, Endpoint]:
    try:
        return PRESETS | configured_providers()
    except WeftError:
        return dict(PRESETS)


def _check_keys() -> Findings:
    """List the keys and where they are stored. A value is only checked for characters that no key has."""
    unset: list[str] = []
    is_any = False
    for provider, endpoint in _known_endpoints().items():
        held = find_key_origin(endpoint.key_envs)
        if held is None:
            unset += endpoint.key_envs[:1] if endpoint.key_required else []
            continue
        is_any = True
        name, origin = held
        try:
            if find_key(endpoint.key_envs) is None:
                problem = keyring_problem(endpoint.key_envs).strip()
                yield _wrong(f"key {provider}", problem, f"weft key remove {name} deletes it.")
                continue
            Model.at(replace(endpoint, base_url=endpoint.base_url or "https://its-own.example"), "any")
            place = "is set" if origin == "environment" else "is in the keyring of the system"
            yield _ok(f"key {provider}", f"{name} {place}")
        except WeftError as error:
            yield _wrong(f"key {provider}", str(error), "Set it again.")
    if not is_any:
        text = f"none of {', '.join(dict.fromkeys(unset))} is set, and none is in the keyring"
        fix = "export ANTHROPIC_API_KEY=…, or `weft key set anthropic`, or use a local model."
        yield _missing("keys", text, fix)


def _check_local_servers() -> Findings:
    from weft.providers.local_servers import PROVIDERS, LocalServers

    servers = LocalServers().find()
    for each in servers:
        yield _ok(f"local {each.provider}", f"{len(each.models)} models at {each.address}, as {each.models[0]}")
    if not servers:
        fix = "Start one, such as `ollama serve`, for models without a key."
        yield _missing("local servers", f"none of {', '.join(PROVIDERS)} answers on this machine", fix)


# --- the network ----------------------------------------------------------------------------------------------------


def _skip_network() -> Findings:
    yield DoctorFinding("network", "skipped", "was not checked", "weft doctor --network checks it.")


async def _check_network() -> Findings:
    """Connect to the providers that have a key, or to the best known ones. No key is sent."""
    known = {name: each for name, each in _known_endpoints().items() if each.base_url.startswith("https://")}
    keyed = {name: each for name, each in known.items() if has_key(each.key_envs)}
    wanted = keyed or {name: known[name] for name in ("anthropic", "openai", "gemini") if name in known}
    return await asyncio.gather(*(_check_address(name, each.base_url) for name, each in wanted.items()))


async def _check_address(provider: str, url: str) -> DoctorFinding:
    from weft.http1 import pool
    from weft.http1.errors import NetworkError
    from weft.http1.request import RequestTarget, proxy_for, tls_context
    from weft.providers.transport import describe_os_error

    name, limit = f"network {provider}", _TIMEOUT_SECONDS
    try:
        target = RequestTarget.parse(url, proxy_for(url))
        request = pool.get_once(target, {"User-Agent": "weft"}, tls=tls_context(), connect_timeout=limit)
        async with asyncio.timeout(limit), request as answer:
            return _ok(name, f"{url} answers ({answer.status})")
    except (NetworkError, OSError, ValueError) as error:
        reason = "no answer in time" if isinstance(error, TimeoutError) else describe_os_error(error)
        return _missing(name, f"{url} cannot be reached ({reason})", "Check the connection, HTTPS_PROXY and firewalls.")
