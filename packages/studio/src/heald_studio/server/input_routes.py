"""Routes for inputs before anything is built: they judge a picture, show the moments of a recording that models get,
and store, test and delete the token of Figma, which is stored on this machine and never sent."""

import asyncio
from base64 import b64encode
from functools import partial

import msgspec

from heald.core.errors import HealdError
from heald.providers.key_store import delete_key, store_key
from heald.providers.keys import find_key
from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation, is_operator
from heald_server.routes.provider_keys import KEY, KeyBody, KeyTest
from heald_studio.input.figma import KEY_NAMES, FigmaClient
from heald_studio.input.load import load_bytes
from heald_studio.input.pictures import MAX_BYTES, check_picture
from heald_studio.server.bodies import PictureBody, PromptBody, SourceBody
from heald_studio.server.briefs import VIDEO_BYTES, source_url


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
    from heald_studio.input.video import read_video  # few requests have a recording

    frames = await read_video(data)
    return Storyboard(
        [
            StoryboardFrame(
                frame.seconds, f"data:{frame.picture.media_type};base64,{b64encode(frame.picture.data).decode()}"
            )
            for frame in frames
        ]
    )


def check_figma(call: ApiCall, prompt: PromptBody) -> None:
    """Raise ApiError if a request names a design that only the operator's token can read."""
    if prompt.figma is not None and not prompt.figma.lstrip().startswith("{"):
        _check_operator(call)


async def _store_token(call: ApiCall) -> None:
    _check_operator(call)
    token = call.body.key.strip()
    if not KEY.fullmatch(token):
        raise ApiError("invalid", "That is not a token: it must be one word of letters, digits and signs.")
    await asyncio.to_thread(store_key, KEY_NAMES[0], token)


async def _delete_token(call: ApiCall) -> None:
    _check_operator(call)
    if not any([await asyncio.to_thread(delete_key, name) for name in KEY_NAMES]):
        raise ApiError("not_found", "There is no stored token of Figma.")


async def _test_token(call: ApiCall) -> KeyTest:
    _check_operator(call)
    token = await asyncio.to_thread(find_key, KEY_NAMES)
    if token is None:
        return KeyTest(ok=False, message="There is no token to test; set one first.")
    try:
        return KeyTest(ok=True, message=f"The token works: it belongs to {await FigmaClient(token).check()}.")
    except HealdError as error:
        return KeyTest(ok=False, message=error.info().message)


def _check_operator(call: ApiCall) -> None:
    if not is_operator(call):
        raise ApiError("forbidden", "Only the person who runs this server uses its token of Figma; attach a picture.")


_operation = partial(Operation, tag="studio")
_figma = partial(_operation, errors=("not_found", "forbidden", "no_keyring"))

OPERATIONS = (
    _operation(
        "POST",
        "/studio/picture",
        _check_picture,
        "The size of a picture, if it can be used.",
        PictureSize,
        PictureBody,
    ),
    _operation(
        "POST",
        "/studio/storyboard",
        _read_storyboard,
        "The moments of a recording that models get, as pictures.",
        Storyboard,
        SourceBody,
    ),
    _figma("PUT", "/studio/figma/key", _store_token, "Store a token.", None, KeyBody, status=204),
    _figma("DELETE", "/studio/figma/key", _delete_token, "Delete the token.", status=204),
    _figma("POST", "/studio/figma/test", _test_token, "Test the token.", KeyTest),
)
