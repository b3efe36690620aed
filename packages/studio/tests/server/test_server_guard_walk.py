"""Every way in, whatever it is for: nobody comes past the guard who should not."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from heald_server.access.tokens import AccessTokens
from heald_server.settings import ServerSettings
from serving_parts import OTHER, TOKEN
from walked_routes import GUARDED, PREVIEWS, PUBLIC, WAYS, Answered, RouteMethod, ask, whole_server

Sent = Mapping[str, str] | Sequence[tuple[str, str]]
T = TypeVar("T")

SECURITY = (
    "content-security-policy",
    "x-content-type-options",
    "x-frame-options",
    "referrer-policy",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "cache-control",
    "x-request-id",
)


def has_security_headers(answer: Answered, way: RouteMethod) -> bool:
    """Whether a response has all security headers, and none that identifies the server."""
    headers = {name.lower(): value for name, value in answer.headers.items()}
    missing = [name for name in SECURITY if name not in headers]
    assert not missing, (way, answer.status, missing)
    assert headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers, way
    assert "x-powered-by" not in headers, way
    assert "access-control-allow-credentials" not in headers, way
    return True


def own_cookie(port: int, token: str = TOKEN, name: str | None = None) -> str:
    tokens = AccessTokens({token: ""})
    holder = tokens.identify(token)
    assert holder is not None
    return f"{name or f'heald_{port}'}={tokens.cookie_value(holder)}"


def test_what_is_public_is_known():
    walked = {(way.method, way.template) for way in WAYS}
    assert walked >= PUBLIC
    assert walked >= PREVIEWS
    assert len(GUARDED) > 40
    sockets = {way.template for way in WAYS if way.is_socket}
    assert sockets == {"/ws", "/sessions/{session}/ws", "/api/chat/ws", "/generate-code", "/v1/responses"}


STRANGERS: dict[str, Sent] = {
    "nothing": {},
    "wrong": {"Authorization": "Bearer not-a-token-of-anybody"},
    "empty": {"Authorization": "Bearer "},
    "no kind": {"Authorization": TOKEN},
    "basic": {"Authorization": f"Basic {TOKEN}"},
    "cut": {"Authorization": f"Bearer {TOKEN[:-1]}"},
    "longer": {"Authorization": f"Bearer {TOKEN}x"},
    "upper": {"Authorization": f"Bearer {TOKEN.upper()}"},
    "twice": [("Authorization", f"Bearer {TOKEN}"), ("Authorization", f"Bearer {TOKEN}")],
    "one of two": [("Authorization", "Bearer x"), ("Authorization", f"Bearer {TOKEN}")],
    "digest": {"Authorization": f"Bearer {AccessTokens({TOKEN: ''}).ids()[0].hex()}"},
    "odd letters": {"Authorization": "Bearer ÿþ"},
    "protocol": {"Sec-WebSocket-Protocol": "heald, heald.bearer.wrong"},
    "elsewhere": {"X-Api-Key": TOKEN, "X-Forwarded-For": "127.0.0.1", "X-Auth-Token": TOKEN},
}


def take_turns(values: Sequence[T], number: int, count: int) -> list[T]:
    """So many of the values that the routes take in turns, for the route with this number."""
    return [values[(number * count + place) % len(values)] for place in range(count)]


async def test_w02_who_has_no_token_comes_nowhere(tmp_path: Path):
    """Every route without a token, and with three of the wrong ones."""
    wrong = [name for name in STRANGERS if name != "nothing"]
    async with whole_server(tmp_path) as server:
        for number, way in enumerate(GUARDED):
            for who in ("nothing", *take_turns(wrong, number, 3)):
                data = b"{}" if way.method in ("POST", "PATCH") else None
                answer = await ask(server, way, STRANGERS[who], data=data)
                assert answer.status in ((401, 403) if way.is_socket else (401,)), (way, who, answer)
                assert has_security_headers(answer, way)
        assert not (await server.store.list()).sessions


async def test_w19_a_token_in_the_address_is_none(tmp_path: Path):
    async with whole_server(tmp_path) as server:
        for number, way in enumerate(GUARDED):
            [name] = take_turns(("token", "access_token", "key", "auth"), number, 1)
            answer = await ask(server, way, query=f"?{name}={TOKEN}")
            assert answer.status in (401, 403), (way, answer)


async def test_cookies_count_for_our_own_page_only(tmp_path: Path):
    async with whole_server(tmp_path) as server:
        port = server.context.settings.port
        good = own_cookie(port)
        names = (f"heald_{port + 1}", "heald", f"Heald_{port}", "heald_")
        values = ("", "00", "zz", TOKEN, '"\\', "\xff" * 40)
        for number, way in enumerate(GUARDED):
            if way.template == "/tokens/rotate":  # it would end the token
                continue
            for name in take_turns(names, number, 1):
                other = {"Cookie": own_cookie(port, name=name), "Origin": server.url}
                answer = await ask(server, way, other)
                assert answer.status == 401, (way, name, answer)
            for value in take_turns(values, number, 1):
                answer = await ask(server, way, {"Cookie": f"heald_{port}={value}", "Origin": server.url})
                assert answer.status == 401, (way, value, answer)
            unvouched = await ask(server, way, {"Cookie": good})
            if way.is_socket or way.method != "GET":
                assert unvouched.status == 401, (way, unvouched)
            else:
                assert unvouched.status not in (401, 403), (way, unvouched)
            ours = await ask(server, way, {"Cookie": good, "Origin": server.url})
            assert ours.status not in (401, 403), (way, ours)
            break_in = await ask(server, way, {"Cookie": good, "Origin": "https://evil.test"})
            assert break_in.status == 403, (way, break_in)


def foreign_origins(port: int) -> list[str]:
    return [
        "https://evil.test",
        "null",
        "",
        "http://localhost.evil.test",
        f"http://localhost.evil.test:{port}",
        f"http://evil-localhost:{port}",
        f"http://127.0.0.1.evil.test:{port}",
        f"http://127.0.0.1:{port + 1}",
        "http://localhost",
        "http://127.0.0.1",
        f"https://127.0.0.1:{port}",
        f"https://localhost:{port}",
        f"http://127.0.0.1:{port}/",
        f"http://127.0.0.1:{port}.evil.test",
        f"http://evil.test@127.0.0.1:{port}",
        f"http://127.0.0.1:{port}, https://evil.test",
        f"HTTP://127.0.0.1:{port}",
        f"http://LOCALHOST:{port}",
        f"http://127.1:{port}",
        "file://",
        "chrome-extension://abcdef",
    ]


async def test_w01_w02_pages_of_other_origins_are_refused_everywhere(tmp_path: Path):
    async with whole_server(tmp_path) as server:
        port = server.context.settings.port
        credentials = ({"Authorization": f"Bearer {TOKEN}"}, {"Cookie": own_cookie(port)})
        for number, way in enumerate(WAYS):
            if way.is_preview:
                continue
            for origin in take_turns(foreign_origins(port), number, 4):
                answer = await ask(server, way, {"Origin": origin, **credentials[number % 2]})
                assert answer.status == 403, (way, origin, answer)
                assert has_security_headers(answer, way)
                assert "access-control-allow-origin" not in {name.lower() for name in answer.headers}
            twice = [("Origin", server.url), ("Origin", "https://evil.test"), ("Authorization", f"Bearer {TOKEN}")]
            answer = await ask(server, way, twice)
            assert answer.status == 403 or (way.is_socket and answer.status == 400), (way, answer)
        assert not (await server.store.list()).sessions


async def test_names_that_are_not_ours_are_refused_everywhere(tmp_path: Path):
    async with whole_server(tmp_path) as server:
        port = server.context.settings.port
        foreign = [
            "evil.test",
            f"evil.test:{port}",
            f"127.0.0.1.evil.test:{port}",
            f"127.0.0.1:{port + 1}",
            "127.0.0.1",
        ]
        foreign += [f"localhost.:{port}", f"LOCALHOST:{port}", f"[::]:{port}", f"0.0.0.0:{port}", f"x@127.0.0.1:{port}"]
        for number, way in enumerate(WAYS):
            for host in take_turns(foreign, number, 2):
                answer = await ask(server, way, {"Host": host}, token=TOKEN)
                assert answer.status == 403, (way, host, answer)
                assert has_security_headers(answer, way)
            for host in take_turns((f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"), number, 1):
                answer = await ask(server, way, {"Host": host}, token=TOKEN)
                assert answer.status != 403, (way, host, answer)


SITES = ("cross-site", "same-site", "nonsense", "", "Same-Origin")
MODES = ("no-cors", "cors", "navigate", "websocket")


async def test_w04_requests_of_other_sites_are_refused(tmp_path: Path):
    """Every route with two of the sites; every pair of site and mode."""
    async with whole_server(tmp_path) as server:
        cookie = own_cookie(server.context.settings.port)
        for number, way in enumerate(WAYS):
            if way.is_preview or (way.is_public and way.method == "GET"):
                continue
            for place, site in enumerate(take_turns(SITES, number, 2), number):
                mode = MODES[place % len(MODES)]
                headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Cookie": cookie}
                assert (await ask(server, way, headers, token=TOKEN)).status == 403, (way, site, mode)
        assert not (await server.store.list()).sessions


FORMS = {
    "text": ("text/plain", b'{"text": "x"}'),
    "text with a charset": ("text/plain; charset=utf-8", b'{"text": "x"}'),
    "form": ("application/x-www-form-urlencoded", b"text=x"),
    "multipart": (
        "multipart/form-data; boundary=b",
        b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--',
    ),
    "html": ("text/html", b"<p>"),
    "nothing": ("", b"{}"),
    "looks like json": ("application/json2", b"{}"),
    "json behind": ("text/plain;application/json", b"{}"),
    "two": ("text/plain, application/json", b"{}"),
}


async def test_w04_bodies_that_any_form_can_send_are_refused(tmp_path: Path):
    async with whole_server(tmp_path) as server:
        for number, way in enumerate(way for way in WAYS if not way.is_socket and way.method != "GET"):
            for form in take_turns([*FORMS], number, 2):
                kind, body = FORMS[form]
                answer = await ask(server, way, {"Content-Type": kind}, token=TOKEN, data=body)
                assert answer.status == 415, (way, form, answer)
                assert has_security_headers(answer, way)
        assert not (await server.store.list()).sessions


async def test_w05_w16_every_answer_is_dressed(tmp_path: Path):
    async with whole_server(tmp_path) as server:
        for number, way in enumerate(WAYS):
            if way.template == "/tokens/rotate":
                continue
            answer = await ask(server, way, token=TOKEN)
            assert answer.status < 500, (way, answer)
            if answer.status != 101:
                assert has_security_headers(answer, way)
            if not way.is_socket:
                for method in take_turns(("OPTIONS", "PUT", "TRACE", "PROPFIND", "HEAD"), number, 2):
                    other = await ask(server, RouteMethod(method, way.template), token=TOKEN)
                    assert other.status in (200, 204, 400, 401, 403, 404, 405, 409, 415, 422), (way, method, other)
                    assert has_security_headers(other, way)
        for path in ("/nothing", "/sessions/", "//evil.test/", "/..%2f..%2fetc/passwd", "/docs", "/redoc"):
            answer = await ask(server, RouteMethod("GET", path), token=TOKEN)
            assert answer.status == 404, (path, answer)
            assert has_security_headers(answer, RouteMethod("GET", path))


async def test_w05_only_pages_that_were_allowed_may_read_answers(tmp_path: Path):
    page = "https://page.example"
    settings = ServerSettings(port=0, origins=(page,))
    async with whole_server(tmp_path, settings) as server:
        foreign = ("https://evil.test", "https://page.example.evil.test", "http://page.example", "null")
        for number, way in enumerate(WAYS):
            if way.is_socket or way.is_preview or way.template == "/tokens/rotate":
                continue
            asked = await ask(
                server,
                RouteMethod("OPTIONS", way.template),
                {"Origin": page, "Access-Control-Request-Method": way.method},
            )
            assert asked.status == 204, (way, asked)
            assert asked.headers["Access-Control-Allow-Origin"] == page
            assert "Authorization" in asked.headers["Access-Control-Allow-Headers"]
            allowed_answer = await ask(server, way, {"Origin": page, "Sec-Fetch-Site": "cross-site"}, token=TOKEN)
            assert allowed_answer.status != 403, (way, allowed_answer)
            assert allowed_answer.headers["Access-Control-Allow-Origin"] == page
            assert "Origin" in allowed_answer.headers["Vary"]
            for origin in take_turns(foreign, number, 1):
                evil = await ask(server, RouteMethod("OPTIONS", way.template), {"Origin": origin})
                assert evil.status == 403, (way, origin)
                assert "Access-Control-Allow-Origin" not in evil.headers
            if way.is_guarded:
                by_cookie = {"Origin": page, "Cookie": own_cookie(server.context.settings.port)}
                assert (await ask(server, way, by_cookie)).status == 401, way


async def test_w08_another_owner_finds_nothing_anywhere(tmp_path: Path):
    """Each way that names something of somebody is tried with what is really there."""
    async with whole_server(tmp_path) as server:
        session = await server.session(title="Mine")
        await server.ended(session, (await server.send(session))["exchange"])
        async with server.client.post(
            f"/sessions/{session}/blobs", data=b"kept", headers={"Content-Type": "image/png"}
        ) as put:
            blob = (await put.json())["blob"]
        async with server.client.post("/projects", json={"prompt": {"text": "A page."}, "stack": "html_css"}) as made:
            assert made.status == 201, await made.text()
            project = await made.json()
        version = project["versions"][0]["id"]
        variant = project["versions"][0]["variants"][0]["session"]
        before = await server.log(session)
        tried = 0
        for foreign in (session, variant):
            names = {"session": foreign, "project": project["id"], "version": version, "digest": blob}
            queries = ("?dialect=loop", f"?after={foreign}-1-2", "?after=1")
            for number, way in enumerate(GUARDED):
                if "{session}" not in way.template and "{project}" not in way.template:
                    continue
                for query in ("", *take_turns(queries, number, 1)):
                    answer = await ask(
                        server, way, token=OTHER, data=BODIES.get((way.method, way.template)), query=query, names=names
                    )
                    wrong_query = answer.status == 400 and b"parameter" in answer.body
                    assert answer.status == 404 or wrong_query, (way, query, answer)
                    tried += 1
        assert tried > 100
        assert await server.log(session) == before
        async with server.client.get(f"/sessions/{session}") as answer:
            assert (await answer.json())["title"] == "Mine"


BODIES: dict[tuple[str, str], bytes] = {
    ("PATCH", "/sessions/{session}"): b'{"title": "Theirs"}',
    ("POST", "/sessions/{session}/rewind"): b'{"seq": 0}',
    ("POST", "/projects/{project}/shares"): b"{}",
    ("POST", "/projects/{project}/versions/{version}/variants/{variant}/push"): b'{"remote": "https://example.org/a"}',
    ("POST", "/projects/{project}/versions/{version}/variants/{variant}/parts"): (
        b'{"path": "main", "source": {"version": "v1", "variant": 0}, "source_path": "main"}'
    ),
    ("POST", "/sessions/{session}/reset"): b"",
    ("POST", "/sessions/{session}/fork"): b"{}",
    ("POST", "/sessions/{session}/cancel"): b"{}",
    ("POST", "/sessions/{session}/changes/{path}"): b'{"decision": "revert", "base": null, "hash": null}',
    ("POST", "/sessions/{session}/messages"): b'{"text": "x"}',
    ("POST", "/sessions/{session}/blobs"): b"abc",
    ("POST", "/sessions/{session}/approvals/{approval}"): b'{"decision": "approve"}',
    ("POST", "/sessions/{session}/questions/{question}"): b'{"answer": "x"}',
    ("POST", "/sessions/{session}/memory"): b'{"text": "Theirs."}',
    ("PATCH", "/sessions/{session}/memory/{fact}"): b"{}",
    ("POST", "/projects/{project}/locks"): b'{"kind": "file", "path": "a", "base": {"version": "v1", "variant": 0}}',
    ("PUT", "/projects/{project}/design"): b'{"text": "Theirs"}',
    ("POST", "/projects/{project}/queue"): b'{"base": {"version": "v1", "variant": 0}, "prompt": {"text": "x"}}',
    ("POST", "/sessions/{session}/tool_results"): b'{"call_id": "call_x", "content": "x"}',
    ("PATCH", "/projects/{project}"): b'{"title": "Theirs"}',
    ("POST", "/projects/{project}/versions"): b'{"kind": "restore", "base": {"version": "v1", "variant": 0}}',
}
