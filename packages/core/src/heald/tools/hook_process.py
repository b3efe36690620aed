"""Runs the command line of a hook in a shell, outside of the sandbox, and ends it after a time."""

import asyncio
import os
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Mapping
from contextlib import suppress
from hashlib import file_digest
from signal import SIGKILL

import msgspec

_SIGNS = str.maketrans(dict.fromkeys("\"'`;&|<>()", " "))  # pyrefly: ignore[bad-argument-type]


class HookExit(msgspec.Struct, frozen=True):
    """How a hook ended, and what it wrote. `errors` is empty where both outputs are one."""

    code: int
    output: bytes
    errors: bytes = b""


async def run_hook_process(
    command: str,
    message: bytes,
    *,
    folder: str | None,
    environment: Mapping[str, str],
    seconds: float,
    has_errors_apart: bool = False,
) -> HookExit | None:
    """Run a command with a message on its standard input. Returns None if it was stopped after `seconds`."""
    process = await asyncio.create_subprocess_shell(
        command,
        cwd=folder or None,
        env=environment,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE if has_errors_apart else STDOUT,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            output, errors = await process.communicate(message)
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, SIGKILL)
            await asyncio.shield(process.wait())
    return HookExit(process.returncode or 0, output, errors or b"")


def find_scripts(command: str, folder: str) -> Mapping[str, str]:
    """Return the files of a folder that a command line names, with their digests."""
    paths = [os.path.join(folder, word) for word in command.translate(_SIGNS).split()]
    return {path: digest_script(path) for path in paths if os.path.isfile(path)}


def changed_script(scripts: Mapping[str, str]) -> str | None:
    """Return a script that was changed since its digest was taken."""
    return next((path for path, digest in scripts.items() if digest_script(path) != digest), None)


def digest_script(path: str) -> str:
    """Return the digest of a file; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
