"""The notes for agents in subfolders: `AGENTS.md`, or `CLAUDE.md`, for the files below its folder.

The model gets the notes of a subfolder with the result of the first call that is about a file there. Like all that
comes with a folder, they have no effect until the user trusts them as they are; the decision is one for all of them.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from heald.config.trust import state_of
from heald.core.messages import Text
from heald.tools.runtime import Invocation, Next
from heald.tools.tool_output import join_output
from heald_cli.project_notes import MAX_NOTE_CHARACTERS, NOTE_NAMES

_MAX_DEPTH = 6
_MAX_FOLDERS = 3_000
_MAX_NOTES = 100
_MAX_BYTES = 1_000_000
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "dist", "build", "target", "vendor", "site-packages"})


def find_subfolder_notes(folder: str | Path | None) -> list[Path]:
    """Return the notes below a folder, not its own. Links, hidden folders and those of packages do not count."""
    if not folder:
        return []
    top = Path(folder).resolve()
    paths: list[Path] = []
    for place in _walk(top):
        path = next((path for name in NOTE_NAMES if (path := place / name).is_file() and not path.is_symlink()), None)
        if path is not None:
            paths.append(path)
    return paths[:_MAX_NOTES]


def read_subfolder_notes(folder: Path) -> bytes:
    """Return all notes below a folder: what the user trusts."""
    return _join(_read_notes(folder.resolve()))


class SubfolderNotes:
    """The trusted notes below a folder, as middleware: a result comes with the notes for its files, once each."""

    def __init__(self, folder: str) -> None:
        top = Path(folder).resolve()
        notes = _read_notes(top)
        self._notes = notes if notes and state_of(top, _join(notes)) == "trusted" else {}

    def __bool__(self) -> bool:
        return bool(self._notes)

    def describe(self) -> str:
        """Describe the notes for the instructions of a model; empty if there are none."""
        if not self._notes:
            return ""
        return (
            "Subfolders with notes of their own, which you get with the first result about a file there: "
            f"{', '.join(self._notes)}."
        )

    def start(self) -> "PendingNotes":
        """Return the middleware of one agent."""
        return PendingNotes(self._notes)


class PendingNotes:
    """The notes that an agent has not got yet."""

    def __init__(self, notes: dict[str, bytes]) -> None:
        self._notes = dict(notes)

    async def run_around(self, invocation: Invocation, run: Next) -> Any:
        """Run a call, and add the notes for its files to its result (middleware)."""
        value = await run(invocation)
        texts = [self._render(name) for name in self._find(invocation)]
        return join_output([Text("\n\n".join(texts) + "\n\n")], value) if texts else value

    def _find(self, invocation: Invocation) -> list[str]:
        if not self._notes or invocation.tool.access is None:
            return []
        accesses = invocation.tool.access(invocation.arguments)
        paths = [PurePosixPath(access.resource.removeprefix("file:")) for access in accesses]
        return [name for name in self._notes if any(path.is_relative_to(PurePosixPath(name).parent) for path in paths)]

    def _render(self, name: str) -> str:
        text = self._notes.pop(name).decode("utf-8", "replace").strip()
        cut = f"\n[… {name} goes on; read_file has the rest]" if len(text) > MAX_NOTE_CHARACTERS else ""
        place = PurePosixPath(name).parent
        return f"The project's notes for agents that work on files in {place}/, from {name}:\n\n" + (
            f"{text[:MAX_NOTE_CHARACTERS]}{cut}\n[end of {name}]"
        )


def _walk(top: Path) -> Iterator[Path]:
    for count, (folder, folders, _) in enumerate(os.walk(top)):
        place = Path(folder)
        depth = len(place.relative_to(top).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        if depth >= _MAX_DEPTH:
            folders.clear()
        if count > _MAX_FOLDERS:
            return
        if depth:
            yield place


def _read_notes(top: Path) -> dict[str, bytes]:
    """Read the notes below a folder, by their paths in it."""
    return {path.relative_to(top).as_posix(): _read(path) for path in find_subfolder_notes(top)}


def _join(notes: Mapping[str, bytes]) -> bytes:
    """Return notes as one text, each below its path."""
    parts = ((f"== {name}\n".encode("utf-8", "surrogateescape"), content) for name, content in notes.items())
    return b"".join(head + content + b"\n" for head, content in parts)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MAX_BYTES)
