"""What a server reports about a model is asked for once by many agents, and again after a while."""

import pytest

import heald
from heald.providers import context_size
from heald.providers.context_size import ServerFacts, find_server_facts


async def test_facts_are_remembered_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def look_up(model: heald.Model) -> ServerFacts:
        asked.append(model.name)
        return ServerFacts(context_size=4096)

    monkeypatch.setattr(context_size, "_look_up", look_up)
    monkeypatch.setattr(context_size, "_remembered", {})
    tiny, other = (heald.Model(name, base_url="http://127.0.0.1:9/v1") for name in ("tiny", "other"))
    for _ in range(3):
        assert (await find_server_facts(tiny)).context_size == 4096
    await find_server_facts(other)
    assert asked == ["tiny", "other"]

    monkeypatch.setattr(context_size, "_REMEMBERED_SECONDS", -1.0)
    monkeypatch.setattr(context_size, "_remembered", {})
    await find_server_facts(tiny)
    await find_server_facts(tiny)
    assert asked == ["tiny", "other", "tiny", "tiny"]
