"""The contract of a store: tests that every store passes.

The tests of a store import all of this module and define a fixture `store`, which yields an empty one.
"""

import asyncio
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec
import pytest

from heald.core.envelope import Event
from heald.core.events import UserMessage
from heald.core.messages import Image, user_message
from heald.sessions.leases import Lease, new_holder
from heald.sessions.session_info import SessionInfo
from heald.sessions.store import EncodedEvents, Store, SubmitStore
from heald.sessions.store_errors import Fenced, NoSuchBlob, NoSuchSession, SessionBusy, SessionExists, StoreError
from sessions_bench import event, events, leased, log_of

# --- the log ---------------------------------------------------------------------------------------------------------


async def test_what_is_appended_is_read(store: Store) -> None:
    lease = await leased(store)
    await store.append(lease, events("ses_a", 1, 3))
    await store.append(lease, events("ses_a", 4, 2))
    assert await log_of(store, "ses_a") == events("ses_a", 1, 5)
    assert (await store.info("ses_a")).last_seq == 5


async def submit(store: SubmitStore, lease: Lease, log: Sequence[Event], **options: Any) -> EncodedEvents:
    done: asyncio.Future[EncodedEvents] = asyncio.get_running_loop().create_future()

    def on_done(encoded: EncodedEvents, error: Exception | None) -> None:
        done.set_result(encoded) if error is None else done.set_exception(error)

    store.submit_events(lease, log, on_done, **options)
    return await done


async def test_deltas_that_are_submitted_are_appended_or_refused(store: Store) -> None:
    if not isinstance(store, SubmitStore):
        pytest.skip("this store has no tasks to save")
    lease, other = await leased(store), await leased(store, "ses_b")
    outcomes = await asyncio.gather(
        submit(store, lease, events("ses_a", 1, 3)),
        submit(store, other, events("ses_b", 5, 1)),
        return_exceptions=True,
    )
    assert not isinstance(outcomes[0], BaseException)
    assert isinstance(outcomes[1], StoreError)
    await submit(store, lease, events("ses_a", 4, 1))
    assert await log_of(store, "ses_a") == events("ses_a", 1, 4)
    assert await log_of(store, "ses_b") == []
    assert (await store.info("ses_a")).last_seq == 4
    await store.acquire("ses_a", "another", force=True)
    with pytest.raises(Fenced):
        await submit(store, lease, events("ses_a", 5, 1))
    assert len(await log_of(store, "ses_a")) == 4


async def test_events_are_submitted_with_their_blobs_work_and_title(store: Store) -> None:
    if not isinstance(store, SubmitStore):
        pytest.skip("this store has no tasks to save")
    lease = await leased(store)
    digest = sha256(b"picture").hexdigest()
    await submit(store, lease, events("ses_a", 1, 2), blobs={digest: b"picture"}, work="running", title="Hello")
    info = await store.info("ses_a")
    assert (info.title, info.work, info.last_seq) == ("Hello", "running", 2)
    assert await store.blob("ses_a", digest) == b"picture"
    await submit(store, lease, events("ses_a", 3, 1), work="idle", title="Another")
    info = await store.info("ses_a")
    assert (info.title, info.work) == ("Hello", "idle")
    with pytest.raises(StoreError):
        await submit(store, lease, events("ses_a", 9, 1), work="running", title="Gap")
    assert await log_of(store, "ses_a") == events("ses_a", 1, 3)
    assert (await store.info("ses_a")).work == "idle"


async def test_reading_from_the_middle(store: Store) -> None:
    lease = await leased(store)
    await store.append(lease, events("ses_a", 1, 10))
    assert [e.seq for e in await store.read("ses_a", after=4)] == [5, 6, 7, 8, 9, 10]
    assert [e.seq for e in await store.read("ses_a", after=4, upto=6)] == [5, 6]
    assert [e.seq for e in await store.read("ses_a", after=4, limit=2)] == [5, 6]
    assert not await store.read("ses_a", after=10)
    assert not await store.read("ses_a", after=99)


