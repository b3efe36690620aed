"""Describes events in one line each."""

from heald.commands.amounts import format_seconds, format_usd
from heald.commands.status_text import status_text
from heald.commands.terminal import GREEN, RED, Colours
from heald.commands.text_columns import truncate
from heald.core.context_events import ConversationCompacted, PromptProgress, RequestWithdrawn
from heald.core.events import AgentChanged, ExchangeResponse, ToolCompleted, ToolFailed
from heald.core.json import JsonObject, encode_text
from heald.core.messages import ToolResult
from heald.tools.sanitize import sanitize_text
from heald.tools.tool_output import HOOK_DATA, HOOK_FAILED, HOOK_REFUSED

_ENDS = {
    "cancelled": "stopped; what was done until then is kept",
    "limit": "stopped by a limit; what was done until then is kept",
    "failed": "failed",
}
"""The words for exchanges that did not complete. The error of a failed one is printed before."""


def call_line(call: ToolCompleted | ToolFailed, asked: str, paint: Colours) -> str:
    """Describe a finished call in one line. `asked` is the summary of its arguments."""
    mark, colour, text = "✓", GREEN, call.summary
    is_failed_command = call.name == "run_command" and failed_command(call.summary)
    if isinstance(call, ToolCompleted) and (is_failed_command or call.summary.endswith(HOOK_FAILED)):
        mark, colour = "✗", RED
    elif isinstance(call, ToolFailed):
        mark, colour, text = "✗", RED, f"{status_text(call.status)}: {call.summary}"
    line = sanitize_text(f"{call.name} {asked} ({format_seconds(call.duration_ms / 1000)}) {text}")
    return f"{paint(mark, colour)} {' '.join(line.split())}"


def failed_command(summary: str) -> bool:
    """Whether the summary of a command describes a failure."""
    return summary.startswith("stopped") or (
        summary.startswith("exit code ") and not summary.startswith(("exit code 0,", "exit code None"))
    )


def hook_lines(result: ToolResult) -> list[str]:
    """Return what hooks wrote about a call that they refused, or that they failed after; nothing for other calls."""
    failures = (result.data or {}).get(HOOK_DATA)
    text = failures if isinstance(failures, str) else ""
    if result.status == "denied" and result.text.startswith(HOOK_REFUSED):
        _, _, text = result.text.partition("\n")  # the line of the call has the first one
    return [f"  {line}" for line in sanitize_text(text).splitlines() if line.strip()]


def describe_progress(progress: PromptProgress) -> str:
    """Describe how much of a request the model has read."""
    return "thinking" if progress.percent == 100 else f"reading the prompt, {progress.percent} %"


def describe_context(payload: ConversationCompacted | RequestWithdrawn) -> str:
    """Describe a change of the context in one line."""
    if isinstance(payload, RequestWithdrawn):
        return f"({payload.reason})"
    how = {
        "model": "; the model summarised the beginning",
        "provider": "; the provider compacted the beginning",
        "rule": "; the beginning was removed",
    }
    written = how.get(payload.written_by or "", "; old results were cut")
    return f"(compacted: {payload.tokens_before:,} → {payload.tokens_after:,} tokens{written})"


def describe_agent(changed: AgentChanged) -> str:
    """Describe in one line that another agent continues."""
    agent = sanitize_text(changed.agent) or "the first agent"
    return f"({agent} continues, with {sanitize_text(changed.model)})" if changed.model else f"({agent} continues)"


def describe_server_call(name: str, arguments: JsonObject) -> str:
    """Describe a call that the provider runs itself in one line."""
    text = " ".join(sanitize_text(encode_text(arguments)).split()) if arguments else ""
    return truncate(f"⌕ {sanitize_text(name)} {text}".rstrip(), 120)


def describe_exchange(response: ExchangeResponse) -> str:
    """Describe tokens, cost, duration and outcome of an exchange."""
    usage = response.usage
    parts = [
        f"{format_count(usage.total_input)} in",
        f"{format_count(usage.total_output)} out",
        format_usd(response.cost_usd),
    ]
    parts += [format_seconds(response.duration_ms / 1000)]
    parts += [f"{response.turns} turns"] * (response.turns > 1)
    parts += [_ENDS[response.status]] if response.status in _ENDS else []
    note = f". {response.note}" if response.note is not None else ""
    return f"({', '.join(parts)}{note})"


def format_count(tokens: int | None) -> str:
    """Format a number of tokens."""
    return "unknown" if tokens is None else f"{tokens:,}"
