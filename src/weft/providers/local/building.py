"""From a picture to a page, a turn at a time: sketch, assets, page, comparison, mending, last words.

Which turn it is follows from the calls that were made for this request, so that a conversation that was stored, forked
or reopened goes on where it was. Only what was seen is kept beside it, and can be seen again.
"""

import asyncio
import base64
import binascii
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace

from weft.core.content import Image
from weft.providers.local.asked import Asked, Done
from weft.providers.local.cropping import crop_calls, cropped
from weft.providers.local.edits import edits_between
from weft.providers.local.looking import Look
from weft.providers.local.mending import mended, score_in
from weft.providers.local.model import Way
from weft.providers.local.pictures import Carried, as_files, as_text
from weft.providers.local.telling import Progressing, built_text, first_line, not_written, seen_text
from weft.providers.local.ways import written
from weft.providers.scripted import Call, Part, Think
from weft.vision import STACKS, Page, Seen, UnreadablePicture, VisionError, arrange, write
from weft.vision.seen import Box

SKETCH = "<!-- A first sketch: the text is still being read. -->"
ROUNDS = 3
GOOD = 0.985
"""A page that scores this much at once is not mended: every round costs another comparison."""
_GAIN = 0.0005
_TURN = 600_000
"""Characters that one turn writes: its message must fit into an event."""
_LONGEST = 60_000_000


@dataclass(frozen=True, slots=True)
class _Rounds:
    """How far the mending is."""

    edits: list[Done]
    compared: list[str]
    scores: list[float]

    @property
    def got_worse(self) -> bool:
        return len(self.scores) > 1 and self.scores[-1] < self.scores[-2] + _GAIN

    @property
    def is_decided(self) -> bool:
        """The last edit took back what did not help."""
        return len(self.edits) == len(self.scores) and self.got_worse


