"""Parses log-probabilities in the forms of OpenAI and of Gemini. Decoders import it if a request asks for them."""

from collections.abc import Iterable
from typing import Any

from heald.core.json import JsonObject, as_objects
from heald.core.turn import TokenLogprob


def parse_openai_logprobs(entries: Any) -> list[TokenLogprob]:
    """Parse a list of entries with `token`, `logprob` and `top_logprobs`, which Ollama has too."""
    return [
        TokenLogprob(token, value, [TokenLogprob(*top) for top in _pairs(as_objects(entry.get("top_logprobs")))])
        for entry in as_objects(entries)
        for token, value in _pairs([entry])
    ]


def parse_gemini_logprobs(result: JsonObject) -> list[TokenLogprob]:
    """Parse a `logprobsResult`."""
    tops = as_objects(result.get("topCandidates"))
    chosen = as_objects(result.get("chosenCandidates"))
    logprobs: list[TokenLogprob] = []
    for place, (token, value) in enumerate(_pairs(chosen, "logProbability")):
        top = as_objects(tops[place].get("candidates")) if place < len(tops) else []
        logprobs.append(TokenLogprob(token, value, [TokenLogprob(*pair) for pair in _pairs(top, "logProbability")]))
    return logprobs


def _pairs(entries: Iterable[JsonObject], key: str = "logprob") -> list[tuple[str, float]]:
    return [
        (str(entry.get("token", "")), float(entry[key]))
        for entry in entries
        if isinstance(entry.get(key), int | float) and not isinstance(entry.get(key), bool)
    ]