@pytest.mark.parametrize("seqs", [[2], [1, 1], [1, 3], [0], [2, 1]])
async def test_a_gap_is_refused_and_nothing_is_kept(store: Store, seqs: list[int]) -> None:
    lease = await leased(store)
    with pytest.raises(StoreError):
        await store.append(lease, [event("ses_a", seq) for seq in seqs])
    assert await log_of(store, "ses_a") == []
    assert (await store.info("ses_a")).last_seq == 0


async def test_an_event_of_another_session_is_refused(store: Store) -> None:
    lease = await leased(store)
    with pytest.raises(StoreError, match="does not belong"):
        await store.append(lease, [event("ses_b", 1)])


async def test_an_epoch_above_the_writers_is_refused(store: Store) -> None:
    lease = await leased(store)
    with pytest.raises(StoreError, match="epoch"):
        await store.append(lease, [event("ses_a", 1, epoch=lease.epoch + 1)])


async def test_large_content_comes_back_whole(store: Store) -> None:
    lease = await leased(store)
    payload = UserMessage(user_message("x" * 3_000_000, Image(data="A" * 2_000_000), "\ud800 half" * 30_000))
    await store.append(lease, [event("ses_a", 1, payload), event("ses_a", 2, payload)])
    assert [e.data for e in await log_of(store, "ses_a")] == [payload, payload]


async def test_appends_of_many_sessions_at_once(store: Store) -> None:
    names = [f"ses_{n}" for n in range(20)]
    leases = [await leased(store, name) for name in names]
    for first in (1, 4, 7):
        await asyncio.gather(*(store.append(lease, events(lease.session, first, 3)) for lease in leases))
    for name in names:
        assert await log_of(store, name) == events(name, 1, 9)


async def test_one_bad_append_hurts_no_other(store: Store) -> None:
    leases = [await leased(store, f"ses_{n}") for n in range(8)]
    first = [7 if n == 3 else 1 for n in range(8)]
    outcomes = await asyncio.gather(
        *(store.append(lease, events(lease.session, seq, 2)) for lease, seq in zip(leases, first, strict=True)),
        return_exceptions=True,
    )
    assert [isinstance(outcome, StoreError) for outcome in outcomes] == [n == 3 for n in range(8)]
    assert [len(await log_of(store, f"ses_{n}")) for n in range(8)] == [0 if n == 3 else 2 for n in range(8)]


# --- leases ----------------------------------------------------------------------------------------------------------


async def test_a_session_has_one_writer(store: Store) -> None:
    await store.create(SessionInfo(id="ses_a"))
    await store.acquire("ses_a", new_holder())
    with pytest.raises(SessionBusy, match="open elsewhere"):
        await store.acquire("ses_a", new_holder())


async def test_the_epoch_grows_with_each_lease(store: Store) -> None:
    await store.create(SessionInfo(id="ses_a"))
    for epoch in (1, 2, 3):
        lease = await store.acquire("ses_a", new_holder())
        assert lease.epoch == epoch == (await store.info("ses_a")).epoch
        await store.release(lease)


async def test_anyone_who_was_replaced_is_fenced_off(store: Store) -> None:
    old = await leased(store)
    await store.append(old, events("ses_a", 1, 1))
    new = await store.acquire("ses_a", new_holder(), force=True)
    with pytest.raises(Fenced, match="opened elsewhere"):
        await store.append(old, events("ses_a", 2, 1))
    with pytest.raises(Fenced):
        await store.renew(old)
    await store.release(old)
    await store.append(new, events("ses_a", 2, 1, epoch=2))
    assert [e.epoch for e in await log_of(store, "ses_a")] == [1, 2]


async def test_a_released_lease_writes_no_more(store: Store) -> None:
    lease = await leased(store)
    await store.release(lease)
    with pytest.raises(Fenced):
        await store.append(lease, events("ses_a", 1, 1))


