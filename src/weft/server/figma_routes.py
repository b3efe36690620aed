"""Routes for the token of Figma: store it in the keyring of this machine, test it, delete it. It is never sent."""

import asyncio

from weft.core.errors import WeftError
from weft.providers.keys import delete_key, find_key, store_key
from weft.server.errors import ApiError
from weft.server.key_routes import KEY, KeyBody, KeyTest
from weft.server.operations import ApiCall, Operation, is_operator
from weft.server.studio_views import PromptBody
from weft.studio.input.figma import KEY_NAMES, FigmaClient


def check_figma(call: ApiCall, prompt: PromptBody) -> None:
    """Raise ApiError if a request names a design that only the operator's token can read."""
    if prompt.figma is not None and not prompt.figma.lstrip().startswith("{"):
        _check_operator(call)


async def _store(call: ApiCall) -> None:
    _check_operator(call)
    token = call.body.key.strip()
    if not KEY.fullmatch(token):
        raise ApiError("invalid", "That is not a token: it must be one word of letters, digits and signs.")
    await asyncio.to_thread(store_key, KEY_NAMES[0], token)


async def _delete(call: ApiCall) -> None:
    _check_operator(call)
    if not any([await asyncio.to_thread(delete_key, name) for name in KEY_NAMES]):
        raise ApiError("not_found", "The keyring holds no token of Figma.")


async def _test(call: ApiCall) -> KeyTest:
    _check_operator(call)
    token = await asyncio.to_thread(find_key, KEY_NAMES)
    if token is None:
        return KeyTest(ok=False, message="There is no token to test; set one first.")
    try:
        return KeyTest(ok=True, message=f"The token works: it belongs to {await FigmaClient(token).check()}.")
    except WeftError as error:
        return KeyTest(ok=False, message=error.info().message)


def _check_operator(call: ApiCall) -> None:
    if not is_operator(call):
        raise ApiError("forbidden", "Only the person who runs this server uses its token of Figma; attach a picture.")


_ERRORS = ("not_found", "forbidden")

OPERATIONS = (
    Operation(
        "PUT", "/studio/figma/key", _store, "Store a token.", None, KeyBody, status=204, errors=_ERRORS, tag="studio"
    ),
    Operation("DELETE", "/studio/figma/key", _delete, "Delete the token.", status=204, errors=_ERRORS, tag="studio"),
    Operation("POST", "/studio/figma/test", _test, "Test the token.", KeyTest, errors=_ERRORS, tag="studio"),
)
