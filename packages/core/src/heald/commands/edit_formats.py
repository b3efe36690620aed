"""Remembers how the models of the user's own servers change files, as `heald conform` found out."""

from contextlib import suppress
from pathlib import Path

from heald.config.paths import data_folder, data_path
from heald.core.json import as_object, loads
from heald.providers.model import Model

_FILE = "edit_formats.json"
_MAX_MODELS = 200
_TEXT = "text"


def store_edit_format(model: Model, *, writes_text: bool) -> None:
    """Store whether a model of a server changes files by text, because its calls do not work."""
    formats = _read(data_path() / _FILE)
    if formats.pop(_key(model), None) is None and not writes_text:
        return
    if writes_text:
        formats[_key(model)] = _TEXT
    import json  # for `heald conform` only

    latest = dict(list(formats.items())[-_MAX_MODELS:])
    with suppress(OSError):  # the result was printed; it is only not remembered
        (data_folder() / _FILE).write_text(json.dumps(latest, indent=2) + "\n", "utf-8")


def writes_text(model: Model) -> bool:
    """Whether `heald conform` found that a model changes files by text only."""
    return _read(data_path() / _FILE).get(_key(model)) == _TEXT


def _key(model: Model) -> str:
    return f"{model.base_url.rstrip('/')} {model.name}"


def _read(path: Path) -> dict[str, object]:
    with suppress(OSError, ValueError):
        return dict(as_object(loads(path.read_bytes())))
    return {}
