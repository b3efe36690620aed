"""Reads the notes that a project keeps for agents: `AGENTS.md`, or `CLAUDE.md` where there is none.

They are those of the folder and, in a git repository, of the folders above it, up to the top of the repository. They
come with the folder, like its `heald.toml`, so they have no effect until the user trusts them as they are.
"""

import os
from pathlib import Path

from heald.config.document import read_content
from heald.config.trust import TrustState, state_of

NOTE_NAMES = ("AGENTS.md", "CLAUDE.md")
MAX_NOTE_CHARACTERS = 8_000
"""The most that the model gets of them at the start."""


def find_notes(folder: str | Path | None) -> list[Path]:
    """Return the files with the notes for a folder, those of the repository's top first."""
    if not folder:
        return []
    places = _list_places(Path(folder).resolve())
    return [path for place in places if (path := _find_in(place)) is not None]


def _find_in(place: Path) -> Path | None:
    """Return the notes in a folder, if it has some. A link to a place outside does not count."""
    for name in NOTE_NAMES:
        path = place / name
        if path.is_file() and path.resolve().is_relative_to(place):
            return path
    return None


def _list_places(folder: Path) -> list[Path]:
    """Return the folders from the top of the repository down to this one, and only this one outside a repository."""
    home = Path.home()
    places: list[Path] = []
    for place in (folder, *folder.parents):
        places.insert(0, place)
        if (place / ".git").exists():
            return places
        if place == home:
            break
    return [folder]


def notes_state(path: Path) -> TrustState:
    """The user's decision about the notes as they are now."""
    return state_of(path, read_content(path) or b"")


def read_notes(folder: str | Path | None) -> str:
    """Return the trusted notes for a folder as instructions, shortened if they are long; empty if there are none."""
    texts: list[str] = []
    left = MAX_NOTE_CHARACTERS
    for path in reversed(find_notes(folder)):  # the nearest ones count most
        content = read_content(path)
        if content is None or state_of(path, content) != "trusted":
            continue
        text = content.decode("utf-8", "replace").strip()
        if text and left:
            texts.insert(0, _render(path, text, left, Path(folder or ".").resolve()))
            left = max(left - len(text), 0)
    return "\n\n".join(texts)


def _render(path: Path, text: str, most: int, folder: Path) -> str:
    """Return notes below a line that names their file, relative to the folder that the model works in."""
    is_above = path.parent != folder
    name = os.path.relpath(path, folder)
    rest = "" if is_above else "; read_file has the rest"  # tools do not read outside of the folder
    cut = f"\n[… {name} goes on{rest}]" if len(text) > most else ""
    return f"The project's notes for agents, from {name}:\n\n{text[:most]}{cut}"
