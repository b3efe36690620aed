"""Where pictures come from: a provider if there is a key for one, else this machine, and who it was is always said.

A picture that was asked for is always made: where providers fail, a placeholder is drawn and the reason told. So no
page has a broken link.
"""

import asyncio
from collections.abc import Callable, Mapping

import msgspec
from PIL import Image

from weft.core.errors import ProviderError, WeftError
from weft.providers.keys import KeyEnvironment
from weft.studio.imaging.adjusting import CAN, adjusted
from weft.studio.imaging.cutting import cut_out, is_flat
from weft.studio.imaging.drawing import drawing_of
from weft.studio.imaging.gemini import GeminiPainter
from weft.studio.imaging.openai import OpenAIPainter
from weft.studio.imaging.painter import Painter, Wanted
from weft.studio.imaging.palette import Palette
from weft.studio.imaging.raster import covering
from weft.studio.imaging.replicate import ReplicatePainter

SETTING = "WEFT_IMAGES"
"""The variable of the environment that names a provider and perhaps a model: `openai`, `gemini/…`, `local`."""

_NO_KEY = "There is no key for an image model; set OPENAI_API_KEY, GEMINI_API_KEY or REPLICATE_API_TOKEN."

Make = Callable[[Mapping[str, str], str], Painter | None]
_PAINTERS: dict[str, Make] = {
    "openai": OpenAIPainter.from_environment,
    "gemini": GeminiPainter.from_environment,
    "replicate": ReplicatePainter.from_environment,
}


class Made(msgspec.Struct, frozen=True):
    """A picture, and what is to be said of it."""

    picture: Image.Image
    by: str
    """Who made it and how, as a sentence."""
    why: str = ""
    """Why it was not somebody else, where that matters."""
    is_placeholder: bool = False


class Images:
    """Makes, changes and cuts out pictures, with the first of its painters that can."""

    def __init__(self, painters: tuple[Painter, ...] = (), why: str = _NO_KEY) -> None:
        """`why` there are no others, as a sentence for whoever wonders."""
        self.painters = painters
        self._why = why

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> "Images":
        """With whatever there are keys for. Where the setting asks for what is not there, every result says so."""
        environ = KeyEnvironment() if environ is None else environ
        provider, _, model = environ.get(SETTING, "").strip().partition("/")
        if provider in ("local", "none"):
            return cls(why=f"{SETTING} asks for pictures to be made on this machine.")
        if not provider:
            found = (make(environ, "") for make in _PAINTERS.values())
            return cls(tuple(painter for painter in found if painter is not None))
        if provider not in _PAINTERS:
            known = ", ".join((*_PAINTERS, "local"))
            return cls(why=f"{SETTING} names no provider of pictures that is known here; use one of {known}.")
        painter = _PAINTERS[provider](environ, model)
        if painter is None:
            return cls(why=f"{SETTING} names {provider}, and there is no key for it in the environment.")
        return cls((painter,))

    async def generate(self, wanted: Wanted, palette: Palette) -> Made:
        """A picture in exactly the wanted size."""
        why = self._why
        for painter in self.painters:
            try:
                picture = await painter.generate(wanted)
                if wanted.transparent and picture.mode != "RGBA":
                    picture = await asyncio.to_thread(_freed, picture)
                return Made(covering(picture, wanted.width, wanted.height), f"Made by {painter.label}.")
            except ProviderError as error:
                why = str(error)
        drawn = await asyncio.to_thread(drawing_of, wanted, palette)
        return Made(drawn, "A placeholder that was drawn here, not the real picture.", why, is_placeholder=True)

    async def edit(self, picture: Image.Image, instruction: str) -> Made:
        """The picture, changed, in its own size unless the words ask for another. Raises WeftError."""
        why = self._why
        for painter in self.painters:
            try:
                changed = await painter.edit(picture, instruction)
                return Made(covering(changed, *picture.size), f"Changed by {painter.label}.")
            except ProviderError as error:
                why = str(error)
        result = await asyncio.to_thread(adjusted, picture, instruction)
        if result.done:
            by = f"Changed here without an image model: {', '.join(result.done)}. Nothing else that was asked was done."
            return Made(result.picture, by, why)
        raise WeftError(f"{why} Without an image model only plain changes can be made: {CAN}.")

    async def cut_out(self, picture: Image.Image) -> Made:
        """The subject on a transparent background. Raises WeftError."""
        failed = ""
        painter = next((painter for painter in reversed(self.painters) if painter.cuts), None)  # the specialist first
        if painter is not None and not await asyncio.to_thread(is_flat, picture):
            try:
                cut = await painter.cut_out(picture)
                return Made(covering(cut, *picture.size), f"Background removed by {painter.label}.")
            except ProviderError as error:
                failed = str(error)
        found = await asyncio.to_thread(cut_out, picture)
        if found.how == "flat":
            return Made(found.picture, "Flat background removed here, by its colour.")
        by = "Background removed here without a model (by its colours), which guesses: look at the edges first."
        return Made(found.picture, by, failed)


def _freed(picture: Image.Image) -> Image.Image:
    """Providers that know no transparency were asked for a plain background, which can be taken away."""
    try:
        return cut_out(picture).picture
    except WeftError:
        return picture
