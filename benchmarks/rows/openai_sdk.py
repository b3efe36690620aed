"""The official `openai` client, streaming Chat Completions and Responses.

It iterates over the typed chunks of `create(stream=True)`, the cheapest way that the client offers.
"""

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from openai import AsyncOpenAI

from benchmarks.row import API_KEY, Ask, Row, Seen
from benchmarks.scenarios import PROMPT
from benchmarks.tools import FUNCTIONS, TOOLS

_CHAT_TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
    }
    for tool in TOOLS
]
_RESPONSES_TOOLS: list[Any] = [
    {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "strict": False,
    }
    for tool in TOOLS
]


@cache
def _client(base_url: str) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{base_url}/v1", api_key=API_KEY, max_retries=0)


async def converse(ask: Ask) -> Seen:
    client = _client(ask.base_url)
    return await (_chat(client, ask) if ask.wire == "chat" else _responses(client, ask))


async def _chat(client: AsyncOpenAI, ask: Ask) -> Seen:
    messages: list[Any] = [*ask.past, {"role": "user", "content": PROMPT}]
    deltas = 0
    while True:
        text = ask.pieces()
        calls: dict[int, Any] = {}
        stream = await client.chat.completions.create(
            model=ask.model,
            messages=messages,
            tools=_CHAT_TOOLS,
            stream=True,
            stream_options={"include_usage": True},
        )
        async for chunk in stream:
            for choice in chunk.choices:
                if choice.delta.content:
                    deltas += 1
                    text.append(choice.delta.content)
                for fragment in choice.delta.tool_calls or ():
                    call = calls.setdefault(fragment.index, {"arguments": []})
                    if fragment.id:
                        call["id"] = fragment.id
                    if fragment.function and fragment.function.name:
                        call["name"] = fragment.function.name
                    if fragment.function and fragment.function.arguments:
                        deltas += 1
                        call["arguments"].append(fragment.function.arguments)
        if not calls:
            return Seen("".join(text), deltas)
        messages += await _chat_continuation(calls.values())


async def _chat_continuation(calls: Iterable[Any]) -> list[Any]:
    made: list[Any] = []
    results: list[Any] = []
    for call in calls:
        arguments = "".join(call["arguments"])
        made.append({"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}})
        output = await FUNCTIONS[call["name"]](**json.loads(arguments))
        results.append({"role": "tool", "tool_call_id": call["id"], "content": output})
    return [{"role": "assistant", "content": None, "tool_calls": made}, *results]


async def _responses(client: AsyncOpenAI, ask: Ask) -> Seen:
    items: list[Any] = [*ask.past, {"role": "user", "content": PROMPT}]
    deltas = 0
    while True:
        text = ask.pieces()
        results: list[Any] = []
        stream = await client.responses.create(
            model=ask.model, input=items, tools=_RESPONSES_TOOLS, stream=True, store=False
        )
        async for event in stream:
            if event.type == "response.output_text.delta":
                deltas += 1
                text.append(event.delta)
            elif event.type == "response.function_call_arguments.delta":
                deltas += 1
            elif event.type == "response.output_item.done":
                items.append(event.item.model_dump(exclude_none=True))
                if event.item.type == "function_call":
                    output = await FUNCTIONS[event.item.name](**json.loads(event.item.arguments))
                    results.append({"type": "function_call_output", "call_id": event.item.call_id, "output": output})
        if not results:
            return Seen("".join(text), deltas)
        items += results


ROW = Row("openai", "import openai", ("chat", "responses"), converse)
