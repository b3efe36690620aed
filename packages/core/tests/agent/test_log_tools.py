"""The log of every tool that comes with Heald, in every way a call can end, in memory and in a folder."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import heald
from heald.agent.agent import Agent
from heald.core.errors import Overloaded
from heald.core.events import (
    FileChanged,
    QuestionAsked,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
    ToolOutputDelta,
)
from heald.core.messages import Image, ToolCall, ToolResult, ToolStatus
from heald.providers.scripted import Script, ScriptedCall
from heald.testing.server import Reply, ScriptedServer
from heald.tools.families import named_tools
from heald.tools.shell.sandbox import Sandbox
from heald.tools.web.fetch_tool import fetch_tool
from heald.tools.web.fetcher import WebFetcher
from log_support import Log, call, fail, played, raw_call, results_of, scripted, stop, until

ALL = [tool.name for tool in named_tools(["all"])]
NO_SANDBOX = Sandbox().available()
PATCH = """*** Begin Patch
*** Add File: new.md
+# New
*** Update File: src/app.py
@@
-print('hello')
+print('patched')
*** Delete File: notes.txt
*** End Patch"""
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)
START = {"src/app.py": "print('hello')\n", "notes.txt": "remember $& this\n", "logo.png": PNG}


@pytest.fixture(params=["memory", "disk"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A workspace with a few files in it, in memory and in a folder."""
    from heald.tools.workspace.memory import MemoryWorkspace

    if request.param == "memory":
        return MemoryWorkspace(START)
    for path, content in START.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content.encode() if isinstance(content, str) else content)
    return tmp_path


async def yes(_: QuestionAsked) -> str:
    return "yes"


FINE: dict[str, list[ScriptedCall]] = {
    "create_file": [call("create_file", path="a/b.txt", content="one\ntwo\n")],
    "write_file": [call("read_file", path="notes.txt"), call("write_file", path="notes.txt", content="other\n")],
    "edit_file": [call("edit_file", path="src/app.py", edits=[{"old_text": "hello", "new_text": "$&"}])],
    "apply_patch": [call("apply_patch", patch=PATCH)],
    "read_file": [call("read_file", path="src/app.py"), call("read_file", path="logo.png")],
    "list_files": [call("list_files")],
    "glob": [call("glob", pattern="**/*.py")],
    "search_files": [call("search_files", pattern="remember")],
    "find_file": [call("find_file", query="app")],
    "todo_list": [call("todo_list", items=[{"text": "one", "status": "in_progress"}])],
    "ask_user": [call("ask_user", question="Really?", suggestions=["yes", "no"])],
}
WRONG: dict[str, ScriptedCall] = {
    "create_file": call("create_file", path="../out.txt", content="x"),
    "write_file": call("write_file", path="src", content="x"),
    "edit_file": call("edit_file", path="src/app.py", old_text="nowhere", new_text="x"),
    "apply_patch": call("apply_patch", patch=PATCH.replace("hello", "nowhere")),
    "read_file": call("read_file", path="gone.txt"),
    "list_files": call("list_files", path="gone"),
    "glob": call("glob", pattern="../**"),
    "search_files": call("search_files", pattern="("),
    "find_file": call("find_file", query=""),
    "run_command": call("run_command", command=" "),
    "command_output": call("command_output", id="none"),
    "stop_command": call("stop_command", id="none"),
    "todo_list": call("todo_list", items=[{"text": " "}]),
    "ask_user": call("ask_user", question=" ", suggestions=["a", "b"]),
    "fetch_url": call("fetch_url", url="http://127.0.0.1:1/"),
}


def test_no_tool_is_left_out() -> None:
    assert {*FINE, "run_command", "command_output", "stop_command", "fetch_url"} == set(ALL) == set(WRONG)


@pytest.mark.parametrize("name", FINE)
async def test_each_when_all_is_well(name: str, place: Any) -> None:
    result, log = await played(FINE[name], "Done.", tools=["all"], workspace=place, on_question=yes)
    assert [tool_result.status for tool_result in results_of(result.messages)] == ["ok"] * len(FINE[name])
    assert len(log.of(ToolCompleted)) == len(FINE[name])
    assert all(payload.summary for payload in log.of(ToolExecuting))


@pytest.mark.parametrize("name", WRONG)
async def test_each_when_it_cannot(name: str, place: Any) -> None:
    result, log = await played([WRONG[name]], "Done.", tools=["all"], workspace=place, on_question=yes)
    (tool_result,) = results_of(result.messages)
    assert tool_result.is_error, tool_result.text
    assert log.of(FileChanged) == []
    assert str(place) not in tool_result.text


