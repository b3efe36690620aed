"""`/v1/completions` and `/v1/fim/completions`: text completion for editors, passed on to the provider of a model.

The second one is the same in the form of Mistral's API, which some editors expect at any address.
"""

from contextlib import aclosing
from functools import partial

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from heald.core.errors import ProviderError
from heald.core.json import as_object
from heald.providers.model import Model
from heald.providers.text_completion import CompletionCall, TextPiece, complete_text
from heald_server.context import ServerContext
from heald_server.http.operations import caller_of, json_response
from heald_server.http.route_description import RouteDescription
from heald_server.protocols.openai.provider_calls import (
    CLIENT_CLOSED,
    ProviderCalls,
    estimate_usage,
    failed_response,
    until_disconnect,
)
from heald_server.protocols.openai.shapes import FimChunk, FimCompletion, TextCompletion, TextCompletionBody
from heald_server.protocols.openai.text_dialect import TextDialect, TextForm
from heald_server.protocols.openai.text_request import TEXT_PARAMETERS, read_text_request
from heald_server.protocols.openai.text_stream import TextStreamResponse
from heald_server.protocols.shared.client_bodies import read_json, text_field
from heald_server.protocols.shared.parameter_table import name_dropped
from heald_server.protocols.shared.shapes import V1ErrorBody

_describe = partial(
    RouteDescription,
    tag="v1",
    error_body=V1ErrorBody,
    body=TextCompletionBody,
    errors=("forbidden", "not_found", "too_many", "budget", "unavailable"),
)
_DESCRIPTIONS = (
    _describe(
        "POST",
        "/v1/completions",
        "Text after a prompt, or between a prompt and a suffix, by the provider of a model.",
        response=TextCompletion,
        events=(TextCompletion,),
    ),
    _describe(
        "POST",
        "/v1/fim/completions",
        "The same in the form of Mistral's API.",
        response=FimCompletion,
        events=(FimChunk,),
    ),
)


class TextRoutes:
    def __init__(self, context: ServerContext) -> None:
        self._calls = ProviderCalls(context)

    def routes(self) -> list[BaseRoute | RouteDescription]:
        return [
            Route("/v1/completions", partial(self._complete, "text"), methods=["POST"]),
            Route("/v1/fim/completions", partial(self._complete, "chat"), methods=["POST"]),
            *_DESCRIPTIONS,
        ]

    async def _complete(self, form: TextForm, request: Request) -> Response:
        body = as_object(await read_json(request))
        name = text_field(body, "model") or ""
        model = self._calls.open_model(name)
        parameters = read_text_request(body, model)
        TEXT_PARAMETERS.note(parameters.dropped)
        owner = await self._calls.admit(request)
        dialect = TextDialect(form, name or "heald")
        if parameters.streams:
            response: Response = TextStreamResponse(self._calls, caller_of(request), model, parameters, dialect)
            return name_dropped(response, parameters.dropped)
        with self._calls.counting(owner):
            try:
                piece = await until_disconnect(request, _collect(model, parameters.call))
            except ProviderError as error:
                return failed_response(error)
            usage = estimate_usage(piece.usage if piece else None, parameters.prompt, piece.text if piece else "")
            cost = await self._calls.record(owner, model, usage, piece.billed_usd if piece else None)
        if piece is None:
            return Response(status_code=CLIENT_CLOSED)
        return name_dropped(json_response(dialect.whole(piece, usage, cost)), parameters.dropped)


async def _collect(model: Model, call: CompletionCall) -> TextPiece:
    """Read a completion to its end. A few servers stream it even so."""
    whole = TextPiece()
    async with aclosing(complete_text(model, call)) as pieces:
        async for piece in pieces:
            whole = msgspec.structs.replace(
                piece,
                text=whole.text + piece.text,
                finish_reason=piece.finish_reason or whole.finish_reason,
                logprobs=piece.logprobs or whole.logprobs,
                usage=piece.usage or whole.usage,
            )
    return whole
