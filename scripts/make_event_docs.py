"""Writes docs/events.md and docs/events.schema.json from the types. `make docs` runs it; a test sees to that."""

import inspect
import json
from pathlib import Path

import msgspec

from heald.core.envelope import PAYLOADS, Event, event_schema
from heald.core.payload import Payload

DOCS = Path(__file__).resolve().parents[1] / "docs"

_HEAD = """# Events

This page is made from the types by `make docs`; [events.schema.json](events.schema.json) is the JSON Schema.

An event is a payload with its place in a session's log: `{envelope}`. `type` and `layer` are those of its payload,
`data` is the payload. Unknown fields are ignored both ways; an event of an unknown type is kept as `Unknown`.

In an event about one call, `id` is the call's. Elsewhere a call is `call_id` and a message `message_id`; `call` and
`message` are the call and the message themselves. `block`, `approval`, `question`, `request` and `exchange` are ids.
Costs are `cost_usd`, in US dollars. A log of an earlier version, whose fields had other names, is read under these.
"""

_LAYERS = {
    "stream": "Increments while a model writes and tools run.",
    "state": "What the agent is doing.",
    "message": "Whole messages, for storing and showing.",
    "exchange": "One request and all that it took.",
}


def events_page() -> str:
    envelope = ", ".join(Event.__struct_fields__)
    parts = [_HEAD.format(envelope=envelope)]
    for layer, meaning in _LAYERS.items():
        parts.append(f"\n## {layer}\n\n{meaning}\n\n| type | fields | |\n|---|---|---|")
        parts += [_row(name, kind) for name, kind in PAYLOADS.items() if kind.layer == layer]
    return "\n".join(parts) + "\n"


def schema_text() -> str:
    return json.dumps(event_schema(), indent=1, sort_keys=True) + "\n"


def _row(name: str, kind: type[Payload]) -> str:
    fields = msgspec.structs.fields(kind)
    listed = ", ".join(f"`{field.encode_name}`" + ("" if field.required else "?") for field in fields)
    doc = kind.__doc__ if kind.__doc__ != kind.__mro__[1].__doc__ else ""
    return f"| `{name}` | {listed} | {' '.join(inspect.cleandoc(doc or '').split())} |"


def main() -> None:
    (DOCS / "events.md").write_text(events_page(), "utf-8")
    (DOCS / "events.schema.json").write_text(schema_text(), "utf-8")


if __name__ == "__main__":
    main()
