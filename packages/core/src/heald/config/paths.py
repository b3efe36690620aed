"""Paths of the configuration files and of the data folder."""

import os
from pathlib import Path

from heald.core.errors import ConfigurationError
from heald.core.placeholder_mark import is_there

CONFIG_FILE = "heald.toml"
MCP_FILE = ".mcp.json"


def config_home() -> Path:
    """The user's folder for settings, which may not exist."""
    return Path(_config_home(_home()))


def user_file() -> Path:
    return config_home() / CONFIG_FILE


def has_config_files() -> bool:
    """Whether there are settings of the user or of the project, trusted or not. It is cheap: every agent asks."""
    home = _home()
    if os.access(f"{_config_home(home)}/{CONFIG_FILE}", os.F_OK):  # unlike `exists`, it raises nothing inside
        return True
    try:
        return _find_project_file(os.getcwd(), CONFIG_FILE, home) is not None
    except OSError:  # the working folder was removed
        return False


def _config_home(home: str) -> str:
    return f"{os.environ.get('XDG_CONFIG_HOME') or f'{home}/.config'}/heald"


def _home() -> str:
    """The home folder, as `os.path.expanduser` finds it."""
    home = os.environ.get("HOME") if os.name == "posix" else None
    return home.rstrip("/") or "/" if home else os.path.expanduser("~")


def project_file(folder: Path | None = None, name: str = CONFIG_FILE) -> Path | None:
    """The nearest `heald.toml`, or file of another name, from a folder up to that of the repository, and not above the
    home folder."""
    start = working_folder() if folder is None else folder.resolve()
    path = _find_project_file(str(start), name, _home()) if start is not None else None
    return Path(path) if path is not None else None


def _find_project_file(start: str, name: str, home: str) -> str | None:
    place = start
    while True:
        if place != start and place == home:
            return None
        path = f"{place.rstrip('/')}/{name}"
        if is_there(path):
            return None if os.path.realpath(path) == os.path.realpath(user_file()) else path
        if place == home or is_there(f"{place}/.git"):
            return None
        above = os.path.dirname(place)
        if above == place:
            return None
        place = above


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


DATABASE = "sessions.db"


def data_path(named: str | None = None) -> Path:
    """The data folder, whether it exists or not: the named one, else HEALD_DATA, else the user's own."""
    named = named or os.environ.get("HEALD_DATA")
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(named).expanduser() if named else Path(home).expanduser() / "heald"


def data_folder(named: str | None = None) -> Path:
    """The data folder, created if it does not exist, readable by its owner only."""
    folder = data_path(named)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"{folder} cannot be created: {error.strerror}; name another with --data.") from None
    return folder


def write_private_file(path: Path, content: bytes, what: str) -> None:
    """Replace a file that only its owner may read. Raises ConfigurationError: `what` cannot be stored."""
    import tempfile  # loads shutil and the compressions; most commands write no such file

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-")  # mkstemp: mode 0600
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        raise ConfigurationError(f"{what} cannot be stored in {path.parent}: {error.strerror}.") from None
