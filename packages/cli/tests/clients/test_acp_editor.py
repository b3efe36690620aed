"""`heald acp` with the capabilities of the editor: its files, its terminal, its MCP servers, its own tools."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, schema
from acp_bench import SECONDS, Agent, Editor, files, started, text

from heald.commands.edit_formats import store_edit_format
from heald.core.messages import ToolCall
from heald.providers.model import Model
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply

MCP_SERVER = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("numbers")


@server.tool()
def double(number: int) -> str:
    "Double a number."
    return f"twice is {2 * number}"


server.run("stdio")
"""
COUNT = {
    "name": "count_tabs",
    "description": "Counts the open tabs of the editor.",
    "inputSchema": {"type": "object", "properties": {"window": {"type": "integer"}}, "required": ["window"]},
}


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    folder = tmp_path / "project"
    folder.mkdir()
    return Editor(folder)


def answer(words: str) -> Reply:
    return wire_reply("chat", text=words)


def call(name: str, key: str = "call_1", **arguments: Any) -> Reply:
    return wire_reply("chat", calls=[ToolCall(id=key, name=name, input=arguments)])


async def ask(agent: Agent, editor: Editor, words: str = "Go", **opening: Any) -> schema.PromptResponse:
    opening.setdefault("mcp_servers", [])
    session = await agent.connection.new_session(cwd=str(editor.folder), **opening)
    async with asyncio.timeout(SECONDS):
        return await agent.connection.prompt(session_id=session.session_id, prompt=text(words))


def result_of(model: ScriptedServer, request: int = 1) -> str:
    """The last result that a request shows the model."""
    return str(model.requests[request].body["messages"][-1]["content"])


# --- files ------------------------------------------------------------------------------------------------------------


async def test_unsaved_buffer_is_what_the_model_reads_and_edits(editor: Editor) -> None:
    path = editor.folder / "a.txt"
    path.write_text("saved\n")
    editor.buffers[str(path)] = "typed but not saved\n"
    script = [
        call("read_file", "call_1", path="a.txt"),
        call("edit_file", "call_2", path="a.txt", old_text="not saved", new_text="kept"),
        answer("Done."),
    ]
    async with ScriptedServer(script) as model, started(editor, model, capabilities=files()) as agent:
        assert (await ask(agent, editor)).stop_reason == "end_turn"
        assert "typed but not saved" in result_of(model)
        assert editor.writes == [(str(path), "typed but kept\n")]
        edit = editor.call("edit_file")
        assert edit["content"][0]["old_text"] == "typed but not saved\n"
        assert edit["content"][0]["new_text"] == "typed but kept\n"


async def test_new_file_in_a_new_folder_is_written_by_the_editor(editor: Editor) -> None:
    script = [call("create_file", path="src/new/a.txt", content="x\n"), answer("Done.")]
    async with ScriptedServer(script) as model, started(editor, model, capabilities=files()) as agent:
        await ask(agent, editor)
        assert editor.writes == [(str(editor.folder / "src/new/a.txt"), "x\n")]
        assert (editor.folder / "src/new/a.txt").read_text() == "x\n"


async def test_editor_that_formats_on_save_does_not_make_the_next_edit_stale(editor: Editor) -> None:
    class Formatting(Editor):
        async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> None:
            await super().write_text_file(session_id, path, content.replace("=", " = "))

    formatting = Formatting(editor.folder)
    (editor.folder / "a.py").write_text("a\n")
    script = [
        call("edit_file", "call_1", path="a.py", old_text="a", new_text="a=1"),
        call("edit_file", "call_2", path="a.py", old_text="a = 1", new_text="a=2"),
        answer("Done."),
    ]
    async with ScriptedServer(script) as model, started(formatting, model, capabilities=files()) as agent:
        await ask(agent, formatting)
        assert (editor.folder / "a.py").read_text() == "a = 2\n"


async def test_change_in_the_editor_after_a_read_is_noticed(editor: Editor) -> None:
    path = editor.folder / "a.txt"
    path.write_text("one\n")

    class Typing(Editor):
        async def request_permission(self, session_id: str, tool_call: Any, options: Any, **_: Any) -> Any:
            self.buffers[str(path)] = "typed meanwhile\n"
            return await super().request_permission(session_id, tool_call, options)

    typing = Typing(editor.folder)
    script = [
        call("read_file", "call_1", path="a.txt"),
        call("write_file", "call_2", path="a.txt", content="over\n"),
        answer("I see."),
    ]
    async with ScriptedServer(script) as model, started(typing, model, capabilities=files()) as agent:
        await ask(agent, typing)
        assert "changed by someone else" in result_of(model, 2)
        assert typing.writes == []


