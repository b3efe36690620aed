"""The result of an exchange: its typed output, and the page in an answer."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

import msgspec

from weft.core.errors import ConfigurationError, ErrorInfo, WeftError
from weft.core.events import ExchangeResponse, ExchangeStatus
from weft.core.ids import new_id
from weft.core.json import JsonObject, parse_strict
from weft.core.lazy import lazy_pattern
from weft.core.messages import Message, ToolCall
from weft.core.turn import StopReason, Usage
from weft.tools.json_schema import compile_schema
from weft.tools.runtime import ToolRuntime
from weft.tools.schema_budget import SchemaFault
from weft.tools.type_schema import TypeSchema
from weft.tools.validation import repair
from weft.wires.output_schema import WRAPPED

_NOTES = {
    "max_tokens": "The answer was cut off at the output limit.",
    "refusal": "The model refused.",
    "content_filter": "A content filter stopped the answer.",
}


CORRECTIONS = 2
"""How often a model may correct output that does not fit the requested type."""


class AgentResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one exchange."""

    text: str
    """The last text of the model."""
    status: ExchangeStatus
    stop_reason: StopReason
    usage: Usage
    cost: float | None
    """In dollars, with the work of other agents; None if a price is not known."""
    turns: int
    duration_ms: float
    files: dict[str, str]
    """The text files that were written, as they are now."""
    output: Any = None
    """The validated value, if a type was requested."""
    messages: list[Message] = []
    """The messages that the exchange has added to the conversation."""
    error: ErrorInfo | None = None
    limit: str | None = None
    """The budget that ended it."""
    note: str | None = None
    """A remark on an unusual outcome."""
    delegated: Usage | None = None
    exchange: str = ""

    @property
    def completed(self) -> bool:
        return self.status == "completed"

    @classmethod
    def from_response(
        cls,
        response: ExchangeResponse,
        *,
        text: str,
        files: dict[str, str],
        messages: Sequence[Message],
        exchange: str,
        output: Any = None,
    ) -> "AgentResult":
        """Combine the last event of an exchange with what it produced."""
        same = ("status", "stop_reason", "usage", "turns", "duration_ms", "error", "limit", "note", "delegated")
        fields = {name: getattr(response, name) for name in same}
        return cls(
            **fields,
            cost=response.cost_usd,
            text=text,
            files=files,
            output=output,
            messages=list(messages),
            exchange=exchange,
        )


def describe_outcome(
    status: ExchangeStatus, stop_reason: StopReason, text: str, limit: str | None, *, announced: bool = False
) -> str | None:
    """Describe an unusual outcome. `limit` explains the budget that ended the exchange. `announced`: the last message
    ended for tool calls and holds none."""
    if status != "completed":
        return limit
    if announced and stop_reason not in _NOTES:
        return "The model stopped to call a tool and called none; the answer may be unfinished."
    return _NOTES.get(stop_reason) or (None if text.strip() else "The model answered with no text.")


class OutputError(WeftError):
    """The answer of the model is not of the requested type."""

    code = "malformed_response"


class TypedOutput:
    """The value of an answer that was requested with a type."""

    def __init__(self, shape: TypeSchema) -> None:
        self.value: Any = None
        self._shape = shape
        self._corrections = 0

    def read(self, text: str) -> str | None:
        """Read the value of an answer. Returns why it does not fit, and raises OutputError if that is so too often."""
        try:
            self.value = read_output(text, self._shape)
        except ValueError as error:
            self._corrections += 1
            if self._corrections > CORRECTIONS:
                raise OutputError(f"The model's answer is not of the type that was asked for: {error}.") from None
            return str(error)
        return None


def read_output(text: str, shape: TypeSchema) -> Any:
    """Read the value of a JSON answer. Raises ValueError with the problem."""
    body = _without_fence(text.strip())
    if not body:
        raise ValueError("it is empty")
    try:
        value = _parse_answer(body)
    except ValueError as error:
        raise ValueError(f"it is no JSON ({error})") from None
    return _convert(value, shape)


