"""The tables of a PostgreSQL store, their migrations, and the conditions that several queries share.

A migration runs once for all nodes. Each one names the oldest schema whose Heald can still work with it, so that the
nodes of a cluster can be replaced one by one.
"""

from dataclasses import dataclass

from heald.sessions.shared_store import HEARTBEAT_SECONDS, NODE_SECONDS
from heald.sessions.store_errors import StoreError

PARTITIONS = 16
_LOST_SECONDS = NODE_SECONDS / 2
_RESTART_SECONDS = 2 * NODE_SECONDS
_LONGEST_GAP = NODE_SECONDS / 2
"""Seconds without any heartbeat from which on the database was away."""
_FORGOTTEN_SECONDS = 10.0
_UPGRADE_SECONDS = 60.0
"""How long after its last heartbeat a node of an older Heald may still come back."""
NEWEST_CODEC = 6
"""The newest form of events: the packed tail of a log, in the row of its session."""


@dataclass(frozen=True, slots=True)
class PostgresMigration:
    """Statements that bring the schema to a version."""

    version: int
    readable_by: int
    """The oldest schema version whose Heald may still read and write."""
    statements: tuple[str, ...]


NOW = "extract(epoch FROM clock_timestamp())::float8"
"""The clock of the database. The clocks of nodes are in events only."""

_FIRST = (
    """
    CREATE TABLE sessions (
        key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id text NOT NULL UNIQUE,
        owner text NOT NULL,
        kind text NOT NULL,
        title text NOT NULL,
        title_key text NOT NULL,
        created float8 NOT NULL,
        updated float8 NOT NULL,
        last_seq bigint NOT NULL DEFAULT 0,
        epoch bigint NOT NULL,
        holder text NOT NULL DEFAULT '',
        node text NOT NULL DEFAULT '',
        expires float8 NOT NULL DEFAULT 0,
        not_before float8 NOT NULL DEFAULT 0,
        work text NOT NULL DEFAULT 'idle',
        folder text,
        parent text,
        parent_seq bigint,
        cause text,
        settings bytea NOT NULL,
        draft boolean NOT NULL,
        thinned bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 70)
    """,
    "CREATE INDEX sessions_by_update ON sessions (updated DESC, id)",
    "CREATE INDEX sessions_by_owner ON sessions (owner, updated DESC, id)",
    "CREATE INDEX sessions_by_parent ON sessions (parent) WHERE cause IS NOT NULL",
    "CREATE INDEX sessions_by_work ON sessions (work, node) WHERE work <> 'idle'",
    """
    CREATE TABLE chunks (
        session bigint NOT NULL,
        last_seq bigint NOT NULL,
        first_seq bigint NOT NULL,
        codec smallint NOT NULL,
        body bytea NOT NULL,
        PRIMARY KEY (session, last_seq)
    ) PARTITION BY HASH (session)
    """,
    *(
        f"CREATE TABLE chunks_{number} PARTITION OF chunks FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
        for number in range(PARTITIONS)
    ),
    *(f"ALTER TABLE chunks_{number} ALTER COLUMN body SET STORAGE EXTERNAL" for number in range(PARTITIONS)),
    "CREATE TABLE blobs (digest text PRIMARY KEY, data bytea NOT NULL)",
    """
    CREATE TABLE session_blobs (
        session bigint NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
        digest text NOT NULL,
        PRIMARY KEY (session, digest)
    )
    """,
    "CREATE INDEX session_blobs_by_digest ON session_blobs (digest)",
    """
    CREATE TABLE nodes (
        name text PRIMARY KEY,
        expires float8 NOT NULL,
        folders text[] NOT NULL,
        room integer NOT NULL,
        version text NOT NULL
    ) WITH (fillfactor = 50)
    """,
    """
    CREATE TABLE commands (
        id text PRIMARY KEY,
        session text NOT NULL,
        body bytea NOT NULL,
        expires float8 NOT NULL,
        accepted_by text,
        reply bytea
    )
    """,
    "CREATE INDEX commands_by_session ON commands (session) WHERE reply IS NULL",
    """
    CREATE TABLE spent (
        owner text NOT NULL,
        minute bigint NOT NULL,
        tokens bigint NOT NULL,
        usd float8 NOT NULL,
        unpriced boolean NOT NULL,
        PRIMARY KEY (owner, minute)
    )
    """,
    "CREATE TABLE records (kind text NOT NULL, name text NOT NULL, data bytea NOT NULL, PRIMARY KEY (kind, name))",
)

_SERVICE = (
    """
    CREATE TABLE service (
        id integer PRIMARY KEY,
        clock float8 NOT NULL,
        beat float8 NOT NULL,
        name text NOT NULL
    ) WITH (fillfactor = 10)
    """,
    f"INSERT INTO service VALUES (1, 0, {NOW}, gen_random_uuid())",
    "ALTER TABLE nodes ADD COLUMN lease float8",
    "CREATE TABLE payments (id text PRIMARY KEY, minute bigint NOT NULL)",
)
"""The clock and the name of the service, until when nodes live by the clock (null for nodes of an older Heald), and
what was counted as spent, so that it can be stored again when the answer was lost."""

