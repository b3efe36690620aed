"""What a conversation asks of the converter now: the words, the picture, the files shown, and what was done so far."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from weft.core.content import Image, Text
from weft.core.messages import Message
from weft.core.settings import Settings
from weft.core.tools import ToolCall, ToolDefinition, ToolResult

STACK = re.compile(r"^Stack: ([a-z][a-z0-9_]{0,40}) \(([^()\n]{1,200})\)$", re.MULTILINE)
"""The line of the system text that names the stack and the file that its preview starts from."""

_FILE = re.compile(r'<file path="([^"\n]+)">\n(.*?)</file>(?=\n<file |\nOther files:|\s*\Z)', re.DOTALL)
_ELEMENT = re.compile(
    r"^This is about one element of the page[^\n]*?:\n+```html\n(.*?)\n```\n?(.*)", re.DOTALL | re.MULTILINE
)
_NUMBER = re.compile(r"number (\d+) of the (\d+) that look alike")
_PLACE = re.compile(r"written in `([^`\n]+)`(?:, line (\d+))?")
_FRAME = re.compile(
    r"^(?:The project as it is now:|Change the project as follows\. Leave everything else as it is\.|Other files: .*)$",
    re.MULTILINE,
)
_COPY = re.compile(r"^Build a page that looks exactly like [^\n]*\.$|^The person adds:$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Done:
    """A call that was made for this request, and what came of it."""

    call: ToolCall
    result: ToolResult

    @property
    def ok(self) -> bool:
        return self.result.status == "ok" and not self.result.is_error


@dataclass(frozen=True, slots=True)
class Chosen:
    """An element that the person chose in the preview."""

    html: str
    file: str = ""
    line: int = 0
    number: int = 0
    """Which one it is of several that look alike, from 1; 0 if that is not said."""


@dataclass(frozen=True, slots=True)
class Asked:
    words: str
    """What the person said, without the frame that the studio puts around it."""
    image: Image | None
    images: int
    files: dict[str, str]
    chosen: Chosen | None
    tools: tuple[ToolDefinition, ...]
    done: tuple[Done, ...]
    stack: str
    entry: str
    written: tuple[str, ...]
    """The text files that the conversation has written, the last one last."""

    def has(self, name: str) -> bool:
        return any(tool.name == name for tool in self.tools)

    def first(self, *names: str) -> str | None:
        """The first of these tools that there is."""
        return next((name for name in names if self.has(name)), None)

    def made(self, *names: str) -> list[Done]:
        """The calls of these tools."""
        return [each for each in self.done if each.call.name in names]


def asked_of(messages: Sequence[Message], tools: Sequence[ToolDefinition], settings: Settings) -> Asked:
    """The last request in a conversation."""
    start = max((at for at, message in enumerate(messages) if message.role == "user"), default=0)
    request = messages[start] if messages else Message(role="user", content=[])
    texts = [block.text for block in request.content if isinstance(block, Text)]
    images = [block for block in request.content if isinstance(block, Image)]
    files = {found[1]: found[2] for text in texts for found in _FILE.finditer(text)}
    rest, chosen = _chosen("\n\n".join(_FILE.sub("", text).strip("\n") for text in texts))
    words = _COPY.sub("", _FRAME.sub("", rest)).strip()
    marked = STACK.search(settings.system)
    return Asked(
        words=words,
        image=images[0] if images and chosen is None else None,
        images=len(images),
        files=files,
        chosen=chosen,
        tools=tuple(tools) if settings.tool_choice != "none" else (),
        done=_done(messages[start + 1 :]),
        stack=marked[1] if marked is not None else "html_css",
        entry=marked[2] if marked is not None else "index.html",
        written=_written(messages),
    )


def _chosen(text: str) -> tuple[str, Chosen | None]:
    found = _ELEMENT.search(text)
    if found is None:
        return text, None
    number = _NUMBER.search(found[0].partition("\n")[0])
    place = _PLACE.search(found[2])
    chosen = Chosen(
        html=found[1],
        file=place[1] if place is not None else "",
        line=int(place[2] or 0) if place is not None else 0,
        number=int(number[1]) if number is not None else 0,
    )
    return text[: found.start()], chosen


def _done(messages: Sequence[Message]) -> tuple[Done, ...]:
    results = {block.id: block for message in messages for block in message.content if isinstance(block, ToolResult)}
    calls = [call for message in messages for call in message.tool_calls]
    return tuple(Done(call, results[call.id]) for call in calls if call.id in results)


def _written(messages: Sequence[Message]) -> tuple[str, ...]:
    paths = [
        str(call.input.get("path", ""))
        for message in messages
        for call in message.tool_calls
        if call.name in ("create_file", "write_file")
    ]
    return tuple(dict.fromkeys(path for path in paths if path and not path.startswith("assets/")))
