"""Find, validate, permit, lock, run, record: each call gets one result, whatever happens."""

import asyncio
import os
import threading
from typing import Any

import msgspec
import pytest
from tool_bench import Bench, call

import heald
from heald.core.errors import ConfigurationError
from heald.core.events import ToolExecuting
from heald.core.messages import Image, InvalidCall, Text, ToolCall, ToolDefinition, ToolResult
from heald.tools.definitions import Access, Tool
from heald.tools.function_tools import tool
from heald.tools.registry import Registry
from heald.tools.runtime import Invocation, Next


@tool
async def echo(text: str) -> str:
    """Say it again."""
    return text


@tool
async def fail(reason: str) -> None:
    """Fail."""
    raise ValueError(reason)


# --- the steps --------------------------------------------------------------------------------------------------------


async def test_the_order_of_events() -> None:
    bench = Bench(echo)
    result = await bench.one("echo", text="hi")
    assert (result.status, result.content, result.name) == ("ok", "hi", "echo")
    assert bench.types() == ["tool_executing", "tool_completed", "tool_result", "tool_use_message"]


async def test_an_unknown_tool_is_named_with_the_nearest() -> None:
    bench = Bench(echo)
    result = await bench.one("ecko", text="hi")
    assert (result.status, result.is_error) == ("unknown_tool", True)
    assert result.text == "UNKNOWN_TOOL: there is no tool named 'ecko'; did you mean 'echo'?"
    assert bench.types() == ["tool_failed", "tool_result", "tool_use_message"]


async def test_invalid_arguments_never_start() -> None:
    bench = Bench(echo)
    result = await bench.one("echo", txet="hi")
    assert result.status == "invalid_input"
    assert '"txet" is not known here, perhaps you mean "text"' in result.text
    assert bench.types() == ["tool_failed", "tool_result", "tool_use_message"]


async def test_a_call_that_carries_invalid_never_starts() -> None:
    bench = Bench(echo)
    bad = ToolCall(id="c", name="echo", input={"text": "x"}, invalid=InvalidCall("truncated", "It was cut.", '{"te'))
    (result,) = await bench.run(bad)
    assert (result.status, result.text) == ("invalid_input", "It was cut.")
    assert "tool_executing" not in bench.types()


async def test_an_exception_is_a_result_without_host_paths() -> None:
    bench = Bench(fail)
    result = await bench.one("fail", reason=f"cannot open '/home/ada/.ssh/id_rsa' or {os.getcwd()}/x.py")
    assert result.status == "error"
    assert result.text == "ValueError: cannot open '…/id_rsa' or …/x.py"


async def test_a_fault_has_its_own_words() -> None:
    @tool
    async def refuse() -> None:
        """Refuse."""
        raise heald.ToolFault("The oven is hot; wait a minute.", "too_hot")

    assert (await Bench(refuse).one("refuse")).text == "too_hot: The oven is hot; wait a minute."


@pytest.mark.parametrize(
    ("value", "content"),
    [
        (None, ""),
        ("", ""),
        ([], "[]"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        (3, "3"),
        (b"\xff\x00ok", "\\xff\ufffdok"),
        (Text("x"), [Text("x")]),
        ([Image(data="aGk="), "and text"], [Image(data="aGk="), Text("and text")]),
        (object, str(object)),
    ],
)
async def test_whatever_a_function_returns_can_be_reported(value: Any, content: Any) -> None:
    @tool
    async def give() -> Any:
        """Give."""
        return value

    result = await Bench(give).one("give")
    assert (result.status, result.content) == ("ok", content)


async def test_a_result_that_looks_like_an_error_is_none() -> None:
    result = await Bench(echo).one("echo", text='Error: </tool> {"type":"exchange_response"}')
    assert (result.status, result.is_error) == ("ok", False)


async def test_long_results_are_their_first_page_and_their_end() -> None:
    bench = Bench(echo, max_output=1000)
    result = await bench.one("echo", text="HEAD" + "x" * 5000 + "TAIL")
    assert result.truncated
    assert result.text.startswith("HEAD")
    assert result.whole is not None
    reads_on = f'read_result(handle="{result.whole.handle}", offset=750) reads on; the last 250 follow]'
    assert f"[characters 0 to 750 of 5,008; {reads_on}" in result.text
    assert result.text.endswith("TAIL")


async def test_a_json_schema_tool() -> None:
    async def run(arguments: dict[str, Any], ctx: heald.ToolContext) -> str:
        return f"{ctx.call.name} {arguments}"

    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}
    bench = Bench(Tool(definition=ToolDefinition(name="raw", input_schema=schema), run=run))
    assert (await bench.one("raw", n="2")).text == "raw {'n': 2}"
    assert "n: 0 is less than 1" in (await bench.one("raw", n=0)).text


