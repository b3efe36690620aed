"""Images of Replicate."""

import asyncio
import base64
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from PIL import Image

from heald.core.errors import ContentBlocked, MalformedResponse, ProviderError, ProviderTimeout, ServerFault
from heald.core.json import JsonObject, as_object
from heald.tools.web.fetcher import WebFetcher
from heald_studio.bad_input import BadInput
from heald_studio.imaging.api import decode_provider_picture
from heald_studio.imaging.costs import record_cost
from heald_studio.imaging.hosted_images import HostedImages
from heald_studio.imaging.provider import ImageRequest, nearest_ratio
from heald_studio.imaging.raster import encode_png, shrink_to_fit
from heald_studio.input.load import load_bytes
from heald_studio.input.pictures import MAX_BYTES

REPLICATE_EDIT_MODEL = "black-forest-labs/flux-kontext-pro"
REPLICATE_CUTOUT_MODEL = "bria/remove-background"

_RATIOS = ("1:1", "16:9", "21:9", "3:2", "2:3", "4:5", "5:4", "3:4", "4:3", "9:16", "9:21")
_MAX_SIDE = 1_536
_WAIT = 60
_INLINE = 256_000
"""The bytes of a file that fit in a request; larger files are uploaded."""


class ReplicateImages(HostedImages):
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

    async def generate(self, request: ImageRequest) -> Image.Image:
        plain = ", alone on a plain white background" if request.transparent else ""
        ratio = nearest_ratio(request.width, request.height, _RATIOS)
        inputs: JsonObject = {"prompt": f"{request.prompt}{plain}", "aspect_ratio": ratio, "output_format": "png"}
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
        data = encode_png(shrink_to_fit(picture, _MAX_SIDE))
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
