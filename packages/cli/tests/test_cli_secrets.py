"""Values of `.env` and of the environment at every place where `heald` writes, the setting that shows them, and the
memory of the process."""

import asyncio
import json
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from cli_repository import git, make_repository
from cli_tmux import NEEDS_TMUX, Tmux

import heald_server
from cli_bench import finish, is_one_line_error, run, run_process, run_with, started
from cli_pages import here
from heald.config.paths import user_file
from heald.config.trust import remember
from heald.core.messages import ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply

VALUE = "sk_live_CANARY4eC39HqLyjW"
TOKEN_VALUE = "pg-CANARY-77ab01-never"
MARK = "[hidden: STRIPE_SK of .env]"


@pytest.fixture(autouse=True)
def _secrets() -> None:
    here(".env").write_text(f"STRIPE_SK={VALUE}\nPORT=3000\n")


def calling(*calls: tuple[str, dict[str, Any]]) -> Any:
    """A model that makes one call in each turn, then ends."""

    def reply(request: Any) -> Reply:
        made = sum(message["role"] == "tool" for message in request.body["messages"])
        if made == len(calls):
            return wire_reply("chat", text="Done.")
        name, arguments = calls[made]
        return wire_reply("chat", calls=[ToolCall(id=f"c{made}", name=name, input=arguments)])

    return reply


CAT = ("run_command", {"command": "cat .env"})
EDIT = ("edit_file", {"path": ".env", "old_text": "PORT=3000", "new_text": "PORT=3001"})
FAIL = ("edit_file", {"path": ".env", "old_text": "STRIPE_SK=x\nPORT=3", "new_text": ""})


async def test_a_value_is_in_no_request_event_stream_log_or_export_of_a_server(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        "import logging, os\n"
        "import heald\n"
        "@heald.tool\n"
        "def leak() -> str:\n"
        '    """Leaks."""\n'
        "    text = open('.env').read() + os.environ['PGPASSWORD']\n"
        "    logging.getLogger('heald').warning('It is %s.', text)\n"
        "    raise ValueError(text)\n"
    )
    data = tmp_path / "data"
    tools = ["--tools", "files,shell", "--tool", str(tmp_path / "tools.py"), "--workspace", "."]
    async with ScriptedServer(calling(CAT, EDIT, FAIL, ("leak", {}))) as model:
        place = ["--model", "m", "--base-url", f"{model.url}/v1", "--data", str(data), "--permissions", "auto"]
        words = ["serve", "--port", "0", "--no-open", "--json", "--log", "debug", *place, *tools]
        async with started(*words, env={"PGPASSWORD": TOKEN_VALUE}) as process:
            assert process.stdout is not None
            ready = json.loads(await asyncio.wait_for(process.stdout.readline(), 60))
            session, stream = await asyncio.to_thread(_exchange, ready)
            process.terminate()
            ran = await finish(process)
        sent = [json.dumps(request.body) for request in model.requests]
    exported = await run_process("sessions", "export", session, "--data", str(data))
    assert exported.code == 0, exported.err
    assert "exchange_response" in stream
    assert "It is STRIPE_SK=" in ran.err
    for text in (*sent, stream, ran.out, ran.err, exported.out):
        assert "CANARY" not in text
    assert MARK in sent[-1]
    assert "[hidden: PGPASSWORD of the environment]" in sent[-1]
    assert len(sent) == 5
    assert here(".env").read_text() == f"STRIPE_SK={VALUE}\nPORT=3001\n"


