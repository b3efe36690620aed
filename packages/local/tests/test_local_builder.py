"""A picture becomes a page through an agent, its tools and its events, without a language model."""

import asyncio
import base64
import io
import re
import resource
import time
from pathlib import Path

import msgspec
import pytest
from PIL import Image as Drawing

import heald
from heald.core.events import ExchangeResponse, FilePreview, MessageDiscarded, MessageStart, ThinkingDelta
from heald.core.messages import Image, user_message
from heald.core.turn import Settings, Usage
from heald.tools.families import families
from heald.tools.files.access import publish_changes
from heald_local.builder import CANNOT, SKETCH
from heald_local.links import link_pages
from heald_local.model import LocalVision
from heald_pictures.design_request import DesignRequest, design_data
from local_support import TEXTS, Bench, blind_screenshot, compared, dense, needs_vision, page, picture_request, png

pytestmark = needs_vision


async def test_a_page_is_sketched_read_written_and_spoken_of() -> None:
    async with Bench("local/vision") as bench:
        begun = time.monotonic()
        first: list[float] = []
        bench.agent.subscribe(
            lambda event: first.append(time.monotonic()) if isinstance(event.data, FilePreview) else None
        )
        result = await bench.ask(picture_request(page("#fffdfd")))
        assert result.status == "completed"
        assert (result.cost_usd, result.usage) == (0, Usage(input=0, output=0))
        html = bench.file()
        assert all(text in html for text in TEXTS)
        assert SKETCH not in html
        written = [call for message in bench.agent.messages for call in message.tool_calls]
        assert SKETCH in written[0].input["content"]
        thoughts = "".join(delta.text for delta in bench.of(ThinkingDelta))
        assert "Reading" in thoughts
        assert "I see a page of 480 × 360 px" in thoughts
        assert thoughts.count("Looking at areas") == 1
        assert "local vision code, fidelity first" in result.text
        assert "A picture does not show" in result.text
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"preview after {first[0] - begun:.2f} s, done after {time.monotonic() - begun:.2f} s, {memory} MB")


async def test_pictures_come_along_as_files_that_the_page_names() -> None:
    async with Bench() as bench:
        await bench.ask(picture_request(page()))
        places = re.findall(r'src="(assets/[^"]+)"', bench.file())
        assert places
        for place in places:
            svg = bench.file(place)
            data = re.search(r"base64,([^\"]+)", svg)
            assert data is not None
            assert Drawing.open(io.BytesIO(base64.b64decode(data[1]))).width > 100


async def test_a_page_comes_in_pieces() -> None:
    async with Bench() as bench:
        await bench.ask(picture_request(page()))
        last = bench.agent.messages[-3].tool_calls[-1]
        pieces = [preview.text for preview in bench.of(FilePreview) if preview.id == last.id]
        assert len(pieces) > 3
        assert "".join(pieces) == bench.file()


async def test_a_long_page_comes_in_few_pieces() -> None:
    async with Bench(LocalVision(piece=1, pause=0)) as bench:
        await bench.ask(picture_request(page()))
        last = bench.agent.messages[-3].tool_calls[-1]
        pieces = [preview.text for preview in bench.of(FilePreview) if preview.id == last.id]
        assert 20 < len(pieces) < 100 < len(bench.file())


async def test_without_tools_the_page_is_the_answer() -> None:
    async with Bench(tools=()) as bench:
        result = await bench.ask(picture_request(page()))
        assert "<!DOCTYPE html>" in result.text
        assert "data:image/" in result.text
        assert "assets/" not in result.text
        assert all(text in result.text for text in TEXTS)


@pytest.mark.parametrize(
    ("stack", "entry", "sign"),
    [
        ("html_tailwind", "index.html", "cdn.tailwindcss.com"),
        ("bootstrap", "index.html", "bootstrap"),
        ("react_tailwind", "index.html", "text/babel"),
        ("vue_tailwind", "index.html", "createApp"),
        ("svg", "image.svg", "<svg"),
    ],
)
async def test_the_stack_of_the_request_is_written(stack: str, entry: str, sign: str) -> None:
    async with Bench() as bench:
        result = await bench.ask(picture_request(page(), design=DesignRequest(stack=stack, entry=entry)))
        assert result.status == "completed"
        assert sign in bench.file(entry)
        assert TEXTS[0] in bench.file(entry)
        assert entry in result.text


async def test_a_stack_that_it_does_not_write_is_a_sentence() -> None:
    async with Bench() as bench:
        result = await bench.ask(picture_request(page(), design=DesignRequest(stack="svelte")))
        assert result.status == "failed"
        assert result.error is not None
        assert "does not write the stack svelte; choose one of html_css" in result.error.message


