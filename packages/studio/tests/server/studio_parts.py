"""The studio on a real server: projects over HTTP, and what becomes of them."""

import asyncio
import base64
import io
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from PIL import Image

import heald
from heald.core.json import loads
from heald.sessions.sqlite import SqliteStore
from heald.testing.server import ScriptedServer
from heald_check import check_log
from heald_server.settings import ServerSettings
from heald_studio.studio import Studio
from serving_parts import TOKEN, S, Script, Served, context_on, serving

WAITING = ("queued", "running")


class Atelier(Served):
    """A server with a studio."""

    studio: Studio

    async def project(self, text: str = "A page", **body: Any) -> dict[str, Any]:
        prompt = body.pop("prompt", {"text": text})
        return await self.ask("POST", "/projects", 201, prompt=prompt, **body)

    async def ask(self, method: str, path: str, status: int = 200, /, **body: Any) -> dict[str, Any]:
        options: dict[str, Any] = {"json": body} if method != "GET" else {}
        async with self.client.request(method, path, **options) as answer:
            body_text = await answer.text()
            assert answer.status == status, body_text
            return loads(body_text) if body_text else {}

    async def read(self, path: str, status: int = 200) -> bytes:
        async with self.client.get(path) as answer:
            assert answer.status == status, await answer.text()
            return await answer.read()

    async def states(self, project: str) -> AsyncGenerator[dict[str, Any]]:
        async with self.client.get(f"/projects/{project}/events") as stream:
            async for line in stream.content:
                if line.startswith(b"data: "):
                    yield loads(line[6:])["project"]

    async def over(self, project: str, patience: float = 60.0) -> dict[str, Any]:
        """The project once none of its variants is at work."""
        async with asyncio.timeout(patience):
            async for state in self.states(project):
                if all(variant["status"] not in WAITING for variant in variants_of(state)):
                    return state
        raise AssertionError("the stream ended first")

    async def check(self, state: Mapping[str, Any]) -> None:
        """The logs of all variants keep the invariants."""
        for variant in variants_of(state):
            assert not check_log(await self.log(variant["session"]))


def variants_of(project: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [variant for version in project["versions"] for variant in version["variants"]]


@asynccontextmanager
async def atelier(
    folder: Path,
    scripts: Mapping[str, Script],
    *,
    token: str = TOKEN,
    settings: ServerSettings | None = None,
    **options: Any,
) -> AsyncGenerator[Atelier]:
    """A server with a studio; options are those of the studio."""
    store = SqliteStore(folder / "s.db", durable=False)
    context = context_on(store, scripts, settings=settings or ServerSettings(port=0, goodbye_seconds=0.0))
    context.protocol_options["studio"] = {"scores": False} | options
    async with serving(context, token) as served:
        shop = Atelier(served.context, served.client)
        shop.studio = context.protocol_state["studio"]
        yield shop


def page(title: str) -> str:
    return f"<!doctype html>\n<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n"


def writer(title: str, *, piece: int = 16, pause: float = 0.0) -> Script:
    """A model that writes one page."""
    call = S.call("create_file", path="index.html", content=page(title))
    return lambda: S([["I see a page. ", call], "Built."], piece=piece, pause=pause)


def picture(kind: str = "PNG", size: tuple[int, int] = (320, 200), colour: str = "white") -> str:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, kind)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(out.getvalue()).decode()}"


def model_at(server: ScriptedServer) -> heald.Model:
    return heald.Model("m", wire="chat", base_url=f"{server.url}/v1", api_key="sk-test", provider="test")
