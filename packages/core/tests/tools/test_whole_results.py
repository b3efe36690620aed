"""A result that is too long for the model is kept whole and read page by page."""

import base64
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tool_bench import Bench

import heald
from example_counts import scaled
from heald.core.events import ExchangeRequest
from heald.core.json import encode
from heald.core.messages import Image, Message, Text, ToolResult, user_message
from heald.providers.scripted import ScriptedCall, ScriptedRequest
from heald.sessions import Sessions, SqliteStore
from heald.tools.result_text import TEXT_BYTES
from heald.tools.tool_fault import ToolFault
from heald.tools.whole_results import MAX_CHARACTERS, WholeResults, first_page, page_end
from heald_check import check_log

S = heald.testing.ScriptedModel
LONG = "".join(f"line {number}\n" for number in range(30_000))
_READS_ON = re.compile(r'\[characters [\d,]+ to ([\d,]+) of [\d,]+; read_result\(handle="(r-[0-9a-f]+)", offset=\d+\)')


@heald.tool
def report() -> str:
    """A long report."""
    return LONG


@heald.tool
def pictures() -> list[Text | Image]:
    """A long text and a picture."""
    return [Text(LONG), Image(data=base64.b64encode(b"x" * 100).decode()), Text("the end")]


def result_of(messages: Sequence[Message], at: int = -1) -> ToolResult:
    results = [block for message in messages for block in message.content if isinstance(block, ToolResult)]
    return results[at]


def read_on(request: ScriptedRequest) -> list[ScriptedCall] | str:
    """A model that reads every page of the last long result."""
    handle = _READS_ON.search(result_of(request.messages).text)
    if handle is None:
        return "Read."
    return [S.call("read_result", handle=handle[2], offset=int(handle[1].replace(",", "")))]


def text_of(result: ToolResult) -> str:
    return result.text.rpartition("\n\n[characters ")[0]


async def test_the_first_page_has_the_end_too() -> None:
    result = await Bench(report).one("report")
    assert result.text.startswith("line 0\n")
    assert result.text.endswith("; the last 15,000 follow]\n\n" + LONG[-15_000:])
    assert len(result.text) < 60_200


async def test_all_pages_together_are_the_result() -> None:
    agent = heald.Agent(S([[S.call("report")], *([read_on] * 20)]), tools=[report])
    events = [event async for event in agent.stream("Go.")]
    assert check_log(events) == []
    results = [event.data for event in events if isinstance(event.data, ToolResult)]
    assert "".join(map(text_of, results)) == LONG
    assert [result.name for result in results] == ["report", *["read_result"] * (len(results) - 1)]
    assert len(results) > 3
    whole = results[0].whole
    assert whole is not None
    assert whole.characters == len(LONG)
    assert await agent.whole_result(whole.handle) == LONG


@pytest.mark.parametrize(("text", "bytes_each"), [("line\n", 1), ("行\n", 2)])
async def test_a_result_fills_an_eighth_of_the_context(text: str, bytes_each: int) -> None:
    class Small(S):
        def open_session(self, **options: Any) -> Any:
            session: Any = super().open_session(**options)

            async def context_window() -> int:
                return 16_000

            session.context_window = context_window
            return session

    @heald.tool
    def log() -> str:
        """A long log."""
        return text * 20_000

    agent = heald.Agent(Small([[S.call("log")], read_on, "Done."]), tools=[log], history=[user_message("word " * 800)])
    events = [event async for event in agent.stream("Go.")]
    results = [event.data.text for event in events if isinstance(event.data, ToolResult)]
    assert len(results) == 2
    for result in results:
        assert 5_000 < len(result.encode()) < 6_700, "2,000 tokens of 3.2 bytes, and the note"
        assert len(result) * bytes_each <= 6_700


async def test_the_tool_is_offered_from_the_first_long_result_on() -> None:
    offered: list[list[str]] = []

    def look(request: ScriptedRequest) -> str:
        offered.append([tool.name for tool in request.tools])
        return "Done."

    model = S([look, [S.call("report")], look, look])
    agent = heald.Agent(model, tools=[report])
    await agent.run("Nothing yet.")
    await agent.run("Now.")
    await agent.run("Later.")
    assert offered == [["report"], ["report", "read_result"], ["report", "read_result"]]


