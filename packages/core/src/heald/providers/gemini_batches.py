"""The batches of Gemini.

https://ai.google.dev/gemini-api/docs/batch-api
"""

from collections.abc import Mapping
from urllib.parse import quote

from heald.core.errors import MalformedResponse
from heald.core.json import JsonObject, as_int, as_object, encode
from heald.providers.api_call import call_api
from heald.providers.batch import REFUSED_STATUS, SECONDS, BatchAnswer, BatchProgress, parse_lines
from heald.providers.files import upload_file
from heald.providers.model import Model

_ENDS = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED")
"""The last words of the states in which a batch is over. Only one that succeeded has answers."""


class GeminiBatches:
    """The batches of Gemini. Requests and answers are files of JSON lines."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def submit(self, requests: Mapping[str, JsonObject]) -> str:
        lines = [{"key": name, "request": body} for name, body in requests.items()]
        content = b"".join(encode(line) + b"\n" for line in lines)
        uri = await upload_file(self._model, content, "application/jsonl", "batch.jsonl")
        file = f"files/{uri.rpartition('/')[2]}"
        batch = {"batch": {"displayName": "heald", "inputConfig": {"fileName": file}}}
        url = f"{self._model.base_url}/models/{quote(self._model.name, safe='/-._~@')}:batchGenerateContent"
        return _read_name((await call_api(self._model, url, body=encode(batch))).object())

    async def poll(self, batch: str) -> BatchProgress:
        state = await self._read(batch)
        metadata = as_object(state.get("metadata"))
        word = str(metadata.get("state") or "")
        counts = as_object(metadata.get("batchStats"))
        answered = _count(counts, "successfulRequestCount") + _count(counts, "failedRequestCount")
        is_done = word.endswith(_ENDS) or state.get("done") is True
        fault = ""
        if is_done and not word.endswith("SUCCEEDED"):
            fault = str(as_object(state.get("error")).get("message") or word)
        return BatchProgress(is_done, answered, _count(counts, "requestCount"), fault)

    async def fetch(self, batch: str) -> dict[str, BatchAnswer]:
        state = await self._read(batch)
        output = as_object(as_object(state.get("metadata")).get("output")) or as_object(state.get("response"))
        file = output.get("responsesFile")
        if not isinstance(file, str) or not file:
            raise MalformedResponse("The batch is over and names no file of answers; try again later.")
        url = f"{self._model.base_url}/{file}:download?alt=media"
        reply = await call_api(self._model, url, method="GET", seconds=SECONDS)
        return {str(line.get("key")): _gemini_answer(line) for line in parse_lines(reply.body)}

    async def _read(self, batch: str) -> JsonObject:
        return (await call_api(self._model, f"{self._model.base_url}/{batch}", method="GET")).object()


def _read_name(answer: JsonObject) -> str:
    name = answer.get("name")
    if not isinstance(name, str) or not name:
        raise MalformedResponse("The answer to the batch has no name; check the base URL and the wire.")
    return name


def _count(counts: JsonObject, name: str) -> int:
    """Return a count, which the API writes as a text."""
    count = counts.get(name)
    return int(count) if isinstance(count, str) and count.isdecimal() else as_int(count) or 0


def _gemini_answer(line: JsonObject) -> BatchAnswer:
    response = as_object(line.get("response"))
    if response:
        return BatchAnswer(200, response)
    error = as_object(line.get("error") or line.get("status"))
    code = as_int(error.get("code"))
    is_status = code is not None and 400 <= code < 600  # and not one of google.rpc.Code
    return BatchAnswer(code if code is not None and is_status else REFUSED_STATUS, {"error": error})
