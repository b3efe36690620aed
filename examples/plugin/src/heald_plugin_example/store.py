"""A store: sessions in memory, and each event as a line of a file that other programs can follow.

`heald serve --store journal:///var/log/heald.jsonl`
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from heald.events import Event
from heald.sessions import Lease, MemoryStore


class JournalStore(MemoryStore):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    async def append(
        self, lease: Lease, events: Sequence[Event], blobs: Mapping[str, bytes] | None = None, **options: Any
    ) -> None:
        await super().append(lease, events, blobs, **options)
        with self._path.open("ab") as journal:
            journal.writelines(msgspec.json.encode(event) + b"\n" for event in events)


def open_journal(url: str, *, node: str = "", news: str = "") -> JournalStore:
    """Open `journal:///path`. A store in one process needs neither the name of a node nor a server of news."""
    return JournalStore(Path(urlsplit(url).path))
