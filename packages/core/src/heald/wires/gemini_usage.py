"""The usage of Gemini: tokens, pictures, tier and searches.

https://ai.google.dev/api/generate-content#UsageMetadata
"""

from heald.core.json import JsonObject, as_objects
from heald.core.turn import Iteration, Usage
from heald.wires.service_tier import read_tier
from heald.wires.usage_counts import as_count


def parse_usage(raw: JsonObject, searches: int = 0) -> Usage:
    """Parse the usage of an answer for which so many queries were searched."""
    prompt, read = as_count(raw.get("promptTokenCount")), as_count(raw.get("cachedContentTokenCount"))
    if prompt is not None:
        read = read and min(read, prompt)
        prompt += (as_count(raw.get("toolUsePromptTokenCount")) or 0) - (read or 0)
    output, reasoning = as_count(raw.get("candidatesTokenCount")), as_count(raw.get("thoughtsTokenCount"))
    details = as_objects(raw.get("candidatesTokensDetails"))
    pictures = sum(as_count(part.get("tokenCount")) or 0 for part in details if part.get("modality") == "IMAGE")
    pictures = min(pictures, output or 0)
    answer = Iteration(
        "message",
        input=prompt or 0,
        cache_read=read or 0,
        output=(output or 0) - pictures + (reasoning or 0),
        image_output=pictures,
    )
    return Usage(
        input=prompt,
        cache_read=read,
        output=output,
        reasoning=reasoning,
        server_tools={"web_search": searches} if searches else {},
        tier=read_tier(raw.get("serviceTier")) or read_tier(raw.get("trafficType")),
        iterations=[answer] if pictures else [],
    )