def _exchange(ready: dict[str, Any]) -> tuple[str, str]:
    """Run an exchange over HTTP. Returns the session, and its stream of events as bytes came."""
    headers = {"Authorization": f"Bearer {ready['token']}", "Content-Type": "application/json"}

    def post(path: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(f"{ready['url']}{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    session = post("/sessions", {"workspace": Path.cwd().name})["id"]
    post(f"/sessions/{session}/messages", {"text": "Go."})
    stream = list[str]()
    request = urllib.request.Request(f"{ready['url']}/sessions/{session}/events", headers=headers)
    with urllib.request.urlopen(request, timeout=120) as events:
        for line in events:
            stream.append(line.decode())
            if "exchange_response" in stream[-1]:
                return session, "".join(stream)
    raise AssertionError("The stream ended before the exchange.")


@NEEDS_TMUX
async def test_what_a_chat_adds_to_a_request_is_hidden(tmp_path: Path) -> None:
    """The diff of outside changes, attached files and the output of `!command`."""
    make_repository()
    here("copy.txt").write_text(f"STRIPE_SK={VALUE}\n")
    git("add", "-f", "copy.txt", ".env")
    place = ["--data", str(tmp_path / "data"), "--tools", "files"]
    async with ScriptedServer(lambda _: wire_reply("chat", text="Seen.")) as server:
        words = ["chat", "--model", "m", "--base-url", f"{server.url}/v1", *place]
        async with Tmux(tmp_path, *words) as terminal:
            await terminal.shows("heald with m")
            await terminal.enter("Hello @copy.txt")
            await terminal.shows("Seen.", "cost unknown")
            await asyncio.to_thread(_wait_for_checkpoint, tmp_path / "data")  # from here on a change is another's
            here(".env").write_text(f"STRIPE_SK={VALUE}2\nPORT=3000\n")
            here("copy.txt").write_text(f"A=1\nSTRIPE_SK={VALUE}\nB={VALUE}2\n")
            await terminal.enter("!cat .env")
            await terminal.shows("exit code 0")
            await terminal.enter("And now?")
            await terminal.shows("› And now?")
            while len(server.requests) < 2:
                await terminal.shows("Seen.")
            bodies = [json.dumps(request.body) for request in server.requests[:2]]
    assert "CANARY" not in "".join(bodies)
    assert MARK in bodies[0]
    assert "I ran `cat .env`" in bodies[1]
    assert "+A=1" in bodies[1]


def _wait_for_checkpoint(data: Path) -> None:
    end = time.monotonic() + 60
    while "after " not in _checkpoint_labels(data):
        assert time.monotonic() < end
        time.sleep(0.1)


def _checkpoint_labels(data: Path) -> str:
    """The labels of all checkpoints, in the repository or in the data folder."""
    stores = [Path.cwd(), *(path.parent for path in data.rglob("HEAD") if path.is_file())]
    commands = [["git", "-C", str(store), "log", "--format=%s", "--glob=refs/heald"] for store in stores]
    return "".join(subprocess.run(command, capture_output=True, text=True, check=False).stdout for command in commands)


@pytest.mark.parametrize("way", ["option", "file"])
async def test_the_user_can_show_the_values_of_a_folder(capsys: pytest.CaptureFixture[str], way: str) -> None:
    words = ["--show-secrets-in", "."] if way == "option" else []
    if way == "file":
        user_file().parent.mkdir(parents=True, exist_ok=True)
        user_file().write_text(f'[secrets]\nshow_in = ["{Path.cwd().parent}"]\n')
    async with ScriptedServer(calling(CAT)) as server:
        words = run_with(server, "--workspace", ".", "--permissions", "auto", *words, "Go.")
        assert (await run(capsys, *words)).code == 0
    assert VALUE in json.dumps(server.requests[-1].body)


async def test_a_project_cannot_show_them(capsys: pytest.CaptureFixture[str]) -> None:
    path, content = here("heald.toml"), b'[secrets]\nshow_in = ["."]\n'
    path.write_bytes(content)
    remember(path, content, trusted=True)
    async with ScriptedServer(calling(CAT)) as server:
        ran = await run(capsys, *run_with(server, "--workspace", ".", "--permissions", "auto", "Go."))
    assert (ran.code, is_one_line_error(ran)) == (2, True)
    assert "[secrets] show_in cannot be set by a project" in ran.err
    path.write_bytes(content := b'rule = ["allow read(secrets)"]\n')
    remember(path, content, trusted=True)
    async with ScriptedServer(calling(CAT, ("read_file", {"path": ".env"}))) as server:
        await run(capsys, *run_with(server, "--workspace", ".", "--permissions", "auto", "Go."))
    assert "CANARY" not in json.dumps(server.requests[-1].body)


PROBE = """
import ctypes, json, resource, subprocess, sys
from pathlib import Path
import heald

@heald.tool
def probe() -> str:
    '''Does nothing.'''
    return "ok"

child = "import ctypes, resource; print(ctypes.CDLL(None).prctl(3), resource.getrlimit(resource.RLIMIT_CORE)[1])"
started = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True)
core = resource.getrlimit(resource.RLIMIT_CORE)
Path("probe.json").write_text(json.dumps([ctypes.CDLL(None).prctl(3), core[0], core[1], started.stdout.split()]))
"""
"""Writes whether this process and a child of it can be dumped, and their core limits."""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Only Linux has it.")
@pytest.mark.parametrize("command", ["serve", "run"])
async def test_the_memory_of_the_process_cannot_be_dumped_and_children_are_as_usual(
    tmp_path: Path, command: str
) -> None:
    here("probe_tool.py").write_text(PROBE)
    words = ["--tool", "./probe_tool.py", "--workspace", "."]
    async with ScriptedServer(calling(("probe", {}), CAT)) as server:
        if command == "run":
            all_words = run_with(server, *words, "--tools", "shell", "--permissions", "auto", "Go.")
            async with started(*all_words) as process:
                assert (await finish(process)).code == 0
            assert MARK in json.dumps(server.requests[-1].body)  # the sandbox works
        else:
            place = ["--data", str(tmp_path / "data"), "--port", "0", "--no-open", "--json"]
            async with started("serve", *place, *words) as process:
                assert process.stdout is not None
                assert json.loads(await asyncio.wait_for(process.stdout.readline(), 60))["ready"]
                process.terminate()
                await finish(process)
    dumpable, soft, hard, child = json.loads(here("probe.json").read_text())
    assert (dumpable, soft) == (0, 0)
    assert child == ["1", str(hard)]  # dumpable, and free to raise its limit


def test_the_client_has_no_token_in_its_words() -> None:
    agent = heald_server.connect("http://127.0.0.1:1/#token=CANARY")
    assert "CANARY" not in repr(agent)
