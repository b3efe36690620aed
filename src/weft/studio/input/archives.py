"""A zip of a project, unpacked into memory. One odd entry refuses the whole archive.

All limits are checked on the table of contents first, and again on what really comes out of it. Paths go through the
same rules as those of a model; links, devices and encrypted entries have no place in a project.
"""

import io
import itertools
import stat
import zipfile
import zlib

from weft.studio.input.faults import BadInput
from weft.tools.workspace.base import PathFault
from weft.tools.workspace.paths import normal, shown

MAX_ENTRIES = 2_000
MAX_FILE = 32_000_000
MAX_TOTAL = 128_000_000
MAX_RATIO = 200
"""How many times its packed size an entry may have; small ones may have more."""
_SMALL = 1_000_000
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_JUNK = ("__MACOSX/", ".DS_Store")


def unpack(data: bytes) -> dict[str, bytes]:
    """The files of a zip by their paths. A folder that holds all of them is left away. Raises BadInput."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = _checked(archive.infolist(), len(data))
            files = {path: _content(archive, entry, path) for path, entry in entries.items()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError, ValueError):
        raise _bad("is damaged or no zip") from None
    if not files:
        raise _bad("has no files")
    return _without_top(files)


def _checked(entries: list[zipfile.ZipInfo], size: int) -> dict[str, zipfile.ZipInfo]:
    if len(entries) > MAX_ENTRIES:
        raise _bad(f"has {len(entries)} entries; at most {MAX_ENTRIES} are unpacked")
    total = 0
    ends: list[tuple[int, int]] = []
    found: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        path = _path(entry)
        total += entry.file_size
        if entry.file_size > MAX_FILE or total > MAX_TOTAL:
            raise _bad(f"unpacks to more than {MAX_TOTAL:,} bytes, or {shown(path)} to more than {MAX_FILE:,}")
        if entry.file_size > _SMALL and entry.file_size > MAX_RATIO * max(entry.compress_size, 1):
            raise _bad(f"has {shown(path)}, which is packed too tightly to be a file of a page")
        ends.append((entry.header_offset, entry.header_offset + 30 + entry.compress_size))
        if entry.is_dir() or any(junk in f"/{path}" for junk in _JUNK):
            continue
        if path in found:
            raise _bad(f"has {shown(path)} twice")
        found[path] = entry
    _check_apart(sorted(ends), size)
    for path in found:
        if any(other.startswith(f"{path}/") for other in found):
            raise _bad(f"has {shown(path)} as a file and as a folder")
    return found


def _path(entry: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _bad(f"has {shown(entry.filename)}, which is a link or no file")
    if entry.flag_bits & 0x1 or entry.compress_type not in _METHODS:
        raise _bad(f"has {shown(entry.filename)}, which is encrypted or packed in an unusual way")
    try:
        path = normal(entry.orig_filename)
    except PathFault as fault:
        raise _bad(f"cannot be unpacked: {str(fault).rstrip('.')}") from None
    if not path:
        raise _bad("has an entry without a name")
    return path


def _check_apart(ends: list[tuple[int, int]], size: int) -> None:
    """Entries that share bytes are a bomb: one packed block that stands for many files."""
    for (_, end), (start, _) in itertools.pairwise(ends):
        if start < end:
            raise _bad("has entries that overlap")
    if ends and ends[-1][1] > size:
        raise _bad("breaks off")


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str) -> bytes:
    with archive.open(entry) as file:
        data = file.read(entry.file_size + 1)
    if len(data) != entry.file_size:
        raise _bad(f"says something wrong about the size of {shown(path)}")
    return data


def _without_top(files: dict[str, bytes]) -> dict[str, bytes]:
    tops = {path.partition("/")[0] for path in files}
    if len(tops) != 1 or not all("/" in path for path in files):
        return files
    return {path.partition("/")[2]: data for path, data in files.items()}


def _bad(what: str) -> BadInput:
    return BadInput(f"The archive {what}.", "bad_archive")
