"""Rows about Python, the data folder and programs."""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from heald import __version__
from heald.commands.finding import Findings, missing, ok, wrong
from heald.config.paths import DATABASE
from heald.sessions.sqlite_damage import check_file
from heald.tools.process_environment import environment_of
from heald.tools.shell.sandbox import Sandbox

_TIMEOUT_SECONDS = 10.0
_CHECK_SECONDS = 5.0


def check_python() -> Findings:
    text = f"{platform.python_version()} on {platform.system()} {platform.machine()}, heald {__version__}"
    yield (
        ok("python", text) if sys.version_info >= (3, 11) else wrong("python", text, "Install Python 3.11 or newer.")
    )


def check_data_folder(data: Path) -> Findings:
    """Whether sessions can be stored. Leaves no file behind."""
    name, fix = "data folder", "Name another folder with --data or HEALD_DATA."
    existing = next(folder for folder in (data, *data.parents) if folder.exists())
    if not existing.is_dir():
        yield wrong(name, f"{existing} is not a folder", fix)
    elif not os.access(existing, os.W_OK | os.X_OK):
        yield wrong(name, f"{existing} cannot be written", fix)
    elif existing != data:
        yield ok(name, f"{data} will be created when it is needed")
    else:
        try:
            with tempfile.NamedTemporaryFile(dir=data, prefix=".heald-"):
                yield ok(name, f"{data} can be written")
        except OSError as error:
            yield wrong(name, f"{data} cannot be written: {error.strerror}", fix)


def check_database(data: Path) -> Findings:
    """Whether the file of the sessions is damaged, as far as it can be read in a few seconds."""
    path = data / DATABASE
    if not path.exists():
        return
    size = f"{path.stat().st_size / 1e6:,.0f} MB"
    damage = check_file(path, seconds=_CHECK_SECONDS)
    if damage is None:
        yield ok("sessions", f"{size}, too large to be checked here; `heald store check` reads all of it")
    elif damage:
        advice = "Put a backup in its place; docs/operations.md shows how."
        yield wrong("sessions", f"{path} is damaged: {damage[0]}", advice)
    else:
        yield ok("sessions", f"{size}, no damage found")


def check_ripgrep() -> Findings:
    ripgrep = shutil.which("rg")
    if ripgrep is None:
        yield missing("ripgrep", "not found, so searches take longer", "Debian, Ubuntu: apt install ripgrep.")
    elif Sandbox().available() is not None or not os.path.realpath(ripgrep).startswith("/usr/"):
        reason = "it runs in the sandbox only" if Sandbox().available() is not None else "it is not below /usr"
        yield missing("ripgrep", f"{ripgrep} exists and is not used: {reason}", "Searches work without it.")
    else:
        yield ok("ripgrep", _program_version(ripgrep))


def _program_version(program: str) -> str:
    """Return the first line that a program prints about itself."""
    try:
        process = subprocess.run(
            [program, "--version"],
            env=environment_of(),
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return f"{program}, which prints no version"
    return f"{process.stdout.decode('utf-8', 'replace').partition(chr(10))[0][:80].strip()} ({program})"
