"""Requests of clients that are passed on to the provider of a model, without a session or an agent.

They count as exchanges of their owner: the same limits, and the same tokens and dollars of the day. The program that
defines the agent of a server does not offer its model: what the agent may not say or do would not bind it.
"""

import asyncio
from collections.abc import Awaitable, Generator
from contextlib import contextmanager, suppress
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from heald.core.errors import ProviderError
from heald.core.turn import Usage
from heald.providers import list_price
from heald.providers.model import Model
from heald.providers.resolve import find
from heald.providers.token_count import estimate_text
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.http.operations import caller_of, json_response
from heald_server.protocols.shared.conversation_start import require_model
from heald_server.protocols.shared.exchange_failure import ExchangeFailure
from heald_server.protocols.shared.v1_parameters import refusal

CLIENT_CLOSED = 499
T = TypeVar("T")


class ProviderCalls:
    """The models that clients may use directly, and the usage of their owners."""

    def __init__(self, context: ServerContext) -> None:
        self.context = context

    def open_model(self, name: str) -> Model:
        """Open the model that a client names. Raises `ApiError` if it may not be used, or has no API."""
        if self.context.agent_options is not None:
            raise ApiError("forbidden", "This server offers an agent; its model cannot be used without it.")
        named = require_model(self.context, name) or self.context.models.default
        model = self.context.models.open(named)
        model = find(model) if isinstance(model, str) else model
        if not isinstance(model, Model):
            raise refusal("model", f"The model {named[:80]} has no API of a provider; choose another one.")
        return model

    async def admit(self, request: Request) -> str:
        """Return the owner of a request. Raises `ApiError` if the owner may not send it now."""
        owner = caller_of(request).owner
        if self.context.open_sessions.closing:
            raise ApiError("unavailable", "The server stops; try again.", headers={"Retry-After": "5"})
        await self.context.meters.refresh(owner)
        self.context.meters.check_exchange(owner)
        return owner

    @contextmanager
    def counting(self, owner: str) -> Generator[None]:
        """Count a request as a running exchange during the block."""
        end = self.context.meters.count_request(owner)
        try:
            yield
        finally:
            end()

    async def record(self, owner: str, model: Model, usage: Usage, billed_usd: float | None) -> float | None:
        """Add the usage of a request to its owner's. Returns its cost, if that is known."""
        if billed_usd is None and not list_price.is_loaded():
            await asyncio.to_thread(list_price.load)
        usd = billed_usd if billed_usd is not None else list_price.price(model, usage).usd
        self.context.meters.record_usage(owner, usage.total or 0, usd)
        return usd


def estimate_usage(usage: Usage | None, sent: str, received: str = "") -> Usage:
    """Return the usage that a provider reported, or one by the length of the texts: a request that its client broke off
    is charged too, and a few servers count nothing."""
    if usage is not None and usage.total is not None:
        return usage
    return Usage(input=estimate_text(sent), output=estimate_text(received))


def failed_response(error: ProviderError) -> Response:
    """The response for a request that the provider refused or failed at. The server has not repeated it."""
    failure = ExchangeFailure(str(error), error.code)
    wait = {} if error.retry_after is None else {"Retry-After": str(max(1, round(error.retry_after)))}
    return json_response({"error": failure.data}, failure.status, wait)


async def until_disconnect(request: Request, answer: Awaitable[T]) -> T | None:
    """Await an answer. It is cancelled, and None is returned, if the client closes the connection first."""
    task, disconnected = asyncio.ensure_future(answer), asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait((task, disconnected), return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for waiting in (task, disconnected):
            waiting.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.wait((task, disconnected))


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
