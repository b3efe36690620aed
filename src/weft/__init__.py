"""Weft: language models call tools in a loop, and every token, call and file change streams to whoever watches."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.providers.factory import open_session
    from weft.providers.model import Model
    from weft.providers.recording import record, replay
    from weft.providers.retry import Retry, Timeouts
    from weft.providers.scripted import ScriptedModel

__version__ = "0.1.0"

__all__ = ["Model", "Retry", "ScriptedModel", "Timeouts", "open_session", "record", "replay"]

_HOMES = {
    "Model": "weft.providers.model",
    "Retry": "weft.providers.retry",
    "ScriptedModel": "weft.providers.scripted",
    "Timeouts": "weft.providers.retry",
    "open_session": "weft.providers.factory",
    "record": "weft.providers.recording",
    "replay": "weft.providers.recording",
}


def __getattr__(name: str) -> Any:
    """The front doors open when somebody knocks: `import weft` itself costs next to nothing."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value
