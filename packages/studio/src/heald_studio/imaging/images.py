"""Generates and edits pictures: with an image provider if there is a key, else locally."""

import asyncio
from collections.abc import Callable, Mapping

import msgspec
from PIL import Image

from heald.core.errors import HealdError, ProviderError
from heald.providers.keys import KeyEnvironment
from heald_studio.imaging.adjust import SUPPORTED_CHANGES, adjust_picture
from heald_studio.imaging.cutout import cut_out, is_flat
from heald_studio.imaging.gemini import GeminiImages
from heald_studio.imaging.openai import OpenAIImages
from heald_studio.imaging.palette import Palette
from heald_studio.imaging.placeholder import draw_placeholder
from heald_studio.imaging.provider import ImageProvider, ImageRequest
from heald_studio.imaging.raster import resize_to_cover
from heald_studio.imaging.replicate import ReplicateImages

SETTING = "HEALD_IMAGES"
"""The environment variable that names a provider and optionally a model: `openai`, `gemini/…`, `local`."""

_NO_KEY = "There is no key for an image model; set OPENAI_API_KEY, GEMINI_API_KEY or REPLICATE_API_TOKEN."

CreateProvider = Callable[[Mapping[str, str], str], ImageProvider | None]
_PROVIDERS: dict[str, CreateProvider] = {
    "openai": OpenAIImages.from_environment,
    "gemini": GeminiImages.from_environment,
    "replicate": ReplicateImages.from_environment,
}


class MadeImage(msgspec.Struct, frozen=True):
    """A picture, and how it was made."""

    picture: Image.Image
    by: str
    """A sentence about the provider and the method."""
    why: str = ""
    """The reason if no provider made it."""
    is_placeholder: bool = False


class ImageMaker:
    """Makes, changes and cuts out pictures with the first provider that succeeds.

    `generate` always returns a picture: if the providers fail, it is a placeholder, and the reason is given.
    """

    def __init__(self, providers: tuple[ImageProvider, ...] = (), why: str = _NO_KEY) -> None:
        """`why` is a sentence that explains a lack of providers."""
        self.providers = providers
        self._why = why

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> "ImageMaker":
        """Use every provider that has a key. If the setting names one that is missing, each result has a note."""
        environ = KeyEnvironment() if environ is None else environ
        name, _, model = environ.get(SETTING, "").strip().partition("/")
        if name in ("local", "none"):
            return cls(why=f"{SETTING} is set to make pictures on this machine.")
        if not name:
            providers = (create(environ, "") for create in _PROVIDERS.values())
            return cls(tuple(provider for provider in providers if provider is not None))
        if name not in _PROVIDERS:
            choices = ", ".join((*_PROVIDERS, "local"))
            return cls(why=f"{SETTING} names no provider of pictures that is known here; use one of {choices}.")
        provider = _PROVIDERS[name](environ, model)
        if provider is None:
            return cls(why=f"{SETTING} names {name}, and there is no key for it in the environment.")
        return cls((provider,))

    async def generate(self, request: ImageRequest, palette: Palette) -> MadeImage:
        """Make a picture in exactly the requested size."""
        why = self._why
        for provider in self.providers:
            try:
                picture = await provider.generate(request)
                if request.transparent and picture.mode != "RGBA":
                    picture = await asyncio.to_thread(_remove_plain_background, picture)
                return MadeImage(resize_to_cover(picture, request.width, request.height), f"Made by {provider.label}.")
            except ProviderError as error:
                why = str(error)
        drawn = await asyncio.to_thread(draw_placeholder, request, palette)
        return MadeImage(drawn, "A placeholder that was drawn here, not the real picture.", why, is_placeholder=True)

    async def edit(self, picture: Image.Image, instruction: str) -> MadeImage:
        """Change the picture, in its own size unless the instruction asks for another. Raises HealdError."""
        why = self._why
        for provider in self.providers:
            try:
                changed = await provider.edit(picture, instruction)
                return MadeImage(resize_to_cover(changed, *picture.size), f"Changed by {provider.label}.")
            except ProviderError as error:
                why = str(error)
        result = await asyncio.to_thread(adjust_picture, picture, instruction)
        if result.done:
            by = f"Changed here without an image model: {', '.join(result.done)}. Nothing else that was asked was done."
            return MadeImage(result.picture, by, why)
        raise HealdError(f"{why} Without an image model only plain changes can be made: {SUPPORTED_CHANGES}.")

    async def cut_out(self, picture: Image.Image) -> MadeImage:
        """Put the subject on a transparent background. Raises HealdError."""
        failed = ""
        provider = next(
            (provider for provider in reversed(self.providers) if provider.cuts), None
        )  # the specialist first
        if provider is not None and not await asyncio.to_thread(is_flat, picture):
            try:
                cut = await provider.cut_out(picture)
                return MadeImage(resize_to_cover(cut, *picture.size), f"Background removed by {provider.label}.")
            except ProviderError as error:
                failed = str(error)
        cutout = await asyncio.to_thread(cut_out, picture)
        if cutout.how == "flat":
            return MadeImage(cutout.picture, "Flat background removed here, by its colour.")
        by = "Background removed here without a model (by its colours), which guesses: look at the edges first."
        return MadeImage(cutout.picture, by, failed)


def _remove_plain_background(picture: Image.Image) -> Image.Image:
    """Remove the plain background that a provider without transparency was asked for."""
    try:
        return cut_out(picture).picture
    except HealdError:
        return picture
