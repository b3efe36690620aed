"""W11: a token that was changed or revoked lets nobody in from then on, and nobody stay."""

import asyncio
import base64
import hmac
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import heald
from heald.core.errors import ConfigurationError
from heald.core.json import loads
from heald.sessions import MemoryStore
from heald.sessions.one_node import OneNodeStore
from heald_server.access.tokens import AccessTokens, new_token
from serving_parts import OTHER, TOKEN, S, Served, served
from walked_routes import GUARDED, RouteMethod, ask, whole_server

QUICK = 10.0
"""Far more than it takes, far less than a minute."""


def _slow() -> heald.testing.ScriptedModel:
    return S(["word " * 4000], piece=5, pause=0.01)


async def _rotate(server: Served) -> str:
    async with server.client.post("/tokens/rotate") as answer:
        assert answer.status == 200, await answer.text()
        return (await answer.json())["token"]


async def _to_the_end(answer: aiohttp.ClientResponse) -> bytes:
    async with asyncio.timeout(QUICK):
        return b"".join([piece async for piece in answer.content.iter_any()])


async def _closed(socket: aiohttp.ClientWebSocketResponse) -> tuple[int | None, list[dict[str, Any]]]:
    async with asyncio.timeout(QUICK):
        frames: list[dict[str, Any]] = [loads(message.data) async for message in socket]
    return socket.close_code, frames


