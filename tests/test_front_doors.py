"""What `import weft` offers, and what it costs."""

import subprocess
import sys

import pytest

import weft

DOORS = {
    "Agent",
    "AgentResult",
    "Approval",
    "Budget",
    "File",
    "Image",
    "Model",
    "Permissions",
    "Reason",
    "Retry",
    "ScriptedModel",
    "Timeouts",
    "Tool",
    "ToolContext",
    "ToolFault",
    "ToolOutput",
    "connect",
    "open_session",
    "record",
    "replay",
    "tool",
}


def test_the_front_doors_and_nothing_else() -> None:
    assert set(weft.__all__) == DOORS
    for name in DOORS:
        assert getattr(weft, name).__module__.startswith("weft.")


def test_a_door_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = weft.Nothing  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


def test_import_loads_no_client_no_prices_no_server() -> None:
    code = "import sys, weft; print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"aiohttp", "pydantic", "genai_prices", "openai", "anthropic", "google", "starlette", "uvicorn", "mcp"}
    assert not heavy & {name.partition(".")[0] for name in loaded}
