"""`heald_server.App` below a prefix of another program, and alone."""

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from outer_program import outer_program
from starlette.requests import HTTPConnection

import heald
from heald.core.errors import ConfigurationError
from heald.sessions.session_info import SessionInfo
from heald_server.agent_app import App

S = heald.testing.ScriptedModel
TOKEN = "a-token-of-the-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@heald.tool
async def weather(city: str) -> str:
    """Weather of a city."""
    return f"Rain in {city}."


def an_agent(**options: Any) -> heald.Agent:
    return heald.Agent(S([S.call("weather", city="Oslo"), "Take an umbrella."]), tools=[weather], **options)


async def ask(client: aiohttp.ClientSession, at: str, text: str = "And in Oslo?") -> list[dict[str, Any]]:
    """Ask in a new session and return its messages once the answer is complete."""
    async with client.post(f"{at}/sessions", json={}) as answer:
        assert answer.status == 201, await answer.text()
        session = (await answer.json())["id"]
    async with client.post(f"{at}/sessions/{session}/messages", json={"text": text}) as answer:
        assert answer.status == 202, await answer.text()
    async with client.get(f"{at}/sessions/{session}/events") as answer:
        async for line in answer.content:
            if line.startswith(b"event: exchange_response"):
                break
    async with client.get(f"{at}/sessions/{session}/messages") as answer:
        return (await answer.json())["messages"]


async def test_an_agent_answers_below_a_prefix_with_its_own_tools() -> None:
    app = App(an_agent(), token=TOKEN)
    async with outer_program(app, lifespan=app.lifespan) as at, aiohttp.ClientSession(headers=BEARER) as client:
        messages = await ask(client, f"{at}/assistant")
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert "Rain in Oslo." in str(messages[2])


async def test_it_starts_with_its_first_request_and_needs_a_token_below_the_prefix() -> None:
    app = App(an_agent(), token=TOKEN)
    async with outer_program(app, "/deep/down") as at, aiohttp.ClientSession(f"{at}") as client:
        async with client.get("/deep/down/health") as answer:
            assert (answer.status, await answer.json()) == (200, {"status": "ok"})
        async with client.get("/deep/down/") as page:
            assert page.status == 200
        for path in ("/models", "/sessions", "/openapi.json", "/projects"):
            async with client.get(f"/deep/down{path}") as answer:
                assert answer.status == 401, path
        async with client.get("/deep/down/openapi.json", headers=BEARER) as answer:
            assert (await answer.json())["servers"] == [{"url": "/deep/down"}]
        async with client.get("/deep/down/models", headers=BEARER) as answer:
            body = await answer.json()
            assert body == {
                "models": ["scripted/model"],
                "default": "scripted/model",
                "details": [{"name": "scripted/model", "provider": "scripted", "label": ""}],
                "fixed": True,
                "session": {"permissions": "auto", "tools": ["weather"]},
            }
        await app.__aexit__()


async def test_the_cookie_of_a_login_is_for_the_prefix_alone() -> None:
    app = App(an_agent(), token=TOKEN)
    async with app, outer_program(app) as at, aiohttp.ClientSession() as client:
        async with client.post(f"{at}/assistant/login", json={"token": TOKEN}, headers={"Origin": at}) as answer:
            assert answer.status == 200
            assert "Path=/assistant/;" in answer.headers["Set-Cookie"]
            cookie = answer.headers["Set-Cookie"].partition(";")[0]
        async with client.get(f"{at}/assistant/models", headers={"Cookie": cookie}) as answer:
            assert answer.status == 200
        async with client.post(f"{at}/assistant/login", json={"token": "x" * 20}) as answer:
            assert answer.status == 401


async def test_pages_of_other_origins_and_without_a_token_other_hosts_are_rejected() -> None:
    app = App(an_agent(), token=TOKEN)
    async with app, outer_program(app) as at, aiohttp.ClientSession(headers=BEARER) as client:
        for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            async with client.get(f"{at}/assistant/models", headers=headers) as answer:
                assert answer.status == 403
        async with client.get(f"{at}/assistant/models", headers={"Host": "app.example"}) as answer:
            assert answer.status == 200
    app = App(an_agent(), auth="none")
    async with app, outer_program(app) as at, aiohttp.ClientSession() as client:
        statuses: list[int] = []
        for host in (
            at.removeprefix("http://"),
            "localhost",
            "[::1]:8000",
            "rebound.example",
            "127.0.0.1.evil.example",
        ):
            async with client.get(f"{at}/assistant/models", headers={"Host": host}) as answer:
                statuses.append(answer.status)
        assert statuses == [200, 200, 200, 403, 403]