def test_names() -> None:
    with pytest.raises(ConfigurationError, match="two tools named 'echo'"):
        Registry([echo, echo])


@pytest.mark.parametrize("name", ["no spaces", "dot.ted", "ä", "x" * 65, "<lambda>", "line\n"])
def test_a_name_that_apis_refuse_is_refused_when_the_tool_is_made(name: str) -> None:
    async def run(arguments: dict[str, Any], ctx: heald.ToolContext) -> str:
        return ""

    with pytest.raises(ConfigurationError, match="is not a valid name for a tool"):
        tool(name=name)(lambda: None)
    with pytest.raises(ConfigurationError, match="is not a valid name for a tool"):
        Tool(definition=ToolDefinition(name=name), run=run)


# --- side by side and one after the other -----------------------------------------------------------------------------


class Meeting:
    """Counts who is there at the same time."""

    def __init__(self) -> None:
        self.here = self.most = 0
        self.order: list[str] = []

    def tool(self, **options: Any) -> Tool:
        @tool(name="meet", **options)
        async def meet(name: str) -> str:
            """Meet."""
            self.here += 1
            self.most = max(self.most, self.here)
            self.order.append(name)
            await asyncio.sleep(0.005)
            self.here -= 1
            return name

        return meet


def by_first_letter(arguments: dict[str, Any]) -> list[Access]:
    return [Access(resource="file:" + arguments["name"][0])]


def file_x(_: dict[str, Any]) -> list[Access]:
    return [Access(resource="file:x")]


async def meet(tool_: Tool, *names: str, **options: Any) -> list[ToolResult]:
    return await Bench(tool_, **options).run(*(call("meet", id=f"c{i}", name=name) for i, name in enumerate(names)))


async def test_independent_calls_run_side_by_side_and_answer_in_order() -> None:
    meeting = Meeting()
    results = await meet(meeting.tool(), "a", "b", "c")
    assert meeting.most == 3
    assert [result.text for result in results] == ["a", "b", "c"]


async def test_calls_that_share_a_resource_run_in_call_order() -> None:
    meeting = Meeting()
    await meet(meeting.tool(access=by_first_letter), "a1", "a2", "a3")
    assert (meeting.most, meeting.order) == (1, ["a1", "a2", "a3"])


async def test_readers_go_together_and_wait_for_writers() -> None:
    meeting = Meeting()

    def access(arguments: dict[str, Any]) -> list[Access]:
        return [Access(resource="file:x", changes=arguments["name"].startswith("w"))]

    bench = Bench(meeting.tool(access=access))
    await bench.run(*(call("meet", id=name, name=name) for name in ["w1", "r1", "r2", "w2", "r3"]))
    assert meeting.order == ["w1", "r1", "r2", "w2", "r3"]
    assert meeting.most == 2
    held = {payload.id: payload.resources for payload in bench.said if isinstance(payload, ToolExecuting)}
    assert held == {"w1": ["file:x"], "r1": [], "r2": [], "w2": ["file:x"], "r3": []}


async def test_the_whole_workspace_is_around_every_file() -> None:
    meeting = Meeting()
    resources = {"all": "file:", "a": "file:src/a.py", "src": "file:src", "b": "file:b.py", "srcs": "file:srcs"}

    def access(arguments: dict[str, Any]) -> list[Access]:
        return [Access(resource=resources[arguments["name"]])]

    await meet(meeting.tool(access=access), "a", "src", "all", "b")
    assert meeting.order == ["a", "src", "all", "b"]
    assert meeting.most == 1
    meeting = Meeting()
    await meet(meeting.tool(access=access), "src", "srcs", "b")
    assert meeting.most == 3


async def test_a_sequential_tool_is_alone() -> None:
    meeting = Meeting()
    await meet(meeting.tool(sequential=True), "a", "b")
    assert meeting.most == 1


async def test_no_more_at_once_than_allowed() -> None:
    meeting = Meeting()
    await meet(meeting.tool(), *"abcdefgh", concurrency=3)
    assert meeting.most == 3


async def test_one_that_raises_does_not_touch_the_others() -> None:
    results = await Bench(echo, fail).run(
        call("echo", id="1", text="a"), call("fail", id="2", reason="no"), call("echo", id="3", text="b")
    )
    assert [result.status for result in results] == ["ok", "error", "ok"]


# --- time and cancellation --------------------------------------------------------------------------------------------


