"""The protocol of an image provider, and the request that it gets."""

from typing import Protocol

import msgspec
from PIL import Image


class ImageRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The picture to make."""

    prompt: str
    width: int
    height: int
    transparent: bool = False
    """The subject alone, on a transparent background."""


class ImageProvider(Protocol):
    """Makes pictures over an API. Every method raises ProviderError with a complete sentence."""

    @property
    def label(self) -> str:
        """The provider and the model, for messages."""
        ...

    @property
    def cuts(self) -> bool:
        """Whether it can remove a background."""
        ...

    async def generate(self, request: ImageRequest) -> Image.Image:
        """Make a picture of about the requested proportions, in any size."""
        ...

    async def edit(self, picture: Image.Image, instruction: str) -> Image.Image:
        """Apply the instruction to the picture."""
        ...

    async def cut_out(self, picture: Image.Image) -> Image.Image:
        """Make all but the subject transparent. Only if `cuts`."""
        ...


def nearest_ratio(width: int, height: int, offered: tuple[str, ...]) -> str:
    """Return the offered ratio, such as `16:9`, that is nearest to width and height."""

    def deviation(ratio: str) -> float:
        across, _, down = ratio.partition(":")
        offer, target = int(across) / int(down), width / height
        return max(offer, target) / min(offer, target)

    return min(offered, key=deviation)
