"""What many tools cost in each request, described in full and found by a search.

    python -m benchmarks.tool_search [--tools FOLDER] [--queries FILE]

`FOLDER` holds a JSON file for each tool with `name`, `description` and `inputSchema`, as MCP servers list them. `FILE`
has a line for each task: the name of the tool that it needs, a tab, and the task in words. Without them the tools are
made up. Tokens are estimated from the bytes of the definitions.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import heald
from heald.core.json import JsonObject
from heald.core.messages import ToolDefinition
from heald.providers.token_count import estimate_tokens
from heald.testing import ScriptedModel
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.tool_index import ToolIndex

COUNTS = (10, 100, 1000)
THINGS = ("issue", "event", "message", "folder", "route", "track", "payment", "forecast", "page", "ticket")
VERBS = ("create", "delete", "list", "update", "search", "export", "copy", "share", "archive", "count")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=Path, help="a folder with a JSON file for each tool")
    parser.add_argument("--queries", type=Path, help="tasks with the tools that they need")
    options = parser.parse_args()
    definitions = read_definitions(options.tools) if options.tools else made_definitions(max(COUNTS))
    counts = sorted({count for count in COUNTS if count < len(definitions)} | {len(definitions)})
    print(f"{'tools':>6}{'in full':>10}{'searched':>10}   tokens of definitions in each request")
    for count in counts:
        full, searched = (asyncio.run(tokens_of(definitions[:count], share)) for share in (None, 0.1))
        print(f"{count:>6}{full:>10,}{searched:>10,}")
    if options.queries:
        rank_queries(definitions, options.queries)


def read_definitions(folder: Path) -> list[ToolDefinition]:
    listed = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return [
        ToolDefinition(name=tool["name"], description=tool["description"], input_schema=tool["inputSchema"])
        for tool in listed
    ]


def made_definitions(count: int) -> list[ToolDefinition]:
    return [made_definition(at) for at in range(count)]


def made_definition(at: int) -> ToolDefinition:
    verb, thing, service = VERBS[at % 10], THINGS[at // 10 % 10], f"service{at // 100}"
    text = (
        f"{verb.capitalize()} one {thing} or several ones of {service}. The answer has the whole record as JSON. " * 2
    )
    properties = {
        name: {"type": "string", "description": f"the {name} of the {thing}, as an earlier call returned it"}
        for name in ("id", "owner", "title", "text")
    }
    schema: JsonObject = {"type": "object", "properties": properties, "required": ["id"]}
    return ToolDefinition(name=f"{service}__{verb}_{thing}", description=text, input_schema=schema)


async def tokens_of(definitions: Sequence[ToolDefinition], share: float | None) -> int:
    """The tokens of the definitions in the first request of an agent with these tools."""
    model = ScriptedModel(["Done."])
    await heald.Agent(model, tools=[Tool(definition=item, run=answer) for item in definitions], tool_search=share).run(
        "Go."
    )
    return estimate_tokens([], model.requests[0].tools)


async def answer(_: JsonObject, __: ToolContext) -> str:
    return "done"


def rank_queries(definitions: Sequence[ToolDefinition], queries: Path) -> None:
    """Print how often the tool that a task needs is among those that its words find."""
    index = ToolIndex(definitions)
    tasks = [line.split("\t", 1) for line in queries.read_text().splitlines() if line.strip()]
    ranks: list[int] = []
    for name, words in tasks:
        names = [definition.name for definition in index.find(words, 15)]
        ranks.append(names.index(name) + 1 if name in names else 99)
        if ranks[-1] > 15:
            print(f"not found: {name}: {words!r} gave {', '.join(names[:5])}")
    first, five, fifteen = (sum(rank <= most for rank in ranks) for most in (1, 5, 15))
    print(f"{len(tasks)} tasks: the tool is the first in {first}, described in {five}, named in {fifteen}")


if __name__ == "__main__":
    main()
