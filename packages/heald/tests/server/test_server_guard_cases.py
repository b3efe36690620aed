"""Cases of the server that have names: W07, W10, W17, P19, U10, and the door of `heald serve`."""

import asyncio
import os
import socket as sockets
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import heald
from heald.core.errors import ConfigurationError
from heald.core.json import loads
from heald_server.http.hosts import is_address
from heald_server.settings import ServerSettings, validate_settings
from raw_bytes import raw
from serving_parts import OTHER, TOKEN, S, served
from walked_routes import RouteMethod, ask, whole_server
from warm_process import start_warm, warm_host

SURROGATE = "half \ud800 of a pair"


def _writes(path: str, content: str) -> heald.testing.ScriptedModel:
    return S([[S.call("create_file", path=path, content=content)], "Done."])


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.org", "0", ""])
def test_w07_without_a_token_nobody_listens_beyond_this_machine(host: str):
    with pytest.raises(ConfigurationError):
        validate_settings(ServerSettings(host=host, needs_token=False))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_w07_the_printed_address_is_answered(host: str):
    settings = validate_settings(ServerSettings(host=host, needs_token=False, port=1234))
    assert settings.is_local
    assert settings.address.removeprefix("http://") in settings.own_hosts
    assert settings.address in settings.own_origins


def test_names_of_addresses():
    assert all(map(is_address, ["1.2.3.4", "1.2.3.4:80", "[::1]", "[::1]:80", "[fe80::1]:8"]))
    bad = [
        "evil.test",
        "1.2.3.4.evil",
        "1.2.3.4:x",
        "[fe80::1%x; script-src *]:80",
        "",
        ":80",
        "1.2.3.4, x",
        "[::1]x:1",
    ]
    assert not any(map(is_address, bad))


@pytest.mark.parametrize(
    "origin", ["*", "null", "example.org", "https://a.test/", "https://a.test/x", "ftp://a", "https://"]
)
def test_origins_are_written_as_browsers_write_them(origin: str):
    with pytest.raises(ConfigurationError, match="is not an origin"):
        validate_settings(ServerSettings(origins=(origin,)))


