"""Commands that a user writes as markdown: `commands/NAME.md` is a request with placeholders."""

from pathlib import Path

from heald_cli.folder_files import COMMANDS, folder_files, usable_folders
from heald_cli.markdown_files import MarkdownFile, read_markdown, unique_files


def load_commands(folder: str | Path | None) -> list[MarkdownFile]:
    """Return the user's commands and the trusted ones of a project, which win by name."""
    places = usable_folders(folder)
    paths = [path for place in places for path in folder_files(place) if path.is_relative_to(place / COMMANDS)]
    return unique_files([read_markdown(path, path.stem) for path in paths])