@pytest.mark.parametrize("name", ALL)
async def test_each_with_arguments_that_do_not_fit(name: str, place: Any) -> None:
    wrong = [call(name, nonsense=1), raw_call(name, '{"path": "a'), raw_call(name, "[]")]
    result, log = await played(wrong, [call(name), stop("max_tokens")], "Done.", tools=["all"], workspace=place)
    expected: list[ToolStatus] = ["invalid_input"] * 4
    assert [tool_result.status for tool_result in results_of(result.messages)] == expected
    assert log.of(ToolExecuting) == []


@pytest.mark.parametrize("name", [*FINE, "run_command", "fetch_url"])
async def test_each_denied(name: str, place: Any) -> None:
    fine = FINE.get(name, [call("run_command", command="true"), call("fetch_url", url="http://example.com")])
    rules = heald.Permissions("auto", ["deny *"])
    result, log = await played(fine, "Done.", tools=["all"], workspace=place, permissions=rules)
    assert {tool_result.status for tool_result in results_of(result.messages)} == {"denied"}
    assert (log.of(ToolExecuting), log.of(FileChanged)) == ([], [])


async def test_all_in_one_message(place: Any) -> None:
    calls = [asked for asked_for in FINE.values() for asked in asked_for]
    result, log = await played(calls, "Done.", tools=["all"], workspace=place, on_question=yes)
    assert {tool_result.status for tool_result in results_of(result.messages)} <= {"ok", "error"}
    assert [tool_result.id for tool_result in results_of(result.messages)] == [made.id for made in log.of(ToolCall)]


async def test_a_picture_is_a_picture(place: Any) -> None:
    result, _ = await played([call("read_file", path="logo.png")], "Done.", tools=["files"], workspace=place)
    (tool_result,) = results_of(result.messages)
    assert isinstance(tool_result.content, list)
    assert any(isinstance(part, Image) for part in tool_result.content)


# --- the shell -------------------------------------------------------------------------------------------------------

needs_sandbox = pytest.mark.skipif(NO_SANDBOX is not None, reason=f"commands cannot run here: {NO_SANDBOX}")


