"""The parameters of a turn: its settings, its stop reason, and its usage and cost."""

from typing import Any, Literal

import msgspec

from heald.core.arguments import CheckedFields, check_fields
from heald.core.json import JsonObject

ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]

CacheTtl = Literal["5m", "1h", "24h"]
"""How long a provider keeps a cached prompt. An API that has no such time gets the nearest one that it has."""

CompactBy = Literal["model", "provider"]
"""Who summarises a conversation that has become too long: the model, or the provider's endpoint for that."""

ServerToolName = Literal["web_search", "web_fetch", "code_execution", "file_search", "image_generation"]


class ServerTool(msgspec.Struct, frozen=True, omit_defaults=True, metaclass=CheckedFields):
    """A tool that the provider runs itself. Its calls and results are events; nothing runs here."""

    name: ServerToolName
    options: JsonObject = {}
    """Merged into the tool's entry in the request, such as `vector_store_ids` for `file_search`."""

    def __post_init__(self) -> None:
        check_fields(self)


class Reason(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, metaclass=CheckedFields):
    """How much a model may think: an effort, or a budget in tokens. A wire converts between them."""

    effort: ReasoningEffort | None = None
    budget: int | None = None
    visible: bool = True
    """Request readable thinking, if the API supports it."""

    def __post_init__(self) -> None:
        check_fields(self)


class Settings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, metaclass=CheckedFields):
    """The settings of requests to a model. What is not set is left to the provider."""

    system: str = ""
    """The system prompt."""
    temperature: float | None = None
    """The sampling temperature."""
    top_p: float | None = None
    """Sample only from the most likely tokens, up to this probability."""
    max_output_tokens: int | None = None
    """The maximum length of one answer in tokens."""
    stop_sequences: list[str] = []
    """Texts at which the model stops."""
    reasoning: Reason | None = None
    """How much the model thinks before it answers."""
    tool_choice: str = "auto"
    """`auto`, `none`, `required`, or the name of one tool."""
    parallel_tool_calls: bool | None = None
    """Whether one message may hold several calls."""
    output_schema: JsonObject | None = None
    """A JSON Schema that the final text must satisfy."""
    cache: bool = True
    """Mark the stable prefix for prompt caching, if the API needs marks."""
    cache_ttl: CacheTtl | None = None
    """How long a marked prefix is cached."""
    cache_key: str | None = None
    """Requests with the same key share a cache, if the API has such keys."""
    server_tools: list[ServerTool] = []
    """Tools that the provider runs, such as its web search."""
    image_output: bool = False
    """Let the model answer with images."""
    citations: bool = False
    """Let the model cite the documents that it is sent, with pages or characters, if the API does that on request."""
    compact_at: int | None = None
    """Input tokens from which on the provider summarises the conversation, if its API does that."""
    compact_by: CompactBy = "model"
    """Who summarises a conversation that has become too long for the model's context. `provider` is its endpoint for
    that, if its API has one; the summary is encrypted."""
    clear_results_at: int | None = None
    """Input tokens from which on the provider removes old tool results, if its API does that."""
    service_tier: str | None = None
    """The provider's name for a priority."""
    seed: int | None = None
    """Makes answers repeatable, as far as the provider can."""
    top_logprobs: int | None = None
    """Return the log-probability of each token, and of this many alternatives."""
    user: str | None = None
    """An opaque id of the end user, for the provider's abuse detection."""
    metadata: dict[str, str] = {}
    """Labels that the provider stores with the request."""
    websocket: bool = False
    """Keep one WebSocket open for all turns and send only what is new in each, if the API has that. It needs the
    package websockets."""
    extra: dict[str, Any] = {}
    """Merged into the request body last, for parameters that Heald does not name: objects member by member, `tools`
    behind the agent's own."""
    extra_headers: dict[str, str] = {}
    """Sent with the request, in place of headers of the same name."""

    def __post_init__(self) -> None:
        check_fields(self)


StopReason = Literal[
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "refusal",
    "content_filter",
    "pause_turn",
    "error",
]

