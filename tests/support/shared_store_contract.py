"""The contract of a store that nodes share: work, claims, news, spending and records.

The tests of a store import all of this module and define a fixture `store`, which yields an empty one.
"""

import asyncio

import pytest

from heald.sessions.leases import Lease
from heald.sessions.news import News
from heald.sessions.session_info import SessionInfo
from heald.sessions.shared_store import SharedStore
from heald.sessions.store_errors import Fenced, NoSuchSession
from heald.sessions.work import Work
from sessions_bench import events, leased


async def with_work(store: SharedStore, session: str, work: Work = "running", owner: str = "") -> Lease:
    await store.heartbeat()
    await store.create(SessionInfo(id=session, owner=owner))
    lease = await store.acquire(session, "test")
    await store.append(lease, events(session, 1, 2), work=work)
    return lease


async def test_work_of_a_released_session_is_claimed_once(store: SharedStore) -> None:
    lease = await with_work(store, "ses_a")
    assert await store.claim_work(10) == []
    await store.release(lease)
    assert await store.claim_work(10) == ["ses_a"]
    assert await store.claim_work(10) == []
    assert (await store.info("ses_a")).epoch == lease.epoch + 1


async def test_a_claim_fences_the_old_holder(store: SharedStore) -> None:
    lease = await with_work(store, "ses_a")
    await store.release(lease)
    await store.claim_work(10)
    with pytest.raises(Fenced):
        await store.append(lease, events("ses_a", 3, 1))


async def test_sessions_without_work_and_delegates_are_not_claimed(store: SharedStore) -> None:
    idle = await leased(store, "ses_idle")
    await store.append(idle, events("ses_idle", 1, 1), work="idle")
    await store.create(SessionInfo(id="ses_delegate", parent="ses_idle", cause="call_1"))
    delegate = await store.acquire("ses_delegate", "test")
    await store.append(delegate, events("ses_delegate", 1, 1), work="running")
    for lease in (idle, delegate):
        await store.release(lease)
    assert await store.claim_work(10) == []


async def test_an_append_without_work_keeps_it(store: SharedStore) -> None:
    lease = await with_work(store, "ses_a", "waiting")
    await store.append(lease, events("ses_a", 3, 1))
    await store.release(lease)
    assert await store.claim_work(10) == ["ses_a"]


async def test_two_claims_at_once_share_the_work(store: SharedStore) -> None:
    names = {f"ses_{number}" for number in range(20)}
    for name in names:
        await store.release(await with_work(store, name))
    claims = await asyncio.gather(store.claim_work(15), store.claim_work(15))
    claimed = [session for claim in claims for session in claim] + list(await store.claim_work(20))
    assert sorted(claimed) == sorted(names)


async def test_the_holder_of_a_session(store: SharedStore) -> None:
    await store.heartbeat()
    lease = await leased(store)
    assert await store.find_holder("ses_a") == store.node
    await store.release(lease)
    assert await store.find_holder("ses_a") == ""
    with pytest.raises(NoSuchSession):
        await store.find_holder("ses_none")


async def test_running_sessions_are_counted_by_owner(store: SharedStore) -> None:
    await with_work(store, "ses_a", "running", "ann")
    await with_work(store, "ses_b", "waiting", "ann")
    await with_work(store, "ses_c", "idle", "ann")
    await with_work(store, "ses_d", "running", "bob")
    assert (await store.count_running("ann"), await store.count_running("bob")) == (2, 1)


async def test_sessions_with_work_are_admitted_up_to_the_limit(store: SharedStore) -> None:
    await store.heartbeat()
    leases = [await _held(store, f"ses_{number}", "ann") for number in range(8)]
    other = await _held(store, "ses_other", "bob")
    counts = await asyncio.gather(*(store.admit_work(lease.session, "ann", limit=3) for lease in leases))
    assert sum(count < 3 for count in counts) == 3
    assert await store.count_running("ann") == 3
    assert await store.admit_work(other.session, "bob", limit=1) == 0
    admitted = [lease for lease, count in zip(leases, counts, strict=True) if count < 3]
    assert await store.admit_work(admitted[0].session, "ann", limit=3) == 2  # it counts already
    await store.append(admitted[0], events(admitted[0].session, 1, 1), work="idle")
    refused = next(lease for lease in leases if lease not in admitted)
    assert await store.admit_work(refused.session, "ann", limit=3) == 2


async def _held(store: SharedStore, session: str, owner: str) -> Lease:
    await store.create(SessionInfo(id=session, owner=owner))
    return await store.acquire(session, "test")


async def test_news_of_an_append(store: SharedStore) -> None:
    got: asyncio.Queue[News] = asyncio.Queue()
    unsubscribe = store.subscribe_news(lambda news: got.put_nowait(news) if news.topic == "events" else None)
    lease = await leased(store)
    seq = 1
    async with asyncio.timeout(60):
        while True:  # a subscription may begin a moment later
            await store.append(lease, events("ses_a", seq, 2))
            seq += 2
            try:
                news = await asyncio.wait_for(got.get(), 0.5)
                break
            except TimeoutError:
                continue
    assert (news.session, news.epoch) == ("ses_a", lease.epoch)
    assert news.seq < seq
    unsubscribe()


async def test_spending_is_added_by_owner(store: SharedStore) -> None:
    await store.record_spending("ann", tokens=10, usd=0.5)
    await store.record_spending("ann", tokens=5, usd=None)
    await store.record_spending("bob", tokens=7, usd=0.25)
    ann, bob = [await store.read_spending(owner, seconds=3600) for owner in ("ann", "bob")]
    assert (ann.tokens, ann.usd, ann.unpriced) == (15, 0.5, True)
    assert (bob.tokens, bob.usd, bob.unpriced) == (7, 0.25, False)
    assert (await store.read_spending("eve", seconds=3600)).tokens == 0


async def test_a_payment_with_a_name_counts_for_its_owner(store: SharedStore) -> None:
    await store.record_spending("ann", tokens=10, usd=0.5, payment="one")
    await store.record_spending("ann", tokens=5, usd=0.25, payment="two")
    assert (await store.read_spending("ann", seconds=3600)).tokens == 15


async def test_records(store: SharedStore) -> None:
    assert await store.put_record("secret", "cookies", b"one", only_new=True) == b"one"
    assert await store.put_record("secret", "cookies", b"two", only_new=True) == b"one"
    assert await store.put_record("secret", "cookies", b"three") == b"three"
    await store.put_record("token", "cookies", b"other kind")
    assert await store.read_records("secret") == {"cookies": b"three"}
    await store.delete_record("secret", "cookies")
    assert await store.read_records("secret") == {}


async def test_a_node_is_listed_while_it_beats(store: SharedStore) -> None:
    await store.heartbeat(folders=["site"], room=7)
    (node,) = await store.list_nodes()
    assert (node.name, node.folders, node.room) == (store.node, ("site",), 7)
