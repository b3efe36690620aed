"""Reads the files of a folder that may say something about its design system, within limits."""

import os
from pathlib import Path

from heald_studio.bad_input import BadInput
from heald_studio.design.reading import is_design_file

MAX_FILE = 512 * 1024
MAX_FILES = 3_000
MAX_TOTAL = 24_000_000
_MAX_ENTRIES = 60_000
_SKIPPED_NAMES = (
    "node_modules bower_components vendor dist build out target coverage storybook-static public static tmp temp "
    "venv __pycache__ e2e cypress"
)
_SKIPPED = frozenset(_SKIPPED_NAMES.split())


def read_folder(folder: Path) -> dict[str, str]:
    """Read the design files of a folder by their path below it. Links are not followed. Raises BadInput."""
    if not folder.is_dir():
        raise BadInput(f"There is no folder {folder.name}; name an existing one.", "not_found")
    files: dict[str, str] = {}
    total = entries = 0
    for parent, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        for name in sorted(names):
            entries += 1
            path = Path(parent, name)
            inside = path.relative_to(folder).as_posix()
            if not is_design_file(inside) or path.is_symlink():
                continue
            text = read_text(path)
            if text is not None:
                files[inside] = text
                total += len(text)
            if len(files) >= MAX_FILES or total >= MAX_TOTAL:
                return files
        if entries >= _MAX_ENTRIES:
            break
    return files


def read_text(path: Path) -> str | None:
    """Read a text file; None if it cannot be read, is too large or is not UTF-8."""
    try:
        if path.stat().st_size > MAX_FILE or not path.is_file():
            return None
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
