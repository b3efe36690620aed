"""heald-core alone in an empty environment: it runs an agent with a tool, and stays small."""

from pathlib import Path

import pytest

from repository import ROOT
from wheelhouse import Wheelhouse, installed_bytes, run_python

MEGABYTE = 1_000_000
LIMIT = 25 * MEGABYTE

AGENT = """
import sys
import heald

@heald.tool
async def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b

S = heald.testing.ScriptedModel
agent = heald.Agent(S([[S.call("add", a=2, b=3)], "The sum is 5."]), tools=[add])
result = agent.run_sync("What is 2 + 3?")
print(result.text, result.turns)
print(*sorted(name for name in sys.modules if name.startswith("heald_")))
"""


@pytest.fixture(scope="module")
def core_bin(wheelhouse: Wheelhouse, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("core") / "environment"
    return wheelhouse.create_environment(place, "heald-core")


def test_core_alone_runs_an_agent_with_a_tool(core_bin: Path, tmp_path: Path) -> None:
    output = run_python(core_bin, ["-W", "error", "-c", AGENT], cwd=tmp_path, home=tmp_path)
    assert output.split("\n") == ["The sum is 5. 2", "", ""]


@pytest.mark.parametrize("example", ["tool.py", "console.py", "approval.py", "adapter.py"])
def test_core_alone_runs_the_examples_of_agents(example: str, core_bin: Path, tmp_path: Path) -> None:
    script = str(ROOT / "examples" / example)
    assert run_python(core_bin, ["-W", "error", script], cwd=tmp_path, home=tmp_path)


def test_core_alone_installs_under_25_megabytes(core_bin: Path) -> None:
    size = installed_bytes(core_bin)
    print(f"heald-core installs {size / MEGABYTE:.1f} MB")
    assert size <= LIMIT


def test_every_module_of_core_can_be_imported_without_the_extras(core_bin: Path, tmp_path: Path) -> None:
    """A module that needs an extra names its package or the extra; no other package is missing."""
    code = """
import importlib, pkgutil, heald
for module in pkgutil.walk_packages(heald.__path__, "heald.", onerror=lambda name: None):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        print(error.name.partition(".")[0])
    except heald.HealdError as error:
        assert "pip install 'heald[" in str(error), error
"""
    missing = set(run_python(core_bin, ["-c", code], cwd=tmp_path, home=tmp_path).split())
    extras = {"anyio", "azure", "botocore", "claude_agent_sdk", "google", "httpx2", "keyring", "mcp", "mcp_types"}
    assert missing <= extras | {"opentelemetry", "pydantic", "websockets"}
