"""The retries and timeouts of sessions that name none. A command sets them from its options."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from weft.core.retry import Retry
from weft.providers.watchdog import Timeouts

_defaults: ContextVar[tuple[Retry, Timeouts] | None] = ContextVar("weft_request_defaults", default=None)


def default_retry() -> Retry:
    found = _defaults.get()
    return Retry() if found is None else found[0]


def default_timeouts() -> Timeouts:
    found = _defaults.get()
    return Timeouts() if found is None else found[1]


@contextmanager
def request_defaults(retry: Retry, timeouts: Timeouts) -> Generator[None]:
    """Set the defaults for all sessions that are opened inside the block, also by its tasks."""
    token = _defaults.set((retry, timeouts))
    try:
        yield
    finally:
        _defaults.reset(token)
