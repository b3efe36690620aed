"""Sessions: conversations that outlive the process, each one a log in a store."""

from heald.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from heald.sessions.changes import ChangeRefused, Changes, RestoredFiles
    from heald.sessions.fork_change import ForkChange
    from heald.sessions.leases import Lease
    from heald.sessions.memory import MemoryStore
    from heald.sessions.session import Session
    from heald.sessions.session_info import SessionInfo, SessionPage
    from heald.sessions.sessions import Sessions
    from heald.sessions.settings import SessionSettings
    from heald.sessions.shared_store import NotAnswered, NotHeld, SharedStore
    from heald.sessions.sqlite import SqliteStore
    from heald.sessions.store import Store
    from heald.sessions.store_errors import (
        BadArchive,
        BadCursor,
        DamagedFile,
        Fenced,
        ForgedArchive,
        HandedOver,
        NoSuchBlob,
        NoSuchSession,
        NotSigned,
        SessionBusy,
        SessionExists,
        StoreCorrupt,
        StoreError,
        StoreFull,
        StoreLocked,
        UnreadableEvent,
    )
    from heald.sessions.stores import open_store

__all__ = [
    "BadArchive",
    "BadCursor",
    "ChangeRefused",
    "Changes",
    "DamagedFile",
    "Fenced",
    "ForgedArchive",
    "ForkChange",
    "HandedOver",
    "Lease",
    "MemoryStore",
    "NoSuchBlob",
    "NoSuchSession",
    "NotAnswered",
    "NotHeld",
    "NotSigned",
    "RestoredFiles",
    "Session",
    "SessionBusy",
    "SessionExists",
    "SessionInfo",
    "SessionPage",
    "SessionSettings",
    "Sessions",
    "SharedStore",
    "SqliteStore",
    "Store",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreLocked",
    "UnreadableEvent",
    "open_store",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "heald.sessions.changes": "ChangeRefused Changes RestoredFiles",
        "heald.sessions.fork_change": "ForkChange",
        "heald.sessions.leases": "Lease",
        "heald.sessions.memory": "MemoryStore",
        "heald.sessions.stores": "open_store",
        "heald.sessions.session": "Session",
        "heald.sessions.session_info": "SessionInfo SessionPage",
        "heald.sessions.sessions": "Sessions",
        "heald.sessions.settings": "SessionSettings",
        "heald.sessions.shared_store": "NotAnswered NotHeld SharedStore",
        "heald.sessions.sqlite": "SqliteStore",
        "heald.sessions.store": "Store",
        "heald.sessions.store_errors": (
            "BadArchive BadCursor DamagedFile Fenced ForgedArchive HandedOver NoSuchBlob NoSuchSession NotSigned "
            "SessionBusy SessionExists StoreCorrupt StoreError StoreFull StoreLocked UnreadableEvent"
        ),
    },
)
