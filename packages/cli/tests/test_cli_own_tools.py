"""Tools of one's own without a program: functions, folders and MCP servers, by flag, by file and by `.mcp.json`."""

import asyncio
import json
import shlex
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cli_tmux import NEEDS_TMUX, Tmux

from cli_bench import finish, is_one_line_error, run_process, run_with, started
from heald.config.trust import remember
from heald.core.messages import ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply
from mcp_host import forked_command
from repository import ROOT

NEEDS_VARIABLE = '[mcp.a]\nurl = "http://x"\nrequired = true\nheaders = {A = "${NOT_SET_HERE}"}\n'
MCP_SERVER = ROOT / "packages" / "core" / "tests" / "tools" / "mcp" / "mcp_real_server.py"
TOOLS = '''
import heald

def weather(city: str) -> str:
    """Weather of a city."""
    return f"It is sunny in {city}."

@heald.tool(effect="read")
def clock() -> str:
    """The time."""
    return "It is noon."

@heald.tool
async def bell(times: int) -> str:
    """Ring a bell."""
    return "ding " * times
'''


def answering(*calls: tuple[str, dict[str, Any]]) -> Any:
    """A model that makes these calls at once and then answers with the results."""

    def reply(request: Any) -> Reply:
        results = [message["content"] for message in request.body["messages"] if message["role"] == "tool"]
        if results:
            return wire_reply("chat", text=" | ".join(results))
        made = [ToolCall(id=f"c{at}", name=name, input=arguments) for at, (name, arguments) in enumerate(calls)]
        return wire_reply("chat", calls=made)

    return reply


def offered(server: ScriptedServer) -> list[str]:
    return sorted(tool["function"]["name"] for tool in server.requests[0].body.get("tools", []))


def write(name: str, text: str) -> Path:
    path = Path.cwd() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def typed_server() -> str:
    """The command of an MCP server as a person types it."""
    return shlex.join(forked_command(str(MCP_SERVER)))


def trust(path: Path) -> None:
    remember(path, path.read_bytes(), trusted=True)


@asynccontextmanager
async def http_server() -> AsyncGenerator[str]:
    with socket.socket() as here:
        here.bind(("127.0.0.1", 0))
        port = here.getsockname()[1]
    command = forked_command(str(MCP_SERVER), str(port))
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
    try:
        async with asyncio.timeout(240):
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        await process.wait()


# --- functions -------------------------------------------------------------------------------------------------------


async def test_run_with_a_function_a_module_and_a_folder() -> None:
    write("my_tools.py", TOOLS)
    write("more/dice.py", 'import heald\n\n@heald.tool\ndef dice() -> int:\n    """Roll."""\n    return 4\n')
    calls: list[tuple[str, dict[str, Any]]] = [("weather", {"city": "Oslo"}), ("clock", {}), ("dice", {})]
    async with ScriptedServer(answering(*calls)) as server:
        words = ["--tool", "my_tools", "--tool", "my_tools:weather", "--tool", "./more", "--permissions", "auto"]
        ran = await run_process(*run_with(server, "Go", *words))
    assert (ran.code, ran.out) == (0, "It is sunny in Oslo. | It is noon. | 4\n"), ran.err
    assert offered(server) == ["bell", "clock", "dice", "weather"]


async def test_names_in_tools_replace_the_default_and_tool_adds_to_it() -> None:
    write("my_tools.py", TOOLS)
    async with ScriptedServer(answering(("weather", {"city": "Rome"}))) as server:
        folder = ["--workspace", ".", "--permissions", "auto"]
        await run_process(*run_with(server, "Go", *folder, "--tools", "my_tools:weather,todo"))
        assert offered(server) == ["todo_list", "weather"]
        server.requests.clear()
        await run_process(*run_with(server, "Go", *folder, "--tool", "my_tools:weather"))
        assert {"weather", "read_file", "run_command"} <= set(offered(server))
        server.requests.clear()
        await run_process(*run_with(server, "Go", *folder, "--tools", "none", "--tool", "my_tools:weather"))
        assert offered(server) == []


async def test_a_call_asks_unless_its_tool_only_reads_and_rules_name_it() -> None:
    write("my_tools.py", TOOLS)
    calls: list[tuple[str, dict[str, Any]]] = [("weather", {"city": "Oslo"}), ("clock", {}), ("bell", {"times": 2})]
    async with ScriptedServer(answering(*calls)) as server:
        words = ["--tool", "my_tools", "--tool", "my_tools:weather", "--rule", "allow bell"]
        ran = await run_process(*run_with(server, "Go", *words))
    weather, clock, bell = ran.out.strip("\n").split(" | ")
    assert "There is no terminal for a question" in weather
    assert (clock, bell.strip()) == ("It is noon.", "ding ding")