_TAIL = (
    "ALTER TABLE sessions RENAME COLUMN last_seq TO earlier_last_seq",
    "ALTER TABLE sessions ADD COLUMN tail_after bigint NOT NULL DEFAULT 0",
    "ALTER TABLE sessions ADD COLUMN last_seq bigint NOT NULL DEFAULT 0",
    "ALTER TABLE sessions ADD COLUMN tail bytea NOT NULL DEFAULT ''",
    "ALTER TABLE sessions ALTER COLUMN tail SET STORAGE MAIN",
    "UPDATE sessions SET last_seq = earlier_last_seq",
    "ALTER TABLE sessions DROP COLUMN earlier_last_seq",
)
"""The last rows of a log, newest first, and the seq before them. The WAL of a changed row holds what lies between its
first and its last change, so the end of the log and its tail are neighbours, and a tail grows at its beginning."""

MIGRATIONS = (
    PostgresMigration(1, 1, _FIRST),
    PostgresMigration(2, 1, ("ALTER TABLE nodes ADD COLUMN backend integer NOT NULL DEFAULT 0",)),
    PostgresMigration(3, 3, ()),  # ids in events are called `message_id` and `call_id`
    PostgresMigration(4, 3, _SERVICE),
    PostgresMigration(5, 3, ("ALTER TABLE nodes ADD COLUMN codec integer NOT NULL DEFAULT 2",)),
    PostgresMigration(6, 3, _TAIL),
    PostgresMigration(7, 3, ()),  # tails are packed
)
"""The codec of a node is the newest form of events that it reads."""
ROWS_SCHEMA = 5
"""The oldest schema whose Heald reads chunks of rows."""
TAIL_SCHEMA = 6
"""The oldest schema whose Heald reads the tails of logs."""
PACKED_SCHEMA = 7
"""The oldest schema whose Heald reads packed tails."""
KNOWN = MIGRATIONS[-1].version


def check_version(version: int, readable_by: int) -> None:
    if readable_by > KNOWN:
        raise StoreError(
            f"The sessions were written by a newer Heald (schema {version}; this one knows {KNOWN}); "
            "install the newer one."
        )


def _served(gap: str) -> str:
    """How much of the time since the last heartbeat of any node counts.

    Nodes beat every second, so after a longer gap it was the database that was away, and its nodes could not show that
    they live. Such a gap counts the less the longer it was; a long one gives every node a second more than it had.
    """
    return f"greatest(least({gap}, {3 * _LONGEST_GAP} - 2 * ({gap})), {-HEARTBEAT_SECONDS})"


_GAP = f"({NOW} - beat)"
CLOCK = f"(SELECT clock + {_served(_GAP)} FROM service)"
"""The clock of the service: the time in which the database could be reached. Nodes live by it."""
ADVANCE_CLOCK = f"""UPDATE service SET clock = clock + {_served(_GAP)}, beat = {NOW} WHERE id IN (
    SELECT id FROM service WHERE abs({_GAP}) > {HEARTBEAT_SECONDS / 4} FOR UPDATE SKIP LOCKED)"""


def alive(name: str, seconds: float = 0.0) -> str:
    """The condition that a node lives, and does so for some seconds more without a heartbeat."""
    return f"""EXISTS (SELECT 1 FROM nodes n WHERE n.name = {name}
    AND CASE WHEN n.lease IS NULL THEN n.expires > {NOW} + {seconds} ELSE n.lease > {CLOCK} + {seconds} END)"""


ALL_READ_NEWEST = f"""NOT EXISTS (SELECT 1 FROM nodes o WHERE o.codec < {NEWEST_CODEC}
    AND o.expires > {NOW} - {_UPGRADE_SECONDS})"""
"""No node of an older Heald is left."""
_IS_CONNECTED = "EXISTS (SELECT 1 FROM nodes n, pg_stat_get_activity(n.backend) WHERE n.name = s.node)"
_IS_RECENT = f"EXISTS (SELECT 1 FROM nodes n WHERE n.name = s.node AND n.expires > {NOW} - {_FORGOTTEN_SECONDS})"
_NO_THREAD = "EXISTS (SELECT 1 FROM nodes n WHERE n.name = s.node AND n.backend = 0)"
_ALIVE = f"""({alive("s.node")} AND ($1::boolean OR {_IS_RECENT})
    AND ({alive("s.node", NODE_SECONDS - _LOST_SECONDS)} OR {_NO_THREAD} OR {_IS_CONNECTED}))"""
"""A node is dead `NODE_SECONDS` after its last heartbeat, or half of that if the connection of its heartbeats is closed
too, as it is when its process was killed."""
SERVING_SINCE = "extract(epoch FROM greatest(pg_postmaster_start_time(), pg_last_xact_replay_timestamp()))::float8"
"""When the database began to serve: its start, or the last commit that it got as a standby."""
_JUDGED = f"{SERVING_SINCE} + {_RESTART_SECONDS} < {NOW}"
"""After a restart of the database, or when a standby has taken over, every node needs the time for a heartbeat before
it can be judged dead."""
NODE_DEAD = f"(s.node <> '' AND {_JUDGED} AND NOT {_ALIVE})"
"""The node of a session is dead. The first parameter of the query is whether this process is a node. One that is not
does not advance the clock of the service, so it judges a node that was silent for long by the clock of the database."""
FREE = f"(s.holder = '' OR s.expires <= {NOW} OR {NODE_DEAD})"
CLAIMABLE = f"""(s.work <> 'idle' AND NOT s.draft AND s.cause IS NULL AND (NOT $1::boolean OR {alive("$2")})
    AND CASE WHEN s.holder = '' THEN s.not_before <= {NOW} OR (s.node <> $2 AND {NODE_DEAD})
        ELSE s.node <> $2 AND (s.expires <= {NOW} OR {NODE_DEAD}) END)"""
"""A session may be claimed by the node of the second parameter: one that lives itself, and does not hold the session. A
claim that was not followed by opening the session ends at `not_before`, also if its node lives."""
