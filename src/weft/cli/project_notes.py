"""Reads the notes that a project keeps for agents: `AGENTS.md`, or `CLAUDE.md` where there is none."""

from pathlib import Path

_NAMES = ("AGENTS.md", "CLAUDE.md")
_MAX_CHARACTERS = 8_000


def find_notes(folder: str | Path | None) -> Path | None:
    """Return the file with the notes of a folder, if it has one. A link to a place outside does not count."""
    if not folder:
        return None
    top = Path(folder).resolve()
    for name in _NAMES:
        path = top / name
        if path.is_file() and path.resolve().is_relative_to(top):
            return path
    return None


def read_notes(folder: str | Path | None) -> str:
    """Return the notes of a folder as instructions, shortened if they are long; empty if there are none."""
    path = find_notes(folder)
    if path is None:
        return ""
    try:
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    if not text:
        return ""
    cut = f"\n[… {path.name} goes on; read_file has the rest]" if len(text) > _MAX_CHARACTERS else ""
    return f"The project's notes for agents, from {path.name}:\n\n{text[:_MAX_CHARACTERS]}{cut}"
