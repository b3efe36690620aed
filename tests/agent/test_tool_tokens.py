"""What tools cost: the tokens of each profile, printed and bounded."""

import pytest

import weft
from weft.agent.agent import DEFAULT
from weft.core.messages import ToolDefinition
from weft.providers.token_count import estimate_tokens
from weft.studio.tools.family import studio_tools, useful_tools
from weft.testing.server import ScriptedServer
from weft.testing.streams import wire_reply
from weft.tools.builtin import named_tools
from weft.tools.compact import compact_definitions

CHAT_COMPACT, TEXT_BUILD = 900, 1200


def definitions_of(names: list[str]) -> list[ToolDefinition]:
    own = {tool.name: tool for tool in studio_tools(lambda: None)}  # pyright: ignore[reportArgumentType]
    builtin = named_tools([name for name in names if name not in own])
    return [tool.definition for tool in (*builtin, *(own[name] for name in names if name in own))]


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
    instructions = estimate_tokens([weft.user_message(DEFAULT)])
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
        model = weft.Model("m", base_url=server.url + "/v1", api_key="no-key")
        agent = weft.Agent(model, tools=["all"], tool_profile=profile)  # pyright: ignore[reportArgumentType]
        await agent.run("Hello.")
        assert len(server.requests[0].body["tools"]) == tools


async def test_a_tool_of_a_program_stays_as_it_is() -> None:
    @weft.tool
    async def read_file(path: str, page: int = 1) -> str:
        """Read a page of a book.

        Args:
            page: The page, counted from 1.
        """
        return path

    agent = weft.Agent(weft.ScriptedModel(["Yes."]), tools=[read_file], tool_profile="compact")
    assert agent.engine.definitions == [agent.runtime.registry.definitions[0]]


async def test_a_compact_tool_accepts_its_other_arguments() -> None:
    call = weft.ScriptedModel.call
    model = weft.ScriptedModel([[call("search_files", pattern="b", context=1)], "Found."])
    workspace = weft.MemoryWorkspace({"a.txt": "a\nb\nc\n"})
    agent = weft.Agent(model, tools=["files"], workspace=workspace, tool_profile="compact")
    await agent.run("Search.")
    assert "a.txt" in agent.messages[2].content[0].text  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