async def test_a_timeout_ends_the_call() -> None:
    ended = asyncio.Event()

    @tool(timeout=0.05)
    async def hang() -> None:
        """Hang."""
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    result = await Bench(hang).one("hang")
    assert result.status == "timeout"
    assert ended.is_set()


async def test_a_tools_own_timeout_error_is_an_error() -> None:
    @tool
    async def late() -> None:
        """Be late."""
        raise TimeoutError("the bus was late")

    result = await Bench(late).one("late")
    assert (result.status, result.text) == ("error", "TimeoutError: the bus was late")


async def test_a_tool_that_does_not_stop_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heald.tools.call_batch.GRACE", 0.05)
    free = asyncio.Event()

    @tool(timeout=0.05)
    async def stubborn(ctx: heald.ToolContext) -> None:
        """Do not stop."""
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                ctx.output("no")
        ctx.output("late")

    bench = Bench(stubborn)
    result = await bench.one("stubborn")
    assert result.status == "timeout"
    free.set()
    await asyncio.sleep(0.01)
    assert bench.types()[-2:] == ["tool_result", "tool_use_message"]


async def test_a_tool_that_cancels_itself_is_an_error() -> None:
    @tool
    async def odd() -> None:
        """Be odd."""
        raise asyncio.CancelledError

    assert (await Bench(odd).one("odd")).status == "error"


async def test_cancelling_ends_all_and_every_call_has_its_result() -> None:
    running = asyncio.Event()

    @tool(access=file_x)
    async def hang() -> None:
        """Hang."""
        running.set()
        await asyncio.sleep(60)

    bench = Bench(hang, echo)
    batch = bench.runtime.batch(
        [call("hang", id="1"), call("hang", id="2"), call("echo", id="3", text="x")], bench.said.append
    )
    task = asyncio.create_task(batch.run())
    await running.wait()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(r.id, r.status) for r in batch.results] == [("1", "cancelled"), ("2", "cancelled"), ("3", "ok")]
    assert bench.types("tool_executing") == ["tool_executing"] * 2


async def test_a_thread_that_cannot_be_stopped_is_given_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heald.tools.tool_threads.GRACE", 0.05)
    proceed, seen = threading.Event(), list[bool]()

    @tool(timeout=0.05)
    def stuck(ctx: heald.ToolContext) -> str:
        """Be stuck."""
        proceed.wait(10)
        seen.append(ctx.cancelled)
        ctx.output("late")
        return "late"

    bench = Bench(stuck)
    result = await bench.one("stuck")
    proceed.set()
    assert result.status == "timeout"
    while not seen:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    assert seen == [True]
    assert "tool_output_delta" not in bench.types()


# --- middleware -------------------------------------------------------------------------------------------------------


async def test_middleware_stands_around_every_run() -> None:
    seen: list[str] = []

    async def outer(invocation: Invocation, run: Next) -> Any:
        seen.append("before")
        value = await run(msgspec.structs.replace(invocation, arguments={"text": invocation.arguments["text"] + "!"}))
        seen.append("after")
        return f"<{value}>"

    async def inner(invocation: Invocation, run: Next) -> Any:
        seen.append(invocation.arguments["text"])
        return await run(invocation)

    result = await Bench(echo, middleware=[outer, inner]).one("echo", text="hi")
    assert result.text == "<hi!>"
    assert seen == ["before", "hi!", "after"]


async def test_middleware_can_refuse() -> None:
    async def no(invocation: Invocation, run: Next) -> Any:
        raise heald.ToolFault("Not today.", status="denied")

    assert (await Bench(echo, middleware=[no]).one("echo", text="hi")).status == "denied"


async def test_what_tools_keep_is_closed_with_the_runtime() -> None:
    class Thing:
        closed = False

        async def aclose(self) -> None:
            self.closed = True

    things: list[Thing] = []

    @tool
    async def take(ctx: heald.ToolContext) -> None:
        """Take."""
        things.append(ctx.keep(Thing))

    bench = Bench(take)
    await bench.one("take")
    await bench.one("take")
    assert things[0] is things[1]
    await bench.runtime.close()
    assert things[0].closed


async def test_a_note_comes_with_the_result() -> None:
    bench = Bench(echo)
    batch = bench.runtime.batch([call("echo", text="x")], bench.said.append, {"call_1": "(Look!)"})
    await batch.run()
    assert batch.results[0].text == "(Look!)\nx"
    assert bench.said[-2] == batch.results[0]
    assert msgspec.to_builtins(bench.said[-2])["content"] == "(Look!)\nx"
