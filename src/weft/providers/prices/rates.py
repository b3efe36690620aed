"""What tokens cost: dollars by kind of token, and the sum for a request.

A kind without a rate of its own costs what the wider kind costs: read from a cache, written to one, or part of a
picture, it is input all the same. Where no rate is wide enough, it costs nothing that the list knows of.
"""

from typing import NamedTuple

import msgspec


class Tokens(NamedTuple):
    """What one request used. The buckets are disjoint."""

    input: int = 0
    """Text that was neither read from a cache nor written to one."""
    cache_read: int = 0
    cache_write: int = 0
    image_input: int = 0
    output: int = 0
    image_output: int = 0

    @property
    def total_input(self) -> int:
        return self.input + self.cache_read + self.cache_write + self.image_input


class Tiered(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A rate that depends on how large a request is: the highest tier it reaches counts for all of its tokens."""

    base: float
    tiers: tuple[tuple[int, float], ...]
    """The input above which a rate begins, with the rate; the lowest first."""

    def at(self, total_input: int) -> float:
        for start, dollars in reversed(self.tiers):
            if total_input > start:
                return dollars
        return self.base


Rate = float | Tiered
"""Dollars for a million."""


class Rates(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What a model costs, at one time."""

    input: Rate | None = None
    cache_read: Rate | None = None
    cache_write: Rate | None = None
    image_input: Rate | None = None
    output: Rate | None = None
    image_output: Rate | None = None
    requests: Rate | None = None
    """Dollars for a thousand of them."""

    def dollars(self, tokens: Tokens) -> float:
        """The price of one request."""
        size = tokens.total_input
        fresh, said = _at(self.input, size, 0.0), _at(self.output, size, 0.0)
        millionths = (
            fresh * tokens.input
            + _at(self.cache_read, size, fresh) * tokens.cache_read
            + _at(self.cache_write, size, fresh) * tokens.cache_write
            + _at(self.image_input, size, fresh) * tokens.image_input
            + said * tokens.output
            + _at(self.image_output, size, said) * tokens.image_output
        )
        return millionths / 1_000_000 + _at(self.requests, size, 0.0) / 1000


def base_of(rate: Rate | None) -> float | None:
    """The rate of a small request."""
    return rate.base if isinstance(rate, Tiered) else rate


def _at(rate: Rate | None, total_input: int, otherwise: float) -> float:
    if rate is None:
        return otherwise
    return rate.at(total_input) if isinstance(rate, Tiered) else rate
