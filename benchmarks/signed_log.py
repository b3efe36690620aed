"""Measures signed exports: signing, verifying and storing, in CPU time for each event.

    python -m benchmarks.signed_log [--events 100000]

Storing is measured with and without an earlier signature: the chain is computed at the export, so that both are equal.
"""

import argparse
import asyncio
import io
import tempfile
from pathlib import Path
from time import process_time

from heald.core.envelope import Event
from heald.core.events import ConversationQueued, TextDelta
from heald.core.payload import Payload
from heald.sessions.session_info import SessionInfo
from heald.sessions.signed_archive import signed_lines, verify_archive
from heald.sessions.signing_key import SigningKey, read_or_create_key
from heald.sessions.sqlite import SqliteStore
from heald_check.proven_log import ProvenLog

_BATCH = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    asyncio.run(_measure(parser.parse_args().events))


async def _measure(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        key = read_or_create_key(Path(folder) / "signing.key")
        store = SqliteStore(Path(folder) / "sessions.db")
        try:
            _print("stored", count, await _append(store, "ses_first", count))
            begin = process_time()
            archive = await _sign(store, "ses_first", key)
            _print(f"signed, {len(archive):,} bytes", count, process_time() - begin)
            _print("stored in a store with signed sessions", count, await _append(store, "ses_second", count))
        finally:
            await store.close()
        log = ProvenLog()
        begin = process_time()
        verified = verify_archive(io.BytesIO(archive), log.add)
        log.exchanges()
        _print("verified", verified.signed.last_seq, process_time() - begin)


async def _sign(store: SqliteStore, session: str, key: SigningKey) -> bytes:
    return b"".join([line async for line in signed_lines(store, session, key)])


async def _append(store: SqliteStore, session: str, count: int) -> float:
    """Append events of which every second one is a delta. Returns the CPU time."""
    await store.create(SessionInfo(id=session))
    lease = await store.acquire(session, "benchmark")
    begin = process_time()
    for first in range(1, count + 1, _BATCH):
        await store.append(lease, [_event(session, seq) for seq in range(first, min(first + _BATCH, count + 1))])
    return process_time() - begin


def _event(session: str, seq: int) -> Event:
    data: Payload = TextDelta(0, "block", "some words of an answer ") if seq % 2 else ConversationQueued(seq)
    return Event(seq, f"{session}-1-{seq}", session, "exch_1", data.type, data.layer, float(seq), 1, data)


def _print(what: str, events: int, seconds: float) -> None:
    print(f"{what}: {events:,} events, {seconds:.3f} s of CPU, {seconds / events * 1e6:.2f} µs an event")


if __name__ == "__main__":
    main()
