"""Parameters of other servers and later clients: ignored, dropped with a note, or refused."""

import logging
from pathlib import Path
from typing import Any

import pytest

from heald_server.protocols.openai.request import COMPLETION_PARAMETERS
from heald_server.protocols.openai.shapes import CompletionBody
from heald_server.protocols.responses.request import RESPONSE_PARAMETERS
from heald_server.protocols.responses.shapes import ResponseBody
from heald_server.protocols.shared import parameter_table
from heald_server.protocols.shared.parameter_table import ParameterTable
from serving_parts import Served, served

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
BODIES: dict[str, Any] = {CHAT: {"messages": [{"role": "user", "content": "Hello"}]}, RESPONSES: {"input": "Hello"}}
TABLES = {CHAT: COMPLETION_PARAMETERS, RESPONSES: RESPONSE_PARAMETERS}


async def _post(server: Served, api: str, **more: Any) -> tuple[int, str, dict[str, Any]]:
    async with server.client.post(api, json=BODIES[api] | more) as answer:
        return answer.status, answer.headers.get("X-Heald-Dropped", ""), await answer.json()


@pytest.mark.parametrize("api", [CHAT, RESPONSES])
async def test_what_clients_send_is_served_and_what_is_dropped_is_named(
    api: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parameter_table, "_noted", set[tuple[str, str]]())
    ignored = {"client_metadata": {"thread_id": "1"}, "keep_alive": "5m", "prompt_cache_key": "1", "user": "me"}
    dropped = {
        "verbosity": "low",
        "top_k": 40,
        "min_p": 0.1,
        "chat_template_kwargs": {"enable_thinking": False},
        "think": True,
        "from_a_later_version": [1],
    }
    tools: list[dict[str, Any]] = [{"type": "namespace", "name": "many", "tools": []}, {"type": "web_search"}]
    async with served(tmp_path) as server:
        with caplog.at_level(logging.WARNING, "heald_server.protocols"):
            for _ in range(2):
                status, named, _ = await _post(server, api, **ignored, **dropped, tools=tools)
                assert (status, set(named.split(", "))) == (200, {*dropped, "tools.namespace", "tools.web_search"})
    records = [record for record in caplog.records if record.name == "heald_server.protocols"]
    (note,) = [record.getMessage() for record in records]  # once, not at every request
    assert all(name in note for name in (api, *dropped, "tools.web_search"))
    assert not any(name in note for name in ignored)


async def test_names_that_no_header_can_hold_are_not_named(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        names = dict.fromkeys(("", " ", "before ", " after", "line\nbreak", "größer", "top_k"), 1)
        assert (await _post(server, CHAT, **names))[:2] == (200, "top_k")


@pytest.mark.parametrize("api", [CHAT, RESPONSES])
async def test_every_row_of_the_table_is_what_happens(api: str, tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        for row in TABLES[api].rows:
            if row.treatment == "honoured":
                continue
            status, named, body = await _post(server, api, **{row.name: {"a": "b"}})
            if row.name in ("user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"):
                status, named, body = await _post(server, api, **{row.name: "a"})
            seen = {"ignored": (200, ""), "dropped": (200, row.name), "refused": (400, "")}[row.treatment]
            assert (status, named) == seen, (row.name, body)
            if row.treatment == "refused":
                assert body["error"]["param"] == row.name
            for value in row.unset:
                assert (await _post(server, api, **{row.name: value}))[:2] == (200, ""), row.name


@pytest.mark.parametrize(
    ("table", "shape"), [(COMPLETION_PARAMETERS, CompletionBody), (RESPONSE_PARAMETERS, ResponseBody)]
)
def test_the_table_and_the_described_body_agree(table: ParameterTable, shape: Any) -> None:
    names = [row.name for row in table.rows]
    assert len(names) == len(set(names))
    assert {row.name for row in table.rows if row.treatment == "honoured"} <= set(shape.__struct_fields__)
    assert set(shape.__struct_fields__) <= set(names)


async def test_a_header_holds_no_name_that_would_break_it(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        names = {"a\r\nX-Evil: 1": 1, "ä": 1, "x" * 500: 1, "fine": 1}
        status, named, _ = await _post(server, CHAT, **names)
        assert (status, named) == (200, f"{'x' * 60}, fine")