async def test_deletion_and_patch_of_several_files(editor: Editor) -> None:
    (editor.folder / "a.txt").write_text("a\n")
    (editor.folder / "b.txt").write_text("b\n")
    patch = (
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+A\n*** Delete File: b.txt\n"
        "*** Add File: c.txt\n+c\n*** End Patch\n"
    )
    script = [call("apply_patch", patch=patch), answer("Done.")]
    async with ScriptedServer(script) as model, started(editor, model, capabilities=files()) as agent:
        await ask(agent, editor)
        assert {Path(path).name: content for path, content in editor.writes} == {"a.txt": "A\n", "c.txt": "c\n"}
        assert not (editor.folder / "b.txt").exists()


async def test_failed_write_restores_the_other_files_of_a_patch(editor: Editor) -> None:
    class Refusing(Editor):
        async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> None:
            if path.endswith("b.txt"):
                raise RequestError(-32603, "The buffer is locked.")
            await super().write_text_file(session_id, path, content)

    refusing = Refusing(editor.folder)
    (editor.folder / "a.txt").write_text("a\n")
    (editor.folder / "b.txt").write_text("b\n")
    patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+A\n*** Update File: b.txt\n@@\n-b\n+B\n*** End Patch\n"
    script = [call("apply_patch", patch=patch), answer("I see.")]
    async with ScriptedServer(script) as model, started(refusing, model, capabilities=files()) as agent:
        assert (await ask(agent, refusing)).stop_reason == "end_turn"
        assert "The buffer is locked" in result_of(model)
        assert (editor.folder / "a.txt").read_text() == "a\n"
        assert (editor.folder / "b.txt").read_text() == "b\n"


@pytest.mark.parametrize(
    ("path", "why"),
    [("../secret.txt", "relative to the workspace"), (".git/config", "protected"), ("out/secret.txt", "out of the")],
)
async def test_editor_is_not_asked_for_paths_outside_of_the_folder(editor: Editor, path: str, why: str) -> None:
    (editor.folder / "out").symlink_to(editor.folder.parent)
    script = [call("write_file", path=path, content="x"), answer("No.")]
    async with (
        ScriptedServer(script) as model,
        started(editor, model, "--permissions", "auto", capabilities=files()) as agent,
    ):
        await ask(agent, editor)
        assert why in result_of(model)
        assert editor.writes == []
        assert not any("secret" in read for read in editor.reads)


@pytest.mark.parametrize("fault", [RequestError(-32603, "The window is closed."), "wrong type"])
async def test_broken_answer_of_the_editor_is_a_failed_call(editor: Editor, fault: Any) -> None:
    class Broken(Editor):
        async def read_text_file(self, session_id: str, path: str, **_: Any) -> Any:
            if isinstance(fault, Exception):
                raise fault
            return {"content": 7}

    broken = Broken(editor.folder)
    (editor.folder / "a.txt").write_text("on disk")
    script = [call("read_file", path="a.txt"), answer("I could not.")]
    async with ScriptedServer(script) as model, started(broken, model, capabilities=files()) as agent:
        assert (await ask(agent, broken)).stop_reason == "end_turn"
        assert broken.text == "I could not."
        assert "was not read" in result_of(model)
        assert broken.call("read_file")["status"] == "failed"


async def test_editor_that_only_reads_keeps_line_endings_of_the_disk(editor: Editor) -> None:
    path = editor.folder / "a.txt"
    path.write_bytes(b"one\r\ntwo\r\n")
    editor.buffers[str(path)] = "one\ntwo\n"
    script = [call("edit_file", path="a.txt", old_text="two", new_text="three"), answer("Done.")]
    capabilities = files(writes=False)
    async with ScriptedServer(script) as model, started(editor, model, capabilities=capabilities) as agent:
        await ask(agent, editor)
        assert path.read_bytes() == b"one\r\nthree\r\n"
        assert editor.writes == []


async def test_files_of_the_editor_can_be_turned_off(editor: Editor) -> None:
    path = editor.folder / "a.txt"
    path.write_text("saved\n")
    editor.buffers[str(path)] = "typed\n"
    script = [call("read_file", path="a.txt"), answer("Done.")]
    async with (
        ScriptedServer(script) as model,
        started(editor, model, "--no-editor-files", capabilities=files()) as agent,
    ):
        await ask(agent, editor)
        assert "saved" in result_of(model)
        assert editor.reads == []


