"""Conditions and columns of the table of sessions that several queries share."""

from collections.abc import Sequence
from typing import Any

from weft.core.json import JsonObject, as_object, loads
from weft.sessions.postgres.schema import NOW
from weft.sessions.shared import NODE_SECONDS
from weft.sessions.store import SessionInfo, StoreCorrupt

INFO = "id, owner, kind, title, created, updated, last_seq, epoch, parent, parent_seq, cause, work, settings"
_NAMES = INFO.split(", ")

_LOST_SECONDS = NODE_SECONDS / 2
_ALIVE = f"""EXISTS (SELECT 1 FROM nodes n WHERE n.name = s.node AND n.expires > {NOW}
    AND (n.backend = 0 OR n.expires > {NOW} + {NODE_SECONDS - _LOST_SECONDS}
        OR EXISTS (SELECT 1 FROM pg_stat_get_activity(n.backend))))"""
"""A node is dead `NODE_SECONDS` after its last heartbeat, or half of that if the connection of its heartbeats is closed
too, as it is when its process was killed."""
_RESTART_SECONDS = 2 * NODE_SECONDS
_JUDGED = f"extract(epoch FROM pg_postmaster_start_time())::float8 + {_RESTART_SECONDS} < {NOW}"
"""After a restart of the database every node needs the time for a heartbeat before it can be judged dead."""
NODE_DEAD = f"(s.node <> '' AND $1::boolean AND {_JUDGED} AND NOT {_ALIVE})"
"""The node of a session is dead. The first parameter of the query is whether this node may judge others."""
FREE = f"(s.holder = '' OR s.expires <= {NOW} OR {NODE_DEAD})"
CLAIMABLE = f"""(s.work <> 'idle' AND NOT s.draft AND s.cause IS NULL AND s.not_before <= {NOW}
    AND CASE WHEN s.holder = '' THEN s.node = '' OR {NODE_DEAD} ELSE s.expires <= {NOW} OR {NODE_DEAD} END)"""


def read_info(row: Sequence[Any], *, is_listed: bool = False) -> SessionInfo:
    *head, settings = row[: len(_NAMES)]
    try:
        parsed = as_object(loads(settings))
    except ValueError:
        if is_listed:  # one damaged session does not hide the others
            return SessionInfo(**dict(zip(_NAMES, head, strict=False)))
        raise StoreCorrupt("The settings of the session are damaged; restore the database.") from None
    return SessionInfo(**dict(zip(_NAMES, head, strict=False)), settings=parsed)


def folder_of(settings: JsonObject) -> str | None:
    """Return the name of the folder that a session works in, if it works in one."""
    folder = settings.get("workspace")
    return folder if isinstance(folder, str) else None
