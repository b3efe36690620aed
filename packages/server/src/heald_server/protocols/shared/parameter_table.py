"""The parameters of an endpoint of another protocol, and what becomes of each.

What changes nothing in the answer is ignored. What cannot be served is dropped with a note in the server's log, and so
is a parameter that is not known. What the client relies on in the answer is refused. The page docs/parameters.md is
made from these tables.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from starlette.responses import Response

from heald.core.json import JsonObject
from heald_server.protocols.shared.v1_parameters import refusal

Treatment = Literal["honoured", "ignored", "dropped", "refused"]
DROPPED_HEADER = "X-Heald-Dropped"
"""Names the parameters of a request that were dropped."""
_NOTHING: tuple[Any, ...] = (None, "", [], {})
_MAX_NAME, _MAX_NAMES = 60, 20
_MAX_NOTED = 1000

_log = logging.getLogger("heald_server.protocols")
_noted: set[tuple[str, str]] = set()  # endpoints and parameters


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an endpoint."""

    name: str
    treatment: Treatment
    reason: str = ""
    unset: tuple[Any, ...] = ()
    """Values that ask for nothing, and are accepted even where others are not."""

    def accepts(self, value: object) -> bool:
        """Whether a value is neither dropped nor refused."""
        return self.treatment in ("honoured", "ignored") or value in self.unset


def parameters(treatment: Treatment, reason: str, *names: str) -> list[Parameter]:
    """Parameters that are treated alike, for one reason."""
    return [Parameter(name, treatment, reason) for name in names]


class ParameterTable:
    """The parameters of one endpoint."""

    def __init__(self, endpoint: str, rows: Iterable[Parameter]) -> None:
        self.endpoint = endpoint
        self.rows: Sequence[Parameter] = tuple(rows)
        self._by_name: Mapping[str, Parameter] = {row.name: row for row in self.rows}

    def check(self, body: JsonObject) -> list[str]:
        """Raise `ApiError` for a parameter that is refused. Returns the names of those that are dropped."""
        dropped: list[str] = []
        for name, value in body.items():
            row = self._by_name.get(name)
            if value in _NOTHING or (row is not None and row.accepts(value)):
                continue
            if row is not None and row.treatment == "refused":
                raise refusal(name, f"The parameter {name!r} is not supported here: {row.reason}; leave it out.")
            dropped.append(name[:_MAX_NAME])
        return dropped

    def note(self, dropped: Sequence[str]) -> None:
        """Write what was dropped into the server's log, once for each parameter."""
        fresh = [name for name in dict.fromkeys(dropped) if (self.endpoint, name) not in _noted]
        if not fresh or len(_noted) >= _MAX_NOTED:
            return
        _noted.update((self.endpoint, name) for name in fresh)
        _log.warning("%s: dropped from a request: %s.", self.endpoint, ", ".join(ascii(name)[1:-1] for name in fresh))


def name_dropped(response: Response, dropped: Sequence[str]) -> Response:
    """Name in a response what was dropped from its request."""
    names = [name for name in dict.fromkeys(dropped) if _fits_header(name)][:_MAX_NAMES]
    if names:
        response.headers[DROPPED_HEADER] = ", ".join(names)
    return response


def _fits_header(name: str) -> bool:
    """Whether a name can be the value of a header, which neither begins nor ends with a space (RFC 9110, 5.5)."""
    return name != "" and name.isascii() and name.isprintable() and name == name.strip()


SHARED_IGNORED = parameters("ignored", "changes nothing in the answer", *(
    "user", "metadata", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options",
    "service_tier", "client_metadata", "session_id", "keep_alive", "cache_prompt", "usage",
))  # fmt: skip
"""Labels of requests, and hints for a provider's cache."""
SHARED_DROPPED = [
    *parameters("dropped", "a sampling setting that is not passed on", *(
        "top_k", "top_a", "min_p", "typical_p", "tfs_z", "repeat_penalty", "repetition_penalty", "repeat_last_n",
        "mirostat", "mirostat_eta", "mirostat_tau", "num_ctx", "num_predict", "options",
    )),
    *parameters("dropped", "use `reasoning_effort`, or `reasoning` of /v1/responses", *(
        "think", "thinking", "thinking_budget", "enable_thinking", "chat_template_kwargs", "include_reasoning",
    )),
    *parameters("dropped", "the server chooses its providers", "provider", "models", "route", "transforms", "plugins"),
]  # fmt: skip
"""Parameters of other servers of these APIs."""
SHARED_REFUSED = parameters("refused", "the server's operator names addresses and keys", *(
    "base_url", "api_base", "api_key", "api_version", "endpoint", "headers", "extra_headers", "extra_body",
    "custom_llm_provider",
))  # fmt: skip
"""Where a key goes is nothing that a client says."""
