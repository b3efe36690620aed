"""S19: what others wrote does nothing to a terminal, and a person who decides sees what is really there."""

import asyncio
import os
import pty
import re
import sys
from pathlib import Path

import pytest
from security_support import Stage, needs_sandbox, reply_with_calls

from heald.core.events import ApprovalRequested, ToolOutputDelta
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply
from log_support import call

HOSTILE = {
    "clipboard": "\x1b]52;c;cHduZWQ=\x07",
    "link": "\x1b]8;;file:///etc/passwd\x07click\x1b]8;;\x07",
    "clear": "\x1b[2J\x1b[H",
    "title": "\x1b]0;pwned\x1b\\",
    "c1": "\x9b2J\x9d52;c;cHduZWQ=\x9c",
    "device": "\x1bP+q544e\x1b\\",
    "turned": "abc\u202ecba",
    "hidden": "a\u200bb\u2066c",
    "overwritten": "shown\rother",
    "up": "shown\x1b[1A\x1b[2Kother",
    "back": "shown\x08\x08\x08\x08\x08other\x9b5D",
}
ALL = " ".join(HOSTILE.values())
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ARGUMENT = re.compile(r"(command|cwd|path|content|old_text|new_text|patch|url): |  │ |! ")
"""An argument, a further line of it, or a note."""
_STATUS = re.compile(r"\r\x1b\[K")
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, monkeypatch)


@pytest.mark.parametrize("name", HOSTILE)
async def test_s19_output_of_commands(stage: Stage, name: str) -> None:
    needs_sandbox()
    (stage.inside / "hostile").write_text(f"begin {HOSTILE[name]} end\n")
    played = await stage.play([call("run_command", command="cat hostile; cat hostile >&2; echo over\roops")], "Done.")
    (result,) = played.results
    output = "".join(delta.text for delta in played.log.of(ToolOutputDelta))
    for text in (result.text, output):
        assert _UNSAFE.search(text) is None, ascii(text)
        assert "begin" in text
        assert "end" in text


async def test_s19_what_is_shown_for_approval(stage: Stage) -> None:
    seen: list[ApprovalRequested] = []

    async def decide(request: ApprovalRequested) -> bool:
        seen.append(request)
        return False

    calls = [
        made
        for text in HOSTILE.values()
        for made in (
            call("run_command", command=f"echo {text} # rm"),
            call("run_command", command="true", cwd=f"sub{text}"),
            call("write_file", path=f"a{text}.txt", content="x"),
            call("edit_file", path=f"a{text}.txt", old_text="x", new_text="y"),
            call("apply_patch", patch=f"*** Begin Patch\n*** Add File: a{text}\n+x\n*** End Patch"),
            call("fetch_url", url=f"http://x.test/{text}"),
            call("run_command", command=f"ls\r{text}\nrm -rf x\x08\x08\x08"),
        )
    ]
    await stage.calls(*calls, permissions="ask", on_approval=decide)
    assert len(seen) == len(calls)
    for request in seen:
        assert _UNSAFE.search(request.summary) is None, ascii(request.summary)
        assert "\r" not in request.summary
        assert all(_ARGUMENT.match(line) for line in request.summary.split("\n")), ascii(request.summary)


async def on_terminal(stage: Stage, answer: bytes, *replies: Reply, words: tuple[str, ...] = ()) -> str:
    """What `heald run` writes to a terminal on which somebody answers."""
    control, terminal = pty.openpty()
    async with ScriptedServer(list(replies)) as server:
        model = ["--model", "m", "--base-url", f"{server.url}/v1", "--workspace", str(stage.inside), *words]
        process = await asyncio.create_subprocess_exec(
            *[sys.executable, "-P", "-m", "heald_cli.main", "run", "Go.", *model],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            cwd=stage.elsewhere,
            env=os.environ | {"PYTHONUTF8": "1"},
            start_new_session=True,
        )
        os.close(terminal)
        reading = asyncio.create_task(asyncio.to_thread(_read_all, control))
        if answer:
            os.write(control, answer)
        try:
            await asyncio.wait_for(process.wait(), 60)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
            seen = await reading
            os.close(control)
    return seen.decode("utf-8", "replace")


def _read_all(control: int) -> bytes:
    pieces: list[bytes] = []
    while True:
        try:
            piece = os.read(control, 65536)
        except OSError:  # the other side is closed
            return b"".join(pieces)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)


def assert_harmless(seen: str) -> None:
    seen = _COLOUR.sub("", _STATUS.sub("", seen)).replace("\r\n", "\n")
    left = _UNSAFE.search(seen)
    assert left is None, ascii(seen)
    assert "\r" not in seen, ascii(seen)


async def test_s19_calls_and_results_on_a_terminal(stage: Stage) -> None:
    (stage.inside / "hostile.txt").write_text(f"old {ALL}\n")
    made = [
        ("read_file", {"path": "hostile.txt"}),
        ("read_file", {"path": f"no{ALL}"}),
        ("write_file", {"path": "x.txt", "content": ALL}),
        ("search_files", {"pattern": ALL}),
        ("todo_list", {"items": [{"text": ALL, "status": "pending"}]}),
        ("ask_user", {"question": f"Well{ALL}?", "suggestions": [f"a{ALL}", f"b{ALL}"]}),
    ]
    replies = [reply_with_calls(*made), wire_reply("chat", text="Done.")]
    assert_harmless(await on_terminal(stage, b"y\nn\n\n1\n1\n", *replies))


@pytest.mark.parametrize("kind", ["text", "thinking", "tool name", "provider error"])
async def test_s19_what_a_model_states_on_a_terminal(stage: Stage, kind: str) -> None:
    said = f"before {ALL} after"
    replies = {
        "text": [wire_reply("chat", text=said)],
        "thinking": [wire_reply("chat", thinking=said, text="Done.")],
        "tool name": [reply_with_calls((said, {})), wire_reply("chat", text="Done.")],
        "provider error": [Reply.json({"error": {"message": said}}, 400)],
    }
    seen = await on_terminal(stage, b"", *replies[kind])
    assert_harmless(seen)
    assert "before" in seen
    assert "after" in seen


async def test_s19_a_sequence_in_pieces_is_one(stage: Stage) -> None:
    """A model says it character by character."""
    seen = await on_terminal(stage, b"", wire_reply("chat", text=list(f"before {ALL} after")))
    assert_harmless(seen)
    assert "after" in seen


async def test_a_pipe_gets_what_the_model_sent_to_the_letter(stage: Stage) -> None:
    async with ScriptedServer([wire_reply("chat", text=f"before {ALL} after")]) as server:
        ran = await stage.heald(server)
    assert ran.out == f"before {ALL} after\n"
