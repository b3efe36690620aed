"""The handlers of an agentx reactor by event type.

A reactor is an object with methods such as `onTextDelta` or `on_text_delta`, or a mapping from such names, or from
event types, to functions.
"""

from collections.abc import Callable, Mapping
from typing import Any

from heald.core.errors import ConfigurationError
from heald.core.lazy import lazy_pattern

Handler = Callable[[Any], object]
_ALL = "event"
_HANDLER = lazy_pattern(r"on(_|[A-Z])")


def handler_names(kinds: "Mapping[str, object]") -> dict[str, str]:
    """The event type of every name that a handler may have, `event` for the one of all other events."""
    names: dict[str, str] = {}
    for kind in (*kinds, _ALL):
        words = kind.split("_")
        names |= {f"on_{kind}": kind, "on" + "".join(word.capitalize() for word in words): kind}
    return {kind: kind for kind in kinds} | names


def read_handler_mapping(reactor: "Mapping[object, Any]", names: "Mapping[str, str]") -> dict[str, Handler]:
    """The handlers of a mapping by event type."""
    handlers: dict[str, Handler] = {}
    for name, handler in reactor.items():
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
