"""An agent as the client of one scenario of the MCP conformance suite: connects, signs in, and calls every tool.

The suite gives the address of its server as the last argument, and the scenario in the environment.
"""

import asyncio
import json
import os
import sys
import urllib.request
from pathlib import Path
from typing import Any

import heald
from heald.core.events import QuestionAsked
from heald.tools.definitions import Tool
from heald.tools.mcp.sign_in import SignIn
from heald.tools.mcp.token_store import TokenStore

S = heald.testing.ScriptedModel
DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""The client metadata document that the suite knows. It is not fetched."""
ECHO = "suite__json_schema_echo"


async def open_page(server: str, address: str) -> None:
    """Do what a browser does: open the page and follow it to the address that it returns to."""

    def fetch() -> None:
        urllib.request.urlopen(address, timeout=10).read()

    asyncio.get_running_loop().run_in_executor(None, fetch)


async def accept(question: QuestionAsked) -> str:
    return question.suggestions[0]


def value_for(schema: dict[str, Any]) -> Any:
    if "default" in schema:
        return schema["default"]
    match schema.get("type"):
        case "integer" | "number":
            return 5
        case "boolean":
            return True
        case "object":
            return {}
        case "array":
            return []
        case _:
            return schema.get("enum", ["text"])[0]


def arguments_for(tool: Tool) -> dict[str, Any]:
    properties = tool.definition.input_schema.get("properties", {})
    return {name: value_for(field) for name, field in properties.items()}


def calls_for(tools: list[Tool], context: dict[str, Any]) -> list[Any]:
    """The calls that the scenario names, else one of each tool."""
    if "toolCalls" in context:
        return [S.call(f"suite__{call['name']}", **call["arguments"]) for call in context["toolCalls"]]
    schemas = {tool.name: tool.definition.input_schema for tool in tools}
    if ECHO in schemas:
        return [S.call(ECHO, schema=schemas["suite__json_schema_2020_12_tool"])]
    return [S.call(tool.name, **arguments_for(tool)) for tool in tools]


async def main() -> None:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    registered = {key: context[key] for key in ("client_id", "client_secret") if key in context}
    client = registered or {"client_metadata_url": DOCUMENT}
    server = heald.McpServer(name="suite", url=sys.argv[-1], oauth=client)
    folder = Path(os.environ["HEALD_TEST_TOKENS"])
    sign_in = SignIn(open_page, store=lambda url: TokenStore(url, folder))
    async with heald.McpServers([server], sign_in=sign_in) as servers:
        for fault in servers.failures.values():
            raise fault
        calls = calls_for(servers.tools, context)
        model = S([calls, *["An answer."] * 20] if calls else ["Nothing to call."])
        async with heald.Agent(model, tools=[servers], permissions="auto", on_question=accept) as agent:
            await agent.run("Call everything.")


asyncio.run(main())
