"""Everything that can be wrong at the command line: one sentence, the right exit code, no traceback."""

import io
import socket
import sys
from pathlib import Path
from typing import cast

import pytest

import heald
from cli_bench import KEY, Ran, is_one_line_error, run, run_with
from heald.config.trust import remember
from heald.testing.server import Reply, ScriptedServer
from heald_cli.main import main

BASE = ["--base-url", "http://127.0.0.1:1/v1"]


@pytest.fixture
def no_pictures() -> None:
    Path("folder.png").mkdir()
    Path("empty.png").touch()
    Path("notes.png").write_text("These are notes.")


@pytest.fixture
def bad_file() -> None:
    file = Path("heald.toml")
    file.write_text('[providers.mine]\nwire = "chat"\nbase_ulr = "x"\n')
    remember(file, file.read_bytes(), trusted=True)


def check(ran: Ran, code: int, words: str) -> None:
    assert ran.code == code
    assert is_one_line_error(ran), ran
    assert words in ran.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--model", "antropic/claude", "Hi"], "There is no provider 'antropic'; did you mean 'anthropic'?"),
        (["--model", "zzz/m", "Hi"], "There is no provider 'zzz'; known providers: openai,"),
        (["--model", "gpt-5", "Hi"], "names no provider; write it as 'openai/gpt-5'"),
        (["--model", "", "Hi"], "names no provider"),
        (["--model", "openai/gpt-5", "Hi"], "There is no key for openai: set OPENAI_API_KEY in the environment."),
        (["--model", "azure/m", "Hi"], "set AZURE_OPENAI_ENDPOINT in the environment"),
        (["--model", "m", *BASE, "--api-key-env", "NO_SUCH_KEY", "Hi"], "set NO_SUCH_KEY in the environment"),
        (["--model", "m", "--base-url", "nowhere", "Hi"], "must look like https://host/v1"),
        (["--model", "m", "--base-url", "", "Hi"], "must look like https://host/v1"),
        (["--model", "m", "--base-url", "http://[::1", "Hi"], "must look like https://host/v1"),
        (["--model", "m", "--base-url", "http://h:port/v1", "Hi"], "must look like https://host/v1"),
        (["--model", "m", "--base-url", "http://h/v1?key=1", "Hi"], "no user, password, query or fragment"),
        (["--model", "m", *BASE, ""], "No prompt given."),
        (["--model", "m", *BASE, "  \n"], "No prompt given."),
        (["--model", "m", *BASE, "Hi", "--image", "missing.png"], "missing.png cannot be read: No such file"),
        (
            ["--model", "m", *BASE, "Hi", "--image", "notes.png"],
            "notes.png cannot be sent as a picture: models accept PNG,",
        ),
        (
            ["--model", "m", *BASE, "Hi", "--image", "empty.png"],
            "empty.png cannot be sent as a picture: models accept PNG,",
        ),
        (["--model", "m", *BASE, "Hi", "--image", "folder.png"], "folder.png cannot be read: Is a directory"),
    ],
)
@pytest.mark.usefixtures("no_pictures")
async def test_wrong_use(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    check(await run(capsys, "run", *words), 2, sentence)


async def test_a_password_in_a_base_url_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    ran = await run(capsys, "run", "--model", "m", "--base-url", "https://me:hunter2@h.test/v1", "Hi")
    check(ran, 2, "no user, password")
    assert "hunter2" not in ran.err


async def test_a_key_without_a_model_that_is_chosen_by_itself(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    check(await run(capsys, "run", "Hi"), 2, "There is a key for groq, but none of its models is a default")


@pytest.mark.usefixtures("bad_file")
async def test_a_bad_heald_toml(capsys: pytest.CaptureFixture[str]) -> None:
    ran = await run(capsys, "run", "--model", "mine/m", "Hi")
    check(ran, 2, "heald.toml:3: [providers.mine] has an unknown key 'base_ulr'; did you mean 'base_url'?")


async def test_an_empty_stdin(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    check(await run(capsys, "run", "--model", "m", *BASE, "-"), 2, "No prompt given.")


async def test_a_stdin_that_is_no_text(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe picture \x00"), "utf-8"))
    check(await run(capsys, "run", "--model", "m", *BASE, "-"), 2, "Standard input")


async def test_a_key_that_cannot_be_sent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "two\nlines")
    ran = await run(capsys, "run", "--model", "m", *BASE, "--api-key-env", "MY_KEY", "Hi")
    check(ran, 2, "MY_KEY")
    assert "lines" not in ran.err


# --- what a server answers --------------------------------------------------------------------------------------

REFUSALS: list[tuple[int, object, str]] = [
    (
        401,
        {"error": {"message": f"Incorrect API key provided: {KEY}"}},
        "(HTTP 401): Incorrect API key provided: [key]",
    ),
    (404, {"error": {"message": "The model `m` does not exist", "code": "model_not_found"}}, "Check the model's name"),
    (400, {"error": {"message": "maximum context length is 8192 tokens"}}, "Send less, or choose a model"),
    (402, {"error": {"message": "Insufficient Balance"}}, "Add credit with the provider"),
    (307, {}, "The server redirects to "),
]


@pytest.mark.parametrize(("status", "body", "sentence"), REFUSALS)
async def test_refused(
    status: int, body: object, sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    async with ScriptedServer([Reply.json(body, status, {"location": "http://elsewhere.test/"})]) as server:
        ran = await run(capsys, *run_with(server, "Hi", "--api-key-env", "MY_KEY"))
    check(ran, 1, sentence)
    assert KEY not in ran.err


async def test_a_page_instead_of_a_stream(capsys: pytest.CaptureFixture[str]) -> None:
    async with ScriptedServer([Reply([b"<html>Log in</html>"], content_type="text/html")]) as server:
        ran = await run(capsys, *run_with(server, "Hi"))
    check(ran, 1, "answered 200 with text/html instead of a stream; check the base URL")


async def test_the_wrong_wire(capsys: pytest.CaptureFixture[str]) -> None:
    async with ScriptedServer([Reply.json({"detail": "Not Found"}, 404)]) as server:
        check(await run(capsys, *run_with(server, "Hi", wire="messages")), 1, "(HTTP 404): Not Found")


async def test_nobody_there(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
    ran = await run(capsys, "run", "--model", "m", "--base-url", url, "Hi")
    assert (ran.code, ran.out) == (1, "")
    assert "Traceback" not in ran.err
    assert "Cannot connect to http://127.0.0.1:" in ran.err.splitlines()[-1]
    assert all(line.startswith("heald: ") for line in ran.err.splitlines())


# --- words that argparse reads ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["fly"], "There is no command 'fly'; there are build, chat,"),
        (["biuld", "shot.png"], "There is no command 'biuld'; did you mean build?"),
        (["shot.PNG"], "a page is built from a picture with `heald build shot.PNG`."),
        (["run", "say", "hello"], "'hello' is an argument too many; a text with spaces needs quotes."),
        (["run", "Hi", "--wire", "telegraph"], "--wire cannot be 'telegraph'; it is one of bedrock-messages, chat,"),
        (["run", "Hi", "--wire", "cht"], "--wire cannot be 'cht'; did you mean chat?"),
        (["run", "Hi", "--max-output", "many"], "--max-output must be a whole number, not 'many'."),
        (["run", "Hi", "--model"], "--model needs a value."),
        (["build", "--stak", "html_css"], "`heald build` has no option --stak; did you mean --stack?"),
        (["run", "Hi", "--zzzzzz"], "`heald run` has no option --zzzzzz; see its --help."),
        (["demo", "--pause", "long"], "--pause must be a number, not 'long'."),
        (["sessions", "lst"], "There is no action 'lst'; did you mean list?"),
        (["conform"], "--base-url, --model are missing."),
    ],
)
def test_wrong_words(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    out, err = capsys.readouterr()
    check(Ran(cast(int, left.value.code), out, err), 2, sentence)


def test_no_words_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([])
    assert (left.value.code, capsys.readouterr().err[:13]) == (2, "usage: heald ")


@pytest.mark.parametrize(
    "words", [["--help"], ["help"], ["help", "run"], ["run", "--help"], ["conform", "--help"], ["demo", "--help"]]
)
def test_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 0
    assert capsys.readouterr().out.startswith("usage: heald")


@pytest.mark.parametrize("word", ["--version", "version"])
def test_version(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([word])
    assert (left.value.code, capsys.readouterr().out) == (0, f"heald {heald.__version__}\n")


def test_the_words_of_the_process_are_read(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["heald", "run", "--model", "zzz/m", "Hi"])
    assert main() == 2
    assert "There is no provider 'zzz'" in capsys.readouterr().err
