"""An existing page as the start of a project: an HTML file, a folder, or a zip of one."""

from pathlib import Path, PurePosixPath

from weft.core.errors import ConfigurationError
from weft.studio.input.archives import unpack
from weft.studio.input.faults import BadInput
from weft.tools.workspace.base import PathFault
from weft.tools.workspace.disk import DiskWorkspace

MAX_FILES = 1_000
MAX_FILE = 16_000_000
MAX_TOTAL = 64_000_000

_LEFT_OUT = {".git", "node_modules", "dist", "build", ".next", ".cache", "__pycache__", ".venv"}


def read_project(path: Path) -> dict[str, bytes]:
    """The files of a project by their paths, from a folder, one HTML or SVG file, or a zip. Raises BadInput."""
    if path.is_dir():
        return _folder(path)
    if not path.is_file():
        raise BadInput(f"{path.name} does not exist; give an HTML file, a folder or a zip.", "not_found")
    if path.stat().st_size > MAX_TOTAL:
        raise BadInput(f"{path.name} has {path.stat().st_size:,} bytes; at most {MAX_TOTAL:,} are read.", "too_large")
    if path.suffix.lower() == ".zip":
        return unpack(path.read_bytes())
    if path.suffix.lower() in (".html", ".htm", ".svg"):
        return {"image.svg" if path.suffix.lower() == ".svg" else "index.html": path.read_bytes()}
    raise BadInput(f"{path.name} is no page; give an HTML file, a folder or a zip.", "not_found")


def _folder(path: Path) -> dict[str, bytes]:
    """What is in a folder. Links are not followed, and what is made or fetched by tools is left out."""
    try:
        workspace = DiskWorkspace(path)
    except ConfigurationError as error:
        raise BadInput(str(error), "not_found") from None
    files: dict[str, bytes] = {}
    room = MAX_TOTAL
    try:
        for entry in workspace.list(depth=None):
            parts = PurePosixPath(entry.path).parts
            if entry.kind != "file" or _LEFT_OUT & set(parts):
                continue
            if len(files) == MAX_FILES:
                raise BadInput(f"The folder has more than {MAX_FILES} files; give a smaller one.", "too_many")
            data = workspace.read(entry.path, limit=min(MAX_FILE, room), remember=False)
            files[entry.path] = data
            room -= len(data)
    except PathFault as fault:
        raise BadInput(f"The folder cannot be read: {fault}", fault.kind) from None
    finally:
        workspace.close()
    if not files:
        raise BadInput("The folder has no files; give one with a page in it.", "not_found")
    return files
