"""The official `anthropic` client, streaming Messages.

It iterates over the typed events of `create(stream=True)`, the cheapest way that the client offers.
"""

import json
from functools import cache
from typing import Any

from anthropic import AsyncAnthropic

from benchmarks.row import API_KEY, Ask, Row, Seen
from benchmarks.scenarios import PROMPT
from benchmarks.tools import FUNCTIONS, TOOLS

_TOOLS: list[Any] = [
    {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in TOOLS
]


@cache
def _client(base_url: str) -> AsyncAnthropic:
    return AsyncAnthropic(base_url=base_url, api_key=API_KEY, max_retries=0)


async def converse(ask: Ask) -> Seen:
    client = _client(ask.base_url)
    messages: list[Any] = [*ask.past, {"role": "user", "content": PROMPT}]
    deltas = 0
    while True:
        text = ask.pieces()
        blocks: dict[int, Any] = {}
        stream = await client.messages.create(
            model=ask.model, max_tokens=64_000, messages=messages, tools=_TOOLS, stream=True
        )
        async for event in stream:
            if event.type == "content_block_delta":
                deltas += 1
                if event.delta.type == "text_delta":
                    text.append(event.delta.text)
                elif event.delta.type == "input_json_delta":
                    blocks[event.index]["json"].append(event.delta.partial_json)
            elif event.type == "content_block_start" and event.content_block.type == "tool_use":
                blocks[event.index] = {
                    "id": event.content_block.id,
                    "name": event.content_block.name,
                    "json": [],
                }
        if not blocks:
            return Seen("".join(text), deltas)
        calls: list[Any] = [
            {
                "type": "tool_use",
                "id": block["id"],
                "name": block["name"],
                "input": json.loads("".join(block["json"])),
            }
            for block in blocks.values()
        ]
        results: list[Any] = []
        for call in calls:
            output = await FUNCTIONS[call["name"]](**call["input"])
            results.append({"type": "tool_result", "tool_use_id": call["id"], "content": output})
        messages += [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]


ROW = Row("anthropic", "import anthropic", ("messages",), converse)
