"""Users of one server: tokens from a file and from the store, signed tokens, limits of each, and shared projects."""

import asyncio
import base64
import hmac
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp
import jwt
import msgspec
import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

import heald
from heald.core.errors import ConfigurationError
from heald.sessions.sqlite import SqliteStore
from heald_cli.main import main
from heald_server.access.jwt_auth import JwtVerifier
from heald_server.access.tokens import AccessTokens, new_token, token_digest
from heald_server.access.users import Users, read_users
from heald_server.settings import ServerSettings
from serving_parts import TOKEN, context_on, served, serving

AUDIENCE = "heald"


@cache
def rsa_key(name: str) -> rsa.RSAPrivateKey:
    """A key that all tests use: it takes long to make one."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class IdentityProvider:
    """Issues signed tokens, and publishes its keys."""

    def __init__(self) -> None:
        self.keys: dict[str, Any] = {"one": rsa_key("one")}
        self.url = ""
        self.fetched = 0

    async def configuration(self, _: web.Request) -> web.Response:
        return web.json_response({"issuer": self.url, "jwks_uri": f"{self.url}/keys"})

    async def publish(self, _: web.Request) -> web.Response:
        self.fetched += 1
        return web.json_response({"keys": [self._public(name) for name in self.keys]})

    def _public(self, name: str) -> dict[str, Any]:
        key = self.keys[name]
        if isinstance(key, rsa.RSAPrivateKey):
            return {**json.loads(RSAAlgorithm.to_jwk(key.public_key())), "kid": name, "use": "sig", "alg": "RS256"}
        return {**json.loads(ECAlgorithm.to_jwk(key.public_key())), "kid": name, "use": "sig", "alg": "ES256"}

    def token(self, owner: str = "ann", *, key: str = "one", signed_with: Any = None, **claims: Any) -> str:
        now = time.time()
        content = {"iss": self.url, "aud": AUDIENCE, "sub": owner, "iat": now, "exp": now + 600} | claims
        content = {name: value for name, value in content.items() if value is not None}
        private = signed_with if signed_with is not None else self.keys[key]
        algorithm = "ES256" if isinstance(private, ec.EllipticCurvePrivateKey) else "RS256"
        return jwt.encode(content, private, algorithm=algorithm, headers={"kid": key})


@pytest.fixture
async def provider() -> AsyncGenerator[IdentityProvider]:
    made = IdentityProvider()
    app = web.Application()
    app.router.add_get("/.well-known/openid-configuration", made.configuration)
    app.router.add_get("/keys", made.publish)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def status_of(client: aiohttp.ClientSession, token: str, path: str = "/sessions") -> int:
    async with client.get(path, headers=bearer(token)) as answer:
        return answer.status


async def until_status(client: aiohttp.ClientSession, token: str, status: int) -> None:
    while await status_of(client, token) != status:  # noqa: ASYNC110
        await asyncio.sleep(0.02)


# --- signed tokens -------------------------------------------------------------------------------------------------


async def test_a_signed_token_gives_access_to_the_sessions_of_its_subject(
    provider: IdentityProvider, tmp_path: Path
) -> None:
    verifier = JwtVerifier(provider.url, AUDIENCE)
    context = context_on(SqliteStore(tmp_path / "s.db"), {"scripted": lambda: heald.testing.ScriptedModel(["Hello."])})
    context.tokens = AccessTokens({}, verify=verifier.verify)
    async with serving(context, token=None) as server:
        ann, bob = bearer(provider.token("ann")), bearer(provider.token("bob"))
        async with server.client.post("/sessions", json={}, headers=ann) as answer:
            assert answer.status == 201
            session = (await answer.json())["id"]
        async with server.client.get(f"/sessions/{session}", headers=ann) as answer:
            assert answer.status == 200
        async with server.client.get(f"/sessions/{session}", headers=bob) as answer:
            assert answer.status == 404
        async with server.client.post("/login", json={"token": provider.token("ann")}) as answer:
            assert answer.status == 200
            assert "heald" in str(answer.cookies)
    assert provider.fetched == 1


def unsigned(provider: IdentityProvider) -> str:
    header, claims, _ = provider.token().split(".")
    none = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT","kid":"one"}').decode().rstrip("=")
    assert header != none
    return f"{none}.{claims}."


def with_shared_secret(provider: IdentityProvider) -> str:
    """The classic confusion: the public key as the secret of HS256."""
    key = provider.keys["one"].public_key()
    public = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    claims = provider.token().split(".")[1]
    header = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": "one"}).encode()).decode().rstrip("=")
    signature = hmac.digest(public, f"{header}.{claims}".encode(), "sha256")
    return f"{header}.{claims}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


BAD: dict[str, Callable[[IdentityProvider], str]] = {
    "another key": lambda p: p.token(signed_with=rsa_key("two")),
    "an unknown key": lambda p: p.token(key="two", signed_with=rsa_key("two")),
    "another audience": lambda p: p.token(aud="somebody-else"),
    "no audience": lambda p: p.token(aud=None),
    "another issuer": lambda p: p.token(iss="https://example.org"),
    "an algorithm that is not allowed": lambda p: jwt.encode(
        {"iss": p.url, "aud": AUDIENCE, "sub": "ann", "exp": time.time() + 600},
        p.keys["one"],
        algorithm="RS512",
        headers={"kid": "one"},
    ),
    "no algorithm": unsigned,
    "a shared secret": with_shared_secret,
    "expired": lambda p: p.token(exp=time.time() - 120),
    "not valid yet": lambda p: p.token(nbf=time.time() + 600),
    "no end": lambda p: p.token(exp=None),
    "no subject": lambda p: p.token(sub=None),
    "an empty subject": lambda p: p.token(" "),
    "rubbish": lambda _: "a.b.c",
    "too long": lambda p: p.token(more="x" * 20_000),
    "changed": lambda p: p.token()[:-4] + "AAAA",
}


@pytest.mark.parametrize("kind", BAD)
async def test_a_bad_token_is_refused(provider: IdentityProvider, kind: str) -> None:
    verifier = JwtVerifier(provider.url, AUDIENCE)
    assert await verifier.verify(provider.token()) is not None
    assert await verifier.verify(BAD[kind](provider)) is None
    tokens = AccessTokens({}, verify=verifier.verify)
    assert await tokens.identify_signed(BAD[kind](provider)) is None


async def test_keys_are_renewed_when_a_token_names_a_new_one(
    provider: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    verifier = JwtVerifier(provider.url, AUDIENCE)
    assert await verifier.verify(provider.token()) is not None
    provider.keys = {"new": ec.generate_private_key(ec.SECP256R1())}
    fresh = provider.token(key="new")
    assert await verifier.verify(fresh) is None  # not fetched a second time within seconds
    assert provider.fetched == 1
    monkeypatch.setattr("heald_server.access.jwt_auth._RETRY_SECONDS", 0.0)
    signed = await verifier.verify(fresh)
    assert signed is not None
    assert signed.owner == "ann"
    assert provider.fetched == 2


async def test_the_stream_of_a_signed_token_ends_with_it(
    provider: IdentityProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heald_server.access.jwt_auth.LEEWAY_SECONDS", 0.0)
    context = context_on(SqliteStore(tmp_path / "s.db"), {"scripted": lambda: heald.testing.ScriptedModel(["Hello."])})
    context.tokens = AccessTokens({}, verify=JwtVerifier(provider.url, AUDIENCE).verify)
    async with serving(context, token=None) as server:
        headers = bearer(provider.token(exp=time.time() + 2))
        async with server.client.post("/sessions", json={}, headers=headers) as answer:
            session = (await answer.json())["id"]
        async with asyncio.timeout(60), server.client.get(f"/sessions/{session}/events", headers=headers) as stream:
            text = (await stream.content.read()).decode()
        assert "goodbye" in text
        async with server.client.get("/sessions", headers=headers) as answer:
            assert answer.status == 401


async def test_a_signed_token_ends_when_its_key_is_withdrawn(
    provider: IdentityProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heald_server.access.jwt_auth._KEYS_SECONDS", 0.0)
    monkeypatch.setattr("heald_server.context._SWEEP_SECONDS", 0.1)
    context = context_on(SqliteStore(tmp_path / "s.db"), {"scripted": lambda: heald.testing.ScriptedModel(["Hello."])})
    verifier = JwtVerifier(provider.url, AUDIENCE)
    context.tokens = AccessTokens({}, verify=verifier.verify, has_key=verifier.has_key)
    context.on_records("token", context.tokens.reload)
    async with serving(context, token=None) as server:
        headers = bearer(provider.token())
        async with server.client.post("/sessions", json={}, headers=headers) as answer:
            session = (await answer.json())["id"]
        async with server.client.post("/login", json={"token": provider.token()}) as answer:
            cookies = {name: morsel.value for name, morsel in answer.cookies.items()}
        async with asyncio.timeout(60), server.client.get(f"/sessions/{session}/events", headers=headers) as stream:
            first_keys = provider.keys
            provider.keys = {"new": rsa_key("two")}
            assert "goodbye" in (await stream.content.read()).decode()

        async def status_of_cookie() -> int:
            async with server.client.get("/sessions", cookies=cookies) as answer:
                return answer.status

        async with asyncio.timeout(60):
            while await status_of_cookie() != 401:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        provider.keys = {**first_keys, **provider.keys}
        await asyncio.sleep(0.3)
        assert await status_of_cookie() == 401


async def test_a_provider_that_cannot_be_reached_ends_no_token(
    provider: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heald_server.access.jwt_auth._KEYS_SECONDS", 0.0)
    verifier = JwtVerifier(provider.url, AUDIENCE)
    tokens = AccessTokens({}, verify=verifier.verify, has_key=verifier.has_key)
    token_id = await tokens.identify_signed(provider.token())
    assert token_id is not None
    provider.url = "http://127.0.0.1:1"  # its configuration names another issuer now
    await tokens.reload()
    assert tokens.owner_of(token_id) == "ann"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"issuer": "http://example.org"}, "https://"),
        ({"issuer": ""}, "issuer"),
        ({"audience": ""}, "audience"),
        ({"algorithms": ("HS256",)}, "HS256"),
        ({"algorithms": ("none",)}, "none"),
        ({"algorithms": ()}, "No algorithm"),
        ({"keys_url": "file:///etc/passwd"}, "https://"),
    ],
)
def test_unsafe_settings_are_refused(options: dict[str, Any], said: str) -> None:
    whole = {"issuer": "https://id.example.org", "audience": AUDIENCE} | options
    with pytest.raises(ConfigurationError, match=said):
        JwtVerifier(whole.pop("issuer"), whole.pop("audience"), **whole)


# --- tokens of the file and of the store ----------------------------------------------------------------------------


def test_a_file_of_users(tmp_path: Path) -> None:
    file = tmp_path / "users.toml"
    digest = token_digest("a-token-of-bob-here").hex()
    file.write_text(
        '[ann]\ntokens = ["a-token-of-ann-here"]\nmax_exchanges = 2\n'
        f'["bob@example.org"]\ntokens = ["sha256:{digest}"]\n'
    )
    users = read_users(str(file))
    tokens = AccessTokens({}, digests=users.digests)
    for token, owner in (("a-token-of-ann-here", "ann"), ("a-token-of-bob-here", "bob@example.org")):
        token_id = tokens.identify(token)
        assert token_id is not None
        assert tokens.owner_of(token_id) == owner
    assert tokens.identify(f"sha256:{digest}") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[ann]\ntokens = ['short']\n", "fewer than 16"),
        ("[ann]\nmax_exchanges = 0\n", "ann"),
        ("[ann]\nlimit = 3\n", "limit"),
        ("ann = 3\n", "ann"),
        ("[ann\n", "not valid TOML"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "users.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=said):
        read_users(str(tmp_path / "users.toml"))


async def test_each_user_has_limits_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "users.toml").write_text("[ann]\nmax_exchanges = 1\nmax_tokens_per_day = 5\n")
    users: Users = read_users(str(tmp_path / "users.toml"))
    context = context_on(SqliteStore(tmp_path / "s.db"), {}, settings=ServerSettings(port=0))
    limits = type(context.meters)(context.settings.limits, users=users)
    assert (limits.limits_of("ann").exchanges, limits.limits_of("ann").tokens_per_day) == (1, 5)
    assert limits.limits_of("bob") == context.settings.limits
    await context.sessions.store.close()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


def heald_tokens(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["tokens", *words]) == 0
    return capsys.readouterr().out


async def test_tokens_are_added_and_revoked_while_the_server_runs(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with served(data) as server:
        added = await asyncio.to_thread(heald_tokens, capsys, "add", "ann", "--json", "--data", str(data))
        made = json.loads(added)
        async with asyncio.timeout(60):
            await until_status(server.client, made["token"], 200)
            headers = bearer(made["token"])
            async with server.client.post("/sessions", json={}, headers=headers) as answer:
                session = (await answer.json())["id"]
            assert (await server.store.info(session)).owner == "ann"
            async with server.client.get(f"/sessions/{session}") as answer:
                assert answer.status == 404  # the owner of the server's own token is another one
            stream = await server.client.get(f"/sessions/{session}/events", headers=headers)
            listed = await asyncio.to_thread(heald_tokens, capsys, "list", "--data", str(data))
            assert made["id"][:12] in listed
            assert made["token"] not in listed
            await asyncio.to_thread(heald_tokens, capsys, "revoke", made["id"][:12], "--data", str(data))
            assert "goodbye" in (await stream.content.read()).decode()
            assert await status_of(server.client, made["token"]) == 401


async def test_a_token_expires(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = await asyncio.to_thread(heald_tokens, capsys, "add", "ann", "--days", "0.00001", "--data", str(data))
    await asyncio.sleep(1.0)
    async with served(data) as server:
        assert await status_of(server.client, made.strip()) == 401


async def test_a_token_that_was_replaced_is_unknown_to_every_server_of_the_store(tmp_path: Path) -> None:
    async with served(tmp_path) as first, served(tmp_path) as second:
        async with first.client.post("/tokens/rotate") as answer:
            fresh = (await answer.json())["token"]
        async with asyncio.timeout(60):
            await until_status(second.client, TOKEN, 401)
            await until_status(second.client, fresh, 200)
    async with served(tmp_path) as again:  # and after a restart with the same options
        assert await status_of(again.client, TOKEN) == 401
        assert await status_of(again.client, fresh) == 200


# --- two owners ----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def two_users(tmp_path: Path) -> AsyncGenerator[tuple[Any, str, dict[str, str]]]:
    """A server with a session of one user, and the headers of another one."""
    other = new_token()
    async with served(tmp_path, owners={TOKEN: "ann", other: "bob"}) as server:
        session = await server.session(title="Secret of Ann")
        await server.send(session)
        yield server, session, bearer(other)


async def test_two_owners_cannot_see_name_cancel_or_watch_each_others_sessions(tmp_path: Path) -> None:
    async with two_users(tmp_path) as (server, session, bob):
        client = server.client
        async with client.get("/sessions", headers=bob) as answer:
            assert (await answer.json())["sessions"] == []
        async with client.post(
            f"/sessions/{session}/blobs", data=b"x", headers={"Content-Type": "application/octet-stream"}
        ) as answer:
            digest = (await answer.json()).get("digest") or (await answer.json()).get("blob")
        at = f"/sessions/{session}"
        for method, path, body in (
            ("GET", at, None),
            ("PATCH", at, {"title": "Mine"}),
            ("DELETE", at, None),
            ("GET", f"{at}/events", None),
            ("GET", f"{at}/messages", None),
            ("GET", f"{at}/pending", None),
            ("POST", f"{at}/messages", {"text": "Hello"}),
            ("POST", f"{at}/cancel", {}),
            ("POST", f"{at}/approvals/a", {"decision": "deny"}),
            ("POST", f"{at}/questions/q", {"answer": "yes"}),
            ("POST", f"{at}/tool_results", {"call_id": "c", "content": "x"}),
            ("GET", f"{at}/blobs/{digest}", None),
            ("GET", f"{at}/files", None),
            ("POST", f"{at}/fork", {}),
            ("POST", f"{at}/fork", {"change": {"prompt": "Mine"}}),
            ("GET", f"{at}/compare/{session}", None),
        ):
            async with client.request(method, path, json=body, headers=bob) as answer:
                assert answer.status == 404, (method, path, await answer.text())
                assert "Secret" not in await answer.text()
        async with client.get(at) as answer:
            assert (await answer.json())["title"] == "Secret of Ann"


# --- shared projects -------------------------------------------------------------------------------------------------


async def test_a_link_lets_another_user_read_or_work_in_one_project(tmp_path: Path) -> None:
    other = new_token()
    async with served(tmp_path, owners={TOKEN: "ann", other: "bob"}) as server:
        sessions, bob = server.context.sessions, bearer(other)
        project = (await sessions.create(owner="ann", kind="project", title="Shared")).id
        made = await sessions.store.info(project)
        info = msgspec.structs.replace(made, id="ses_variant", kind="variant", parent=project)
        await sessions.store.create(info)
        private = await server.session()
        at = f"/projects/{project}/shares"

        async def link(writable: bool) -> dict[str, Any]:
            async with server.client.post(at, json={"writable": writable}) as answer:
                assert answer.status == 201, await answer.text()
                return await answer.json()

        async def asked(method: str, path: str, secret: str, body: Any = None) -> int:
            headers = bob | {"X-Heald-Share": secret}
            async with server.client.request(method, path, json=body, headers=headers) as answer:
                return answer.status

        reading, writing = await link(False), await link(True)
        assert await asked("GET", "/sessions/ses_variant", reading["secret"]) == 200
        assert await asked("GET", f"/sessions/{private}", reading["secret"]) == 403
        assert await asked("GET", "/sessions", reading["secret"]) == 403
        assert await asked("POST", "/sessions/ses_variant/messages", reading["secret"], {"text": "Hi"}) == 403
        assert await asked("POST", "/sessions/ses_variant/messages", writing["secret"], {"text": "Hi"}) == 202
        assert await asked("DELETE", "/sessions/ses_variant", writing["secret"]) == 403
        assert await asked("DELETE", f"/projects/{project}", writing["secret"]) == 403
        assert await asked("POST", at, writing["secret"], {"writable": True}) == 403
        assert await asked("GET", "/sessions/ses_variant", "rubbish") == 404
        await sessions.store.create(msgspec.structs.replace(info, id="ses_other"))
        assert await asked("GET", "/sessions/ses_variant/compare/ses_other", reading["secret"]) == 200
        assert await asked("GET", f"/sessions/ses_variant/compare/{private}", reading["secret"]) == 404
        assert await asked("POST", "/sessions/ses_variant/fork", writing["secret"], {"change": {"prompt": "Hi"}}) == 403
        async with server.client.get(f"/sessions/ses_variant?share={reading['secret']}", headers=bob) as answer:
            assert answer.status == 200
        async with server.client.get(
            f"/sessions/ses_variant?share={reading['secret']}", headers={"Authorization": ""}
        ) as answer:
            assert answer.status == 401  # a link is for users of the server
        async with server.client.get(at) as answer:
            shares = (await answer.json())["shares"]
            assert [share["writable"] for share in shares] == [False, True]
            assert all("secret" not in share for share in shares)
        async with server.client.get(at, headers=bob) as answer:
            assert answer.status == 404
        async with server.client.delete(f"{at}/{reading['id']}") as answer:
            assert answer.status == 204
        assert await asked("GET", "/sessions/ses_variant", reading["secret"]) == 404
