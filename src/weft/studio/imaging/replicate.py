"""Replicate: a prediction that is waited for, with official models that need no version.

Requests are POST only, so nothing is polled: a prediction that is not done within a minute is cancelled.
"""

import asyncio
import base64
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self
from urllib.parse import quote

from PIL import Image

from weft.core.errors import ContentBlocked, MalformedResponse, ProviderError, ProviderTimeout, ServerFault
from weft.core.json import JsonObject, as_object
from weft.studio.imaging.api import Api, picture_of
from weft.studio.imaging.costs import note
from weft.studio.imaging.painter import Wanted, nearest_ratio
from weft.studio.imaging.raster import png_of, within
from weft.studio.input.faults import BadInput
from weft.studio.input.pictures import MAX_BYTES
from weft.studio.input.sources import bytes_from
from weft.tools.web.outgoing import Outgoing

MODEL = "black-forest-labs/flux-schnell"
EDITOR = "black-forest-labs/flux-kontext-pro"
CUTTER = "bria/remove-background"
BASE_URL = "https://api.replicate.com/v1"
KEYS = ("REPLICATE_API_TOKEN", "REPLICATE_API_KEY")

_RATIOS = ("1:1", "16:9", "21:9", "3:2", "2:3", "4:5", "5:4", "3:4", "4:3", "9:16", "9:21")
_SENT = 1_536
_WAIT = 60
_INLINE = 256_000
"""Bytes of a file that may stand in a request; larger ones are uploaded."""


class ReplicatePainter:
    """Three models: one draws, one changes, one takes backgrounds away."""

    cuts = True

    def __init__(
        self,
        key: str,
        model: str = MODEL,
        *,
        base_url: str = BASE_URL,
        outgoing: Outgoing | None = None,
        **limits: Any,
    ) -> None:
        headers = {"authorization": f"Bearer {key}"}
        self._api = Api("Replicate", base_url, key, KEYS[0], headers, **limits)
        self._model = model
        self._outgoing = outgoing or Outgoing(max_bytes=MAX_BYTES, seconds=60.0)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], model: str = MODEL) -> Self | None:
        key = next((environ[name] for name in KEYS if environ.get(name)), None)
        return None if key is None else cls(key, model or MODEL)

    @property
    def label(self) -> str:
        return f"Replicate {self._model}"

    # --- requests ----------------------------------------------------------------------------------------------------

    async def generate(self, wanted: Wanted) -> Image.Image:
        plain = ", alone on a plain white background" if wanted.transparent else ""
        ratio = nearest_ratio(wanted.width, wanted.height, _RATIOS)
        given: JsonObject = {"prompt": f"{wanted.prompt}{plain}", "aspect_ratio": ratio, "output_format": "png"}
        return await self._predicted(self._model, given)

    async def edit(self, picture: Image.Image, instruction: str) -> Image.Image:
        given: JsonObject = {
            "prompt": instruction,
            "input_image": await self._given(picture),
            "aspect_ratio": "match_input_image",
            "output_format": "png",
        }
        return await self._predicted(EDITOR, given)

    async def cut_out(self, picture: Image.Image) -> Image.Image:
        return await self._predicted(CUTTER, {"image": await self._given(picture)})

    async def _given(self, picture: Image.Image) -> str:
        """The picture as Replicate takes it: in the request, or uploaded before."""
        data = png_of(within(picture, _SENT))
        if len(data) <= _INLINE:
            return f"data:image/png;base64,{base64.b64encode(data).decode()}"
        kept = await self._api.post_form("/files", {}, "content", data)
        address = as_object(kept.get("urls")).get("get")
        if not isinstance(address, str):
            raise MalformedResponse("Replicate kept the picture and did not say where.")
        return address

    async def _predicted(self, model: str, given: JsonObject) -> Image.Image:
        waiting = {"prefer": f"wait={_WAIT}", "cancel-after": f"{_WAIT}s"}
        path = f"/models/{quote(model)}/predictions"
        answer = await self._api.post(path, {"input": given}, waiting)
        await note("replicate", model, None)  # it bills by picture or by second, and its answers say neither
        return await self._picture(answer)

    # --- answers -----------------------------------------------------------------------------------------------------

    async def _picture(self, answer: JsonObject) -> Image.Image:
        output: Any = answer.get("output")
        if isinstance(output, list) and output:
            output = output[0]  # pyright: ignore[reportUnknownVariableType]
        if isinstance(output, str) and output:
            return await asyncio.to_thread(picture_of, await self._fetched(output), "Replicate")
        match answer.get("status"):
            case "starting" | "processing":
                await self._cancel(answer.get("id"))
                raise ProviderTimeout(f"Replicate was not done within {_WAIT} s; the picture was given up.")
            case "failed" if "nsfw" in str(answer.get("error")).lower():
                raise ContentBlocked("Replicate declined to make this picture; describe another one.")
            case "failed" | "canceled" | "aborted":
                raise ServerFault("Replicate could not make the picture; try again, or describe it differently.")
            case _:
                raise MalformedResponse("The answer of Replicate holds no picture.")

    async def _fetched(self, address: str) -> bytes:
        """The result, from where it lies. The key does not go there."""
        try:
            return await bytes_from(address, limit=MAX_BYTES, outgoing=self._outgoing, name="The picture of Replicate")
        except BadInput as fault:
            raise MalformedResponse(str(fault)) from None

    async def _cancel(self, prediction: object) -> None:
        if isinstance(prediction, str) and prediction.isalnum():
            with suppress(ProviderError):
                await self._api.post(f"/predictions/{prediction}/cancel", {})