# --- files of a project ----------------------------------------------------------------------------------------------


async def test_a_project_counts_when_it_is_trusted_and_not_after_its_code_changed() -> None:
    code = write("my_tools.py", TOOLS)
    path = write("heald.toml", 'tool = ["my_tools:weather"]\npermissions = "auto"\n')
    async with ScriptedServer(answering(("weather", {"city": "Oslo"}))) as server:
        words = run_with(server, "Go")
        ran = await run_process(*words)
        assert offered(server) == []
        assert "heald: heald.toml is not trusted and has no effect; `heald trust` shows it and asks.\n" in ran.err
        trust(path)
        assert (await run_process(*words)).out == "It is sunny in Oslo.\n"
        code.write_text(TOOLS + "\nprint('changed by somebody')\n")
        ran = await run_process(*words)
        assert "heald.toml has changed since you trusted it" in ran.err
        assert "changed by somebody" not in ran.out


async def test_mcp_servers_of_a_file_and_of_mcp_json() -> None:
    command, *before = forked_command("")[:-1]
    program = f"command = {json.dumps(command)}\nargs = {json.dumps([*before, str(MCP_SERVER)])}\n"
    toml = write("heald.toml", f'permissions = "auto"\n[mcp.one]\n{program}')
    servers: dict[str, Any] = {
        "two": {"type": "stdio", "command": command, "args": [*before, "${SERVER:-none}"], "env": {}}
    }
    other = write(".mcp.json", json.dumps({"mcpServers": servers}))
    calls = [("one__echo", {"text": "first"}), ("two__echo", {"text": "second"})]
    async with ScriptedServer(answering(*calls)) as server:
        words = run_with(server, "Go")
        ran = await run_process(*words, SERVER=str(MCP_SERVER))
        assert ".mcp.json is not trusted and has no effect" in ran.err
        assert offered(server) == []
        trust(toml)
        trust(other)
        ran = await run_process(*words, SERVER=str(MCP_SERVER))
    assert ran.out == "first | second\n", ran.err


async def test_trust_is_asked_for_both_files() -> None:
    write("heald.toml", 'permissions = "auto"\n')
    other = write(".mcp.json", '{"mcpServers": {}}')
    ran = await run_process("trust", "--yes")
    assert ran.err == "heald: heald.toml is trusted as it is now.\nheald: .mcp.json is trusted as it is now.\n"
    other.write_text('{"mcpServers": {"a": {"command": "b", "type": "pigeon"}}}')
    assert "has the type 'pigeon'" in (await run_process("trust", "--yes")).err


async def test_a_project_does_not_send_a_key_of_the_user_to_its_server() -> None:
    server_table = {"url": "http://x", "headers": {"K": "${OPENAI_API_KEY}"}}
    path = write(".mcp.json", json.dumps({"mcpServers": {"a": server_table}}))
    trust(path)
    async with ScriptedServer([wire_reply("chat", text="Hi.")]) as server:
        ran = await run_process(*run_with(server, "Go"), OPENAI_API_KEY="canary")
    assert ".mcp.json: a: a project's file may not use OPENAI_API_KEY" in ran.err
    assert (ran.code, ran.out) == (0, "Hi.\n")


# --- MCP servers by flag ---------------------------------------------------------------------------------------------


async def test_an_mcp_server_over_stdio_and_one_over_http_by_flag() -> None:
    calls = [("near__echo", {"text": "a"}), ("web__echo", {"text": "b"})]
    async with http_server() as url, ScriptedServer(answering(*calls)) as server:
        words = ["--mcp", f"near={typed_server()}", "--mcp-server", f"web={url}", "--permissions", "auto"]
        ran = await run_process(*run_with(server, "Go", *words))
    assert (ran.code, ran.out) == (0, "a | b\n"), ran.err


async def test_an_optional_server_that_does_not_start_is_reported_and_missing() -> None:
    odd = '[mcp.odd]\ncommand = "sh"\nargs = ["-c", "echo why >&2"]\n'
    toml = write("heald.toml", f'[mcp.gone]\ncommand = "/nowhere/at/all"\n{odd}')
    trust(toml)
    async with ScriptedServer([wire_reply("chat", text="Hi.")]) as server:
        ran = await run_process(*run_with(server, "Go"))
    assert (ran.code, ran.out) == (0, "Hi.\n")
    assert "heald.toml:1: [mcp.gone]: The MCP server 'gone' cannot be started: its command or folder" in ran.err
    assert "heald.toml:3: [mcp.odd]: The MCP server 'odd' ended before it was ready. It printed: why" in ran.err