def _parse_answer(text: str) -> Any:
    """Parse the answer, or the last fenced block of it that is JSON: a model without a grammar explains itself."""
    try:
        return parse_strict(text)
    except ValueError:
        for block in reversed(_fenced_blocks(text)):
            with suppress(ValueError):
                return parse_strict(block)
        raise


def _convert(value: Any, shape: TypeSchema) -> Any:
    """Convert a JSON answer. Accepts null for an optional member and the wrapped form of a value that is no object."""
    if isinstance(value, dict) and value.keys() == {WRAPPED} and shape.schema.get("type") != "object":
        value = cast(JsonObject, value)[WRAPPED]
    try:
        return shape.convert(value)
    except ValueError:
        repaired = repair(value, shape.schema)
        if repaired == value:
            raise
        return shape.convert(repaired)


class SchemaShape(TypeSchema):
    """Requested output that only a JSON Schema describes. Its values are plain JSON."""

    def __init__(self, schema: JsonObject) -> None:
        try:
            self._compiled = compile_schema(schema)
        except SchemaFault as error:
            raise ConfigurationError(f"The schema of the output is not a JSON Schema: {error}") from None
        self.kind = Any
        self.schema = schema

    def convert(self, value: Any) -> Any:
        problems = self._compiled.problems(value, 1)
        if problems:
            raise ValueError(f"{problems[0].where or 'the value'}: {problems[0].message}".rstrip("."))
        return value


def output_shape(output: Any) -> TypeSchema | None:
    """Return the shape of the type that was given as `output`, if one was."""
    return output if output is None or isinstance(output, TypeSchema) else TypeSchema(output, "The output")


def _without_fence(text: str) -> str:
    if not (text.startswith("```") and text.endswith("```") and "\n" in text):
        return text
    return text.partition("\n")[2].removesuffix("```").strip()


_PAGE = "index.html"
_BEGIN = lazy_pattern(r"<!doctype html\b|<html\b", re.IGNORECASE)
_FENCE = lazy_pattern(r"[ \t]*(`{3,}|~{3,})")
_MARKUP = lazy_pattern(r"<(?:head|body|main|div|section|svg)\b", re.IGNORECASE)
_END = "</html>"


def html_page_call(text: str, runtime: ToolRuntime) -> ToolCall | None:
    """Return a call that writes the page in an answer, if the agent has a project without files."""
    if not runtime.workspace.is_project or "create_file" not in runtime.registry or runtime.workspace.files():
        return None
    page = extract_html(text)
    if page is None:
        return None
    return ToolCall(id=new_id("final"), name="create_file", input={"path": _PAGE, "content": page})


def extract_html(text: str) -> str | None:
    """Return the page in a text: a document, complete or cut off, or a fenced block of markup."""
    begin = _BEGIN.search(text)
    if begin is None:
        blocks = [block for block in _fenced_blocks(text) if _MARKUP.search(block)]
        return max(blocks, key=len).strip() + "\n" if blocks else None
    end = text.lower().rfind(_END)
    if end > begin.start():
        return text[begin.start() : end + len(_END)] + "\n"
    rest = text[begin.start() :].splitlines(keepends=True)
    closing = next((number for number, line in enumerate(rest) if _FENCE.match(line)), len(rest))
    return "".join(rest[:closing]).strip() + "\n"


def _fenced_blocks(text: str) -> list[str]:
    """Return the fenced code blocks of a markdown text."""
    blocks: list[str] = []
    fence = ""
    inside: list[str] = []
    for line in text.splitlines(keepends=True):
        found = _FENCE.match(line)
        if not fence and found is not None:
            fence, inside = found[1], []
        elif fence and found is not None and found[1].startswith(fence) and not line.strip().strip(fence[0]):
            blocks.append("".join(inside))
            fence = ""
        elif fence:
            inside.append(line)
    return blocks
