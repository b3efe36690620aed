"""Searching in the text of sessions."""

from pathlib import Path
from typing import Any

from serving_parts import S, Served, served


async def _search(server: Served, text: str) -> list[dict[str, Any]]:
    async with server.client.get("/search", params={"text": text}) as answer:
        assert answer.status == 200, await answer.text()
        return (await answer.json())["hits"]


async def test_words_are_found_in_requests_answers_and_calls(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S(["A walrus lives in the Arctic.", "Nothing."])) as server:
        session = await server.session(title="Animals")
        for text in ("Where do they live?", "And Penguins?"):
            accepted = await server.send(session, text)
            await server.ended(session, accepted["exchange"])
        [hit] = await _search(server, "arctic WALRUS")
        assert (hit["session"], hit["title"], hit["role"]) == (session, "Animals", "assistant")
        assert "walrus lives in the Arctic" in hit["excerpt"]
        assert [hit["role"] for hit in await _search(server, "penguins")] == ["user"]
        assert await _search(server, "walrus penguins") == []
        async with server.client.delete(f"/sessions/{session}") as answer:
            assert answer.status == 204
        assert await _search(server, "penguins") == []
