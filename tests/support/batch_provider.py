"""A provider with batches, scripted: the requests, statuses and files of results of OpenAI, Anthropic and Gemini."""

import asyncio
import json
from collections.abc import Callable
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

from heald.testing.server import ReceivedRequest, Reply

Answer = Callable[[dict[str, Any]], dict[str, Any]]
"""Returns the whole answer of the model to the body of a request, or a dict with `error`."""


class BatchProvider:
    """Answers each batch at its second poll, or when `release` is set."""

    def __init__(self, wire: str, answer: Answer) -> None:
        self.wire = wire
        self._answer = answer
        self.batches: dict[str, list[dict[str, Any]]] = {}
        self.polls: dict[str, int] = {}
        self.files: dict[str, bytes] = {}
        self.endpoints: list[str] = []
        self.expected = 0
        self.all_polled = asyncio.Event()
        """Set when as many requests as expected were submitted and each batch was polled."""
        self.is_stuck = False
        """No batch ends."""
        self.fails_whole = False
        self.expires = False

    def __call__(self, request: ReceivedRequest) -> Reply:
        place = request.path.removeprefix("/v1")
        answer = {"messages": self._anthropic, "gemini": self._gemini}.get(self.wire, self._openai)
        return answer(place, request)

    @property
    def ids(self) -> list[str]:
        return [entry["custom_id"] for entries in self.batches.values() for entry in entries]

    def _is_done(self, name: str) -> bool:
        self.polls[name] = self.polls.get(name, 0) + 1
        if len(self.ids) >= self.expected and set(self.polls) == set(self.batches):
            self.all_polled.set()
        return not self.is_stuck and self.polls[name] > 1

    # --- Anthropic ---------------------------------------------------------------------------------------------------

    def _anthropic(self, place: str, request: ReceivedRequest) -> Reply:
        if place == "/messages/batches":
            name = f"msgbatch_{len(self.batches) + 1}"
            self.batches[name] = request.body["requests"]
            return Reply.json(self._state(name, False))
        name = place.split("/")[3]
        if place.endswith("/results"):
            lines = [self._result(entry) for entry in reversed(self.batches[name])]
            return _lines(lines)
        return Reply.json(self._state(name, self._is_done(name)))

    def _state(self, name: str, done: bool) -> dict[str, Any]:
        count = len(self.batches[name])
        zero = {"succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
        counts = zero | ({"processing": 0, "succeeded": count} if done else {"processing": count})
        status = "ended" if done else "in_progress"
        return {"id": name, "type": "message_batch", "processing_status": status, "request_counts": counts}

    def _result(self, entry: dict[str, Any]) -> dict[str, Any]:
        if self.expires:
            self.expires = False
            return {"custom_id": entry["custom_id"], "result": {"type": "expired"}}
        answer = self._answer(entry["params"])
        if "error" in answer:
            error = {"type": "error", "error": answer["error"]}
            return {"custom_id": entry["custom_id"], "result": {"type": "errored", "error": error}}
        return {"custom_id": entry["custom_id"], "result": {"type": "succeeded", "message": answer}}

    # --- OpenAI ------------------------------------------------------------------------------------------------------

    def _openai(self, place: str, request: ReceivedRequest) -> Reply:
        if place == "/files":
            head = f"content-type: {request.headers['content-type']}\r\n\r\n".encode()
            form = BytesParser(policy=HTTP).parsebytes(head + request.content)
            parts: Any = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
            assert parts["purpose"].get_payload().strip() == "batch"
            name = f"file_{len(self.files) + 1}"
            self.files[name] = parts["file"].get_payload(decode=True)
            return Reply.json({"id": name, "object": "file"})
        if place == "/batches":
            name = f"batch_{len(self.batches) + 1}"
            assert request.body["completion_window"] == "24h"
            self.endpoints.append(request.body["endpoint"])
            lines = self.files[request.body["input_file_id"]].splitlines()
            self.batches[name] = [json.loads(line) for line in lines]
            return Reply.json({"id": name, "status": "validating"})
        if place.startswith("/files/"):
            name, kind = place.split("/")[2].split(".")
            return _lines([line for line in self._openai_lines(name) if bool(line["response"]) == (kind == "out")])
        return Reply.json(self._openai_state(place.split("/")[2]))

    def _openai_state(self, name: str) -> dict[str, Any]:
        if self.fails_whole:
            faults = {"object": "list", "data": [{"code": "invalid", "message": "line 1 is wrong", "line": 1}]}
            return {"id": name, "status": "failed", "errors": faults, "request_counts": {"total": 0}}
        done = self._is_done(name)
        counts = {"total": len(self.batches[name]), "completed": len(self.batches[name]) if done else 0, "failed": 0}
        files = {"output_file_id": f"{name}.out", "error_file_id": f"{name}.err"} if done else {}
        return {"id": name, "status": "completed" if done else "in_progress", "request_counts": counts, **files}

    def _openai_lines(self, name: str) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []
        for entry in reversed(self.batches[name]):
            answer = self._answer(entry["body"])
            status = 400 if "error" in answer else 200
            lines.append({"custom_id": entry["custom_id"], "response": {"status_code": status, "body": answer}})
        return lines

    # --- Gemini ------------------------------------------------------------------------------------------------------

    def _gemini(self, place: str, request: ReceivedRequest) -> Reply:
        if place == "/upload/v1/files":
            host = request.headers["host"]
            return Reply.json({}, headers={"x-goog-upload-url": f"http://{host}/place"})
        if place == "/place":
            name = f"files/{len(self.files) + 1}"
            self.files[name] = request.content
            return Reply.json({"file": {"name": name, "uri": f"https://files.example/v1/{name}", "state": "ACTIVE"}})
        if place.endswith(":batchGenerateContent"):
            self.endpoints.append(place)
            name = f"batches/{len(self.batches) + 1}"
            lines = [
                json.loads(line) for line in self.files[request.body["batch"]["inputConfig"]["fileName"]].splitlines()
            ]
            self.batches[name] = [line | {"custom_id": line["key"], "body": line["request"]} for line in lines]
            return Reply.json({"name": name, "metadata": {"state": "BATCH_STATE_PENDING"}})
        if place.startswith("/files/"):
            return _lines(self._gemini_lines(place.removeprefix("/files/").partition(":")[0]))
        return Reply.json(self._gemini_state(place.removeprefix("/")))

    def _gemini_state(self, name: str) -> dict[str, Any]:
        if self.fails_whole:
            state = {"state": "BATCH_STATE_FAILED"}
            return {"name": name, "done": True, "metadata": state, "error": {"code": 3, "message": "line 1 is wrong"}}
        done = self._is_done(name)
        count = str(len(self.batches[name]))
        stats = {"requestCount": count} | (
            {"successfulRequestCount": count} if done else {"pendingRequestCount": count}
        )
        metadata: dict[str, Any] = {"state": f"BATCH_STATE_{'SUCCEEDED' if done else 'RUNNING'}", "batchStats": stats}
        if done:
            metadata["output"] = {"responsesFile": f"files/{name.partition('/')[2]}-answers"}
        return {"name": name, "metadata": metadata, "done": done}

    def _gemini_lines(self, file: str) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []
        for entry in reversed(self.batches[f"batches/{file.removesuffix('-answers')}"]):
            answer = self._answer(entry["request"])
            outcome = {"error": {"code": 3, **answer["error"]}} if "error" in answer else {"response": answer}
            lines.append({"key": entry["key"], **outcome})
        return lines


def _lines(lines: list[dict[str, Any]]) -> Reply:
    return Reply([b"".join(json.dumps(line).encode() + b"\n" for line in lines)], content_type="application/x-jsonl")


# --- whole answers ---------------------------------------------------------------------------------------------------


def whole_answer(wire: str, text: str = "", call: tuple[str, dict[str, Any]] | None = None) -> dict[str, Any]:
    """An answer of a model that was not streamed."""
    if wire == "messages":
        content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        content += [{"type": "tool_use", "id": "c1", "name": call[0], "input": call[1]}] if call else []
        usage = {"input_tokens": 1000, "output_tokens": 100}
        stop = "tool_use" if call else "end_turn"
        return {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "content": content,
            "stop_reason": stop,
            "usage": usage,
        }
    if wire == "responses":
        items: list[dict[str, Any]] = []
        if text:
            part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
            items.append({"type": "message", "id": "i", "role": "assistant", "content": [part]})
        if call:
            arguments = json.dumps(call[1])
            items.append({"type": "function_call", "id": "f", "call_id": "c1", "name": call[0], "arguments": arguments})
        usage = {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100}
        return {"object": "response", "id": "r", "status": "completed", "output": items, "usage": usage}
    if wire == "gemini":
        parts: list[dict[str, Any]] = [{"text": text}] if text else []
        parts += [{"functionCall": {"name": call[0], "args": call[1]}}] if call else []
        candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
        return {
            "candidates": [candidate],
            "usageMetadata": {"promptTokenCount": 1000, "candidatesTokenCount": 100},
            "responseId": "r",
            "modelVersion": "m",
        }
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        message["tool_calls"] = [{"id": "c1", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if call else "stop"}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    return {"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage}
