"""The memory of `heald chat`: facts with their events, shown and changed by /memory, undone with /undo."""

from pathlib import Path
from typing import Any

from cli_tmux import NEEDS_TMUX, Tmux

from cli_bench import run_process
from cli_pages import here
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply

pytestmark = NEEDS_TMUX


def answer(_: Any) -> Reply:
    return wire_reply("chat", text="It is noted.")


def words(server: ScriptedServer, tmp_path: Path) -> list[str]:
    return ["--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data")]


async def test_facts_are_listed_changed_forgotten_and_undone(tmp_path: Path) -> None:
    async with (
        ScriptedServer(answer) as server,
        Tmux(tmp_path, "chat", *words(server, tmp_path), "--permissions", "auto") as terminal,
    ):
        await terminal.shows("heald with m")
        await terminal.enter("My name is Marta Vidal. Remember that releases are cut on Tuesdays.")
        await terminal.shows("It is noted.")
        await terminal.enter("/memory")
        await terminal.shows("p1  My name is Marta Vidal.  (person; event ", "f1  Releases are cut on Tuesdays.")
        await terminal.enter("/memory edit f1 Releases are cut on Fridays.")
        await terminal.shows("Changed:   f1  Releases are cut on Fridays.")
        await terminal.enter("/memory add The port is 7431.")
        await terminal.shows("Remembered:   f2  The port is 7431.")
        await terminal.enter("/memory forget p1")
        await terminal.shows("Forgotten:   p1  My name is Marta Vidal.")
        await terminal.enter("/undo")
        await terminal.shows("Undone: My name")
        await terminal.enter("/new")
        await terminal.enter("/memory")
        screen = await terminal.shows("f2  The port is 7431.  (project; added by you)")
        assert "Fridays" not in screen.rpartition("A new conversation.")[2]
        await terminal.enter("/memory forget f9")
        await terminal.shows("There is no fact 'f9' in the memory.")


async def test_a_later_conversation_and_run_get_the_facts_and_the_folder_has_no_file(tmp_path: Path) -> None:
    async with ScriptedServer(answer) as server:
        said = b"Remember that releases are cut on Tuesdays.\n"
        await run_process("chat", *words(server, tmp_path), said=said)
        assert "Releases are cut" not in str(server.requests[-1].body["messages"][0])
        await run_process("chat", *words(server, tmp_path), said=b"Hello\n")
        assert "- Releases are cut on Tuesdays. [f1]" in str(server.requests[-1].body["messages"][0])
        names = {tool["function"]["name"] for tool in server.requests[-1].body["tools"]}
        assert {"remember", "forget"} <= names
        await run_process("chat", *words(server, tmp_path), "--no-memory", said=b"Hello\n")
        assert "Releases are cut" not in str(server.requests[-1].body["messages"])
    assert list(here(".").glob("**/*memory*")) == []
    assert len(list((tmp_path / "data" / "memory").glob("project-*.json"))) == 1


async def test_run_in_the_folder_gets_the_facts(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("HEALD_DATA", str(tmp_path / "data"))
    async with ScriptedServer(answer) as server:
        place = ["--model", "m", "--base-url", f"{server.url}/v1"]
        await run_process("chat", *place, said=b"Remember that releases are cut on Tuesdays.\n")
        await run_process("run", *place, "--workspace", ".", "Hello")
    request = server.requests[-1].body
    assert "- Releases are cut on Tuesdays. [f1]" in str(request["messages"][0])
    assert "remember" not in {tool["function"]["name"] for tool in request["tools"]}