# --- problems --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--tool", "nowhere:x"], "--tool: There is no module 'nowhere' in "),
        (["--tool", "my_tools:wether"], "--tool: The module 'my_tools' has no 'wether'; did you mean 'weather'?"),
        (["--tool", "my_tools:heald"], "--tool: 'my_tools:heald' is not a tool but a value of type module; name"),
        (["--tool", "broken"], "The module 'broken' cannot be imported (ZeroDivisionError: division by zero, line 2"),
        (["--tool", "wrong"], "--tool: The module 'wrong' cannot be imported (SyntaxError: "),
        (["--tool", "lacking"], "(ModuleNotFoundError: No module named 'not_installed_anywhere'"),
        (["--tool", "leaving"], "--tool: The module 'leaving' cannot be imported (SystemExit: 3"),
        (["--tool", "./empty"], "has no Python file with tools"),
        (["--tool", "untyped:f"], "--tool: The tool 'f': the parameter 'x' has no type; annotate it."),
        (["--tool", "clash"], "--tool: 'clash' has the name 'read_file' of a built-in tool; rename it."),
        (["--tool", "my_tools:clock", "--tool", "twice"], "'twice' has the name 'clock', as has --tool: 'my_tools"),
        (["--tool", "a b"], "--tool: 'a b' names no tool; write it as my_tools:weather"),
        (["--mcp", "x"], "--mcp-server: 'x' names no MCP server; write NAME=COMMAND or NAME=URL."),
        (["--mcp", "a b=ls"], "--mcp-server: The MCP server name 'a b' is not valid"),
        (["--mcp", "x=/no/such/program"], "--mcp-server: The MCP server 'x' cannot be started: its command or"),
        (["--mcp", "x=http://127.0.0.1:9/mcp"], "--mcp-server: The MCP server 'x' could not be reached."),
    ],
)  # fmt: skip
async def test_a_problem_is_one_sentence_with_its_place(words: list[str], reason: str) -> None:
    write("my_tools.py", TOOLS)
    write("broken.py", "x = 1\nx / 0\n")
    write("wrong.py", "def (\n")
    write("lacking.py", "import not_installed_anywhere\n")
    write("leaving.py", "raise SystemExit(3)\n")
    write("untyped.py", "def f(x): return x\n")
    write(
        "clash.py", 'import heald\n\n@heald.tool\ndef read_file(path: str) -> str:\n    """Mine."""\n    return path\n'
    )
    write("twice.py", 'import heald\n\n@heald.tool\ndef clock() -> str:\n    """Another."""\n    return ""\n')
    (Path.cwd() / "empty").mkdir()
    async with ScriptedServer([]) as server:
        ran = await run_process(*run_with(server, "Go", *words))
        assert server.requests == []
    assert ran.code == 2
    assert is_one_line_error(ran), ran.err
    assert reason in ran.err


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('tool = ["../elsewhere"]\n', "heald.toml:1: '../elsewhere' is not in the same folder;"),
        ('[run]\ntool = ["nope"]\n', "heald.toml:2: There is no module 'nope' in "),
        ("[mcp.a]\n", "heald.toml:1: [mcp.a] needs either 'command' or 'url', and not both."),
        ('[mcp.a]\ncommand = "x"\nagrs = []\n', "heald.toml:3: [mcp.a] has an unknown key 'agrs'"),
        ('[mcp.a]\ncommand = "x"\n[mcp.a.env]\nA_TOKEN = "abc"\n', "A_TOKEN looks like a secret"),
        (NEEDS_VARIABLE, "needs the variable NOT_SET_HERE, which is not set"),
    ],
)  # fmt: skip
async def test_a_problem_of_a_file_names_its_line(text: str, reason: str) -> None:
    trust(write("heald.toml", text))
    async with ScriptedServer([]) as server:
        ran = await run_process(*run_with(server, "Go"))
    assert ran.code == 2
    assert is_one_line_error(ran), ran.err
    assert reason in ran.err


def test_a_variable_in_place_of_a_secret_is_none() -> None:
    from heald.config.document import parse_document

    text = '[mcp.a]\nurl = "http://x"\nheaders = {Authorization = "Bearer ${MY_OWN_TOKEN_NAME}"}\n'
    document = parse_document(Path.cwd() / "heald.toml", "user", text.encode())
    assert document.table("mcp", "a")["headers"] == {"Authorization": "Bearer ${MY_OWN_TOKEN_NAME}"}


