"""The retries, timeouts and settings of sessions that name none. A command sets them from its options."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

import msgspec

from heald.core.retry import Retry
from heald.core.turn import Settings
from heald.providers.watchdog import Timeouts

if TYPE_CHECKING:
    from heald.providers.batch_queue import BatchQueue
    from heald.providers.traffic_player import TrafficPlayer
    from heald.providers.traffic_recorder import TrafficRecorder

_defaults: ContextVar[tuple[Retry, Timeouts, Settings] | None] = ContextVar("heald_request_defaults", default=None)
_UNSET = Settings()
_RETRY = Retry()
_TIMEOUTS = Timeouts()
batches_of_context: "ContextVar[BatchQueue | None]" = ContextVar("heald_batch_queue", default=None)
"""The queue that turns are sent through, inside of `use_batches`."""
tape_of_context: "ContextVar[TrafficRecorder | TrafficPlayer | None]" = ContextVar("heald_tape", default=None)
"""The recording that is written or played, inside of `record` or `replay`."""


def default_retry() -> Retry:
    defaults = _defaults.get()
    return _RETRY if defaults is None else defaults[0]


def default_timeouts() -> Timeouts:
    defaults = _defaults.get()
    return _TIMEOUTS if defaults is None else defaults[1]


def complete_settings(settings: Settings) -> Settings:
    """Return the settings with the defaults for all that they leave open. Their own `extra` wins, member by member."""
    context_defaults = _defaults.get()
    if context_defaults is None or context_defaults[2] == _UNSET:
        return settings
    defaults = context_defaults[2]
    names = (name for name in Settings.__struct_fields__ if getattr(settings, name) == getattr(_UNSET, name))
    filled = {name: getattr(defaults, name) for name in names}
    if settings.extra:
        filled["extra"] = merge_members(defaults.extra, settings.extra)
    return msgspec.structs.replace(settings, **filled)


def merge_members(weak: Mapping[str, Any], strong: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two objects, inner objects member by member. The second one wins."""
    merged = dict(weak)
    for name, value in strong.items():
        current = merged.get(name)
        both = isinstance(current, dict) and isinstance(value, dict)
        merged[name] = merge_members(cast("dict[str, Any]", current), cast("dict[str, Any]", value)) if both else value
    return merged


@contextmanager
def request_defaults(retry: Retry, timeouts: Timeouts, settings: Settings = _UNSET) -> Generator[None]:
    """Set the defaults for all sessions that are opened inside the block, also by its tasks."""
    token = _defaults.set((retry, timeouts, settings))
    try:
        yield
    finally:
        _defaults.reset(token)
