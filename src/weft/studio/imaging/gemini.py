"""Gemini's image models: `generateContent` with pictures among what it answers."""

import base64
from collections.abc import Mapping
from typing import Any, Self

from PIL import Image

from weft.core.errors import ContentBlocked, MalformedResponse, ProviderError
from weft.core.json import JsonObject, as_object, as_objects
from weft.studio.imaging.api import Api, picture_in
from weft.studio.imaging.costs import gemini_tokens, note
from weft.studio.imaging.painter import Wanted, nearest_ratio
from weft.studio.imaging.raster import png_of, within

MODEL = "gemini-3.1-flash-image"
BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")

_RATIOS = ("1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9")
_SENT = 2_048
_BLOCKED = (
    "SAFETY",
    "IMAGE_SAFETY",
    "PROHIBITED_CONTENT",
    "IMAGE_PROHIBITED_CONTENT",
    "BLOCKLIST",
    "SPII",
    "RECITATION",
    "IMAGE_RECITATION",
)
_ONLY = "Answer with the picture only."


class GeminiPainter:
    """Gemini models that draw. They know no transparency."""

    cuts = False

    def __init__(self, key: str, model: str = MODEL, *, base_url: str = BASE_URL, **limits: Any) -> None:
        headers = {"x-goog-api-key": key}
        self._api = Api("Gemini", base_url, key, KEYS[0], headers, **limits)
        self._model = model

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], model: str = MODEL) -> Self | None:
        key = next((environ[name] for name in KEYS if environ.get(name)), None)
        return None if key is None else cls(key, model or MODEL)

    @property
    def label(self) -> str:
        return f"Gemini {self._model}"

    # --- requests ----------------------------------------------------------------------------------------------------

    async def generate(self, wanted: Wanted) -> Image.Image:
        ratio = nearest_ratio(wanted.width, wanted.height, _RATIOS)
        plain = " The subject stands alone on a plain white background." if wanted.transparent else ""
        return await self._asked([{"text": f"{wanted.prompt}.{plain} {_ONLY}"}], {"aspectRatio": ratio})

    async def edit(self, picture: Image.Image, instruction: str) -> Image.Image:
        data = base64.b64encode(png_of(within(picture, _SENT))).decode()
        shown = {"inlineData": {"mimeType": "image/png", "data": data}}
        ratio = nearest_ratio(*picture.size, _RATIOS)
        return await self._asked([shown, {"text": f"{instruction}. {_ONLY}"}], {"aspectRatio": ratio})

    async def cut_out(self, picture: Image.Image) -> Image.Image:
        raise ProviderError("Gemini's image models make no transparent pictures.")

    async def _asked(self, parts: list[JsonObject], image: JsonObject) -> Image.Image:
        body: JsonObject = {
            "contents": [{"role": "user", "parts": parts}],
            "generationConfig": {"responseModalities": ["IMAGE"], "imageConfig": image},
        }
        answer = await self._api.post(f"/models/{self._model}:generateContent", body)
        await note("google", self._model, gemini_tokens(answer))
        return self._picture(answer)

    # --- answers -----------------------------------------------------------------------------------------------------

    def _picture(self, answer: JsonObject) -> Image.Image:
        reasons = [as_object(answer.get("promptFeedback")).get("blockReason")]
        for candidate in as_objects(answer.get("candidates")):
            reasons.append(candidate.get("finishReason"))
            for part in as_objects(as_object(candidate.get("content")).get("parts")):
                data = as_object(part.get("inlineData") or part.get("inline_data"))
                if data.get("data") and not part.get("thought"):
                    return picture_in(data["data"], "Gemini")
        if reasons[0] or any(reason in _BLOCKED for reason in reasons):
            raise ContentBlocked("Gemini declined to make this picture; describe another one.")
        raise MalformedResponse("The answer of Gemini holds no picture; say more plainly what it shall show.")
