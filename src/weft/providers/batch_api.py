"""Batches of requests at OpenAI and Anthropic: submitted together, answered within a day, at half the price.

OpenAI:    https://platform.openai.com/docs/guides/batch
Anthropic: https://docs.anthropic.com/en/docs/build-with-claude/batch-processing
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

from weft.core.errors import InvalidRequest, MalformedResponse
from weft.core.json import JsonObject, as_int, as_object, as_objects, encode, loads
from weft.providers.api_call import call_api
from weft.providers.files import encode_form
from weft.providers.model import Model

PRICE_SHARE = 0.5
"""The part of the list price that both providers charge for a request in a batch."""
_STREAM_ONLY = ("stream", "stream_options")
_SECONDS = 600.0
_RETRYABLE_STATUS = 503
_REFUSED_STATUS = 400
_STATUS_OF = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}


class BatchProgress(NamedTuple):
    """How far a batch is."""

    is_done: bool
    answered: int
    total: int
    fault: str = ""
    """Why the whole batch failed."""


class BatchAnswer(NamedTuple):
    """The answer to one request of a batch: an HTTP status and a JSON document."""

    status: int
    body: JsonObject


class BatchApi(Protocol):
    """The batches of one provider."""

    async def submit(self, requests: Mapping[str, JsonObject]) -> str:
        """Submit the bodies of requests, by their ids. Returns the id of the batch."""
        ...

    async def poll(self, batch: str) -> BatchProgress: ...

    async def fetch(self, batch: str) -> dict[str, BatchAnswer]:
        """Return the answers of a batch that is done, by the ids of the requests."""
        ...


def batch_api(model: Model) -> BatchApi:
    """Return the batches of a model's provider. Raises InvalidRequest if its API has none."""
    match model.wire.name:
        case "messages":
            return AnthropicBatches(model)
        case "chat" | "responses":
            return OpenAIBatches(model)
        case wire:
            raise InvalidRequest(
                f"The {wire} wire has no batches; leave --batch out, or use a model of OpenAI or Anthropic."
            )


class AnthropicBatches:
    """The Message Batches of Anthropic."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._url = f"{model.base_url}/messages/batches"

    async def submit(self, requests: Mapping[str, JsonObject]) -> str:
        entries = [{"custom_id": name, "params": _without_stream(body)} for name, body in requests.items()]
        reply = await call_api(self._model, self._url, body=encode({"requests": entries}), seconds=_SECONDS)
        return _read_id(reply.object())

    async def poll(self, batch: str) -> BatchProgress:
        state = (await call_api(self._model, f"{self._url}/{batch}", method="GET")).object()
        counts = {name: as_int(count) or 0 for name, count in as_object(state.get("request_counts")).items()}
        total = sum(counts.values())
        return BatchProgress(state.get("processing_status") == "ended", total - counts.get("processing", 0), total)

    async def fetch(self, batch: str) -> dict[str, BatchAnswer]:
        reply = await call_api(self._model, f"{self._url}/{batch}/results", method="GET", seconds=_SECONDS)
        return {str(line.get("custom_id")): _anthropic_answer(line) for line in _lines(reply.body)}


def _anthropic_answer(line: JsonObject) -> BatchAnswer:
    result = as_object(line.get("result"))
    match result.get("type"):
        case "succeeded":
            return BatchAnswer(200, as_object(result.get("message")))
        case "errored":
            error = as_object(result.get("error"))
            error = as_object(error.get("error")) or error
            return BatchAnswer(_STATUS_OF.get(str(error.get("type")), 500), {"type": "error", "error": error})
        case outcome:
            return _unanswered(str(outcome))


class OpenAIBatches:
    """The batches of OpenAI. Requests and answers are files of JSON lines."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._path = f"/v1{model.wire.request_path(model.name)}"

    async def submit(self, requests: Mapping[str, JsonObject]) -> str:
        lines = [
            {"custom_id": name, "method": "POST", "url": self._path, "body": _without_stream(body)}
            for name, body in requests.items()
        ]
        content = b"".join(encode(line) + b"\n" for line in lines)
        boundary, form = encode_form({"purpose": "batch"}, content, "application/jsonl", "batch.jsonl")
        headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
        url = f"{self._model.base_url}/files"
        file = _read_id((await call_api(self._model, url, body=form, headers=headers, seconds=_SECONDS)).object())
        asked = {"input_file_id": file, "endpoint": self._path, "completion_window": "24h"}
        reply = await call_api(self._model, f"{self._model.base_url}/batches", body=encode(asked))
        return _read_id(reply.object())

    async def poll(self, batch: str) -> BatchProgress:
        state = await self._read(batch)
        counts = as_object(state.get("request_counts"))
        answered = (as_int(counts.get("completed")) or 0) + (as_int(counts.get("failed")) or 0)
        status = str(state.get("status"))
        faults = as_objects(as_object(state.get("errors")).get("data"))
        fault = "; ".join(str(each.get("message")) for each in faults[:3]) if status == "failed" else ""
        is_done = status in ("completed", "failed", "expired", "cancelled")
        return BatchProgress(is_done, answered, as_int(counts.get("total")) or 0, fault)

    async def fetch(self, batch: str) -> dict[str, BatchAnswer]:
        state = await self._read(batch)
        answers: dict[str, BatchAnswer] = {}
        for key in ("output_file_id", "error_file_id"):
            if isinstance(state.get(key), str):
                url = f"{self._model.base_url}/files/{state[key]}/content"
                reply = await call_api(self._model, url, method="GET", seconds=_SECONDS)
                answers |= {str(line.get("custom_id")): _openai_answer(line) for line in _lines(reply.body)}
        return answers

    async def _read(self, batch: str) -> JsonObject:
        return (await call_api(self._model, f"{self._model.base_url}/batches/{batch}", method="GET")).object()


def _openai_answer(line: JsonObject) -> BatchAnswer:
    response = as_object(line.get("response"))
    if response:
        return BatchAnswer(as_int(response.get("status_code")) or 500, as_object(response.get("body")))
    error = as_object(line.get("error"))
    if error.get("code") in ("batch_expired", "batch_cancelled"):
        return _unanswered(str(error["code"]))
    return BatchAnswer(_REFUSED_STATUS, {"error": error})


def _unanswered(outcome: str) -> BatchAnswer:
    """Return the answer to a request that the provider did not run. One that expired may be sent in another batch."""
    status = _RETRYABLE_STATUS if "expired" in outcome else _REFUSED_STATUS
    return BatchAnswer(status, {"error": {"message": f"The batch did not run this request: {outcome}."}})


def _without_stream(body: JsonObject) -> JsonObject:
    return {name: value for name, value in body.items() if name not in _STREAM_ONLY}


def _lines(content: bytes) -> Iterator[JsonObject]:
    for line in content.splitlines():
        if line.strip():
            try:
                yield as_object(loads(line))
            except ValueError:
                raise MalformedResponse("The results of the batch are not lines of JSON; try again later.") from None


def _read_id(answer: JsonObject) -> str:
    found = answer.get("id")
    if not isinstance(found, str) or not found:
        raise MalformedResponse("The answer to the batch has no id; check the base URL and the wire.")
    return found
