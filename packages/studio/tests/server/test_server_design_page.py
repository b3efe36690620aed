"""What a design page calls beside its socket: design systems, export, abilities, screenshots."""

import io
import zipfile
from pathlib import Path

from studio_parts import atelier, writer


async def test_design_systems_are_kept(tmp_path: Path) -> None:
    path = "/api/design-systems"
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        assert await server.ask("GET", path) == []
        added = await server.ask("POST", path, 201, name="Harbour", content="# Harbour\nNavy on white.")
        assert (added["name"], added["content"]) == ("Harbour", "# Harbour\nNavy on white.")
        assert added["createdAt"] == added["updatedAt"]
        changed = await server.ask("PATCH", f"{path}/{added['id']}", content="Red.")
        assert (changed["name"], changed["content"], changed["createdAt"]) == ("Harbour", "Red.", added["createdAt"])
        await server.ask("POST", path, 400, name="Long", content="x" * 70_000)
        await server.ask("PATCH", f"{path}/dsy_none", 404, content="Red.")
        sessions = await server.ask("GET", "/sessions")
        assert sessions["sessions"] == []
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        (stored,) = await server.ask("GET", path)  # pyright: ignore[reportAssignmentType]
        assert stored == changed
        await server.ask("DELETE", f"{path}/{added['id']}", 204)
        assert await server.ask("GET", path) == []


async def test_a_page_is_exported_and_abilities_are_listed(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        body = {"code": "<title>Cafe</title><h1>Coffee</h1>", "baseUrl": "http://127.0.0.1/"}
        async with server.client.post("/api/export", json=body) as answer:
            assert answer.status == 200, await answer.text()
            assert "attachment" in answer.headers["Content-Disposition"]
            packed = zipfile.ZipFile(io.BytesIO(await answer.read()))
        (name,) = packed.namelist()
        assert name == "Cafe/index.html"
        assert packed.read(name) == body["code"].encode()
        capabilities = await server.ask("GET", "/api/capabilities")
        assert isinstance(capabilities["screenshot_preview"], bool)
        refused = await server.ask("POST", "/api/screenshot", 503, url="http://169.254.169.254/latest")
        assert refused["error"]["message"].endswith(".")
