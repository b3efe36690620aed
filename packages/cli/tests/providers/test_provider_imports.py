"""What an import loads: nothing heavy before it is needed, and nothing from a floor above."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import heald

HEAVY = {"aiohttp", "pydantic", "genai_prices", "httpx", "requests", "yarl", "ssl", "asyncio"}
SDKS = {"openai", "anthropic", "google", "mistralai", "groq", "ollama", "litellm", "mcp"}
SERVERS = {"starlette", "uvicorn", "fastapi", "websockets"}
CORE = sorted(path.stem for path in (Path(heald.__file__).parent / "core").glob("*.py") if path.stem != "__init__")


def python(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True)


def loaded(code: str) -> set[str]:
    return set(python("-c", f"{code}\nimport sys; print(' '.join(sys.modules))").stdout.split())


def test_importtime_shows_nothing_heavy() -> None:
    lines = python("-X", "importtime", "-c", "import heald").stderr.splitlines()
    names = [re.sub(r".*\|\s*", "", line) for line in lines]
    ours = [name for name in names if name.startswith("heald")]
    assert sorted(ours) == ["heald", "heald.core", "heald.core.lazy", "heald.core.version"]
    assert not {name.partition(".")[0] for name in names} & (HEAVY | SDKS | SERVERS)


def test_a_model_is_described_without_a_client() -> None:
    names = loaded("import heald; heald.Model('m', base_url='http://127.0.0.1:1'); heald.Retry(); heald.Timeouts()")
    assert not {name.partition(".")[0] for name in names} & (SDKS | SERVERS | {"aiohttp", "genai_prices", "pydantic"})


def test_a_session_is_opened_without_a_client() -> None:
    names = loaded(
        "import heald; heald.providers.open_provider_session(heald.Model('m', base_url='http://127.0.0.1:1'))"
    )
    assert not {name.partition(".")[0] for name in names} & (SDKS | SERVERS | {"aiohttp", "genai_prices", "pydantic"})


def test_a_scripted_model_needs_no_client() -> None:
    code = (
        "import asyncio, heald; model = heald.testing.ScriptedModel(['Hi']);"
        "asyncio.run(heald.providers.open_provider_session(model).stream_turn(print))"
    )
    assert not {"aiohttp", "genai_prices"} & loaded(code)


def test_the_front_doors_are_what_resolves() -> None:
    code = (
        "from heald import *; print(*sorted(name for name in dir() if name[0] != '_')); "
        "import heald; print(*sorted(name for name in heald.__all__ if getattr(heald, name)))"
    )
    imported, resolved = python("-c", code).stdout.splitlines()
    assert imported.split() == resolved.split() == sorted(heald.__all__)


@pytest.mark.parametrize("module", CORE)
def test_core_loads_nothing_above_it(module: str) -> None:
    ours = {name for name in loaded(f"import heald.core.{module}") if name.startswith("heald.")}
    assert all(name == "heald.core" or name.startswith("heald.core.") for name in ours)


def test_wires_load_no_provider() -> None:
    names = loaded("import heald.wires.registry")
    assert not any(name.startswith(("heald.providers", "heald.testing", "heald_cli")) for name in names)
    assert not {"aiohttp", "asyncio", "ssl"} & names


def test_a_model_loads_its_own_wire_only() -> None:
    names = loaded(
        "import heald; heald.providers.open_provider_session(heald.Model('m', wire='chat', base_url='http://127.0.0.1:1'))"
    )
    decoders = ("chat", "responses", "messages", "gemini", "ollama", "converse", "bedrock_messages", "vertex_messages")
    assert {name for name in decoders if f"heald.wires.{name}" in names} == {"chat"}


def test_an_agent_without_tools_loads_no_tool() -> None:
    names = loaded("import heald; heald.Agent(heald.Model('m', base_url='http://127.0.0.1:1'))")
    families = ("files.edit", "files.patch", "files.read_write", "files.search", "shell.sandbox", "shell.tools", "web")
    assert not {f"heald.tools.{family}" for family in families} & names
    assert not {"http.client", "heald.agent.continuation", "heald.tools.workspace.disk"} & names


def test_a_command_loads_nothing_that_only_options_need() -> None:
    unwanted = {"importlib.metadata", "email", "zipfile", "webbrowser", "heald.agent.telemetry", "opentelemetry"}
    assert not unwanted & loaded("import heald_cli.main, heald_cli.commands.run")


def test_the_help_loads_no_command() -> None:
    names = loaded("import sys; from heald_cli.main import parser; parser().format_help()")
    assert not {"asyncio", "msgspec", "shutil", "typing", "heald.commands.options", "heald.core.errors"} & names