async def test_the_two_methods_differ_and_report_it() -> None:
    async with Bench() as exact, Bench(LocalVision(mode="responsive", pause=0)) as flowing:
        first = await exact.ask(picture_request(page()))
        second = await flowing.ask(picture_request(page()))
        assert "fidelity first" in first.text
        assert "semantic and responsive first" in second.text
        assert exact.file() != flowing.file()
        assert {start.model for start in flowing.of(MessageStart)} == {"local/vision-responsive"}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"not a picture at all", "not a picture that can be read"),
        (page()[:400], "damaged"),
        (png(Drawing.new("RGB", (4, 4))), "too small"),
        (png(Drawing.new("1", (9000, 9000))), "use one of at most 40 million"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not a picture that can be read"),
    ],
    ids=["text", "cut", "tiny", "bomb", "svg"],
)
async def test_a_bad_picture_is_one_sentence(data: bytes, sentence: str) -> None:
    async with Bench() as bench:
        result = await bench.ask(picture_request(data))
        assert result.status == "failed"
        assert result.error is not None
        assert result.error.code == "invalid_request"
        assert sentence in result.error.message
        assert [discarded.error for discarded in bench.of(MessageDiscarded)] == [result.error]
        assert bench.calls() == []


async def test_a_picture_by_address_or_broken_base64_is_one_sentence() -> None:
    async with Bench() as bench:
        by_url = await bench.ask(user_message("Build", Image(url="https://example.com/shot.png")))
        assert by_url.error is not None
        assert "needs the file itself" in by_url.error.message
        broken = await bench.ask(user_message("Build", Image(data="%%%")))
        assert broken.error is not None
        assert "base64 cannot be read" in broken.error.message


async def test_cancel_ends_it_within_a_second() -> None:
    async with Bench() as bench:
        exchange = bench.agent.send(picture_request(dense()))
        await asyncio.wait_for(bench.wait_for_event(ThinkingDelta), 60)
        begun = time.process_time()
        assert bench.agent.cancel("enough")
        result = await exchange.result()
        assert result.status == "cancelled"
        assert time.process_time() - begun < 5
        bench.prove()


async def test_what_may_not_be_written_is_reported() -> None:
    async with Bench(permissions=heald.Permissions("auto", ["deny create_file"])) as bench:
        result = await bench.ask(picture_request(page()))
        assert result.status == "completed"
        assert "index.html was not written:" in result.text
        assert set(bench.calls()) == {"create_file"}


async def test_words_that_it_cannot_follow_are_named() -> None:
    async with Bench() as bench:
        result = await bench.ask(
            picture_request(page(), "Build this, but with a working shopping basket and a dark mode")
        )
        assert "following the text needs a language model" in result.text
        assert await bench.refusal("Write a poem about it") == CANNOT


async def test_it_goes_on_in_a_conversation_that_was_kept() -> None:
    """Each turn follows from the messages: another agent takes over after the sketch."""
    async with Bench() as bench:
        await bench.ask(picture_request(page("#fdfdff")))
        messages = bench.agent.messages[:3]  # the request, the sketch, its result
    model = LocalVision(pause=0)
    session = model.open_session(
        messages=messages, tools=[tool.definition for tool in families()["files"]], settings=Settings()
    )
    turn = await session.stream_turn(lambda _: None)
    await session.close()
    assert {call.name for call in turn.tool_calls} == {"create_file"}
    assert SKETCH not in turn.tool_calls[-1].input["content"]


async def test_it_looks_compares_and_stops_when_nothing_can_be_repaired() -> None:
    @heald.tool(name="compare_with_target")
    def compare() -> heald.ToolOutput:
        """Compare."""
        return compared(0.95)

    async with Bench(tools=[*families()["files"], blind_screenshot, compare]) as bench:
        result = await bench.ask(picture_request(page()))
        assert bench.calls()[-2:] == ["screenshot_preview", "compare_with_target"]
        assert "it scores 0.950 of 1." in result.text


async def test_a_page_that_is_good_at_once_is_compared_once() -> None:
    @heald.tool(name="compare_with_target")
    def compare() -> heald.ToolOutput:
        """Compare."""
        return compared(0.99, "#ff0000")

    async with Bench(tools=[*families()["files"], compare]) as bench:
        result = await bench.ask(picture_request(page()))
        assert bench.calls().count("compare_with_target") == 1
        assert "edit_file" not in bench.calls()
        assert "it scores 0.990 of 1." in result.text


