"""The handlers of a reactor by event type.

A reactor is a function for all events, or an object with methods such as `on_text_delta`; `on_event` is the method for
all other events.
"""

from collections.abc import Callable
from types import BuiltinMethodType, FunctionType, MethodType
from typing import cast

from heald.core.envelope import PAYLOADS, Event
from heald.core.errors import ConfigurationError

Handler = Callable[[Event], object]
_ALL = "on_event"
_LIKENESS = 0.8  # of a method's name to that of a handler, from which on it counts as a mistake


def read_handlers(reactor: object) -> tuple[dict[str, Handler], Handler | None]:
    """Return the handlers of a reactor by event type, and the one for all other events."""
    if isinstance(reactor, FunctionType | MethodType | BuiltinMethodType):
        return {}, cast(Handler, reactor)
    names = {f"on_{kind}": kind for kind in PAYLOADS}
    handlers: dict[str, Handler] = {}
    for name, kind in names.items():
        if callable(handler := getattr(reactor, name, None)):
            handlers[kind] = handler
    _check_names(reactor, [*names, _ALL])
    others: object = getattr(reactor, _ALL, None) or reactor
    if callable(others):
        return handlers, cast(Handler, others)
    if not handlers:
        raise ConfigurationError(
            f"An object of type {type(reactor).__name__} has no handler; subscribe a function, or an object with "
            "methods such as on_text_delta."
        )
    return handlers, None


def _check_names(reactor: object, names: list[str]) -> None:
    """Raise ConfigurationError if a method almost has the name of a handler, or that of an agentx client."""
    camel_case = {f"on{name.removeprefix('on_').title().replace('_', '')}": name for name in names}
    for name in dir(reactor):
        if name in camel_case:
            raise ConfigurationError(
                f"There is no handler {name!r}; name it {camel_case[name]!r}, or subscribe it with heald_server.react, "
                "which gives it the events of the agentx dialect."
            )
        if not name.startswith("on_") or name in names:
            continue
        from difflib import get_close_matches  # for mistakes only

        for nearest in get_close_matches(name, names, 1, _LIKENESS):
            raise ConfigurationError(f"There is no handler {name[:60]!r}; the nearest name is {nearest!r}.")