# --- the terminal -------------------------------------------------------------------------------------------------


async def test_command_runs_in_the_terminal_of_the_editor_if_asked_for(editor: Editor) -> None:
    script = [call("run_command", command="pwd; exit 3"), answer("It failed.")]
    capabilities = files(terminal=True)
    async with (
        ScriptedServer(script) as model,
        started(editor, model, "--terminal", "editor", capabilities=capabilities) as agent,
    ):
        await ask(agent, editor)
        assert len(editor.asked) == 1
        assert f"exit code 3, in the terminal of the editor, unsandboxed\n{editor.folder}" in result_of(model)
        assert editor.call("pwd")["content"] == [{"type": "terminal", "terminal_id": "term-1"}]
        offered = {tool["function"]["name"] for tool in model.requests[0].body["tools"]}
        assert "command_output" not in offered


async def test_command_stays_in_the_sandbox_by_default(editor: Editor) -> None:
    script = [call("run_command", command="echo hi"), answer("Done.")]
    async with ScriptedServer(script) as model, started(editor, model, capabilities=files(terminal=True)) as agent:
        await ask(agent, editor)
        assert editor.terminals == {}


async def test_cancel_and_time_limit_end_the_command(editor: Editor) -> None:
    script = [
        call("run_command", "call_1", command="sleep 60", timeout_s=0.2),
        call("run_command", "call_2", command="sleep 61"),
    ]
    async with (
        ScriptedServer(script) as model,
        started(editor, model, "--terminal", "editor", capabilities=files(terminal=True)) as agent,
    ):
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        running = asyncio.create_task(agent.connection.prompt(session_id=session.session_id, prompt=text("Go")))
        await editor.wait_until(lambda: "term-2" in editor.terminals)
        assert "time limit" in result_of(model)
        await agent.connection.cancel(session_id=session.session_id)
        async with asyncio.timeout(SECONDS):
            assert (await running).stop_reason == "cancelled"
        assert [terminal.killed for terminal in editor.terminals.values()] == [True, True]


async def test_editor_that_cannot_run_commands(editor: Editor) -> None:
    class Refusing(Editor):
        async def create_terminal(self, session_id: str, command: str, *_: Any, **more: Any) -> Any:
            raise RequestError(-32603, "No shell.")

    refusing = Refusing(editor.folder)
    script = [call("run_command", command="ls"), answer("I could not.")]
    async with (
        ScriptedServer(script) as model,
        started(refusing, model, "--terminal", "editor", capabilities=files(terminal=True)) as agent,
    ):
        assert (await ask(agent, refusing)).stop_reason == "end_turn"
        assert "The editor could not run the command: No shell." in result_of(model)


# --- MCP servers and the client's own tools -------------------------------------------------------------------------


async def test_mcp_server_of_the_editor(editor: Editor) -> None:
    (editor.folder / "mcp_numbers.py").write_text(MCP_SERVER)
    server = schema.McpServerStdio(
        name="My numbers!", command=sys.executable, args=[str(editor.folder / "mcp_numbers.py")], env=[]
    )
    broken = schema.McpServerStdio(name="broken", command="/no/such/program", args=[], env=[])
    script = [call("My-numbers__double", number=21), answer("42.")]
    async with ScriptedServer(script) as model, started(editor, model) as agent:
        done = await ask(agent, editor, mcp_servers=[server, broken])
        assert done.stop_reason == "end_turn"
        assert "twice is 42" in result_of(model)
        assert len(editor.asked) == 1
        assert "broken" in editor.text
        assert editor.text.endswith("42.")


async def test_mcp_transports_that_are_not_offered_are_refused(editor: Editor) -> None:
    inside = schema.AcpMcpServer(type="acp", name="inside", server_id="1")
    async with ScriptedServer([answer("Fine.")]) as model, started(editor, model) as agent:
        with pytest.raises(RequestError, match="use stdio, http or sse"):
            await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[inside])
        assert (await ask(agent, editor)).stop_reason == "end_turn"


