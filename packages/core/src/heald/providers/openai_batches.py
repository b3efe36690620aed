"""The batches of OpenAI.

https://platform.openai.com/docs/guides/batch
"""

from collections.abc import Mapping

from heald.core.json import JsonObject, as_int, as_object, as_objects, encode
from heald.providers.api_call import call_api
from heald.providers.batch import (
    REFUSED_STATUS,
    SECONDS,
    BatchAnswer,
    BatchProgress,
    parse_lines,
    read_id,
    unanswered,
    without_stream,
)
from heald.providers.model import Model
from heald.providers.multipart import encode_form


class OpenAIBatches:
    """The batches of OpenAI. Requests and answers are files of JSON lines."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._path = f"/v1{model.wire.request_path(model.name)}"

    async def submit(self, requests: Mapping[str, JsonObject]) -> str:
        lines = [
            {"custom_id": name, "method": "POST", "url": self._path, "body": without_stream(body)}
            for name, body in requests.items()
        ]
        content = b"".join(encode(line) + b"\n" for line in lines)
        boundary, form = encode_form({"purpose": "batch"}, content, "application/jsonl", "batch.jsonl")
        headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
        url = f"{self._model.base_url}/files"
        file = read_id((await call_api(self._model, url, body=form, headers=headers, seconds=SECONDS)).object())
        batch = {"input_file_id": file, "endpoint": self._path, "completion_window": "24h"}
        reply = await call_api(self._model, f"{self._model.base_url}/batches", body=encode(batch))
        return read_id(reply.object())

    async def poll(self, batch: str) -> BatchProgress:
        state = await self._read(batch)
        counts = as_object(state.get("request_counts"))
        answered = (as_int(counts.get("completed")) or 0) + (as_int(counts.get("failed")) or 0)
        status = str(state.get("status"))
        faults = as_objects(as_object(state.get("errors")).get("data"))
        fault = "; ".join(str(error.get("message")) for error in faults[:3]) if status == "failed" else ""
        is_done = status in ("completed", "failed", "expired", "cancelled")
        return BatchProgress(is_done, answered, as_int(counts.get("total")) or 0, fault)

    async def fetch(self, batch: str) -> dict[str, BatchAnswer]:
        state = await self._read(batch)
        answers: dict[str, BatchAnswer] = {}
        for key in ("output_file_id", "error_file_id"):
            if isinstance(state.get(key), str):
                url = f"{self._model.base_url}/files/{state[key]}/content"
                reply = await call_api(self._model, url, method="GET", seconds=SECONDS)
                answers |= {str(line.get("custom_id")): _openai_answer(line) for line in parse_lines(reply.body)}
        return answers

    async def _read(self, batch: str) -> JsonObject:
        return (await call_api(self._model, f"{self._model.base_url}/batches/{batch}", method="GET")).object()


def _openai_answer(line: JsonObject) -> BatchAnswer:
    response = as_object(line.get("response"))
    if response:
        return BatchAnswer(as_int(response.get("status_code")) or 500, as_object(response.get("body")))
    error = as_object(line.get("error"))
    if error.get("code") in ("batch_expired", "batch_cancelled"):
        return unanswered(str(error["code"]))
    return BatchAnswer(REFUSED_STATUS, {"error": error})
