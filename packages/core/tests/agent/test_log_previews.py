"""Files as the model writes them: what is shown is what will be there, in any cut, or it is taken back."""

import asyncio
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import heald
from example_counts import scaled
from heald.agent.agent import Agent
from heald.core.errors import Overloaded
from heald.core.events import FileChanged, FilePreview, FilePreviewReset, MessageStop, ToolUseContentBlockStop
from heald.core.json import encode_text
from heald.core.messages import ToolCall
from heald.providers.scripted import ScriptedCall
from heald.tools.workspace.memory import MemoryWorkspace
from log_support import Log, call, fail, played, raw_call, results_of, scripted, stop, until

OLD = 'import os\n\n\ndef main() -> None:\n    print("Zwölf 😀")\n\n\nmain()\n'
NEW = '<!doctype html>\n<html>\n\t<p class="a">Zwölf Boxkämpfer 😀 — $& \\1 \\n</p>\r\n</html>\n'
CUTS = [*range(1, 24), 50, 100, 1000]

CALLS: dict[str, ScriptedCall] = {
    "create_file": call("create_file", path="new.html", content=NEW),
    "write_file": call("write_file", path="./app.py", content=NEW),
    "edit_file": call(
        "edit_file",
        path="app.py",
        edits=[
            {"old_text": "import os", "new_text": "import sys\nimport os"},
            {"old_text": "Zwölf 😀", "new_text": NEW},
            {"old_text": "\nmain()\n", "new_text": ""},
        ],
    ),
    "one edit": call("edit_file", path="app.py", old_text="print", new_text="return $& \\g<0>"),
}


def previews(log: Log) -> list[FilePreview]:
    return log.of(FilePreview)


async def preview_call(
    asked: ScriptedCall, piece: int, files: dict[str, str] | None = None, **options: Any
) -> tuple[Log, str, str]:
    """The log, what its preview came to, and what the file is."""
    workspace = MemoryWorkspace({"app.py": OLD} if files is None else files)
    _, log = await played([asked], "Done.", tools=["files"], workspace=workspace, piece=piece, **options)
    (made,) = log.of(ToolCall)
    path = workspace.normal(str(made.input["path"]))
    return log, log.shown(made.id), workspace.read_text(path)


# --- in any cut ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("piece", CUTS)
async def test_the_preview_is_the_file(name: str, piece: int) -> None:
    log, preview, written = await preview_call(CALLS[name], piece)
    assert preview == written
    assert log.of(FilePreviewReset) == []
    assert {payload.path for payload in previews(log)} == {log.of(FileChanged)[0].path}


@pytest.mark.parametrize("name", CALLS)
async def test_it_grows_while_the_arguments_arrive(name: str) -> None:
    log, _, written = await preview_call(CALLS[name], 4)
    types = log.types
    end = types.index("tool_use_content_block_stop")
    early = [payload for payload in (event.data for event in log.own[:end]) if isinstance(payload, FilePreview)]
    assert len(early) > 2
    assert sum(len(payload.text) for payload in early) > len(written) // 4
    assert types.index("file_preview") < types.index("message_stop") < types.index("tool_executing")