async def test_it_repairs_until_the_score_no_longer_grows_and_withdraws_what_did_not_help() -> None:
    scores = iter([0.9, 0.95, 0.94])
    colours = iter(["#ff0000", "#00ff00", "#0000ff"])

    @heald.tool(name="compare_with_target")
    def compare() -> heald.ToolOutput:
        """Compare."""
        return compared(next(scores), next(colours))

    async with Bench(tools=[*families()["files"], compare]) as bench:
        result = await bench.ask(picture_request(page()))
        tail = [name for name in bench.calls() if name != "create_file"]
        assert tail == [
            "compare_with_target",
            "edit_file",
            "compare_with_target",
            "edit_file",
            "compare_with_target",
            "edit_file",
        ]
        assert "#ff0000" in bench.file()  # the first mending stays, the second was taken back
        assert "#00ff00" not in bench.file()
        assert "scores 0.950 of 1 after 1 round of corrections (before: 0.900)" in result.text
        assert bench.of(ExchangeResponse)[-1].turns <= 12


async def test_repairing_is_bounded() -> None:
    count = iter(range(100))

    @heald.tool(name="compare_with_target")
    def compare() -> heald.ToolOutput:
        """Compare."""
        number = next(count)
        return compared((500 + 10 * number) / 1000, f"#00000{number + 1}")

    async with Bench(tools=[*families()["files"], compare]) as bench:
        await bench.ask(picture_request(page()))
        assert bench.calls().count("edit_file") == 3
        assert bench.calls().count("compare_with_target") == 4


async def test_a_comparison_that_fails_is_reported() -> None:
    @heald.tool(name="compare_with_target")
    def compare() -> str:
        """Compare."""
        raise heald.ToolFault("There is no browser here.")

    async with Bench(tools=[*families()["files"], compare]) as bench:
        result = await bench.ask(picture_request(page()))
        assert result.status == "completed"
        assert "It was not compared: There is no browser here." in result.text


async def test_a_tool_cuts_the_pictures_out_where_there_is_one(tmp_path: Path) -> None:
    class Wanted(msgspec.Struct):
        name: str
        box: list[float]

    @heald.tool(name="extract_assets")
    def extract(ctx: heald.ToolContext, assets: list[Wanted], seen_width: int) -> str:
        """Cut out."""
        lines = [f"- assets/{asset.name}.png: from {asset.box} of {seen_width}" for asset in assets]
        for asset in assets:
            ctx.workspace.write(f"assets/{asset.name}.png", page(), on_change=publish_changes(ctx))
        return "\n".join(lines)

    async with Bench(tools=[*families()["files"], extract], workspace=tmp_path) as bench:
        await bench.ask(picture_request(page()))
        place = re.search(r'src="(assets/[^"]+\.png)"', bench.file())
        assert place is not None
        files = [entry.path for entry in bench.agent.workspace.list(depth=None) if entry.kind == "file"]
        assert place[1] in files
        assert not [file for file in files if file.endswith(".svg")]


async def test_each_picture_becomes_a_page_that_the_others_link_to() -> None:
    pictures = [Image(media_type="image/png", data=base64.b64encode(png).decode()) for png in (page(), page("#fdfdff"))]
    design = DesignRequest(pages=["index.html", "order-now.html"])
    message = msgspec.structs.replace(user_message("Build this", *pictures), structured=design_data(design))
    async with Bench() as bench:
        result = await bench.ask(message)
        assert result.status == "completed"
        assert "Each picture became a page: index.html, order-now.html." in result.text
        for path in design.pages:
            assert all(text in bench.file(path) for text in TEXTS)
            assert SKETCH not in bench.file(path)
            places = re.findall(r'src="(assets/[^"]+)"', bench.file(path))
            assert places
            assert all(bench.file(place) for place in places)
        assert bench.file() != bench.file("order-now.html")
        assert 'src="assets/order-now-' in bench.file("order-now.html")
        assert 'src="assets/order-now-' not in bench.file()


def test_links_lead_to_the_pages_that_their_words_name() -> None:
    source = '<nav><a href="#">Home</a><a class="x" href="#">Our Prices</a><a href="#">Blog</a></nav>'
    linked = link_pages(source, ["index.html", "our-prices.html"])
    assert '<a href="index.html">Home</a><a class="x" href="our-prices.html">Our Prices</a>' in linked
    assert '<a href="#">Blog</a>' in linked
    assert link_pages(source, ["index.html"]) == source
