"""Many tools: offered by name, found by words, called with their own permissions."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

import heald
from heald.core.events import ApprovalRequested
from heald.core.json import JsonObject
from heald.core.messages import ToolCall, ToolDefinition, ToolResult
from heald.providers.token_count import estimate_tokens
from heald.testing import ScriptedModel
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.tool_index import ToolIndex

SERVERS = ("github", "calendar", "mail", "files", "maps", "music", "bank", "weather", "notes", "travel")
THINGS = ("issue", "event", "message", "folder", "route", "track", "payment", "forecast", "page", "ticket")
DESCRIPTION = (
    "{verb} a {thing} of {server}. Use this when the user asks for it; it needs the id that an earlier call returned, "
    "and it answers with the whole record in JSON, as the service has it at this moment."
)
VERBS = ("Create", "Delete", "List", "Update", "Search", "Export", "Copy", "Share", "Archive", "Count")


def service_tools(count: int, ran: list[tuple[str, JsonObject]] | None = None, effect: Any = "read") -> list[Tool]:
    """Tools as MCP servers have them, about 600 bytes each."""
    return [service_tool(at, ran if ran is not None else [], effect) for at in range(count)]


def service_tool(at: int, ran: list[tuple[str, JsonObject]], effect: Any) -> Tool:
    server, thing, verb = SERVERS[at // 10 % 10], THINGS[at // 10 % 10], VERBS[at % 10]
    name = f"{server}__{verb.lower()}_{thing}" + (f"_{at // 100}" if at >= 100 else "")

    async def run(arguments: JsonObject, context: ToolContext) -> str:
        ran.append((context.call.name, arguments))
        return f"{name} ran"

    schema: JsonObject = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": f"the id of the {thing}, as it was returned before"},
            "fields": {"type": "array", "items": {"type": "string"}, "description": "the fields that are returned"},
            "limit": {"type": "integer", "description": "the most entries of the answer"},
        },
        "required": ["id"],
    }
    definition = ToolDefinition(
        name=name, description=DESCRIPTION.format(verb=verb, thing=thing, server=server), input_schema=schema
    )
    return Tool(definition=definition, run=run, effect=effect)


def definitions_in(body: JsonObject) -> list[ToolDefinition]:
    functions = [tool["function"] for tool in body["tools"]]
    return [
        ToolDefinition(name=item["name"], description=item["description"], input_schema=item["parameters"])
        for item in functions
    ]


async def bodies_of(
    tools: Sequence[Any], size: int = 131_072, model_replies: Sequence[Any] = (), **options: Any
) -> tuple[list[JsonObject], heald.AgentResult]:
    """Run an exchange against a server, and return the bodies of its requests."""
    facts = {"/v1/models": {"data": [{"id": "m", "max_model_len": size}]}}
    replies = [*model_replies, wire_reply("chat", text="Done.")]
    async with ScriptedServer(replies, facts=facts) as server:
        model = heald.Model("m", base_url=server.url + "/v1", api_key="no-key")
        result = await heald.Agent(model, tools=tools, **options).run("Delete payment 7.")
        return [request.body for request in server.requests], result


@pytest.mark.parametrize(("count", "most"), [(100, 2500), (1000, 2500)])
async def test_many_tools_take_few_tokens(count: int, most: int) -> None:
    tools = service_tools(count)
    assert estimate_tokens([], [tool.definition for tool in tools]) > 4 * most
    (body,), _ = await bodies_of(tools)
    assert [tool["function"]["name"] for tool in body["tools"]] == ["find_tools", "use_tool"]
    assert estimate_tokens([], definitions_in(body)) <= most


async def test_a_hundred_tools_are_listed_with_a_line_each() -> None:
    (body,), _ = await bodies_of(service_tools(100))
    text = body["tools"][0]["function"]["description"]
    assert all(tool.name in text for tool in service_tools(100))
    assert "- bank__delete_payment: Delete a payment of bank." in text


@pytest.mark.parametrize(
    ("count", "size", "share", "offered"),
    [
        (8, 8192, 0.1, 8),  # so few are always shown
        (12, 131_072, 0.1, 12),  # below a tenth of the context
        (12, 16_384, 0.1, 2),
        (100, 131_072, None, 100),
        (100, 131_072, 1.0, 100),
        (12, 131_072, 0.01, 2),
    ],
)
async def test_the_share_of_the_context_decides(count: int, size: int, share: float | None, offered: int) -> None:
    (body,), _ = await bodies_of(service_tools(count), size=size, tool_search=share)
    assert len(body["tools"]) == offered


async def test_built_in_tools_stay_in_full() -> None:
    (body,), _ = await bodies_of(["files", *service_tools(60)])
    names = [tool["function"]["name"] for tool in body["tools"]]
    assert {"read_file", "edit_file", "find_tools", "use_tool"} <= set(names)
    assert not any("__" in name for name in names)


async def test_a_tool_is_found_and_used_and_the_prompt_only_grows() -> None:
    ran: list[tuple[str, JsonObject]] = []
    calls = [
        ToolCall(id="a", name="find_tools", input={"query": "delete a payment"}),
        ToolCall(id="b", name="use_tool", input={"name": "bank__delete_payment", "arguments": {"id": "7"}}),
    ]
    replies = [wire_reply("chat", calls=[call]) for call in calls]
    bodies, result = await bodies_of(service_tools(100, ran), model_replies=replies)
    assert result.status == "completed"
    assert ran == [("bank__delete_payment", {"id": "7"})]
    assert bodies[0]["tools"] == bodies[1]["tools"] == bodies[2]["tools"]
    for before, after in pairwise(bodies):
        assert after["messages"][: len(before["messages"])] == before["messages"]
    described = bodies[1]["messages"][-1]["content"]
    assert described.startswith("# bank__delete_payment\nDelete a payment of bank.")
    assert '"required":["id"]' in described


def scripted(*calls: tuple[str, JsonObject]) -> ScriptedModel:
    return ScriptedModel([*([ScriptedModel.call(name, **arguments)] for name, arguments in calls), "Done."])


def results(result: heald.AgentResult) -> list[ToolResult]:
    return [block for message in result.messages for block in message.content if isinstance(block, ToolResult)]


async def test_permissions_are_those_of_the_tool_that_is_used() -> None:
    ran: list[tuple[str, JsonObject]] = []
    asked: list[tuple[str, JsonObject]] = []

    def decide(request: ApprovalRequested) -> bool:
        asked.append((request.name, request.input))
        return request.input == {"id": "1"}

    model = scripted(
        ("use_tool", {"name": "bank__create_payment", "arguments": {"id": "1"}}),
        ("use_tool", {"name": "bank__create_payment", "arguments": {"id": "2"}}),
        ("use_tool", {"name": "bank__delete_payment", "arguments": {"id": "1"}}),
    )
    rules = heald.Permissions("ask", rules=["deny bank__delete_payment(*)"])
    agent = heald.Agent(model, tools=service_tools(100, ran, "write"), permissions=rules, on_approval=decide)
    statuses = [result.status for result in results(await agent.run("Pay."))]
    assert asked == [("bank__create_payment", {"id": "1"}), ("bank__create_payment", {"id": "2"})]
    assert statuses == ["ok", "denied", "denied"]
    assert ran == [("bank__create_payment", {"id": "1"})]


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        ({"name": "bank__delete_payments", "arguments": {"id": "1"}}, "unknown_tool", "bank__delete_payment"),
        ({"name": "bank__delete_payment", "arguments": {}}, "invalid_input", "id"),
        ({"name": "bank__delete_payment", "arguments": "none"}, "invalid_input", "must be an object"),
        ({"name": "use_tool", "arguments": {"name": "use_tool"}}, "unknown_tool", "use_tool"),
        ({"arguments": {"id": "1"}}, "invalid_input", "name"),
        ({"name": "bank__delete_payment", "arguments": '{"id": "1"}'}, "ok", "ran"),
    ],
)
async def test_a_wrong_use_runs_nothing(arguments: JsonObject, status: str, text: str) -> None:
    ran: list[tuple[str, JsonObject]] = []
    agent = heald.Agent(scripted(("use_tool", arguments)), tools=service_tools(100, ran))
    (result,) = results(await agent.run("Go."))
    assert result.status == status
    assert text in result.text
    assert len(ran) == (status == "ok")


async def test_a_tool_that_was_found_may_be_called_by_its_name() -> None:
    ran: list[tuple[str, JsonObject]] = []
    agent = heald.Agent(scripted(("mail__list_message", {"id": "1"})), tools=service_tools(100, ran))
    await agent.run("Go.")
    assert ran == [("mail__list_message", {"id": "1"})]


async def test_a_program_with_tools_of_these_names_keeps_them() -> None:
    @heald.tool
    def find_tools(shop: str) -> str:
        """Find hammers."""
        return shop

    (body,), _ = await bodies_of([find_tools, *service_tools(100)])
    assert len(body["tools"]) == 101


async def test_tools_that_were_found_stay_known_after_a_compaction() -> None:
    call = ScriptedModel.call("find_tools", query="bank__delete_payment")
    model = ScriptedModel([[call], "Done. " * 500, "Fine. " * 500, *["Well."] * 12])
    agent = heald.Agent(model, tools=service_tools(100))
    await agent.run("Find it. " + "word " * 3000)
    await agent.run("And? " + "word " * 3000)
    assert await agent.compact() is not None
    await agent.run("Go on.")
    offered = [[tool.name for tool in request.tools] for request in model.requests]
    assert offered[1] == ["find_tools", "use_tool"]
    assert offered[-1][:3] == ["find_tools", "use_tool", "bank__delete_payment"]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("delete a payment", "bank__delete_payment"),
        ("list the events of my calendar", "calendar__list_event"),
        ("weather forecasts", "weather__"),
        ("mail__share_message", "mail__share_message"),
        ("creating github issues", "github__create_issue"),
    ],
)
def test_the_best_tool_comes_first(query: str, first: str) -> None:
    index = ToolIndex([tool.definition for tool in service_tools(100)])
    assert index.find(query, 5)[0].name.startswith(first)


def test_what_fits_nothing_finds_nothing() -> None:
    index = ToolIndex([tool.definition for tool in service_tools(100)])
    assert index.find("xylophone", 5) == []
    assert index.find("", 5) == []
    assert ToolIndex([]).find("delete", 5) == []


async def test_a_small_model_is_offered_the_tools_that_its_request_needs() -> None:
    ran: list[tuple[str, JsonObject]] = []
    tools = service_tools(100, ran)
    facts = {"/v1/models": {"data": [{"id": "tiny-1b", "max_model_len": 32_768}]}}
    replies = [
        wire_reply("chat", calls=[ToolCall(id="1", name="find_tools", input={"query": "archive a page of notes"})]),
        wire_reply("chat", calls=[ToolCall(id="2", name="notes__archive_page", input={"id": "7"})]),
        wire_reply("chat", text="Done."),
        wire_reply("chat", text="Nothing to do."),
    ]
    async with ScriptedServer(replies, facts=facts) as server:
        model = heald.Model("tiny-1b", base_url=f"{server.url}/v1", api_key="none")
        async with heald.Agent(model, tools=tools) as agent:
            await agent.run("List the tracks of my music.")
            await agent.run("Hello.")
        bodies = [request.body for request in server.requests]
    offered = [[definition.name for definition in definitions_in(body)] for body in bodies]
    assert offered[0][:2] == ["find_tools", "music__list_track"]
    assert len(offered[0]) <= 9
    assert "use_tool" not in offered[0]
    assert "notes__archive_page" not in offered[0]
    assert "notes__archive_page" in offered[1]  # found
    assert "Call one by its name." in str(bodies[1]["messages"][-1]["content"])
    assert ran == [("notes__archive_page", {"id": "7"})]
    assert "notes__archive_page" in offered[3]  # it stays offered
    assert estimate_tokens([], definitions_in(bodies[0])) <= 2_500


@heald.tool
def weather(city: str) -> str:
    """Weather of a city."""
    return f"{city}: sun"


@heald.tool
def book(title: str) -> str:
    """Author and year of a book."""
    return f"{title}: Jane Austen, 1815"


async def offered_to_small_model(
    tools: Sequence[Any], replies: Sequence[Any], request: str
) -> tuple[list[list[str]], heald.AgentResult]:
    """Run a request with a small model, and return the names of the tools in each request to it."""
    facts = {"/v1/models": {"data": [{"id": "tiny-1b", "max_model_len": 32_768}]}}
    async with ScriptedServer(replies, facts=facts) as server:
        model = heald.Model("tiny-1b", base_url=f"{server.url}/v1", api_key="none")
        async with heald.Agent(model, tools=tools) as agent:
            result = await agent.run(request)
        bodies = [request.body for request in server.requests]
    return [[definition.name for definition in definitions_in(body)] for body in bodies], result


async def test_tools_of_the_program_stay_in_full_and_in_their_order() -> None:
    offered, _ = await offered_to_small_model(
        [weather, *service_tools(100), book], [wire_reply("chat", text="Jane Austen.")], "Who is the author of Emma?"
    )
    assert offered == [["find_tools", "weather", "book"]]  # the author is a word of one of them, so no others are added
    (body,), _ = await bodies_of([weather, *service_tools(100), book])
    assert [tool["function"]["name"] for tool in body["tools"]] == ["weather", "book", "find_tools", "use_tool"]
    assert estimate_tokens([], definitions_in(body)) <= 2_500


async def test_many_tools_of_the_program_are_searched_too() -> None:
    tools = service_tools(20)
    plain = [replace(tool, definition=replace(tool.definition, name=tool.name.replace("__", "_"))) for tool in tools]
    (body,), _ = await bodies_of(plain, size=16_384)
    assert [tool["function"]["name"] for tool in body["tools"]] == ["find_tools", "use_tool"]


async def test_a_tool_that_resembles_no_other_is_offered_without_a_word_of_it() -> None:
    tools = service_tools(100)
    other = replace(weather, definition=replace(weather.definition, name="sky__report"))
    tools.insert(50, other)
    offered, _ = await offered_to_small_model(tools, [wire_reply("chat", text="Yes.")], "Do I need an umbrella?")
    assert offered == [["find_tools", "sky__report"]]


async def test_a_search_that_a_small_model_writes_as_text_is_made_and_a_reminder_changes_no_tools() -> None:
    search = '{"name": "find_tools", "arguments": {"query": "archive a page of notes"}}'
    replies = [
        wire_reply("chat", text="I will now search for more tools."),  # reminded, in words that other tools have
        wire_reply("chat", text=f"```json\n{search}\n```"),
        wire_reply("chat", text="Done."),
    ]
    offered, result = await offered_to_small_model(service_tools(100), replies, "List the tracks of my music.")
    assert offered[0] == offered[1]
    assert [item.name for item in results(result)] == ["find_tools"]
    assert "notes__archive_page" in offered[2]
