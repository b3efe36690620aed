"""`run_agent_loop`: one exchange as pairs of an event name and its JSON, in the `loop` dialect.

    async for event, data in run_agent_loop([{"role": "user", "content": "Hello"}], "gpt-4o"):
        yield f"event: {event}\\ndata: {data}\\n\\n"

Messages have the format of the Chat Completions API, or are internal messages (`heald.core.message_forms`): a page
keeps its conversation and sends it each time.
"""

from collections.abc import AsyncGenerator, Sequence
from os import PathLike
from typing import Any

from heald.agent.agent import Agent
from heald.agent.model_chain import ModelLike
from heald.core.json import JsonObject
from heald.core.message_forms import parse_messages, system_texts
from heald.tools.registry import ToolLike
from heald.tools.runtime import Invocation, Next
from heald.tools.tool_output import ToolOutput
from heald.tools.workspace.base import Workspace
from heald_server.protocols.loop.dialect import LoopDialect

_OPENAI = ("gpt-", "chatgpt-", "o1", "o3", "o4")
_FAILED = "Error:"


async def run_agent_loop(
    messages: Sequence[JsonObject],
    model: ModelLike = "gpt-4o",
    *,
    tools: Sequence[ToolLike | str] | None = None,
    workspace: Workspace | str | PathLike[str] | None = None,
    **options: Any,
) -> AsyncGenerator[tuple[str, str], None]:
    """Run one exchange. The last pair is `done`, for every outcome.

    The last message is the request, of role `user`, or the results of calls, of role `tool`. A system message replaces
    the default instructions. Without `tools` the model gets the file tools of `workspace`; without a `workspace` it can
    read the current folder and change nothing. A name such as `gpt-4o` is OpenAI's model over Chat Completions. Other
    options are those of `Agent`. Leaving the loop cancels.
    """
    *history, request = parse_messages(messages, results_last=True)
    system = system_texts(messages)
    if tools is None:
        tools = ["read"] if workspace is None else ["files"]
        workspace = "." if workspace is None else workspace
    agent_options: dict[str, Any] = {"default_instructions": not system, "instructions": system or None, **options}
    agent_options["middleware"] = [*agent_options.get("middleware", ()), _fail_on_error_text]
    async with Agent(_named(model), tools=tools, history=history, workspace=workspace, **agent_options) as agent:
        dialect = LoopDialect(agent.session)
        async for event in agent.stream(request):
            for frame in dialect.feed(event):
                yield frame.event or "", frame.payload.decode()


def _named(model: ModelLike) -> ModelLike:
    if isinstance(model, str) and "/" not in model and model.startswith(_OPENAI):
        return f"openai-chat/{model}"
    return model


async def _fail_on_error_text(invocation: Invocation, run: Next) -> Any:
    """Treat a text that begins with `Error:` as the failure of a function."""
    value = await run(invocation)
    if isinstance(value, str) and value.startswith(_FAILED):
        return ToolOutput(content=value, is_error=True)
    return value
