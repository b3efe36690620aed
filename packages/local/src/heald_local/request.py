"""Reads the current request of a conversation: its instruction, its picture, its files, and the calls made for it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from heald.core.messages import Image, Message, Text, ToolCall, ToolDefinition, ToolResult
from heald.core.turn import Settings
from heald_local.see.picture_hint import NO_HINT, PictureHint
from heald_pictures.design_request import DesignRequest, SelectedElement, design_of


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A call that was made for this request, and its result."""

    call: ToolCall
    result: ToolResult

    @property
    def ok(self) -> bool:
        return self.result.status == "ok" and not self.result.is_error


@dataclass(frozen=True, slots=True)
class LocalRequest:
    """The last request of a conversation and the state of the work on it. Every turn starts from this alone."""

    instruction: str
    image: Image | None
    images: int
    files: dict[str, str]
    element: SelectedElement | None
    tools: tuple[ToolDefinition, ...]
    calls: tuple[FinishedCall, ...]
    stack: str
    entry: str
    written: tuple[str, ...]  # the text files that the conversation has written, the last one last
    pages: tuple[tuple[str, Image], ...] = ()  # each page and its picture, if every picture is a page of its own
    path: str = ""  # the file that the page is written to, if it is not the entry
    hint: PictureHint = NO_HINT

    def has(self, name: str) -> bool:
        return any(tool.name == name for tool in self.tools)

    def first(self, *names: str) -> str | None:
        return next((name for name in names if self.has(name)), None)

    def calls_of(self, *names: str) -> list[FinishedCall]:
        return [finished for finished in self.calls if finished.call.name in names]


SKETCH = "<!-- A first sketch: the text is still being read. -->"
_WRITES = ("create_file", "write_file")


def asset_prefix(path: str) -> str:
    """Return the start of the paths of pictures that belong to a page beside the first one."""
    return f"assets/{path.rpartition('.')[0]}-"


def select_page(request: LocalRequest) -> LocalRequest:
    """Return the part of the request that concerns one page, if every picture is a page of its own.

    The first page is written like one alone, then each other page, then the first one is compared with its picture.
    """
    if len(request.pages) < 2:
        return request
    waiting = [(path, image) for path, image in request.pages if not _is_written(request, path)]
    path, image = (waiting or request.pages)[0]
    first, *others = [path for path, _ in request.pages]
    if path == first:
        foreign = (*others, *map(asset_prefix, others))
        calls = [finished for finished in request.calls if not _path_of(finished).startswith(foreign)]
        return replace(request, image=image, images=1, calls=tuple(calls))
    calls = [
        finished for finished in request.calls_of(*_WRITES) if _path_of(finished).startswith((path, asset_prefix(path)))
    ]
    tools = tuple(tool for tool in request.tools if tool.name in _WRITES)
    return replace(request, image=image, images=1, calls=tuple(calls), tools=tools, path=path)


def _is_written(request: LocalRequest, path: str) -> bool:
    calls = [finished for finished in request.calls_of(*_WRITES) if _path_of(finished) == path]
    return any(finished.ok and SKETCH not in str(finished.call.input.get("content")) for finished in calls)


def _path_of(finished: FinishedCall) -> str:
    return str(finished.call.input.get("path", ""))


def read_request(messages: Sequence[Message], tools: Sequence[ToolDefinition], settings: Settings) -> LocalRequest:
    """Read the last request. A message without a `DesignRequest` is an instruction for the same stack."""
    start = max((at for at, message in enumerate(messages) if message.role == "user"), default=0)
    message = messages[start] if messages else Message(role="user", content=[])
    images = [block for block in message.content if isinstance(block, Image)]
    design = design_of(message)
    if design is None:
        earlier_requests = (earlier for message in reversed(messages) if (earlier := design_of(message)) is not None)
        before = next(earlier_requests, DesignRequest())
        words = "\n\n".join(block.text for block in message.content if isinstance(block, Text)).strip()
        design = msgspec.structs.replace(before, instruction=words, element=None, files=[])
    return LocalRequest(
        instruction=design.instruction,
        image=images[0] if images and design.element is None else None,
        images=len(images),
        files={span.path: _text_at(message, span.block)[span.start : span.end] for span in design.files},
        element=design.element,
        tools=tuple(tools) if settings.tool_choice != "none" else (),
        calls=_finished_calls(messages[start + 1 :]),
        stack=design.stack,
        entry=design.entry,
        written=_written_paths(messages),
        hint=PictureHint(design.picture_kind, design.scale),
        pages=tuple(zip(design.pages, images, strict=False)) if design.element is None else (),
    )


def _text_at(message: Message, number: int) -> str:
    block = message.content[number] if number < len(message.content) else None
    return block.text if isinstance(block, Text) else ""


def _finished_calls(messages: Sequence[Message]) -> tuple[FinishedCall, ...]:
    results = {block.id: block for message in messages for block in message.content if isinstance(block, ToolResult)}
    calls = [call for message in messages for call in message.tool_calls]
    return tuple(FinishedCall(call, results[call.id]) for call in calls if call.id in results)


def _written_paths(messages: Sequence[Message]) -> tuple[str, ...]:
    paths = [
        str(call.input.get("path", ""))
        for message in messages
        for call in message.tool_calls
        if call.name in ("create_file", "write_file")
    ]
    return tuple(dict.fromkeys(path for path in paths if path and not path.startswith("assets/")))
