"""A folder in `heald serve`: notes for agents, skills, hooks, the map and the kept edit format, and trust in them."""

import asyncio
import json
import subprocess
import urllib.request
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import heald_server
from cli_bench import run_process, started
from cli_pages import here
from heald.core.messages import ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply


def writer(request: Any) -> Reply:
    """Write a file twice, then end."""
    calls = sum(message["role"] == "tool" for message in request.body["messages"])
    if calls == 2 or "tools" not in request.body:
        return wire_reply("chat", text="Done.")
    content = {"path": f"made{calls}.txt", "content": "x\n"}
    return wire_reply("chat", calls=[ToolCall(id=f"c{calls}", name="create_file", input=content)])


@asynccontextmanager
async def serving(
    model: ScriptedServer, *words: str
) -> AsyncGenerator[tuple[dict[str, Any], asyncio.subprocess.Process]]:
    """`heald serve` on this folder as a process, with what it printed when it was ready."""
    place = ["--model", "m", "--base-url", f"{model.url}/v1", "--permissions", "auto", "--workspace", "."]
    async with started("serve", "--port", "0", "--no-open", "--json", *place, *words) as process:
        assert process.stdout is not None
        async with asyncio.timeout(120):
            yield json.loads(await process.stdout.readline()), process
        process.terminate()
        await asyncio.wait_for(process.communicate(), 120)


def create_session(ready: dict[str, Any], **settings: str) -> str:
    headers = {"Authorization": f"Bearer {ready['token']}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{ready['url']}/sessions", json.dumps(settings).encode(), headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.loads(answer.read())["id"]


async def ask(ready: dict[str, Any], prompt: str = "Write a file.", **settings: str) -> None:
    """Make a session and let it answer one request."""
    session = await asyncio.to_thread(create_session, ready, **settings)
    async with heald_server.connect(ready["url"], ready["token"], session=session) as agent:
        result = await agent.run(prompt)
        assert result.status == "completed", result


def make_project() -> None:
    subprocess.run(["git", "init", "-q"], check=True)
    here("AGENTS.md").write_text("Write tests first.\n")
    here("code.py").write_text("class Bakery:\n    def bake(self, loaves): ...\n")
    here("use.py").write_text("from code import Bakery\nBakery().bake(3)\n")
    skill = here(".heald/skills/release")
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\ndescription: How to make a release\n---\nTag it.\n")


async def test_a_served_folder_has_what_chat_has_once_it_is_trusted(tmp_path: Path) -> None:
    make_project()
    log = tmp_path / "log"
    hook = ["--hook-after", f"create_file: pwd >> {log}; exit 1"]
    async with ScriptedServer(writer) as model:
        async with serving(model, *hook) as (ready, process):
            assert process.stderr is not None
            noted = (await process.stderr.readline() + await process.stderr.readline()).decode()
            await ask(ready, workspace="work")
        request = model.requests[0].body
        system = request["messages"][0]["content"]
        assert "AGENTS.md has no effect, because it is not trusted" in noted
        assert ".heald has no effect" in noted
        assert "Write tests first." not in system
        assert "read_skill" not in json.dumps(request["tools"])
        assert "class Bakery" in system  # the map
        assert "git repository" in system
        assert log.read_text().split() == [str(Path.cwd())] * 2
        assert "failed with exit code 1" in model.requests[1].body["messages"][-1]["content"]

        assert (await run_process("trust", "--yes")).code == 0
        model.requests.clear()
        async with serving(model, "--no-repo-map") as (ready, _):
            await ask(ready, workspace="work", instructions="Be brief.")
            request = model.requests[0].body
            system = request["messages"][0]["content"]
            assert "Write tests first." in system
            assert "Be brief." in system
            assert "release: How to make a release" in system
            assert "read_skill" in json.dumps(request["tools"])
            assert "class Bakery" not in system
            model.requests.clear()
            await ask(ready, instructions="Be brief.")  # a session that keeps its files itself
            system = model.requests[0].body["messages"][0]["content"]
            assert "Be brief." in system
            assert "Write tests first." not in system


async def test_a_hook_of_a_project_that_is_not_trusted_does_not_run(tmp_path: Path) -> None:
    here("heald.toml").write_text(f'[hooks]\nbefore = ["create_file: touch {tmp_path}/ran; exit 1"]\n')
    async with ScriptedServer(writer) as model:
        async with serving(model) as (ready, _):
            await ask(ready, workspace="work")
        assert not (tmp_path / "ran").exists()
        assert here("made0.txt").exists()
        assert (await run_process("trust", "--yes")).code == 0
        here("made0.txt").unlink()
        async with serving(model) as (ready, _):
            await ask(ready, workspace="work")
    assert (tmp_path / "ran").exists()
    assert not here("made0.txt").exists()


async def test_a_script_of_a_hook_that_the_model_changed_does_not_run(tmp_path: Path) -> None:
    here("check.sh").write_text("exit 0\n")

    def changer(request: Any) -> Reply:
        if request.body["messages"][-1]["role"] == "tool":
            return wire_reply("chat", text="Done.")
        read = ToolCall(id="c0", name="read_file", input={"path": "check.sh"})
        text = f"touch {tmp_path}/escaped\n"
        change = ToolCall(id="c1", name="write_file", input={"path": "check.sh", "content": text})
        return wire_reply("chat", calls=[read, change])

    async with ScriptedServer(changer) as model:
        async with serving(model, "--hook-before", "write_file: sh check.sh") as (ready, _):
            await ask(ready, workspace="work")
            await ask(ready, workspace="work")  # another session, opened after the change
        assert "was changed since the start" in json.dumps(model.requests[-1].body)
    assert not (tmp_path / "escaped").exists()


async def test_the_edit_format_that_conform_kept_is_used() -> None:
    def talk(request: Any) -> Reply:
        if b"greeting.py" in request.content:
            return wire_reply("chat", text="greeting.py\n```\nprint('Good evening')\n```\n")
        return wire_reply("chat", text="I would call a tool.")

    async with ScriptedServer(talk) as model:
        place = ["--base-url", f"{model.url}/v1", "--model", "m"]
        await run_process("conform", *place, "--only", "tool-call", "text-edit")
        async with serving(model) as (ready, _):
            for settings in ({"workspace": "work"}, {}):
                model.requests.clear()
                await ask(ready, "Hello.", **settings)
                assert "tools" not in model.requests[0].body


async def test_files_that_others_changed_are_named_to_the_model(tmp_path: Path) -> None:
    here("code.py").write_text("one = 1\n")
    read = wire_reply("chat", calls=[ToolCall(id="c1", name="read_file", input={"path": "code.py"})])
    script = [read, *(wire_reply("chat", text="Done.") for _ in range(2))]
    async with ScriptedServer(script) as model, serving(model, "--data", str(tmp_path / "data")) as (ready, _):
        session = await asyncio.to_thread(create_session, ready, workspace="work")
        async with heald_server.connect(ready["url"], ready["token"], session=session) as agent:
            await agent.run("Read it.")
            here("code.py").write_text("two = 2\n")
            await agent.run("And now?")
    systems = [str(request.body["messages"][0]["content"]) for request in model.requests]
    assert ["Files that changed" in system for system in systems] == [False, False, True]
    assert "code.py" in systems[-1].partition("Files that changed")[2]
