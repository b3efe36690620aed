"""Addresses, tokens and frames: what is taken, what is refused, and what is never shown."""

import copy
import logging
import pickle
import traceback
from contextlib import suppress

import pytest
from client_bench import TOKEN, serving
from hypothesis import given
from hypothesis import strategies as st

import heald
import heald_server
from heald.core.envelope import Event, new_event
from heald.core.errors import (
    ConfigurationError,
    ErrorInfo,
    HealdError,
    NotFound,
    ProviderError,
)
from heald.core.events import ConversationQueued
from heald.core.json import encode_text
from heald_server.client.address import AccessToken, parse_address
from heald_server.client.errors import ConnectionLost, restore_error
from heald_server.client.event_cursor import EventCursor
from heald_server.client.server_frames import read_frame


def _kinds(base: type[HealdError]) -> set[type[HealdError]]:
    """The errors of core. NotFound is a server's answer (404), never an event's."""
    below = {kind for child in base.__subclasses__() for kind in _kinds(child)}
    return {kind for kind in (base, *below) if kind.__module__ == "heald.core.errors"} - {ProviderError, NotFound}


@pytest.mark.parametrize(
    ("url", "base", "socket"),
    [
        ("http://127.0.0.1:7878", "http://127.0.0.1:7878", "ws://127.0.0.1:7878/ws"),
        ("http://127.0.0.1:7878/", "http://127.0.0.1:7878", "ws://127.0.0.1:7878/ws"),
        ("https://Heald.example/at/home/", "https://heald.example/at/home", "wss://heald.example/at/home/ws"),
        ("wss://heald.example", "https://heald.example", "wss://heald.example/ws"),
        (" ws://[::1]:80/#token=x ", "http://[::1]:80", "ws://[::1]:80/ws"),
    ],
)
def test_addresses(url: str, base: str, socket: str) -> None:
    address, _ = parse_address(url, None)
    assert (str(address), address.websocket()) == (base, socket)
    assert address.http("/sessions", after=1, limit=2) == f"{base}/sessions?after=1&limit=2"


def test_the_token_of_a_printed_address() -> None:
    bearer = {"Authorization": "Bearer abc-_9"}
    assert parse_address("http://localhost:1/#token=abc-_9", None)[1].headers() == bearer
    assert parse_address("http://localhost:1/#token=other", "abc-_9")[1].headers() == bearer
    assert parse_address("http://localhost:1/", None)[1].headers() == {}


@pytest.mark.parametrize(
    "url",
    ["", "localhost:1", "ftp://a", "http://", "http:///x", "http://u:CANARY@a", "http://a/?token=CANARY", "http://a:x/",
     "http://a:99999/", "http://a/\nCANARY", "http://[::1/", "file:///etc/passwd", "//a/b"],
)  # fmt: skip
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(ConfigurationError, match="The server's address") as refused:
        heald_server.connect(url, "tok")
    assert "CANARY" not in str(refused.value)


@pytest.mark.parametrize("token", ["", "two words", "CANARY\r\nX-Other: 1", "CANARÝ", "\0"])
def test_tokens_that_are_none(token: str) -> None:
    with pytest.raises(ConfigurationError, match="The token") as refused:
        heald_server.connect("http://127.0.0.1:1", token)
    assert "CANAR" not in str(refused.value)


def abs_of(number: int) -> int:
    """The absolute value."""
    return abs(number)


def test_settings_that_do_not_go_together() -> None:
    with pytest.raises(ConfigurationError, match="has its own model, title"):
        heald_server.connect("http://127.0.0.1:1", session="ses_a", model="m", title="t")
    with pytest.raises(ConfigurationError, match="tools must be a list or None"):
        heald_server.connect("http://127.0.0.1:1", tools="files")
    with pytest.raises(ConfigurationError, match="two tools named 'int'"):
        heald_server.connect(
            "http://127.0.0.1:1", tools=[heald.tool(name="int")(abs_of), heald.tool(name="int")(abs_of)]
        )
    with pytest.raises(ConfigurationError, match="needs a name"):
        heald_server.connect("http://127.0.0.1:1", tools=[{"name": "two words"}])


