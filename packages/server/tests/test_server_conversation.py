"""What a client does first: make a session, ask, watch, look at what came of it."""

import asyncio
from pathlib import Path

import heald
from heald.core.events import ExchangeResponse
from heald.sessions.settings import SessionSettings
from heald_check.checker import check_log
from serving_parts import S, served


def _writes() -> heald.testing.ScriptedModel:
    page = S.call("create_file", path="index.html", content="<h1>Hi</h1>")
    return S([["Let me write. ", page], "Done.", "Again."], piece=4)


async def test_an_exchange_is_stored_streamed_and_can_be_looked_at(tmp_path: Path):
    async with served(tmp_path, _writes) as server:
        session = await server.session(title="First")
        accepted = await server.send(session, "Write a page.")
        response = await server.ended(session, accepted["exchange"])
        assert isinstance(response.data, ExchangeResponse)
        assert response.data.status == "completed"
        assert accepted["state"] == "started"
        log = await server.log(session)
        assert not check_log(log)
        async with server.client.get(f"/sessions/{session}/files/index.html") as answer:
            assert await answer.read() == b"<h1>Hi</h1>"
            assert answer.headers["Content-Disposition"].startswith("attachment")
        async with server.client.get(f"/sessions/{session}/messages") as answer:
            told = await answer.json()
        assert [message["role"] for message in told["messages"]] == ["user", "assistant", "tool", "assistant"]


async def test_fifty_duplicate_submits_make_one_exchange(tmp_path: Path):
    async with served(tmp_path, lambda: S(["Hello."])) as server:
        session = await server.session()
        answers = await asyncio.gather(*(server.send(session, client_request_id="same") for _ in range(50)))
        assert len({answer["exchange"] for answer in answers}) == 1
        assert sorted(answer["state"] for answer in answers) == ["repeated"] * 49 + ["started"]
        await server.ended(session, answers[0]["exchange"])
        log = await server.log(session)
        assert sum(event.type == "exchange_request" for event in log) == 1


async def test_a_chosen_mode_survives_a_change_of_another_setting(tmp_path: Path):
    async with served(tmp_path, lambda: S([]), defaults=SessionSettings(permissions="ask")) as server:
        session = await server.session(permissions="auto")
        async with server.client.patch(f"/sessions/{session}", json={"instructions": "Be brief."}) as answer:
            settings = (await answer.json())["settings"]
        assert (settings["instructions"], settings["permissions"]) == ("Be brief.", "auto")
