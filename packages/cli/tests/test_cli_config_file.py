"""`heald.toml` read: every slip is one sentence with its file and line, and secrets do not stand in it."""

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli_bench import is_one_line_error, run
from example_counts import scaled
from heald.config.command_tables import command_tables, table_names
from heald.config.document import ConfigDocument, parse_document
from heald.config.keys import describe_keys
from heald.config.paths import display_path, project_file, user_file
from heald.config.schema import PROVIDERS, AuthName
from heald.config.secrets import find_secrets
from heald.config.sources import sources
from heald.config.toml_lines import find_line
from heald.config.work_tables import ModeName
from heald.core.errors import ConfigurationError
from heald.providers.endpoint import Auth
from heald.tools.permissions import MODES

Capture = pytest.CaptureFixture[str]


def parsed(text: str, place: str = "user") -> ConfigDocument:
    return parse_document(Path("heald.toml").resolve(), place, text.encode())  # pyright: ignore[reportArgumentType]


def complaint(text: str, place: str = "user") -> str:
    with pytest.raises(ConfigurationError) as raised:
        parsed(text, place)
    told = str(raised.value)
    assert "\n" not in told
    assert told.endswith((".", "?"))
    return told


def fault_of(text: str, place: str = "user") -> str:
    try:
        parsed(text, place)
    except ConfigurationError as error:
        return str(error)
    return "fine"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('modle = "x"', "heald.toml:1: there is an unknown key 'modle'; did you mean 'model'?"),
        ("\n\nport = 80", "heald.toml:3: there is an unknown key 'port'; it belongs into [serve]."),
        ("[sevre]\nport = 1", "heald.toml:1: there is an unknown key 'sevre'; did you mean 'serve'?"),
        ("zzz = 1", "heald.toml:1: there is an unknown key 'zzz'; `heald config` lists all keys."),
        ("[serve]\n# the door\nprot = 1", "heald.toml:3: [serve] has an unknown key 'prot'; did you mean 'port'?"),
        ('[serve]\nport = "80"', "heald.toml:2: [serve] port must be a whole number from 0 to 65535, not '80'."),
        ("[serve]\nport = 70000", "heald.toml:2: [serve] port must be a whole number from 0 to 65535, not 70000."),
        ("[serve]\nport = true", "heald.toml:2: [serve] port must be a whole number from 0 to 65535, not true."),
        ("[run]\nmax_usd = 0", "heald.toml:2: [run] max_usd must be a number above 0, not 0."),
        ("rule = 'deny x'", "heald.toml:1: rule must be a list of texts, not 'deny x'."),
        ("rule = [\n 'deny x',\n 3,\n]", "heald.toml:1: rule must be a list of texts, not a list."),
        ("tools = 1979-05-27", "heald.toml:1: tools must be text or a list of texts, not a date."),
        ("permissions = 'yolo'", "heald.toml:1: permissions must be one of ask, auto, inside, read-only, not 'yolo'."),
        ("unsandboxed = 1", "heald.toml:1: unsandboxed must be true or false, not 1."),
        ("serve = 3", "heald.toml:1: 'serve' must be a table such as [serve]."),
        ("[build]\n[build.stack]\nx = 1", "heald.toml:2: [build] stack must be text, not a table."),
        ("[providers.a]\nwire = 'chat'", "heald.toml:1: [providers.a] lacks 'base_url'."),
        ("model = ", "heald.toml cannot be read: Invalid value (at end of document)."),
    ],
)
def test_what_can_be_wrong(text: str, sentence: str) -> None:
    assert complaint(text) == sentence


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('api_key = "a"', 1),
        ('[providers.x]\nwire = "chat"\nbase_url = "http://h"\nheaders = {Authorization = "whatever"}', 4),
        ('[providers.x]\nheaders = {"x-api-key" = "abc"}\nwire = "chat"\nbase_url = "http://h"', 2),
        ('model = "sk-ant-REDACTED"', 1),
        ('\nsystem = "use AIzaSyA1234567890abcdefghijklmnopqrstu"', 2),
        ('[serve]\ntoken = "abc"', 2),
        ('[providers.x]\nwire = "chat"\nbase_url = "https://me:hunter2@host/v1"', 3),
        ('rule = ["allow x", "Bearer abcdefghijklmnop"]', 1),
    ],
)
def test_secrets_do_not_stand_in_a_file(text: str, line: int) -> None:
    told = complaint(text)
    assert told.startswith(f"heald.toml:{line}: ")
    assert "looks like a secret" in told
    assert "heald key set" in told
    for secret in ("sk-ant", "AIza", "hunter2", "abcdefgh", "whatever"):
        assert secret not in told


def test_what_is_no_secret() -> None:
    provider = '[providers.x]\napi_key_env = "X_KEY"\nwire="chat"\nbase_url="u"'
    text = f"[serve]\nno_token = true\n[run]\nmax_tokens = 9\n{provider}"
    assert list(find_secrets(parsed(text).tables)) == []


@pytest.mark.parametrize("key", ["host = '0.0.0.0'", "no_token = true", "allow_origin = ['https://e.test']"])
def test_what_no_project_may_state(key: str) -> None:
    parsed(f"[serve]\n{key}")
    assert "cannot be set by a project; write it into " in complaint(f"[serve]\n{key}", "project")


