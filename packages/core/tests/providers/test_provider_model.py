"""`heald.Model`: any endpoint, the name as it stands, the key in a header and nowhere else."""

from urllib.parse import unquote

import pytest
from provider_bench import KEY, NOW, WIRES, model_at, turn_of

import heald
from heald.core.errors import BadBaseUrl, ConfigurationError, HealdError, MissingKey
from heald.core.messages import user_message
from heald.providers.endpoint import Auth
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald.wires.registry import WIRES as REGISTERED

NAME = "Org/My Model:v1.5@2026 ü"

AUTH = {
    "chat": ("authorization", f"Bearer {KEY}"),
    "responses": ("authorization", f"Bearer {KEY}"),
    "messages": ("x-api-key", KEY),
    "gemini": ("x-goog-api-key", KEY),
    "ollama": ("authorization", f"Bearer {KEY}"),
}


@pytest.mark.parametrize("wire", WIRES)
async def test_what_a_server_sees(wire: str) -> None:
    async with ScriptedServer([wire_reply(wire, text="Hello")]) as server:
        session = heald.providers.open_provider_session(
            model_at(server.url, wire, NAME), messages=[user_message("Go.")], retry=NOW
        )
        turn = await turn_of(session)
        assert turn.text == "Hello"
        (request,) = server.requests
    assert request.method == "POST"
    sent = unquote(request.path) if wire == "gemini" else request.body["model"]
    assert NAME in sent
    assert {name: value for name, value in request.headers.items() if KEY in value} == dict([AUTH[wire]])
    assert KEY not in request.path
    assert KEY.encode() not in request.content
    assert request.headers["user-agent"] == f"heald/{heald.__version__}"
    assert request.headers["accept-encoding"] == "identity"
    assert "cookie" not in request.headers


@pytest.mark.parametrize(
    ("auth", "header"),
    [("bearer", "authorization"), ("x-api-key", "x-api-key"), ("api-key", "api-key"), ("none", None)],
)
async def test_the_keys_place_can_be_chosen(auth: Auth, header: str | None) -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello")]) as server:
        model = model_at(server.url, auth=auth, headers={"x-team": "heald"})
        await turn_of(heald.providers.open_provider_session(model, messages=[user_message("Go.")]))
        (request,) = server.requests
    assert [name for name, value in request.headers.items() if KEY in value] == ([header] if header else [])
    assert request.headers["x-team"] == "heald"


@pytest.mark.parametrize("wire", WIRES)
def test_the_key_is_not_shown(wire: str) -> None:
    model = model_at("https://models.test", wire)
    assert KEY not in f"{model!r} {model} {model.url} {model.endpoint!r}"
    assert KEY not in repr(heald.providers.open_provider_session(model))


def test_a_key_from_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> heald.Model:
        return heald.Model("m", base_url="https://models.test/v1", api_key_env="MY_KEY")

    with pytest.raises(MissingKey, match="set MY_KEY in the environment"):
        heald.providers.open_provider_session(make())
    monkeypatch.setenv("MY_KEY", KEY)
    heald.providers.open_provider_session(make())
    assert make().request_headers["authorization"] == f"Bearer {KEY}"


def test_no_key_where_none_is_asked_for() -> None:
    model = heald.Model("m", base_url="http://127.0.0.1:8080/v1")
    heald.providers.open_provider_session(model)
    assert "authorization" not in model.request_headers


def test_an_unknown_wire() -> None:
    with pytest.raises(ConfigurationError) as raised:
        heald.Model("m", wire="telegraph", base_url="https://models.test/v1")
    assert str(raised.value) == f"There is no wire 'telegraph'; choose one of {', '.join(REGISTERED)}."


# --- base URLs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("https://h.test/v1", "https://h.test/v1/chat/completions"),
        ("https://h.test/v1//", "https://h.test/v1/chat/completions"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/chat/completions"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1/chat/completions"),
        ("HTTPS://H.test/deep/path/v1", "HTTPS://H.test/deep/path/v1/chat/completions"),
    ],
)
def test_good_base_urls(base_url: str, url: str) -> None:
    assert heald.Model("m", base_url=base_url).url == url


BAD = [
    "",
    " ",
    "nowhere",
    "localhost:8080",
    "127.0.0.1",
    "//h.test/v1",
    "/v1",
    "ftp://h.test/v1",
    "file:///etc/passwd",
    "ws://h.test",
    "http://",
    "http:///v1",
    "https:h.test",
    "http://:8080/v1",
    "http://h.test:port/v1",
    "http://h.test:99999/v1",
    "http://h.test:0/v1",
    "http://h.test:-1/v1",
    "http://[::1/v1",
    "http://[nonsense]/v1",
    "http://h .test/v1",
    "http://h.test/v1?key=1",
    "http://h.test/v1#part",
    "http://user@h.test/v1",
    "http://user:hunter2@h.test/v1",
    "javascript:alert(1)",
]


@pytest.mark.parametrize("base_url", BAD)
def test_bad_base_urls(base_url: str) -> None:
    with pytest.raises(BadBaseUrl) as raised:
        heald.Model("m", base_url=base_url, api_key=KEY)
    assert raised.value.code == "bad_base_url"
    assert "base URL" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("base_url", ["https://user:hunter2@h.test/v1", "ftp://user:hunter2@h.test/v1"])
def test_a_password_in_a_base_url_is_not_repeated(base_url: str) -> None:
    with pytest.raises(BadBaseUrl) as raised:
        heald.Model("m", base_url=base_url)
    assert "hunter2" not in str(raised.value)


async def ask_at(url: str, key: str) -> None:
    session = heald.providers.open_provider_session(
        model_at(url, api_key=key), messages=[user_message("Go.")], retry=NOW
    )
    await session.stream_turn(lambda _: None)


@pytest.mark.parametrize("host", ["a..b", "x" * 70 + ".test", "h\n.test", "-.test"])
async def test_hosts_that_cannot_be(host: str) -> None:
    """Refused at once or when they are dialled, but always in our words."""
    with pytest.raises(HealdError) as raised:
        await ask_at(f"http://{host}", KEY)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("key", ["two\nlines-secret", "nul\0-secret", "carriage\r-secret"])
async def test_a_key_that_cannot_be_sent(key: str) -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello")]) as server:
        with pytest.raises(HealdError) as raised:
            await ask_at(server.url, key)
        assert server.requests == []
    assert "secret" not in str(raised.value)
    assert "key" in str(raised.value)
