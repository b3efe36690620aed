"""The image providers: OpenAI, Gemini and Replicate."""

import asyncio
import base64
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar, Self
from urllib.parse import quote

from PIL import Image

from weft.core.errors import ContentBlocked, MalformedResponse, ProviderError, ProviderTimeout, ServerFault
from weft.core.json import JsonObject, as_object, as_objects
from weft.studio.imaging.api import (
    ImageApi,
    ImageRequest,
    decode_base64_picture,
    decode_provider_picture,
    gemini_tokens,
    nearest_ratio,
    openai_tokens,
    record_cost,
)
from weft.studio.imaging.raster import encode_png, shrink_to_fit
from weft.studio.input.pictures import MAX_BYTES, load_bytes
from weft.studio.request import BadInput
from weft.tools.web.fetcher import WebFetcher

_STEP = 16
_LEAST, _MOST = 1_024, 1_536
"""The limits of a requested side, in pixels."""
_RATIO = 3.0
_OPENAI_MAX_SIDE = 2_048


class _HostedImages:
    """The constructor, the label and the key lookup that all providers share."""

    name: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    """The environment variables that may hold the key."""
    default_model: ClassVar[str]
    default_url: ClassVar[str]
    key_header: ClassVar[tuple[str, str]] = ("authorization", "Bearer ")
    """The header that carries the key, and the prefix of the key in it."""

    def __init__(self, key: str, model: str = "", *, base_url: str = "", **limits: Any) -> None:
        header, prefix = self.key_header
        address = base_url or self.default_url
        self._api = ImageApi(self.name, address, key, self.keys[0], {header: f"{prefix}{key}"}, **limits)
        self._model = model or self.default_model

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], model: str = "") -> Self | None:
        key = next((environ[name] for name in cls.keys if environ.get(name)), None)
        return None if key is None else cls(key, model)

    @property
    def label(self) -> str:
        return f"{self.name} {self._model}"


class OpenAIImages(_HostedImages):
    """OpenAI's images API: `images/generations` and `images/edits`, which answer with base64."""

    name = "OpenAI"
    keys = ("OPENAI_API_KEY",)
    default_model = "gpt-image-2.5-flare"
    default_url = "https://api.openai.com/v1"
    cuts = True

    async def generate(self, wanted: ImageRequest) -> Image.Image:
        body: JsonObject = {
            "model": self._model,
            "prompt": wanted.prompt,
            "size": request_size(wanted.width, wanted.height),
            "output_format": "png",
        }
        if wanted.transparent:
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
        data = encode_png(shrink_to_fit(picture, _OPENAI_MAX_SIDE))
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


_GEMINI_RATIOS = ("1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9")
_GEMINI_MAX_SIDE = 2_048
_GEMINI_BLOCKED = (
    *("SAFETY", "IMAGE_SAFETY", "PROHIBITED_CONTENT", "IMAGE_PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION"),
    "IMAGE_RECITATION",
)
_ONLY = "Answer with the picture only."


class GeminiImages(_HostedImages):
    """Gemini's image models: `generateContent` with pictures in its answer. They have no transparency."""

    name = "Gemini"
    keys = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    default_model = "gemini-3.1-flash-image"
    default_url = "https://generativelanguage.googleapis.com/v1beta"
    key_header = ("x-goog-api-key", "")
    cuts = False

    async def generate(self, wanted: ImageRequest) -> Image.Image:
        ratio = nearest_ratio(wanted.width, wanted.height, _GEMINI_RATIOS)
        plain = " The subject stands alone on a plain white background." if wanted.transparent else ""
        return await self._request([{"text": f"{wanted.prompt}.{plain} {_ONLY}"}], {"aspectRatio": ratio})

    async def edit(self, picture: Image.Image, instruction: str) -> Image.Image:
        data = base64.b64encode(encode_png(shrink_to_fit(picture, _GEMINI_MAX_SIDE))).decode()
        shown = {"inlineData": {"mimeType": "image/png", "data": data}}
        ratio = nearest_ratio(*picture.size, _GEMINI_RATIOS)
        return await self._request([shown, {"text": f"{instruction}. {_ONLY}"}], {"aspectRatio": ratio})

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
        if reasons[0] or any(reason in _GEMINI_BLOCKED for reason in reasons):
            raise ContentBlocked("Gemini declined to make this picture; describe another one.")
        raise MalformedResponse("The answer of Gemini holds no picture; describe more plainly what it shall show.")