@needs_sandbox
async def test_commands_in_front_and_in_the_background(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("here\n")

    def background_id(request: Any) -> str:
        return results_of(request.messages)[-1].text.split()[0].strip("'`.,")

    ids: list[str] = []

    def look(request: Any) -> Script:
        ids.append(background_id(request))
        return [call("command_output", id=ids[0], wait_s=0.2)]

    def end(request: Any) -> Script:
        return [call("stop_command", id=ids[0])]

    model = heald.testing.ScriptedModel(
        [
            [call("run_command", command="cat a.txt; echo oops >&2; exit 3")],
            [call("run_command", command="echo begun; sleep 60", background=True)],
            look,
            end,
            [call("stop_command", id="1"), call("run_command", command="sleep 60", timeout_s=0.3)],
            "Done.",
        ]
    )
    agent = Agent(model, tools=["all"], workspace=tmp_path)
    log = Log(agent)
    result = await asyncio.wait_for(agent.run("Go."), 60)
    statuses = [tool_result.status for tool_result in results_of(result.messages)]
    assert statuses == ["ok", "ok", "ok", "ok", "error", "timeout"], results_of(result.messages)
    assert "exit code 3" in results_of(result.messages)[0].text
    assert {delta.channel for delta in log.of(ToolOutputDelta)} == {"stdout", "stderr"}
    log.prove(host_paths=[str(tmp_path)])
    await agent.close()


@needs_sandbox
async def test_a_command_that_states_too_much(tmp_path: Path) -> None:
    command = call("run_command", command="seq 1 200000")
    result, log = await played([command], "Done.", tools=["shell"], workspace=tmp_path)
    (tool_result,) = results_of(result.messages)
    assert (tool_result.status, tool_result.truncated) == ("ok", True)
    assert log.of(ToolOutputDelta)


async def test_commands_need_a_folder() -> None:
    result, _ = await played([call("run_command", command="true")], "Done.", tools=["shell"])
    assert "in memory" in results_of(result.messages)[0].text


# --- the web ---------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def web(*replies: Reply) -> AsyncGenerator[tuple[str, heald.Tool]]:
    async with ScriptedServer(list(replies)) as server:
        yield server.url, fetch_tool(WebFetcher(allow={server.url.removeprefix("http://")}))


async def test_pages_pictures_and_failures() -> None:
    page = Reply([b"<title>Hi</title><p>Text"], content_type="text/html", framing="length")
    picture = Reply([PNG], content_type="image/png", framing="length")
    gone = Reply([b"gone"], status=404, content_type="text/plain", framing="length")
    binary = Reply([b"\0\1\2"], content_type="application/octet-stream", framing="length")
    async with web(page, picture, gone, binary) as (url, fetch):
        turns = [[call("fetch_url", url=f"{url}/{number}")] for number in range(4)]
        result, _ = await played(*turns, "Done.", tools=[fetch])
    assert [tool_result.status for tool_result in results_of(result.messages)] == ["ok", "ok", "error", "error"]


async def test_a_picture_of_some_megabytes_fits_into_the_log() -> None:
    """I05: no event is larger than a mebibyte, whatever a tool brings home."""
    body = PNG + b"\0" * 1_500_000
    async with web(Reply([body], content_type="image/png", framing="length")) as (url, fetch):
        result, _ = await played([call("fetch_url", url=url)], "Done.", tools=[fetch])
    assert results_of(result.messages)[0].status == "ok"


# --- every way a call can end ----------------------------------------------------------------------------------------


@heald.tool
async def fine() -> str:
    """Fine."""
    return "fine"


@heald.tool
def plain() -> str:
    """Fine, in a thread."""
    return "fine"


@heald.tool
async def broken() -> str:
    """Broken."""
    raise RuntimeError("It broke at /home/somebody/project/secret.py.")


@heald.tool(timeout=0.02)
async def slow() -> str:
    """Slow."""
    await asyncio.sleep(60)
    return "never"


@heald.tool
async def wait_long() -> str:
    """Waits."""
    await asyncio.sleep(60)
    return "never"


@heald.tool
async def says_much(ctx: heald.ToolContext) -> str:
    """Says much."""
    for number in range(50):
        ctx.output(f"{number}\n")
    return "x" * 300_000


@heald.tool(effect="write")
async def forbidden() -> str:
    """Forbidden."""
    raise AssertionError("it ran")


OUTCOMES: list[tuple[ScriptedCall, ToolStatus]] = [
    (call("fine"), "ok"),
    (call("plain"), "ok"),
    (call("broken"), "error"),
    (call("slow"), "timeout"),
    (call("fin"), "unknown_tool"),
    (call("fine", what=1), "invalid_input"),
    (raw_call("fine", "{"), "invalid_input"),
    (call("forbidden"), "denied"),
    (call("says_much"), "ok"),
]
EVERY = [fine, plain, broken, slow, wait_long, says_much, forbidden]
RULES = ["deny forbidden"]


@pytest.mark.parametrize(("asked", "status"), OUTCOMES, ids=lambda value: getattr(value, "name", None))
async def test_each_outcome(asked: ScriptedCall, status: ToolStatus) -> None:
    result, log = await played([asked], "Done.", tools=EVERY, permissions=heald.Permissions("auto", RULES))
    (tool_result,) = results_of(result.messages)
    assert (tool_result.status, tool_result.is_error) == (status, status != "ok")
    assert "/home/somebody" not in tool_result.text
    ran = status in ("ok", "error", "timeout")
    assert len(log.of(ToolExecuting)) == ran
    assert len(log.of(ToolFailed)) == (status != "ok")


async def test_all_outcomes_at_once_in_call_order() -> None:
    asked = [outcome_call for outcome_call, _ in OUTCOMES] * 3
    result, _ = await played(asked, "Done.", tools=EVERY, permissions=heald.Permissions("auto", RULES))
    assert [tool_result.status for tool_result in results_of(result.messages)] == [status for _, status in OUTCOMES] * 3


async def test_more_calls_than_may_run_at_once() -> None:
    result, _ = await played([call("fine")] * 40 + [call("plain")] * 10, "Done.", tools=EVERY)
    assert [tool_result.status for tool_result in results_of(result.messages)] == ["ok"] * 50


async def test_cancelled_and_what_was_done_before() -> None:
    agent = Agent(scripted([call("fine"), call("wait_long"), call("nowhere")], "Fine."), tools=EVERY)
    log = Log(agent)
    exchange = agent.send("Go.")
    await until(lambda: len(log.of(ToolResult)) == 2 and len(log.of(ToolExecuting)) == 2)
    agent.cancel("Enough.")
    result = await exchange.result()
    assert [tool_result.status for tool_result in results_of(result.messages)] == ["ok", "cancelled", "unknown_tool"]
    log.prove()


async def test_too_much_is_paged_and_marked() -> None:
    result, _ = await played([call("says_much")], "Done.", tools=EVERY)
    (tool_result,) = results_of(result.messages)
    assert tool_result.truncated
    assert len(tool_result.text) < 70_000
    assert tool_result.whole is not None
    assert tool_result.whole.characters == 300_000


async def test_calls_of_a_discarded_attempt_never_run() -> None:
    first = scripted([call("fine"), call("broken"), fail(Overloaded("busy"))])
    agent = Agent(first, fallbacks=[scripted("Done.")], tools=EVERY)
    log = Log(agent)
    await agent.run("Go.")
    assert (log.of(ToolCall), log.of(ToolExecuting)) == ([], [])
    log.prove()
