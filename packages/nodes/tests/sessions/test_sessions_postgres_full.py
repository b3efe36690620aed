"""A database without room: what could not be released is released when there is room, and a node lives meanwhile."""

import pytest

from full_database import no_room
from heald.sessions.store_errors import StoreFull
from heald_nodes.postgres.store import PostgresStore
from shared_store_contract import with_work


async def test_a_session_that_could_not_be_released_is_free_when_there_is_room(postgres_url: str) -> None:
    holder, other = PostgresStore(postgres_url, node="one"), PostgresStore(postgres_url, node="two")
    for store in (holder, other):
        await store.heartbeat()
    lease = await with_work(holder, "ses_a")
    async with no_room(postgres_url, "sessions"):
        with pytest.raises(StoreFull, match="no room left; make room"):
            await holder.release(lease)
        await holder.heartbeat()  # it lives, though it cannot release the session
    assert await other.find_holder("ses_a") == "one"
    await holder.heartbeat()
    assert await other.claim_work(10) == ["ses_a"]
    for store in (holder, other):
        await store.close()


async def test_a_session_whose_notice_had_no_room_is_free_when_there_is(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder, other = PostgresStore(postgres_url, node="one"), PostgresStore(postgres_url, node="two")
    for store in (holder, other):
        await store.heartbeat()
    await holder.release(await with_work(holder, "ses_a"))

    async def publish(_: object) -> None:
        raise StoreFull("The database has no room left; make room, then open the session again.")

    with monkeypatch.context() as patched:
        patched.setattr(holder._news, "publish", publish)  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(StoreFull):
            await holder.acquire("ses_a", "a holder that learns nothing of it")
    assert await other.claim_work(10) == []
    await holder.heartbeat()
    assert await other.claim_work(10) == ["ses_a"]
    for store in (holder, other):
        await store.close()
