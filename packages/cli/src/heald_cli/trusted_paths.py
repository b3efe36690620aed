"""The files and folders of a project that the user decides about, besides its settings."""

from pathlib import Path

from heald.config.document import read_content
from heald.config.paths import display_path
from heald.config.trust import state_of
from heald_cli.folder_files import CLAUDE, HEALD, SHARED, find_project_folders, read_project_folder
from heald_cli.project_notes import find_notes
from heald_cli.subfolder_notes import find_subfolder_notes, read_subfolder_notes


def trusted_paths(folder: str | Path | None) -> list[Path]:
    """Return what a folder has for agents: its notes and those of its repository above it, the folder itself if it has
    notes in subfolders, and its folders with commands, skills, agents and hooks."""
    subfolders = [Path(folder).resolve()] if folder and find_subfolder_notes(folder) else []
    return [*find_notes(folder), *subfolders, *reversed(find_project_folders(folder))]


def undecided_paths(folder: str | Path | None) -> list[Path]:
    """Return those that the user has not decided about as they are now."""
    paths = trusted_paths(folder)
    return [path for path in paths if state_of(path, read_trusted_content(path) or b"") in ("unknown", "changed")]


def read_trusted_content(path: Path) -> bytes | None:
    """Return the content that the decision is about."""
    if not path.is_dir():
        return read_content(path)
    return read_project_folder(path) if is_agent_folder(path) else read_subfolder_notes(path)


def is_agent_folder(path: Path) -> bool:
    """Return whether a folder is one with commands, skills, agents and hooks, and not a project."""
    return path.name in (HEALD, SHARED, CLAUDE)


def describe_trusted(path: Path) -> str:
    """Return the name of a file or folder for messages."""
    if path.is_dir() and not is_agent_folder(path):
        return f"AGENTS.md of subfolders in {display_path(path)}"
    return display_path(path)
