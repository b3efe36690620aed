"""The dev server of a repository: asked for, in the sandbox, and shown in an origin of its own."""

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest
from repository_support import PreviewClient, make_repository, workshop

from heald.tools.shell.sandbox import Sandbox
from heald_studio.repositories.dev_command import read_dev_command
from serving_parts import OTHER

pytestmark = [
    pytest.mark.skipif(Sandbox().available() is not None, reason="commands need the sandbox"),
    pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed here"),
]


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


async def test_nothing_runs_before_a_person_has_agreed_to_exactly_these_commands(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "site")
    async with workshop(tmp_path, repository) as shop:
        view = await shop.ask("GET")
        assert (view["framework"], view["status"], view["installed"]) == ("Node", "stopped", True)
        assert (view["commands"]["dev"], view["commands"]["script"]) == ("npm run dev", "node dev.mjs")
        assert not view["commands"]["agreed"]
        for path in ("/dev", "/install", "/test"):
            refused = await shop.ask("POST", path, 409)
            assert "agreed" in refused["error"]["message"]
        await shop.ask("POST", "/agree", 409, digest="0" * 64)
        await shop.agree()
        assert (await shop.ask("GET"))["commands"]["agreed"]
        package = {"scripts": {"dev": "node other.mjs"}}
        (repository / "package.json").write_text(json.dumps(package))
        await shop.ask("POST", "/dev", 409)  # the script is another one now
        async with shop.stranger.get("/repositories/site", headers={"Authorization": f"Bearer {OTHER}"}) as answer:
            assert answer.status == 403
        async with shop.stranger.get("/repositories/site") as answer:
            assert answer.status == 401


async def test_the_preview_passes_pages_and_sockets_on_under_a_secret_name(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "site")
    async with workshop(tmp_path, repository) as shop:
        preview = PreviewClient(await shop.run())
        assert preview.path == "/app/"  # as the dev server printed it
        status, headers, page = await preview.get()
        assert status == 200
        assert page.startswith("<!doctype html><script>")
        assert page.endswith("<h1>Before</h1></body></html>")
        assert f"frame-ancestors {shop.url};" in headers["Content-Security-Policy"] + ";"
        (repository / "title.txt").write_text("After\n")
        assert "<h1>After</h1>" in (await preview.get())[2]
        port = preview.host.rpartition(":")[2]
        for name in (f"127.0.0.1:{port}", f"localhost:{port}", f"{'0' * 32}.localhost:{port}"):
            assert (await preview.get(host=name))[0] == 404
        status, headers, _ = await preview.get("/away")
        assert headers["Location"] == f"http://{preview.host}/there"
        assert headers["Set-Cookie"] == "a=1; Path=/"
        assert "X-Frame-Options" not in headers
        facts = json.loads((await preview.get("/facts", Origin=f"http://{preview.host}"))[2])
        assert (facts["host"], facts["origin"]) == ("localhost:5199", "http://localhost:5199")
        reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
        head = f"GET /hmr HTTP/1.1\r\nHost: {preview.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        writer.write(head.encode())
        assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
        for word in (b"one", b"two"):
            writer.write(word)
            assert await reader.readexactly(3) == word.upper()
        writer.close()
        await shop.ask("DELETE", "/dev")
        status, _, page = await preview.get()
        assert (status, "does not run" in page) == (503, True)


async def test_it_has_no_keys_no_files_outside_and_no_host_that_nobody_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary-1")
    monkeypatch.setenv("GH_TOKEN", "canary-2")
    outside = tmp_path / "secret.txt"
    outside.write_text("canary-3")
    repository = make_repository(tmp_path / "site")
    package = json.loads((repository / "package.json").read_text())
    (repository / "package.json").write_text(json.dumps({**package, "config": {"outside": str(outside)}}))
    async with workshop(tmp_path, repository) as shop:
        preview = PreviewClient(await shop.run())
        text = (await preview.get("/facts"))[2]
        facts = json.loads(text)
        assert "canary" not in text
        assert not facts["outside"]
        assert not facts["home"]
        assert "HEALD_SOCKET" not in facts["env"]
        assert facts["interfaces"] == {}  # Next and others ask for them when they start, and would end
        assert "refused" in (await preview.get("/outside"))[2]
        policy = (await preview.get())[1]["Content-Security-Policy"]
        assert "example.org" not in policy
        await shop.ask("POST", "/hosts", 400, host="example.org; script-src *")
        view = await shop.ask("POST", "/hosts", host="fonts.example.org")
        assert view["allowed_hosts"] == ["fonts.example.org"]
        assert "https://fonts.example.org" in (await preview.get())[1]["Content-Security-Policy"]


async def test_processes_end_with_the_server_and_tests_show_their_output(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "site", script="sleep 987654 & node dev.mjs")
    async with workshop(tmp_path, repository) as shop:
        await shop.run()
        await shop.ask("POST", "/test")
        view = await shop.until("test", "passed")
        assert "1 passed" in view["test"]["output"]
        (repository / "check.mjs").write_text("console.error('1 failed'); process.exit(3);\n")
        await shop.ask("POST", "/test")
        view = await shop.until("test", "failed")
        assert "1 failed" in view["test"]["output"]
        assert _is_alive("987654")
    assert not _is_alive("987654")


async def test_a_dev_server_that_ends_is_failed_and_says_why(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "site", script="echo broken config >&2; exit 4")
    async with workshop(tmp_path, repository) as shop:
        await shop.agree()
        await shop.ask("POST", "/dev")
        view = await shop.until("status", "failed")
        assert "broken config" in view["output"]


async def test_a_port_without_an_address_is_enough(tmp_path: Path) -> None:
    script = "node dev.mjs | sed -u 's#^ready at .*#Server listening on port 5199#'"
    async with workshop(tmp_path, make_repository(tmp_path / "site", script=script)) as shop:
        preview = PreviewClient(await shop.run())
        assert preview.path == "/"
        assert "<h1>Before</h1>" in (await preview.get())[2]


@pytest.mark.parametrize(
    ("package", "lock", "expected"),
    [
        ({"scripts": {"dev": "vite"}, "devDependencies": {"vite": "8"}}, "package-lock.json", ("Vite", "npm run dev")),
        ({"scripts": {"dev": "next dev"}, "dependencies": {"next": "16"}}, "pnpm-lock.yaml", ("Next", "pnpm run dev")),
        (
            {"scripts": {"dev": "vite dev"}, "devDependencies": {"vite": "8", "@sveltejs/kit": "2"}},
            "yarn.lock",
            ("SvelteKit", "yarn run dev"),
        ),
        ({"scripts": {"start": "astro dev"}, "dependencies": {"astro": "5"}}, "bun.lock", ("Astro", "bun run start")),
        ({"scripts": {"dev": "nuxt dev"}, "dependencies": {"nuxt": "4"}}, "", ("Nuxt", "npm run dev")),
    ],
)
def test_what_a_repository_is_stands_in_its_package_file(
    package: dict[str, object], lock: str, expected: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "package.json").write_text(json.dumps(package))
    if lock:
        (tmp_path / lock).write_text("")
    command = read_dev_command(str(tmp_path))
    assert command is not None
    assert (command.framework, command.command) == expected


@pytest.mark.parametrize("text", ["", "[]", "{", '{"scripts": {"build": "x"}}', '{"scripts": 3}'])
def test_a_folder_without_a_dev_server_has_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text(text)
    assert read_dev_command(str(tmp_path)) is None


def _is_alive(word: str) -> bool:
    """Whether a process with this word in its command line runs."""
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:2] == [b"sleep", word.encode()]:
                return True
    return False
