"""The Message Batches of Anthropic.

https://docs.anthropic.com/en/docs/build-with-claude/batch-processing
"""

from collections.abc import Mapping

from heald.core.json import JsonObject, as_int, as_object, encode
from heald.providers.api_call import call_api
from heald.providers.batch import SECONDS, BatchAnswer, BatchProgress, parse_lines, read_id, unanswered, without_stream
from heald.providers.model import Model

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


class AnthropicBatches:
    """The Message Batches of Anthropic."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._url = f"{model.base_url}/messages/batches"

    async def submit(self, requests: Mapping[str, JsonObject]) -> str:
        entries = [{"custom_id": name, "params": without_stream(body)} for name, body in requests.items()]
        reply = await call_api(self._model, self._url, body=encode({"requests": entries}), seconds=SECONDS)
        return read_id(reply.object())

    async def poll(self, batch: str) -> BatchProgress:
        state = (await call_api(self._model, f"{self._url}/{batch}", method="GET")).object()
        counts = {name: as_int(count) or 0 for name, count in as_object(state.get("request_counts")).items()}
        total = sum(counts.values())
        return BatchProgress(state.get("processing_status") == "ended", total - counts.get("processing", 0), total)

    async def fetch(self, batch: str) -> dict[str, BatchAnswer]:
        reply = await call_api(self._model, f"{self._url}/{batch}/results", method="GET", seconds=SECONDS)
        return {str(line.get("custom_id")): _anthropic_answer(line) for line in parse_lines(reply.body)}


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
            return unanswered(str(outcome))