async def test_a_slow_model_is_previewed_with_every_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of a long file is 256 characters, which a slow model writes in more than half a second."""
    content = "".join(f"line {number:04}\n" for number in range(400))
    quick, _, _ = await preview_call(call("create_file", path="long.txt", content=content), 50)
    monkeypatch.setattr("heald.agent.previews.monotonic", count().__next__)  # a second for each look at it
    slow, preview, _ = await preview_call(call("create_file", path="long.txt", content=content), 50)
    assert preview == content
    assert all(len(payload.text) <= 50 for payload in previews(slow))
    assert max(len(payload.text) for payload in previews(quick)) > 200


@pytest.mark.parametrize("piece", [1, 3, 1000])
async def test_in_a_folder_as_well(tmp_path: Path, piece: int) -> None:
    (tmp_path / "app.py").write_text(OLD)
    _, log = await played(
        [CALLS["create_file"]], [CALLS["edit_file"]], "Done.", tools=["files"], workspace=tmp_path, piece=piece
    )
    first, second = log.of(ToolCall)
    assert log.shown(first.id) == (tmp_path / "new.html").read_bytes().decode()
    assert log.shown(second.id) == (tmp_path / "app.py").read_bytes().decode()


@pytest.mark.parametrize("piece", [1, 2, 5, 1000])
async def test_content_before_the_path(piece: int) -> None:
    """It cannot be shown before its place is known; at the latest when the arguments end."""
    log, preview, written = await preview_call(
        raw_call("create_file", encode_text({"content": NEW, "path": "a.txt"})), piece
    )
    assert preview == written == NEW
    assert log.types.index("file_preview") < log.types.index("tool_use_content_block_stop")


@pytest.mark.parametrize("piece", [1, 7, 1000])
async def test_escapes_of_every_kind(piece: int) -> None:
    text = r'{"path":"a.txt","content":"\u00e4\ud83d\ude00\n\t\\\"\/\b\f\r"}'
    _, preview, written = await preview_call(raw_call("create_file", text), piece)
    assert preview == written == 'ä😀\n\t\\"/\b\f\r'


@pytest.mark.parametrize("piece", [1, 1000])
async def test_arguments_that_were_encoded_twice(piece: int) -> None:
    """There is no preview of what is inside; what is shown in the end, if anything, is right."""
    inside = encode_text({"path": "a.txt", "content": NEW})
    _, preview, written = await preview_call(raw_call("create_file", encode_text(inside)), piece)
    assert written == NEW
    assert preview in ("", NEW)


@pytest.mark.parametrize("piece", [1, 2, 3, 5, 1000])
async def test_a_file_of_another_line_ending(piece: int) -> None:
    asked = call("edit_file", path="app.py", old_text="one\ntwo", new_text="1\n2\r\n3\n")
    log, preview, written = await preview_call(asked, piece, {"app.py": "zero\r\none\r\ntwo\r\nthree\r\n"})
    assert preview == written == "zero\r\n1\r\n2\r\n3\r\n\r\nthree\r\n"
    assert log.of(FilePreviewReset) == []


async def test_two_files_in_one_message() -> None:
    calls = [call("create_file", path=f"{name}.txt", content=f"{name} " * 20) for name in "ab"]
    workspace = MemoryWorkspace()
    _, log = await played(calls, "Done.", tools=["files"], workspace=workspace, piece=3)
    for made in log.of(ToolCall):
        assert log.shown(made.id) == workspace.read_text(str(made.input["path"]))


async def test_two_edits_of_one_file_in_one_message_show_both_in_the_end() -> None:
    """The second was shown on what was there before the first: it is taken back and shown as it is."""
    calls = [
        call("edit_file", path="app.py", old_text="import os", new_text="import sys"),
        call("edit_file", path="app.py", old_text="\n\nmain()", new_text="\n\nmain(1)"),
    ]
    workspace = MemoryWorkspace({"app.py": OLD})
    _, log = await played(calls, "Done.", tools=["files"], workspace=workspace, piece=5)
    _, second = log.of(ToolCall)
    assert log.shown(second.id) == workspace.read_text("app.py")
    assert "import sys" in workspace.read_text("app.py")
    assert len(log.of(FilePreviewReset)) == 1


async def test_what_is_there_already_is_shown_and_stays() -> None:
    log, preview, _ = await preview_call(call("write_file", path="app.py", content=OLD), 6)
    assert (preview, log.of(FileChanged)) == (OLD, [])


async def test_an_empty_file_needs_no_preview() -> None:
    log, preview, written = await preview_call(call("create_file", path="empty", content=""), 6)
    assert (preview, written, previews(log)) == ("", "", [])


# --- taken back ------------------------------------------------------------------------------------------------------


async def reset_of(asked: ScriptedCall, piece: int = 4, **options: Any) -> Log:
    workspace = MemoryWorkspace({"app.py": OLD, "folder/x": ""})
    _, log = await played([asked], "Done.", tools=["files"], workspace=workspace, piece=piece, **options)
    assert workspace.read_text("app.py") == OLD
    assert log.of(FileChanged) == []
    (made,) = log.of(ToolCall)
    assert log.shown(made.id) == ""
    return log


@pytest.mark.parametrize("piece", [1, 4, 1000])
@pytest.mark.parametrize(
    "asked",
    [
        call("create_file", path="folder", content=NEW),
        call(
            "edit_file",
            path="app.py",
            edits=[{"old_text": "import os", "new_text": NEW}, {"old_text": "gone", "new_text": ""}],
        ),
        raw_call("create_file", '{"path": "a.txt", "content": "half of it'),
        raw_call("create_file", '{"path": "a.txt", "content": "whole", "content": "twice"}'),
        raw_call("write_file", '{"path": "app.py", "content": "x", "more": 1}'),
    ],
    ids=["a folder", "an edit that does not fit", "cut off", "twice", "an argument too many"],
)
async def test_a_call_that_fails_withdraws_its_preview(asked: ScriptedCall, piece: int) -> None:
    log = await reset_of(asked, piece)
    assert len(log.of(FilePreviewReset)) == 1


async def test_a_path_outside_is_never_shown() -> None:
    log = await reset_of(call("create_file", path="../out", content=NEW))
    assert previews(log) == []


async def test_denied() -> None:
    log = await reset_of(call("write_file", path="app.py", content=NEW), permissions="read-only")
    assert len(log.of(FilePreviewReset)) == 1


async def test_cut_off_at_the_output_limit() -> None:
    workspace = MemoryWorkspace()
    first = [raw_call("create_file", '{"path": "a.txt", "content": "half'), stop("max_tokens")]
    _, log = await played(first, "Done.", tools=["files"], workspace=workspace)
    assert len(log.of(FilePreviewReset)) == 1
    assert workspace.files() == {}


async def test_a_discarded_attempt() -> None:
    workspace = MemoryWorkspace()
    first = scripted([call("create_file", path="a.txt", content="first " * 20), fail(Overloaded("busy"))], piece=5)
    second = scripted([call("create_file", path="a.txt", content="second")], "Done.", piece=5)
    agent = Agent(first, fallbacks=[second], tools=["files"], workspace=workspace)
    log = Log(agent)
    await agent.run("Go.")
    assert len(log.of(FilePreviewReset)) == 1
    assert log.shown(log.of(ToolCall)[0].id) == workspace.read_text("a.txt") == "second"
    log.prove()


async def test_a_cancel_in_the_middle_of_it() -> None:
    agent = Agent(scripted([call("create_file", path="a.txt", content="word " * 5000)], piece=5), tools=["files"])
    log = Log(agent)
    exchange = agent.send("Go.")
    await until(lambda: len(previews(log)) > 3)
    agent.cancel()
    assert (await exchange.result()).status == "cancelled"
    assert len(log.of(FilePreviewReset)) == 1
    log.prove()


async def test_changed_by_the_one_who_approves() -> None:
    """What was shown is not what was written: it is taken back, and what was written is shown."""

    async def other(_: Any) -> heald.Approval:
        return heald.Approval(True, arguments={"path": "a.txt", "content": "theirs"})

    workspace = MemoryWorkspace()
    asked = call("create_file", path="a.txt", content="mine " * 10)
    _, log = await played([asked], "Done.", tools=["files"], workspace=workspace, permissions="ask", on_approval=other)
    assert log.shown(log.of(ToolCall)[0].id) == workspace.read_text("a.txt") == "theirs"


async def test_another_path_by_the_one_who_approves() -> None:
    async def other(_: Any) -> heald.Approval:
        return heald.Approval(True, arguments={"path": "b.txt", "content": "theirs"})

    workspace = MemoryWorkspace()
    asked = call("create_file", path="a.txt", content="mine " * 10)
    _, log = await played([asked], "Done.", tools=["files"], workspace=workspace, permissions="ask", on_approval=other)
    assert workspace.files() == {"b.txt": "theirs"}
    assert [reset.path for reset in log.of(FilePreviewReset)] == ["a.txt"]
    assert [payload.path for payload in previews(log)][-1] == "b.txt"


# --- anything --------------------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)


@settings(max_examples=scaled(150), deadline=None)
@given(TEXT, st.integers(1, 40), st.booleans())
def test_any_text_in_any_cut(text: str, piece: int, path_last: bool) -> None:
    arguments = {"path": "a.txt", "content": text}
    if path_last:
        arguments = dict(reversed(arguments.items()))
    log, preview, written = asyncio.run(
        preview_call(raw_call("write_file", encode_text(arguments)), piece, {"a.txt": "old"})
    )
    assert preview == written == text
    assert log.of(FilePreviewReset) == []


@settings(max_examples=scaled(150), deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=4), st.lists(TEXT, min_size=4, max_size=4), st.integers(1, 40))
def test_any_edits_in_any_cut(between: list[str], new: list[str], piece: int) -> None:
    """A file of marks with texts between them; each mark is replaced, in order."""
    before = "".join(f"«{number}»{text}" for number, text in enumerate(between))
    if any(before.count(f"«{number}»") != 1 for number in range(len(between))):
        return
    if any("\r" in text for text in (*between, *new)):  # line ends of the file apply to what is inserted
        return
    edits = [{"old_text": f"«{number}»", "new_text": new[number].replace("»", "")} for number in range(len(between))]
    asked = call("edit_file", path="a.txt", edits=edits)
    log, preview, written = asyncio.run(preview_call(asked, piece, {"a.txt": before}))
    (tool_result,) = results_of(log.agent.messages)
    assert tool_result.status == "ok"
    assert written == "".join(f"{edit['new_text']}{text}" for edit, text in zip(edits, between, strict=True))
    if previews(log):
        assert preview == written
    if not log.of(FileChanged):
        assert before == written


async def test_the_preview_ends_before_its_message_does() -> None:
    log, _, _ = await preview_call(CALLS["create_file"], 10)
    last = max(event.seq for event in log.own if isinstance(event.data, FilePreview))
    assert last < next(event.seq for event in log.own if isinstance(event.data, MessageStop))
    assert last < next(event.seq for event in log.own if isinstance(event.data, ToolUseContentBlockStop))
