"""Images of Gemini."""

import base64

from PIL import Image

from heald.core.errors import ContentBlocked, MalformedResponse, ProviderError
from heald.core.json import JsonObject, as_object, as_objects
from heald_studio.imaging.api import decode_base64_picture
from heald_studio.imaging.costs import gemini_tokens, record_cost
from heald_studio.imaging.hosted_images import HostedImages
from heald_studio.imaging.provider import ImageRequest, nearest_ratio
from heald_studio.imaging.raster import encode_png, shrink_to_fit

_RATIOS = ("1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9")
_MAX_SIDE = 2_048
_BLOCKED = (
    *("SAFETY", "IMAGE_SAFETY", "PROHIBITED_CONTENT", "IMAGE_PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION"),
    "IMAGE_RECITATION",
)
_ONLY = "Answer with the picture only."


class GeminiImages(HostedImages):
    """Gemini's image models: `generateContent` with pictures in its answer. They have no transparency."""

    name = "Gemini"
    keys = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    default_model = "gemini-3.1-flash-image"
    default_url = "https://generativelanguage.googleapis.com/v1beta"
    key_header = ("x-goog-api-key", "")
    cuts = False

    async def generate(self, request: ImageRequest) -> Image.Image:
        ratio = nearest_ratio(request.width, request.height, _RATIOS)
        plain = " The subject stands alone on a plain white background." if request.transparent else ""
        return await self._request([{"text": f"{request.prompt}.{plain} {_ONLY}"}], {"aspectRatio": ratio})

    async def edit(self, picture: Image.Image, instruction: str) -> Image.Image:
        data = base64.b64encode(encode_png(shrink_to_fit(picture, _MAX_SIDE))).decode()
        image_part = {"inlineData": {"mimeType": "image/png", "data": data}}
        ratio = nearest_ratio(*picture.size, _RATIOS)
        return await self._request([image_part, {"text": f"{instruction}. {_ONLY}"}], {"aspectRatio": ratio})

    async def cut_out(self, picture: Image.Image) -> Image.Image:
        raise ProviderError("Gemini's image models make no transparent pictures.")

    async def _request(self, parts: list[JsonObject], image: JsonObject) -> Image.Image:
        body: JsonObject = {
            "contents": [{"role": "user", "parts": parts}],
            "generationConfig": {"responseModalities": ["IMAGE"], "imageConfig": image},
        }
        answer = await self._api.post(f"/models/{self._model}:generateContent", body)
        await record_cost("google", self._model, gemini_tokens(answer))
        return self._picture(answer)

    def _picture(self, answer: JsonObject) -> Image.Image:
        reasons = [as_object(answer.get("promptFeedback")).get("blockReason")]
        for candidate in as_objects(answer.get("candidates")):
            reasons.append(candidate.get("finishReason"))
            for part in as_objects(as_object(candidate.get("content")).get("parts")):
                data = as_object(part.get("inlineData") or part.get("inline_data"))
                if data.get("data") and not part.get("thought"):
                    return decode_base64_picture(data["data"], "Gemini")
        if reasons[0] or any(reason in _BLOCKED for reason in reasons):
            raise ContentBlocked("Gemini declined to make this picture; describe another one.")
        raise MalformedResponse("The answer of Gemini holds no picture; describe more plainly what it shall show.")
