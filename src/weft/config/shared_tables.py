"""How a setting is declared, and the tables that several commands share: the studio, hooks, requests to models and
telemetry."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from weft.core.turn import CacheTtl

Port = Annotated[int, Meta(ge=0, le=65535)]
Count = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(gt=0)]
Seconds = Annotated[float, Meta(ge=0)]
Temperature = Annotated[float, Meta(ge=0, le=2)]
Share = Annotated[float, Meta(ge=0, le=1)]
Natural = Annotated[int, Meta(ge=0)]


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Keys of one table."""


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
) -> Meta:
    """Describe a setting.

    `text` is its help, `default` its value when nothing sets it; `without` says in words what happens then.
    `group` is the heading in `--help`, `flag` replaces the name of the flag, `aliases` are further flags. A project's
    file may not set a `user_only` key, and a `path` in it must stay inside the project.
    """
    shape = {"group": group, "default": default, "without": without, "metavar": metavar, "aliases": aliases}
    shape |= {"own_flag": flag} if flag else {}
    return Meta(description=text, extra={**shape, "user_only": user_only, "is_path": path, "required": required})


class StudioTable(Table, frozen=True, kw_only=True):
    """The studio, in `weft serve`, `weft build` and `weft eval`."""

    prompts: Annotated[
        str, option("folder with prompt texts that replace built-in ones", "studio", metavar="DIR", path=True)
    ]
    stacks: Annotated[
        str, option("folder with stacks that are offered besides the built-in ones", "studio", metavar="DIR", path=True)
    ]


class HooksTable(Table, frozen=True, kw_only=True):
    """Commands that run before and after calls of tools, in `weft chat`, `run`, `acp` and, for sessions that work in a
    folder, `serve`. A hook is a tool, with a pattern if you like, a colon and a command line."""

    before: Annotated[
        list[str],
        option(
            "run before a call, which is refused if it fails, as 'run_command(git *): ./check.sh'; all places count",
            "tools",
            metavar="HOOK",
            flag="--hook-before",
        ),
    ]
    after: Annotated[
        list[str],
        option(
            "run after a call, as 'edit_file(*.py): ruff check'; all places count",
            "tools",
            metavar="HOOK",
            flag="--hook-after",
        ),
    ]


def _request_limit(text: str, flag: str, default: float | None = None, metavar: str = "SECONDS") -> Meta:
    without = "" if default is not None else "10, Gemini 5"
    return option(text, "requests to models", default=default, without=without, metavar=metavar, flag=flag)


class RetryTable(Table, frozen=True, kw_only=True):
    """Attempts at a turn of a model, in every command that asks one."""

    attempts: Annotated[Count, _request_limit("attempts at a turn, at most", "--retry-attempts", metavar="N")]
    silent_attempts: Annotated[
        Count,
        _request_limit("attempts, at most, if a server stays silent until a timeout", "--retry-silent", 2, metavar="N"),
    ]
    base: Annotated[Seconds, _request_limit("seconds before the second attempt; then doubled", "--retry-base", 0.5)]
    cap: Annotated[Seconds, _request_limit("seconds of the longest pause", "--retry-cap", 30.0)]
    max_wait: Annotated[
        Seconds,
        _request_limit("longest `Retry-After` that is honoured; a longer one fails at once", "--retry-max-wait", 60.0),
    ]


class TimeoutsTable(Table, frozen=True, kw_only=True):
    """Limits of one attempt, in every command that asks a model."""

    connect: Annotated[Amount, _request_limit("seconds to connect", "--timeout-connect", 15.0)]
    socket: Annotated[Amount, _request_limit("seconds without a byte", "--timeout-socket", 120.0)]
    content: Annotated[
        Amount, _request_limit("seconds without content, though bytes arrive", "--timeout-content", 300.0)
    ]
    first: Annotated[
        Amount,
        option(
            "seconds until the first content, while the prompt is read",
            "requests to models",
            without="1800 for a server of your own, else as above",
            metavar="SECONDS",
            flag="--timeout-first",
        ),
    ]
    tail: Annotated[Amount, _request_limit("seconds after the stop reason, for late usage", "--timeout-tail", 5.0)]
    total: Annotated[Amount, _request_limit("seconds for one whole answer", "--timeout-total", 3600.0)]


_PARAMETERS = "parameters of requests"


def _parameter(text: str, flag: str, metavar: str = "", *, user_only: bool = False) -> Meta:
    return option(text, _PARAMETERS, flag=flag, metavar=metavar, user_only=user_only)


class RequestTable(Table, frozen=True, kw_only=True):
    """Parameters of requests to models, in every command that asks one. A wire sends what its API has
    ([the table](providers.md#features-by-wire))."""

    top_p: Annotated[Share, _parameter("share of the likeliest tokens to choose from", "--top-p", "N")]
    seed: Annotated[int, _parameter("seed of the sampling", "--seed", "N")]
    stop: Annotated[list[str], _parameter("text that ends an answer", "--stop", "TEXT")]
    service_tier: Annotated[str, _parameter("tier of the provider, such as flex or priority", "--service-tier", "NAME")]
    cache_ttl: Annotated[CacheTtl, _parameter("how long prompts stay cached", "--cache-ttl")]
    server_tool: Annotated[
        list[str],
        _parameter("tool that the provider runs: web_search, or file_search:{…} with options", "--server-tool", "NAME"),
    ]
    image_output: Annotated[
        bool, option("let the model answer with pictures", _PARAMETERS, default=False, flag="--image-output")
    ]
    compact_at: Annotated[
        Count, _parameter("input tokens from which on the provider summarises", "--compact-at", "TOKENS")
    ]
    clear_results_at: Annotated[
        Count, _parameter("input tokens from which on the provider drops old results", "--clear-results-at", "TOKENS")
    ]
    end_user: Annotated[str, _parameter("opaque id of the person, for the provider", "--end-user", "ID")]
    metadata: Annotated[dict[str, str], _parameter("label that the provider stores: NAME=TEXT", "--metadata", "LABEL")]
    headers: Annotated[
        dict[str, str], _parameter("header of every request: NAME=TEXT", "--header", "HEADER", user_only=True)
    ]


class OtelTable(Table, frozen=True, kw_only=True):
    """OpenTelemetry, in `weft serve` and `weft run`. The variables `OTEL_…` say where it is sent to."""

    export: Annotated[bool, option("send traces and metrics by OTLP", "telemetry", default=False, flag="--otel")]
    content: Annotated[
        bool,
        option(
            "put messages, arguments and results into the traces", "telemetry", default=False, flag="--otel-content"
        ),
    ]