async def test_tool_that_the_client_runs(editor: Editor) -> None:
    editor.answers["count_tabs"] = {"content": "3 tabs"}
    script = [call("count_tabs", window=1), answer("Three.")]
    async with ScriptedServer(script) as model, started(editor, model) as agent:
        assert (await ask(agent, editor, heald={"tools": [COUNT]})).stop_reason == "end_turn"
        offered = {tool["function"]["name"] for tool in model.requests[0].body["tools"]}
        assert {"count_tabs", "read_file"} <= offered
        [called] = editor.called
        assert (called["method"], called["name"], called["input"]) == ("heald/tool_call", "count_tabs", {"window": 1})
        assert result_of(model) == "3 tabs"
        assert editor.call("count_tabs")["status"] == "completed"
        assert editor.asked == []


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        ({"content": "No window.", "isError": True}, "No window."),
        ({"text": "3"}, "has no `content`"),
        (RequestError(-32603, "It crashed."), "It crashed"),
        ({"content": "x" * 1_100_000}, "1000000 bytes|1,000,000"),
    ],
)
async def test_failed_tool_of_the_client_leaves_the_exchange_unharmed(editor: Editor, outcome: Any, why: str) -> None:
    editor.answers["count_tabs"] = outcome
    script = [call("count_tabs", window=1), answer("I do not know.")]
    async with ScriptedServer(script) as model, started(editor, model) as agent:
        assert (await ask(agent, editor, heald={"tools": [COUNT]})).stop_reason == "end_turn"
        assert re.search(why, result_of(model))
        assert editor.call("count_tabs")["status"] == "failed"


@pytest.mark.parametrize(
    "meta", [{"tools": 5}, {"tools": [{"description": "nameless"}]}, {"tools": [{**COUNT, "name": "read_file"}]}]
)
async def test_client_tools_that_cannot_be_offered_are_refused(editor: Editor, meta: Any) -> None:
    async with ScriptedServer([answer("Fine.")]) as model, started(editor, model) as agent:
        with pytest.raises(RequestError):
            await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[], heald=meta)
        assert (await ask(agent, editor)).stop_reason == "end_turn"


# --- the folder -------------------------------------------------------------------------------------------------------


@pytest.fixture
def repository(editor: Editor) -> None:
    subprocess.run(["git", "init", "-q", "-b", "garden", str(editor.folder)], check=True)
    (editor.folder / "plants.py").write_text("def water_all_plants():\n    pass\n")


@pytest.mark.usefixtures("repository")
async def test_the_folder_is_described_and_hooks_run(editor: Editor, tmp_path: Path) -> None:
    settings = tmp_path / "config" / "heald" / "heald.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[hooks]\nbefore = ["create_file: echo not here; exit 1"]\n')
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    script = [call("create_file", path="a.txt", content="x\n"), answer("Done.")]
    async with ScriptedServer(script) as model, started(editor, model, env=env) as agent:
        await ask(agent, editor)
        system = model.requests[0].body["messages"][0]["content"]
        assert "garden" in system
        assert "water_all_plants" in system
        assert "not here" in result_of(model)
        assert not (editor.folder / "a.txt").exists()


async def test_the_format_of_edits_can_be_set(editor: Editor) -> None:
    async with ScriptedServer([answer("Hello.")]) as model, started(editor, model, "--edit-format", "text") as agent:
        await ask(agent, editor)
        assert "tools" not in model.requests[0].body


async def test_the_format_that_conform_kept_is_used(
    editor: Editor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    async with ScriptedServer([answer("Hello.")]) as model:
        store_edit_format(Model("m", wire="chat", base_url=f"{model.url}/v1"), writes_text=True)
        async with started(editor, model) as agent:
            await ask(agent, editor)
        assert "tools" not in model.requests[0].body


async def test_a_script_of_a_hook_that_the_model_changed_does_not_run_with_another_model(
    editor: Editor, tmp_path: Path
) -> None:
    (editor.folder / "check.sh").write_text("exit 0\n")
    change = call("write_file", path="check.sh", content=f"touch {tmp_path}/escaped\n")
    script = [call("read_file", path="check.sh"), change, answer("Done.")]
    script += [call("create_file", path="a.txt", content="x\n"), answer("Done.")]
    words = ["--hook-before", "create_file: sh check.sh", "--permissions", "auto"]
    async with ScriptedServer(script) as model, started(editor, model, *words) as agent:
        session = await agent.connection.new_session(cwd=str(editor.folder), mcp_servers=[])
        await agent.connection.prompt(session_id=session.session_id, prompt=text("Change it"))
        await agent.connection.set_config_option(config_id="model", session_id=session.session_id, value="m")
        await agent.connection.prompt(session_id=session.session_id, prompt=text("Make a file"))
        assert "was changed since the start" in model.requests[-1].body["messages"][-1]["content"]
    assert not (tmp_path / "escaped").exists()
