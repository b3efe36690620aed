"""`heald key`: keys go to the keyring of the system unseen, and are used from there; the environment is first."""

import importlib.util
import json
import os
from pathlib import Path

import pytest
from cli_tmux import NEEDS_TMUX, Tmux

from cli_bench import KEY, Ran, is_one_line_error, run, run_process
from heald.config.paths import config_home, user_file
from heald.providers.key_store import stored_key_names
from heald.providers.keys import KeyEnvironment, find_key, find_key_origin, has_key
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply

Capture = pytest.CaptureFixture[str]

BACKEND = """
import json, os
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError

class Ring(KeyringBackend):
    priority = 1

    def _kept(self):
        if os.environ.get("RING_LOCKED"):
            raise KeyringLocked("locked")
        try:
            with open(os.environ["RING"]) as file:
                return json.load(file)
        except FileNotFoundError:
            return {}

    def get_password(self, service, username):
        return self._kept().get(f"{service}/{username}")

    def set_password(self, service, username, password):
        self._write(self._kept() | {f"{service}/{username}": password})

    def delete_password(self, service, username):
        kept = self._kept()
        if kept.pop(f"{service}/{username}", None) is None:
            raise PasswordDeleteError("not there")
        self._write(kept)

    def _write(self, kept):
        with open(os.environ["RING"], "w") as file:
            json.dump(kept, file)
"""

needs_keyring = pytest.mark.skipif(
    importlib.util.find_spec("keyring") is None, reason="keyring is not installed (pip install 'heald[keyring]')"
)


