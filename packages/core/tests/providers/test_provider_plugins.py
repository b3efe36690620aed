"""Wires, providers and models of other distributions: found by their entry points, and harmless if they are broken."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ENTRY_POINTS = """
[heald.wires]
telegraph = telegraph_plugin:WIRE
torn = telegraph_plugin:NO_WIRE

[heald.providers]
telegraph = telegraph_plugin:PROVIDER
torn = telegraph_plugin:NO_WIRE

[heald.models]
parrot = telegraph_plugin:Parrot
missing = telegraph_plugin:Missing
"""
PLUGIN = """
from msgspec.structs import replace

from heald.plugins import Endpoint, OfferedModel
from heald.testing import ScriptedModel
from heald.wires.chat import WIRE as CHAT

WIRE = replace(CHAT, name="telegraph", key_header="x-api-key", attempts=3)
NO_WIRE = "a string"
PROVIDER = Endpoint(
    provider="western", wire="telegraph", base_url="https://western.test/v1", base_url_env="WESTERN_URL",
    key_envs=("WESTERN_KEY",),
)


class Parrot:
    stacks = ("html_css",)

    @staticmethod
    def named(name):
        return ScriptedModel([name], name=f"parrot/{name}")

    @staticmethod
    def list_models():
        return [OfferedModel("parrot/grey", "Grey parrot")]
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    folder = tmp_path / "telegraph_plugin-1.0.dist-info"
    folder.mkdir()
    (folder / "entry_points.txt").write_text(ENTRY_POINTS)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: telegraph-plugin\nVersion: 1.0\n")
    (tmp_path / "telegraph_plugin.py").write_text(PLUGIN)
    return tmp_path


def run(folder: Path, code: str, **environment: str) -> Any:
    """Run code with the plugin installed, and return what it prints as JSON."""
    program = f"import sys, json; sys.path.insert(0, {str(folder)!r})\n{code}"
    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PATH": "", **environment}
    )
    return json.loads(finished.stdout)


def test_a_provider_and_a_wire_of_a_plugin_are_used_by_name(installed: Path) -> None:
    code = """
from heald.providers.resolve import resolve
model = resolve("western/m")
print(json.dumps([model.wire.name, model.url, model.request_headers["x-api-key"], model.wire.attempts]))
"""
    expected = ["telegraph", "https://western.test/v1/chat/completions", "a key of mine", 3]
    assert run(installed, code, WESTERN_KEY="a key of mine") == expected
    moved = run(installed, code, WESTERN_KEY="a key of mine", WESTERN_URL="https://east.test/v1/")
    assert moved == ["telegraph", "https://east.test/v1/chat/completions", "a key of mine", 3]


def test_models_of_a_plugin_are_offered_and_answer(installed: Path) -> None:
    code = """
import heald
from heald.providers.families import offered_models, stacks_of
models = [(model.name, model.label) for model in offered_models() if model.name.startswith("parrot/")]
result = heald.Agent("parrot/hello").run_sync("Say it.")
print(json.dumps([models, result.text, stacks_of("parrot/hello"), stacks_of("openai/gpt-5")]))
"""
    assert run(installed, code) == [[["parrot/grey", "Grey parrot"]], "hello", ["html_css"], None]


def test_a_broken_plugin_is_named_and_stops_nothing_else(installed: Path) -> None:
    code = """
from heald.plugins import PluginFailed, plugin_problems
from heald.providers.families import find_family, offered_models
from heald.providers.registry import installed_providers
from heald.wires.registry import WIRES
failures = []
for load in (lambda: WIRES["torn"], lambda: find_family("missing")):
    try:
        load()
    except PluginFailed as error:
        failures.append(str(error))
offered_models()
providers = {"western", "openai"} <= set(installed_providers())
print(json.dumps([failures, providers, "chat" in WIRES, plugin_problems()]))
"""
    failures, has_providers, has_chat, problems = run(installed, code)
    assert has_providers
    assert has_chat
    assert "'torn' of telegraph-plugin cannot be loaded" in failures[0]
    assert "it must be a heald.plugins.Wire, not str" in failures[0]
    assert "has no attribute 'Missing'" in failures[1]
    assert len(problems) == 3
    assert any("must be a heald.plugins.Endpoint" in problem for problem in problems)
