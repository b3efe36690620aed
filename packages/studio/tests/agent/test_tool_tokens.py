"""What tools cost: the tokens of each profile, printed and bounded."""

import pytest

import heald
from heald.agent.instructions import DEFAULT
from heald.core.messages import ToolDefinition
from heald.providers.token_count import estimate_tokens
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.compact import compact_definitions
from heald.tools.families import named_tools
from heald_studio.tools.family import studio_tools, useful_tools

CHAT_COMPACT, TEXT_BUILD = 900, 1200


def definitions_of(names: list[str]) -> list[ToolDefinition]:
    of_studio = {tool.name: tool for tool in studio_tools(lambda: None)}  # pyright: ignore[reportArgumentType]
    builtin = named_tools([name for name in names if name not in of_studio])
    return [tool.definition for tool in (*builtin, *(of_studio[name] for name in names if name in of_studio))]


def test_the_tokens_of_each_profile(capsys: pytest.CaptureFixture[str]) -> None:
    everything = named_tools(["all"])
    profiles = {
        "chat, full": [tool.definition for tool in everything],
        "chat, compact": compact_definitions(everything),
        "files, full": definitions_of(["files"]),
        "files, compact": compact_definitions(named_tools(["files"])),
        "build from text": definitions_of(useful_tools(pictures=False, files=False, links=False)),
        "build from a picture": definitions_of(useful_tools(pictures=True, files=False, links=False)),
        "update": definitions_of(useful_tools(pictures=False, files=True, links=False)),
    }
    tokens = {name: estimate_tokens([], definitions) for name, definitions in profiles.items()}
    instructions = estimate_tokens([heald.user_message(DEFAULT)])
    with capsys.disabled():
        print()
        for name, count in tokens.items():
            print(f"{name:22}{len(profiles[name]):4} tools {count:6,} tokens")
    assert tokens["chat, compact"] + instructions <= CHAT_COMPACT
    assert tokens["build from text"] <= TEXT_BUILD


@pytest.mark.parametrize(("size", "profile", "tools"), [(4096, "auto", 9), (131_072, "auto", 15), (4096, "full", 15)])
async def test_the_profile_follows_the_context(size: int, profile: str, tools: int) -> None:
    facts = {"/v1/models": {"data": [{"id": "m", "max_model_len": size}]}}
    async with ScriptedServer([wire_reply("chat", text="Hello.")] * 2, facts=facts) as server:
        model = heald.Model("m", base_url=server.url + "/v1", api_key="no-key")
        agent = heald.Agent(model, tools=["all"], tool_profile=profile)  # pyright: ignore[reportArgumentType]
        await agent.run("Hello.")
        assert len(server.requests[0].body["tools"]) == tools


async def test_a_tool_of_a_program_stays_as_it_is() -> None:
    @heald.tool
    async def read_file(path: str, page: int = 1) -> str:
        """Read a page of a book.

        Args:
            page: The page, counted from 1.
        """
        return path

    model = heald.testing.ScriptedModel(["Yes."])
    agent = heald.Agent(model, tools=[read_file], tool_profile="compact")
    await agent.run("Hello.")
    assert model.requests[0].tools == [agent.tools[0].definition]


async def test_a_compact_tool_accepts_its_other_arguments() -> None:
    call = heald.testing.ScriptedModel.call
    model = heald.testing.ScriptedModel([[call("search_files", pattern="b", context=1)], "Found."])
    workspace = heald.MemoryWorkspace({"a.txt": "a\nb\nc\n"})
    agent = heald.Agent(model, tools=["files"], workspace=workspace, tool_profile="compact")
    await agent.run("Search.")
    assert "a.txt" in agent.messages[2].content[0].text  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
