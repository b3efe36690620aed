"""Images of OpenAI."""

from PIL import Image

from heald.core.errors import MalformedResponse
from heald.core.json import JsonObject, as_objects
from heald_studio.imaging.api import decode_base64_picture
from heald_studio.imaging.costs import openai_tokens, record_cost
from heald_studio.imaging.hosted_images import HostedImages
from heald_studio.imaging.provider import ImageRequest
from heald_studio.imaging.raster import encode_png, shrink_to_fit

_LEAST, _MOST = 1_024, 1_536
"""The limits of a requested side, in pixels."""
_STEP = 16
_RATIO = 3.0
_MAX_SIDE = 2_048


class OpenAIImages(HostedImages):
    """OpenAI's images API: `images/generations` and `images/edits`, which answer with base64."""

    name = "OpenAI"
    keys = ("OPENAI_API_KEY",)
    default_model = "gpt-image-2.5-flare"
    default_url = "https://api.openai.com/v1"
    cuts = True

    async def generate(self, request: ImageRequest) -> Image.Image:
        body: JsonObject = {
            "model": self._model,
            "prompt": request.prompt,
            "size": request_size(request.width, request.height),
            "output_format": "png",
        }
        if request.transparent:
            body["background"] = "transparent"
        return await self._read_picture(await self._api.post("/images/generations", body))

    async def edit(self, picture: Image.Image, instruction: str) -> Image.Image:
        return await self._edit(picture, instruction, "auto")

    async def cut_out(self, picture: Image.Image) -> Image.Image:
        prompt = "Remove the background completely. Keep the subject exactly as it is, pixel for pixel, in its place."
        return await self._edit(picture, prompt, "transparent")

    async def _edit(self, picture: Image.Image, instruction: str, background: str) -> Image.Image:
        fields = {
            "model": self._model,
            "prompt": instruction,
            "size": request_size(*picture.size),
            "background": background,
            "output_format": "png",
        }
        data = encode_png(shrink_to_fit(picture, _MAX_SIDE))
        return await self._read_picture(await self._api.post_form("/images/edits", fields, "image", data))

    async def _read_picture(self, answer: JsonObject) -> Image.Image:
        await record_cost("openai", self._model, openai_tokens(answer))
        for item in as_objects(answer.get("data")):
            return decode_base64_picture(item.get("b64_json"), "OpenAI")
        raise MalformedResponse("The answer of OpenAI holds no picture.")


def request_size(width: int, height: int) -> str:
    """Return a size that the models accept: sides divisible by 16, at most three times as long as each other."""
    ratio = min(max(width / height, 1 / _RATIO), _RATIO)
    longer = min(max(width, height, _LEAST), _MOST)
    across, down = (longer, longer / ratio) if ratio >= 1 else (longer * ratio, longer)
    if min(across, down) < _LEAST:  # the smaller side needs enough pixels as well
        grow = min(_LEAST / min(across, down), _MOST / max(across, down))
        across, down = across * grow, down * grow
    shorter = min(_round_to_step(across), _round_to_step(down))
    across, down = min(_round_to_step(across), int(shorter * _RATIO)), min(_round_to_step(down), int(shorter * _RATIO))
    return f"{across // _STEP * _STEP}x{down // _STEP * _STEP}"


def _round_to_step(side: float) -> int:
    return max(round(side / _STEP), 1) * _STEP
