"""What a turn used and what it cost. Buckets are disjoint; `None` means unknown, which is not zero."""

import msgspec


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens of one or more model requests. The buckets add up: no token is in two of them."""

    input: int | None = None
    """Input that was neither read from nor written to a cache."""
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    """Visible output: text and tool calls."""
    reasoning: int | None = None

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input=_add(self.input, other.input),
            cache_read=_add(self.cache_read, other.cache_read),
            cache_write=_add(self.cache_write, other.cache_write),
            output=_add(self.output, other.output),
            reasoning=_add(self.reasoning, other.reasoning),
        )

    @property
    def total_input(self) -> int | None:
        """All input, cached or not."""
        return _add(_add(self.input, self.cache_read), self.cache_write)

    @property
    def total_output(self) -> int | None:
        """All output, reasoning included."""
        return _add(self.output, self.reasoning)

    @property
    def total(self) -> int | None:
        return _add(self.total_input, self.total_output)


class Cost(msgspec.Struct, frozen=True, omit_defaults=True):
    """Money for a usage. `None` where the price of the model is not known."""

    usd: float | None = None
    source: str | None = None
    """Who says so: `provider` (billed figure in the answer) or `catalogue` (list price)."""


def _add(a: int | None, b: int | None) -> int | None:
    if a is None:
        return b
    return a if b is None else a + b
