"""A project as a zip: every file and asset below one folder. The same project makes the same bytes."""

import io
import zipfile
from collections.abc import Mapping

from weft.studio.export.names import safe_name
from weft.tools.workspace.paths import normal

_TIME = (1980, 1, 1, 0, 0, 0)
_PACKED = (".avif", ".gif", ".jpeg", ".jpg", ".mp4", ".png", ".webm", ".webp", ".woff", ".woff2", ".zip")


def zip_project(files: Mapping[str, str | bytes], name: str = "project") -> bytes:
    """The bytes of the zip. Raises PathFault for a path that no project may have."""
    folder = safe_name(name)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):
            content = files[path]
            entry = zipfile.ZipInfo(f"{folder}/{normal(path)}", _TIME)
            entry.external_attr = 0o100644 << 16
            packed = path.lower().endswith(_PACKED)
            entry.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
            archive.writestr(entry, content.encode() if isinstance(content, str) else content)
    return out.getvalue()
