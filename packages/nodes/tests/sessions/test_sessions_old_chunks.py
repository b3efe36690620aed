"""A chunk of version 0.1 in PostgreSQL is read under the present names of its fields."""

from heald.core.envelope import decode_event
from heald_check import check_log
from heald_nodes.postgres.chunks import decode_chunk, pack_lines, pack_runs
from old_log import OLD_EXCHANGE


def no_blob(digest: str) -> bytes:
    raise AssertionError(digest)


def test_a_chunk_with_old_names() -> None:
    events = list(decode_chunk(1, *pack_lines(OLD_EXCHANGE), no_blob))
    assert events == [decode_event(line) for line in OLD_EXCHANGE]
    assert check_log(events) == []


def test_a_chunk_with_old_names_that_was_thinned_out() -> None:
    assert list(decode_chunk(1, *pack_runs([(line, 0) for line in OLD_EXCHANGE]), no_blob)) == [
        decode_event(line) for line in OLD_EXCHANGE
    ]
