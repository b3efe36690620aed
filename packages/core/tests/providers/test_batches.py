"""Turns in batches: submitted together, polled, mapped back, resumed after an interruption, at half the price."""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

import heald
from batch_provider import BatchProvider, whole_answer
from heald.core.errors import HealdError, InvalidRequest
from heald.core.retry import Retry
from heald.core.turn import Usage
from heald.providers.batch_journal import BatchJournal
from heald.providers.batch_queue import BatchQueue, use_batches
from heald.testing.server import Reply, ScriptedServer
from heald.wires.registry import WIRES
from heald.wires.request import Quirks

BATCHED = [name for name, wire in WIRES.items() if "batches" in wire.features]
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "gemini": "/models/m:batchGenerateContent"}
FAST: dict[str, Any] = {"poll_seconds": 0.01, "quiet_seconds": 0.05}


def echo(wire: str) -> Any:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        text = str(body.get("messages") or body.get("input") or body.get("contents"))
        if "wrong" in text:
            return {"error": {"type": "invalid_request_error", "message": "no such thing"}}
        word = next(word for word in ("one", "two", "three", "Hi") if word in text)
        return whole_answer(wire, text=f"You wrote {word}.")

    return answer


def batches(folder: Path) -> AbstractAsyncContextManager[None]:
    return use_batches(BatchQueue(BatchJournal(folder / "j.jsonl"), **FAST))


def model_at(server: ScriptedServer, wire: str) -> heald.Model:
    return heald.Model("m", wire=wire, base_url=f"{server.url}/v1", api_key="secret-key-1234")


async def ask(model: heald.Model, *words: str, **options: Any) -> list[Any]:
    async def ask_word(word: str) -> Any:
        async with heald.Agent(model, **options) as agent:
            return await agent.run(word)

    return await asyncio.gather(*(ask_word(word) for word in words), return_exceptions=True)


@pytest.mark.parametrize("wire", BATCHED)
async def test_requests_that_wait_together_are_one_batch(wire: str, tmp_path: Path) -> None:
    provider = BatchProvider(wire, echo(wire))
    seen: list[str] = []
    async with ScriptedServer(provider) as server:
        queue = BatchQueue(BatchJournal(tmp_path / "j.jsonl"), on_change=seen.append, **FAST)
        async with use_batches(queue):
            done = await ask(model_at(server, wire), "one", "two", "three")
        assert all("secret-key-1234" in str(request.headers) for request in server.requests)
    assert [turn.text for turn in done] == ["You wrote one.", "You wrote two.", "You wrote three."]
    ((name, entries),) = provider.batches.items()
    assert len(entries) == len({entry["custom_id"] for entry in entries}) == 3
    for entry in entries:
        body = entry["params"] if wire == "messages" else entry["body"]
        assert body.get("model") == (None if wire == "gemini" else "m")
        assert "stream" not in body
        assert "stream_options" not in body
        if wire not in ("messages", "gemini"):
            assert (entry["method"], entry["url"]) == ("POST", PATHS[wire])
    assert provider.endpoints == ([] if wire == "messages" else [PATHS[wire]])
    assert seen[0] == f"batch {name}: 0 of 3 answered"
    assert seen[-1] == f"batch {name}: 3 of 3 answered"


@pytest.mark.parametrize("wire", BATCHED)
async def test_a_tool_call_continues_in_the_next_batch(wire: str, tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        has_result = "it is cold" in str(body)
        return (
            whole_answer(wire, text="Cold.") if has_result else whole_answer(wire, call=("weather", {"city": "Oslo"}))
        )

    @heald.tool
    async def weather(city: str) -> str:
        """Weather of a city."""
        return f"In {city} it is cold"

    provider = BatchProvider(wire, answer)
    async with ScriptedServer(provider) as server, batches(tmp_path):
        (done,) = await ask(model_at(server, wire), "Hi", tools=[weather])
    assert (done.text, len(provider.batches)) == ("Cold.", 2)


@pytest.mark.parametrize("wire", BATCHED)
async def test_an_interrupted_run_goes_on_and_submits_nothing_twice(wire: str, tmp_path: Path) -> None:
    provider = BatchProvider(wire, echo(wire))
    provider.is_stuck = True
    journal = tmp_path / "j.jsonl"
    async with ScriptedServer(provider) as server:
        model = model_at(server, wire)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2), use_batches(BatchQueue(BatchJournal(journal), **FAST)):
                await ask(model, "one", "two")
        assert len(provider.ids) == 2
        provider.is_stuck = False
        with journal.open("ab") as file:
            file.write(b'{"request": "cut o')
        async with use_batches(BatchQueue(BatchJournal(journal), **FAST)):
            done = await ask(model, "one", "two", "three")
        assert [turn.text for turn in done] == ["You wrote one.", "You wrote two.", "You wrote three."]
        assert len(provider.ids) == 3
        requests = len(server.requests)
        async with use_batches(BatchQueue(BatchJournal(journal), **FAST)):
            done = await ask(model, "one", "two", "three")
        assert [turn.text for turn in done] == ["You wrote one.", "You wrote two.", "You wrote three."]
        assert len(server.requests) == requests  # all answers are in the journal


