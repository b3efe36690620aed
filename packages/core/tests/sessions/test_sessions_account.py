"""Kill -9 while eight helpers run under a budget: the next process counts what they had used."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from account_scenario import REQUEST, SESSION, TOKENS, TURNS, USD

from heald.core.envelope import Event
from heald.core.events import ExchangeResponse, MessageDelta, MessageStop
from heald.core.turn import Usage
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_delegates, iterate_events
from heald_check import check_log

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a process kills itself")
SCENARIO = Path(__file__).parent / "account_scenario.py"


def _run(folder: Path, limit: str, *, kill: bool) -> int:
    command = [sys.executable, "-W", "error", str(SCENARIO), str(folder), limit, "kill" if kill else ""]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, env=environment, timeout=120, check=False).returncode


async def _read_logs(folder: Path) -> dict[str, list[Event]]:
    store = SqliteStore(folder / "sessions.db")
    try:
        sessions = [SESSION, *[info.id async for info in iterate_delegates(store, SESSION)]]
        return {name: [event async for event in iterate_events(store, name)] for name in sessions}
    finally:
        await store.close()


def _spent(logs: dict[str, list[Event]]) -> tuple[int, int]:
    """Return the tokens and the turns of all agents."""
    payloads = [event.data for log in logs.values() for event in log]
    tokens = sum(payload.usage.total or 0 for payload in payloads if isinstance(payload, MessageDelta))
    return tokens, sum(isinstance(payload, MessageStop) for payload in payloads)


@pytest.mark.parametrize("limit", ["usd", "tokens", "turns"])
async def test_a_continued_exchange_counts_what_its_helpers_had_used(tmp_path: Path, limit: str) -> None:
    assert _run(tmp_path, limit, kill=True) == -signal.SIGKILL
    tokens_before, turns_before = _spent(await _read_logs(tmp_path))
    assert tokens_before >= 2 * REQUEST
    assert turns_before >= 3
    assert _run(tmp_path, limit, kill=False) == 0
    logs = await _read_logs(tmp_path)
    for log in logs.values():
        assert not check_log(log)
    tokens, turns = _spent(logs)
    response = logs[SESSION][-1].data
    assert isinstance(response, ExchangeResponse)
    assert (response.status, response.limit) == ("limit", limit)
    if limit == "turns":
        assert turns == TURNS
    else:
        assert TOKENS <= tokens <= TOKENS + REQUEST
    assert response.delegated is not None
    helper_responses = [log[-1].data for name, log in logs.items() if name != SESSION]
    usages = [payload.usage for payload in helper_responses if isinstance(payload, ExchangeResponse)]
    assert response.delegated.total == sum(usages, Usage()).total
    if limit == "usd":
        assert response.cost_usd is not None
        assert USD <= response.cost_usd <= USD + REQUEST * 0.001
