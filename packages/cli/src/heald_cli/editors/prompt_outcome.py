"""The answer to a prompt: how its exchange ended, and what it used."""

from acp import schema

from heald.agent.result import AgentResult

_STOP: dict[str, schema.StopReason] = {
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "content_filter": "refusal",
}


def prompt_response(result: AgentResult) -> schema.PromptResponse:
    """Return the answer to the prompt that an exchange belongs to."""
    return schema.PromptResponse(stop_reason=_stop_reason(result), usage=_usage(result))


def _stop_reason(result: AgentResult) -> schema.StopReason:
    match result.status:
        case "cancelled":
            return "cancelled"
        case "limit":
            return "max_tokens" if result.limit and "token" in result.limit else "max_turn_requests"
        case _:
            return _STOP.get(result.stop_reason, "end_turn")


def _usage(result: AgentResult) -> schema.Usage:
    usage = result.usage
    incoming, outgoing = usage.total_input or 0, usage.total_output or 0
    return schema.Usage(
        total_tokens=incoming + outgoing,
        input_tokens=incoming,
        output_tokens=outgoing,
        thought_tokens=usage.reasoning,
        cached_read_tokens=usage.cache_read,
        cached_write_tokens=usage.cache_write,
    )
