"""Commands that a user writes as markdown: `commands/NAME.md` is a request with placeholders."""

from pathlib import Path

from heald_cli.markdown_files import SKILL, MarkdownFile, read_markdown, unique_files, usable_files


def load_commands(folder: str | Path | None) -> list[MarkdownFile]:
    """Return the user's commands and the trusted ones of a project, which win by name."""
    return unique_files([read_markdown(path, path.stem) for path in usable_files(folder) if path.name != SKILL])
