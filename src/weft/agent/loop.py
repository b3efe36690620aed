"""`run_agent_loop`: one exchange as pairs of an event name and its JSON, in the `loop` dialect.

    async for event, data in run_agent_loop([{"role": "user", "content": "Hello"}], "openai/gpt-4o"):
        yield f"event: {event}\\ndata: {data}\\n\\n"

Messages have the format of the Chat Completions API: a page keeps its conversation and sends it each time.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from weft.agent.agent import Agent
from weft.agent.engine import ModelLike
from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject, as_object, as_objects, parse_strict
from weft.core.messages import Block, Image, Message, Role, Text, ToolCall, ToolResult
from weft.dialects.loop import LoopDialect
from weft.tools.function_tools import ToolLike

_SYSTEM = ("system", "developer")


async def run_agent_loop(
    messages: Sequence[JsonObject],
    model: ModelLike = "openai/gpt-4o",
    *,
    tools: Sequence[ToolLike | str] = (),
    **options: Any,
) -> AsyncGenerator[tuple[str, str], None]:
    """Run one exchange. The last pair is `done`, for every outcome.

    The last message is the request and has role `user`. Other options are those of `Agent`. Leaving the loop cancels.
    """
    *history, request = parse_messages(messages)
    system = system_texts(messages)
    async with Agent(model, tools=tools, instructions=system or None, history=history, **options) as agent:
        dialect = LoopDialect(agent.session)
        async for event in agent.stream(request):
            for frame in dialect.feed(event):
                yield frame.event or "", frame.payload.decode()


def system_texts(messages: Sequence[JsonObject]) -> list[str]:
    """Return the texts of the system messages."""
    return [_text(message) for message in messages if message.get("role") in _SYSTEM]


def parse_messages(messages: Sequence[JsonObject]) -> list[Message]:
    """Convert all but the system messages. The last one is the request."""
    if not messages or messages[-1].get("role") != "user":
        raise ConfigurationError("The last message must be the request, of role 'user'; put it at the end.")
    conversation: list[Message] = []
    for number, message in enumerate(messages):
        if message.get("role") in _SYSTEM:
            continue
        read = Message(role=_role(message, number), content=_content(message, number))
        if read.role == "tool" and conversation and conversation[-1].role == "tool":  # one message for one turn
            read = Message(role="tool", content=[*conversation.pop().content, *read.content])
        conversation.append(read)
    return conversation


def _role(message: JsonObject, number: int) -> Role:
    match message.get("role"):
        case "user" | "assistant" | "tool" as role:
            return role
        case other:
            raise ConfigurationError(
                f"Message {number} has the role {str(other)[:40]!r}; there are system, user, assistant and tool."
            )


def _content(message: JsonObject, number: int) -> list[Block]:
    if message["role"] == "tool":
        return [ToolResult(id=str(message.get("tool_call_id", "")), status="ok", content=_text(message))]
    content = message.get("content")
    blocks: list[Block] = [Text(content)] if isinstance(content, str) and content else []
    for part in as_objects(content):
        blocks += _part(part)
    return [*blocks, *(_call(call, number) for call in as_objects(message.get("tool_calls")))]


def _part(part: JsonObject) -> list[Block]:
    if part.get("type") == "image_url":
        url = str(as_object(part.get("image_url")).get("url", ""))
        head, _, data = url.partition(";base64,")
        return [Image(media_type=head.removeprefix("data:"), data=data) if data else Image(url=url)]
    text = part.get("text")
    return [Text(text)] if isinstance(text, str) and text else []


def _call(call: JsonObject, number: int) -> ToolCall:
    function = as_object(call.get("function"))
    try:
        arguments = parse_strict(str(function.get("arguments") or "{}"))
    except ValueError as error:
        raise ConfigurationError(f"The arguments of a call in message {number} are no JSON: {error}.") from None
    return ToolCall(id=str(call.get("id", "")), name=str(function.get("name", "")), input=as_object(arguments))


def _text(message: JsonObject) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in as_objects(content) if isinstance(part.get("text"), str))
