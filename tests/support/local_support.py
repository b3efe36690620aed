"""What tests of the local converter share: small drawn pages, and an agent that is asked for them."""

import asyncio
import base64
import io
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec
import pytest
from PIL import Image as Drawing
from PIL import ImageDraw, ImageFont

import heald
from heald.agent.agent import Agent
from heald.agent.model_chain import ModelLike
from heald.agent.result import AgentResult
from heald.core.envelope import Event
from heald.core.messages import Image, Message, user_message
from heald.core.payload import Payload
from heald.tools.families import families
from heald_check import check_log
from heald_local.model import LocalVision, available
from heald_pictures.comparison import PageComparison, PageDifference
from heald_pictures.design_request import DesignRequest, design_data

needs_vision = pytest.mark.skipif(not available(), reason="heald[local] is not installed")

P = TypeVar("P", bound=Payload)
TEXTS = ("Fresh bread daily", "We bake before you wake.", "Order now")


@cache
def page(ground: str = "#ffffff") -> bytes:
    """A heading, a line, a button and a photograph, 480 x 360. What was seen once is known: another ground is new."""
    picture = Drawing.new("RGB", (480, 360), ground)
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 0, 480, 50), fill="#1e3a8a")
    pen.text((24, 80), TEXTS[0], font=ImageFont.load_default(30), fill="#111827")
    pen.text((24, 130), TEXTS[1], font=ImageFont.load_default(16), fill="#4b5563")
    pen.rounded_rectangle((24, 170, 170, 212), 8, fill="#2563eb")
    pen.text((52, 180), TEXTS[2], font=ImageFont.load_default(18), fill="#ffffff")
    picture.paste(_photo(), (260, 210))
    return png(picture)


@cache
def line(ground: str) -> bytes:
    """One line of text, 300 x 90, where it does not matter what is seen."""
    picture = Drawing.new("RGB", (300, 90), ground)
    ImageDraw.Draw(picture).text((24, 30), TEXTS[0], font=ImageFont.load_default(24), fill="#111827")
    return png(picture)


@cache
def dense() -> bytes:
    """A page with much to read, 900 x 1400."""
    picture = Drawing.new("RGB", (900, 1400), "#ffffff")
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(16)
    for row in range(60):
        pen.text(
            (30, 20 + 22 * row),
            f"Line {row} of a page that takes a while to read, word by word",
            font=font,
            fill="#222",
        )
    return png(picture)


def _photo() -> Drawing.Image:
    photo = Drawing.effect_noise((180, 120), 90).convert("RGB")
    tint = Drawing.linear_gradient("L").resize((180, 120))
    return Drawing.merge("RGB", (photo.getchannel(0), tint, photo.getchannel(2)))


def png(picture: Drawing.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=1)
    return out.getvalue()


def picture_request(
    data: bytes, text: str = "Build this", media_type: str = "image/png", design: DesignRequest | None = None
) -> Message:
    message = user_message(text, Image(media_type=media_type, data=base64.b64encode(data).decode()))
    return msgspec.structs.replace(message, structured=None if design is None else design_data(design))


class Bench:
    """One agent on the converter, and everything that its log says."""

    def __init__(
        self, model: ModelLike | None = None, tools: Sequence[Any] = families()["files"], **options: Any
    ) -> None:
        options.setdefault("permissions", "auto")
        self.agent = Agent(model or LocalVision(pause=0), tools=list(tools), **options)
        self.events: list[Event] = []
        self.agent.subscribe(self.events.append)

    async def refusal(self, words: str | Message) -> str:
        """The sentence with which a request is refused: it failed and was not answered."""
        result = await self.ask(words)
        assert result.status == "failed"
        assert result.error is not None
        assert not result.text
        return result.error.message

    async def ask(self, message: str | Message) -> AgentResult:
        """One exchange to its end; the log is proven."""
        result = await asyncio.wait_for(self.agent.send(message).result(), 120)
        self.prove()
        return result

    def prove(self) -> None:
        violations = check_log(self.events, content_at=self.agent.workspace.content_at)
        assert not violations, "\n".join(map(str, violations))

    def of(self, kind: type[P]) -> list[P]:
        return [event.data for event in self.events if isinstance(event.data, kind)]

    async def wait_for_event(self, kind: type[Payload]) -> None:
        """Wait until there is an event of a kind."""
        there = asyncio.Event()
        self.agent.subscribe(lambda event: there.set() if isinstance(event.data, kind) else None)
        if not self.of(kind):
            await there.wait()

    def calls(self) -> list[str]:
        return [call.name for message in self.agent.messages for call in message.tool_calls]

    def file(self, path: str = "index.html") -> str:
        return self.agent.workspace.read_text(path)

    async def __aenter__(self) -> "Bench":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.agent.close()


@heald.tool(name="screenshot_preview")
def blind_screenshot() -> str:
    """A preview that sees nothing wrong."""
    return "Desktop, 1280 px wide: the page is 360 px tall.\nOverflow: none."


def compared(score: float, *colours: str) -> heald.ToolOutput:
    """The result of `compare_with_target`: the heading should have other colours."""
    differences = tuple(PageDifference(kind="colour", text=TEXTS[0], colour=colour) for colour in colours)
    comparison = PageComparison(score=score, differences=differences)
    return heald.ToolOutput(content="The page was compared.", data=msgspec.to_builtins(comparison))
