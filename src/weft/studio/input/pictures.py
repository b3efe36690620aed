"""A picture from anywhere, as a model may see it: decoded, turned upright, made to fit, and written anew.

The header is read before anything else, so that a small file with a huge picture in it costs nothing. Type and size
are what the decoder finds, never what a name or a header of a request says. What comes out was encoded here: nothing
of the original file is passed on, neither its metadata nor what may be hidden behind it.
"""

import base64
import io
import struct
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any, cast

import msgspec
from PIL import Image as Pillow
from PIL import ImageCms, ImageOps

from weft.core.content import Image
from weft.studio.input.faults import BadInput
from weft.tools.web.media import picture_of

MAX_BYTES = 32_000_000
"""Of a file."""
MAX_PIXELS = 40_000_000
MAX_SIDE = 7_680
"""What a model is sent: the least that current ones take is 8,000 pixels a side."""
MAX_SENT = 3_700_000
"""Bytes: 5 MB once they are base64."""

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "HEIF", "AVIF")
_DECODING = (
    OSError,
    ValueError,
    SyntaxError,
    EOFError,
    LookupError,
    TypeError,
    ArithmeticError,
    MemoryError,
    RuntimeError,
    AttributeError,
    Warning,
    struct.error,
    zlib.error,
)
"""What decoders raise on damaged files. They are not ours, so the file is taken to be at fault."""
_PEOPLE = "PNG, JPEG, WebP, GIF or HEIC"


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """A checked picture, PNG or JPEG."""

    data: bytes
    media_type: str
    width: int
    height: int

    def image(self) -> Image:
        """As the content of a message."""
        return Image(media_type=self.media_type, data=base64.b64encode(self.data).decode())


def read_picture(data: bytes, *, name: str = "The picture", max_side: int = MAX_SIDE) -> Picture:
    """The picture in a file. Of an animation the first frame. Raises BadInput with a sentence about `name`."""
    with opened(data, name) as found:
        upright = ImageOps.exif_transpose(found)
        lossy = found.format in ("JPEG", "HEIF", "AVIF")
        picture = _plain(upright)
    return encode(picture, lossy=lossy, max_side=max_side)


@contextmanager
def opened(data: bytes, name: str) -> Generator[Pillow.Image]:
    """A picture whose header was found to be harmless. What goes wrong while it is decoded is a BadInput, too."""
    if len(data) > MAX_BYTES:
        raise BadInput(f"{name} has {len(data):,} bytes; at most {MAX_BYTES:,} are read.", "too_large")
    header = picture_of(data)
    if header is not None:
        _check_size((header.width, header.height), name)
    _with_heic()
    try:
        with Pillow.open(io.BytesIO(data), formats=_FORMATS) as found:
            _check_size(found.size, name)
            yield found
    except BadInput:
        raise
    except (Pillow.DecompressionBombError, Pillow.DecompressionBombWarning):
        raise _too_many_pixels(name) from None
    except Pillow.UnidentifiedImageError:
        raise BadInput(f"{name} is not a picture that can be read; give {_PEOPLE}.", "not_an_image") from None
    except _DECODING:
        raise _damaged(name) from None


def encode(picture: Pillow.Image, *, lossy: bool = False, max_side: int = MAX_SIDE) -> Picture:
    """A picture in RGB or RGBA as bytes that models take: PNG while that is small enough, JPEG otherwise."""
    picture = _fitted(picture, max_side)
    if not lossy:
        data = _written(picture, "PNG", optimize=False, compress_level=6)
        if len(data) <= MAX_SENT:
            return Picture(data=data, media_type="image/png", width=picture.width, height=picture.height)
    flat = _on_white(picture)
    for quality in (90, 80, 65, 50):
        data = _written(flat, "JPEG", quality=quality)
        if len(data) <= MAX_SENT:
            return Picture(data=data, media_type="image/jpeg", width=flat.width, height=flat.height)
    return encode(flat, lossy=True, max_side=max(flat.size) * 3 // 4)


@cache
def _with_heic() -> None:
    """HEIC where the decoder for it is installed; without it such a file is no picture."""
    try:
        import pillow_heif
    except ImportError:
        return
    cast(Any, pillow_heif).register_heif_opener(thumbnails=False)


def _check_size(size: tuple[int, int], name: str) -> None:
    width, height = size
    if width <= 0 or height <= 0:
        raise _damaged(name)
    if width * height > MAX_PIXELS:
        raise BadInput(
            f"{name} has {width} × {height} pixels; at most {MAX_PIXELS // 1_000_000} million are read.",
            "image_too_large",
        )


def _plain(found: Pillow.Image) -> Pillow.Image:
    """The pixels as RGB, or RGBA where something is seen through, in the colours of the web."""
    profile = found.info.get("icc_profile")
    if found.mode in ("I;16", "I;16B", "I;16L", "I"):
        found = found.convert("I").point(lambda value: value / 256).convert("L")
    if isinstance(profile, bytes) and found.mode in ("RGB", "CMYK"):
        found = _as_srgb(found, profile)
    transparent = found.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in found.info
    return found.convert("RGBA" if transparent else "RGB")


def _as_srgb(found: Pillow.Image, profile: bytes) -> Pillow.Image:
    try:
        own = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        web = cast(Any, ImageCms).createProfile("sRGB")
        turned = ImageCms.profileToProfile(found, own, web, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return found
    return turned or found


def _fitted(picture: Pillow.Image, max_side: int) -> Pillow.Image:
    if max(picture.size) <= max_side:
        return picture
    scale = max_side / max(picture.size)
    size = (max(round(picture.width * scale), 1), max(round(picture.height * scale), 1))
    return picture.resize(size, Pillow.Resampling.LANCZOS)


def _on_white(picture: Pillow.Image) -> Pillow.Image:
    if picture.mode != "RGBA":
        return picture.convert("RGB")
    white = Pillow.new("RGB", picture.size, "white")
    white.paste(picture, mask=picture.getchannel("A"))
    return white


def _written(picture: Pillow.Image, kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    bare = Pillow.new(picture.mode, picture.size)
    bare.paste(picture)
    bare.save(out, kind, **options)
    return out.getvalue()


def _too_many_pixels(name: str) -> BadInput:
    return BadInput(
        f"{name} has too many pixels; at most {MAX_PIXELS // 1_000_000} million are read.", "image_too_large"
    )


def _damaged(name: str) -> BadInput:
    return BadInput(f"{name} is damaged and cannot be decoded; save it again as PNG.", "image_damaged")
