"""Where `weft.toml` is: the project's, nearest to the working folder, and the user's own."""

import os
from pathlib import Path

FILE = "weft.toml"


def config_home() -> Path:
    """The user's folder for Weft's settings. It may not be there."""
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "weft"


def user_file() -> Path:
    return config_home() / FILE


def project_file(folder: Path | None = None) -> Path | None:
    """The nearest `weft.toml`, from the working folder up to the one with the repository, and no further than home."""
    start = working_folder() if folder is None else folder.resolve()
    if start is None:
        return None
    home = os.path.expanduser("~")
    for place in (start, *start.parents):
        if place != start and str(place) == home:
            return None
        if os.path.lexists(place / FILE):
            return None if _same(place / FILE, user_file()) else place / FILE
        if os.path.lexists(place / ".git") or str(place) == home:
            return None
    return None


def shown(path: Path) -> str:
    """A file as people read it: by its name in the working folder, with ~ for the home folder."""
    if path.parent == working_folder():
        return path.name
    home = os.path.expanduser("~")
    text = str(path)
    return f"~{text[len(home) :]}" if text.startswith(f"{home.rstrip('/')}/") else text


def working_folder() -> Path | None:
    """Where the program runs; none if that was removed."""
    try:
        return Path.cwd()
    except OSError:
        return None


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
