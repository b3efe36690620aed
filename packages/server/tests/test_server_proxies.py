"""Streams behind real proxies, with the settings of docs/operations.md: nothing is held back, and an abort arrives."""

import asyncio
import io
import json
import re
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from nginx_parts import nginx_command
from openai import AsyncOpenAI

import heald
from heald.core.events import ExchangeResponse
from heald_server.settings import ServerSettings
from postgres_server import free_port
from repository import ROOT
from serving_parts import TOKEN, S, Served, served

DOCS = (ROOT / "docs" / "operations.md").read_text()
PATHS = ":".join(("/usr/local/sbin", "/usr/sbin", "/sbin"))
BARE = "server {{ listen 127.0.0.1:{port}; location /heald/ {{ proxy_pass http://127.0.0.1:{inner}/; }} }}"
"""The least that nginx needs: it speaks HTTP/1.0 to the server, and buffers."""
PROXIES = ["nginx", "nginx bare", "caddy", "haproxy"]


def _documented(language: str, port: int, inner: int) -> str:
    """The settings of the docs, on ports that are free and without TLS."""
    (block,) = [text for text in re.findall(rf"```{language}\n(.*?)```", DOCS, re.DOTALL) if "127.0.0.1:7878" in text]
    replacements = {
        "listen 443 ssl;": f"listen 127.0.0.1:{port};",
        "example.org {": f"http://127.0.0.1:{port} {{",
        "bind :443 ssl crt /etc/haproxy/example.org.pem": f"bind 127.0.0.1:{port}",
        "127.0.0.1:7878": f"127.0.0.1:{inner}",
    }
    for documented, ours in replacements.items():
        block = block.replace(documented, ours)
    return block


def _command(proxy: str, folder: Path, port: int, inner: int) -> list[str]:
    """Write the settings of a proxy, and return the command that starts it."""
    name = proxy.partition(" ")[0]
    program = shutil.which(name) or shutil.which(name, path=PATHS)
    if program is None:
        pytest.skip(f"{name} is not installed here")
    if name == "nginx":
        bare = BARE.format(port=port, inner=inner)
        server = bare if proxy == "nginx bare" else _documented("nginx", port, inner)
        return nginx_command(folder, f"client_body_buffer_size 32m;\n{server}")
    config = folder / "settings"
    if name == "caddy":
        config.write_text("{\n    admin off\n    auto_https off\n}\n" + _documented("caddyfile", port, inner))
        return [program, "run", "--adapter", "caddyfile", "--config", str(config)]
    config.write_text(_documented("haproxy", port, inner))
    return [program, "-db", "-f", str(config)]


class Gate:
    """An agent that says something and waits until the test has read it."""

    def __init__(self) -> None:
        self._opened = asyncio.Event()

    def open(self) -> None:
        self._opened.set()

    def tool(self) -> Any:
        @heald.tool(effect="read")
        async def gate() -> str:
            """Waits."""
            await self._opened.wait()
            return "open"

        return gate


@asynccontextmanager
async def _behind(proxy: str, folder: Path) -> AsyncGenerator[tuple[Served, str, Gate]]:
    """A server, its public address behind a proxy, and what its agent waits for."""
    gate, port = Gate(), free_port()
    public = f"http://127.0.0.1:{port}/heald"
    settings = ServerSettings(port=0, public_url=public, heartbeat_seconds=0.2)
    script = [["First words.", S.call("gate")], "Last words."] * 4
    async with served(folder, lambda: S(script), settings=settings, tools={"gate": gate.tool()}) as server:
        command = _command(proxy, folder, port, server.context.settings.port)
        with (folder / "proxy.log").open("wb") as log:
            process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=log, env={"HOME": str(folder)})
        try:
            await _wait_until_up(public)
            yield server, public, gate
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def _wait_until_up(public: str) -> None:
    async with aiohttp.ClientSession() as client:
        while True:
            with suppress(aiohttp.ClientConnectionError):
                async with client.get(f"{public}/ready") as answer:
                    if answer.status == 200:
                        return
            await asyncio.sleep(0.05)


def _client(public: str) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}, base_url=f"{public}/")


async def _read_until(answer: aiohttp.ClientResponse, *texts: str) -> None:
    """Read lines until each of the texts was in one."""
    missing = set(texts)
    async for line in answer.content:
        missing = {text for text in missing if text not in line.decode()}
        if not missing:
            return
    raise AssertionError(f"The stream ended without {missing}.")


@pytest.mark.parametrize("proxy", PROXIES)
async def test_events_arrive_while_the_agent_works(proxy: str, tmp_path: Path) -> None:
    async with asyncio.timeout(60), _behind(proxy, tmp_path) as (_, public, gate), _client(public) as client:
        async with client.post("sessions", json={}) as answer:
            session = (await answer.json())["id"]
        async with client.get(f"sessions/{session}/events") as events:
            async with client.post(f"sessions/{session}/messages", json={"text": "Go"}) as answer:
                assert answer.status == 202, await answer.text()
            await _read_until(events, "First words.", ": heartbeat")
            gate.open()
            await _read_until(events, "exchange_response")
        if proxy != "nginx bare":  # which accepts bodies of at most 1 MB
            async with client.post(f"sessions/{session}/blobs", data=io.BytesIO(bytes(20_000_000))) as answer:
                assert answer.status == 201, await answer.text()


@pytest.mark.parametrize("proxy", PROXIES)
async def test_an_sdk_streams_and_its_abort_arrives(proxy: str, tmp_path: Path) -> None:
    async with (
        asyncio.timeout(60),
        _behind(proxy, tmp_path) as (server, public, gate),
        AsyncOpenAI(base_url=f"{public}/v1", api_key=TOKEN, max_retries=0) as client,
    ):
        stream = await client.chat.completions.create(
            model="heald", messages=[{"role": "user", "content": "Go"}], stream=True
        )
        async for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                break
        await stream.close()
        (info,) = (await server.context.sessions.list()).sessions
        await server.wait_idle()
        (response,) = [event.data for event in await server.log(info.id) if isinstance(event.data, ExchangeResponse)]
        assert response.status == "cancelled"
        gate.open()
        whole = await client.responses.create(model="heald", input="Go")
        assert whole.output_text.endswith("Last words.")


@pytest.mark.parametrize("proxy", [proxy for proxy in PROXIES if proxy != "nginx bare"])
async def test_a_socket_carries_commands_and_events(proxy: str, tmp_path: Path) -> None:
    async with asyncio.timeout(60), _behind(proxy, tmp_path) as (_, public, gate), _client(public) as client:
        async with client.post("sessions", json={}) as answer:
            session = (await answer.json())["id"]
        async with client.ws_connect("ws") as connection:
            await connection.send_json({"type": "subscribe", "session": session})
            await connection.send_json({"type": "send", "session": session, "text": "Go"})
            seen: list[str] = []
            async for message in connection:
                frame = json.loads(message.data)
                seen.append(frame["type"])
                if frame["type"] == "text_delta":
                    gate.open()
                if frame["type"] == "exchange_response":
                    break
            assert "text_delta" in seen
