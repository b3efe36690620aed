"""The tables of `heald.toml` that several commands share: web, hooks, checkpoints, requests to models, telemetry."""

from typing import Any

from heald.config.table import Amount, Count, Seconds, Share, Table, option
from heald.core.turn import CacheTtl, CompactBy


class WebTable(Table):
    """Requests to the web: `fetch_url`, commands in the sandbox, and what the studio gets by its address."""

    allow_hosts: list[str] = option(
        "host that may be reached, as wiki.example or localhost:3000: by fetch_url also in a private network, and by "
        "commands in the sandbox without a question; all places count together",
        "tools",
        metavar="HOST",
        flag="--allow-host",
        user_only=True,
    )


class SecretsTable(Table):
    """Secret values in the files of a folder, which are hidden from models
    ([what is hidden](security.md#secrets-in-a-workspace))."""

    show_in: list[str] = option(
        "folder whose secret values models see as they are, with all folders in it; all places count together",
        "tools",
        metavar="DIR",
        flag="--show-secrets-in",
        user_only=True,
    )


class HooksTable(Table):
    """Commands that run before and after calls of tools, in `heald chat`, `run`, `acp` and, for sessions that work in a
    folder, `serve`. A hook is a tool, with a pattern if you like, a colon and a command line."""

    before: list[str] = option(
        "run before a call, which is refused if it fails, as 'run_command(git *): ./check.sh'; all places count",
        "tools",
        metavar="HOOK",
        flag="--hook-before",
    )
    after: list[str] = option(
        "run after a call, as 'edit_file(*.py): ruff check'; all places count",
        "tools",
        metavar="HOOK",
        flag="--hook-after",
    )


class CheckpointsTable(Table):
    """Checkpoints of git repositories in the data folder, for undo, in `heald chat`, `run --attempts` and `undo`."""

    total_mb: Count = option(
        "megabytes for the checkpoints of all repositories; the oldest are deleted first",
        "checkpoints",
        default=2_000,
        metavar="MB",
        flag="--checkpoints-total",
        user_only=True,
    )
    repository_mb: Count = option(
        "megabytes for the checkpoints of one repository",
        "checkpoints",
        default=500,
        metavar="MB",
        flag="--checkpoints-repository",
        user_only=True,
    )


def _request_limit(text: str, flag: str, default: float | None = None, metavar: str = "SECONDS") -> Any:
    without = "" if default is not None else "10, Gemini 5"
    return option(text, "requests to models", default=default, without=without, metavar=metavar, flag=flag)


class RetryTable(Table):
    """Attempts at a turn of a model, in every command that asks one."""

    attempts: Count = _request_limit("attempts at a turn, at most", "--retry-attempts", metavar="N")
    silent_attempts: Count = _request_limit(
        "attempts, at most, if a server stays silent until a timeout", "--retry-silent", 2, metavar="N"
    )
    base: Seconds = _request_limit("seconds before the second attempt; then doubled", "--retry-base", 0.5)
    cap: Seconds = _request_limit("seconds of the longest pause", "--retry-cap", 30.0)
    max_wait: Seconds = _request_limit(
        "longest `Retry-After` that is honoured; a longer one fails at once", "--retry-max-wait", 60.0
    )


class TimeoutsTable(Table):
    """Limits of one attempt, in every command that asks a model."""

    connect: Amount = _request_limit("seconds to connect", "--timeout-connect", 15.0)
    socket: Amount = _request_limit("seconds without a byte", "--timeout-socket", 120.0)
    content: Amount = _request_limit("seconds without content, though bytes arrive", "--timeout-content", 300.0)
    first: Amount = option(
        "seconds until the first content, while the prompt is read",
        "requests to models",
        without="1800 for a server of your own, else as above",
        metavar="SECONDS",
        flag="--timeout-first",
    )
    tail: Amount = _request_limit("seconds after the stop reason, for late usage", "--timeout-tail", 5.0)
    total: Amount = _request_limit("seconds for one whole answer", "--timeout-total", 3600.0)


_PARAMETERS = "parameters of requests"


def _parameter(text: str, flag: str, metavar: str = "", *, user_only: bool = False) -> Any:
    return option(text, _PARAMETERS, flag=flag, metavar=metavar, user_only=user_only)


class RequestTable(Table):
    """Parameters of requests to models, in every command that asks one. A wire sends what its API has
    ([the table](providers.md#features-by-wire))."""

    top_p: Share = _parameter("share of the likeliest tokens to choose from", "--top-p", "N")
    seed: int = _parameter("seed of the sampling", "--seed", "N")
    stop: list[str] = _parameter("text that ends an answer", "--stop", "TEXT")
    service_tier: str = _parameter("tier of the provider, such as flex or priority", "--service-tier", "NAME")
    cache_ttl: CacheTtl = _parameter("how long prompts stay cached", "--cache-ttl")
    server_tool: list[str] = _parameter(
        "tool that the provider runs: web_search, or file_search:{…} with options", "--server-tool", "NAME"
    )
    image_output: bool = option("let the model answer with pictures", _PARAMETERS, default=False, flag="--image-output")
    citations: bool = option("let the model cite documents", _PARAMETERS, default=False, flag="--citations")
    compact_at: Count = _parameter("input tokens from which on the provider summarises", "--compact-at", "TOKENS")
    compact_by: CompactBy = option(
        "who summarises a conversation that is too long", _PARAMETERS, default="model", flag="--compact-by"
    )
    clear_results_at: Count = _parameter(
        "input tokens from which on the provider drops old results", "--clear-results-at", "TOKENS"
    )
    websocket: bool = option(
        "send turns over one WebSocket, if the API has that", _PARAMETERS, default=False, flag="--websocket"
    )
    end_user: str = _parameter("opaque id of the person, for the provider", "--end-user", "ID")
    metadata: dict[str, str] = _parameter("label that the provider stores: NAME=TEXT", "--metadata", "LABEL")
    headers: dict[str, str] = _parameter("header of every request: NAME=TEXT", "--header", "HEADER", user_only=True)


class OtelTable(Table):
    """OpenTelemetry, in `heald serve` and `heald run`. The variables `OTEL_…` set where it is sent to."""

    export: bool = option("send traces and metrics by OTLP", "telemetry", default=False, flag="--otel")
    content: bool = option(
        "put messages, arguments and results into the traces", "telemetry", default=False, flag="--otel-content"
    )


SHARED: dict[str, type[Table]] = {
    "web": WebTable,
    "secrets": SecretsTable,
    "hooks": HooksTable,
    "checkpoints": CheckpointsTable,
    "retry": RetryTable,
    "timeouts": TimeoutsTable,
    "request": RequestTable,
    "otel": OtelTable,
}
"""The tables by name. A command names those that it has; `[retry] base` is `options.retry_base`."""
