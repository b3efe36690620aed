"""The tools and permissions of a conversation that is begun in the page are those of `heald serve`."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import pytest
from page_support import BUILT, Visit, visiting
from playwright.async_api import Browser, expect

from heald.core.messages import ToolCall
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply

_HEALD = "import sys; from heald_cli.main import main; sys.exit(main())"
_TOOLS = '''"""Tools of the operator."""


def tide(harbour: str) -> str:
    """The tide of a harbour."""
    return f"{harbour}: high"
'''


@contextmanager
def _served(folder: Path, endpoint: str, *words: str) -> Generator[dict[str, str]]:
    """`heald serve` with these options. Gives its address and token."""
    if not BUILT.is_file():
        pytest.skip("the page is not built; run `npm ci && npm run build` in web/")
    (folder / "harbour_tools.py").write_text(_TOOLS)
    serve = ["serve", "--json", "--no-open", "--port", "0", "--data", str(folder / "data")]
    command = [sys.executable, "-c", _HEALD, *serve, "--model", "m", "--base-url", f"{endpoint}/v1", *words]
    environment = os.environ | {"HOME": str(folder), "PYTHONPATH": str(folder)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, cwd=folder) as server:
        assert server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())
        finally:
            server.terminate()
            server.wait(30)


async def _settings(ready: dict[str, str], visit: Visit) -> dict[str, object]:
    """The settings of the session that the page shows."""
    session = visit.page.url.rpartition("/")[2]
    headers = {"Authorization": f"Bearer {ready['token']}"}
    async with (
        aiohttp.ClientSession(ready["url"], headers=headers) as client,
        client.get(f"/sessions/{session}") as answer,
    ):
        return (await answer.json())["settings"]


async def _begin(visit: Visit) -> None:
    await visit.page.get_by_label("What to work on").fill("Which tide?")
    await visit.page.get_by_role("button", name="Start", exact=True).click()
    await visit.done()


async def test_tools_and_permissions_of_the_server_hold_in_the_page(tmp_path: Path, chrome: Browser) -> None:
    call = wire_reply("chat", calls=[ToolCall(id="call_1", name="tide", input={"harbour": "Bergen"})])
    async with ScriptedServer([call, wire_reply("chat", text="It is high.")]) as model:
        with _served(tmp_path, model.url, "--tool", "harbour_tools:tide", "--permissions", "auto") as ready:
            async with visiting(chrome, f"{ready['url']}/#token={ready['token']}") as visit:
                await visit.page.get_by_role("radio", name="Assistant").click()
                await expect(visit.page.get_by_label("Permissions")).to_have_value("auto")
                await _begin(visit)
                await expect(visit.tool("tide")).to_be_visible()
                settings = await _settings(ready, visit)
    assert settings["tools"] == ["files", "todo", "ask", "tide"]
    assert settings["permissions"] == "auto"
    assert {tool["function"]["name"] for tool in model.requests[0].body["tools"]} >= {"tide", "read_file"}


async def test_other_tools_and_permissions_can_be_chosen(tmp_path: Path, chrome: Browser) -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello.")]) as model:
        with _served(tmp_path, model.url, "--tools", "read", "--tool", "harbour_tools:tide") as ready:
            async with visiting(chrome, f"{ready['url']}/#token={ready['token']}") as visit:
                await visit.page.get_by_role("radio", name="Assistant").click()
                await expect(visit.page.get_by_label("Permissions")).to_have_value("ask")
                await visit.page.get_by_label("Tools").select_option("all")
                await visit.page.get_by_label("Permissions").select_option("read-only")
                await _begin(visit)
                settings = await _settings(ready, visit)
    assert settings["tools"] == ["read", "tide", "all"]
    assert settings["permissions"] == "read-only"
