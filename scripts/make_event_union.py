"""Writes the union of typed events, for type checkers, from the payload classes.

`make docs` runs it; a test checks that the file is up to date.
"""

from pathlib import Path

from heald.core.envelope import PAYLOADS
from heald.core.events import Unknown

ROOT = Path(__file__).resolve().parents[1]
UNION = ROOT / "packages" / "core" / "src" / "heald" / "core" / "typed_event.py"

_HEAD = '''"""Typed events, for type checkers: `event.type == "text_delta"` narrows `event.data`.

Made by scripts/make_event_union.py. At run time every event is an `Event`, and this module is not loaded.
"""

from typing import TYPE_CHECKING, Generic, Literal

from heald.core import {modules}
from heald.core.envelope import EventHead

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    _Name = TypeVar("_Name", bound=str, covariant=True, default=str)
else:
    from typing import TypeVar

    _Name = TypeVar("_Name", bound=str, covariant=True)

_Data = TypeVar("_Data", bound=payload.Payload, covariant=True)


class EventOf(EventHead, Generic[_Data, _Name], frozen=True):
    """An event with data of one type: `EventOf[TextDelta]`, for annotations."""

    type: _Name
    data: _Data


Event = (
    {members}
)
'''


def union_text() -> str:
    payloads = [*PAYLOADS.items(), (Unknown.type, Unknown)]
    modules = {"payload", *(kind.__module__.rpartition(".")[2] for _, kind in payloads)}
    members = [
        f'EventOf[{kind.__module__.rpartition(".")[2]}.{kind.__name__}, Literal["{name}"]]' for name, kind in payloads
    ]
    return _HEAD.format(modules=", ".join(sorted(modules)), members="\n    | ".join(members))


def main() -> None:
    UNION.write_text(union_text(), "utf-8")


if __name__ == "__main__":
    main()
