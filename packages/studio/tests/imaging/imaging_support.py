"""What tests of image providers share: pictures, and their text in answers."""

import base64
import io

from PIL import Image

KEY = "sk-CANARY-5c1f0a9b7e"


def png(size: tuple[int, int] = (64, 48), colour: str = "red", mode: str = "RGB") -> bytes:
    out = io.BytesIO()
    Image.new(mode, size, colour).save(out, "PNG")
    return out.getvalue()


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def noise(size: tuple[int, int]) -> Image.Image:
    return Image.merge("RGB", [Image.effect_noise(size, 80) for _ in range(3)])