def test_a_token_is_not_shown() -> None:
    token = AccessToken("CANARY")
    agent = heald_server.connect("http://127.0.0.1:1/#token=CANARY")
    assert "CANARY" not in f"{token!r} {token} {agent!r} {agent} {vars(agent)}"
    assert token.scrub("it is CANARY, you know") == "it is …, you know"
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled"):
            copied(token)


async def test_no_token_in_urls_logs_or_errors(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving("One.", "Two.") as server:
        seen: list[BaseException] = []
        async with server.client() as agent:
            await agent.run("Hi")
            server.disturb = lambda number, text: None if number % 5 == 0 else [text]
            await agent.run("Hi")
            server.disturb = lambda _, text: [
                encode_text({"type": "error", "id": frame_id(text), "error": {"code": "x", "message": f"no {TOKEN}"}})
                if '"state"' in text
                else text
            ]
            try:
                await agent.run("Hi")
            except HealdError as error:
                seen.append(error)
            server.disturb = lambda _, text: [text]
            server.sessions.clear()
            server.cut_all()
            try:
                await agent.run("Hi")
            except HealdError as error:
                seen.append(error)
        assert len(seen) == 2
        told = "".join("".join(traceback.format_exception(error)) for error in seen)
        assert "no …" in told
        for text in (told, caplog.text, *server.requests, encode_text(server.subscriptions)):
            assert TOKEN not in text


def frame_id(text: str) -> str:
    return text.partition('"id":"')[2].partition('"')[0]


_KEYS = st.sampled_from(
    [
        "type",
        "seq",
        "id",
        "session",
        "exchange",
        "layer",
        "time",
        "epoch",
        "data",
        "error",
        "code",
        "message",
        "result",
        "reason",
    ]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=9),
    max_leaves=20,
)
_TYPES = st.sampled_from(
    [
        "subscribed",
        "reply",
        "error",
        "reset",
        "goodbye",
        "heartbeat",
        "pong",
        "text_delta",
        "exchange_response",
        "new",
    ]
)
frames = st.tuples(_TYPES, st.dictionaries(_KEYS, anything, max_size=9)).map(lambda both: both[1] | {"type": both[0]})


@given(st.text() | anything.map(encode_text) | frames.map(encode_text))
def test_any_text_is_a_frame_or_none(text: str) -> None:
    with suppress(ConnectionLost):
        read_frame(text)


def event(seq: int, session: str = "ses_a") -> Event:
    data = ConversationQueued(seq)
    return new_event(seq, f"{session}-{seq}", session, None, data.type, data.layer, 0.0, 0, data)


@given(st.integers(0, 5), st.lists(st.integers(0, 12)))
def test_a_cursor_accepts_each_event_once_and_none_behind_a_gap(start: int, arrivals: list[int]) -> None:
    cursor = EventCursor("ses_a", start)
    taken: list[int] = []
    for seq in arrivals:
        try:
            if cursor.advance(event(seq)):
                taken.append(seq)
        except ConnectionLost:
            assert seq > cursor.seq + 1
    assert taken == list(range(start + 1, start + 1 + len(taken)))
    assert cursor.seq == start + len(taken)


@given(st.lists(st.integers(1, 9)))
def test_other_logs_never_run_backwards(arrivals: list[int]) -> None:
    cursor = EventCursor("ses_a", 3)
    taken = [seq for seq in arrivals if cursor.advance(event(seq, "ses_b"))]
    assert taken == sorted(set(taken))
    assert cursor.seq == 3


@pytest.mark.parametrize("kind", sorted(_kinds(HealdError), key=str))
def test_errors_come_back_as_they_were(kind: type[HealdError]) -> None:
    given_ = kind("What, where, what to do.")
    if isinstance(given_, ProviderError):
        given_.status, given_.provider_code, given_.request_id = 418, "teapot", "req_1"
    made = restore_error(given_.info())
    assert type(made) is kind
    assert made.info() == given_.info()


def test_an_error_of_a_later_version() -> None:
    info = ErrorInfo(code="new_code", message="Something new.")  # pyright: ignore[reportArgumentType]
    assert str(restore_error(info)) == "Something new."
