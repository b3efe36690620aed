"""The size limit of the pictures and files of a result."""

import base64
import io
from collections.abc import Sequence
from warnings import catch_warnings, simplefilter

from heald.core.media import MAX_PIXELS, picture_header
from heald.core.messages import File, Image, ResultPart, Text
from heald.tools.tool_output import Parts

ROOM = 740_000
"""Maximum base64 characters of all pictures and files of a result. With its text it stays below one megabyte."""
_LEAST = 64


def is_too_large(content: Parts) -> bool:
    """Return whether the pictures and files exceed the size limit."""
    return not isinstance(content, str) and sum(map(_size, content)) > ROOM


def shrink_parts(content: Sequence[ResultPart]) -> list[ResultPart]:
    """Return the parts with large pictures scaled down and oversized files dropped. Blocks: run it in a thread."""
    share = _share([_size(part) for part in content])
    parts: list[ResultPart] = []
    for part in content:
        if isinstance(part, Text) or _size(part) <= share:
            parts.append(part)
        elif isinstance(part, Image) and (smaller := _smaller(part, share)) is not None:
            parts += smaller
        else:
            parts.append(Text(f"[{_named(part)} of {_size(part) * 3 // 4:,} bytes is left out: make it smaller.]"))
    return parts


def _size(part: ResultPart) -> int:
    return 0 if isinstance(part, Text) or part.data is None else len(part.data)


def _share(sizes: Sequence[int]) -> int:
    """Return the size limit per part. Room that small parts do not need goes to the large ones."""
    room, left = ROOM, len(sizes)
    for size in sorted(sizes):
        if size * left > room:
            break
        room, left = room - size, left - 1
    return room // max(left, 1)


def _smaller(image: Image, room: int) -> list[ResultPart] | None:
    """Return the picture scaled down to `room` base64 characters, and a note; None if that is not possible."""
    try:
        data = base64.b64decode(image.data or "", validate=True)
    except ValueError:
        return None
    header = picture_header(data)
    if header is None or not 0 < header.width * header.height <= MAX_PIXELS:
        return None
    made = _scaled(data, room * 3 // 4)
    if made is None:
        return None
    small, width, height = made
    note = f"[Made smaller to fit: {width}x{height} of {header.width}x{header.height} pixels.]"
    return [Image(media_type="image/jpeg", data=base64.b64encode(small).decode()), Text(note)]


def _scaled(data: bytes, room: int) -> tuple[bytes, int, int] | None:
    """Return a JPEG of at most `room` bytes, with its width and height."""
    try:
        from PIL import Image as Pillow
    except ImportError:
        return None
    try:
        with catch_warnings(), Pillow.open(io.BytesIO(data), formats=("PNG", "JPEG", "GIF", "WEBP")) as source:
            simplefilter("error")
            layer = source.convert("RGBA")
    except Exception:  # decoders raise many types for damaged files
        return None
    picture = Pillow.new("RGB", layer.size, "white")
    picture.paste(layer, mask=layer)
    while max(picture.size) >= _LEAST:
        for quality in (88, 75, 60):
            out = io.BytesIO()
            picture.save(out, "JPEG", quality=quality)
            if out.tell() <= room:
                return out.getvalue(), picture.width, picture.height
        picture = picture.resize((max(picture.width * 3 // 4, 1), max(picture.height * 3 // 4, 1)))
    return None


def _named(part: ResultPart) -> str:
    return f"A file {part.name!r}" if isinstance(part, File) and part.name else "A picture or file"