async def test_pictures_stay_with_the_first_page() -> None:
    bench = Bench(pictures)
    result = await bench.one("pictures")
    assert [type(part) for part in result.content] == [Text, Image]
    assert result.whole is not None
    assert await bench.runtime.whole_results.read(result.whole.handle) == f"{LONG}\nthe end"


async def test_handles_that_are_unknown_expired_or_behind_the_end() -> None:
    bench = Bench(report)
    handle = (await bench.one("report")).whole.handle  # pyright: ignore
    unknown = await bench.one("read_result", handle="r-nothing")
    assert (unknown.status, unknown.text) == (
        "error",
        f"unknown_handle: There is no result with the handle 'r-nothing'; the latest are {handle}.",
    )
    behind = await bench.one("read_result", handle=handle, offset=10**9)
    assert behind.text.startswith("behind_the_end: The result has 318,890 characters; 1,000,000,000 is behind")
    bench.runtime.whole_results._texts.clear()  # pyright: ignore
    expired = await bench.one("read_result", handle=handle)
    assert (
        expired.text
        == f"expired_handle: The result '{handle}' is no longer stored; call the tool that gave it once more."
    )


async def test_memory_is_bounded() -> None:
    whole_results = WholeResults(room=1000)
    first, second = whole_results.keep("a" * 600), whole_results.keep("b" * 600)
    assert await whole_results.read(second.handle) == "b" * 600
    with pytest.raises(ToolFault, match="no longer stored"):
        await whole_results.read(first.handle)
    page, whole = first_page("x" * (MAX_CHARACTERS + 5), 1000, whole_results)
    assert whole is not None
    assert whole.characters == MAX_CHARACTERS
    assert str(page).endswith("[Only the first 8,000,000 of 8,000,005 characters are kept.]")


@settings(max_examples=scaled(60), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("a\x01字𐍈\n\\"), st.integers(0, 120_000)), max_size=6),
    st.integers(200, 300_000),
)
def test_a_page_is_within_both_bounds_and_pages_have_no_gap(runs: list[tuple[str, int]], limit: int) -> None:
    text = "".join(letter * count for letter, count in runs)
    at = 0
    while at < len(text):
        end = page_end(text, at, limit)
        assert at < end <= at + limit
        assert len(encode(text[at:end])) <= TEXT_BYTES
        at = end


@pytest.mark.parametrize("place", ["memory", "disk"])
async def test_a_stored_session_reads_on_after_a_restart(place: str, tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    workspace = str(tmp_path) if place == "disk" else None
    store = SqliteStore(path)
    info = await Sessions(store).create(model="scripted", workspace=workspace)
    async with await Sessions(store).open(info.id, model=S([[S.call("report")], "Long."]), tools=[report]) as session:
        await session.run("Go.")
        whole = result_of(session.messages).whole
        assert whole is not None
    await store.close()

    store = SqliteStore(path)
    model = S([[S.call("read_result", handle=whole.handle, offset=60_000)], "Read."])
    async with await Sessions(store).open(info.id, model=model, tools=[report]) as session:
        await session.run("Go on.")
        assert result_of(session.messages).text[:60_000] == LONG[60_000:120_000]
    assert (await store.blob(info.id, whole.blob)).decode() == LONG
    fork = await Sessions(store).fork(info.id)
    assert (await store.blob(fork.id, whole.blob)).decode() == LONG
    archive = tmp_path / "archive.jsonl"
    archive.write_bytes(b"".join([line async for line in Sessions(store).export(info.id)]))
    with archive.open("rb") as file:
        imported = await Sessions(store).import_from(file)
    assert (await store.blob(imported.id, whole.blob)).decode() == LONG
    await store.close()


async def test_a_rewound_conversation_does_not_know_the_handle_any_more(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "sessions.db")
    info = await Sessions(store).create(model="scripted")
    async with await Sessions(store).open(info.id, model=S([[S.call("report")], "Long."]), tools=[report]) as session:
        begins = [event.seq async for event in session.stream("Go.") if isinstance(event.data, ExchangeRequest)]
        whole = result_of(session.messages).whole
        await session.rewind(begins[0] - 1)
    async with await Sessions(store).open(info.id, model=S(["Hi."]), tools=[report]) as session:
        assert whole is not None
        with pytest.raises(ToolFault, match="There is no result with the handle"):
            await session.whole_result(whole.handle)
    await store.close()
