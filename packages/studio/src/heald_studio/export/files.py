"""Exports a project: as a zip or a folder on disk, without secrets, repositories and names that some system
cannot hold."""

import io
import re
import unicodedata
import zipfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from heald.core.errors import ConfigurationError
from heald.core.lazy import lazy_pattern
from heald.tools.secrets import is_secret_file
from heald.tools.workspace.base import FileEdit
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.paths import normalize_path

_UNFIT = lazy_pattern(r"[^\w.-]+")
LEFT_OUT = "LEFT-OUT.txt"
_MAX = 80
_TIME = (1980, 1, 1, 0, 0, 0)
_PACKED = (".avif", ".gif", ".jpeg", ".jpg", ".mp4", ".png", ".webm", ".webp", ".woff", ".woff2", ".zip")
_RESERVED = lazy_pattern(r"(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?:\..*)?", re.IGNORECASE)
_FORBIDDEN = frozenset('<>:"|?*\\')
_REPOSITORIES = frozenset({".git", ".hg", ".svn"})


def write_project(files: Mapping[str, str | bytes], folder: Path, *, replace: bool = False) -> list[str]:
    """Write the files below a folder, all or none, and return their paths. Existing files are kept unless `replace`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"The folder {folder} cannot be made: {error.strerror}.") from None
    with closing(DiskWorkspace(folder)) as workspace:
        new = {workspace.normal(path): _as_bytes(content) for path, content in sorted(files.items())}
        existing = [path for path in new if workspace.exists(path)]
        same = [path for path in existing if workspace.read(path, remember=False) == new[path]]
        differ = [path for path in existing if path not in same]
        if differ and not replace:
            more = f" and {len(differ) - 1} more" if len(differ) > 1 else ""
            raise ConfigurationError(f"{differ[0]}{more} would be replaced; choose an empty folder, or allow it.")
        edits = [FileEdit(path=path, content=content) for path, content in new.items() if path not in same]
        workspace.write_all(edits, on_change=id)
        return list(new)


def _as_bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def safe_name(text: str, fallback: str = "project") -> str:
    """Make a plain file name: no folder, not hidden, not reserved by any system."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = _UNFIT.sub("-", plain)[:_MAX].strip("-._")
    return name if name and not is_reserved(name) else fallback


def zip_project(files: Mapping[str, str | bytes], name: str = "project") -> bytes:
    """Zip the files below one folder. The same files give the same bytes. Raises PathFault for a bad path.

    Secrets, repositories and names that some system cannot hold are left out; `LEFT-OUT.txt` in the zip lists them.
    """
    folder = safe_name(name)
    out = io.BytesIO()
    files = {normalize_path(path): content for path, content in files.items()}
    left_out = {path: reason for path in sorted(files) if (reason := reason_to_stay(path)) is not None}
    files = {path: content for path, content in files.items() if path not in left_out}
    if left_out:
        files[LEFT_OUT] = "".join(f"{path}: {reason}\n" for path, reason in left_out.items())
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(f"{folder}/{path}", _TIME)
            entry.external_attr = 0o100644 << 16
            packed = path.lower().endswith(_PACKED)
            entry.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
            archive.writestr(entry, _as_bytes(files[path]))
    return out.getvalue()


def is_reserved(name: str) -> bool:
    """Whether a name is a device on Windows."""
    return _RESERVED.fullmatch(name) is not None


def reason_to_stay(path: str) -> str | None:
    """Why a file is neither exported nor imported; None if it is."""
    names = [_plain(name) for name in path.split("/")]
    if any(name.casefold() in _REPOSITORIES for name in names):
        return "it belongs to a repository"
    if is_secret_file("/".join(names)):
        return "it may hold secrets"
    for name in names:
        if is_reserved(name) or name != name.rstrip(". ") or any(char in _FORBIDDEN or char < " " for char in name):
            return "some systems cannot hold its name"
    return None


def _plain(name: str) -> str:
    """The name as file systems may compare it: composed, without characters that are not shown."""
    return "".join(char for char in unicodedata.normalize("NFKC", name) if unicodedata.category(char) != "Cf")
