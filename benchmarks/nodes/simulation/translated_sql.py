"""The statements of the PostgreSQL store, as SQLite runs them.

Their conditions stay as they are: a fault in the SQL of a claim or of a lease is a fault in the simulation too.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property

from heald_nodes.postgres.chunks import TAIL
from heald_nodes.postgres.schema import MIGRATIONS, NOW, PACKED_SCHEMA, SERVING_SINCE

SERVER_VALUES = 3
"""The first parameters of every statement: the clock of the database, when it started, and the pid of the connection.
Those of the statement follow."""
_MINUTE = SERVER_VALUES + 6
"""The parameter of the second statement of a payment, behind those of the first one."""
_PLAIN = (
    (NOW, "?1"),
    (SERVING_SINCE, "?2"),
    ("pg_backend_pid()", "?3"),
    ("nodes n, pg_stat_get_activity(n.backend) WHERE", "nodes n JOIN backends b ON b.pid = n.backend WHERE"),
    ("position($3 IN title_key)", "instr(title_key, $3)"),
    ("current_schema()", "'public'"),
    ("getdatabaseencoding()", "'UTF8'"),
    ("to_regclass('schema_version')", "'schema_version'"),
    ("gen_random_uuid()", "'simulated'"),
    ("INSERT INTO commands VALUES", "INSERT INTO commands (id, session, body, expires) VALUES"),
    ("bool_or(", "max("),
    ("greatest(", "max("),
    ("least(", "min("),
    ("w.tail || s.tail", "CAST(w.tail || s.tail AS blob)"),
)
_PATTERNS = (
    (re.compile(r"\(\(\?1 - \$2::float8\) / 60\)::bigint"), "CAST(round((?1 - $2) / 60) AS INTEGER)"),
    (re.compile(r"\(\?1 / 60\)::bigint"), "CAST(round(?1 / 60) AS INTEGER)"),
    (re.compile(r"\s+FOR UPDATE(?: OF \w+)?(?: SKIP LOCKED)?"), ""),
    (re.compile(r"= ANY\((\$\d+)\)"), r"IN (SELECT value FROM json_each(\1))"),
    (re.compile(r"::(?:text|bigint|int|boolean|float8|bytea|integer)(?:\[\])?"), ""),
    (re.compile(r"\b(UPDATE|DELETE FROM) (\w+) ([a-z])\b"), r"\1 \2 AS \3"),
)
_ARGUMENT = re.compile(r"\$(\d+)")
_RETURNING = re.compile(r"\bRETURNING (?:\w\.\w+(?:, )?)+$")
_SERVED = re.compile(r"^WITH served AS \((UPDATE service .*?SKIP LOCKED\))\) (.*)$", re.DOTALL)
_APPEND = re.compile(r"AS w\(([^)]*)\).*?h AS \(\s*(UPDATE .*?)\s+RETURNING ", re.DOTALL)
_ROW = re.compile(r"\bw\.(\w+)")
_PAYMENT = re.compile(r"^WITH p AS \((.*? RETURNING minute)\) INSERT INTO spent (.*) SELECT (.*) FROM p ON (.*)$", re.S)
_DIALECT = (
    (re.compile(r"bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"), "INTEGER PRIMARY KEY AUTOINCREMENT"),
    (re.compile(r"\) (?:WITH \(fillfactor = \d+\)|PARTITION BY HASH \(session\))"), ")"),
    (re.compile(r"text\[\]"), "text"),
)
_CHUNKS_OF_MANY = f"""SELECT ?1, ?2, key, first_seq, codec, body FROM (
    SELECT s.key, f.last_seq, f.first_seq, f.codec, f.body FROM sessions s JOIN chunks f
    ON f.session = s.key WHERE s.id = ?1 AND f.last_seq > ?2
    UNION ALL SELECT key, last_seq, tail_after + 1, {TAIL}, tail FROM sessions
    WHERE id = ?1 AND last_seq > ?2 AND length(tail) > 0) ORDER BY last_seq LIMIT ?3"""
_ANCHORS = """SELECT ?1, ?2, codec, body FROM chunks WHERE session = ?1 AND last_seq >= ?2
    ORDER BY last_seq LIMIT 1"""
_BLOBS = """SELECT k.session, b.digest, b.data FROM session_blobs k JOIN blobs b USING (digest)
    WHERE k.session = ?1 AND k.digest = ?2"""
_PAIRED = (
    ("f.first_seq, f.codec, f.body FROM unnest($1", _CHUNKS_OF_MANY),
    ("CROSS JOIN LATERAL (SELECT codec, body FROM chunks", _ANCHORS),
    ("JOIN session_blobs k USING (session, digest)", _BLOBS),
)
"""Statements that join two lists of parameters, and what they select for one pair and the parameters that follow."""
_PARAMETER = re.compile(r"\?(\d+)")


def count_parameters(text: str) -> int:
    """Return how many parameters SQLite expects."""
    return max((int(number) for number in _PARAMETER.findall(text)), default=0)


@dataclass(frozen=True)
class TranslatedStatement:
    """A statement for SQLite. Some are several statements of one commit."""

    text: str
    writes: bool
    kind: str = "plain"
    """`plain`, `lock`, `notify`, `append`, `pairs` (once for each pair of the first two parameters), `payment`, or
    `nothing`."""
    after: str = ""
    """A statement that runs after it, and that the first one does not see."""
    columns: Mapping[str, int] = field(default_factory=dict[str, int])
    """The places of the parameters of an append, by their names."""
    lists_folders: bool = False
    """Its second column is a list."""

    @cached_property
    def count(self) -> int:
        """The number of its parameters."""
        return count_parameters(self.text)

    @cached_property
    def count_after(self) -> int:
        return count_parameters(self.after)


def _convert(text: str) -> str:
    for old, new in _PLAIN:
        text = text.replace(old, new)
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    text = _ARGUMENT.sub(lambda match: f"?{int(match[1]) + SERVER_VALUES}", text)
    return _RETURNING.sub(lambda match: re.sub(r"\b\w\.", "", match[0]), text.strip())


@cache
def translate(query: str) -> TranslatedStatement:
    """Translate a statement of the store."""
    if "pg_advisory_xact_lock" in query:
        return TranslatedStatement("", False, "lock")
    if query.startswith("SELECT pg_notify"):
        return TranslatedStatement("", True, "notify")
    if query.startswith(("CREATE ", "ALTER ")):
        return TranslatedStatement("", False, "nothing")
    pairs = next((text for start, text in _PAIRED if start in query), None)
    if pairs is not None:
        return TranslatedStatement(pairs, False, "pairs")
    if (served := _SERVED.match(query)) is not None:
        return TranslatedStatement(_convert(served[2]), True, after=_convert(served[1]))
    if "INSERT INTO chunks" in query and (append := _APPEND.search(query)) is not None:
        places = {name.strip(): place for place, name in enumerate(append[1].split(","))}
        update = _ROW.sub(
            lambda match: f"?{places[match[1]] + SERVER_VALUES + 1}",
            _convert(append[2]).replace("FROM w WHERE", "WHERE"),
        )
        return TranslatedStatement(f"{update} RETURNING key, id, epoch, last_seq", True, "append", columns=places)
    if (payment := _PAYMENT.match(query)) is not None:
        insert = f"INSERT INTO spent {payment[2]} SELECT {payment[3]} FROM (SELECT ?{_MINUTE} AS minute) WHERE true"
        return TranslatedStatement(_convert(payment[1]), True, "payment", after=_convert(f"{insert} ON {payment[4]}"))
    text = _convert(query)
    return TranslatedStatement(
        text,
        not text.startswith(("SELECT", "WITH RECURSIVE")),
        lists_folders="folders" in query and query.startswith("SELECT name"),
    )


def schema_statements() -> list[str]:
    """Return the statements that make the newest schema."""
    statements = [
        "CREATE TABLE schema_version (version integer PRIMARY KEY, readable_by integer NOT NULL, applied text)",
        "CREATE TABLE backends (pid integer PRIMARY KEY)",
    ]
    for migration in MIGRATIONS:
        for statement in migration.statements:
            if any(words in statement for words in ("PARTITION OF", "SET STORAGE", "CREATE INDEX")):
                continue  # tables of a few rows need no index
            for pattern, replacement in _DIALECT:
                statement = pattern.sub(replacement, statement)
            statements.append(_convert(statement))
        statements.append(f"INSERT INTO schema_version VALUES ({migration.version}, {PACKED_SCHEMA}, '')")
    return statements
