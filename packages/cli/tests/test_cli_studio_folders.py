"""`--prompts` and `--stacks` of `heald build` and `heald serve`, their variables and their keys in `heald.toml`."""

import json

import pytest

from cli_bench import is_one_line_error, run
from cli_pages import PAGE, builder, here
from heald.commands.merged_options import merge_options
from heald.config.paths import user_file
from heald.testing.server import ScriptedServer
from heald_cli.main import parser
from heald_cli.server_context import protocol_options

Capture = pytest.CaptureFixture[str]
OWN_STACK = '+++\nlabel = "House"\nentry = "index.html"\npreview = "page"\n+++\nRules of the house.\n'


def write_own(folder: str) -> None:
    for kind, name, text in (("stacks", "house", OWN_STACK), ("prompts", "create_text", "Our words: {{request}}")):
        here(f"{folder}/{kind}").mkdir(parents=True)
        here(f"{folder}/{kind}/{name}.md").write_text(text)


async def built_with_own(capsys: Capture, *flags: str) -> None:
    async with ScriptedServer(builder) as server:
        model = ["--base-url", f"{server.url}/v1", "--model", "m"]
        ran = await run(capsys, "build", *model, "--text", "A bakery", "--stack", "house", *flags)
    assert ran.code == 0, ran.err
    assert here("out/index.html").read_text() == PAGE
    sent = json.dumps(server.requests[0].body["messages"])
    assert "Rules of the house." in sent
    assert "Our words: A bakery" in sent


async def test_flags_of_build(capsys: Capture) -> None:
    write_own("own")
    await built_with_own(capsys, "--prompts", "own/prompts", "--stacks", "own/stacks")


async def test_variables_of_build(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    write_own("own")
    monkeypatch.setenv("HEALD_STUDIO_PROMPTS", "own/prompts")
    monkeypatch.setenv("HEALD_STUDIO_STACKS", "own/stacks")
    await built_with_own(capsys)


async def test_keys_of_the_file(capsys: Capture) -> None:
    write_own("own")
    user_file().parent.mkdir(parents=True)
    user_file().write_text('[studio]\nprompts = "own/prompts"\nstacks = "own/stacks"\n')
    await built_with_own(capsys)


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--stacks", "nowhere"], "The folder nowhere for stacks cannot be read: No such file or directory; create it"),
        (["--prompts", "nowhere"], "The folder nowhere for prompts cannot be read: No such file or directory"),
        (["--stacks", "bad"], "bad/house.md has no settings; begin the file with them between two lines of '+++'."),
        (["--prompts", "bad"], "bad/house.md replaces no prompt; name it agent, create_image"),
    ],
)
@pytest.mark.parametrize("command", ["build", "serve"])
async def test_what_is_wrong_is_one_sentence(capsys: Capture, command: str, flags: list[str], sentence: str) -> None:
    here("bad").mkdir()
    here("bad/house.md").write_text("Rules only.")
    words = ["--text", "x", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"] if command == "build" else []
    words += ["--port", "0", "--no-open"] if command == "serve" else []
    ran = await run(capsys, command, *words, *flags)
    assert ran.code == 2
    assert is_one_line_error(ran)
    assert sentence in ran.err


def test_a_server_gives_them_to_the_studio(monkeypatch: pytest.MonkeyPatch) -> None:
    """`[studio]` is a table of heald-studio: `heald serve` passes it on without knowledge of its keys."""
    monkeypatch.setenv("HEALD_STUDIO_PROMPTS", "texts")
    options = parser("serve").parse_args(["serve", "--stacks", "mine", "--eval-pictures", "shots"])
    merge_options(options)
    assert protocol_options(options) == {"studio": {"prompts": "texts", "stacks": "mine", "eval_pictures": "shots"}}
