"""`heald conform` at the command line: lines, JSON, exit status, and one sentence where nothing can be tested."""

import argparse
import asyncio
import socket
from json import loads
from pathlib import Path

import pytest
from test_conform import each_call

from good_server import KEY, GoodServer
from heald.testing.server import ReceivedRequest, Reply, ReplyFunction, Reset, ScriptedServer
from heald.testing.streams import wire_reply
from heald_check.commands import conform
from heald_check.conform import prompts
from heald_cli.main import parser


@pytest.fixture(autouse=True)
def own_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEALD_DATA", str(tmp_path / "data"))


def parse(*words: str) -> argparse.Namespace:
    return parser("conform").parse_args(["conform", *words])


async def run(answer: ReplyFunction, *words: str) -> int:
    """The command as a person starts it: its own event loop, in a thread beside the server's."""
    async with ScriptedServer(answer) as server:
        args = parse("--base-url", f"{server.url}/v1", "--model", "model", *words)
        return await asyncio.to_thread(conform.run, args)


def without_ids(request: ReceivedRequest) -> Reply:
    return each_call(lambda call: call.pop("id", None))(GoodServer("chat")(request), request)


def refusing(status: int, message: str) -> ReplyFunction:
    return lambda _: Reply.json({"error": {"message": message, "type": "error"}}, status)


def redirecting(request: ReceivedRequest) -> Reply:
    return Reply(status=307, headers={"Location": "http://127.0.0.1:1/"})


async def test_all_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert await run(GoodServer("chat")) == 0
    out, err = capsys.readouterr()
    *lines, summary = out.splitlines()
    assert err == ""
    assert lines[0] == "ok       text               “Hello there.” | A plain request is answered with text."
    assert summary == f"{len(lines) - 1} ok, 0 wrong, 1 skipped"
    assert {line.split()[0] for line in lines} == {"ok", "skipped"}


async def test_something_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert await run(without_ids, "--only", "tool-call", "call-ids") == 1
    assert capsys.readouterr().out.splitlines() == [
        'ok       tool-call          get_weather({"city":"Oslo"}) | A tool that tool_choice names is called.',
        "wrong    call-ids           a call has no id (tool-call, no-arguments, parallel) | "
        "Every call has one id that no other call has. [T06]",
        "1 ok, 1 wrong, 0 skipped",
    ]


async def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert await run(without_ids, "--json", "--only", "text", "call-ids") == 1
    text, ids, summary = (loads(line) for line in capsys.readouterr().out.splitlines())
    assert text == {
        "outcome": "ok",
        "check": "text",
        "seen": "“Hello there.”",
        "right": "A plain request is answered with text.",
        "case": None,
    }
    assert (ids["outcome"], ids["check"], ids["case"]) == ("wrong", "call-ids", "T06")
    assert summary == {"summary": {"ok": 1, "wrong": 1, "skipped": 0}}


async def test_the_key_goes_to_the_server_and_nowhere_else(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    seen: list[str] = []
    good = GoodServer("messages")

    def answer(request: ReceivedRequest) -> Reply:
        seen.append(request.headers["x-api-key"])
        reply = good(request)
        message = f"Your key {request.headers['x-api-key']} was not the matter."
        error = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
        return reply if reply.status == 200 else Reply.json(error, reply.status)

    assert await run(answer, "--wire", "messages", "--api-key-env", "MY_KEY") == 0
    out = capsys.readouterr().out
    assert KEY in seen
    assert KEY not in out
    assert "Your key [key] was not the matter." in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--base-url", "nowhere"], "must look like https://host/v1"),
        (["--base-url", "http://[::1"], "must look like https://host/v1"),
        (["--api-key-env", "HEALD_NO_SUCH_KEY"], "set HEALD_NO_SUCH_KEY in the environment"),
        (["--only", "call-idz"], "There is no check 'call-idz' for the wire chat; did you mean 'call-ids'?"),
        (["--only", "text", "xyz"], "There is no check 'xyz' for the wire chat; choose among text, turns, "),
        (["--wire", "ollama", "--only", "done-marker"], "There is no check 'done-marker' for the wire ollama"),
    ],
)
async def test_wrong_use(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert await run(GoodServer("chat"), *words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("heald conform: ")
    assert sentence in err


@pytest.mark.parametrize("words", [["--wire", "telegraph"], ["--timeout", "0"], ["--timeout", "soon"], ["--only"]])
def test_wrong_words(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        parse("--base-url", "http://127.0.0.1:1/v1", "--model", "model", *words)
    assert left.value.code == 2
    assert words[0] in capsys.readouterr().err


def test_nobody_there(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    assert conform.run(parse("--base-url", f"http://127.0.0.1:{port}/v1", "--model", "model")) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"heald conform: Cannot connect to http://127.0.0.1:{port}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (refusing(401, "Nobody knows you."), "(HTTP 401): Nobody knows you. Check the key"),
        (refusing(404, "There is no such model."), "(HTTP 404): There is no such model. Check the model's name"),
        (redirecting, "The server redirects"),
    ],
)
async def test_nothing_can_be_tested(answer: ReplyFunction, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert await run(answer, "--only", "text") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert sentence in err


async def test_a_connection_that_breaks_is_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert await run(lambda _: Reply([Reset()]), "--only", "text") == 1
    assert "the connection broke after 0 bytes" in capsys.readouterr().out


async def test_a_key_that_cannot_be_sent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "two\nlines")
    assert await run(GoodServer("chat"), "--api-key-env", "MY_KEY") == 2
    err = capsys.readouterr().err
    assert err.startswith("heald conform: ")
    assert "lines" not in err
    assert err.count("\n") == 1


def talking_server(edit: str) -> ReplyFunction:
    """A server that makes no calls and answers the request for a change with this text."""
    good = GoodServer("chat")

    def answer(request: ReceivedRequest) -> Reply:
        if b'"tools"' in request.content:
            return wire_reply("chat", text="I would call a tool.")
        return wire_reply("chat", text=edit) if prompts.EDIT.encode() in request.content else good(request)

    return answer


@pytest.mark.parametrize(
    ("edit", "advice"),
    [
        ("greeting.py\n```\nprint('Good evening')\n```\n", "use --edit-format text."),
        (
            "greeting.py\n```\n<<<<<<< SEARCH\nprint('Good morning')\n=======\n"
            "print('Good evening')\n>>>>>>> REPLACE\n```\n",
            "use --edit-format text.",
        ),
        ("You should print Good evening.", "Neither tool calls nor files as text work here"),
    ],
)
async def test_how_files_can_be_changed(capsys: pytest.CaptureFixture[str], edit: str, advice: str) -> None:
    await run(talking_server(edit), "--only", "tool-call", "text-edit")
    assert advice in capsys.readouterr().out.splitlines()[-1]
    await run(GoodServer("chat"), "--only", "tool-call", "text-edit")
    assert capsys.readouterr().out.splitlines()[-1] == "2 ok, 0 wrong, 0 skipped"
