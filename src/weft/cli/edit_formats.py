"""Remembers how the models of the user's own servers change files, as `weft conform` found it."""

from contextlib import suppress
from pathlib import Path

from weft.agent.engine import AgentEngine
from weft.config.paths import data_folder, data_path
from weft.core.json import as_object, loads
from weft.providers.factory import find
from weft.providers.model import Model

_FILE = "edit_formats.json"
_MOST = 200
_TEXT = "text"


def keep_format(model: Model, *, writes_text: bool) -> None:
    """Keep whether a model of a server changes files by text, because its calls do not work."""
    kept = _read(data_path() / _FILE)
    if kept.pop(_key(model), None) is None and not writes_text:
        return
    if writes_text:
        kept[_key(model)] = _TEXT
    import json  # for `weft conform` only

    latest = dict(list(kept.items())[-_MOST:])
    with suppress(OSError):  # the finding was printed; it is only not remembered
        (data_folder() / _FILE).write_text(json.dumps(latest, indent=2) + "\n", "utf-8")


def use_kept_format(engine: AgentEngine, model: object) -> None:
    """Let an engine that may choose write files as it was found to work with this model."""
    model = find(model) if isinstance(model, str) else model
    if engine.edit_format != "auto" or not isinstance(model, Model):
        return
    if _read(data_path() / _FILE).get(_key(model)) == _TEXT:
        engine.edit_format = "text"


def describe_format(engine: AgentEngine, setting: str) -> str:
    """Describe in one line why a model writes files as text; nothing if it calls tools."""
    if not engine.edits_as_text:
        return ""
    name = engine.models.name
    if setting == "text":
        return f"{name} writes files as text, as --edit-format text asks."
    if engine.edit_format == "text":
        reason = "because `weft conform` found that its calls of tools do not work"
    else:
        reason = "because small models call tools badly"
    return f"{name} writes files as text, {reason}; --edit-format tools changes that."


def _key(model: Model) -> str:
    return f"{model.base_url.rstrip('/')} {model.name}"


def _read(path: Path) -> dict[str, object]:
    with suppress(OSError, ValueError):
        return dict(as_object(loads(path.read_bytes())))
    return {}
