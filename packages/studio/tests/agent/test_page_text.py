"""`PageText`: a page that a model answered as text becomes a file of the project."""

from pathlib import Path

import pytest

from heald.agent.agent import Agent
from heald.core.events import ExchangeResponse, FileChanged
from heald.core.messages import ToolCall
from heald.tools.workspace.memory import MemoryWorkspace
from heald_studio.page_text import PageText
from log_support import Log, call, played, scripted, stop

PAGE = "<!DOCTYPE html>\n<html>\n<body>Hi</body>\n</html>"
PIECE = "<div>\n  <p>Hi</p>\n</div>"

TEXTS: list[tuple[str, str | None]] = [
    (PAGE, PAGE + "\n"),
    (f"Here it is:\n\n{PAGE}\n\nEnjoy.", PAGE + "\n"),
    (f"Here:\n```html\n{PAGE}\n```\nEnjoy.", PAGE + "\n"),
    (f"~~~\n{PAGE}\n~~~", PAGE + "\n"),
    ("<html lang='en'><body></body></HTML> and so on", "<html lang='en'><body></body></HTML>\n"),
    (f"Only a part:\n```html\n{PIECE}\n```\n", PIECE + "\n"),
    (f"```css\na {{}}\n```\n````html\n{PIECE}\n````", PIECE + "\n"),
    ("```html\n<!doctype html>\n<html><body>cut o", "<!doctype html>\n<html><body>cut o\n"),
    ("<!doctype html><html><body>cut\n```\nThat is all.", "<!doctype html><html><body>cut\n"),
    ("<svg viewBox='0 0 1 1'></svg> bare", None),
    ("I did nothing.", None),
    ("Use `<div>` for it.", None),
    ("```python\nprint('no page')\n```", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "page"), TEXTS)
async def test_what_is_a_page(text: str, page: str | None) -> None:
    result, log = await played([text or stop("end_turn")], tools=["files"], strategies=[PageText], piece=7)
    assert result.files == ({} if page is None else {"index.html": page})
    assert [change.path for change in log.of(FileChanged)] == ([] if page is None else ["index.html"])
    assert result.completed


async def test_it_is_a_call_of_nobody() -> None:
    """In the log it has all that a call has; the model, which never made it, does not see it."""
    model = scripted(PAGE, "Fine.")
    agent = Agent(model, tools=["files"], strategies=[PageText])
    log = Log(agent)
    await agent.run("Make a page.")
    (made,) = log.of(ToolCall)
    assert made.id.startswith("final_")
    kinds = [event.type for event in log.own if made.id in str(event.data)]
    assert kinds == [
        *("tool_call", "tool_use_message", "tool_planned", "tool_executing", "file_changed"),
        *("tool_completed", "tool_result", "tool_use_message"),
    ]
    await agent.run("Thanks.")
    assert [message.role for message in model.requests[1].messages] == ["user", "assistant", "user"]
    log.prove()


async def test_not_if_a_file_was_written() -> None:
    result, log = await played(
        [call("create_file", path="a.html", content="<p>")], PAGE, tools=["files"], strategies=[PageText]
    )
    assert result.files == {"a.html": "<p>"}
    assert len(log.of(ToolCall)) == 1


async def test_not_if_there_were_files_before() -> None:
    result, _ = await played(PAGE, tools=["files"], strategies=[PageText], workspace=MemoryWorkspace({"old.css": "a"}))
    assert result.files == {"old.css": "a"}


async def test_not_in_a_folder(tmp_path: Path) -> None:
    result, log = await played(PAGE, tools=["files"], strategies=[PageText], workspace=tmp_path)
    assert (result.files, log.of(FileChanged), (tmp_path / "index.html").exists()) == ({}, [], False)


async def test_not_without_the_tool() -> None:
    result, _ = await played(PAGE, tools=["read"], strategies=[PageText])
    assert result.files == {}


async def test_permissions_hold_for_it_too() -> None:
    result, log = await played(PAGE, tools=["files"], strategies=[PageText], permissions="read-only")
    assert result.completed
    assert (result.files, log.of(FileChanged)) == ({}, [])


async def test_a_page_that_was_cut_off_is_kept_and_noted() -> None:
    result, _ = await played(
        ["<!doctype html><html><body>Ha", stop("max_tokens")], tools=["files"], strategies=[PageText]
    )
    assert result.files == {"index.html": "<!doctype html><html><body>Ha\n"}
    assert result.note == "The answer was cut off at the output limit."


async def test_a_second_page_changes_nothing() -> None:
    """From then on there is a file, and the model is there to edit it."""
    agent = Agent(scripted(PAGE, PAGE.replace("Hi", "Ho")), tools=["files"], strategies=[PageText])
    log = Log(agent)
    await agent.run("Make a page.")
    result = await agent.run("Another.")
    assert result.files == {"index.html": PAGE + "\n"}
    assert [response.status for response in log.of(ExchangeResponse)] == ["completed"] * 2
    log.prove()


@pytest.mark.parametrize(
    "at", ["text_content_block_stop", "message_stop", "assistant_message", "tool_call", "tool_planned"]
)
async def test_none_is_written_once_the_exchange_was_cancelled(at: str) -> None:
    agent = Agent(scripted(PAGE, piece=1000), tools=["files"], strategies=[PageText])
    log = Log(agent)
    agent.subscribe(lambda _: agent.cancel("Enough."), types=[at])
    result = await agent.run("Make a page.")
    assert (result.status, result.files) == ("cancelled", {})
    log.prove()
