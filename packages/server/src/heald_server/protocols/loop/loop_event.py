"""Events of the loop as pairs of a name and JSON, as `run_agent_loop` yields them."""

from heald.core.json import JsonObject, encode_text


def encode_loop_event(event: str, data: JsonObject) -> tuple[str, str]:
    """Return an event as the pair of its name and its JSON."""
    return event, encode_text(data)


def sse_fields(pair: tuple[str, str]) -> dict[str, str]:
    """Return a pair as the fields of a server-sent event, as `sse_starlette` accepts them."""
    event, data = pair
    return {"event": event, "data": data}