@pytest.fixture
def ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A keyring in a file, through the real package."""
    folder = tmp_path / "backend"
    folder.mkdir()
    (folder / "heald_test_ring.py").write_text(BACKEND)
    path = [str(folder), *([os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else [])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "heald_test_ring.Ring")
    monkeypatch.setenv("RING", str(tmp_path / "ring.json"))
    return tmp_path / "ring.json"


def held(ring: Path) -> dict[str, str]:
    return json.loads(ring.read_text())


async def examined(**env: str) -> dict[str, dict[str, str]]:
    """What the doctor finds where there are no programs."""
    ran = await run_process("doctor", "--json", env={"PATH": "/nowhere", **env})
    assert KEY not in ran.out + ran.err
    return {row["name"]: row for row in json.loads(ran.out)["findings"]}


def absent() -> bool:
    """The package is not installed."""
    return False


def unwanted() -> None:
    pytest.fail("It was looked for.")


async def keep(name: str, key: str = KEY) -> Ran:
    return await run_process("key", "set", name, said=key.encode() + b"\n")


@needs_keyring
async def test_a_key_is_kept_used_and_removed(ring: Path) -> None:
    ran = await keep("anthropic")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "heald: ANTHROPIC_API_KEY is in the keyring.\n"
    assert held(ring) == {"heald/ANTHROPIC_API_KEY": KEY}
    listed = await run_process("key", "list", "--json")
    assert json.loads(listed.out) == {
        "name": "ANTHROPIC_API_KEY",
        "from": "keyring",
        "providers": ["anthropic"],
    }
    assert (await examined())["key anthropic"]["text"] == "ANTHROPIC_API_KEY is in the keyring of the system"
    models = await run_process("models", "--json")
    assert "anthropic/" in models.out
    async with ScriptedServer([wire_reply("messages", text="Hello")]) as server:
        words = ["run", "--model", "anthropic/claude-sonnet-4-6", "Hi"]
        asked = await run_process(*words, ANTHROPIC_BASE_URL=server.url)
        assert (asked.code, asked.out) == (0, "Hello\n"), asked.err
        assert server.requests[0].headers["x-api-key"] == KEY
    removed = await run_process("key", "remove", "anthropic")
    assert removed.code == 0
    assert held(ring) == {}
    again = await run_process("key", "remove", "anthropic")
    assert (again.code, is_one_line_error(again)) == (2, True)
    gone = await run_process(*words)
    assert "There is no key for anthropic: set ANTHROPIC_API_KEY" in gone.err
    for output in (ran, listed, models, asked, removed, gone):
        assert KEY not in output.out + output.err
    for file in config_home().rglob("*"):
        assert KEY not in file.read_text()


@needs_keyring
async def test_the_environment_is_first(ring: Path) -> None:
    await keep("anthropic", "the-one-in-the-ring")
    ran = await run_process("key", "list", "--json", ANTHROPIC_API_KEY=KEY)
    assert json.loads(ran.out)["from"] == "environment"
    async with ScriptedServer([wire_reply("messages", text="Hello")]) as server:
        words = ["run", "--model", "anthropic/claude-sonnet-4-6", "Hi"]
        await run_process(*words, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY=KEY)
        assert server.requests[0].headers["x-api-key"] == KEY


@needs_keyring
async def test_a_provider_of_ones_own(ring: Path) -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello")]) as server:
        user_file().parent.mkdir(parents=True)
        user_file().write_text(
            f'[providers.mine]\nwire = "chat"\nbase_url = "{server.url}/v1"\napi_key_env = "MINE_KEY"\n'
        )
        assert (await keep("mine")).err == "heald: MINE_KEY is in the keyring.\n"
        ran = await run_process("run", "--model", "mine/m", "Hi")
        assert ran.out == "Hello\n", ran.err
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@needs_keyring
async def test_a_locked_keyring_is_reported_and_breaks_nothing_else(ring: Path) -> None:
    await keep("anthropic")
    ran = await run_process("run", "--model", "anthropic/claude-sonnet-4-6", "Hi", RING_LOCKED="1")
    assert (ran.code, is_one_line_error(ran)) == (2, True), ran.err
    assert "KeyringLocked; unlock it, or set the key in the environment." in ran.err
    assert (await examined(RING_LOCKED="1"))["key anthropic"]["state"] == "wrong"
    assert (await run_process("models", "--json", RING_LOCKED="1")).code == 0
    refused = await run_process("key", "set", "openai", said=b"abcdefgh", RING_LOCKED="1")
    assert (refused.code, is_one_line_error(refused)) == (2, True)
    assert (await run_process("key", "list")).out.split()[0] == "ANTHROPIC_API_KEY"


@needs_keyring
@NEEDS_TMUX
async def test_what_is_typed_is_not_shown(ring: Path, tmp_path: Path) -> None:
    names = ("PYTHONPATH", "PYTHON_KEYRING_BACKEND", "RING")
    async with Tmux(tmp_path, "key", "set", "openai", **{name: os.environ[name] for name in names}) as terminal:
        await terminal.shows("OPENAI_API_KEY (not shown):")
        await terminal.enter(KEY)
        screen = await terminal.shows("OPENAI_API_KEY is in the keyring.", "status 0")
        assert KEY not in screen
        assert KEY[-6:] not in screen
    assert held(ring) == {"heald/OPENAI_API_KEY": KEY}


async def test_without_the_package(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heald.providers.key_store._has_keyring", absent)
    ran = await run(capsys, "key", "remove", "anthropic")
    assert (ran.code, is_one_line_error(ran)) == (2, True)
    assert "ANTHROPIC_API_KEY is not stored" in ran.err


@needs_keyring
async def test_on_a_machine_without_a_keyring_keys_are_in_a_private_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a server or in a container: the package is installed, and there is nothing behind it."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    store = (await examined())["key store"]
    assert store["state"] == "missing"
    assert store["text"].startswith("this system has no keyring; keys are stored in ")
    ran = await keep("anthropic")
    assert (ran.code, ran.out) == (0, "")
    assert "not encrypted; HEALD_KEYS_SECRET would encrypt it" in ran.err
    assert (config_home() / "credentials.json").stat().st_mode & 0o777 == 0o600
    assert (await examined())["key anthropic"]["text"] == "ANTHROPIC_API_KEY is in the file of keys"
    async with ScriptedServer([wire_reply("messages", text="Hello")]) as server:
        words = ["run", "--model", "anthropic/claude-sonnet-4-6", "Hi"]
        asked = await run_process(*words, ANTHROPIC_BASE_URL=server.url)
        assert (asked.code, asked.out) == (0, "Hello\n"), asked.err
        assert server.requests[0].headers["x-api-key"] == KEY
    encrypted = await run_process("key", "set", "openai", said=KEY.encode(), HEALD_KEYS_SECRET="correct horse")
    assert encrypted.err == "heald: OPENAI_API_KEY is in ~/.config/heald/credentials.json, encrypted.\n"
    assert KEY not in (config_home() / "credentials.json").read_text()
    assert (await examined())["key openai"]["state"] == "wrong"
    assert (await examined(HEALD_KEYS_SECRET="correct horse"))["key openai"]["state"] == "ok"
    assert (await run_process("key", "remove", "anthropic")).code == 0
    assert (await run_process("key", "list")).out.split()[:2] == ["OPENAI_API_KEY", "file"]


@pytest.mark.parametrize(
    ("name", "key", "sentence"),
    [
        ("antropic", "abcdefgh", "There is no provider 'antropic'; did you mean 'anthropic'?"),
        ("sk-ant-REDACTED", "x", "A key is never an argument of the command: it is asked for."),
        ("anthropic", "two words", "That is not a key"),
        ("anthropic", "", "That is not a key"),
        ("anthropic", "broken\nkey", "That is not a key"),
    ],
)
async def test_what_can_be_wrong(name: str, key: str, sentence: str) -> None:
    ran = await keep(name, key)
    assert (ran.code, is_one_line_error(ran)) == (2, True), ran
    assert sentence in ran.err
    assert "sk-ant" not in ran.err
    assert stored_key_names() == ()


async def test_nobody_who_keeps_nothing_there_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is not even looked for."""
    monkeypatch.setattr("heald.providers.key_store._has_keyring", unwanted)
    assert find_key(("ANTHROPIC_API_KEY",)) is None
    assert has_key(("ANTHROPIC_API_KEY",)) is False
    assert find_key_origin(()) is None
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert KeyEnvironment()["ANTHROPIC_API_KEY"] == KEY
    assert KeyEnvironment().get("NO_SUCH_KEY") is None


async def test_an_empty_list(capsys: Capture) -> None:
    ran = await run(capsys, "key", "list")
    assert (ran.code, ran.out) == (0, "")
    assert "heald key set" in ran.err
