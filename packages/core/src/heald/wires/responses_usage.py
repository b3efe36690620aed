"""The usage of OpenAI Responses: tokens, tier, and what tools of the provider are charged for.

https://developers.openai.com/api/docs/api-reference/responses/object
"""

from collections.abc import Sequence

import msgspec

from heald.core.json import JsonObject, as_object, as_objects
from heald.core.turn import IMAGE_GENERATION, Iteration, Usage, single_request
from heald.wires.service_tier import read_tier
from heald.wires.usage_counts import as_count, disjoint_usage

_PAINTER = "gpt-image-1"
"""The model of the tool that makes pictures, if the response does not name one."""


def parse_usage(response: JsonObject, items: Sequence[JsonObject]) -> Usage:
    """Parse the usage of a finished response. `items` are its output items."""
    tokens = parse_tokens(as_object(response.get("usage")))
    usage = msgspec.structs.replace(
        tokens, tier=read_tier(response.get("service_tier")), server_tools=_count_uses(response, items)
    )
    pictures = _read_pictures(response)
    if pictures is None:
        return usage
    answer = single_request(usage)
    return msgspec.structs.replace(
        usage,
        input=answer.input + pictures.total_input,
        output=(usage.output or 0) + pictures.output + pictures.image_output,
        iterations=[answer, pictures],
    )


def parse_tokens(raw: JsonObject) -> Usage:
    inward = as_object(raw.get("input_tokens_details"))
    return disjoint_usage(
        prompt=as_count(raw.get("input_tokens")),
        completion=as_count(raw.get("output_tokens")),
        total=as_count(raw.get("total_tokens")),
        cache_read=as_count(inward.get("cached_tokens")),
        cache_write=as_count(inward.get("cache_write_tokens")),
        reasoning=as_count(as_object(raw.get("output_tokens_details")).get("reasoning_tokens")),
    )


def _count_uses(response: JsonObject, items: Sequence[JsonObject]) -> dict[str, int]:
    """Count the uses of tools that are charged. Opening a page of a search is free."""
    reported = as_object(as_object(response.get("tool_usage")).get("web_search")).get("num_requests")
    searches = [item for item in items if item.get("type") == "web_search_call" and _is_search(item)]
    files = [item for item in items if item.get("type") == "file_search_call"]
    containers = {str(item.get("container_id")) for item in items if item.get("type") == "code_interpreter_call"}
    counted = as_count(reported)
    uses = {
        "web_search": len(searches) if counted is None else counted,
        "file_search": len(files),
        "code_container": len(containers),
    }
    return {tool: count for tool, count in uses.items() if count}


def _is_search(item: JsonObject) -> bool:
    return as_object(item.get("action")).get("type") in (None, "search")


def _read_pictures(response: JsonObject) -> Iteration | None:
    """Return the tokens of the tool that makes pictures, which another model uses; None if it was not used."""
    used = as_object(as_object(response.get("tool_usage")).get("image_gen"))
    inward, outward = as_object(used.get("input_tokens_details")), as_object(used.get("output_tokens_details"))
    written, read = as_count(used.get("output_tokens")), as_count(used.get("input_tokens"))
    if not written and not read:
        return None
    tools = as_objects(response.get("tools"))
    model = next((tool.get("model") for tool in tools if tool.get("type") == IMAGE_GENERATION), None)
    seen, text = as_count(inward.get("image_tokens")) or 0, as_count(outward.get("text_tokens")) or 0
    return Iteration(
        IMAGE_GENERATION,
        model=model if isinstance(model, str) and model else _PAINTER,
        input=max((read or 0) - seen, 0),
        image_input=seen,
        output=text,
        image_output=max((written or 0) - text, 0),
    )