async def test_a_lease_that_ran_out_may_be_accepted_and_one_that_is_renewed_not(store: Store) -> None:
    await store.create(SessionInfo(id="ses_a"))
    lease = await store.acquire("ses_a", new_holder(), seconds=0.0)
    lease = await store.renew(lease, seconds=60.0)
    with pytest.raises(SessionBusy):
        await store.acquire("ses_a", new_holder())
    await store.renew(lease, seconds=0.0)
    assert (await store.acquire("ses_a", new_holder())).epoch == 2


async def test_the_lease_of_a_dead_process_may_be_accepted(store: Store) -> None:
    await store.create(SessionInfo(id="ses_a"))
    host, _, started, nonce = new_holder().split("/")
    await store.acquire("ses_a", f"{host}/{2**22 + 7}/{started}/{nonce}")
    assert (await store.acquire("ses_a", new_holder())).epoch == 2
    await store.acquire("ses_a", f"elsewhere/1/{started}/{nonce}", force=True)
    with pytest.raises(SessionBusy):
        await store.acquire("ses_a", new_holder())


# --- sessions --------------------------------------------------------------------------------------------------------


async def test_what_is_reported_about_a_session(store: Store) -> None:
    await store.create(SessionInfo(id="ses_a", title="One", parent="ses_z", parent_seq=7, settings={"model": "m"}))
    info = await store.info("ses_a")
    assert (info.title, info.parent, info.parent_seq, info.settings) == ("One", "ses_z", 7, {"model": "m"})
    assert info.created > 0
    await store.configure("ses_a", {"model": "n"})
    await store.rename("ses_a", "Two", only_untitled=True)
    assert (await store.info("ses_a")).title == "One"
    await store.rename("ses_a", "Two")
    info = await store.info("ses_a")
    assert (info.title, info.settings) == ("Two", {"model": "n"})


async def test_an_id_is_used_once(store: Store) -> None:
    await store.create(SessionInfo(id="ses_a"))
    with pytest.raises(SessionExists, match="already"):
        await store.create(SessionInfo(id="ses_a"))


async def test_what_is_not_there(store: Store) -> None:
    for attempt in (
        store.info("ses_x"),
        store.read("ses_x"),
        store.rename("ses_x", ""),
        store.configure("ses_x", {}),
        store.delete("ses_x"),
        store.acquire("ses_x", "test"),
        store.put_blob("ses_x", b""),
        store.blob("ses_x", ""),
    ):
        with pytest.raises(NoSuchSession, match="no session 'ses_x'"):
            await attempt


