"""Files through an agent: edits of one message, literal texts, and tools of an MCP server beside them."""

from pathlib import Path

import pytest

import heald
from heald.agent.agent import Agent
from heald.core.events import FileChanged, ToolExecuting
from heald.core.messages import Image
from log_support import Log, call, played, results_of, scripted
from mcp_host import forked_command

SERVER = Path(__file__).parent.parent / "tools" / "mcp" / "mcp_real_server.py"


@pytest.fixture(params=["memory", "disk"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path if request.param == "disk" else None


async def test_two_edits_of_one_file_in_one_message_are_both_right(place: Path | None) -> None:
    result, log = await played(
        [call("create_file", path="a.py", content="x = 1\ny = 2\n")],
        [
            call("edit_file", path="a.py", old_text="x = 1", new_text="x = 10\nz = 0"),
            call("edit_file", path="./a.py", old_text="y = 2", new_text="y = 20"),
        ],
        "Done.",
        tools=["files"],
        workspace=place,
    )
    assert result.files == {"a.py": "x = 10\nz = 0\ny = 20\n"}
    assert [tool_result.status for tool_result in results_of(result.messages)] == ["ok"] * 3
    assert [change.revision for change in log.of(FileChanged)] == [1, 2, 3]
    if place is not None:
        assert (place / "a.py").read_text() == result.files["a.py"]


async def test_a_file_made_and_edited_in_one_message(place: Path | None) -> None:
    result, _ = await played(
        [
            call("create_file", path="a.txt", content="one"),
            call("edit_file", path="a.txt", old_text="one", new_text="two"),
            call("read_file", path="a.txt"),
        ],
        "Done.",
        tools=["files"],
        workspace=place,
    )
    assert result.files == {"a.txt": "two"}
    assert "two" in results_of(result.messages)[2].text


async def test_ten_files_in_one_message(place: Path | None) -> None:
    calls = [call("create_file", path=f"{n}.txt", content=str(n)) for n in range(10)]
    result, log = await played(calls, "Done.", tools=["files"], workspace=place)
    assert result.files == {f"{n}.txt": str(n) for n in range(10)}
    assert len(log.of(ToolExecuting)) == 10


@pytest.mark.parametrize("text", ["$&", "$1 $$ $`", "\\1 \\g<0> \\n", "&amp; %s {0}", "\u2028\u00a0", "a\r\nb", "'\"`"])
async def test_texts_are_literal(text: str, place: Path | None) -> None:
    result, log = await played(
        [call("create_file", path="a.txt", content="before OLD after")],
        [call("edit_file", path="a.txt", old_text="OLD", new_text=text)],
        [call("edit_file", path="a.txt", old_text=text, new_text="NEW")],
        [call("write_file", path="b.txt", content=text)],
        "Done.",
        tools=["files"],
        workspace=place,
    )
    assert [tool_result.status for tool_result in results_of(result.messages)] == ["ok"] * 4
    assert result.files == {"a.txt": "before NEW after", "b.txt": text}
    assert log.of(FileChanged)[1].size == len(f"before {text} after".encode())


async def test_tools_of_an_mcp_server_in_an_agent() -> None:
    pytest.importorskip("mcp", reason="the package mcp is not installed")
    from heald.tools.mcp import McpServer, McpServers

    command, *arguments = forked_command(str(SERVER))
    async with McpServers([McpServer(name="real", command=command, args=tuple(arguments))]) as servers:
        echo, everything = "real__echo", "real__everything"
        model = scripted(
            [call(echo, text="Hello."), call(everything)], [call(echo, words="wrong")], [call("real__none")], "Done."
        )
        agent = Agent(model, tools=servers.tools)
        log = Log(agent)
        result = await agent.run("Go.")
        tool_results = results_of(result.messages)
        assert [tool_result.status for tool_result in tool_results] == ["ok", "ok", "invalid_input", "unknown_tool"]
        assert "Hello." in tool_results[0].text
        assert isinstance(tool_results[1].content, list)
        assert any(isinstance(part, Image) for part in tool_results[1].content)
        log.prove()
        await agent.close()


async def test_mcp_tools_are_asked_about_like_any_other() -> None:
    pytest.importorskip("mcp", reason="the package mcp is not installed")
    from heald.tools.mcp import McpServer, McpServers

    command, *arguments = forked_command(str(SERVER))
    async with McpServers([McpServer(name="real", command=command, args=tuple(arguments))]) as servers:
        rules = heald.Permissions("auto", ["deny real__*"])
        agent = Agent(scripted([call("real__echo", text="x")], "Done."), tools=servers.tools, permissions=rules)
        log = Log(agent)
        (tool_result,) = results_of((await agent.run("Go.")).messages)
        assert tool_result.status == "denied"
        log.prove()
        await agent.close()
