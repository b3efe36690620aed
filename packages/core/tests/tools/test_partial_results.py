"""A tool gives its result piece by piece: shown at once, joined for the model, and not lost if the call ends early."""

import asyncio
import base64
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from tool_bench import Bench

import heald
from heald.core.events import ToolOutputDelta
from heald.core.messages import Image, Text, ToolResult
from heald.sessions import Sessions, SqliteStore
from heald.tools.function_tools import tool
from heald.tools.result_cache import ResultCache
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald_check import check_log

S = heald.testing.ScriptedModel
PICTURE = Image(data=base64.b64encode(b"picture").decode())


def outputs(bench: Bench) -> list[str]:
    return [payload.text for payload in bench.said if isinstance(payload, ToolOutputDelta)]


@tool
async def pages(ctx: heald.ToolContext, last: str | None = None) -> str | None:
    """Give pages."""
    ctx.partial("one\n")
    ctx.partial(Text("two"))
    return last


@tool
async def generated(count: int) -> AsyncIterator[str]:
    """Yield pages."""
    for number in range(count):
        yield f"page {number}\n"


@tool
def generated_in_a_thread(count: int) -> Iterator[str | dict[str, int]]:
    """Yield pages."""
    for number in range(count):
        yield {"page": number}


@tool
async def mixed(ctx: heald.ToolContext) -> ToolOutput:
    """Text, a picture, and a summary."""
    ctx.partial("before ")
    ctx.partial(PICTURE)
    return ToolOutput(content="after", summary="three parts")


@tool
async def with_a_last_word() -> AsyncIterator[str | ToolOutput]:
    """Yield a page and the rest as an output."""
    yield "page"
    yield ToolOutput(content="rest", summary="done")


@tool(timeout=0.2)
async def slow(ctx: heald.ToolContext) -> None:
    """Two pages, then silence."""
    ctx.partial("first page\n")
    ctx.partial("second page\n")
    await asyncio.sleep(60)


@tool
async def breaking() -> AsyncIterator[str]:
    """Fail in the middle."""
    yield "as far as it went"
    raise ToolFault("The line is cut.")


async def test_pieces_are_shown_and_form_the_result() -> None:
    bench = Bench(pages)
    assert (await bench.one("pages")).content == "one\ntwo"
    assert outputs(bench) == ["one\n", "two"]
    assert bench.types("tool_output_delta", "tool_completed") == ["tool_output_delta"] * 2 + ["tool_completed"]
    assert (await bench.one("pages", last="three")).content == "one\ntwo\nthree"


async def test_generators_give_pieces() -> None:
    bench = Bench(generated, generated_in_a_thread, with_a_last_word)
    assert (await bench.one("generated", count=3)).content == "page 0\npage 1\npage 2\n"
    assert outputs(bench) == ["page 0\n", "page 1\n", "page 2\n"]
    assert (await bench.one("generated_in_a_thread", count=2)).content == '{"page":0}{"page":1}'
    last = await bench.one("with_a_last_word")
    assert (last.content, last.summary) == ("page\nrest", "done")
    assert (await bench.one("generated", count=0)).content == ""


async def test_pictures_between_texts() -> None:
    result = await Bench(mixed).one("mixed")
    assert result.content == [Text("before "), PICTURE, Text("after")]
    assert result.summary == "three parts"


async def test_a_timeout_keeps_the_pieces() -> None:
    result = await Bench(slow).one("slow")
    assert (result.status, result.truncated) == ("timeout", True)
    assert result.text.startswith("first page\nsecond page\n[The result is partial. The call was ended after")


async def test_a_failure_keeps_the_pieces() -> None:
    result = await Bench(breaking).one("breaking")
    assert (result.status, result.is_error) == ("error", True)
    assert result.text == "as far as it went\n[The result is partial. The line is cut.]"


async def test_a_cancelled_call_keeps_the_pieces_also_in_a_thread() -> None:
    begun, ended = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    @tool
    def endless(ctx: heald.ToolContext) -> Iterator[str]:
        """Yield for ever."""
        yield "begun"
        loop.call_soon_threadsafe(begun.set)
        while not ctx.cancelled:
            threading.Event().wait(0.01)
        ended.set()

    agent = heald.Agent(S([[S.call("endless")], "Never."]), tools=[endless])
    exchange = agent.send("Go.")
    await begun.wait()
    exchange.cancel()
    await exchange.result()
    result = next(block for message in agent.messages for block in message.content if isinstance(block, ToolResult))
    assert result.status == "cancelled"
    assert result.text.startswith("begun\n[The result is partial. The call was cancelled")
    assert await asyncio.to_thread(ended.wait, 5)


async def test_more_than_a_page_of_pieces_is_paged() -> None:
    bench = Bench(generated, max_output=1000)
    result = await bench.one("generated", count=1000)
    assert result.whole is not None
    whole = await bench.runtime.whole_results.read(result.whole.handle)
    assert whole == "".join(f"page {number}\n" for number in range(1000))


async def test_pieces_are_cached_with_the_result() -> None:
    @tool(pure=True)
    async def pure_pages(ctx: heald.ToolContext) -> str:
        """Give pages."""
        ctx.partial("one ")
        return "two"

    bench = Bench(pure_pages, cache=ResultCache())
    results = [(await bench.one("pure_pages")).content for _ in range(2)]
    assert results == ["one \ntwo"] * 2
    assert len(outputs(bench)) == 1


async def test_in_a_stored_session(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "sessions.db")
    info = await Sessions(store).create(model="scripted")
    model = S([[S.call("generated", count=2), S.call("slow")], "Done."])
    async with await Sessions(store).open(info.id, model=model, tools=[generated, slow]) as session:
        events = [event async for event in session.stream("Go.")]
    assert check_log(events) == []
    first, second = [event.data for event in events if isinstance(event.data, ToolResult)]
    assert sorted([first.status, second.status]) == ["ok", "timeout"]
    assert {"page 0\npage 1\n"} < {first.text, second.text}
    await store.close()