def test_no_project_turns_the_sandbox_off() -> None:
    for text in ("unsandboxed = true", "[chat]\nunsandboxed = true"):
        assert "unsandboxed cannot be set by a project" in complaint(text, "project")


@pytest.mark.parametrize("name", ["/etc", "..", "~/x", "a/../../b", "link/x", "https://example.org/x"])
def test_a_project_names_nothing_outside(name: str) -> None:
    Path("link").symlink_to("/etc")
    for key in ("[run]\nworkspace", "data", "[build]\noutput", "[build]\ndesign_system"):
        assert "which is not in the same folder" in complaint(f"{key} = '{name}'", "project")
    assert "which is not in the same folder" in complaint(f"[serve]\nworkspace = ['ok', '{name}']", "project")


def test_the_words_of_the_schema_are_those_of_the_code() -> None:
    assert set(get_args(AuthName)) == set(get_args(Auth))
    assert set(get_args(ModeName)) == set(MODES)


# --- places ---------------------------------------------------------------------------------------------------------


def test_the_nearest_file_counts_and_none_above_the_repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "heald.toml").write_text("")
    repository = tmp_path / "repository"
    deep = repository / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert project_file() == tmp_path / "heald.toml"
    (repository / ".git").mkdir()
    assert project_file() is None
    (repository / "heald.toml").write_text("")
    assert project_file() == repository / "heald.toml"
    (deep / "heald.toml").write_text("")
    assert project_file() == deep / "heald.toml"
    assert display_path(deep / "heald.toml") == "heald.toml"


def test_a_home_folder_is_no_project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "heald.toml").write_text("")
    (tmp_path / "p").mkdir()
    monkeypatch.chdir(tmp_path / "p")
    assert project_file() is None
    monkeypatch.setenv("HOME", str(tmp_path / "p"))
    assert project_file() is None  # nothing above it either
    monkeypatch.setenv("HOME", str(tmp_path))
    assert display_path(tmp_path / "p2" / "heald.toml") == "~/p2/heald.toml"


def test_a_working_folder_that_was_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("modle = 1\n")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert project_file() is None
    with pytest.raises(ConfigurationError, match="did you mean 'model'"):
        sources()


async def test_a_user_file_that_is_wrong_stops_every_command_that_obeys_it(capsys: Capture) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("[serve]\nprot = 1\n")
    for words in (["run", "Hi"], ["serve", "--no-open"], ["sessions", "list"], ["config"], ["build", "--text", "x"]):
        ran = await run(capsys, *words)
        assert ran.code == 2, words
        assert is_one_line_error(ran), ran
        assert "heald.toml:2: [serve] has an unknown key 'prot'; did you mean 'port'?" in ran.err


# --- lines ----------------------------------------------------------------------------------------------------------

unhurried = settings(deadline=None, max_examples=scaled(60), suppress_health_check=[HealthCheck.too_slow])
_KEYS = st.sampled_from(["a", "b_2", "long_name", '"quoted key"', "c"])
_VALUES = st.sampled_from(
    ["1", '"a # b"', "'''\n[x]\ny = 1\n'''", '"""\n\n"""', "[\n 1, # one\n 2,\n]", "{a = 1}", "true", '"\\""', "[]"]
)
_FILLERS = st.sampled_from(["", "# x = 1", "   ", "# [t]"])


@unhurried
@given(st.lists(st.tuples(_KEYS, _VALUES, st.lists(_FILLERS, max_size=2), st.booleans()), max_size=12), st.booleans())
def test_each_key_is_found_in_its_line(pieces: list[tuple[str, str, list[str], bool]], crlf: bool) -> None:
    lines: list[str] = []
    expected: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, (key, value, fillers, begins) in enumerate(pieces):
        lines += fillers
        if begins:
            table = (f"t{number}", "in")
            lines.append(f"[t{number}.in]")
            expected[table] = expected[table[:1]] = len(lines)
        if (*table, key.strip('"')) in expected:
            continue
        expected[(*table, key.strip('"'))] = len(lines) + 1
        lines += f"{key} = {value}".split("\n")
    text = ("\r\n" if crlf else "\n").join(lines)
    for path, line in expected.items():
        assert find_line(text, path) == line


@unhurried
@given(st.text(max_size=200), st.sampled_from(["user", "project"]))
def test_any_text_is_a_document_or_one_sentence(text: str, place: str) -> None:
    assert fault_of(text, place).startswith(("heald.toml", "fine"))


_ANY = st.recursive(
    st.sampled_from(["1", "true", '"x"', "1.5", "[]", "1979-05-27"]), lambda inner: inner.map(lambda v: f"[{v}]")
)
_SETTING_KEYS = {key for table in command_tables().values() for key in describe_keys(table)}
_NAMES = sorted({*table_names(), PROVIDERS, *_SETTING_KEYS, "zz"})


@unhurried
@given(st.lists(st.tuples(st.sampled_from(_NAMES), _ANY), max_size=4, unique_by=lambda pair: pair[0]), st.booleans())
def test_any_value_anywhere_is_fine_or_one_sentence(pairs: list[tuple[str, str]], nested: bool) -> None:
    text = ("[serve]\n" if nested else "") + "\n".join(f"{key} = {value}" for key, value in pairs)
    told = fault_of(text)
    assert told.startswith(("heald.toml:", "fine"))
    assert "\n" not in told
