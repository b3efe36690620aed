"""Reads an existing page as the start of a project: an HTML file, a folder, or a zip.

The limits of a zip are checked on its table of contents and again while it is unpacked. One bad entry (a bad path, a
link, a device, an encrypted entry) refuses the whole archive.
"""

import io
import itertools
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from heald.core.errors import ConfigurationError
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.paths import PathFault, normalize_path, quote_path
from heald_studio.bad_input import BadInput
from heald_studio.export.files import reason_to_stay
from heald_studio.export.offline import restore_compiler

MAX_ENTRIES = 2_000
MAX_UNPACKED_FILE = 32_000_000
MAX_UNPACKED = 128_000_000
MAX_RATIO = 200  # unpacked size of an entry by its packed size; small ones may have more
_SMALL = 1_000_000
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_JUNK = ("__MACOSX/", ".DS_Store")
MAX_FILES = 1_000
MAX_FILE = 16_000_000
MAX_TOTAL = 64_000_000
_SKIPPED_FOLDERS = {".git", "node_modules", "dist", "build", ".next", ".cache", "__pycache__", ".venv"}


def unpack_zip(data: bytes) -> dict[str, bytes]:
    """Unpack a zip into files by path, without a folder that holds all of them. Raises BadInput."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = _check_entries(archive.infolist(), len(data))
            files = {path: _entry_content(archive, entry, path) for path, entry in entries.items()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError, ValueError):
        raise _bad_archive("is damaged or no zip") from None
    if not files:
        raise _bad_archive("has no files")
    return restore_compiler(_strip_top_folder(files))


def _check_entries(entries: list[zipfile.ZipInfo], size: int) -> dict[str, zipfile.ZipInfo]:
    if len(entries) > MAX_ENTRIES:
        raise _bad_archive(f"has {len(entries)} entries; at most {MAX_ENTRIES} are unpacked")
    total = 0
    ends: list[tuple[int, int]] = []
    paths: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        path = _entry_path(entry)
        total += entry.file_size
        if entry.file_size > MAX_UNPACKED_FILE or total > MAX_UNPACKED:
            raise _bad_archive(
                f"unpacks to more than {MAX_UNPACKED:,} bytes, or {quote_path(path)} to more than {MAX_UNPACKED_FILE:,}"
            )
        if entry.file_size > _SMALL and entry.file_size > MAX_RATIO * max(entry.compress_size, 1):
            raise _bad_archive(f"has {quote_path(path)}, which is packed too tightly to be a file of a page")
        ends.append((entry.header_offset, entry.header_offset + 30 + entry.compress_size))
        if entry.is_dir() or any(junk in f"/{path}" for junk in _JUNK):
            continue
        if path in paths:
            raise _bad_archive(f"has {quote_path(path)} twice")
        paths[path] = entry
    _check_overlap(sorted(ends), size)
    for path in paths:
        if any(other.startswith(f"{path}/") for other in paths):
            raise _bad_archive(f"has {quote_path(path)} as a file and as a folder")
    return paths


def _entry_path(entry: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _bad_archive(f"has {quote_path(entry.filename)}, which is a link or no file")
    if entry.flag_bits & 0x1 or entry.compress_type not in _METHODS:
        raise _bad_archive(f"has {quote_path(entry.filename)}, which is encrypted or packed in an unusual way")
    try:
        path = normalize_path(entry.orig_filename)
    except PathFault as fault:
        raise _bad_archive(f"cannot be unpacked: {str(fault).rstrip('.')}") from None
    if not path:
        raise _bad_archive("has an entry without a name")
    reason = reason_to_stay(path)
    if reason is not None and not any(junk in f"/{path}" for junk in _JUNK):
        raise _bad_archive(f"has {quote_path(path)}, which is not imported: {reason}; remove it, and try again")
    return path


def _check_overlap(ends: list[tuple[int, int]], size: int) -> None:
    """Refuse entries that share bytes: a bomb that uses one packed block for many files."""
    for (_, end), (start, _) in itertools.pairwise(ends):
        if start < end:
            raise _bad_archive("has entries that overlap")
    if ends and ends[-1][1] > size:
        raise _bad_archive("breaks off")


def _entry_content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str) -> bytes:
    with archive.open(entry) as file:
        data = file.read(entry.file_size + 1)
    if len(data) != entry.file_size:
        raise _bad_archive(f"states a wrong size for {quote_path(path)}")
    return data


def _strip_top_folder(files: dict[str, bytes]) -> dict[str, bytes]:
    tops = {path.partition("/")[0] for path in files}
    if len(tops) != 1 or not all("/" in path for path in files):
        return files
    return {path.partition("/")[2]: data for path, data in files.items()}


def _bad_archive(what: str) -> BadInput:
    return BadInput(f"The archive {what}.", "bad_archive")


def read_project(path: Path) -> dict[str, bytes]:
    """Read the files of a project, by path, from a folder, an HTML or SVG file, or a zip. Raises BadInput."""
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():
        raise BadInput(f"{path.name} does not exist; give an HTML file, a folder or a zip.", "not_found")
    if path.stat().st_size > MAX_TOTAL:
        raise BadInput(f"{path.name} has {path.stat().st_size:,} bytes; at most {MAX_TOTAL:,} are read.", "too_large")
    if path.suffix.lower() == ".zip":
        return unpack_zip(path.read_bytes())
    if path.suffix.lower() in (".html", ".htm", ".svg"):
        return {"image.svg" if path.suffix.lower() == ".svg" else "index.html": path.read_bytes()}
    raise BadInput(f"{path.name} is not a page; give an HTML file, a folder or a zip.", "not_found")


def _read_folder(path: Path) -> dict[str, bytes]:
    """Read the files of a folder, without links and without folders that tools generate."""
    try:
        workspace = DiskWorkspace(path)
    except ConfigurationError as error:
        raise BadInput(str(error), "not_found") from None
    files: dict[str, bytes] = {}
    room = MAX_TOTAL
    try:
        for entry in workspace.list(depth=None):
            parts = PurePosixPath(entry.path).parts
            if entry.kind != "file" or _SKIPPED_FOLDERS & set(parts):
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
    return restore_compiler(files)
