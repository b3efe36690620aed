"""Stacks of plugins: a stack or a folder of stack files, checked like the built-in ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from heald_studio.stacks import installed
from heald_studio.stacks.installed import BUILTIN, find_stack, load_stacks
from heald_studio.stacks.stack import Stack

FILE = '+++\nlabel = "House"\nentry = "./home.html"\npreview = "page"\n+++\nRules\n\n# File: a.css\n\n```\np {}\n```\n'


class Plugins:
    """The entry points of `heald.stacks`, and the failures that were recorded."""

    def __init__(self) -> None:
        self.entries: dict[str, object] = {"builtin": BUILTIN}
        self.failures: list[tuple[str, str]] = []

    def load(self, group: str) -> dict[str, object]:
        return self.entries if group == "stacks" else {}

    def record(self, group: str, name: str, error: Exception) -> str:
        self.failures.append((name, str(error)))
        return str(error)


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[Plugins]:
    plugins = Plugins()
    monkeypatch.setattr(installed, "load_plugins", plugins.load)
    monkeypatch.setattr(installed, "record_failure", plugins.record)
    installed._installed_stacks.cache_clear()  # pyright: ignore[reportPrivateUsage]
    yield plugins
    installed._installed_stacks.cache_clear()  # pyright: ignore[reportPrivateUsage]


def test_the_built_in_stacks_are_a_plugin_and_come_first(plugins: Plugins) -> None:
    builtin = list(load_stacks())
    assert builtin[:2] == ["html_tailwind", "html_css"]
    assert len(builtin) == 11
    installed._installed_stacks.cache_clear()  # pyright: ignore[reportPrivateUsage]
    plugins.entries = {
        "mine": Stack(name="mine", label="Mine", entry="a.html", rules="", scaffold={}),
        **plugins.entries,
    }
    assert list(load_stacks())[:7] == builtin[:7]
    assert "mine" in load_stacks()
    assert plugins.failures == []


def test_a_folder_and_a_stack_are_offered_and_checked(plugins: Plugins, tmp_path: Path) -> None:
    (tmp_path / "house.md").write_text(FILE)
    (tmp_path / "README.md").write_text("Not a stack.")
    plugins.entries["folder"] = tmp_path
    plugins.entries["one"] = Stack(name="mine", label="Mine", entry="./a.html", rules="Rules.", scaffold={})
    assert find_stack("house").scaffold == {"a.css": "p {}\n"}
    assert (find_stack("house").entry, find_stack("mine").entry) == ("home.html", "a.html")
    assert plugins.failures == []


@pytest.mark.parametrize(
    ("plugin", "sentence"),
    [
        (object(), "object is neither a Stack nor a folder of stack files"),
        (Stack(name="Bad Name", label="", entry="a.html", rules="", scaffold={}), "cannot be called 'Bad Name'"),
        (Stack(name="bad", label="", entry="../a.html", rules="", scaffold={}), "names a file that cannot be"),
        (Stack(name="svg", label="", entry="a.html", rules="", scaffold={}), "offers the stack svg too"),
    ],
)
def test_a_plugin_that_is_wrong_is_recorded_and_stops_nothing_else(
    plugins: Plugins, plugin: object, sentence: str
) -> None:
    plugins.entries["wrong"] = plugin
    assert len(load_stacks()) == 11
    ((name, message),) = plugins.failures
    assert name == "wrong"
    assert sentence in message
    assert find_stack("svg").label != ""


def test_a_folder_with_a_wrong_file_is_recorded(plugins: Plugins, tmp_path: Path) -> None:
    (tmp_path / "house.md").write_text("No settings.")
    plugins.entries["folder"] = tmp_path
    assert "house" not in load_stacks()
    assert plugins.failures == [
        ("folder", "house.md has no settings; begin the file with them between two lines of '+++'.")
    ]
