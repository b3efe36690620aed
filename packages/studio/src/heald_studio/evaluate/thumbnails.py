"""Shrinks pictures for a report."""

from io import BytesIO

from PIL import Image

WIDTH = 720
_HEIGHT = 6_000


def shrink_picture(image: bytes) -> bytes:
    """Shrink a picture for a report: WebP, at most 720 pixels wide, cropped at the bottom if it is too tall."""
    with Image.open(BytesIO(image), formats=("PNG", "JPEG", "WEBP", "GIF")) as opened:
        picture = opened.convert("RGB")
    if picture.width > WIDTH:
        height = max(1, round(picture.height * WIDTH / picture.width))
        picture = picture.resize((WIDTH, height), Image.Resampling.LANCZOS)
    if picture.height > _HEIGHT:
        picture = picture.crop((0, 0, picture.width, _HEIGHT))
    out = BytesIO()
    picture.save(out, "WEBP", quality=72, method=4)
    return out.getvalue()
