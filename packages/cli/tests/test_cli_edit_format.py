"""How `heald run` and `heald chat` choose whether a model calls tools or writes files as text."""

from pathlib import Path

import pytest

from cli_bench import run, run_process, run_with
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald_check.conform import prompts

NOTE = "m writes files as text, because"


def talk(request: ReceivedRequest) -> Reply:
    """A model that never calls a tool, and can write a file."""
    if prompts.EDIT.encode() in request.content:
        return wire_reply("chat", text="greeting.py\n```\nprint('Good evening')\n```\n")
    return wire_reply("chat", text="I would call a tool.")


@pytest.mark.parametrize("can_write", [True, False])
async def test_what_conform_found_is_used(capsys: pytest.CaptureFixture[str], tmp_path: Path, can_write: bool) -> None:
    work = ["--workspace", str(tmp_path), "Hello."]
    async with ScriptedServer(talk if can_write else lambda _: wire_reply("chat", text="No.")) as server:
        before = await run(capsys, *run_with(server, *work))
        assert "writes files as text" not in before.err
        assert "tools" in server.requests[-1].body
        place = ["--base-url", f"{server.url}/v1", "--model", "m"]
        await run(capsys, "conform", *place, "--only", "tool-call", "text-edit")
        after = await run(capsys, *run_with(server, *work))
        assert (f"{NOTE} `heald conform` found" in after.err) is can_write
        assert ("tools" not in server.requests[-1].body) is can_write
        chosen = await run(capsys, *run_with(server, "--edit-format", "tools", *work))
        assert "writes files as text" not in chosen.err
        assert "tools" in server.requests[-1].body


async def test_the_server_shows_that_the_model_is_small(tmp_path: Path) -> None:
    facts = {"/v1/models": {"data": [{"id": "m", "meta": {"n_params": 1_543_714_304}}]}}
    async with ScriptedServer(talk, facts=facts) as server:
        ran = await run_process(*run_with(server, "--workspace", str(tmp_path), "Hello."))
        assert f"{NOTE} small models call tools badly" in ran.err
        assert "tools" not in server.requests[-1].body