REPLICATE_EDIT_MODEL = "black-forest-labs/flux-kontext-pro"
REPLICATE_CUTOUT_MODEL = "bria/remove-background"

_REPLICATE_RATIOS = ("1:1", "16:9", "21:9", "3:2", "2:3", "4:5", "5:4", "3:4", "4:3", "9:16", "9:21")
_REPLICATE_MAX_SIDE = 1_536
_WAIT = 60
_INLINE = 256_000
"""The bytes of a file that fit in a request; larger files are uploaded."""


class ReplicateImages(_HostedImages):
    """Replicate: three official models that draw, edit and remove backgrounds.

    Nothing is polled: a prediction that is not finished within a minute is cancelled.
    """

    name = "Replicate"
    keys = ("REPLICATE_API_TOKEN", "REPLICATE_API_KEY")
    default_model = "black-forest-labs/flux-schnell"
    default_url = "https://api.replicate.com/v1"
    cuts = True

    def __init__(
        self, key: str, model: str = "", *, base_url: str = "", outgoing: WebFetcher | None = None, **limits: Any
    ) -> None:
        super().__init__(key, model, base_url=base_url, **limits)
        self._outgoing = outgoing or WebFetcher(max_bytes=MAX_BYTES, seconds=60.0)

    async def generate(self, wanted: ImageRequest) -> Image.Image:
        plain = ", alone on a plain white background" if wanted.transparent else ""
        ratio = nearest_ratio(wanted.width, wanted.height, _REPLICATE_RATIOS)
        inputs: JsonObject = {"prompt": f"{wanted.prompt}{plain}", "aspect_ratio": ratio, "output_format": "png"}
        return await self._predict(self._model, inputs)

    async def edit(self, picture: Image.Image, instruction: str) -> Image.Image:
        inputs: JsonObject = {
            "prompt": instruction,
            "input_image": await self._upload(picture),
            "aspect_ratio": "match_input_image",
            "output_format": "png",
        }
        return await self._predict(REPLICATE_EDIT_MODEL, inputs)

    async def cut_out(self, picture: Image.Image) -> Image.Image:
        return await self._predict(REPLICATE_CUTOUT_MODEL, {"image": await self._upload(picture)})

    async def _upload(self, picture: Image.Image) -> str:
        """Return the picture as a data URL, or upload it and return its address."""
        data = encode_png(shrink_to_fit(picture, _REPLICATE_MAX_SIDE))
        if len(data) <= _INLINE:
            return f"data:image/png;base64,{base64.b64encode(data).decode()}"
        stored = await self._api.post_form("/files", {}, "content", data)
        address = as_object(stored.get("urls")).get("get")
        if not isinstance(address, str):
            raise MalformedResponse("Replicate stored the picture and did not return its address.")
        return address

    async def _predict(self, model: str, inputs: JsonObject) -> Image.Image:
        headers = {"prefer": f"wait={_WAIT}", "cancel-after": f"{_WAIT}s"}
        path = f"/models/{quote(model)}/predictions"
        answer = await self._api.post(path, {"input": inputs}, headers)
        await record_cost("replicate", model, None)  # billed by picture or by second; answers have no price
        return await self._picture(answer)

    async def _picture(self, answer: JsonObject) -> Image.Image:
        output: Any = answer.get("output")
        if isinstance(output, list) and output:
            output = output[0]  # pyright: ignore[reportUnknownVariableType]
        if isinstance(output, str) and output:
            return await asyncio.to_thread(decode_provider_picture, await self._fetch(output), "Replicate")
        match answer.get("status"):
            case "starting" | "processing":
                await self._cancel(answer.get("id"))
                raise ProviderTimeout(f"Replicate was not done within {_WAIT} s; the picture was cancelled.")
            case "failed" if "nsfw" in str(answer.get("error")).lower():
                raise ContentBlocked("Replicate declined to make this picture; describe another one.")
            case "failed" | "canceled" | "aborted":
                raise ServerFault("Replicate could not make the picture; try again, or describe it differently.")
            case _:
                raise MalformedResponse("The answer of Replicate holds no picture.")

    async def _fetch(self, address: str) -> bytes:
        """Fetch the result from its address, without the key."""
        try:
            return await load_bytes(address, limit=MAX_BYTES, outgoing=self._outgoing, name="The picture of Replicate")
        except BadInput as fault:
            raise MalformedResponse(str(fault)) from None

    async def _cancel(self, prediction: object) -> None:
        if isinstance(prediction, str) and prediction.isalnum():
            with suppress(ProviderError):
                await self._api.post(f"/predictions/{prediction}/cancel", {})
