"""Routes that judge an input before anything is built: a picture, and the moments of a recording that models get."""

import asyncio
from base64 import b64encode

import msgspec

from weft.server.operations import ApiCall, Operation
from weft.server.studio_host import VIDEO_BYTES, source_url
from weft.server.studio_views import PictureBody, SourceBody
from weft.studio.input.pictures import MAX_BYTES, check_picture, load_bytes
from weft.studio.input.video import read_video


class PictureSize(msgspec.Struct, frozen=True):
    width: int
    height: int


class StoryboardFrame(msgspec.Struct, frozen=True):
    seconds: float
    """From the beginning of the recording."""
    data: str
    """The picture as a data: URL."""


class Storyboard(msgspec.Struct, frozen=True):
    frames: list[StoryboardFrame]


async def _check_picture(call: ApiCall) -> PictureSize:
    """Decode a picture, so that one that cannot be used is refused when it is attached."""
    body: PictureBody = call.body
    name = body.name or "The picture"
    data = await load_bytes(source_url(body), limit=MAX_BYTES, name=name)
    return PictureSize(*await asyncio.to_thread(check_picture, data, name=name))


async def _read_storyboard(call: ApiCall) -> Storyboard:
    data = await load_bytes(source_url(call.body), limit=VIDEO_BYTES, name="The recording")
    frames = await read_video(data)
    return Storyboard(
        [
            StoryboardFrame(
                frame.seconds, f"data:{frame.picture.media_type};base64,{b64encode(frame.picture.data).decode()}"
            )
            for frame in frames
        ]
    )


OPERATIONS = (
    Operation(
        "POST",
        "/studio/picture",
        _check_picture,
        "The size of a picture, if it can be used.",
        PictureSize,
        PictureBody,
        tag="studio",
    ),
    Operation(
        "POST",
        "/studio/storyboard",
        _read_storyboard,
        "The moments of a recording that models get, as pictures.",
        Storyboard,
        SourceBody,
        tag="studio",
    ),
)
