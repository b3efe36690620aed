"""Reads the notes that a project keeps for agents: `AGENTS.md`, or `CLAUDE.md` where there is none.

They come with the folder, like its `heald.toml`, so they have no effect until the user trusts them as they are.
"""

from pathlib import Path

from heald.config.document import read_content
from heald.config.trust import TrustState, state_of

NOTE_NAMES = ("AGENTS.md", "CLAUDE.md")
MAX_NOTE_CHARACTERS = 8_000
"""The most that the model gets of them at the start."""


def find_notes(folder: str | Path | None) -> Path | None:
    """Return the file with the notes of a folder, if it has one. A link to a place outside does not count."""
    if not folder:
        return None
    top = Path(folder).resolve()
    for name in NOTE_NAMES:
        path = top / name
        if path.is_file() and path.resolve().is_relative_to(top):
            return path
    return None


def notes_state(path: Path) -> TrustState:
    """The user's decision about the notes as they are now."""
    return state_of(path, read_content(path) or b"")


def read_notes(folder: str | Path | None) -> str:
    """Return the trusted notes of a folder as instructions, shortened if they are long; empty if there are none."""
    path = find_notes(folder)
    content = read_content(path) if path is not None else None
    if path is None or content is None or state_of(path, content) != "trusted":
        return ""
    text = content.decode("utf-8", "replace").strip()
    if not text:
        return ""
    cut = f"\n[… {path.name} goes on; read_file has the rest]" if len(text) > MAX_NOTE_CHARACTERS else ""
    return f"The project's notes for agents, from {path.name}:\n\n{text[:MAX_NOTE_CHARACTERS]}{cut}"