EXECUTABLE: frozenset[StopReason] = frozenset({"end_turn", "tool_use", "stop_sequence"})
"""Stop reasons after which the calls of a message may run: the model finished its message."""


IMAGE_GENERATION = "image_generation"
"""The kind of an iteration in which the model of a tool made pictures."""


class Iteration(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of several requests that a provider made for one answer: a turn of a tool that it runs, a summary of the
    conversation, a question to another model. The buckets are disjoint."""

    kind: str
    """The provider's word for it, such as `message` or `compaction`."""
    model: str | None = None
    """The model that was asked, if it is named."""
    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    """All output, reasoning included."""
    cache_write_1h: int = 0
    """The part of `cache_write` that is stored for an hour."""
    image_input: int = 0
    image_output: int = 0

    @property
    def total_input(self) -> int:
        """All input, cached or not."""
        return self.input + self.cache_read + self.cache_write + self.image_input


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens of one or more model requests. The buckets add up: no token is in two of them.

    `tier` and `iterations` belong to one answer, and a sum has none: its price is the sum of the prices.
    """

    input: int | None = None
    """Input that was neither read from a cache nor written to it."""
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    """Visible output: text and tool calls."""
    reasoning: int | None = None
    cache_write_1h: int | None = None
    """The part of `cache_write` that is stored for an hour, at a higher price."""
    server_tools: dict[str, int] = {}
    """How often tools that the provider runs and charges by use were used, by name: `web_search`, `file_search`."""
    tier: str | None = None
    """The service tier that the answer names, if it is not the standard one: `flex`, `priority`, `batch`."""
    iterations: list[Iteration] = []
    """The requests that the provider made for the answer, if it made several. The buckets hold their sum."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input if other.input is None else other.input + (self.input or 0),
            self.cache_read if other.cache_read is None else other.cache_read + (self.cache_read or 0),
            self.cache_write if other.cache_write is None else other.cache_write + (self.cache_write or 0),
            self.output if other.output is None else other.output + (self.output or 0),
            self.reasoning if other.reasoning is None else other.reasoning + (self.reasoning or 0),
            self.cache_write_1h if other.cache_write_1h is None else other.cache_write_1h + (self.cache_write_1h or 0),
            _add_counts(self.server_tools, other.server_tools),
        )

    @property
    def total_input(self) -> int | None:
        """All input, cached or not."""
        if self.input is None and self.cache_read is None and self.cache_write is None:
            return None
        return (self.input or 0) + (self.cache_read or 0) + (self.cache_write or 0)

    @property
    def total_output(self) -> int | None:
        """All output, reasoning included."""
        if self.output is None and self.reasoning is None:
            return None
        return (self.output or 0) + (self.reasoning or 0)

    @property
    def total(self) -> int | None:
        read, written = self.total_input, self.total_output
        return None if read is None and written is None else (read or 0) + (written or 0)


def single_request(usage: Usage) -> Iteration:
    """Return the tokens of an answer for which the provider made one request."""
    return Iteration(
        "message",
        input=usage.input or 0,
        cache_read=usage.cache_read or 0,
        cache_write=usage.cache_write or 0,
        output=usage.total_output or 0,
        cache_write_1h=usage.cache_write_1h or 0,
    )


def _add_counts(counts: dict[str, int], others: dict[str, int]) -> dict[str, int]:
    if not counts or not others:
        return counts or others
    return {name: counts.get(name, 0) + others.get(name, 0) for name in {**counts, **others}}


class TokenLogprob(msgspec.Struct, frozen=True, omit_defaults=True):
    """A token of an answer and its log-probability."""

    token: str
    logprob: float
    top: list["TokenLogprob"] = []
    """The most likely tokens at this place."""


class Cost(msgspec.Struct, frozen=True, omit_defaults=True):
    """Money for a usage. `None` where the price of the model is not known."""

    usd: float | None = None
    source: str | None = None
    """`provider` (billed figure in the response) or `catalogue` (list price)."""
