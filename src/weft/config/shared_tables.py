"""How a setting is declared, and the tables that several commands share: the studio, the web, hooks, requests to models
and telemetry."""

from typing import Annotated, Any, dataclass_transform

from msgspec import Meta

from weft.core.turn import CacheTtl

Port = Annotated[int, Meta(ge=0, le=65535)]
Count = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(gt=0)]
Seconds = Annotated[float, Meta(ge=0)]
Temperature = Annotated[float, Meta(ge=0, le=2)]
Share = Annotated[float, Meta(ge=0, le=1)]
Natural = Annotated[int, Meta(ge=0)]


def option(
    text: str,
    group: str = "",
    *,
    default: Any = None,
    without: str = "",
    metavar: str = "",
    aliases: tuple[str, ...] = (),
    user_only: bool = False,
    path: bool = False,
    required: bool = False,
    flag: str = "",
) -> Any:
    """Describe a setting. Returns fields of its `Key`.

    `text` is its help, `default` its value when nothing sets it; `without` says in words what happens then.
    `group` is the heading in `--help`, `flag` replaces the name of the flag, `aliases` are further flags. A project's
    file may not set a `user_only` key, and a `path` in it must stay inside the project.
    """
    shape = {"help": text, "group": group, "default": default, "without": without, "metavar": metavar}
    shape |= {"aliases": aliases, "user_only": user_only, "is_path": path, "required": required, "own_flag": flag}
    return shape


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(option,))
class Table:
    """Keys of one table. No table is instantiated: `describe_keys` reads the types and options of its fields."""


def list_fields(table: type) -> dict[str, Any]:
    """The fields of a table with their types, in their order. A field that a table declares anew keeps its place."""
    fields: dict[str, Any] = {}
    for each in reversed(table.__mro__):
        fields |= getattr(each, "__annotations__", {})
    return fields


class StudioTable(Table):
    """The studio, in `weft serve`, `weft build` and `weft eval`."""

    prompts: str = option("folder with prompt texts that replace built-in ones", "studio", metavar="DIR", path=True)
    stacks: str = option(
        "folder with stacks that are offered besides the built-in ones", "studio", metavar="DIR", path=True
    )


class WebTable(Table):
    """Requests to the web: `fetch_url`, and the pages and pictures that the studio gets by their address."""

    allow_hosts: list[str] = option(
        "host of a private network that may be fetched, as wiki.example or localhost:3000; all places count together",
        "tools",
        metavar="HOST",
        flag="--allow-host",
        user_only=True,
    )


class HooksTable(Table):
    """Commands that run before and after calls of tools, in `weft chat`, `run`, `acp` and, for sessions that work in a
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
    compact_at: Count = _parameter("input tokens from which on the provider summarises", "--compact-at", "TOKENS")
    clear_results_at: Count = _parameter(
        "input tokens from which on the provider drops old results", "--clear-results-at", "TOKENS"
    )
    end_user: str = _parameter("opaque id of the person, for the provider", "--end-user", "ID")
    metadata: dict[str, str] = _parameter("label that the provider stores: NAME=TEXT", "--metadata", "LABEL")
    headers: dict[str, str] = _parameter("header of every request: NAME=TEXT", "--header", "HEADER", user_only=True)


class OtelTable(Table):
    """OpenTelemetry, in `weft serve` and `weft run`. The variables `OTEL_…` say where it is sent to."""

    export: bool = option("send traces and metrics by OTLP", "telemetry", default=False, flag="--otel")
    content: bool = option(
        "put messages, arguments and results into the traces", "telemetry", default=False, flag="--otel-content"
    )
