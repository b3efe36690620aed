"""Reads log-probabilities out of streamed events. Decoders call it only for requests that ask for them."""

from collections.abc import Iterable
from typing import Any

from weft.core.json import JsonObject, as_object, as_objects, loads
from weft.core.turn import TokenLogprob


def read_logprobs(wire: str, data: bytes) -> list[TokenLogprob]:
    """Return the log-probabilities in one event; none if it has another shape."""
    try:
        event = as_object(loads(data))
    except ValueError:
        return []
    match wire:
        case "chat":
            choices = (choice for choice in as_objects(event.get("choices")) if not choice.get("index"))
            return [each for choice in choices for each in _openai(as_object(choice.get("logprobs")).get("content"))]
        case "responses":
            is_delta = event.get("type") == "response.output_text.delta"
            return _openai(event.get("logprobs")) if is_delta else _whole_response(event)
        case "ollama":
            return _openai(event.get("logprobs"))
        case "gemini":
            candidates = as_objects(event.get("candidates"))
            return [each for one in candidates for each in _gemini(as_object(one.get("logprobsResult")))]
        case _:
            return []


def _openai(entries: Any) -> list[TokenLogprob]:
    return [
        TokenLogprob(token, value, [TokenLogprob(*top) for top in _pairs(as_objects(entry.get("top_logprobs")))])
        for entry in as_objects(entries)
        for token, value in _pairs([entry])
    ]


def _whole_response(event: JsonObject) -> list[TokenLogprob]:
    """Read an answer that was not streamed."""
    if event.get("object") != "response":
        return []
    parts = (part for item in as_objects(event.get("output")) for part in as_objects(item.get("content")))
    return [each for part in parts for each in _openai(part.get("logprobs"))]


def _gemini(result: JsonObject) -> list[TokenLogprob]:
    tops = as_objects(result.get("topCandidates"))
    chosen = as_objects(result.get("chosenCandidates"))
    found: list[TokenLogprob] = []
    for place, (token, value) in enumerate(_pairs(chosen, "logProbability")):
        top = as_objects(tops[place].get("candidates")) if place < len(tops) else []
        found.append(TokenLogprob(token, value, [TokenLogprob(*pair) for pair in _pairs(top, "logProbability")]))
    return found


def _pairs(entries: Iterable[JsonObject], key: str = "logprob") -> list[tuple[str, float]]:
    return [
        (str(entry.get("token", "")), float(entry[key]))
        for entry in entries
        if isinstance(entry.get(key), int | float) and not isinstance(entry.get(key), bool)
    ]
