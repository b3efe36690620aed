"""Routes for the keys of providers, which are stored on this machine and never sent."""

import asyncio
import re
from functools import partial
from typing import Annotated

import msgspec

from heald.core.errors import HealdError
from heald.core.messages import user_message
from heald.core.retry import Retry
from heald.core.turn import Settings
from heald.providers.catalogue import known_models
from heald.providers.config import configured_providers
from heald.providers.endpoint import Endpoint
from heald.providers.factory import open_provider_session
from heald.providers.key_store import delete_key, store_key
from heald.providers.keys import has_key
from heald.providers.model import Model
from heald.providers.model_names import newest_general, speed_of
from heald.providers.registry import installed_providers
from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation, is_operator
from heald_server.models import ProviderView
from heald_server.routes.fields import Body, Name

KEY = re.compile(r"[\x21-\x7e]{4,4096}")
_TEST_SECONDS = 30.0
_TEST_TOKENS = 16
_TRIED = 3  # models that a key is tried with: not every key may use the newest one
_OTHER_MODEL = ("model_not_found", "permission", "invalid_request")  # errors that another model may not have


class KeyBody(Body, frozen=True, kw_only=True):
    key: Annotated[str, msgspec.Meta(max_length=5000)]


class KeyTestBody(Body, frozen=True, kw_only=True):
    model: Name = ""
    """The model to ask, without its provider; by default the newest fast one."""


class KeyTest(msgspec.Struct, frozen=True):
    """The result of a test: one short request to the provider."""

    ok: bool
    message: str


async def _store_key(call: ApiCall) -> ProviderView:
    name, endpoint = _find_provider(call)
    key = call.body.key.strip()
    if not KEY.fullmatch(key):
        raise ApiError("invalid", "That is not a key: it must be one word of letters, digits and signs.")
    await asyncio.to_thread(store_key, endpoint.key_envs[0], key)
    return _provider_view(call, name)


async def _delete_key(call: ApiCall) -> None:
    _, endpoint = _find_provider(call)
    deleted = [await asyncio.to_thread(delete_key, variable) for variable in endpoint.key_envs]
    if not any(deleted):
        raise ApiError("not_found", "There is no stored key of this provider.")


async def _test_key(call: ApiCall) -> KeyTest:
    name, endpoint = _find_provider(call)
    if not has_key(endpoint.key_envs):
        return KeyTest(ok=False, message="There is no key to test; set one first.")
    body: KeyTestBody | None = call.body
    models = [body.model] if body is not None and body.model else _test_models(name, endpoint)
    if not models:
        return KeyTest(ok=False, message=f"No model of {name} is known to test the key with; name one.")
    result = KeyTest(ok=False, message="")
    for model in models[:_TRIED]:
        result, code = await _ask(endpoint, model)
        if result.ok or code not in _OTHER_MODEL:
            return result
    return result


async def _ask(endpoint: Endpoint, model: str) -> tuple[KeyTest, str]:
    """Send one short request; return the result and the code of its error."""
    settings = Settings(max_output_tokens=_TEST_TOKENS)
    try:
        session = open_provider_session(
            Model.at(endpoint, model),
            messages=[user_message("Answer with the word ok.")],
            settings=settings,
            retry=Retry(attempts=1),
        )
        try:
            async with asyncio.timeout(_TEST_SECONDS):
                await session.stream_turn(lambda _: None)
        finally:
            await session.close()
    except TimeoutError:
        return KeyTest(ok=False, message=f"The provider did not answer within {_TEST_SECONDS:.0f} seconds."), "timeout"
    except HealdError as error:
        return KeyTest(ok=False, message=error.info().message), error.info().code
    return KeyTest(ok=True, message=f"The key works: {model} answered."), ""


def _test_models(name: str, endpoint: Endpoint) -> list[str]:
    """List models for a test: fast ones first, because the answer does not matter."""
    models = newest_general(known_models(name, endpoint.price_provider))
    return sorted(models[:8], key=lambda model: speed_of(model) != "fast")


def _find_provider(call: ApiCall) -> tuple[str, Endpoint]:
    """Find the provider of the path, for callers who may change the keys of this server."""
    if not is_operator(call):
        raise ApiError("forbidden", "Only the person who runs this server changes its keys; ask for one.")
    name = call.path["provider"]
    endpoint = (installed_providers() | configured_providers()).get(name)
    if endpoint is None:
        raise ApiError("not_found", "There is no provider of that name; /providers lists them.")
    if not endpoint.key_envs:
        raise ApiError("invalid", f"{name} needs no key.")
    return name, endpoint


def _provider_view(call: ApiCall, name: str) -> ProviderView:
    views = call.context.models.list_providers()
    return next((view for view in views if view.name == name), ProviderView(name, key_set=True, variables=[]))


_PATH = "/providers/{provider}"
_operation = partial(Operation, tag="about", errors=("not_found", "forbidden", "no_keyring"))

OPERATIONS = (
    _operation("PUT", f"{_PATH}/key", _store_key, "Store a key.", ProviderView, KeyBody),
    _operation("DELETE", f"{_PATH}/key", _delete_key, "Delete a key.", status=204),
    _operation(
        "POST",
        f"{_PATH}/test",
        _test_key,
        "Test a key with one short request.",
        KeyTest,
        KeyTestBody,
        body_optional=True,
    ),
)
