"""`heald eval --batch`: every turn of every conversion is in a batch; an interrupted evaluation goes on."""

import asyncio
import json
import signal
from typing import Any

import pytest

from batch_provider import BatchProvider, whole_answer
from cli_bench import finish, is_one_line_error, run, started
from cli_pages import PAGE, here, picture
from heald.testing.server import ScriptedServer
from heald_studio.browser.find_chromium import has_chromium

pytestmark = pytest.mark.usefixtures("headless_shell", "one_width")

Capture = pytest.CaptureFixture[str]
NAMES = ("one", "two")


@pytest.fixture
def shots() -> None:
    if not has_chromium():
        pytest.skip("Chromium is not installed here")
    here("shots").mkdir()
    for number, name in enumerate(NAMES):
        picture(here(f"shots/{name}.png"), width=320 + number)
        here(f"shots/{name}.json").write_text('{"texts": []}')


def builder(wire: str) -> Any:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        text = json.dumps(body)
        if "function_call_output" in text or '"tool_result"' in text or '"role": "tool"' in text:
            return whole_answer(wire, text="The page is there.")
        return whole_answer(wire, call=("create_file", {"path": "index.html", "content": PAGE}))

    return answer


def words(server: ScriptedServer, wire: str) -> list[str]:
    place = ["--base-url", f"{server.url}/v1", "--wire", wire, "--models", "m", "-o", "report"]
    return ["eval", "shots", *place, "--batch", "--batch-poll", "0.05"]


@pytest.mark.usefixtures("shots")
@pytest.mark.parametrize("wire", ["messages", "responses"])
async def test_an_evaluation_in_batches(capsys: Capture, wire: str) -> None:
    provider = BatchProvider(wire, builder(wire))
    async with ScriptedServer(provider) as server:
        ran = await run(capsys, *words(server, wire), "--json")
    assert ran.code == 0, ran.err
    rows = json.loads(ran.out)["rows"]
    assert [row["target"] for row in rows] == sorted(NAMES)
    assert [row["error"] for row in rows] == [""] * len(NAMES)
    assert all(row["figures"]["overall"] > 0 for row in rows)
    assert 0 < len(provider.batches) <= len(provider.ids) == 2 * len(NAMES)
    assert here("report/batches.jsonl").exists()


@pytest.mark.usefixtures("shots")
async def test_an_interrupted_evaluation_goes_on(capsys: Capture) -> None:
    provider = BatchProvider("messages", builder("messages"))
    provider.is_stuck, provider.expected = True, len(NAMES)
    async with ScriptedServer(provider) as server:
        async with started(*words(server, "messages")) as process:
            await asyncio.wait_for(provider.all_polled.wait(), 60)
            process.send_signal(signal.SIGINT)
            ended = await finish(process)
        assert ended.code == 130, ended.err
        assert not here("report/report.html").exists()
        submitted = set(provider.ids)
        provider.is_stuck = False
        ran = await run(capsys, *words(server, "messages"))
    assert ran.code == 0, ran.err
    assert len(provider.ids) == len(set(provider.ids)) == 2 * len(NAMES)
    assert submitted < set(provider.ids)
    assert "cost: unknown" in ran.out
    assert here("report/report.html").exists()


@pytest.mark.usefixtures("shots")
async def test_a_wire_without_batches(capsys: Capture) -> None:
    async with ScriptedServer([]) as server:
        ran = await run(capsys, *words(server, "ollama"))
        assert server.requests == []
    assert ran.code == 2
    assert is_one_line_error(ran)
    assert "no batches" in ran.err