@pytest.mark.parametrize("wire", BATCHED)
async def test_one_request_that_fails_does_not_fail_the_others(wire: str, tmp_path: Path) -> None:
    async with ScriptedServer(BatchProvider(wire, echo(wire))) as server, batches(tmp_path):
        good, bad = await ask(model_at(server, wire), "one", "wrong")
    assert good.text == "You wrote one."
    assert isinstance(bad, HealdError)
    assert "no such thing" in str(bad)


async def test_a_later_run_submits_what_failed_once_more(tmp_path: Path) -> None:
    provider = BatchProvider("messages", echo("messages"))
    async with ScriptedServer(provider) as server:
        for _ in range(2):
            async with batches(tmp_path):
                good, bad = await ask(model_at(server, "messages"), "one", "wrong")
            assert good.text == "You wrote one."
            assert isinstance(bad, HealdError)
    assert [len(entries) for entries in provider.batches.values()] == [2, 1]


async def test_a_request_that_expired_is_submitted_once_more(tmp_path: Path) -> None:
    provider = BatchProvider("messages", echo("messages"))
    provider.expires = True
    async with ScriptedServer(provider) as server, batches(tmp_path):
        (done,) = await ask(model_at(server, "messages"), "one", retry=Retry(attempts=2, base=0))
    assert (done.text, len(provider.batches)) == ("You wrote one.", 2)
    assert len(set(provider.ids)) == 2


@pytest.mark.parametrize("wire", ["chat", "gemini"])
async def test_a_batch_that_fails_as_a_whole(wire: str, tmp_path: Path) -> None:
    provider = BatchProvider(wire, echo(wire))
    provider.fails_whole = True
    async with ScriptedServer(provider) as server, batches(tmp_path):
        (bad,) = await ask(model_at(server, wire), "one")
    assert "line 1 is wrong" in str(bad)


async def test_a_submission_that_is_refused(tmp_path: Path) -> None:
    refusal = Reply.json({"error": {"type": "authentication_error", "message": "bad key"}}, 401)
    async with ScriptedServer(lambda _: refusal) as server, batches(tmp_path):
        (bad,) = await ask(model_at(server, "messages"), "one")
    assert "bad key" in str(bad)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("wire", "quirks", "problem"),
    [
        ("converse", Quirks(), "The converse wire has no batches"),
        ("gemini", Quirks(without=["batches"]), "The provider vertex has no such batches"),
    ],
)
async def test_batches_that_do_not_exist_are_refused(wire: str, quirks: Quirks, problem: str, tmp_path: Path) -> None:
    async with ScriptedServer([]) as server, use_batches(BatchQueue(BatchJournal(tmp_path / "j.jsonl"), **FAST)):
        model = heald.Model("m", wire=wire, base_url=server.url, provider="vertex", quirks=quirks)
        (bad,) = await ask(model, "one")
    assert isinstance(bad, InvalidRequest)
    assert problem in str(bad)


async def test_half_the_price(tmp_path: Path) -> None:
    model = heald.Model(
        "claude-sonnet-4-5", wire="messages", base_url="https://example.com/v1", provider="anthropic", api_key="k"
    )
    session = heald.providers.open_provider_session(model)
    used = Usage(input=1_000_000, output=1_000_000)
    listed = session.cost(used).usd
    assert listed is not None
    async with use_batches(BatchQueue(BatchJournal(tmp_path / "j.jsonl"))):
        assert session.cost(used).usd == pytest.approx(listed / 2)


async def test_a_journal_of_something_else_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text("my diary\nof today\n")
    with pytest.raises(heald.HealdError, match="line 1 is not from a batch"):
        BatchJournal(path)
    assert path.read_text() == "my diary\nof today\n"
