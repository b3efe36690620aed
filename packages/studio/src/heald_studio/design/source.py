"""Reads a design system from what a person names: a file, a folder or an address."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from heald.tools.web.fetcher import WebFetcher
from heald_studio.bad_input import BadInput
from heald_studio.design.design_text import write_design
from heald_studio.design.folder import read_folder, read_text
from heald_studio.design.reading import read_files
from heald_studio.design.web_page import read_web_page
from heald_studio.prompt.design_system import DesignSystem, parse_design_system, read_design_system

DESIGN_FILE = "design.md"
_READ = (".json", ".css", ".scss", ".less", ".js", ".cjs", ".mjs", ".ts")


def is_address(source: str) -> bool:
    return source.lower().startswith(("https://", "http://"))


async def open_design(source: str, fetcher: WebFetcher | None = None) -> DesignSystem:
    """Read a design system. A file and the `design.md` of a folder are used as they are. Raises BadInput."""
    if is_address(source):
        return parse_design_system(write_design(await read_web_page(source, fetcher)))
    return await asyncio.to_thread(_read_path, Path(source))


def _read_path(path: Path) -> DesignSystem:
    path = path.expanduser()
    return read_design_folder(path) if path.is_dir() else _read_file(path)


def read_design_folder(folder: Path) -> DesignSystem:
    """Read the design system of a repository: its `design.md`, or what its files say. Raises BadInput."""
    if (folder / DESIGN_FILE).is_file():
        return read_design_system(folder / DESIGN_FILE)
    return design_of_files(read_folder(folder), folder.resolve().name)


def _read_file(path: Path) -> DesignSystem:
    """Read a text as it is, and design tokens, style sheets and configurations for what they say."""
    if not path.name.endswith(_READ):
        return read_design_system(path)
    text = read_text(path)
    return design_of_files({path.name: text}, path.name) if text is not None else read_design_system(path)


def design_of_files(files: Mapping[str, str], name: str) -> DesignSystem:
    """Return the design system of files by path. Raises BadInput if they say nothing of one."""
    text = files.get(DESIGN_FILE)
    if text is None and len(files) == 1:
        path, content = next(iter(files.items()))
        if path.endswith(".json"):
            files = {"tokens.json": content}
        elif not path.endswith(_READ):
            text = content
    if text is not None:
        return parse_design_system(text)
    reading = read_files(files, f"Design system of {name}")
    if not reading.tokens and not reading.components:
        raise BadInput(
            f"{name} has no Tailwind configuration, CSS variables, design tokens, components or stories; "
            "write the design system as a text instead.",
            "empty",
        )
    notes = "".join(f"\n> {note}\n" for note in reading.notes)
    return parse_design_system(write_design(reading) + notes)
