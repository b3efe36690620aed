"""Small repositories with a dev server of their own, and a server that offers them."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from git_commands import git
from heald.sessions.sqlite import SqliteStore
from heald_server.settings import ServerSettings
from serving_parts import S, Served, context_on, serving

_DEV_SERVER = Path(__file__).parent / "dev_server.mjs"


def make_repository(folder: Path, script: str = "node dev.mjs", test: str = "node check.mjs") -> Path:
    """A repository with one commit, whose dev server needs no package."""
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"scripts": {"dev": script, "test": test}}))
    (folder / "dev.mjs").write_text(_DEV_SERVER.read_text())
    (folder / "check.mjs").write_text("console.log('1 passed');\n")
    (folder / "title.txt").write_text("Before\n")
    (folder / ".gitignore").write_text("node_modules\n")
    (folder / "node_modules").mkdir()
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "First")
    return folder


class Workshop(Served):
    """A server that offers one repository under the name `site`."""

    async def ask(self, method: str, path: str = "", status: int = 200, **body: Any) -> dict[str, Any]:
        """Send a request for the repository."""
        options: dict[str, Any] = {"json": body} if method != "GET" else {}
        async with self.client.request(method, f"/repositories/site{path}", **options) as answer:
            text = await answer.text()
            assert answer.status == status, text
            return json.loads(text) if text else {}

    async def agree(self) -> None:
        view = await self.ask("GET")
        await self.ask("POST", "/agree", digest=view["commands"]["digest"])

    async def until(self, field: str, *values: str, seconds: float = 120) -> dict[str, Any]:
        """Wait until a field of the repository, or the status of a job, has one of these values."""
        async with asyncio.timeout(seconds):
            while True:
                view = await self.ask("GET")
                value = view[field]["status"] if isinstance(view[field], dict) else view[field]
                if value in values:
                    return view
                assert value != "failed", view
                await asyncio.sleep(0.1)

    async def run(self) -> str:
        """Agree, start the dev server and return the address of its preview."""
        await self.agree()
        await self.ask("POST", "/dev")
        return (await self.until("status", "running"))["preview"]


@asynccontextmanager
async def workshop(folder: Path, repository: Path) -> AsyncGenerator[Workshop]:
    store = SqliteStore(folder / "s.db", durable=False)
    settings = ServerSettings(port=0, goodbye_seconds=0.0)
    context = context_on(store, {"m": lambda: S(["Hello."])}, settings=settings, workspaces={"site": str(repository)})
    context.protocol_options["studio"] = {"scores": False}
    async with serving(context) as served:
        yield Workshop(served.context, served.client, served.stranger)


class PreviewClient:
    """A client of a preview. Its name is resolved to this machine, as browsers do."""

    def __init__(self, address: str) -> None:
        scheme, _, rest = address.partition("://")
        self.host, _, path = rest.partition("/")
        self.url = f"{scheme}://127.0.0.1:{self.host.rpartition(':')[2]}"
        self.path = f"/{path}"

    async def get(self, path: str = "", host: str | None = None, **headers: str) -> tuple[int, dict[str, str], str]:
        fields = {"Host": host or self.host, "Accept": "text/html", **headers}
        async with (
            aiohttp.ClientSession(self.url) as client,
            client.get(path or self.path, headers=fields, allow_redirects=False) as answer,
        ):
            return answer.status, dict(answer.headers), await answer.text()
