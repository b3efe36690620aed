"""Thirty breaks in one exchange: what a client has in the end is the log, in every dialect and over both wires."""

import asyncio
import random
from pathlib import Path

import pytest
from stream_readers import ENDS, Copy, ReceivedFrame

import heald
from heald.core.envelope import decode_event
from heald_check.checker import check_log
from heald_server.dialects.registry import load_dialects
from serving_parts import S, served

BREAKS = 30
PAGE = "<!doctype html>\n" + "\n".join(f"<p>Line {number} of a page — with “signs”.</p>" for number in range(40))


def _long() -> heald.testing.ScriptedModel:
    turns = [
        [S.think(f"Thought {turn}. " * 12), f"Step {turn}: " + "so it goes on. " * 25, S.call("mark", word=f"w{turn}")]
        for turn in range(6)
    ]
    turns.append(["I write it. ", S.call("create_file", path="index.html", content=PAGE)])
    return S([*turns, "All of it is done. " * 20], piece=5, pause=0.004)


@heald.tool
async def mark(word: str, ctx: heald.ToolContext) -> str:
    """Leave a mark."""
    ctx.output("marking\n")
    await asyncio.sleep(0.01)
    return word


@pytest.mark.parametrize("over", ["sse", "ws"])
async def test_what_was_broken_off_thirty_times_is_the_log(over: str, tmp_path: Path) -> None:
    async with served(tmp_path, _long, tools={"mark": mark}) as server:
        session = await server.session()
        whole = {name: Copy(server.client, session, name, over) for name in load_dialects()}
        broken = {name: Copy(server.client, session, name, over) for name in load_dialects()}
        listening = [asyncio.create_task(copy.read(ENDS[name])) for name, copy in whole.items()]
        reading = [
            asyncio.create_task(copy.read_in_pieces(ENDS[name], BREAKS, random.Random(f"{over} {name}"), most=20))
            for name, copy in broken.items()
        ]
        await server.send(session, "Begin.")
        async with asyncio.timeout(120):
            await asyncio.gather(*listening)
            await asyncio.gather(*reading)
        log = await server.log(session)
    assert not check_log(log)
    assert len(log) > 900
    for name in load_dialects():
        assert broken[name].connects >= BREAKS
        assert broken[name].frames == whole[name].frames, name
    assert [decode_event(told.data.encode()) for told in broken["native"].frames] == log


async def test_an_event_that_the_dialect_states_in_several_frames_repeats_whole(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S([[S.think("Hm."), "Hello."]])) as server:
        session = await server.session()
        accepted = await server.send(session)
        await server.ended(session, accepted["exchange"])
        whole = Copy(server.client, session, "ag-ui")
        assert await whole.read(ENDS["ag-ui"])
        for cut in range(1, len(whole.frames)):
            copy = Copy(server.client, session, "ag-ui")
            assert not await copy.read(lambda _: False, cut)
            assert await copy.read(ENDS["ag-ui"])
            assert copy.frames == whole.frames


@pytest.mark.parametrize("name", list(load_dialects()))
async def test_a_cursor_in_an_earlier_exchange_brings_the_later_ones_too(name: str, tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S(["One.", "Two.", "Three."])) as server:
        session = await server.session()
        for _ in range(3):
            accepted = await server.send(session)
            await server.ended(session, accepted["exchange"])
        ends = 0

        def third(told: ReceivedFrame) -> bool:
            nonlocal ends
            ends += ENDS[name](told)
            return ends == 3

        for over in ("sse", "ws"):
            ends = 0
            whole, copy = Copy(server.client, session, name, over), Copy(server.client, session, name, over)
            assert await whole.read(third)
            ends = 0
            await copy.read(third, 2)
            copy.drop_unfinished()
            ends = sum(ENDS[name](told) for told in copy.frames)
            assert await copy.read(third)
            assert copy.frames == whole.frames
