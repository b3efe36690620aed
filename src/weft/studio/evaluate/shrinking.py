"""Pictures made small enough that a report can hold many of them."""

from io import BytesIO

from PIL import Image

WIDTH = 720
_HEIGHT = 6_000


def shrunk(image: bytes) -> bytes:
    """As WebP, at most 720 pixels wide; what is taller than a report can show is cut off below."""
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
