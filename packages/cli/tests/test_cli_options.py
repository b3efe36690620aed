"""What a command goes by: defaults, the project's file, the user's, the environment, flags; `heald config` shows it."""

import argparse
import asyncio
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from cli_bench import KEY, Ran, finish, is_one_line_error, run, run_process, started
from heald.agent.budget import Budget
from heald.commands.merged_options import check_variables, merge_options
from heald.commands.options import walk_parsers
from heald.config.command_tables import command_tables
from heald.config.keys import Key, command_keys
from heald.config.paths import user_file
from heald.config.trust import remember
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald_cli.main import parser
from heald_server.server_limits import ServerLimits
from heald_server.settings import DEFAULT_PORT

Capture = pytest.CaptureFixture[str]

TOKEN = "a-token-of-my-own-3141592653"
_WORDS = {"serve": [], "build": [], "chat": [], "acp": [], "run": ["Hi"], "eval": ["shots"]} | {
    name: [] for name in ("review", "commit", "pr")
}
_NOT_SET: dict[str, set[str]] = {
    "serve": {"folder", "token", "json"},
    "build": {"pictures", "picture_kind", "scale", "text", "url", "video", "start", "force", "json", "help_all"},
    "chat": {"folder", "prompt", "resume"},
    "acp": set(),
    "run": {"prompt", "resume", "image", "json", "stream", "attempts", "attempts_log", "check", "apply", "keep"},
    "eval": {"targets", "force", "json"},
    "review": {"commits", "folder", "focus", "post", "json", "help_all"},
    "commit": {"about", "folder", "hunks", "message", "yes", "dry_run", "help_all"},
    "pr": {"about", "folder", "base", "remote", "title", "body", "draft", "yes", "dry_run", "help_all"},
}
"""What is said each time anew: the work itself, what may be overwritten, how a script is answered, and the token."""
_SAMPLES: dict[str, Any] = {
    "text": "some",
    "a list of texts": ["one", "two"],
    "text or a list of texts": ["one", "two"],
    "true or false": None,
    "a table": {"some": {"deep": 2}},
    "a table of texts": {"some": "text"},
}


_OWN_SAMPLES = {"temperature": 1.5, "top_p": 0.5, "tool_search": 0.5, "server_tool": ["web_search", "web_fetch"]}
"""Where no number or no text of any kind is allowed."""


def _toml(value: Any) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    return f"{{ {', '.join(f'{name} = {_toml(member)}' for name, member in cast('dict[str, Any]', value).items())} }}"


def user(text: str) -> None:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(text)


def project(text: str) -> Path:
    path = Path("heald.toml")
    path.write_text(text)
    remember(path, path.read_bytes(), trusted=True)
    return path


def options_of(*words: str) -> argparse.Namespace:
    """As a command gets them."""
    options = parser(words[0]).parse_args(words)
    merge_options(options)
    return options


def effective(ran: Ran) -> dict[str, dict[str, dict[str, Any]]]:
    assert ran.code == 0, ran.err
    return json.loads(ran.out)["settings"]


def _sample(key: Key) -> Any:
    if key.is_bool:
        return not key.default
    if key.choices:
        return key.choices[-1]
    if key.name in _OWN_SAMPLES:
        return _OWN_SAMPLES[key.name]
    return 7 if key.number is int else 2.5 if key.number is float else _SAMPLES[key.words]


