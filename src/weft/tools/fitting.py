"""Results that fit into one event of the log: long texts lose their middle, large pictures are made smaller, and what
can be neither is left out in words.

Pictures are made smaller with Pillow, where it is installed (`weft[studio]`).
"""

import base64
import binascii
import io
from collections.abc import Sequence
from warnings import catch_warnings, simplefilter

from weft.core.content import File, Image, Text
from weft.core.json import encode_text
from weft.core.tools import ResultPart
from weft.tools.outcome import Parts, plain_text
from weft.tools.web.media import MAX_PIXELS, picture_of

ROOM = 740_000
"""Characters of base64 for all pictures and files of a result: beside its text that stays under a megabyte."""
TEXT_BYTES = 240 * 1024
"""Of the text of a result, as an event writes it: a letter takes up to four, what must be escaped six."""
_LEAST = 64


def capped(content: Parts, limit: int) -> tuple[Parts, bool]:
    """Text within so many characters, with head and tail kept; whether something was left out. Pictures stay."""
    if isinstance(content, str):
        return _cut(content, limit, TEXT_BYTES)
    texts = max(sum(isinstance(part, Text) for part in content), 1)
    share, room = max(limit // texts, 200), TEXT_BYTES // texts
    cuts = [_cut(part.text, share, room) if isinstance(part, Text) else None for part in content]
    parts = [part if cut is None else Text(cut[0]) for part, cut in zip(content, cuts, strict=True)]
    return parts, any(cut is not None and cut[1] for cut in cuts)


def _cut(text: str, limit: int, room: int) -> tuple[str, bool]:
    text = plain_text(text)
    if len(text) <= limit and (len(text) <= room // 6 or _weight(text) <= room):
        return text, False
    limit = min(limit, len(text))
    while True:
        head, tail = limit * 2 // 3, max(limit - limit * 2 // 3, 1)
        weight = _weight(text[:head] + text[-tail:])
        if weight <= room or limit <= 200:
            break
        limit = min(limit * room // weight, limit * 9 // 10)
    left_out = len(text) - head - tail
    return f"{text[:head]}\n\n[… {left_out:,} characters left out …]\n\n{text[-tail:]}", True


def _weight(text: str) -> int:
    return len(encode_text(text).encode())


def is_too_large(content: Parts) -> bool:
    """Whether its pictures and files must be made smaller, or left out."""
    return not isinstance(content, str) and sum(map(_size, content)) > ROOM


def fitted(content: Sequence[ResultPart]) -> list[ResultPart]:
    """The parts, with pictures that fit. It takes a while: not for the event loop."""
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
    """What each may take at most, so that all together have room: what the small ones leave is for the large ones."""
    room, left = ROOM, len(sizes)
    for size in sorted(sizes):
        if size * left > room:
            break
        room, left = room - size, left - 1
    return room // max(left, 1)


def _smaller(image: Image, room: int) -> list[ResultPart] | None:
    """The picture in so many characters, and a word about it; None if it cannot be made smaller here."""
    try:
        data = base64.b64decode(image.data or "", validate=True)
    except (binascii.Error, ValueError):
        return None
    header = picture_of(data)
    if header is None or not 0 < header.width * header.height <= MAX_PIXELS:
        return None
    made = _scaled(data, room * 3 // 4)
    if made is None:
        return None
    small, width, height = made
    said = f"[Made smaller to fit: {width}x{height} of {header.width}x{header.height} pixels.]"
    return [Image(media_type="image/jpeg", data=base64.b64encode(small).decode()), Text(said)]


def _scaled(data: bytes, room: int) -> tuple[bytes, int, int] | None:
    """A JPEG of at most so many bytes, with its size."""
    try:
        from PIL import Image as Pillow
    except ImportError:
        return None
    try:
        with catch_warnings(), Pillow.open(io.BytesIO(data), formats=("PNG", "JPEG", "GIF", "WEBP")) as found:
            simplefilter("error")
            layer = found.convert("RGBA")
    except Exception:  # a decoder's own: the file is damaged
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
