"""Keys in the settings: set, tested and removed, kept in the keyring, and never sent back."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from page_support import BUILT, Visit, visiting
from playwright.async_api import Browser, expect

from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply

KEY = "sk-of-a-person-0123456789"
_HEALD = "import sys; from heald_cli.main import main; sys.exit(main())"
RING = """
import json, os
from keyring.backend import KeyringBackend

class Ring(KeyringBackend):
    priority = 1

    def _kept(self):
        try:
            with open(os.environ["RING"]) as file:
                return json.load(file)
        except FileNotFoundError:
            return {}

    def _write(self, kept):
        with open(os.environ["RING"], "w") as file:
            json.dump(kept, file)

    def get_password(self, service, username):
        return self._kept().get(username)

    def set_password(self, service, username, password):
        self._write(self._kept() | {username: password})

    def delete_password(self, service, username):
        kept = self._kept()
        del kept[username]
        self._write(kept)
"""
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("keyring") is None, reason="keyring is not installed (pip install 'heald[keyring]')"
)


@pytest_asyncio.fixture(loop_scope="session")
async def endpoint() -> AsyncGenerator[ScriptedServer]:
    async with ScriptedServer(lambda _: wire_reply("chat", text=["ok"])) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def visit(tmp_path: Path, chrome: Browser, endpoint: ScriptedServer) -> AsyncGenerator[Visit]:
    if not BUILT.is_file():
        pytest.skip("the page is not built; run `npm ci && npm run build` in web/")
    (tmp_path / "ring_backend.py").write_text(RING)
    settings = f'[providers.mine]\nwire = "chat"\nbase_url = "{endpoint.url}/v1"\napi_key_env = "MINE_API_KEY"\n'
    home = tmp_path / ".config" / "heald"
    home.mkdir(parents=True)
    (home / "heald.toml").write_text(settings)
    environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ} | {
        "HOME": str(tmp_path),
        "RING": str(tmp_path / "ring.json"),
        "PYTHON_KEYRING_BACKEND": "ring_backend.Ring",
        "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
    }
    command = [
        sys.executable,
        "-c",
        _HEALD,
        "serve",
        "--json",
        "--no-open",
        "--port",
        "0",
        "--data",
        str(tmp_path / "d"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, cwd=tmp_path) as server:  # noqa: ASYNC220
        assert server.stdout is not None
        ready = json.loads(server.stdout.readline())
        async with visiting(chrome, f"{ready['url']}/#token={ready['token']}") as visit:
            yield visit
        server.terminate()
        server.wait(30)


async def test_a_key_is_set_tested_and_removed(visit: Visit, tmp_path: Path, endpoint: ScriptedServer) -> None:
    page = visit.page
    await page.evaluate("location.hash = '#/settings'")
    await expect(page.get_by_text("Not running").first).to_be_visible()  # the local servers
    row = page.locator(".provider").filter(has=page.get_by_text("mine", exact=True))
    await expect(row).to_contain_text("No key")
    await row.get_by_role("button", name="Set key").click()
    await row.get_by_label("Key of mine").fill(KEY)
    await row.get_by_role("button", name="Save and test").click()
    await expect(row).to_contain_text("Key set")
    await expect(row.get_by_role("status")).to_be_visible()
    assert json.loads((tmp_path / "ring.json").read_text()) == {"MINE_API_KEY": KEY}
    listed = await page.evaluate("fetch('providers').then(answer => answer.text())")
    assert KEY not in listed
    assert KEY not in await page.content()
    tested = await page.evaluate(
        """() => fetch("providers/mine/test", {
            method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({model: "any"}),
        }).then(answer => answer.json())"""
    )
    assert tested == {"ok": True, "message": "The key works: any answered."}
    assert endpoint.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    await row.get_by_role("button", name="Remove").click()
    await expect(row).to_contain_text("No key")
    assert json.loads((tmp_path / "ring.json").read_text()) == {}
