"""Gemini streamGenerateContent with `alt=sse`, as a server streams it.

A short call comes whole, with its thought signature. Long arguments come in parts (`partialArgs`), as the API
sends them when it is asked to stream them; the signature is on the first part and an empty call ends them.
"""

import base64
import random
from collections.abc import Sequence

from benchmarks.content import cut
from benchmarks.scenarios import Call
from benchmarks.streams.stream import Json, Stream, data

_WHOLE_BELOW = 100
_RESULTS = (b'"functionResponse"', b'"function_response"')
_SIGNATURE = base64.b64encode(random.Random(7).randbytes(165)).decode()


def text(model: str, deltas: Sequence[str]) -> Stream:
    last = len(deltas)
    return Stream(
        opening=(),
        deltas=tuple(_chunk(model, {"text": piece}, number, number == last) for number, piece in enumerate(deltas, 1)),
        closing=(),
    )


def calls(model: str, calls: Sequence[Call]) -> Stream:
    if any(sum(map(len, call.deltas)) >= _WHOLE_BELOW for call in calls):
        return _long_call(model, calls[0])
    parts: list[Json] = [{"functionCall": {"name": call.name, "args": call.arguments}} for call in calls]
    parts[0]["thoughtSignature"] = _SIGNATURE
    last = len(parts)
    chunks = tuple(_chunk(model, part, number, number == last) for number, part in enumerate(parts, 1))
    return Stream(opening=(), deltas=chunks, closing=())


def _long_call(model: str, call: Call) -> Stream:
    start: Json = {
        "functionCall": {"name": call.name, "willContinue": True},
        "thoughtSignature": _SIGNATURE,
    }
    parts = [
        partial
        for key, value in call.arguments.items()
        for partial in (*_growing(key, str(value)), _partial(key, "", more=False))
    ]
    return Stream(
        opening=(_chunk(model, start, 1, False),),
        deltas=tuple(_chunk(model, part, number, False) for number, part in enumerate(parts, 2)),
        closing=(_chunk(model, {"functionCall": {}}, len(parts) + 2, True),),
    )


def results(body: bytes, start: int = 0) -> int:
    return sum(body.count(result, start) for result in _RESULTS)


def _growing(key: str, value: str) -> list[Json]:
    return [_partial(key, piece, more=True) for piece in cut(value)]


def _partial(key: str, piece: str, *, more: bool) -> Json:
    partial: Json = {"jsonPath": f"$.{key}", "stringValue": piece}
    if more:
        partial["willContinue"] = True
    return {"functionCall": {"partialArgs": [partial], "willContinue": True}}


def _chunk(model: str, part: Json, tokens: int, last: bool) -> bytes:
    candidate: Json = {"content": {"parts": [part], "role": "model"}, "index": 0}
    if last:
        candidate["finishReason"] = "STOP"
    usage = {
        "promptTokenCount": 121,
        "candidatesTokenCount": tokens,
        "totalTokenCount": 121 + tokens,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 121}],
    }
    return data(
        {
            "candidates": [candidate],
            "usageMetadata": usage,
            "modelVersion": model,
            "responseId": "XQCzaYWvIqfRz7IPupTlyBench",
        },
        line_end=b"\r\n",
    )
