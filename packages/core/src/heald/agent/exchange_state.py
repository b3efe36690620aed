"""The states of an exchange and the transitions between them."""

from enum import Enum


class ExchangeState(Enum):
    """The states of an exchange."""

    NEW = "new"
    QUEUED = "queued"  # it waits for the running exchange, and the log has the event of that
    RUNNING = "running"
    ANSWERED = "answered"  # the final answer is complete; no further turn follows
    LIMITED = "limited"  # a budget is used up
    TIMED_OUT = "timed out"  # the time budget is used up, and the task was cancelled
    CANCELLED = "cancelled"
    CLOSED = "closed"  # its last event is published
    DELIVERED = "delivered"  # its last event was delivered, or never will be

    __hash__ = object.__hash__  # that of Enum is Python code, and an exchange looks its states up a dozen times


_S = ExchangeState
TRANSITIONS: dict[ExchangeState, frozenset[ExchangeState]] = {
    _S.NEW: frozenset({_S.QUEUED, _S.RUNNING, _S.CANCELLED}),
    _S.QUEUED: frozenset({_S.RUNNING, _S.CANCELLED}),
    _S.RUNNING: frozenset({_S.ANSWERED, _S.LIMITED, _S.TIMED_OUT, _S.CANCELLED, _S.CLOSED}),
    _S.ANSWERED: frozenset({_S.LIMITED, _S.TIMED_OUT, _S.CANCELLED, _S.CLOSED}),
    _S.LIMITED: frozenset({_S.CANCELLED, _S.CLOSED}),
    _S.TIMED_OUT: frozenset({_S.CANCELLED, _S.CLOSED}),
    _S.CANCELLED: frozenset({_S.CLOSED}),
    _S.CLOSED: frozenset({_S.DELIVERED}),
    _S.DELIVERED: frozenset(),
}
