"""Webhooks of a real server: signed, retried with the same id, dead and replayed, found in the log after a crash."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from time import time
from typing import Any

import aiohttp
import pytest
from hook_receiver import HookReceiver, accept, receiving

import heald
from heald.sessions.settings import SessionSettings
from heald.sessions.sqlite import SqliteStore
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald_notify.delivery import Delivery
from heald_notify.notify_records import NotifyRecords
from heald_server.settings import ServerSettings
from serving_parts import OTHER, Script, Served, context_on, serving

S = heald.testing.ScriptedModel
FAST = (0.01, 0.01)


@asynccontextmanager
async def notifying(
    folder: Path, *scripts: Script, schedule: Sequence[float] = FAST, permissions: str = "auto", **settings: Any
) -> AsyncGenerator[Served]:
    context = context_on(
        SqliteStore(folder / "sessions.db"),
        {"m": scripts[0] if scripts else lambda: S(["Hello."] * 9)},
        settings=ServerSettings(port=0, **settings),
        defaults=SessionSettings(permissions=permissions, tools=["files", "ask"]),  # pyright: ignore[reportArgumentType]
    )
    context.protocol_options["notify"] = {"schedule": schedule}
    async with serving(context) as served:
        yield served


async def call(served: Served, method: str, path: str, status: int = 200, **body: Any) -> Any:
    async with served.client.request(method, path, json=body if method == "POST" else None) as answer:
        assert answer.status == status, await answer.text()
        return await answer.json() if answer.status != 204 else None


async def add(served: Served, receiver: HookReceiver, **body: Any) -> dict[str, Any]:
    return await call(served, "POST", "/webhooks", 201, url=receiver.url, **body)


async def deliveries(served: Served, hook: dict[str, Any], state: str) -> list[dict[str, Any]]:
    return (await call(served, "GET", f"/webhooks/{hook['id']}/deliveries?state={state}"))["deliveries"]


async def until(check: Callable[[], Any]) -> Any:
    async with asyncio.timeout(60):
        while not (value := await check()):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        return value


async def test_the_end_of_an_exchange_is_sent_signed(tmp_path: Path) -> None:
    async with receiving() as receiver, notifying(tmp_path, public_url="https://heald.example") as served:
        hook = await add(served, receiver)
        session = await served.session(model="m")
        await served.send(session, "Say hello.")
        (received,) = await receiver.wait_for(1)
        assert received.is_signed_by(hook["secret"])
        assert not received.is_signed_by("whsec_" + "A" * 40)
        assert abs(int(received.headers["webhook-timestamp"]) - time()) < 3600
        message = received.json
        assert message["type"] == "exchange.ended"
        assert message["data"]["status"] == "completed"
        assert message["data"]["link"] == f"https://heald.example/#/decide/{session}"
        (event,) = [event for event in await served.log(session) if event.type == "exchange_response"]
        assert (message["data"]["session"], message["data"]["seq"]) == (session, event.seq)
        await until(lambda: deliveries(served, hook, "delivered"))


async def test_approvals_questions_and_budgets_are_sent_to_those_who_want_them(tmp_path: Path) -> None:
    def script() -> Any:
        write = S.call("create_file", path="a.txt", content="a secret text")
        return S([[write], [S.call("ask_user", question="Really?", suggestions=["Yes", "No"])], "Done."])

    async with receiving() as receiver, notifying(tmp_path, script, permissions="ask") as served:
        hook = await add(served, receiver, events=["approval.waiting", "question.waiting"])
        session = await served.session(model="m")
        await served.send(session, "Write.")
        (first,) = await receiver.wait_for(1)
        data = first.json["data"]
        assert (first.json["type"], data["tool"]) == ("approval.waiting", "create_file")
        path = f"/sessions/{session}/approvals/{data['approval']}"
        await call(served, "POST", path, decision="approve", digest=data["digest"])
        received = await receiver.wait_for(2)
        assert (received[1].json["type"], received[1].json["data"]["text"]) == ("question.waiting", "Really?")
        assert (await call(served, "GET", f"/webhooks/{hook['id']}"))["events"] == [
            "approval.waiting",
            "question.waiting",
        ]


async def test_an_approval_of_a_subagent_names_the_session_of_the_person(tmp_path: Path) -> None:
    script = S([[S.call("create_file", path="a.txt", content="x")], "Inner."])
    helper = heald.Agent(script, tools=["files"], permissions="ask").as_tool("helper", "Helps.")
    context = context_on(
        SqliteStore(tmp_path / "sessions.db"),
        {"m": lambda: S([[S.call("helper", prompt="Go.")], "Done."])},
        tools={"helper": helper},
        defaults=SessionSettings(permissions="auto", tools=["helper"]),
    )
    async with receiving() as receiver, serving(context) as served:
        await add(served, receiver)
        session = await served.session(model="m")
        await served.send(session, "Work.")
        (first,) = await receiver.wait_for(1)
        data = first.json["data"]
        assert (first.json["type"], data["session"]) == ("approval.waiting", session)
        assert data["log"] != session
        path = f"/sessions/{session}/approvals/{data['approval']}"
        await call(served, "POST", path, decision="approve", digest=data["digest"])
        received = await receiver.wait_for(2)
        await served.wait_idle()
        assert [item.json["type"] for item in received] == ["approval.waiting", "exchange.ended"]
        assert received[1].json["data"]["session"] == session


async def test_a_reached_budget_is_sent_beside_the_end(tmp_path: Path) -> None:
    def script() -> Any:
        return S([[S.call("list_files", path=".")]] * 40)

    async with receiving() as receiver, notifying(tmp_path, script) as served:
        await add(served, receiver)
        await served.send(await served.session(model="m"), "Loop.")
        received = await receiver.wait_for(2)
        assert {item.json["type"] for item in received} == {"exchange.ended", "budget.reached"}
        assert {item.json["data"]["limit"] for item in received} == {"turns"}
        assert len({item.id for item in received}) == 2


async def test_a_failed_attempt_is_repeated_with_the_same_id_and_a_dead_one_replayed(tmp_path: Path) -> None:
    async with receiving(lambda number: 500 if number < 3 else 204) as receiver, notifying(tmp_path) as served:
        hook = await add(served, receiver)
        await served.send(await served.session(model="m"))
        await receiver.wait_for(3)
        (dead,) = await until(lambda: deliveries(served, hook, "dead"))
        assert (dead["attempts"], dead["problem"]) == (3, "The answer had the status 500.")
        assert (await call(served, "GET", f"/webhooks/{hook['id']}"))["dead"] == 1
        assert await call(served, "POST", f"/webhooks/{hook['id']}/replay") == {"replayed": 1}
        received = await receiver.wait_for(4)
        assert len({item.id for item in received}) == 1
        assert len({item.body for item in received}) == 1
        (sent,) = await until(lambda: deliveries(served, hook, "delivered"))
        await call(served, "POST", f"/webhooks/{hook['id']}/deliveries/{sent['id']}/replay")
        assert {item.id for item in await receiver.wait_for(5)} == {sent["id"].partition(".")[0]}


async def test_redirects_are_failures_and_gone_ends_an_endpoint(tmp_path: Path) -> None:
    async with receiving(lambda number: 307 if number == 0 else 410) as receiver, notifying(tmp_path) as served:
        hook = await add(served, receiver)
        await served.send(await served.session(model="m"))
        await until(lambda: deliveries(served, hook, "dead"))
        assert len(receiver.received) == 2  # none at /elsewhere
        assert "410" in (await call(served, "GET", f"/webhooks/{hook['id']}"))["disabled"]
        receiver.status_of = accept
        await call(served, "POST", f"/webhooks/{hook['id']}/enable")
        await call(served, "POST", f"/webhooks/{hook['id']}/replay")
        await receiver.wait_for(3)


async def test_both_secrets_sign_after_a_rotation_and_none_is_shown(tmp_path: Path) -> None:
    async with receiving() as receiver, notifying(tmp_path) as served:
        hook = await add(served, receiver)
        rotated = await call(served, "POST", f"/webhooks/{hook['id']}/secret")
        assert rotated["secret"] != hook["secret"]
        await served.send(await served.session(model="m"))
        (received,) = await receiver.wait_for(1)
        assert received.is_signed_by(hook["secret"])
        assert received.is_signed_by(rotated["secret"])
        listing = json.dumps(await call(served, "GET", "/webhooks"))
        assert rotated["secret"][:-4] not in listing
        assert hook["secret"][:-4] not in listing
        assert rotated["secret"][-4:] in listing


async def test_users_have_webhooks_of_their_own(tmp_path: Path) -> None:
    async with receiving() as receiver, notifying(tmp_path) as served:
        hook = await add(served, receiver)
        stranger = {"Authorization": f"Bearer {OTHER}"}
        for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/deliveries"), ("POST", "/replay")):
            url = f"/webhooks/{hook['id']}{path}"
            async with served.stranger.request(
                method, url, headers=stranger, json={} if method == "POST" else None
            ) as answer:
                assert answer.status == 404
        async with served.stranger.post("/sessions", headers=stranger, json={"model": "m"}) as answer:
            session = (await answer.json())["id"]
        async with served.stranger.post(
            f"/sessions/{session}/messages", headers=stranger, json={"text": "Hi."}
        ) as answer:
            assert answer.status == 202
        await served.wait_idle()
        await call(served, "POST", f"/webhooks/{hook['id']}/replay", 404, session=session)
        await served.send(await served.session(model="m"))
        (received,) = await receiver.wait_for(1)
        assert received.json["data"]["session"] != session


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/hook",
        "https://localhost/hook",
        "https://[::1]/hook",
        "https://169.254.169.254/latest",
        "https://100.100.100.200/",
        "https://2130706433/",
        "http://93.184.216.34/hook",
        "https://user:word@93.184.216.34/",
        "ftp://93.184.216.34/",
    ],
)
async def test_private_addresses_are_refused(tmp_path: Path, url: str) -> None:
    async with notifying(tmp_path) as served:
        await call(served, "POST", "/webhooks", 400, url=url)
        assert await call(served, "GET", "/webhooks") == {"webhooks": []}


async def test_an_address_that_became_private_gets_nothing(tmp_path: Path) -> None:
    """The address is checked at each attempt, not only when the webhook is added."""
    async with receiving() as receiver, notifying(tmp_path) as served:
        hook = await add(served, receiver)
    async with notifying(tmp_path) as served:  # the host is not allowed any more
        await served.send(await served.session(model="m"))
        (dead,) = await until(lambda: deliveries(served, hook, "dead"))
        assert "is not on the public internet" in dead["problem"]
        assert not receiver.received


async def test_what_a_dead_server_had_not_queued_is_found_in_the_log(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "sessions.db")
    async with receiving() as receiver:
        async with notifying(tmp_path) as served:
            await add(served, receiver)
        begin = time()
        context = context_on(store, {"m": lambda: S(["Hello."])})
        context.protocol_options["notify"] = {"schedule": FAST}
        async with serving(context) as served:  # it stores the exchange, and its notifications are lost

            async def lose(delivery: Delivery) -> Delivery:
                return delivery.succeed()

            context.protocol_state["notify"].records.add_delivery = lose
            session = await served.session(model="m")
            await served.send(session)
            await served.wait_idle()
        assert not receiver.received
        store = SqliteStore(tmp_path / "sessions.db")
        await NotifyRecords(store).put_watermark("a-node-that-died", begin)
        await store.close()
        async with notifying(tmp_path) as served:
            (received,) = await receiver.wait_for(1)
            assert received.json["data"]["session"] == session
            records = NotifyRecords(served.context.open_sessions.store)

            async def is_forgotten() -> bool:
                return "a-node-that-died" not in await records.watermarks()

            await until(is_forgotten)
            assert len(receiver.received) == 1


async def test_a_killed_server_sends_the_same_ids_after_its_restart(tmp_path: Path) -> None:
    async with (
        ScriptedServer(lambda _: wire_reply("chat", text="Hello.")) as model,
        receiving(lambda number: 503 if number < 2 else 204) as receiver,
    ):
        words = ["--port", "0", "--no-open", "--json", "--data", str(tmp_path), "--model", "m"]
        words += ["--base-url", f"{model.url}/v1", "--allow-host", receiver.authority]
        ids: set[str] = set()
        for life in range(2):
            server = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "heald_cli.main", "serve", *words, stdout=asyncio.subprocess.PIPE
            )
            try:
                assert server.stdout is not None
                ready = json.loads(await server.stdout.readline())
                if life == 0:
                    ids = await _run_two(ready, receiver)
                else:
                    await until(partial(_has_all, receiver, ids))
            finally:
                server.send_signal(signal.SIGKILL)
                await server.wait()
        assert {item.id for item in receiver.received} == ids


async def _has_all(receiver: HookReceiver, ids: set[str]) -> bool:
    """Whether all were delivered after the two attempts that failed."""
    return ids <= {item.id for item in receiver.received[2:]}


async def _run_two(ready: dict[str, Any], receiver: HookReceiver) -> set[str]:
    """Two exchanges whose notifications fail at first. Returns their ids."""
    async with aiohttp.ClientSession(ready["url"], headers={"Authorization": f"Bearer {ready['token']}"}) as client:
        async with client.post("/webhooks", json={"url": receiver.url}) as answer:
            assert answer.status == 201, await answer.text()
        for number in range(2):
            async with client.post("/sessions", json={}) as answer:
                session = (await answer.json())["id"]
            async with client.post(f"/sessions/{session}/messages", json={"text": "Hi."}) as answer:
                assert answer.status == 202
            await receiver.wait_for(number + 1)
    return {item.id for item in receiver.received}


async def test_replay_from_the_log_sends_what_was_before_the_webhook(tmp_path: Path) -> None:
    async with receiving() as receiver, notifying(tmp_path) as served:
        session = await served.session(model="m")
        await served.send(session)
        await served.wait_idle()
        hook = await add(served, receiver)
        assert await call(served, "POST", f"/webhooks/{hook['id']}/replay", since=0) == {"replayed": 1}
        assert await call(served, "POST", f"/webhooks/{hook['id']}/replay", session=session) == {"replayed": 1}
        received = await receiver.wait_for(1)
        assert received[0].json["data"]["session"] == session


async def test_a_topic_of_ntfy_gets_no_text_of_the_conversation(tmp_path: Path) -> None:
    def script() -> Any:
        return S([[S.call("create_file", path="a.txt", content="a secret text")], "Done."])

    async with (
        receiving() as receiver,
        notifying(tmp_path, script, permissions="ask", public_url="https://heald.example") as served,
    ):
        topic = f"http://{receiver.authority}/my-topic"
        hook = await call(served, "POST", "/webhooks", 201, url=topic, kind="ntfy", secret="tk_1234567890")
        assert "my-topic" not in hook["url"]
        assert "tk_123456" not in hook["secret"]
        session = await served.session(model="m")
        await served.send(session, "Write.")
        (received,) = await receiver.wait_for(1)
        assert received.headers["authorization"] == "Bearer tk_1234567890"
        message = received.json
        assert (message["topic"], message["title"]) == ("my-topic", "Approve create_file?")
        assert message["click"] == f"https://heald.example/#/decide/{session}"
        assert "a secret text" not in received.body.decode()