async def test_w07_by_default_other_interfaces_get_no_answer(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        port = server.context.settings.port
        others = {info[4][0] for info in sockets.getaddrinfo(sockets.gethostname(), port, sockets.AF_INET)}
        for address in others - {"127.0.0.1", "127.0.1.1"}:
            with pytest.raises(OSError, match=r".*"):
                await asyncio.wait_for(asyncio.open_connection(str(address), port), 60)


async def test_w10_nobody_gives_himself_rights(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        session = await server.session()
        headers = {"Authorization": f"Bearer {OTHER}"}
        async with server.client.ws_connect("/ws", headers=headers) as socket:
            for said in (
                {"type": "auth", "scopes": ["admin"], "owner": ""},
                {"type": "config.apply", "token": TOKEN},
                {"type": "subscribe", "session": session, "owner": "", "token": TOKEN, "scopes": ["admin"]},
                {"type": "send", "session": session, "text": "x", "owner": ""},
                {"type": "cancel", "session": session},
                {"type": "approve", "session": session, "approval": "x"},
                {"type": "subscribe", "session": session, "resume": f"{session}-1-1"},
                {"resume": 0},
            ):
                await socket.send_json(said)
                answer = await socket.receive_json()
                assert answer["type"] == "error", (said, answer)
                assert answer["error"]["code"] in ("not_found", "invalid"), (said, answer)
        assert await server.log(session) == []


async def test_w08_guests_of_another_owner_have_conversations_of_their_own(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S(["One.", "Two."])) as server:
        sessions: dict[str, set[str]] = {}
        for token in (TOKEN, OTHER):
            headers = {"Authorization": f"Bearer {token}"}
            ui = {"id": "same", "messages": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Hi."}]}]}
            run = {"threadId": "same", "runId": "r", "messages": [{"id": "1", "role": "user", "content": "Hi."}]}
            for path, body in (("/api/chat", ui), ("/agui", run)):
                async with server.client.post(path, json=body, headers=headers) as answer:
                    assert answer.status == 200
                    await answer.read()
                    sessions.setdefault(path, set()).add(answer.headers["X-Heald-Session"])
            async with server.client.get("/api/chat/same/stream", headers=headers) as answer:
                assert answer.status == 204
        assert all(len(names) == 2 for names in sessions.values())


async def test_w08_a_cursor_of_another_session_shows_nothing_of_it(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S(["A secret of mine."])) as server:
        mine = await server.session()
        await server.ended(mine, (await server.send(mine))["exchange"])
        headers = {"Authorization": f"Bearer {OTHER}"}
        async with server.client.post("/sessions", json={}, headers=headers) as answer:
            theirs = (await answer.json())["id"]
        for cursor in (f"{mine}-1-2", f"{mine}-1-0", "3"):
            resumed = headers | {"Last-Event-ID": cursor}
            async with server.client.get(f"/sessions/{theirs}/events", headers=resumed) as answer:
                assert answer.status == 200
                said = await answer.content.readany()
                said += await answer.content.readany() if b"reset" not in said else b""
                assert b"secret" not in said
                assert b"event: reset" in said


async def test_w17_filters_are_words_and_not_sql(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        await server.session(title="100% of O'Neill_s")
        for query in (
            "filter[x') OR 1=1--]=1",
            "sort=ts;drop",
            "search=a&search=b",
            "limit=1;drop",
            "limit=0",
            "after=x",
        ):
            async with server.client.get(f"/sessions?{query}") as answer:
                assert answer.status == 400, query
        for search, count in (
            ("' OR 1=1 --", 0),
            ("%25", 1),
            ("O'Neill_s", 1),
            ("_x", 0),
            ('"', 0),
            ("\\", 0),
            ("%00", None),
        ):
            async with server.client.get(f"/sessions?search={search}") as answer:
                if count is None:
                    assert answer.status == 400
                    continue
                assert answer.status == 200, await answer.text()
                assert len((await answer.json())["sessions"]) == count, search


async def test_texts_that_no_store_can_hold_are_answered(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as server:
        session = await server.session()
        bodies: list[tuple[str, str, dict[str, Any]]] = [
            ("POST", "/sessions", {"title": SURROGATE}),
            ("POST", "/sessions", {"instructions": SURROGATE}),
            ("POST", "/sessions", {"model": SURROGATE}),
            ("POST", "/sessions", {"tools": [SURROGATE]}),
            ("PATCH", f"/sessions/{session}", {"title": SURROGATE}),
            ("POST", f"/sessions/{session}/messages", {"text": SURROGATE, "client_request_id": SURROGATE}),
            ("POST", f"/sessions/{session}/fork", {"title": SURROGATE}),
            ("POST", f"/sessions/{session}/cancel", {"reason": SURROGATE, "exchange": SURROGATE}),
            ("POST", "/projects", {"prompt": {"text": SURROGATE}, "title": SURROGATE, "stack": "html_css"}),
            ("POST", "/projects", {"prompt": {"text": "x"}, "stack": SURROGATE}),
            ("POST", "/api/chat", {"id": SURROGATE, "messages": [{"role": "user", "content": SURROGATE}]}),
            (
                "POST",
                "/agui",
                {"threadId": SURROGATE, "runId": SURROGATE, "messages": [{"role": "user"}]},
            ),
            ("POST", "/login", {"token": SURROGATE}),
        ]
        for method, path, body in bodies:
            async with server.client.request(method, path, json=body) as answer:
                assert answer.status < 500, (path, body, await answer.text())
        async with server.client.get("/sessions") as answer:
            assert answer.status == 200


async def test_p19_files_outside_are_not_there(tmp_path: Path) -> None:
    folder, outside = tmp_path / "work", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_text("CANARY")
    (folder / "link").symlink_to(outside)
    (folder / "file-link").symlink_to(outside / "secret.txt")
    (folder / "dangling").symlink_to(outside / "new")
    os.mkfifo(folder / "pipe")
    (folder / "in.txt").write_text("inside")
    async with served(tmp_path, workspaces={"work": str(folder)}) as server:
        session = await server.session(workspace="work")
        async with server.client.get(f"/sessions/{session}/files/in.txt") as answer:
            assert await answer.text() == "inside"
        paths = [
            "../outside/secret.txt",
            "/etc/passwd",
            "link/secret.txt",
            "file-link",
            "dangling",
            "pipe",
            "in.txt\0x",
        ]
        paths += ["/proc/self/environ", "./../outside/secret.txt", "a/../../outside/secret.txt", ".git/config", "."]
        paths += [str(outside / "secret.txt"), "..\\outside\\secret.txt", "/dev/stdin", "link/../outside/secret.txt"]
        for path in paths:
            for kind in ("files", "revisions"):
                for query in ("", "?revision=0", "?revision=1") if kind == "files" else ("",):
                    quoted = "".join(f"%{byte:02x}" for byte in path.encode())
                    async with raw(server) as connection:  # no client may tidy the path up
                        await connection.send(
                            f"GET /sessions/{session}/{kind}/{quoted}{query} HTTP/1.1\r\n"
                            f"Host: 127.0.0.1:{server.context.settings.port}\r\n"
                            f"Authorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n".encode()
                        )
                        got = await connection.rest(5)
                    assert b"CANARY" not in got, (path, got)
                    assert b"root:" not in got, (path, got)
                    assert str(tmp_path).encode() not in got.partition(b"\r\n\r\n")[2].replace(path.encode(), b""), got
                    assert got[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 404") or kind == "revisions", (path, got)
        for name in ("nowhere", "../outside", "/", str(outside), ""):
            async with server.client.post("/sessions", json={"workspace": name}) as answer:
                assert answer.status == 400, name
        assert not (outside / "new").exists()


SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script></svg>'


@pytest.mark.parametrize(
    "name", ["a.svg", "a.html", "a.xhtml", "a.xml", "a.pdf", "a.js", "a", 'a"; x.html', "a\r\nX-Evil: 1"]
)
async def test_u10_what_a_model_wrote_is_never_shown_as_ours(name: str, tmp_path: Path) -> None:
    async with served(tmp_path, lambda: _writes(name, SVG)) as server:
        session = await server.session()
        await server.ended(session, (await server.send(session))["exchange"])
        async with server.client.get(f"/sessions/{session}/files") as answer:
            files = [file["path"] for file in (await answer.json())["files"]]
        for path in files:
            quoted = "".join(f"%{byte:02x}" for byte in path.encode())
            answer = await ask(server, RouteMethod("GET", f"/sessions/{session}/files/{quoted}"), token=TOKEN)
            assert answer.status == 200
            assert answer.headers["Content-Disposition"].startswith("attachment; filename*=UTF-8''")
            assert "sandbox" in answer.headers["Content-Security-Policy"]
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert "X-Evil" not in answer.headers


# --- heald serve ------------------------------------------------------------------------------------------------------


async def _serve(folder: Path, *words: str, **env: str) -> tuple[int, str, str]:
    """`heald serve` that is expected to give up at once."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("HEALD_")} | env
    host = warm_host("uvicorn.lifespan.on", "heald_cli.commands.serve", "heald_studio.server.routes")
    process = await start_warm(
        *(host, "serve", "--no-open", "--data", str(folder / "data"), *words),
        folder=folder,
        environment=variables,
        said=None,
        own_errors=True,
    )
    try:
        async with asyncio.timeout(120):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


BAD: dict[str, tuple[list[str], str]] = {
    "everywhere without a token": (["--host", "0.0.0.0", "--no-token"], "token"),
    "an empty host": (["--host", ""], "host"),
    "a short token": (["--token", "short", "--port", "0"], "16"),
    "a pattern of origins": (["--allow-origin", "*", "--port", "0"], "not an origin"),
    "an origin with a path": (["--allow-origin", "https://a.test/x", "--port", "0"], "not an origin"),
    "no such port": (["--port", "70000"], "70000"),
    "a port below zero": (["--port", "-1"], "-1"),
    "no such host": (["--host", "nowhere.invalid"], "nowhere.invalid"),
    "no such folder": (["--port", "0", "--workspace", "/nowhere/at/all"], "folder"),
    "data that is a file": (["--port", "0", "--data", "/dev/null"], "--data"),
    "a base url alone": (["--base-url", "http://x/v1"], "--model"),
}


@pytest.mark.parametrize("bad", BAD)
async def test_heald_serve_states_what_is_wrong_in_one_line(bad: str, tmp_path: Path) -> None:
    words, said = BAD[bad]
    code, out, err = await _serve(tmp_path, *words)
    assert code in (1, 2), (code, err)
    assert out == ""
    assert err.startswith("heald: ")
    assert err.count("\n") == 1, err
    assert said in err
    assert "Traceback" not in err
    assert "short" not in err or bad != "a short token"


async def test_heald_serve_states_that_its_port_is_accepted(tmp_path: Path) -> None:
    with sockets.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, out, err = await _serve(tmp_path, "--port", str(port))
    assert code == 2
    assert out == ""
    assert str(port) in err
    assert "--port" in err
    assert err.count("\n") == 1


@pytest.mark.skipif(
    os.geteuid() == 0 and not Path("/proc/self/ns/user").exists(), reason="needs a folder nobody writes"
)
async def test_heald_serve_states_that_its_folder_cannot_be_written(tmp_path: Path) -> None:
    code, out, err = await _serve(tmp_path, "--port", "0", "--data", "/proc/nowhere")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1, err


async def _ready(folder: Path, *words: str, **env: str) -> tuple[asyncio.subprocess.Process, str]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("HEALD_")} | env
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "heald_cli.main", "serve", "--no-open", "--port", "0", "--data", str(folder / "data")),
        *words,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
        env=variables,
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        return process, (await process.stdout.readline()).decode()


async def _end(process: asyncio.subprocess.Process) -> tuple[str, str]:
    process.terminate()
    async with asyncio.timeout(120):
        out, err = await process.communicate()
    return out.decode(), err.decode()


async def test_heald_serve_is_ready_in_one_line_of_json(tmp_path: Path) -> None:
    process, line = await _ready(tmp_path, "--json", "--log", "debug")
    try:
        said = loads(line)
        assert said["ready"] is True
        assert said["pid"] == process.pid
        async with aiohttp.ClientSession(said["url"]) as client:
            async with client.get("/sessions") as answer:
                assert answer.status == 401
            async with client.get("/sessions", headers={"Authorization": f"Bearer {said['token']}"}) as answer:
                assert answer.status == 200
        assert os.stat(tmp_path / "data").st_mode & 0o077 == 0
    finally:
        out, err = await _end(process)
    assert out == ""
    assert "/sessions" in err
    assert said["token"] not in err
    assert "Traceback" not in err


async def test_heald_serve_states_a_generated_token_in_the_address_and_nowhere_else(tmp_path: Path) -> None:
    process, line = await _ready(tmp_path, "--log", "debug")
    assert line.startswith("Heald is at http://127.0.0.1:")
    token = line.rstrip().partition("/#token=")[2]
    assert len(token) >= 16
    out, err = await _end(process)
    assert token not in out + err


@pytest.mark.parametrize("way", ["variable", "file", "option", "json"])
async def test_heald_serve_never_prints_a_token_of_the_operator(tmp_path: Path, way: str) -> None:
    token = "a-token-of-the-operator-1"
    (tmp_path / "token").write_text(token)
    variables = {"variable": {"HEALD_TOKEN": token}, "file": {"HEALD_TOKEN_FILE": str(tmp_path / "token")}}
    words = ["--token", token] if way in ("option", "json") else []
    words += ["--json"] if way == "json" else []
    process, line = await _ready(tmp_path, "--log", "debug", *words, **variables.get(way, {}))
    assert "http://127.0.0.1:" in line
    out, err = await _end(process)
    assert token not in line + out + err


async def test_heald_serve_states_aloud_that_it_asks_for_no_token(tmp_path: Path) -> None:
    process, line = await _ready(tmp_path, "--no-token")
    url = line.split()[-1]
    assert "token" not in url
    try:
        async with aiohttp.ClientSession() as client:
            async with client.get(f"{url}sessions") as answer:
                assert answer.status == 200
            for headers in ({"Origin": "https://evil.test"}, {"Host": "evil.test"}, {"Sec-Fetch-Site": "cross-site"}):
                async with client.get(f"{url}sessions", headers=headers) as answer:
                    assert answer.status == 403
    finally:
        _, err = await _end(process)
    assert "No token is needed" in err
