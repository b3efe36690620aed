"""What all servers on one store share: their limits and what was spent, also after a restart."""

from collections.abc import AsyncIterator

import pytest

from heald.core.turn import Usage
from heald.sessions.leases import Lease
from heald.sessions.session_info import SessionInfo
from heald.sessions.shared_store import SharedStore
from heald_nodes.postgres.store import PostgresStore
from heald_server.access.usage_meters import UsageMeters
from heald_server.http.errors import ApiError
from heald_server.server_limits import ServerLimits
from usage_events import response


@pytest.fixture
async def stores(postgres_url: str) -> AsyncIterator[list[SharedStore]]:
    """Two nodes of one store."""
    made = [PostgresStore(postgres_url, node=name) for name in ("one", "two")]
    yield list(made)
    for store in made:
        await store.close()


async def test_spending_on_one_node_counts_on_the_other_and_after_a_restart(stores: list[SharedStore]) -> None:
    limits = ServerLimits(tokens_per_day=100)
    here, there = [UsageMeters(limits, store=store) for store in stores]
    here.usage_reactor("ann", "ses_a")(response("ses_a", Usage(input=60, output=50), 0.1))
    await here.close()
    for owner in ("ann", "bob"):
        await there.refresh(owner)
    with pytest.raises(ApiError, match="tokens of the day are used up") as caught:
        there.check_exchange("ann")
    assert int(caught.value.headers["Retry-After"]) > 23 * 3600
    there.check_exchange("bob")
    restarted = UsageMeters(limits, store=stores[0])
    await restarted.refresh("ann")
    with pytest.raises(ApiError, match="used up"):
        restarted.check_exchange("ann")


async def test_an_unknown_price_on_one_node_counts_on_the_other(stores: list[SharedStore]) -> None:
    here, there = [UsageMeters(ServerLimits(usd_per_day=5.0), store=store) for store in stores]
    here.usage_reactor("ann", "ses_a")(response("ses_a", Usage(input=1), None))
    await here.close()
    await there.refresh("ann")
    with pytest.raises(ApiError, match="price is not known"):
        there.check_exchange("ann")


async def test_exchanges_at_once_are_counted_over_all_nodes(stores: list[SharedStore]) -> None:
    meters = UsageMeters(ServerLimits(exchanges=2), store=stores[1])
    leases: list[Lease] = []
    for number in range(2):
        await stores[0].create(SessionInfo(id=f"ses_{number}", owner="ann"))
        leases.append(await stores[0].acquire(f"ses_{number}", "x"))
        await stores[0].append(leases[-1], [], work="running")
    await meters.refresh("ann")
    with pytest.raises(ApiError, match="2 exchanges run"):
        meters.check_exchange("ann")
    await stores[0].append(leases[0], [], work="idle")
    await meters.refresh("ann")
    meters.check_exchange("ann")
