"""`heald trust`: the file of a project does nothing until a person has seen it and said yes, nor once it is changed."""

import asyncio
import json
import stat
from pathlib import Path

import pytest
from cli_tmux import NEEDS_TMUX, Tmux

from cli_bench import is_one_line_error, run, run_process
from cli_pages import here
from heald.config.paths import config_home, user_file
from heald.config.sources import sources
from heald.config.trust import TRUST_FILE, forget, remember, state_of
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.paths import PathFault

Capture = pytest.CaptureFixture[str]
AUTO = 'permissions = "auto"\n'


def write(text: str) -> Path:
    path = Path.cwd() / "heald.toml"
    path.write_text(text)
    return path


def state(path: Path) -> str:
    return state_of(path, path.read_bytes())


async def permissions(capsys: Capture) -> str:
    ran = await run(capsys, "config", "run", "--json")
    return json.loads(ran.out)["settings"]["run"]["permissions"]["value"]


async def test_nothing_counts_before_it_is_trusted_and_nothing_after_a_change(capsys: Capture) -> None:
    path = write(AUTO)
    assert await permissions(capsys) == "ask"
    assert (await run(capsys, "trust", "--yes")).code == 0
    assert await permissions(capsys) == "auto"
    write(f"{AUTO}# and more\n")
    assert (await permissions(capsys), state(path)) == ("ask", "changed")
    write(AUTO)
    assert await permissions(capsys) == "auto"
    assert (await run(capsys, "trust", "--forget")).code == 0
    assert (await permissions(capsys), state(path)) == ("ask", "unknown")


async def test_trust_is_of_one_place(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same words elsewhere are somebody else's."""
    write(AUTO)
    await run(capsys, "trust", "--yes")
    here("other").mkdir()
    here("other/heald.toml").write_text(AUTO)
    monkeypatch.chdir(here("other"))
    assert await permissions(capsys) == "ask"


def test_a_link_is_the_file_that_it_leads_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = write(AUTO)
    remember(path, path.read_bytes(), trusted=True)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "heald.toml").symlink_to(path)
    assert state(tmp_path / "linked" / "heald.toml") == "trusted"


def test_instructions_that_a_file_names_are_part_of_it() -> None:
    path = write('[agent]\ninstructions_file = "rules.md"\n')
    Path("rules.md").write_text("Be kind.")
    remember(path, path.read_bytes(), trusted=True)
    assert state(path) == "trusted"
    Path("rules.md").write_text("Run everything.")
    assert state(path) == "changed"
    assert sources().documents == []


def test_answers_are_for_their_owner_alone() -> None:
    path = write(AUTO)
    remember(path, path.read_bytes(), trusted=True)
    assert stat.S_IMODE((config_home() / TRUST_FILE).stat().st_mode) == 0o600
    assert [file.name for file in config_home().iterdir()] == [TRUST_FILE]


def test_no_tool_writes_the_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Not even where somebody lets an agent work in their home folder."""
    workspace = DiskWorkspace(tmp_path)
    for name in ("trust.json", "heald.toml", "keyring.json"):
        with pytest.raises(PathFault, match="protected"):
            workspace.write(f".config/heald/{name}", b"{}", on_change=id)
    workspace.close()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"/x": 3}', b"\xff"])
def test_answers_that_cannot_be_understood_are_silent(content: bytes) -> None:
    path = write(AUTO)
    config_home().mkdir(parents=True)
    (config_home() / TRUST_FILE).write_bytes(content)
    assert state(path) == "unknown"
    remember(path, path.read_bytes(), trusted=True)
    assert state(path) == "trusted"
    assert forget(path) is True
    assert forget(path) is False


def test_the_users_own_file_needs_no_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text(AUTO)
    monkeypatch.chdir(user_file().parent)
    now = sources()
    assert [document.place for document in now.documents] == ["user"]
    assert now.ignored is None


async def test_a_file_that_is_wrong_is_not_trusted(capsys: Capture) -> None:
    path = write("modle = 1\n")
    ran = await run(capsys, "trust", "--yes")
    assert (ran.code, state(path)) == (2, "unknown")
    assert "did you mean 'model'?" in ran.err


async def test_one_that_does_nothing_is_reported_in_a_line_and_once_refused_not_at_all(capsys: Capture) -> None:
    write("this is no TOML, and nobody reads it")
    for words in (["run", "Hi", "--model", "antropic/x"], ["build", "--text", "x", "--model", "antropic/x"]):
        ran = await run_process(*words)
        assert ran.code == 2
        first, second = ran.err.splitlines()
        assert first == "heald: heald.toml is not trusted and has no effect; `heald trust` shows it and asks."
        assert "did you mean 'anthropic'?" in second
    await run(capsys, "trust", "--no")
    ran = await run_process("run", "Hi", "--model", "antropic/x")
    assert is_one_line_error(ran)


async def test_what_can_be_wrong(capsys: Capture) -> None:
    ran = await run(capsys, "trust")
    assert (ran.code, is_one_line_error(ran)) == (2, True)
    assert "There is no heald.toml in '.'" in ran.err
    assert (await run(capsys, "trust", "nowhere")).code == 2
    write(AUTO)
    ran = await run_process("trust")
    assert (ran.code, "give --yes or --no" in ran.err) == (2, True)


async def test_the_list(capsys: Capture) -> None:
    path = write(AUTO)
    await run(capsys, "trust", "--yes")
    ran = await run(capsys, "trust", "--list", "--json")
    assert json.loads(ran.out) == {"file": str(path.resolve()), "state": "trusted", "trusted": True}
    path.unlink()
    assert (await run(capsys, "trust", "--list")).out.startswith("deleted ")


@NEEDS_TMUX
async def test_a_person_is_shown_the_file_and_asked(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _: wire_reply("chat", text="Hello.")) as server:
        write(f'model = "theirs/m"\n[providers.theirs]\nwire = "chat"\nbase_url = "{server.url}/v1"\n# \u202eevil\n')
        words = ["run", "Hi"]
        async with Tmux(tmp_path, *words) as terminal:
            texts = ("heald.toml is not trusted yet. It contains:", 'model = "theirs/m"', "trust it?")
            screen = await terminal.shows(*texts)
            assert "evil" in screen
            assert "\u202e" not in screen
            assert server.requests == []
            await terminal.enter("")
            await terminal.shows("No model is configured", "status 2")
        assert state(here("heald.toml")) == "unknown"
        async with Tmux(tmp_path, *words) as terminal:
            await terminal.shows("trust it?")
            await terminal.enter("y")
            await terminal.shows("Hello.", "status 0")
        assert len(server.requests) == 1
        async with Tmux(tmp_path, *words) as terminal:
            await terminal.shows("Hello.", "status 0", without="trust it?")
        write("# changed\n" + here("heald.toml").read_text())
        async with Tmux(tmp_path, "trust") as terminal:
            await terminal.shows("heald.toml has changed since you trusted it. It contains:", "trust it?")
            await asyncio.sleep(0.2)
            await terminal.enter("n")
            await terminal.shows("status 1")
        assert state(here("heald.toml")) == "refused"
