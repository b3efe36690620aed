"""Features of MCP servers besides tools, through an agent: the protocol of 2026 and that of 2025."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from mcp_calls import by_name, forked, until

import heald
from heald.core.errors import ConfigurationError
from heald.core.events import QuestionAsked, ToolOutputDelta
from heald.core.messages import Text, ToolResult
from heald.providers.scripted import ScriptedRequest
from heald.tools.approvals import NOBODY
from heald.tools.mcp import McpFault, McpServer, McpServers
from heald.tools.mcp.prompts import McpPrompt, find_prompt

S = heald.testing.ScriptedModel
LEGACY = pytest.mark.parametrize("words", [(), ("legacy",)], ids=["2026", "2025"])


def features(*words: str, **options: Any) -> McpServer:
    return forked("feat", "mcp_feature_server.py", *words, **options)


def answering(*answers: str, asked: list[str] | None = None) -> Any:
    left = list(answers)

    async def on_question(question: QuestionAsked) -> str:
        if asked is not None:
            asked.append(question.text)
        return left.pop(0)

    return on_question


async def result_of(servers: McpServers, name: str, *more: Any, **options: Any) -> str:
    """Let an agent call a tool once and return the text of its result."""
    model = S([[S.call(f"feat__{name}", **options.pop("args", {}))], *more, "done"])
    settings: dict[str, Any] = {"permissions": "auto"} | options
    agent = heald.Agent(model, tools=[servers], **settings)
    async with agent:
        await agent.run("Do it.")
    return last_result(agent)


def last_result(agent: heald.Agent) -> str:
    blocks = [block for message in agent.messages for block in message.content]
    return [block.text for block in blocks if isinstance(block, ToolResult)][-1]


@LEGACY
async def test_a_form_is_asked_field_by_field(words: tuple[str, ...]) -> None:
    asked: list[str] = []
    async with McpServers([features(*words)]) as servers:
        on_question = answering("Fill in", "sunday", "friday", "", "no", asked=asked)
        text = await result_of(servers, "book", on_question=on_question)
    assert "day='friday' people=2 window=False" in text
    assert "'feat' asks: Which table?" in asked[0]
    assert "'sunday' does not fit" in asked[2]


@LEGACY
@pytest.mark.parametrize(
    ("answer", "outcome"), [("Decline", "decline"), (NOBODY, "decline"), ("what?", "cancel"), ("no", "decline")]
)
async def test_a_form_is_declined(words: tuple[str, ...], answer: str, outcome: str) -> None:
    async with McpServers([features(*words)]) as servers:
        assert outcome in await result_of(servers, "book", on_question=answering(answer))


@LEGACY
async def test_the_model_is_asked_with_permission(words: tuple[str, ...]) -> None:
    asked: list[str] = []
    async with McpServers([features(*words)]) as servers:
        on_question = answering("Allow", asked=asked)
        rules = heald.Permissions("ask", ["allow feat__poem"])
        text = await result_of(
            servers, "poem", "Bread, oh bread.", args={"topic": "bread"}, permissions=rules, on_question=on_question
        )
        assert "Bread, oh bread." in text
        assert "A line about bread." in asked[0]
        on_question = answering("Decline")
        text = await result_of(servers, "poem", args={"topic": "x"}, permissions=rules, on_question=on_question)
        assert "did not allow" in text
        rules = heald.Permissions("auto", ["deny feat__sampling"])
        assert "do not permit" in await result_of(servers, "poem", args={"topic": "x"}, permissions=rules)
        assert "Rules need none." in await result_of(servers, "poem", "Rules need none.", args={"topic": "x"})


@LEGACY
async def test_the_model_calls_tools_of_the_server(words: tuple[str, ...]) -> None:
    seen: list[str] = []

    def answer(request: ScriptedRequest) -> str:
        seen.extend(result.text for result in request.messages[-1].content if isinstance(result, ToolResult))
        return "It weaves."

    async with McpServers([features(*words)]) as servers:
        text = await result_of(servers, "research", [S.call("look_up", word="loom")])
        assert "toolUse" in text
        assert "look_up" in text
        assert "loom" in text
        text = await result_of(servers, "conclude", answer)
        assert "endTurn" in text
        assert "It weaves." in text
    assert seen == ["A frame for weaving."]


@LEGACY
@pytest.mark.parametrize(("answer", "outcome"), [("Done", "your files"), ("Decline", "refused")])
async def test_a_page_is_opened_before_a_call(words: tuple[str, ...], answer: str, outcome: str) -> None:
    asked: list[str] = []
    async with McpServers([features(*words)]) as servers:
        assert outcome in await result_of(servers, "files_of_user", on_question=answering(answer, asked=asked))
    assert "https://example.com/sign-in" in asked[0]


@LEGACY
async def test_folders_progress_and_log(
    words: tuple[str, ...], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with McpServers([features(*words)], folders=[tmp_path]) as servers:
        assert tmp_path.as_uri() in await result_of(servers, "folders")
        agent = heald.Agent(S([[S.call("feat__work")], "done"]), tools=[servers], permissions="auto")
        with caplog.at_level(logging.INFO, "heald.mcp"):
            events = [event async for event in agent.stream("Work.")]
    progress = [event.data.text for event in events if isinstance(event.data, ToolOutputDelta)]
    assert progress == ["step 1", "step 2", "step 3"]
    assert "feat: the disk is nearly full" in caplog.text


@LEGACY
async def test_resources(words: tuple[str, ...]) -> None:
    async with McpServers([features(*words)]) as servers:
        assert servers.resources == [("feat", "notes://today", "Notes of today")]
        tools = by_name(servers)
        assert tools["feat__list_resources"].effect == "read"
        assert tools["feat__read_resource"].effect == "any"
        listed = await result_of(servers, "list_resources")
        assert "notes://today Notes of today [text/plain]" in listed
        assert "notes://{day}/all" in listed
        assert "no such resource" in await result_of(servers, "list_resources", args={"pattern": "invoice"})
        assert "Buy bread." in await result_of(servers, "read_resource", args={"uri": "notes://today"})
        assert "Nothing on friday." in await result_of(servers, "read_resource", args={"uri": "notes://friday/all"})
        assert "refused" in await result_of(servers, "read_resource", args={"uri": "notes://nothing"})
        with pytest.raises(ConfigurationError, match="'other'"):
            await servers.read_resource("other", "notes://today")


@LEGACY
async def test_prompts(words: tuple[str, ...]) -> None:
    async with McpServers([features(*words)]) as servers:
        prompt = find_prompt(servers.prompts, "feat:review")
        assert prompt is not None
        assert prompt is not find_prompt(servers.prompts, "feat:view")
        assert prompt.usage == "/feat:review file [tone]"
        assert await servers.get_prompt(prompt, prompt.parse_arguments("a.py")) == [Text("Review a.py in a kind tone.")]
        with pytest.raises(McpFault, match="refused 'nothing'"):
            await servers.get_prompt(McpPrompt("feat", "nothing", "", (), ()), {})


def test_arguments_of_prompts() -> None:
    prompt = McpPrompt("s", "p", "", ("file", "tone"), ("file",))
    assert prompt.parse_arguments("a.py very kind") == {"file": "a.py", "tone": "very kind"}
    assert prompt.parse_arguments("tone=dry 'my file.py'") == {"tone": "dry", "file": "my file.py"}
    assert prompt.parse_arguments("x=1") == {"file": "x=1"}
    with pytest.raises(ConfigurationError, match="needs 'file'"):
        prompt.parse_arguments("tone=dry")
    with pytest.raises(ConfigurationError, match="too much"):
        prompt.parse_arguments("file=a tone=b c")


@LEGACY
async def test_new_tools_are_offered_from_the_next_turn_on(words: tuple[str, ...]) -> None:
    async with McpServers([features(*words)]) as servers:
        model = S([[S.call("feat__grow")], "grown", [S.call("feat__grown")], "done"])
        async with heald.Agent(model, tools=[servers], permissions="auto") as agent:
            await agent.run("Grow.")
            if words:
                return  # that server announces nothing to older clients
            await until(lambda: "feat__grown" in by_name(servers))
            await agent.run("Use it.")
            assert last_result(agent) == "grown"


async def test_requests_of_several_sessions_at_once_are_refused() -> None:
    """A server of 2025 does not name the call that its request belongs to."""
    async with McpServers([features("legacy")]) as servers:
        begun = asyncio.Event()

        async def wait(question: QuestionAsked) -> str:
            begun.set()
            await asyncio.sleep(2)
            return "Use the defaults"

        first = asyncio.create_task(result_of(servers, "book", on_question=wait))
        await begun.wait()
        assert "decline" in await result_of(servers, "book", on_question=answering("Fill in"))
        await first


@LEGACY
async def test_a_cancelled_call_withdraws_its_question(words: tuple[str, ...]) -> None:
    async with McpServers([features(*words)]) as servers:
        agent = heald.Agent(S([[S.call("feat__book")], "done"]), tools=[servers], permissions="auto")
        async with agent:
            exchange = agent.send("Book.")
            await until(lambda: agent.questions)
            exchange.cancel("Enough.")
            await exchange.result()
            await until(lambda: not agent.questions, 5.0)
            assert "feat__work" in by_name(servers)
