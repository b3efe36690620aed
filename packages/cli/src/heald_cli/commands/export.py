"""`heald export`: writes the commands, skills, agents, hooks and notes of a project for other programs."""

import argparse
from pathlib import Path

from heald.commands.terminal import print_note
from heald.core.errors import ConfigurationError
from heald.tools.sanitize import sanitize_text
from heald_cli.exported_files import ExportedFile, export_claude, export_shared
from heald_cli.folder_files import CLAUDE

EXAMPLES = """examples:
  heald export claude             write .claude and CLAUDE.md from .heald, heald.toml and AGENTS.md
  heald export agents             write the skills to .agents/skills, which several programs read
  heald export claude --dry-run   list the files
  heald export claude --force     overwrite files that differ

The other way needs no command: heald reads .claude and .agents where they are, once you trust them."""
_TARGETS = {"claude": export_claude, "agents": export_shared}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", choices=sorted(_TARGETS), help="whose format")
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="project (the current folder)")
    parser.add_argument("--force", action="store_true", help="overwrite files that differ")
    parser.add_argument("--dry-run", action="store_true", help="list the files, and write nothing")


def run(options: argparse.Namespace) -> int:
    folder = Path(options.folder).resolve()
    if not folder.is_dir():
        raise ConfigurationError(f"There is no folder {options.folder!r}.")
    exported = _TARGETS[options.target](folder)
    if not exported.files and not exported.losses:
        raise ConfigurationError(f"There is nothing to export in {options.folder!r}: it has no .heald folder.")
    refused = 0
    for file in exported.files:
        state = _write(folder, file, force=options.force, is_dry=options.dry_run)
        refused += state == "differs"
        print(f"{state:<8} {sanitize_text(file.path)}")
    for sentence in exported.losses:
        print_note(sanitize_text(sentence))
    if refused:
        print_note("Files that differ are not overwritten; --force does that.")
    return 1 if refused else 0


def _write(folder: Path, file: ExportedFile, *, force: bool, is_dry: bool) -> str:
    """Write a file, and return what happened to it. Settings are merged, so they may differ."""
    path = folder / file.path
    if not path.parent.resolve().is_relative_to(folder) or path.is_symlink():
        raise ConfigurationError(f"{file.path} is behind a link; remove the link first.")
    if path.exists():
        if path.read_bytes() == file.content:
            return "same"
        if not force and file.path != f"{CLAUDE}/settings.json":
            return "differs"
    if not is_dry:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
    return "written" if not is_dry else "new"