async def test_pages_hold_every_session_once_the_last_changed_first(store: Store) -> None:
    for n in range(11):
        await store.create(SessionInfo(id=f"ses_{n:02}", created=1.0, updated=1.0 + n // 2))
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = await store.list(limit=3, after=cursor)
        seen += [info.id for info in page.sessions]
        cursor = page.next
        if cursor is None:
            break
    assert seen == sorted((f"ses_{n:02}" for n in range(11)), key=lambda name: (-(int(name[4:]) // 2), name))


@pytest.mark.parametrize(
    ("search", "count"),
    [("straße", 1), ("STRASSE", 1), ("100%", 1), ("%", 1), ("_", 0), ("'; --", 1), ("", 3), ("nothing", 0)],
)
async def test_search_is_for_what_stands_there(store: Store, search: str, count: int) -> None:
    for n, title in enumerate(["Eine Straße", "100% sure", "it's '; -- here"]):
        await store.create(SessionInfo(id=f"ses_{n}", title=title))
    assert len((await store.list(search=search)).sessions) == count


@pytest.mark.parametrize("cursor", ["", "x", "1:ses", "0x1p9999999:s", "nan:ses", "' OR 1=1"])
async def test_a_cursor_that_is_none(store: Store, cursor: str) -> None:
    await store.create(SessionInfo(id="ses_a"))
    try:
        assert len((await store.list(after=cursor)).sessions) <= 1
    except StoreError as error:
        assert "cursor" in str(error)  # noqa: PT017


async def test_delete_deletes_the_log(store: Store) -> None:
    lease = await leased(store)
    await store.append(lease, events("ses_a", 1, 3))
    await store.delete("ses_a")
    with pytest.raises(NoSuchSession):
        await store.append(lease, events("ses_a", 4, 1))
    assert (await store.list()).sessions == []
    await leased(store)
    assert await log_of(store, "ses_a") == []


# --- blobs -----------------------------------------------------------------------------------------------------------


async def test_blobs_are_found_by_their_hash(store: Store) -> None:
    await leased(store)
    digest = await store.put_blob("ses_a", b"some bytes")
    assert digest == sha256(b"some bytes").hexdigest() == await store.put_blob("ses_a", b"some bytes")
    assert await store.blob("ses_a", digest) == b"some bytes"


async def test_a_blob_belongs_to_its_sessions(store: Store) -> None:
    for name in ("ses_a", "ses_b", "ses_c"):
        await leased(store, name)
    digest = await store.put_blob("ses_a", b"shared")
    await store.put_blob("ses_b", b"shared")
    with pytest.raises(NoSuchBlob):
        await store.blob("ses_c", digest)
    await store.delete("ses_a")
    assert await store.blob("ses_b", digest) == b"shared"


async def test_blobs_go_with_the_append_or_not_at_all(store: Store) -> None:
    lease = await leased(store)
    digest = sha256(b"content").hexdigest()
    with pytest.raises(StoreError):
        await store.append(lease, events("ses_a", 2, 1), {digest: b"content"})
    with pytest.raises(NoSuchBlob):
        await store.blob("ses_a", digest)
    with pytest.raises(StoreError, match="SHA-256"):
        await store.append(lease, events("ses_a", 1, 1), {digest: b"another"})
    await store.append(lease, events("ses_a", 1, 1), {digest: b"content"})
    assert await store.blob("ses_a", digest) == b"content"


# --- drafts ----------------------------------------------------------------------------------------------------------


async def test_a_draft_is_there_for_its_writer_alone(store: Store) -> None:
    await store.create(SessionInfo(id="ses_a", title="Copy"), draft=True)
    lease = await store.acquire("ses_a", new_holder())
    await store.append(lease, events("ses_a", 1, 3))
    assert (await store.list()).sessions == []
    with pytest.raises(NoSuchSession):
        await store.info("ses_a")
    for force in (False, True):
        with pytest.raises(NoSuchSession):
            await store.acquire("ses_a", new_holder(), force=force)
    with pytest.raises(SessionExists):
        await store.create(SessionInfo(id="ses_a"))
    assert not await store.abandoned()
    await store.finish(lease)
    assert [info.title for info in (await store.list()).sessions] == ["Copy"]
    assert (await store.info("ses_a")).last_seq == 3
    await store.release(lease)
    await store.acquire("ses_a", new_holder())
    assert not await store.abandoned()


async def test_drafts_of_writers_that_are_deleted_are_abandoned(store: Store) -> None:
    await store.create(SessionInfo(id="ses_new"), draft=True)  # about to be written
    await store.create(SessionInfo(id="ses_old", updated=1.0), draft=True)  # its writer died before it began
    await store.create(SessionInfo(id="ses_late"), draft=True)
    late = await store.acquire("ses_late", "elsewhere/1/1/x", seconds=0.0)
    await store.create(SessionInfo(id="ses_busy"), draft=True)
    await store.acquire("ses_busy", "elsewhere/1/1/x")
    await store.create(SessionInfo(id="ses_whole", updated=1.0))
    assert sorted(await store.abandoned()) == ["ses_late", "ses_old"]
    await store.delete("ses_late")
    with pytest.raises(NoSuchSession):
        await store.finish(late)


async def test_only_the_newest_writer_finishes_a_draft(store: Store) -> None:
    await store.create(SessionInfo(id="ses_a"), draft=True)
    lease = await store.acquire("ses_a", new_holder())
    with pytest.raises(Fenced):
        await store.finish(msgspec.structs.replace(lease, epoch=lease.epoch + 1))
    with pytest.raises(NoSuchSession):
        await store.info("ses_a")