async def test_a_function_decides_who_has_access_and_owners_do_not_see_each_other() -> None:
    async def user_of(connection: HTTPConnection) -> str | None:
        return connection.headers.get("x-user")

    app = App(an_agent, auth=user_of)
    async with app, outer_program(app) as at, aiohttp.ClientSession() as client:
        async with client.get(f"{at}/assistant/sessions") as answer:
            assert answer.status == 401
        async with client.post(f"{at}/assistant/sessions", json={"title": "mine"}, headers={"X-User": "ann"}) as answer:
            assert answer.status == 201
        for user, count in (("ann", 1), ("bob", 0)):
            async with client.get(f"{at}/assistant/sessions", headers={"X-User": user}) as answer:
                assert len((await answer.json())["sessions"]) == count


async def test_clients_cannot_change_the_agent() -> None:
    app = App(an_agent(permissions="ask"), token=TOKEN)
    async with app, outer_program(app) as at, aiohttp.ClientSession(headers=BEARER) as client:
        for settings in ({"permissions": "auto"}, {"tools": ["shell"]}, {"model": "other"}, {"instructions": "Obey."}):
            async with client.post(f"{at}/assistant/sessions", json=settings) as answer:
                assert answer.status == 400, settings
        same = {"permissions": "ask", "tools": ["weather"], "model": "scripted/model"}
        async with client.post(f"{at}/assistant/sessions", json=same) as answer:
            assert answer.status == 201


async def test_a_factory_makes_the_agent_of_each_session_and_the_store_outlives_the_application(tmp_path: Path) -> None:
    made: list[str] = []
    count = 0

    async def factory(info: SessionInfo) -> heald.Agent:
        made.append(info.title)
        return heald.Agent(S([f"This is {info.title}."]))

    store = f"sqlite:///{tmp_path / 'app.db'}"
    for _ in range(2):
        app = App(factory, store=store, token=TOKEN)
        async with app, outer_program(app) as at, aiohttp.ClientSession(headers=BEARER) as client:
            async with client.post(f"{at}/assistant/sessions", json={"title": "Ada"}) as answer:
                session = (await answer.json())["id"]
            async with client.post(f"{at}/assistant/sessions/{session}/messages", json={"text": "Who?"}) as answer:
                assert answer.status == 202
            async with client.get(f"{at}/assistant/sessions") as answer:
                count = len((await answer.json())["sessions"])
    assert made == ["Ada", "Ada"]
    assert count == 2
    with pytest.raises(ConfigurationError, match="goes with"):
        App(factory, token=TOKEN, auth="none")


async def test_the_socket_streams_below_the_prefix() -> None:
    app = App(an_agent(), token=TOKEN)
    async with app, outer_program(app) as at, aiohttp.ClientSession(headers=BEARER) as client:
        async with client.post(f"{at}/assistant/sessions", json={}) as answer:
            session = (await answer.json())["id"]
        async with client.ws_connect(f"{at}/assistant/ws") as socket:
            await socket.send_json({"type": "subscribe", "session": session})
            await socket.send_json({"type": "send", "session": session, "text": "Hi", "id": 1})
            types: list[str] = []
            while "exchange_response" not in types:
                types.append((await socket.receive_json(timeout=10))["type"])
        assert {"subscribed", "reply", "text_delta"} <= set(types)


async def test_a_generated_token_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    app = App(an_agent())
    async with (
        app,
        outer_program(app) as at,
        aiohttp.ClientSession(at) as client,
        client.get("/assistant/models") as answer,
    ):
        assert answer.status == 401
    assert capsys.readouterr().err.count(f"#token={app.token}") == 1


async def test_served_alone_it_runs_its_own_lifespan(tmp_path: Path) -> None:
    app = App(an_agent(), store=f"sqlite:///{tmp_path / 'alone.db'}", token=TOKEN)
    async with outer_program(app, "") as at, aiohttp.ClientSession(headers=BEARER) as client:
        assert len(await ask(client, at)) == 4


async def test_a_whole_server_in_one_call_prints_its_address_and_stops_with_ctrl_c(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import heald\n"
        "import heald_server\n"
        "agent = heald.Agent(heald.testing.ScriptedModel(['Hello.']))\n"
        "heald_server.serve(agent, store='sqlite:///app.db', port=0)\n"
        "print('stopped')\n"
    )
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, str(program), stdout=pipe, cwd=tmp_path)
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode()
    url, _, token = line.strip().removeprefix("Heald is at ").partition("/#token=")
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as client:
        assert len(await ask(client, url)) == 2
        async with client.get(f"{url}/") as page:
            assert page.status == 200
    process.send_signal(signal.SIGINT)
    assert await process.stdout.read() == b"stopped\n"
    assert await process.wait() == 0
    assert (tmp_path / "app.db").is_file()
