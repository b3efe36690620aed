"""Retries and timeouts of requests to models: by flag, by variable, in `heald.toml`, and for the server."""

import asyncio
from json import loads
from pathlib import Path

import pytest

import heald_server
from cli_bench import run, run_with, started
from heald.config.shared_tables import RetryTable, TimeoutsTable
from heald.core.errors import Overloaded
from heald.core.retry import Retry
from heald.providers.watchdog import Timeouts
from heald.testing.server import Hang, Pause, Reply, ScriptedServer

BUSY = Reply.json({"error": {"message": "busy"}}, 503)
PINGS = Reply([*[b": ping\n\n", Pause(0.02)] * 200, Hang()])


async def test_attempts_by_flag(capsys: pytest.CaptureFixture[str]) -> None:
    async with ScriptedServer(lambda _: BUSY) as server:
        ran = await run(capsys, *run_with(server, "Hi", "--retry-attempts", "3", "--retry-base", "0"))
        assert len(server.requests) == 3
    assert ran.code == 1
    assert "Attempt 2 in 0.0 s." in ran.err


async def test_attempts_by_variable(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEALD_RETRY_ATTEMPTS", "1")
    async with ScriptedServer(lambda _: BUSY) as server:
        ran = await run(capsys, *run_with(server, "Hi"))
        assert len(server.requests) == 1
    assert ran.code == 1


async def test_a_stall_that_only_pings(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "config" / "heald").mkdir(parents=True)
    file = tmp_path / "config" / "heald" / "heald.toml"
    file.write_text("[timeouts]\ncontent = 0.2\n[retry]\nsilent_attempts = 2\nbase = 0\n")
    async with ScriptedServer(lambda _: PINGS) as server:
        ran = await run(capsys, *run_with(server, "Hi"))
        assert len(server.requests) == 2
    assert ran.code == 1
    assert "brought nothing for 0.2 s" in ran.err


async def test_a_long_wait_says_when_to_come_back(capsys: pytest.CaptureFixture[str]) -> None:
    refusal = Reply.json({"error": {"message": "slow down"}}, 429, {"retry-after": "3600"})
    async with ScriptedServer([refusal]) as server:
        ran = await run(capsys, *run_with(server, "Hi"))
        assert len(server.requests) == 1
    assert (ran.code, ran.out) == (1, "")
    assert "come back in 3600 s, at " in ran.err


async def test_a_wrong_value(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEALD_TIMEOUTS_CONTENT", "0")
    ran = await run(capsys, "run", "--model", "openai/gpt-5", "Hi")
    assert (ran.code, ran.err) == (
        2,
        "heald: The environment variable HEALD_TIMEOUTS_CONTENT must be a number above 0.\n",
    )


async def test_the_server_has_them_too(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _: BUSY) as provider:
        place = ["--model", "m", "--base-url", f"{provider.url}/v1", "--data", str(tmp_path / "data")]
        words = ["serve", "--port", "0", "--no-open", "--json", "--retry-attempts", "2", "--retry-base", "0", *place]
        async with started(*words) as process:
            assert process.stdout is not None
            ready = loads(await asyncio.wait_for(process.stdout.readline(), 120))
            async with heald_server.connect(ready["url"], token=ready["token"]) as agent:
                with pytest.raises(Overloaded):
                    await asyncio.wait_for(agent.run("Hi"), 60)
        assert len(provider.requests) == 2


def test_the_defaults_are_those_of_the_library() -> None:
    from heald.config.keys import describe_keys

    for table, limits in ((RetryTable, Retry()), (TimeoutsTable, Timeouts())):
        declared = {name: key.default for name, key in describe_keys(table).items()}
        assert declared == {name: getattr(limits, name) for name in limits.__struct_fields__}
