"""A project as a folder on disk, written through the same rules as any workspace: inside, whole, all or nothing."""

from collections.abc import Mapping
from pathlib import Path

from weft.core.errors import ConfigurationError
from weft.tools.workspace.base import Edit
from weft.tools.workspace.disk import DiskWorkspace


def write_project(files: Mapping[str, str | bytes], folder: Path, *, replace: bool = False) -> list[str]:
    """Write the files below a folder, which is made if need be, and give their paths.

    Files that are there already with another content are only replaced if that is wanted.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"The folder {folder} cannot be made: {error.strerror}.") from None
    workspace = DiskWorkspace(folder)
    try:
        edits = [_edit(workspace.normal(path), content) for path, content in sorted(files.items())]
        taken = [edit.path for edit in edits if workspace.exists(edit.path)]
        differ = [path for path in taken if workspace.read(path, remember=False) != _wanted(edits, path)]
        if differ and not replace:
            more = f" and {len(differ) - 1} more" if len(differ) > 1 else ""
            raise ConfigurationError(f"{differ[0]}{more} would be replaced; choose an empty folder, or allow it.")
        workspace.write_all([edit for edit in edits if edit.path not in taken or edit.path in differ], on_change=id)
        return [edit.path for edit in edits]
    finally:
        workspace.close()


def _edit(path: str, content: str | bytes) -> Edit:
    return Edit(path=path, content=content.encode() if isinstance(content, str) else content)


def _wanted(edits: list[Edit], path: str) -> bytes | None:
    return next(edit.content for edit in edits if edit.path == path)
