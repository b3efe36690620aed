"""OpenAI's images API: `images/generations` and `images/edits`, which answer with base64."""

from collections.abc import Mapping
from typing import Any, Self

from PIL import Image

from weft.core.errors import MalformedResponse
from weft.core.json import JsonObject, as_objects
from weft.studio.imaging.api import Api, picture_in
from weft.studio.imaging.costs import note, openai_tokens
from weft.studio.imaging.painter import Wanted
from weft.studio.imaging.raster import png_of, within

MODEL = "gpt-image-2.5-flare"
BASE_URL = "https://api.openai.com/v1"
KEYS = ("OPENAI_API_KEY",)

_STEP = 16
_LEAST, _MOST = 1_024, 1_536
"""The sides of what is asked for, in pixels."""
_RATIO = 3.0
_SENT = 2_048


class OpenAIPainter:
    """GPT Image models."""

    cuts = True

    def __init__(self, key: str, model: str = MODEL, *, base_url: str = BASE_URL, **limits: Any) -> None:
        headers = {"authorization": f"Bearer {key}"}
        self._api = Api("OpenAI", base_url, key, KEYS[0], headers, **limits)
        self._model = model

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], model: str = MODEL) -> Self | None:
        key = next((environ[name] for name in KEYS if environ.get(name)), None)
        return None if key is None else cls(key, model or MODEL)

    @property
    def label(self) -> str:
        return f"OpenAI {self._model}"

    # --- requests ----------------------------------------------------------------------------------------------------

    async def generate(self, wanted: Wanted) -> Image.Image:
        body: JsonObject = {
            "model": self._model,
            "prompt": wanted.prompt,
            "size": size_for(wanted.width, wanted.height),
            "output_format": "png",
        }
        if wanted.transparent:
            body["background"] = "transparent"
        return await self._paid(await self._api.post("/images/generations", body))

    async def edit(self, picture: Image.Image, instruction: str) -> Image.Image:
        return await self._edited(picture, instruction, "auto")

    async def cut_out(self, picture: Image.Image) -> Image.Image:
        said = "Remove the background completely. Keep the subject exactly as it is, pixel for pixel, in its place."
        return await self._edited(picture, said, "transparent")

    async def _edited(self, picture: Image.Image, instruction: str, background: str) -> Image.Image:
        fields = {
            "model": self._model,
            "prompt": instruction,
            "size": size_for(*picture.size),
            "background": background,
            "output_format": "png",
        }
        return await self._paid(
            await self._api.post_form("/images/edits", fields, "image", png_of(within(picture, _SENT)))
        )

    # --- answers -----------------------------------------------------------------------------------------------------

    async def _paid(self, answer: JsonObject) -> Image.Image:
        await note("openai", self._model, openai_tokens(answer))
        return self._picture(answer)

    def _picture(self, answer: JsonObject) -> Image.Image:
        for item in as_objects(answer.get("data")):
            return picture_in(item.get("b64_json"), "OpenAI")
        raise MalformedResponse("The answer of OpenAI holds no picture.")


def size_for(width: int, height: int) -> str:
    """A size that these models take: sides that 16 divides, not longer than thrice each other."""
    ratio = min(max(width / height, 1 / _RATIO), _RATIO)
    longer = min(max(width, height, _LEAST), _MOST)
    across, down = (longer, longer / ratio) if ratio >= 1 else (longer * ratio, longer)
    if min(across, down) < _LEAST:  # the smaller side needs enough pixels as well
        grow = min(_LEAST / min(across, down), _MOST / max(across, down))
        across, down = across * grow, down * grow
    shorter = min(_whole(across), _whole(down))
    across, down = min(_whole(across), int(shorter * _RATIO)), min(_whole(down), int(shorter * _RATIO))
    return f"{across // _STEP * _STEP}x{down // _STEP * _STEP}"


def _whole(side: float) -> int:
    return max(round(side / _STEP), 1) * _STEP
