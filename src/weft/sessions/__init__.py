"""Sessions: conversations that outlive the process, each one a log in a store."""

from weft.core.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from weft.sessions.changes import ChangeRefused, Changes
    from weft.sessions.memory import MemoryStore
    from weft.sessions.open import open_store
    from weft.sessions.session import Session
    from weft.sessions.sessions import Sessions
    from weft.sessions.settings import SessionSettings
    from weft.sessions.sqlite import SqliteStore
    from weft.sessions.store import (
        BadArchive,
        Fenced,
        Lease,
        NoSuchSession,
        SessionBusy,
        SessionExists,
        SessionInfo,
        SessionPage,
        Store,
        StoreError,
    )

__all__ = [
    "BadArchive",
    "ChangeRefused",
    "Changes",
    "Fenced",
    "Lease",
    "MemoryStore",
    "NoSuchSession",
    "Session",
    "SessionBusy",
    "SessionExists",
    "SessionInfo",
    "SessionPage",
    "SessionSettings",
    "Sessions",
    "SqliteStore",
    "Store",
    "StoreError",
    "open_store",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "weft.sessions.changes": "ChangeRefused Changes",
        "weft.sessions.memory": "MemoryStore",
        "weft.sessions.open": "open_store",
        "weft.sessions.session": "Session",
        "weft.sessions.sessions": "Sessions",
        "weft.sessions.settings": "SessionSettings",
        "weft.sessions.sqlite": "SqliteStore",
        "weft.sessions.store": (
            "BadArchive Fenced Lease NoSuchSession SessionBusy SessionExists SessionInfo SessionPage Store StoreError"
        ),
    },
)
