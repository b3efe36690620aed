"""Reads pictures from bytes, files, `data:` URLs and the web, and encodes them for models.

The header is checked before a picture is decoded. Type and size are those that the decoder finds. The result is always
encoded anew, so that neither metadata nor hidden data of the original file is passed on.
"""

import base64
import io
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import msgspec

from heald.core.errors import HealdError
from heald.core.lazy import LazyModule
from heald.core.media import picture_header
from heald.core.messages import Image
from heald_studio.bad_input import BadInput

if TYPE_CHECKING:
    from PIL import Image as Pillow
    from PIL import ImageCms, ImageOps
else:  # a server starts without them
    Pillow, ImageCms, ImageOps = LazyModule("PIL.Image"), LazyModule("PIL.ImageCms"), LazyModule("PIL.ImageOps")


MAX_BYTES = 32_000_000  # of a file
MAX_PIXELS = 40_000_000
MAX_SIDE = 7_680  # of a picture for a model; the strictest current limit is 8,000 pixels
MAX_SENT = 3_700_000  # bytes of a picture for a model: 5 MB as base64

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "HEIF", "AVIF")
_MOST_PIXELS = f"at most {MAX_PIXELS // 1_000_000} million"
_FORMAT_NAMES = "PNG, JPEG, WebP, GIF or HEIC"
_LEAST_DENSE = 700  # the width of the narrowest phone with two pixels for each CSS pixel
_LEAST_DENSE_WIDE = 1_000


class InputPicture(msgspec.Struct, frozen=True, kw_only=True):
    """A checked picture, PNG or JPEG."""

    data: bytes
    media_type: str
    width: int
    height: int
    ratio: int = 1
    """Pixels for each CSS pixel, as far as the picture shows it."""

    def image(self) -> Image:
        """Return the picture as the content of a message."""
        return Image(media_type=self.media_type, data=base64.b64encode(self.data).decode())


def read_picture(
    data: bytes, *, name: str = "The picture", max_side: int = MAX_SIDE, scale: int | None = None
) -> InputPicture:
    """Read the picture in a file; of an animation the first frame. Raises BadInput with a sentence about `name`.

    `scale` is the pixels for each CSS pixel, which are found out if it is None.
    """
    with open_picture(data, name) as source:
        upright = ImageOps.exif_transpose(source)
        lossy = source.format in ("JPEG", "HEIF", "AVIF")
        picture = _to_rgb(upright)
    picture, ratio = _reduce(picture) if scale is None else (picture, scale)
    found_picture = encode_picture(picture, lossy=lossy, max_side=max_side)
    return msgspec.structs.replace(found_picture, ratio=ratio if found_picture.width == picture.width else 1)


def measure_picture(data: bytes, *, name: str = "The picture") -> tuple[int, int]:
    """Return the width and height of a picture in CSS pixels, as `read_picture` finds them, without encoding it."""
    with open_picture(data, name) as source:
        picture = _to_rgb(ImageOps.exif_transpose(source))
    picture, ratio = _reduce(picture)
    return picture.width // ratio, picture.height // ratio


def check_picture(data: bytes, *, name: str = "The picture") -> tuple[int, int]:
    """Decode a picture and return its size. Raises BadInput with a sentence about `name`, as `read_picture` does."""
    with open_picture(data, name) as picture:
        picture.load()
        return picture.size


