"""`heald doctor` on machines that lack something: it says what, and how to get it."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from cli_bench import KEY, LOADED, Ran, finish, run, run_process
from cli_pages import here
from heald.testing.server import Reply, ScriptedServer

HIDING = """
import sys
from importlib.machinery import PathFinder
HIDDEN = NAMES
class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition('.')[0] in HIDDEN else PathFinder.find_spec(name, path, target)
sys.meta_path[:] = [Hiding if each is PathFinder else each for each in sys.meta_path]
"""
"""A `sitecustomize.py` for a machine on which some packages are not installed."""

PLUGINS = (
    *("heald_acp.model", "heald_check.commands.conform", "heald_check.commands.verify", "heald_evals.commands.test"),
    *("heald_local.model", "heald_local.see.detect", "heald_nodes.postgres.store", "heald_notify.webhooks_command"),
    *("heald_studio.browser.browser", "heald_studio.commands.build", "heald_studio.commands.push"),
    *(f"heald_server.protocols.{name}.protocol" for name in ("a2a", "ag_ui", "mcp", "openai", "responses")),
    *("heald.tools.code.family", "heald.tools.web.family", "heald_cli.commands.acp", "heald_cli.commands.demo"),
    *("imageio_ffmpeg", "secretstorage"),
)
"""What the doctor loads: one process loads it for all tests."""

Capture = pytest.CaptureFixture[str]


def rows_of(ran: Ran) -> dict[str, dict[str, str]]:
    """The rows by name."""
    return {row["name"]: row for row in json.loads(ran.out)["findings"]}


async def bare(tmp_path: Path, *words: str, programs: dict[str, str] | None = None, **env: str) -> Ran:
    """The doctor on a machine whose PATH has only these programs."""
    folder = tmp_path / "programs"
    folder.mkdir(exist_ok=True)
    for name, script in (programs or {}).items():
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    variables = {"PATH": str(folder), "XDG_DATA_HOME": str(tmp_path / "share"), **env}
    return await run_process("doctor", *words, env=variables, loaded=(*LOADED, *PLUGINS))


async def test_a_machine_with_nothing(tmp_path: Path) -> None:
    ran = await bare(tmp_path, "--json", OLLAMA_HOST="127.0.0.1:1")
    rows = rows_of(ran)
    assert ran.code == 0, ran.out
    assert json.loads(ran.out)["healthy"] is True
    for name, word in (
        ("sandbox", "bubblewrap"),
        ("ripgrep", "ripgrep"),
        ("chromium", "chromium"),
        ("keys", "API_KEY"),
    ):
        assert rows[name]["state"] == "missing", name
        assert word in rows[name]["fix"].lower() + rows[name]["fix"], name
    assert rows["ffmpeg"]["state"] == "ok", "the program of heald[video] is found without a PATH"
    assert "OpenCV" not in ran.out
    assert rows["python"]["state"] == "ok"
    assert rows["network"]["state"] == "skipped"
    assert "ANTHROPIC_API_KEY" in rows["keys"]["text"]
    assert not (tmp_path / "share").exists()


async def test_the_same_for_people(tmp_path: Path) -> None:
    ran = await bare(tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert "– sandbox" in ran.out
    assert "apt install bubblewrap" in ran.out
    assert "\x1b" not in ran.out


async def test_a_bubblewrap_that_makes_no_sandbox(tmp_path: Path) -> None:
    refuses = "#!/bin/sh\necho 'No permissions to create a new namespace' >&2\nexit 1\n"
    ran = await bare(tmp_path, "--json", programs={"bwrap": refuses, "rg": "#!/bin/sh\necho ripgrep 14\n"})
    rows = rows_of(ran)
    assert rows["sandbox"]["state"] == "missing"
    assert "user namespaces" in rows["sandbox"]["text"]
    assert "namespaces" in rows["sandbox"]["fix"]
    assert rows["ripgrep"]["state"] == "missing"  # it is there, and not used
    assert "in the sandbox only" in rows["ripgrep"]["text"]
    assert ran.err == ""


async def test_a_browser_that_does_not_start(tmp_path: Path) -> None:
    ran = await bare(tmp_path, "--json", programs={"chromium": "#!/bin/sh\nexit 1\n"})
    rows = rows_of(ran)["chromium"]
    assert (ran.code, rows["state"]) == (1, "wrong")
    assert "does not render" in rows["text"]


async def test_keys_are_named_and_never_shown(tmp_path: Path) -> None:
    ran = await bare(tmp_path, "--json", ANTHROPIC_API_KEY=KEY, OPENAI_API_KEY="broken\nkey")
    rows = rows_of(ran)
    assert KEY not in ran.out + ran.err
    assert rows["key anthropic"] == {
        "name": "key anthropic",
        "state": "ok",
        "text": "ANTHROPIC_API_KEY is set",
        "fix": "",
    }
    assert rows["key openai"]["state"] == "wrong"
    assert "broken" not in ran.out
    assert ran.code == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
async def test_a_data_folder_that_cannot_be_written(capsys: Capture, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o500)
    ran = await run_process("doctor", "--json", "--data", str(data))
    assert (ran.code, rows_of(ran)["data folder"]["state"]) == (1, "wrong")


async def test_a_data_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    ran = await bare(tmp_path, "--json", "--data", str(tmp_path / "file" / "data"))
    rows = rows_of(ran)["data folder"]
    assert (ran.code, rows["state"]) == (1, "wrong")
    assert "--data" in rows["fix"]


async def test_a_heald_toml_that_cannot_be_read(tmp_path: Path) -> None:
    config = tmp_path / "config" / "heald"
    config.mkdir(parents=True)
    (config / "heald.toml").write_text("[providers.mine]\nwires = 3\n")
    ran = await bare(tmp_path, "--json")
    rows = rows_of(ran)["settings"]
    assert (ran.code, rows["state"]) == (1, "wrong")
    assert "heald.toml:2: [providers.mine] has an unknown key 'wires'; did you mean 'wire'?" in rows["text"]


async def test_a_variable_that_is_nearly_ours(tmp_path: Path) -> None:
    ran = await bare(tmp_path, "--json", HEALD_MODLE="x")
    assert (ran.code, rows_of(ran)["settings"]["state"]) == (1, "wrong")
    assert "did you mean HEALD_MODEL?" in rows_of(ran)["settings"]["text"]


async def test_the_file_of_a_project_that_nobody_trusts(tmp_path: Path) -> None:
    here("heald.toml").write_text("this is no TOML")
    ran = await bare(tmp_path, "--json")
    assert (ran.code, rows_of(ran)["settings"]["state"]) == (0, "missing")
    assert "heald trust" in rows_of(ran)["settings"]["fix"]


async def test_a_local_server_is_found(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _: Reply.json({"models": [{"name": "qwen3:latest"}]})) as server:
        ran = await bare(tmp_path, "--json", OLLAMA_HOST=server.url)
    rows = rows_of(ran).get("local ollama")
    if rows is None:
        pytest.skip("the machine was too busy to answer within a third of a second")
    assert "ollama/qwen3" in rows["text"]


async def test_the_network_is_tried_when_asked_and_no_key_is_sent(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _: Reply.json({"error": "who are you"}, 401)) as proxy:
        ran = await bare(tmp_path, "--json", "--network", ANTHROPIC_API_KEY=KEY, HTTPS_PROXY=proxy.url)
        assert all(KEY not in str(request.headers) for request in proxy.requests)
    rows = rows_of(ran)["network anthropic"]
    assert rows["state"] == "missing"
    assert "cannot be reached" in rows["text"]


async def test_a_machine_without_a_network(tmp_path: Path) -> None:
    """Really without: in a network namespace of its own, with nothing in it."""
    alone = ["unshare", "--user", "--map-root-user", "--net"]
    try:
        tried = await asyncio.create_subprocess_exec(*alone, "true", stderr=asyncio.subprocess.DEVNULL)
        allowed = await tried.wait() == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("unshare cannot make a network namespace here")
    words = [*alone, sys.executable, "-m", "heald_cli.main", "doctor", "--network", "--json"]
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"HEALD_DATA": str(tmp_path / "data")},
    )
    rows = rows_of(await finish(process, seconds=120))
    for provider in ("anthropic", "openai", "gemini"):
        assert rows[f"network {provider}"]["state"] == "missing"
        assert "cannot be reached" in rows[f"network {provider}"]["text"]
    assert rows["local servers"]["state"] == "missing"
    assert rows["python"]["state"] == "ok"


WITHOUT = """
import sys
import heald.entry_points as points
entries = points.all_entries()
points.all_entries = lambda: tuple(entry for entry in entries if entry.distribution not in NAMES)
points.entry_points.cache_clear()
import heald.plugin_loader
heald.plugin_loader.all_entries = points.all_entries
from heald_cli.main import main
sys.exit(main(sys.argv[1:]))
"""
"""`heald` on a machine on which some distributions are not installed."""


async def run_without(names: str, *words: str) -> Ran:
    code = WITHOUT.replace("NAMES", repr(names.split()))
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, *words, stdout=-1, stderr=-1)
    return await finish(process)


async def test_distributions_that_are_not_installed() -> None:
    """What is missing is named with the line that installs it, and nothing breaks."""
    ran = await run_without(
        "heald-studio heald-local heald-nodes heald-check heald-evals heald-acp heald-notify", "doctor", "--json"
    )
    rows = rows_of(ran)
    assert ran.code == 0, ran.out
    assert "chromium" not in rows
    names = (
        "heald-studio",
        "heald[local]",
        "heald[postgres]",
        "heald[check]",
        "heald[evals]",
        "heald[acp]",
        "heald[notify]",
    )
    assert {name: rows[name]["fix"] for name in names} == {
        "heald-studio": "pip install heald",
        "heald[local]": "pip install 'heald[local]'",
        "heald[postgres]": "pip install 'heald[postgres]'",
        "heald[check]": "pip install 'heald[check]'",
        "heald[evals]": "pip install 'heald[evals]'",
        "heald[acp]": "pip install 'heald[acp]'",
        "heald[notify]": "pip install 'heald[notify]'",
    }


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("build", "heald-studio is not installed; pip install heald"),
        ("check", "heald-check is not installed; pip install 'heald[check]'"),
    ],
)
async def test_a_command_of_a_distribution_that_is_not_installed(command: str, reason: str) -> None:
    ran = await run_without("heald-studio heald-check", command, "x")
    assert ran.code == 2
    assert ran.err == f"heald: There is no command {command!r}, because {reason}\n"


async def test_here(capsys: Capture) -> None:
    """On the machine that runs the tests: what is installed is found to work."""
    ran = await run(capsys, "doctor", "--json")
    rows = rows_of(ran)
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in rows["python"]["text"]
    assert rows["ffmpeg"]["state"] == "ok"
