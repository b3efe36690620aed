"""POST /v1/responses/compact: a conversation as one item, which stands for it in the next request."""

from pathlib import Path
from typing import Any

import pytest

import heald
from heald.providers.scripted import Script, ScriptedRequest
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings
from serving_parts import OTHER, S, Served, served

_INPUT = [
    {"type": "message", "role": "developer", "content": "Be brief."},
    {"type": "message", "role": "user", "content": "We launch on Tuesday."},
    {"type": "message", "role": "assistant", "content": "Understood: Tuesday."},
]


class _Requests(list[ScriptedRequest]):
    """A model that records its requests. It writes a summary where it is told to, and repeats its last message."""

    def model(self) -> heald.testing.ScriptedModel:
        return S([self._answer] * 10)

    def _answer(self, request: ScriptedRequest) -> Script:
        self.append(request)
        if "write the memory" in request.settings.system:
            return "Facts: the launch is on Tuesday."
        return " | ".join(message.text for message in request.messages)


@pytest.fixture
def requests() -> _Requests:
    return _Requests()


async def _post(server: Served, path: str, **body: Any) -> dict[str, Any]:
    async with server.client.post(f"/v1/responses{path}", json={"model": "scripted", **body}) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


async def test_the_compacted_items_stand_for_the_conversation(tmp_path: Path, requests: _Requests) -> None:
    async with served(tmp_path, requests.model) as server:
        compacted = await _post(server, "/compact", input=_INPUT, instructions="You plan launches.")
        *kept, item = compacted["output"]
        message = {"type": "message", "role": "user", "content": "When?"}
        response = await _post(server, "", input=[*compacted["output"], message])
        assert len((await server.context.sessions.list()).sessions) == 1  # the compaction left none
    summary, request = requests
    assert summary.messages[-1].text == "User: We launch on Tuesday.\n\nAssistant: Understood: Tuesday."
    assert "You plan launches." in summary.settings.system
    assert summary.tools == []
    assert (compacted["object"], item["type"]) == ("response.compaction", "compaction")
    assert "Tuesday" not in item["encrypted_content"]
    assert compacted["usage"]["total_tokens"] > 0
    assert [message["role"] for message in kept] == ["developer"]
    assert "Be brief." in request.settings.system
    text = response["output"][0]["content"][0]["text"]
    assert "Facts: the launch is on Tuesday." in text
    assert text.endswith("When?")
    assert "Understood" not in text


async def test_the_conversation_of_a_response_is_compacted(tmp_path: Path, requests: _Requests) -> None:
    async with served(tmp_path, requests.model) as server:
        first = await _post(server, "", input="We launch on Tuesday.")
        compacted = await _post(server, "/compact", previous_response_id=first["id"])
        body = {"model": "scripted", "previous_response_id": first["id"]}
        headers = {"Authorization": f"Bearer {OTHER}"}
        async with server.stranger.post("/v1/responses/compact", json=body, headers=headers) as answer:
            assert answer.status == 404
    assert [item["type"] for item in compacted["output"]] == ["compaction"]
    assert "We launch on Tuesday." in requests[-1].messages[-1].text


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"input": "Hello"}, "model"),
        ({"model": "scripted"}, "input"),
        ({"model": "scripted", "input": [{"type": "compaction", "encrypted_content": "gAAAA"}]}, "input"),
        ({"model": "scripted", "input": [{"type": "compaction", "encrypted_content": "heald1:%"}]}, "input"),
    ],
)
async def test_what_cannot_be_compacted_is_refused(
    tmp_path: Path, requests: _Requests, body: dict[str, Any], param: str
) -> None:
    async with (
        served(tmp_path, requests.model) as server,
        server.client.post("/v1/responses/compact", json=body) as answer,
    ):
        assert answer.status == 400
        assert (await answer.json())["error"]["param"] == param
    assert requests == []


async def test_a_compaction_counts_as_usage_of_its_owner(tmp_path: Path, requests: _Requests) -> None:
    settings = ServerSettings(port=0, limits=ServerLimits(tokens_per_day=1))
    async with served(tmp_path, requests.model, settings=settings) as server:
        await _post(server, "/compact", input=_INPUT)
        body = {"model": "scripted", "input": _INPUT}
        async with server.client.post("/v1/responses/compact", json=body) as answer:
            assert answer.status == 402
    assert len(requests) == 1
