"""Tools by name and by family, which are plugins."""

from collections.abc import Callable
from typing import Any

import pytest

import heald
from heald.core.errors import ConfigurationError
from heald.plugins import PluginFailed
from heald.tools import families
from heald.tools.families import named_tools, tool_names
from heald.tools.shell.sandbox import Sandbox


@heald.tool
async def weather(city: str) -> str:
    """Weather of a city."""
    return city


def offer(monkeypatch: pytest.MonkeyPatch, plugins: dict[str, Any]) -> None:
    """Offer these families only. An exception as a family is raised when it is loaded."""

    def names(_: str) -> list[str]:
        return list(plugins)

    def has(_: str, name: str) -> bool:
        return name in plugins

    def load(_: str, name: str) -> Any:
        if isinstance(plugins[name], Exception):
            raise plugins[name]
        return plugins[name]

    monkeypatch.setattr(families, "plugin_names", names)
    monkeypatch.setattr(families, "has_plugin", has)
    monkeypatch.setattr(families, "load_plugin", load)


def names_of(*names: str) -> list[str]:
    return [tool.name for tool in named_tools(names)]


def test_the_families_of_the_core() -> None:
    assert {"files", "read", "shell", "web", "todo", "ask"} <= tool_names()
    assert names_of("todo", "ask") == ["todo_list", "ask_user"]
    assert set(names_of("read")) < set(names_of("files")) < set(names_of("all"))
    assert names_of("read_file", "read").count("read_file") == 1


def test_a_family_is_a_sequence_or_a_function_of_the_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes: list[Sandbox | None] = []

    def make(sandbox: Sandbox | None) -> list[heald.Tool]:
        sandboxes.append(sandbox)
        return [weather]

    offer(monkeypatch, {"sky": (weather,), "made": make})
    sandbox = Sandbox(unsandboxed=True)
    assert named_tools(["sky"], sandbox) == named_tools(["weather"], sandbox) == named_tools(["made"], sandbox)
    assert sandboxes[-1] is sandbox
    assert tool_names() == {"all", "sky", "made", "weather"}


def _refuse(_: Sandbox | None) -> list[heald.Tool]:
    raise RuntimeError("no key")


@pytest.mark.parametrize(
    ("plugin", "problem"),
    [
        (PluginFailed("The family of tools 'bad' of other cannot be loaded."), "of other cannot be loaded"),
        (_refuse, "RuntimeError: no key"),
        ([print], "not a tool"),
        (5, "TypeError"),
    ],
)
def test_a_family_that_cannot_be_loaded_stops_nothing_else(
    monkeypatch: pytest.MonkeyPatch, plugin: Callable[..., Any] | Exception, problem: str
) -> None:
    offer(monkeypatch, {"bad": plugin, "sky": [weather]})
    assert names_of("all") == names_of("sky") == names_of("weather") == ["weather"]
    with pytest.raises(ConfigurationError, match=problem):
        named_tools(["bad"])


def test_an_unknown_name(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, {"sky": [weather]})
    with pytest.raises(ConfigurationError, match="did you mean 'weather'"):
        named_tools(["wether"])
    with pytest.raises(ConfigurationError, match="choose from sky, all, weather"):
        named_tools(["zzz"])
