"""Which project files the user has said may be obeyed. Trust is in a file's content: a changed one is asked about anew.

The answers are kept beside the user's own `weft.toml`, for the user alone. Without an answer a file does nothing.
"""

import hashlib
import os
import tempfile
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec

from weft.config.places import config_home
from weft.core.errors import ConfigurationError

State = Literal["trusted", "refused", "changed", "unknown"]
FILE = "trust.json"
_MOST = 1_000_000


class Answer(msgspec.Struct, frozen=True):
    digest: str
    trusted: bool


def state_of(path: Path, content: bytes) -> State:
    """What the user said of the file as it is now."""
    answer = answers().get(_name(path))
    if answer is None:
        return "unknown"
    if answer.digest != _digest(path, content):
        return "changed" if answer.trusted else "unknown"
    return "trusted" if answer.trusted else "refused"


def remember(path: Path, content: bytes, *, trusted: bool) -> None:
    """Keep an answer."""
    _write(answers() | {_name(path): Answer(_digest(path, content), trusted)})


def forget(path: Path) -> bool:
    """Take an answer back; whether there was one."""
    known = answers()
    found = known.pop(_name(path), None)
    if found is not None:
        _write(known)
    return found is not None


def answers() -> dict[str, Answer]:
    """All that was said, by the files' places. A file that cannot be understood says nothing."""
    try:
        return msgspec.json.decode((config_home() / FILE).read_bytes(), type=dict[str, Answer])
    except (OSError, msgspec.DecodeError):
        return {}


def _name(path: Path) -> str:
    return os.path.realpath(path)


def _digest(path: Path, content: bytes) -> str:
    """Of the file, and of the instructions that it names: they are obeyed as well."""
    digest = hashlib.sha256(content)
    named = _instructions(content)
    if named:
        digest.update(b"\0" + named.encode("utf-8", "surrogatepass"))
        with suppress(OSError, ValueError), (path.parent / named).open("rb") as file:
            digest.update(b"\0" + file.read(_MOST))
    return digest.hexdigest()


def _instructions(content: bytes) -> str:
    try:
        table: Any = tomllib.loads(content.decode("utf-8-sig"))["agent"]["instructions_file"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return table if isinstance(table, str) else ""


def _write(known: dict[str, Answer]) -> None:
    folder = config_home()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, prefix=".trust-")  # for its owner alone
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(known), indent=1))
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, folder / FILE)
    except OSError as error:
        raise ConfigurationError(f"What is trusted cannot be kept in {folder}: {error.strerror}.") from None