# --- chat, serve, doctor ---------------------------------------------------------------------------------------------


@NEEDS_TMUX
async def test_chat_with_tools_of_ones_own(tmp_path: Path) -> None:
    write("my_tools.py", TOOLS)
    calls = [("weather", {"city": "Oslo"}), ("real__echo", {"text": "over MCP"})]
    async with ScriptedServer(answering(*calls)) as server:
        words = ["chat", "--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data")]
        words += ["--tool", "my_tools:weather", "--mcp", f"real={typed_server()}"]
        words += ["--mcp", f"same={typed_server()}", "--permissions", "auto"]
        async with Tmux(tmp_path, *words) as terminal:
            await terminal.shows("heald with m")
            await terminal.enter("Go")
            await terminal.shows("It is sunny in Oslo. | over MCP")
            await terminal.enter("/exit")
            await terminal.shows("status 0")
    assert {"weather", "real__echo", "same__echo", "read_file"} <= set(offered(server))


async def test_serve_gives_them_to_its_sessions(tmp_path: Path) -> None:
    write("my_tools.py", TOOLS)
    calls = [("weather", {"city": "Oslo"}), ("real__echo", {"text": "over MCP"})]
    place = [
        "--data",
        str(tmp_path / "data"),
        "--port",
        "0",
        "--json",
        "--no-token",
        "--permissions",
        "auto",
        "--cache",
    ]
    async with ScriptedServer(answering(*calls)) as server:
        serve = ["serve", "--model", "m", "--base-url", f"{server.url}/v1", *place]
        tool_flags = ["--tool", "my_tools:weather", "--mcp", f"real={typed_server()}"]
        async with started(*serve, *tool_flags) as process, httpx2.AsyncClient(timeout=240) as http:
            url = await _ready(process)
            listed = (await http.get(f"{url}/tools")).json()["tools"]
            assert {"weather", "real__echo"} <= {tool["name"] for tool in listed}
            created = (await http.post(f"{url}/sessions", json={})).json()
            assert {"weather", "real__echo"} <= set(created["settings"]["tools"])
            assert created["settings"]["cache"] is True
            session = f"{url}/sessions/{created['id']}"
            await http.post(f"{session}/messages", json={"text": "Go"})
            assert (await _answer(http, session)) == "It is sunny in Oslo. | over MCP"
            process.terminate()
            await finish(process)
        server.requests.clear()
        async with started(*serve) as process, httpx2.AsyncClient(timeout=240) as http:
            session = f"{await _ready(process)}/sessions/{created['id']}"
            assert (await http.patch(session, json={"instructions": "Be brief."})).status_code == 200
            await http.post(f"{session}/messages", json={"text": "And now?"})
            await _answer(http, session)
            assert "weather" not in offered(server)
            assert "read_file" in offered(server)
            process.terminate()
            await finish(process)


async def _ready(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(240):
        return json.loads(await process.stdout.readline())["url"]


async def _answer(http: httpx2.AsyncClient, session: str) -> str:
    async with asyncio.timeout(240):
        while True:
            info = (await http.get(session)).json()
            messages = (await http.get(f"{session}/messages")).json()["messages"]
            if not info["busy"] and messages and messages[-1]["role"] == "assistant":
                return messages[-1]["content"][0]["text"]
            await asyncio.sleep(0.05)


async def test_the_doctor_lists_them() -> None:
    write("my_tools.py", TOOLS)
    command, *arguments = forked_command(str(MCP_SERVER))
    text = 'tool = ["my_tools", "nowhere"]\n[mcp.good]\n'
    text += f'command = {json.dumps(command)}\nargs = {json.dumps(arguments)}\n[mcp.bad]\ncommand = "/nowhere/at/all"\n'
    trust(write("heald.toml", text))
    ran = await run_process("doctor", "--json")
    rows = {row["text"]: (row["name"], row["state"]) for row in json.loads(ran.out)["findings"]}
    assert rows["my_tools (heald.toml:1) gives clock, bell"] == ("own tools", "ok")
    assert ("mcp good", "ok") in rows.values()
    assert ("mcp bad", "wrong") in rows.values()
    assert any(row.startswith("heald.toml:1: There is no module 'nowhere'") for row in rows)
    assert ran.code == 1


async def test_config_lists_the_file_of_servers_and_its_state() -> None:
    path = write(".mcp.json", '{"mcpServers": {}}')
    for state in ("unknown", "trusted"):
        ran = await run_process("config", "--json")
        assert {"place": "project", "file": ".mcp.json", "state": state} in json.loads(ran.out)["files"]
        trust(path)
