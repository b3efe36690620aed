"""`heald.toml`: providers that people name themselves, and one sentence for everything that can be wrong in it."""

import os
from pathlib import Path

import pytest
from provider_bench import KEY, NOW, is_one_sentence, turn_of

import heald
from heald.config.paths import user_file
from heald.config.trust import remember
from heald.core.errors import BadBaseUrl, ConfigurationError, MissingKey, UnknownProvider
from heald.core.messages import user_message
from heald.core.turn import Settings
from heald.providers.config import configured_providers
from heald.providers.resolve import resolve
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply

MINE = '[providers.mine]\nwire = "chat"\nbase_url = "https://models.test/v1"\n'


def write(text: str, *, for_user: bool = False) -> Path:
    path = user_file() if for_user else Path("heald.toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    if not for_user:
        remember(path, path.read_bytes(), trusted=True)
    return path


def complaint() -> str:
    with pytest.raises(ConfigurationError) as raised:
        resolve("mine/m")
    told = str(raised.value)
    assert "\n" not in told
    return told


async def test_a_named_endpoint_is_spoken_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE_KEY", KEY)
    async with ScriptedServer([wire_reply("messages", text="Hello")]) as server:
        write(
            f'[providers.mine]\nwire = "messages"\nbase_url = "{server.url}/v1/"\napi_key_env = "MINE_KEY"\n'
            'auth = "bearer"\nheaders = {x-team = "heald"}\n'
        )
        session = heald.providers.open_provider_session("mine/Some/Model", messages=[user_message("Go.")], retry=NOW)
        assert (await turn_of(session)).text == "Hello"
        (request,) = server.requests
    assert (request.path, request.body["model"]) == ("/v1/messages", "Some/Model")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["x-team"] == "heald"
    assert "x-api-key" not in request.headers


async def test_habits_of_an_endpoint() -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello")]) as server:
        write(
            f'[providers.mine]\nwire = "chat"\nbase_url = "{server.url}/v1"\n'
            '[providers.mine.quirks]\nmax_tokens_field = "max_completion_tokens"\nusage_option = false\n'
        )
        await turn_of(
            heald.providers.open_provider_session(
                "mine/m", messages=[user_message("Go.")], settings=Settings(max_output_tokens=50)
            )
        )
        (request,) = server.requests
    assert request.body["max_completion_tokens"] == 50
    assert "stream_options" not in request.body


def test_the_user_wins_over_the_project() -> None:
    write(MINE + '[providers.other]\nwire = "chat"\nbase_url = "https://other.test"\n', for_user=True)
    write(MINE.replace("mine", "third"))
    assert resolve("mine/m").base_url == "https://models.test/v1"
    assert resolve("third/m").base_url == "https://models.test/v1"
    assert resolve("other/m").base_url == "https://other.test"


def test_the_users_file_stands_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    write(MINE, for_user=True)
    assert (tmp_path / ".config" / "heald" / "heald.toml").exists()
    assert resolve("mine/m").base_url == "https://models.test/v1"


def test_a_known_provider_can_be_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://elsewhere.test/v1")
    write(MINE.replace("mine", "openai"), for_user=True)
    model = resolve("openai/m")
    assert (model.wire.name, model.base_url) == ("chat", "https://models.test/v1")


def test_a_folder_moves_no_known_provider_and_accepts_no_known_key() -> None:
    """Whoever wrote the folder would get the key."""
    write(MINE.replace("mine", "openai"))
    with pytest.raises(ConfigurationError, match="may not change the provider 'openai'"):
        resolve("openai/m")
    for variable in ("OPENAI_API_KEY", "GEMINI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"):
        write(MINE + f'api_key_env = "{variable}"\n')
        with pytest.raises(ConfigurationError, match=f"may not use {variable} for 'mine'"):
            resolve("mine/m")


def test_no_file_is_no_provider() -> None:
    assert configured_providers() == {}
    write("")
    write('model = "mine/m"\n[serve]\nport = 80\n', for_user=True)
    assert configured_providers() == {}


def test_its_key_is_asked_for_by_name() -> None:
    write(MINE + 'api_key_env = "MINE_KEY"\n')
    with pytest.raises(MissingKey, match="no key for mine: set MINE_KEY in the environment"):
        heald.providers.open_provider_session("mine/m")


def test_a_near_name_is_found_in_the_file() -> None:
    write(MINE.replace("mine", "workshop"))
    with pytest.raises(UnknownProvider, match="did you mean 'workshop'"):
        resolve("workshp/m")


@pytest.mark.parametrize("line", ['api_key = "sk-secret"', 'headers = {x-api-key = "sk-secret"}'])
def test_a_key_in_the_file(line: str) -> None:
    write(f"{MINE}{line}\n")
    told = complaint()
    assert told.startswith("heald.toml:4: [providers.mine")
    assert "looks like a secret" in told
    assert "sk-secret" not in told


def test_a_file_that_is_not_trusted_does_nothing(caplog: pytest.LogCaptureFixture) -> None:
    Path("heald.toml").write_text(MINE)
    with pytest.raises(UnknownProvider, match="not trusted and does nothing; `heald trust` asks"):
        resolve("mine/m")
    assert configured_providers() == {}
    assert caplog.text.count("heald.toml is not trusted") == 1


def test_trust_is_in_the_content() -> None:
    write(MINE)
    assert resolve("mine/m").base_url == "https://models.test/v1"
    Path("heald.toml").write_text(MINE.replace("models.test", "evil.test"))
    assert configured_providers() == {}


# --- what can be wrong ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('base_ur = "x"', "unknown key 'base_ur'; did you mean 'base_url'?"),
        ('header = "x"', "unknown key 'header'; did you mean 'headers'?"),
        ("zzz = 1", "unknown key 'zzz'; its keys are wire, base_url, api_key_env, auth, headers, quirks."),
    ],
)
def test_an_unknown_key(line: str, words: str) -> None:
    path = write(f"{MINE}{line}\n")
    told = complaint()
    assert told == f"{path}:4: [providers.mine] has an {words}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (MINE.replace('"https://models.test/v1"', "8080"), "base_url"),
        (MINE.replace('"chat"', "1"), "wire"),
        (MINE.replace('wire = "chat"\n', ""), "wire"),
        (MINE.replace('base_url = "https://models.test/v1"\n', ""), "base_url"),
        (MINE.replace('"chat"', '"telegraph"'), "wire must be one of bedrock-messages, chat,"),
        (MINE + 'auth = "basic"\n', "not 'basic'"),
        (MINE + "headers = {x = 1}\n", "headers"),
        (MINE + 'quirks = {usage_option = "no"}\n', "usage_option"),
        ("[providers]\nmine = 3\n", "[providers.mine]"),
        ("providers = 3\n", "must be tables such as [providers.mine]"),
    ],
)
def test_wrong_types(text: str, words: str) -> None:
    path = write(text)
    told = complaint()
    assert told.startswith(f"{path}:")
    assert words in told
    assert is_one_sentence(told)


def test_a_bad_address() -> None:
    write(MINE.replace("https://models.test/v1", "models.test"))
    with pytest.raises(BadBaseUrl, match=r"The base URL of mine is 'models\.test'"):
        resolve("mine/m")


def test_no_toml() -> None:
    path = write("[providers.mine\nwire = chat")
    assert complaint().startswith(f"{path} cannot be read: ")


def test_no_text() -> None:
    path = write("")
    path.write_bytes(b"\xff\xfe\x00")
    remember(path, path.read_bytes(), trusted=True)
    assert complaint().startswith(f"{path} cannot be read: ")


def test_a_folder_in_its_place() -> None:
    path = Path("heald.toml")
    path.mkdir()
    assert complaint().startswith(f"{path} cannot be read: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read() -> None:
    path = write(MINE)
    path.chmod(0)
    assert complaint().startswith(f"{path} cannot be read: ")
