"""Paths of the configuration files and of the data folder."""

import os
from pathlib import Path

from weft.core.errors import ConfigurationError

CONFIG_FILE = "weft.toml"


def config_home() -> Path:
    """The user's folder for settings, which may not exist."""
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "weft"


def user_file() -> Path:
    return config_home() / CONFIG_FILE


def project_file(folder: Path | None = None, name: str = CONFIG_FILE) -> Path | None:
    """The nearest `weft.toml`, or file of another name, from a folder up to that of the repository, and not above the
    home folder."""
    start = working_folder() if folder is None else folder.resolve()
    if start is None:
        return None
    home = os.path.expanduser("~")
    for place in (start, *start.parents):
        if place != start and str(place) == home:
            return None
        if os.path.lexists(place / name):
            return None if _is_same_file(place / name, user_file()) else place / name
        if os.path.lexists(place / ".git") or str(place) == home:
            return None
    return None


def display_path(path: Path) -> str:
    """Shorten a path: relative in the working folder, with ~ for the home folder."""
    if path.parent == working_folder():
        return path.name
    home = os.path.expanduser("~")
    text = str(path)
    return f"~{text[len(home) :]}" if text.startswith(f"{home.rstrip('/')}/") else text


def working_folder() -> Path | None:
    """The working folder. None if it was removed."""
    try:
        return Path.cwd()
    except OSError:
        return None


def _is_same_file(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


DATABASE = "sessions.db"


def data_path(named: str | None = None) -> Path:
    """The data folder, whether it exists or not: the named one, else WEFT_DATA, else the user's own."""
    named = named or os.environ.get("WEFT_DATA")
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(named).expanduser() if named else Path(home).expanduser() / "weft"


def data_folder(named: str | None = None) -> Path:
    """The data folder, created if it does not exist, readable by its owner only."""
    folder = data_path(named)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"{folder} cannot be created: {error.strerror}; name another with --data.") from None
    return folder
