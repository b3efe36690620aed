"""The handlers of a reactor by event type.

A reactor is a function for all events, an object with methods such as `on_text_delta` or `onTextDelta`, or a mapping
from such names, or from event types, to functions.
"""

from collections.abc import Callable, Mapping
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any, cast

from weft.core.envelope import PAYLOADS, Event
from weft.core.errors import ConfigurationError
from weft.core.lazy import lazy_pattern

Handler = Callable[[Event], object]
_ALL = "event"
_HANDLER = lazy_pattern(r"on(_|[A-Z])")


def handler_names(kinds: "Mapping[str, object]") -> dict[str, str]:
    """The event type of every name that a handler may have, `event` for the one of all other events."""
    names: dict[str, str] = {}
    for kind in (*kinds, _ALL):
        words = kind.split("_")
        names |= {f"on_{kind}": kind, "on" + "".join(word.capitalize() for word in words): kind}
    return {kind: kind for kind in kinds} | names


_NAMES = handler_names(PAYLOADS)


def read_handlers(reactor: object) -> tuple[dict[str, Handler], Handler | None]:
    """Return the handlers of a reactor by event type, and the one for all other events."""
    if isinstance(reactor, Mapping):
        handlers = read_handler_mapping(cast("Mapping[object, Any]", reactor), _NAMES)
        return handlers, handlers.pop(_ALL, None)
    if isinstance(reactor, FunctionType | MethodType | BuiltinMethodType):
        return {}, cast(Handler, reactor)
    if isinstance(reactor, type):
        reactor = reactor()
    handlers = read_handler_methods(reactor, _NAMES)
    everything = handlers.pop(_ALL, None) or (cast(Handler, reactor) if callable(reactor) else None)
    if not handlers and everything is None:
        raise TypeError(f"{type(reactor).__name__} has no handler such as on_text_delta, and cannot be called.")
    return handlers, everything


def read_handler_mapping(given: "Mapping[object, Any]", names: "Mapping[str, str]") -> dict[str, Handler]:
    """The handlers of a mapping by event type."""
    handlers: dict[str, Handler] = {}
    for name, handler in given.items():
        kind = names.get(name) if isinstance(name, str) else None
        if kind is None:
            raise unknown_handler(str(name), names)
        if not callable(handler):
            raise ConfigurationError(f"The handler {name!r} is a {type(handler).__name__}; give a function.")
        if kind in handlers:
            raise ConfigurationError(f"There are two handlers of {kind!r}; give one.")
        handlers[kind] = handler
    if not handlers:
        raise ConfigurationError("There is no handler in the mapping; give one such as onTextDelta.")
    return handlers


def read_handler_methods(reactor: object, names: "Mapping[str, str]") -> dict[str, Handler]:
    """The handlers of an object by event type. A method with almost the name of a handler is refused."""
    handlers: dict[str, Handler] = {}
    for name, kind in names.items():
        if name != kind and kind not in handlers and callable(handler := getattr(reactor, name, None)):
            handlers[kind] = handler
    for name in dir(reactor):
        if name not in names and _HANDLER.match(name) and _find_nearest(name, names, 0.8):
            raise unknown_handler(name, names)
    return handlers


def unknown_handler(name: str, names: "Mapping[str, str]") -> ConfigurationError:
    near = _find_nearest(name, names, 0.0)
    return ConfigurationError(f"There is no handler {name[:60]!r}; the nearest name is {near[0]!r}.")


def _find_nearest(name: str, names: "Mapping[str, str]", likeness: float) -> list[str]:
    from difflib import get_close_matches  # for mistakes only

    return get_close_matches(name, names, 1, likeness)
