"""`heald chat` in a git repository, in a real terminal: checkpoints, undo, redo and what the model is given."""

import asyncio
import json
from pathlib import Path
from typing import Any

from cli_repository import git, make_repository
from cli_tmux import NEEDS_TMUX, Tmux

from cli_pages import here
from heald.core.messages import ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply

pytestmark = NEEDS_TMUX


def chat(server: ScriptedServer, tmp_path: Path, *words: str, **env: str) -> Tmux:
    place = ["--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data")]
    return Tmux(tmp_path, "chat", *place, *words, **env)


def saved_labels(tmp_path: Path) -> list[str]:
    """The labels of all checkpoints."""
    words = ("for-each-ref", "--format=%(contents:subject)", "refs/heald")
    stores = [note.parent for note in (tmp_path / "data" / "checkpoints").glob("*/repository.json")]
    return [label for store in stores for label in git(f"--git-dir={store}", *words).splitlines()]


def writer(request: Any) -> Reply:
    last = request.body["messages"][-1]
    if last["role"] == "tool":
        return wire_reply("chat", text=f"Done {len(request.body['messages'])}.")
    name = json.dumps(last["content"]).partition("Write ")[2][:5]
    call = ToolCall(id=f"c{len(request.body['messages'])}", name="create_file", input={"path": name, "content": "x\n"})
    return wire_reply("chat", calls=[call])


async def test_exchanges_are_undone_and_redone(tmp_path: Path) -> None:
    make_repository()
    index = here(".git/index").read_bytes()
    async with (
        ScriptedServer(writer) as server,
        chat(server, tmp_path, "--permissions", "auto", "--tools", "files") as terminal,
    ):
        await terminal.shows("heald with m")
        for number, name in enumerate(("b.txt", "c.txt", "d.txt"), 1):
            await terminal.enter(f"Write {name}")
            await terminal.shows(f"› Write {name}", f"Done {4 * number}.")
        system = server.requests[0].body["messages"][0]["content"]
        assert "Branch: main" in system
        assert "The first commit" in system
        await terminal.enter("/undo list")
        await terminal.shows("1. Write d.txt", "3. Write b.txt")
        await terminal.enter("/undo 2")
        await terminal.shows("Undone: Write d.txt", "Undone: Write c.txt", "c.txt is deleted again.")
        assert [here(name).exists() for name in ("b.txt", "c.txt", "d.txt")] == [True, False, False]
        await terminal.enter("/redo")
        await terminal.shows("Redone: Write c.txt", "d.txt is restored.")
        assert here("d.txt").read_text() == "x\n"
        await terminal.enter("/redo")
        await terminal.shows("There is nothing to redo.")
        await terminal.enter("/undo many")
        await terminal.shows("'many' is not a number of exchanges")
        terminal.press("C-d")
        await terminal.shows("status 0")
    assert here(".git/index").read_bytes() == index
    assert git("for-each-ref", "--format=%(refname)") == "refs/heads/main\n"
    assert len(saved_labels(tmp_path)) >= 7


async def test_the_model_learns_what_the_user_changed(tmp_path: Path) -> None:
    make_repository()
    async with ScriptedServer(lambda _: wire_reply("chat", text="Seen.")) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Hello")
        await terminal.shows("Seen.", "cost unknown")
        async with asyncio.timeout(120):
            labels = ""
            while "after " not in labels:  # from here on a change is another's
                await asyncio.sleep(0.05)
                labels = " ".join(saved_labels(tmp_path))
        here("a.txt").write_text("two\n")
        await terminal.enter("And now?")
        await terminal.shows("› And now?", "(1 attached)")
        while len(server.requests) < 2:
            await terminal.shows("Seen.")
        assert "-one\\n+two" in json.dumps(server.requests[1].body["messages"][-1])
