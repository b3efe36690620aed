"""The route that shows which pictures of a recording models get."""

from base64 import b64encode

import msgspec

from weft.server.operations import ApiCall, Operation
from weft.server.studio_host import VIDEO_BYTES, source_url
from weft.server.studio_views import SourceBody
from weft.studio.input.pictures import load_bytes
from weft.studio.input.video import read_video


class StoryboardFrame(msgspec.Struct, frozen=True):
    seconds: float
    """From the beginning of the recording."""
    data: str
    """The picture as a data: URL."""


class Storyboard(msgspec.Struct, frozen=True):
    frames: list[StoryboardFrame]


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
        "/studio/storyboard",
        _read_storyboard,
        "The moments of a recording that models get, as pictures.",
        Storyboard,
        SourceBody,
        tag="studio",
    ),
)
