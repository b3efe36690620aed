"""What every provider of pictures offers, and the shapes that go in and come out."""

from typing import Protocol

import msgspec
from PIL import Image


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A picture that shall be made."""

    prompt: str
    width: int
    height: int
    transparent: bool = False
    """Of a subject alone, with nothing behind it."""


class Painter(Protocol):
    """Makes pictures somewhere else. Every method raises ProviderError with a sentence that stands alone."""

    @property
    def label(self) -> str:
        """Who it is, for people: the provider and the model."""
        ...

    @property
    def cuts(self) -> bool:
        """It can take a background away."""
        ...

    async def generate(self, wanted: Wanted) -> Image.Image:
        """A picture of about the wanted proportions, in any size."""
        ...

    async def edit(self, picture: Image.Image, instruction: str) -> Image.Image:
        """The picture, changed as the words say."""
        ...

    async def cut_out(self, picture: Image.Image) -> Image.Image:
        """The subject alone, the rest transparent. Only where `cuts`."""
        ...


def nearest_ratio(width: int, height: int, offered: tuple[str, ...]) -> str:
    """Of proportions written `16:9`, the one that is most like a width and height."""

    def off(ratio: str) -> float:
        across, _, down = ratio.partition(":")
        there, here = int(across) / int(down), width / height
        return max(there, here) / min(there, here)

    return min(offered, key=off)
