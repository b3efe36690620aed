"""Every recorded stream decodes to its truth: whole, in pieces of a few bytes, or cut at random places."""

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from corpus import batches, body_of, decode, present, recordings
from folded import Folded, fold
from msgspec.structs import replace

from example_counts import IS_LONG
from heald.core.json import as_object
from heald.core.turn import Usage
from heald.wires.decoder import Decoder

pytestmark = present

EXCEPTIONS: dict[str, str] = {}
"""Recordings that are not expected to match, by name, with the reason."""

SMALL = 8 * 1024
"""Bytes of a stream that is fed byte by byte."""
LARGE = 64 * 1024
"""Bytes of a stream that is not fed in pieces of a few bytes any more."""
MOST = 7
"""Bytes of a small piece."""

CORPUS = recordings()


def _whole(body: bytes) -> list[bytes]:
    return [body]


def _small(body: bytes) -> list[bytes]:
    if len(body) >= LARGE:
        return [body]
    sizes = random.Random(len(body))
    cuts = [0]
    while cuts[-1] < len(body):
        cuts.append(cuts[-1] + (1 if len(body) < SMALL else sizes.randint(1, MOST)))
    return [body[start:end] for start, end in pairwise(cuts)]


def _cut(body: bytes) -> list[bytes]:
    places = random.Random(len(body))
    cuts = sorted({0, len(body), *(places.randrange(len(body) + 1) for _ in range(40))})
    return [body[a:b] for a, b in pairwise(cuts)]


CUTS: dict[str, Callable[[bytes], list[bytes]]] = {"whole": _whole, "small": _small, "cut": _cut}


def _cuts(body: bytes) -> dict[str, Callable[[bytes], list[bytes]]]:
    """All under `make fuzz`, else one of the three, by the length of the body."""
    return CUTS if IS_LONG else dict([list(CUTS.items())[len(body) % len(CUTS)]])


@pytest.mark.parametrize("batch", batches(CORPUS))
def test_streams_decode_to_their_truth(batch: list[Any], score: Callable[[str, str, bool], None]) -> None:
    faults: dict[tuple[str, str], dict[str, Any]] = {}
    for recording in batch:
        body = body_of(recording)
        for name, cut in _cuts(body).items():
            decoder, payloads = decode(recording, cut(body))
            wrong = _wrong(recording, decoder, fold(payloads))
            score(recording.meta["api"], recording.meta["provider"], not wrong)
            if wrong and recording.id not in EXCEPTIONS:
                faults[recording.id, name] = wrong
    assert not faults, faults


def _wrong(recording: Any, decoder: Decoder, folded: Folded) -> dict[str, Any]:
    """What differs from the truth: name, ours, theirs."""
    truth = recording.truth
    ours: dict[str, Any] = {
        "text": folded.text("text"),
        "thinking": folded.text("thinking"),
        "refusal": folded.text("refusal") or None,
        "calls": [(name, arguments) for _, name, arguments in folded.calls],
        "stop": decoder.provider_stop_reason or None,
        "raw usage": decoder.provider_usage,
        "usage": _reported_usage(decoder.usage, truth["usage"]),
        "failed": folded.discarded is not None,
        "message": decoder.message is not None,
    }
    unfinished = truth["stop_reason"] is None and not _may_lack_reason(recording, decoder)
    failed = truth["error"] is not None or unfinished
    theirs: dict[str, Any] = {
        "text": truth["text"],
        "thinking": truth["thinking"],
        "refusal": truth["refusal"],
        "calls": [(call["name"], _arguments(call)) for call in truth["tool_calls"]],
        "stop": _stop(truth),
        "raw usage": truth["usage_raw"] or None,
        "usage": _usage(recording.meta["api"], truth["usage"]),
        "failed": failed,
        "message": not failed,
    }
    if decoder.message is not None:
        ours["ids"] = [call.wire_id or call.id for call in decoder.message.tool_calls]
        theirs["ids"] = [c["id"] or o for c, o in zip(truth["tool_calls"], ours["ids"], strict=False)]
        ours["stop reason"], theirs["stop reason"] = decoder.stop_reason, _stop_reason(truth)
        ours["invalid"] = [call.invalid is not None for call in decoder.message.tool_calls]
        theirs["invalid"] = [
            call.get("arguments_valid_json") is False or theirs["stop reason"] != "tool_use"
            for call in truth["tool_calls"]
        ]
    return {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]}


def _may_lack_reason(recording: Any, decoder: Decoder) -> bool:
    blocked = bool(as_object(recording.truth.get("extra")).get("prompt_feedback"))
    return blocked or (decoder.quirks.finish_optional and b"[DONE]" in body_of(recording))


def _arguments(call: dict[str, Any]) -> Any:
    return {"input": call["arguments"]} if call.get("custom") else call["arguments"]


def _stop(truth: dict[str, Any]) -> str | None:
    feedback = as_object(as_object(truth.get("extra")).get("prompt_feedback"))
    return feedback.get("blockReason") or truth["stop_reason"]


def _stop_reason(truth: dict[str, Any]) -> str:
    match _stop(truth):
        case "length" | "max_tokens" | "MAX_TOKENS" | "incomplete:max_output_tokens":
            return "max_tokens"
        case "refusal":
            return "refusal"
        case "SAFETY" | "content_filter":
            return "content_filter"
        case "stop_sequence":
            return "stop_sequence"
        case _ if truth["tool_calls"]:
            return "tool_use"
        case _:
            return "refusal" if truth["refusal"] else "end_turn"


def _reported_usage(usage: Usage, truth: dict[str, int]) -> Usage:
    """The truth leaves out what some servers put in odd places: zeros, cache writes but for Anthropic's, and requests
    that the figures of an answer do not include."""
    beside = [request for request in usage.iterations if request.kind not in ("message", "fallback_message")]
    usage = replace(usage, server_tools={}, tier=None, iterations=[])
    if beside:
        usage = replace(
            usage,
            input=(usage.input or 0) - sum(request.input for request in beside),
            cache_read=(usage.cache_read or 0) - sum(request.cache_read for request in beside),
            cache_write=(usage.cache_write or 0) - sum(request.cache_write for request in beside),
            output=(usage.output or 0) - sum(request.output for request in beside),
        )
    for name in ("reasoning", "cache_read"):
        if name not in truth and getattr(usage, name) == 0:
            usage = replace(usage, **{name: None})
    if "cache_write" in truth or usage.input is None or usage.cache_write is None:
        return usage
    return replace(usage, input=usage.input + usage.cache_write, cache_write=None)


def _usage(api: str, usage: dict[str, int]) -> Usage:
    """The provider's figures in disjoint buckets, worked out apart from the code under test."""
    if not usage:
        return Usage()
    read, write, reasoning = usage.get("cache_read"), usage.get("cache_write"), usage.get("reasoning")
    prompt, output = usage.get("input"), usage.get("output")
    if prompt is not None and api in ("chat", "responses", "gemini"):
        prompt -= (read or 0) + (write or 0)
        prompt += usage.get("tool_use_prompt", 0)
    beside = usage.get("total") == usage.get("input", 0) + (output or 0) + (reasoning or 0)
    beside = beside or (reasoning or 0) > (output or 0) * 1.25
    if output is not None and reasoning and api != "gemini" and not (api in ("chat", "responses") and beside):
        reasoning = min(reasoning, output)
        output -= reasoning
    return Usage(input=prompt, cache_read=read, cache_write=write, output=output, reasoning=reasoning)