class Builder:
    """The next turn of a conversion."""

    def __init__(self, asked: Asked, way: Way, see: Callable[[bytes], Look]) -> None:
        self._asked = asked
        self._way: Way = way
        self._see = see
        self._writes = asked.first("create_file", "write_file")

    async def parts(self) -> AsyncGenerator[Part]:
        if self._asked.stack not in STACKS:
            raise VisionError(
                f"The local converter does not write the stack {self._asked.stack}; choose one of {', '.join(STACKS)}, "
                "or a model."
            )
        look = self._see(_bytes_of(self._asked.image))
        refused = [each for each in self._asked.made("create_file", "write_file") if not each.ok]
        if refused:
            told = next((each for each in refused if each.call.input.get("path") == self._entry), refused[0])
            yield not_written(str(told.call.input.get("path")), told.result.text)
            return
        if not self._is_written and not look.over:
            async for part in self._looking(look):
                yield part
                if isinstance(part, Call):
                    return
        page = await asyncio.to_thread(self._arranged, await look.result())
        if self._is_written:
            for part in await self._after(page):
                yield part
            return
        if not self._asked.made("extract_assets"):
            yield Think(seen_text(page.seen))
        for part in await self._writing(page):
            yield part

    # --- seeing ------------------------------------------------------------------------------------------------------

    async def _looking(self, look: Look) -> AsyncGenerator[Part]:
        """What it sees, as it sees it; ends early with a sketch, the first time."""
        said = Progressing()
        told = not self._has_sketch  # what came before the sketch was said with it
        async for progress in look.progress():
            line = said.line(progress)
            if line and told:
                yield Think(line)
            if progress.seen is None:
                continue
            if told and self._writes is not None and not look.over:
                sketch = await asyncio.to_thread(self._sketch, progress.seen)
                yield Call(self._writes, {"path": self._entry, "content": sketch})
                return
            told = True

    def _sketch(self, rough: Seen) -> str:
        bars = tuple(Box(picture.rect, "#d5d9df", picture.radius) for picture in rough.pictures)
        seen = replace(rough, boxes=(*rough.boxes, *bars), pictures=())
        text = str(write(arrange(seen), self._asked.stack)[self._entry])
        head, newline, rest = text.partition("\n")
        return f"{head}{newline}{SKETCH}\n{rest}"

    def _arranged(self, seen: Seen) -> Page:
        return written(arrange(seen), self._way)

    # --- writing -----------------------------------------------------------------------------------------------------

    async def _writing(self, page: Page) -> list[Part]:
        """The calls that write: pictures first, as many turns as they need, and the page with the last of them."""
        if self._writes is None:
            text = await asyncio.to_thread(self._text, page, as_text(dict(page.assets)))
            return [f"```html\n{text.strip()}\n```\n\n{self._last_words(page)}"]
        crops = crop_calls(self._asked, page)
        if crops:
            return list(crops)
        carried = await asyncio.to_thread(self._carried, page)
        done = {str(each.call.input.get("path")) for each in self._asked.made(self._writes)}
        waiting = {path: text for path, text in carried.files.items() if path not in done}
        waiting[self._entry] = await asyncio.to_thread(self._text, page, carried)
        room = _TURN
        calls: list[Part] = []
        for path, text in waiting.items():
            room -= len(text)
            if calls and room < 0:
                break
            calls.append(Call(self._writes, {"path": path, "content": text}))
        return calls

    def _carried(self, page: Page) -> Carried:
        """How pictures are there: cut out by the tool for it, or written by ourselves."""
        if self._asked.stack == "svg":
            return Carried({}, {})
        there = cropped(self._asked, page)
        return as_files({path: data for path, data in page.assets if path not in there})

    def _text(self, page: Page, carried: Carried) -> str:
        return carried.fill(str(write(page, self._asked.stack)[self._entry]))

    # --- comparing and mending ---------------------------------------------------------------------------------------

    async def _after(self, page: Page) -> list[Part]:
        """The page is there: look at it, mend what can be mended, and end."""
        looked = self._asked.made("screenshot_preview", "compare_with_target")
        if not looked:
            calls: list[Part] = [Call(name, {}) for name in _LOOKS if self._asked.has(name)]
            return calls or [self._last_words(page)]
        rounds = self._rounds()
        failed = next((each for each in looked if each.call.name == _LOOKS[1] and not each.ok), None)
        if failed is not None or not rounds.scores or any(not each.ok for each in rounds.edits):
            why = [f"It was not compared: {first_line(failed.result.text)}"] if failed is not None else []
            return [self._last_words(page, rounds, why)]
        if rounds.is_decided or (not rounds.edits and rounds.scores[0] >= GOOD):
            return [self._last_words(page, rounds)]
        if len(rounds.edits) == len(rounds.scores):
            return [Call(_LOOKS[1], {})]
        states = await asyncio.to_thread(self._states, page, rounds)
        if rounds.got_worse:
            return self._edit(states[-1], states[-2]) or [self._last_words(page, rounds)]
        better = mended(states[-1], rounds.compared[-1], self._way) if len(rounds.edits) < ROUNDS else None
        calls = self._edit(states[-1], better) if better is not None else []
        return calls or [self._last_words(page, rounds)]

    def _rounds(self) -> _Rounds:
        compared = [each.result.text for each in self._asked.made("compare_with_target") if each.ok]
        scores = [score for text in compared if (score := score_in(text)) is not None]
        return _Rounds(self._asked.made("edit_file"), compared, scores)

    def _states(self, page: Page, rounds: _Rounds) -> list[Page]:
        """The page as it was written, and after each round."""
        states = [page]
        for text in rounds.compared[: len(rounds.edits)]:
            states.append(mended(states[-1], text, self._way) or states[-1])
        return states

    def _edit(self, now: Page, then: Page) -> list[Part]:
        if not self._asked.has("edit_file"):
            return []
        carried = self._carried(now)
        edits = edits_between(self._text(now, carried), self._text(then, carried))
        return [Call("edit_file", {"path": self._entry, "edits": edits})] if edits else []

    # --- what is there -----------------------------------------------------------------------------------------------

    @property
    def _entry(self) -> str:
        return "image.svg" if self._asked.stack == "svg" else "index.html"

    @property
    def _own(self) -> list[Done]:
        made = self._asked.made("create_file", "write_file")
        return [each for each in made if each.call.input.get("path") == self._entry]

    @property
    def _has_sketch(self) -> bool:
        return any(SKETCH in str(each.call.input.get("content")) for each in self._own)

    @property
    def _is_written(self) -> bool:
        return any(SKETCH not in str(each.call.input.get("content")) for each in self._own)

    def _last_words(self, page: Page, rounds: _Rounds | None = None, remarks: list[str] | None = None) -> str:
        said = list(remarks or [])
        if self._asked.images > 1:
            said.append(f"I used the first of the {self._asked.images} pictures.")
        if len(self._asked.words.split()) > _FEW:
            said.append("I went by the picture alone; the words beside it would need a language model.")
        if rounds is None:
            return built_text(page, self._entry, self._way, remarks=said)
        kept = len(rounds.edits) - 2 * rounds.is_decided
        return built_text(page, self._entry, self._way, scores=rounds.scores, remarks=said, rounds=kept)


_LOOKS = ("screenshot_preview", "compare_with_target")
_FEW = 3
"""Words such as “Build this page” ask for nothing beside the picture."""


def _bytes_of(image: Image | None) -> bytes:
    data = image.data if image is not None else None
    if not data:
        raise UnreadablePicture("The picture is only named by an address; the local converter needs the file itself.")
    if len(data) > _LONGEST:
        raise UnreadablePicture("The picture is too large; use one of at most 40 MB.")
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise UnreadablePicture("The picture is not whole: its base64 cannot be read; send it again.") from None