def _reduce(picture: "Pillow.Image") -> "tuple[Pillow.Image, int]":
    """Find the pixels for each CSS pixel, and reduce a picture that has far more of them than it needs."""
    is_upright = picture.height > 1.3 * picture.width  # as a phone is
    if picture.width < (_LEAST_DENSE if is_upright else _LEAST_DENSE_WIDE):
        return picture, 1
    try:
        import numpy

        from heald_pictures.screen_scale import LARGE, pixel_ratio, reduction
    except ImportError:
        return picture, 1
    ratio = pixel_ratio(numpy.asarray(picture.convert("RGB")))
    size = picture.width * picture.height
    factor = reduction(size, ratio) if size > LARGE else 1
    return (picture.reduce(factor), ratio // factor) if factor > 1 else (picture, ratio)


@contextmanager
def open_picture(data: bytes, name: str) -> "Generator[Pillow.Image]":
    """Open a picture after a check of its header. Errors while it is decoded are raised as BadInput."""
    if len(data) > MAX_BYTES:
        raise BadInput(f"{name} has {len(data):,} bytes; at most {MAX_BYTES:,} are read.", "too_large")
    header = picture_header(data)
    if header is not None:
        _check_size((header.width, header.height), name)
    _register_heic()
    try:
        with Pillow.open(io.BytesIO(data), formats=_FORMATS) as picture:
            _check_size(picture.size, name)
            yield picture
    except HealdError:
        raise
    except (Pillow.DecompressionBombError, Pillow.DecompressionBombWarning):
        raise BadInput(f"{name} has too many pixels; {_MOST_PIXELS} are read.", "image_too_large") from None
    except Pillow.UnidentifiedImageError:
        raise BadInput(f"{name} is not a picture that can be read; give {_FORMAT_NAMES}.", "not_an_image") from None
    except Exception:  # decoders raise almost any error on a damaged file
        raise _damaged(name) from None


def encode_picture(picture: "Pillow.Image", *, lossy: bool = False, max_side: int = MAX_SIDE) -> InputPicture:
    """Encode an RGB or RGBA picture for models: as PNG if that is small enough, else as JPEG."""
    picture = _fit_side(picture, max_side)
    if not lossy:
        data = _encode_as(picture, "PNG", optimize=False, compress_level=4)
        if len(data) <= MAX_SENT:
            return InputPicture(data=data, media_type="image/png", width=picture.width, height=picture.height)
    flat = _flatten(picture)
    for quality in (90, 80, 65, 50):
        data = _encode_as(flat, "JPEG", quality=quality)
        if len(data) <= MAX_SENT:
            return InputPicture(data=data, media_type="image/jpeg", width=flat.width, height=flat.height)
    return encode_picture(flat, lossy=True, max_side=max(flat.size) * 3 // 4)


@cache
def _register_heic() -> None:
    """Register the HEIC decoder, if it is installed."""
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
        raise BadInput(f"{name} has {width} × {height} pixels; {_MOST_PIXELS} are read.", "image_too_large")


def _to_rgb(picture: "Pillow.Image") -> "Pillow.Image":
    """Convert the pixels to sRGB: RGBA if some are transparent, else RGB."""
    profile = picture.info.get("icc_profile")
    if picture.mode in ("I;16", "I;16B", "I;16L", "I"):
        picture = picture.convert("I").point(lambda value: value / 256).convert("L")
    if isinstance(profile, bytes) and picture.mode in ("RGB", "CMYK"):
        picture = _as_srgb(picture, profile)
    transparent = picture.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in picture.info
    return picture.convert("RGBA" if transparent else "RGB")


def _as_srgb(picture: "Pillow.Image", profile: bytes) -> "Pillow.Image":
    try:
        embedded = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        web = cast(Any, ImageCms).createProfile("sRGB")
        turned = ImageCms.profileToProfile(picture, embedded, web, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return picture
    return turned or picture


def _fit_side(picture: "Pillow.Image", max_side: int) -> "Pillow.Image":
    if max(picture.size) <= max_side:
        return picture
    scale = max_side / max(picture.size)
    size = (max(round(picture.width * scale), 1), max(round(picture.height * scale), 1))
    return picture.resize(size, Pillow.Resampling.LANCZOS)


def _flatten(picture: "Pillow.Image") -> "Pillow.Image":
    if picture.mode != "RGBA":
        return picture.convert("RGB")
    white = Pillow.new("RGB", picture.size, "white")
    white.paste(picture, mask=picture.getchannel("A"))
    return white


def _encode_as(picture: "Pillow.Image", kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    bare = Pillow.new(picture.mode, picture.size)
    bare.paste(picture)
    bare.save(out, kind, **options)
    return out.getvalue()


def _damaged(name: str) -> BadInput:
    return BadInput(f"{name} is damaged and cannot be decoded; save it again as PNG.", "image_damaged")
