"""The type of events that hold nothing but a piece of text, made from the type of all events of a wire."""

from collections.abc import Mapping
from typing import Any

import msgspec


def restrict(kind: type[msgspec.Struct], needed: Mapping[str, Any], allowed: Mapping[str, Any] | None = None) -> Any:
    """Return a struct with the fields of another one. A `needed` field has the given type; one that is `allowed` may
    be left out; every other one must be null or left out. Anything else cannot be decoded to it."""
    others = {field.name: field.default for field in msgspec.structs.fields(kind) if field.name not in needed}
    optional = [(name, (allowed or {}).get(name), default) for name, default in others.items()]
    return msgspec.defstruct(f"{kind.__name__}TextOnly", [*needed.items(), *optional], gc=False)