def _flags(flag: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [flag if value else f"--no-{flag[2:]}"]
    if isinstance(value, list):
        return [word for text in cast("list[str]", value) for word in (flag, text)]
    return [flag, json.dumps(value) if isinstance(value, dict) else str(value)]


def _keys(command: str) -> Iterator[Key]:
    keys = command_keys(command)
    for name, key in keys.items():
        if name != key.name and key.name in keys and not key.own_flag:
            continue  # the command's own flag has that name
        yield key


@pytest.mark.parametrize("command", list(command_tables()))
def test_what_a_flag_sets_a_file_and_a_variable_set_too(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in _keys(command):
        with monkeypatch.context() as patch:
            try:
                check_key(command, key, patch)
            except BaseException as error:
                error.add_note(f"The key is {key.name}.")
                raise


def check_key(command: str, key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {key.name: _sample(key)}
    if key.name in ("base_url", "wire", "api_key_env"):
        values = {"model": "m", "base_url": "b", **values}
    keys = command_keys(command) | {key.name: key}
    flags = [word for name, value in values.items() for word in _flags(keys[name].flag, value)]
    flagged = options_of(command, *_WORDS[command], *flags)
    assert flagged != options_of(command, *_WORDS[command])
    user(f"[{key.table}]\n" + "".join(f"{name} = {_toml(value)}\n" for name, value in values.items()))
    assert options_of(command, *_WORDS[command]) == flagged
    user("")
    for name, value in values.items():
        names = cast("list[str]", value) if isinstance(value, list) else [json.dumps(value).strip('"')]
        text = (";" if name in ("rule", "mcp_server") else ",").join(names)
        monkeypatch.setenv(f"HEALD_{key.table.upper()}_{name.upper()}", text)
    assert options_of(command, *_WORDS[command]) == flagged


@pytest.mark.parametrize("command", list(command_tables()))
def test_everything_that_a_flag_can_set_can_be_set(command: str) -> None:
    options = set(vars(options_of(command, *_WORDS[command]))) - {"command", "run"}
    assert options - _NOT_SET[command] == set(command_keys(command))
    flags = {action.dest for below in walk_parsers(parser(command))[1:] for action in below._actions}  # pyright: ignore[reportPrivateUsage]
    assert flags - _NOT_SET[command] - {"help"} <= set(command_keys(command))


def test_names_are_repeated_or_separated_by_commas() -> None:
    assert options_of("run", "Hi", "--tools", "files, web", "--tools", "todo").tools == ["files", "web", "todo"]
    assert options_of("chat").tools == ["all"]
    assert options_of("eval", "shots", "--models", "a/b,c/d").model == ["a/b", "c/d"]


def test_defaults_are_those_of_the_library() -> None:
    """The schema is a layer below and cannot import them."""
    assert command_keys("run")["max_turns"].default == Budget().max_turns
    assert command_keys("serve")["port"].default == DEFAULT_PORT
    assert command_keys("serve")["max_exchanges"].default == ServerLimits().exchanges


def test_headings_are_plain_words() -> None:
    headings = {key.group for command in command_tables() for key in command_keys(command).values()}
    assert headings == {
        "",
        "checkpoints",
        "connection",
        "input",
        "limits",
        "limits for each client",
        "model",
        "output",
        "parameters of requests",
        "requests to models",
        "several servers on one store",
        "studio",
        "telemetry",
        "tools",
        "users",
        "variants",
    }
    assert "connection:" in walk_parsers(parser("serve"))[1].format_help()


def test_the_order_of_growing_strength(monkeypatch: pytest.MonkeyPatch) -> None:
    def model(*words: str) -> str | None:
        names: list[str] = options_of("run", "Hi", *words).model
        assert len(names) < 2
        return names[0] if names else None

    assert model() is None
    project('model = "project/top"\n')
    assert model() == "project/top"
    project('model = "project/top"\n[run]\nmodel = "project/run"\n')
    assert model() == "project/run"
    user('model = "user/top"\n')
    assert model() == "user/top"
    user('model = "user/top"\n[run]\nmodel = "user/run"\n')
    assert model() == "user/run"
    monkeypatch.setenv("HEALD_MODEL", "variable/top")
    assert model() == "variable/top"
    monkeypatch.setenv("HEALD_RUN_MODEL", "variable/run")
    assert model() == "variable/run"
    assert model("--model", "flag/x") == "flag/x"
    assert options_of("chat").model == "variable/top"


def test_a_flag_that_states_the_default_is_a_flag() -> None:
    user('permissions = "auto"\n[serve]\nopen = false\nport = 99\n')
    assert options_of("run", "Hi").permissions == "auto"
    assert options_of("run", "Hi", "--permissions", "ask").permissions == "ask"
    assert (options_of("serve").open, options_of("serve", "--open").open) == (False, True)
    assert options_of("serve", "--port", "7878").port == 7878


def test_rules_of_all_places_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a rule on the command line would take away what the user forbids for good."""
    project('rule = ["allow a"]\n')
    user('rule = ["deny run_command(rm *)"]\n')
    monkeypatch.setenv("HEALD_RULE", "ask b; allow c(x,y)")
    rules = options_of("run", "Hi", "--rule", "allow d").rule
    assert rules == ["allow a", "deny run_command(rm *)", "ask b", "allow c(x,y)", "allow d"]


def test_where_a_model_lives_is_reported_where_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is named on the command line is not sent to the address of another."""
    user('model = "m"\nbase_url = "http://127.0.0.1:1/v1"\nwire = "messages"\napi_key_env = "MINE"\n')
    mine = options_of("run", "Hi")
    assert (mine.model, mine.base_url) == (["m"], "http://127.0.0.1:1/v1")
    assert (mine.wire, mine.api_key_env) == ("messages", "MINE")
    other = options_of("run", "Hi", "--model", "openai/gpt-5")
    assert (other.model, other.base_url, other.wire, other.api_key_env) == (["openai/gpt-5"], None, None, None)
    moved = options_of("run", "Hi", "--base-url", "http://127.0.0.1:2/v1")
    assert (moved.model, moved.base_url, moved.wire, moved.api_key_env) == (["m"], "http://127.0.0.1:2/v1", None, None)


def test_a_model_of_the_user_does_not_go_to_an_address_of_the_project() -> None:
    project('model = "p"\nbase_url = "http://127.0.0.1:1/v1"\n')
    assert options_of("run", "Hi").base_url == "http://127.0.0.1:1/v1"
    user('model = "openai/gpt-5"\n')
    assert (options_of("run", "Hi").model, options_of("run", "Hi").base_url) == (["openai/gpt-5"], None)


def test_a_project_uses_no_key_of_the_user(capsys: Capture) -> None:
    project('model = "m"\nbase_url = "http://127.0.0.1:1/v1"\napi_key_env = "OPENAI_API_KEY"\n')
    with pytest.raises(Exception, match=r"heald.toml:3: a project's file may not use OPENAI_API_KEY"):
        options_of("run", "Hi")


def test_paths_of_a_project_begin_at_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    project('[build]\noutput = "site"\n[serve]\nworkspace = ["a", "b"]\n')
    here = Path.cwd()
    assert options_of("build").output == "site"
    (here / "sub").mkdir()
    monkeypatch.chdir(here / "sub")
    assert options_of("build").output == str(here / "site")
    assert options_of("serve").workspace == [str(here / "a"), str(here / "b")]


def test_the_data_folder_of_all_is_not_that_of_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build is kept where it is asked for only."""
    user('data = "d"\n')
    assert options_of("build").data is None
    for words in (["chat"], ["serve"], ["sessions", "list"], ["replay", "x"], ["doctor"]):
        assert options_of(*words).data == "d"
    monkeypatch.setenv("HEALD_DATA", "e")
    assert options_of("sessions", "list").data == "e"
    assert options_of("sessions", "list", "--data", "f").data == "f"


def test_variables_of_the_command_alone_load_no_other_command(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def load_tables() -> list[str]:
        loaded.append("all")
        return []

    monkeypatch.setattr("heald.commands.merged_options.command_tables", load_tables)
    check_variables({"HEALD_MODEL": "m", "HEALD_RUN_MODEL": "m", "HEALD_TOKEN": "t", "PATH": "p"}, "run")
    assert not loaded
    check_variables({"HEALD_SERVE_PORT": "1"}, "run")
    assert loaded


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("HEALD_SERVE_PORT", "many", "HEALD_SERVE_PORT must be a whole number from 0 to 65535."),
        ("HEALD_PERMISSIONS", "yolo", "HEALD_PERMISSIONS must be one of ask, auto, inside, read-only."),
        ("HEALD_PERMISSION", "read-only", "HEALD_PERMISSION, which sets nothing; did you mean HEALD_PERMISSIONS?"),
        ("HEALD_MODEL", "sk-ant-REDACTED", "HEALD_MODEL holds what looks like a secret"),
    ],
)
async def test_a_variable_that_is_wrong(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(name, value)
    ran = await run(capsys, "serve", "--no-open")
    assert (ran.code, is_one_line_error(ran)) == (2, True), ran
    assert sentence in ran.err
    assert "sk-ant" not in ran.err


async def test_variables_of_others_are_left_alone(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEALD_TOKEN", "HEALD_IMAGES", "HEALD_CHROMIUM", "HEALD_HOUSE_STYLE"):
        monkeypatch.setenv(name, "x")
    assert (await run(capsys, "config", "--set")).code == 0


# --- heald config ----------------------------------------------------------------------------------------------------


async def test_config_states_where_each_comes_from(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("HEALD_TOKEN", KEY)
    monkeypatch.setenv("HEALD_BUILD_STACK", "vue_tailwind")
    project("\n[serve]\nport = 8081\n")
    user('model = "anthropic/claude-sonnet-4-6"\nrule = ["deny run_command(rm *)"]\n')
    ran = await run(capsys, "config", "--json")
    said = effective(ran)
    assert said["serve"]["port"] == {"value": 8081, "from": "heald.toml:3"}
    assert said["run"]["model"] == {"value": "anthropic/claude-sonnet-4-6", "from": f"{user_file()}:1"}
    assert said["build"]["stack"] == {"value": "vue_tailwind", "from": "HEALD_BUILD_STACK"}
    assert said["run"]["max_turns"] == {"value": 20, "from": "default"}
    files = json.loads(ran.out)["files"]
    assert [(file["place"], file["state"]) for file in files] == [("project", "trusted"), ("user", "used")]
    printed = await run(capsys, "config")
    assert "8081" in printed.out
    assert "heald.toml:3" in printed.out
    assert "\x1b" not in printed.out
    assert KEY not in ran.out + ran.err + printed.out + printed.err
    settings = effective(await run(capsys, "config", "build", "--set", "--json"))
    assert set(settings) == {"build"}
    assert set(settings["build"]) == {"stack", "model"}


async def test_config_with_nothing_set(capsys: Capture) -> None:
    ran = await run(capsys, "config", "--set")
    assert ran.code == 0
    assert "Nothing is set" in ran.err


# --- the commands obey it -------------------------------------------------------------------------------------------


async def test_run_goes_by_the_file(capsys: Capture) -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello")]) as server:
        user(
            f'model = "mine/some"\n[providers.mine]\nwire = "chat"\nbase_url = "{server.url}/v1"\n'
            '[run]\nmax_output = 50\nsystem = "Be brief."\n'
        )
        ran = await run(capsys, "run", "Hi")
        (request,) = server.requests
    assert (ran.code, ran.out) == (0, "Hello\n")
    assert (request.body["model"], request.body["max_tokens"]) == ("some", 50)
    assert request.body["messages"][0] == {"role": "system", "content": "Be brief."}


async def test_serve_goes_by_the_file(tmp_path: Path) -> None:
    user(f"[serve]\nport = 0\nopen = false\nno_token = true\ndata = {json.dumps(str(tmp_path / 'kept'))}\n")
    async with started("serve", "--json") as process:
        assert process.stdout is not None
        ready = json.loads(await asyncio.wait_for(process.stdout.readline(), 240))
        process.terminate()
        await finish(process)
    assert (ready["token"], ready["needs_token"]) == (None, False)
    assert (tmp_path / "kept" / "sessions.db").exists()


async def test_a_token_on_the_command_line_closes_an_open_door() -> None:
    user("[serve]\nport = 0\nopen = false\nno_token = true\n")
    async with started("serve", "--json", "--token", TOKEN, "--data", "d") as process:
        assert process.stdout is not None
        ready = json.loads(await asyncio.wait_for(process.stdout.readline(), 240))
        process.terminate()
        await finish(process)
    assert (ready["token"], ready["needs_token"]) == (None, True)  # it is the operator's, who has it


async def test_what_the_help_of_config_shows_is_a_file_that_works(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        await run(capsys, "config", "--help")
    printed = capsys.readouterr().out
    user(printed[printed.index('  model = "anthropic') :].replace("\n  ", "\n").strip() + "\n")
    said = effective(await run(capsys, "config", "--set", "--json"))
    assert said["build"]["stack"]["value"] == "react_tailwind"
    line = next(line for line in printed.splitlines() if "HEALD_MODEL=" in line).strip()
    variable, _, words = line.partition(" ")
    name, _, value = variable.partition("=")
    assert name == "HEALD_MODEL"
    ran = await run_process(*shlex.split(words)[1:], "--json", HEALD_MODEL=value)
    assert effective(ran)["run"]["model"] == {"value": "openai/gpt-5.2", "from": "HEALD_MODEL"}
