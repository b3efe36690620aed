"""The handlers of a reactor by event type.

A reactor is a function for all events, or an object with methods such as `on_text_delta`; `on_event` is the method for
all other events.
"""

from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from types import BuiltinMethodType, FunctionType, MethodType
from typing import cast

from heald.core.envelope import PAYLOADS, Event
from heald.core.errors import ConfigurationError

Handler = Callable[[Event], object]
_ALL = "on_event"
_KINDS = {f"on_{kind}": kind for kind in PAYLOADS}  # by the name of the handler
_HANDLERS = [*_KINDS, _ALL]
_CAMEL_CASE = {f"on{name.removeprefix('on_').title().replace('_', '')}": name for name in _HANDLERS}
_LIKENESS = 0.8  # of a method's name to that of a handler, from which on it counts as a mistake


def read_handlers(reactor: object) -> tuple[dict[str, Handler], Handler | None]:
    """Return the handlers of a reactor by event type, and the one for all other events."""
    if isinstance(reactor, (FunctionType, MethodType, BuiltinMethodType)):
        return {}, cast(Handler, reactor)
    handlers: dict[str, Handler] = {}
    own_names = getattr(reactor, "__dict__", ())
    _check_names(own_names)
    for name in {*_class_handlers(type(reactor)), *(_KINDS.keys() & own_names)}:
        if callable(handler := getattr(reactor, name, None)):
            handlers[_KINDS[name]] = handler
    others: object = getattr(reactor, _ALL, None) or reactor
    if callable(others):
        return handlers, cast(Handler, others)
    if not handlers:
        raise ConfigurationError(
            f"An object of type {type(reactor).__name__} has no handler; subscribe a function, or an object with "
            "methods such as on_text_delta."
        )
    return handlers, None


@lru_cache(maxsize=256)
def _class_handlers(kind: type) -> Collection[str]:
    """Check the methods of a class of reactors, once, and return the handlers that it may have."""
    names = dir(kind)
    _check_names(names)
    return _KINDS.keys() if "__getattr__" in names else _KINDS.keys() & names


def _check_names(names: Iterable[str]) -> None:
    """Raise ConfigurationError if a method almost has the name of a handler, or that of an agentx client."""
    for name in names:
        if name in _CAMEL_CASE:
            raise ConfigurationError(
                f"There is no handler {name!r}; name it {_CAMEL_CASE[name]!r}, or subscribe it with "
                "heald_server.react, which gives it the events of the agentx dialect."
            )
        if not name.startswith("on_") or name in _HANDLERS:
            continue
        from difflib import get_close_matches  # for mistakes only

        for nearest in get_close_matches(name, _HANDLERS, 1, _LIKENESS):
            raise ConfigurationError(f"There is no handler {name[:60]!r}; the nearest name is {nearest!r}.")