async def test_w11_the_old_token_opens_nothing_and_the_new_one_all(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as server:
        session = await server.session()
        token = await _rotate(server)
        for way in GUARDED:
            answer = await ask(server, way, token=TOKEN, data=b"{}" if way.method == "POST" else None)
            assert answer.status in (401, 403), (way, answer)
        assert (await ask(server, RouteMethod("GET", f"/sessions/{session}"), token=token)).status == 200
        assert (await ask(server, RouteMethod("GET", "/sessions"), token=OTHER)).status == 200


async def test_w11_the_cookie_of_a_revoked_token_is_none(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as server:
        async with server.client.post("/login", json={"token": TOKEN}, headers={"Origin": server.url}) as answer:
            cookie = answer.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert TOKEN not in cookie
        value = {"Cookie": cookie.partition(";")[0], "Origin": server.url}
        assert (await ask(server, RouteMethod("GET", "/sessions"), value)).status == 200
        await _rotate(server)
        assert (await ask(server, RouteMethod("GET", "/sessions"), value)).status == 401


@pytest.mark.parametrize("dialect", ["native", "loop", "ai-sdk", "openai"])
async def test_w11_open_event_streams_end(dialect: str, tmp_path: Path) -> None:
    async with served(tmp_path, _slow) as server:
        session = await server.session()
        accepted = await server.send(session)
        async with server.client.get(f"/sessions/{session}/events?dialect={dialect}") as answer:
            assert answer.status == 200
            await answer.content.readany()
            token = await _rotate(server)
            rest = await _to_the_end(answer)
        if dialect == "native":
            assert b"event: goodbye" in rest
            assert b'"reason":"token"' in rest
        resumed = {"Authorization": f"Bearer {TOKEN}", "Last-Event-ID": "3"}
        async with server.client.get(f"/sessions/{session}/events", headers=resumed) as answer:
            assert answer.status == 401
        fresh = {"Authorization": f"Bearer {token}"}
        body = {"exchange": accepted["exchange"]}
        async with server.client.post(f"/sessions/{session}/cancel", json=body, headers=fresh) as answer:
            assert (await answer.json()) == {"cancelled": True}  # it went on meanwhile


async def test_w11_streams_of_guests_end(tmp_path: Path) -> None:
    async with served(tmp_path, _slow) as server:
        bodies: dict[str, dict[str, Any]] = {
            "/api/chat": {"messages": [{"role": "user", "content": "Hi."}]},
            "/agui": {"threadId": "t", "runId": "r", "messages": [{"id": "1", "role": "user", "content": "Hi."}]},
            "/v1/chat/completions": {
                "model": "heald",
                "stream": True,
                "messages": [{"role": "user", "content": "Hi."}],
            },
        }
        answers = [await server.client.post(path, json=body) for path, body in bodies.items()]
        assert [answer.status for answer in answers] == [200, 200, 200]
        for answer in answers:
            await answer.content.readany()
        await _rotate(server)
        for answer in answers:
            await _to_the_end(answer)
            answer.close()


async def test_w11_open_sockets_end_whether_they_listen_or_not(tmp_path: Path) -> None:
    async with served(tmp_path, _slow) as server:
        session = await server.session()
        await server.send(session)
        idle = await server.client.ws_connect("/ws")
        listening = await server.client.ws_connect("/ws")
        await listening.send_json({"type": "subscribe", "session": session})
        await listening.receive_json()
        single = await server.client.ws_connect(f"/sessions/{session}/ws")
        await single.send_json({"resume": None})
        await single.receive_json()
        theirs = await server.client.ws_connect("/ws", headers={"Authorization": f"Bearer {OTHER}"})
        before = len(await server.log(session))
        await _rotate(server)
        for socket in (idle, listening, single):
            code, frames = await _closed(socket)
            assert code == 4401
            if socket is not idle:
                assert frames[-1] | {"resume": 0} == {
                    "type": "goodbye",
                    "session": session,
                    "reason": "token",
                    "resume": 0,
                }
        await theirs.send_json({"type": "ping", "id": 1})
        assert await theirs.receive_json() == {"type": "pong", "id": 1}
        await theirs.close()
        assert len(await server.log(session)) >= before


async def test_w11_no_command_is_obeyed_after_the_token_expired(tmp_path: Path) -> None:
    """Even where it was sent before the close arrived."""
    async with served(tmp_path) as server:
        session = await server.session()
        async with server.client.ws_connect("/ws") as socket:
            await socket.send_json({"type": "ping"})
            await socket.receive_json()
            holder = server.context.tokens.identify(TOKEN)
            assert holder is not None
            await server.context.tokens.revoke(holder)
            await socket.send_json({"type": "send", "session": session, "text": "Once more."})
            code, _ = await _closed(socket)
        assert code == 4401
        assert await server.log(session) == []


async def test_w11_streams_and_sockets_and_previews_of_projects_end(tmp_path: Path) -> None:
    def page() -> heald.testing.ScriptedModel:
        return S(
            [[S.call("create_file", path="index.html", content="<h1>Hi</h1>")], "word " * 4000], piece=5, pause=0.01
        )

    async with whole_server(tmp_path, model=page) as server:
        body = {"prompt": {"text": "A page."}, "stack": "html_css", "variants": 1}
        async with server.client.post("/projects", json=body) as answer:
            assert answer.status == 201, await answer.text()
            project = await answer.json()
        preview = project["versions"][0]["variants"][0]["preview"]
        watching = await server.client.get(f"/projects/{project['id']}/events")
        await watching.content.readany()
        waiting = await server.client.ws_connect("/generate-code")
        design = await server.client.ws_connect("/generate-code")
        await design.send_json({"prompt": {"text": "A page."}, "generatedCodeConfig": "html_css", "numVariants": 1})
        assert (await design.receive_json())["type"] == "variantCount"
        for _ in range(100):
            if (await ask(server, RouteMethod("GET", preview))).status == 200:
                break
            await asyncio.sleep(0.05)
        before = len((await server.store.list(kind=None)).sessions)
        await _rotate(server)
        await _to_the_end(watching)
        watching.close()
        code, _ = await _closed(design)
        assert code == 4401
        await waiting.send_json({"prompt": {"text": "A page."}, "generatedCodeConfig": "html_css", "numVariants": 1})
        code, _ = await _closed(waiting)
        assert code in (4332, 4401)
        assert (await ask(server, RouteMethod("GET", preview))).status == 404
        assert len((await server.store.list(kind=None)).sessions) == before


async def test_a_preview_does_not_give_the_token_away(tmp_path: Path) -> None:
    """A page that a model wrote knows its own address. Nothing in it leads to the token or the cookie."""
    async with whole_server(tmp_path) as server:
        async with server.client.post("/projects", json={"prompt": {"text": "A page."}, "stack": "html_css"}) as answer:
            project = await answer.json()
        address: str = project["versions"][0]["variants"][0]["preview"]
        ticket = address.split("/")[2]
        raw = base64.urlsafe_b64decode(ticket + "=" * (-len(ticket) % 4))
        holder = server.context.tokens.identify(TOKEN)
        assert holder is not None
        secrets = [holder, holder.hex().encode(), TOKEN.encode(), server.context.tokens.cookie_value(holder).encode()]
        assert not any(secret in raw for secret in secrets)
        names = [part for part in raw[16:].split(b'"') if len(part) >= 32]
        for name in names:  # nothing in it works as the key of the cookie either
            for key in (name, bytes.fromhex(name.decode()) if _is_hex(name) else b""):
                guess = hmac.digest(key, b"heald page", "sha256").hex()
                assert guess != server.context.tokens.cookie_value(holder)


async def test_tickets_cannot_be_made_or_changed(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as server:
        async with server.client.post("/projects", json={"prompt": {"text": "A page."}, "stack": "html_css"}) as answer:
            address: str = (await answer.json())["versions"][0]["variants"][0]["preview"]
        ticket = address.split("/")[2]
        raw = base64.urlsafe_b64decode(ticket + "=" * (-len(ticket) % 4))
        for at in range(len(raw)):
            changed = raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]
            path = f"/preview/{base64.urlsafe_b64encode(changed).decode().rstrip('=')}/index.html"
            assert (await ask(server, RouteMethod("GET", path))).status == 404
        for odd in ("", "x", "%00", "%ff", "a" * 5000, "..", "%2e%2e%2f", "=" * 9, "é"):
            assert (await ask(server, RouteMethod("GET", f"/preview/{odd}/index.html"))).status in (401, 404)


async def test_a_reload_in_the_middle_of_a_change_brings_nothing_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change is two records, and each makes every server read them all."""
    store = OneNodeStore(MemoryStore())
    tokens, put = AccessTokens({TOKEN: "", OTHER: ""}), store.put_record
    await tokens.attach(store)
    holder = tokens.identify(TOKEN)
    assert holder is not None
    reloads: list[asyncio.Task[None]] = []

    async def put_and_reload(*record: Any, **options: Any) -> bytes:
        stored = await put(*record, **options)
        reloads.append(asyncio.create_task(tokens.reload()))
        for _ in range(10):
            await asyncio.sleep(0)
        assert tokens.identify(TOKEN) is None
        return stored

    monkeypatch.setattr(store, "put_record", put_and_reload)
    token = await tokens.rotate(holder)
    await asyncio.gather(*reloads)
    assert tokens.identify(TOKEN) is None
    assert tokens.identify(token) is not None


def test_short_tokens_are_refused_and_new_ones_are_long():
    for short in ("", "x", "123456789012345"):
        with pytest.raises(ConfigurationError, match="at least 16"):
            AccessTokens({short: ""})
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token()) >= 40


async def test_anyone_who_comes_after_the_token_expired_is_reported_at_once(tmp_path: Path) -> None:
    """Between the door and the stream there is time enough to revoke a token."""
    tokens = AccessTokens({TOKEN: "", OTHER: "other"})
    holder = tokens.identify(TOKEN)
    assert holder is not None
    ended: list[int] = []
    stop = tokens.on_revoked(holder, lambda: ended.append(1))
    stop()
    tokens.on_revoked(holder, lambda: ended.append(2))
    await tokens.revoke(holder)
    assert ended == [2]
    tokens.on_revoked(holder, lambda: ended.append(3))()
    assert ended == [2, 3]
    assert tokens.owner_of(holder) is None
    assert tokens.identify(TOKEN) is None


def _is_hex(text: bytes) -> bool:
    try:
        return bool(bytes.fromhex(text.decode()))
    except ValueError:
        return False
