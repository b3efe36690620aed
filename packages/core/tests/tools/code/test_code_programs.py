"""Programs that call the tools of their agent."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from program_bench import ProgramRun, price, run_program

import heald
from heald.core.envelope import Event
from heald.core.events import ApprovalRequested, ApprovalResolved
from heald.core.json import JsonObject
from heald.core.messages import Image, ToolCall, ToolDefinition, ToolResult
from heald.core.payload import Payload
from heald.testing import ScriptedModel
from heald.tools.code import program as program_module
from heald.tools.code import program_clock
from heald.tools.code.family import code_family
from heald.tools.families import named_tools
from heald.tools.runtime import ToolRuntime
from heald.tools.shell.sandbox import Sandbox
from heald_check import check_log


async def test_a_program_calls_tools_and_only_what_it_prints_goes_back() -> None:
    run = ProgramRun(
        """
        rows = [price("tea"), price("milk", 2), price(item="bread", count=3)]
        print(sum(row["usd"] for row in rows))
        """
    )
    result = await run.run()
    assert (result.status, result.content) == ("ok", "26")
    assert [call.input for call in run.calls()] == [
        {"item": "tea"},
        {"item": "milk", "count": 2},
        {"item": "bread", "count": 3},
    ]
    (program,) = [event.data for event in run.log if event.type == "tool_executing" and event.data.name != "price"]  # type: ignore[attr-defined]
    assert {call.parent for call in run.calls()} == {program.id}  # type: ignore[attr-defined]
    assert len(run.model.requests) == 2
    assert len(run.agent.messages) == 4, "the model sees no call of the program"


async def test_a_result_that_is_an_object_or_a_list_comes_parsed_and_others_as_text() -> None:
    @heald.tool(effect="read")
    async def give(kind: str) -> Any:
        """Give something."""
        return {"object": {"a": [1]}, "list": [1, 2], "number": 5, "text": "{not json", "none": None}[kind]

    result = await run_program('print([give(kind) for kind in ("object", "list", "number", "text", "none")])', give)
    assert result.content == "[{'a': [1]}, [1, 2], '5', '{not json', '']"


async def test_a_failed_call_raises_tool_error_and_the_program_may_go_on() -> None:
    run = ProgramRun(
        """
        try:
            price("gold")
        except ToolError as error:
            print("no:", error)
        try:
            price(itm="tea")
        except ToolError as error:
            print("item" in str(error))
        print(price("tea")["usd"])
        """
    )
    result = await run.run()
    assert result.content == "no: Gold is not sold here.\nTrue\n3"
    assert run.outcomes() == [("price", "error"), ("price", "invalid_input"), ("price", "ok")]


async def test_an_error_of_the_program_comes_with_its_line_and_the_calls_that_were_made() -> None:
    result = await run_program("price('tea')\n\nprice('milk')['euro']\n")
    assert result.status == "error"
    assert "File \"<program>\", line 3, in <module>\n    price('milk')['euro']" in result.text
    assert "KeyError: 'euro'" in result.text
    assert result.text.endswith("(The program ended with exit code 1. It had made these calls: price: 2 times ok.)")
    assert "program_runner" not in result.text


async def test_a_syntax_error_is_explained() -> None:
    result = await run_program("x = await price('tea')")
    assert result.status == "error"
    assert "SyntaxError" in result.text


async def test_a_program_that_prints_nothing_is_told_so() -> None:
    assert (await run_program("price('tea')")).content == "The program printed nothing; print what you need."


async def test_calls_at_once() -> None:
    together = asyncio.Barrier(4)

    @heald.tool(effect="read")
    async def meet(number: int) -> str:
        """Wait for the others."""
        await together.wait()
        return str(number)

    result = await run_program("print(parallel(meet, [1, (2,), {'number': 3}, 4]))", meet)
    assert result.content == "['1', '2', '3', '4']"


async def test_a_sequential_tool_runs_alone() -> None:
    running = 0

    @heald.tool(effect="read", sequential=True)
    async def alone(number: int) -> str:
        """Count who is here."""
        nonlocal running
        running += 1
        await asyncio.sleep(0.05)  # time for another one to come
        count, running = running, running - 1
        return str(count)

    assert (await run_program("print(parallel(alone, [1, 2, 3]))", alone)).content == "['1', '1', '1']"


async def test_the_time_of_calls_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 0.0
    monkeypatch.setattr(program_clock, "monotonic", lambda: seconds)

    @heald.tool(effect="read")
    async def take_long() -> str:
        """Take an hour."""
        nonlocal seconds
        seconds += 3600
        await asyncio.sleep(0.5)  # time for the program to be ended, if it were
        return "done"

    assert (await run_program("print(take_long())", take_long, timeout_s=0.1)).text == "done"


async def test_a_large_result_comes_whole_and_costs_no_tool() -> None:
    @heald.tool(effect="read")
    async def list_numbers() -> list[int]:
        """Many numbers."""
        return list(range(50_000))

    run = ProgramRun("print(sum(list_numbers()))", list_numbers)
    assert (await run.run()).content == str(sum(range(50_000)))
    assert all("read_result" not in {tool.name for tool in request.tools} for request in run.model.requests)


async def test_pictures_are_not_passed_on() -> None:
    @heald.tool(effect="read")
    async def look() -> Any:
        """A picture."""
        return [Image(media_type="image/png", data="iVBORw0KGgo=")]

    assert (await run_program("print(look())", look)).content == "[1 pictures or files are not passed to a program.]"


async def test_names_that_python_does_not_take() -> None:
    @heald.tool(name="print", effect="read")
    async def print_(text: str) -> str:
        """Print on paper."""
        return f"paper: {text}"

    @heald.tool(name="my-tool", effect="read")
    async def mine() -> str:
        """Mine."""
        return "mine"

    result = await run_program("print(print_('a'), my_tool(), call_tool('my-tool'))", print_, mine)
    assert result.content == "paper: a mine mine"


async def test_a_rule_denies_a_call_of_a_program() -> None:
    run = ProgramRun(
        "try:\n    price('tea')\nexcept ToolError as error:\n    print(error)",
        permissions=heald.Permissions(rules=["deny price"]),
    )
    assert (await run.run()).text.startswith("This call is not permitted.")
    assert run.outcomes() == [("price", "denied")]


@heald.tool
async def pay(usd: int) -> str:
    """Pay."""
    return f"paid {usd}"


@pytest.mark.parametrize("mode", ["read-only", "ask"])
async def test_a_program_itself_needs_no_approval_and_its_calls_do(mode: Any) -> None:
    asked: list[ApprovalRequested] = []

    def allow(request: ApprovalRequested) -> bool:
        asked.append(request)
        return True

    program = "try:\n    print(pay(5))\nexcept ToolError as error:\n    print(error)"
    result = await run_program(program, pay, permissions=mode, on_approval=allow)
    if mode == "read-only":
        assert "may only read" in result.text
        assert not asked
    else:
        assert result.content == "paid 5"
        assert [(request.name, request.input) for request in asked] == [("pay", {"usd": 5})]


async def test_a_person_who_says_no_is_not_asked_again_by_the_same_program() -> None:
    def refuse(_: ApprovalRequested) -> heald.Approval:
        return heald.Approval(False, "Too much.")

    run = ProgramRun(
        """
        for usd in range(20):
            try:
                pay(usd)
            except ToolError as error:
                print(error)
        print(price("tea")["usd"])
        """,
        pay,
        price,
        permissions="ask",
        on_approval=refuse,
    )
    result = await run.run()
    assert len(run.payloads("approval_requested")) == 1
    assert result.text.startswith("The user did not allow this call. Too much.\nThe user did not allow an earlier call")
    assert result.text.endswith("\n3")
    assert run.outcomes() == [("pay", "denied")] * 20 + [("price", "ok")]


async def test_arguments_that_a_person_changes_are_reported_to_the_model() -> None:
    @heald.tool
    async def order(item: str) -> dict[str, str]:
        """Order."""
        return {"ordered": item}

    def change(request: ApprovalRequested) -> heald.Approval:
        return heald.Approval(True, arguments={"item": "tea"})

    result = await run_program("print(order('gold')['ordered'])", order, permissions="ask", on_approval=change)
    assert result.text == 'tea\n(The user changed the arguments of a call to {"item":"tea"}.)'


async def test_a_program_that_the_model_wrote_as_text_is_as_doubtful_as_its_calls() -> None:
    events: list[Payload] = []
    runtime = ToolRuntime([*named_tools(["code"]), pay], permissions=heald.Permissions())
    runtime.approvals.can_be_answered = lambda: False
    program = ToolCall(id="call_1", name="run_program", input={"program": "pay(5)"}, form="hermes")
    await runtime.execute([program], events.append)
    (inner,) = [event for event in events if isinstance(event, ToolCall)]
    assert inner.form == "hermes"
    assert [event.status for event in events if isinstance(event, ToolResult)] == ["denied", "error"]


async def test_middleware_wraps_each_call() -> None:
    seen: list[str] = []

    async def watch(invocation: Any, call_next: Any) -> Any:
        seen.append(invocation.call.name)
        return await call_next(invocation)

    await run_program("price('a')\nprice('b')", middleware=[watch])
    assert seen == ["run_program", "price", "price"]


async def test_files_that_a_program_writes_are_changes_of_its_calls(tmp_path: Path) -> None:
    run = ProgramRun(
        "for name in 'ab':\n    write_file(path=name, content=name * 3)\nprint(read_file(path='a'))",
        "files",
        workspace=tmp_path,
    )
    assert "aaa" in (await run.run()).text
    assert (tmp_path / "b").read_text() == "bbb"
    writes = [call.id for call in run.calls() if call.name == "write_file"]
    assert [change.cause for change in run.payloads("file_changed")] == writes  # type: ignore[attr-defined]


async def test_secrets_are_hidden_from_a_program(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TOKEN=canary-0123456789abcdef\n")
    result = await run_program("print(read_file(path='.env'))", "files", workspace=tmp_path)
    assert "canary" not in result.text


async def test_a_call_that_spends_the_budget_is_the_last_one() -> None:
    @heald.tool(effect="read")
    async def ask_oracle(ctx: heald.ToolContext) -> str:
        """Ask."""
        ctx.spend(0.6)
        return "yes"

    run = ProgramRun(
        "for _ in range(5):\n    try:\n        ask_oracle()\n    except ToolError as error:\n        print(error)",
        ask_oracle,
        budget=heald.Budget(usd=1),
    )
    await run.agent.run("Go.")
    assert check_log(run.log) == []
    assert [status for _, status in run.outcomes()] == ["ok", "ok", "cancelled", "cancelled", "cancelled"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("run_program", {"program": "print(1)"}),
        ("find_tools", {"query": "price"}),
        ("use_tool", {"name": "price", "arguments": {"item": "tea"}}),
        ("hand_over", {"agent": "other"}),
        ("nothing", {}),
    ],
)
async def test_tools_that_no_program_may_call(name: str, arguments: dict[str, Any]) -> None:
    run = ProgramRun(f"try:\n    call_tool({name!r}, **{arguments!r})\nexcept ToolError as error:\n    print(error)")
    await run.run()
    is_offered = name not in ("hand_over", "nothing")
    assert [status for _, status in run.outcomes()][-1] == ("denied" if is_offered else "unknown_tool")
    assert not run.payloads("tool_executing")[1:]


async def test_a_tool_that_is_only_found_by_a_search_is_called_by_its_name() -> None:
    async def run(arguments: JsonObject, ctx: heald.ToolContext) -> str:
        return f"{ctx.call.name} {arguments['id']}"

    schema: JsonObject = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    tools = [
        heald.Tool(
            definition=ToolDefinition(name=f"service_{at}", description="Do a thing. " * 40, input_schema=schema),
            run=run,
        )
        for at in range(100)
    ]
    run_of_hidden = ProgramRun("print(service_77('x'))", *tools)
    assert (await run_of_hidden.run()).text == "service_77 x"
    assert "service_77" not in {tool.name for tool in run_of_hidden.model.requests[0].tools}


async def test_a_tool_may_refuse_to_be_called_by_programs() -> None:
    @heald.tool(effect="read", from_programs=False)
    async def vote() -> str:
        """Vote."""
        return "voted"

    run = ProgramRun("print('vote' in globals())\ncall_tool('vote')", vote)
    assert "A program cannot call 'vote'; call it directly." in (await run.run()).text
    assert run.outcomes() == [("vote", "denied")]


async def test_cancelling_ends_the_program_and_its_calls() -> None:
    started = asyncio.Event()

    @heald.tool
    async def wait_forever() -> str:
        """Wait."""
        started.set()
        await asyncio.Event().wait()
        return ""

    run = ProgramRun("parallel(lambda _: wait_forever(), range(20))", wait_forever)
    exchange = asyncio.create_task(run.agent.run("Go."))
    await started.wait()
    run.agent.cancel()
    assert (await exchange).status == "cancelled"
    assert check_log(run.log) == []
    assert run.result.status == "cancelled"
    assert {status for _, status in run.outcomes()} == {"cancelled"}


@pytest.mark.parametrize("at", ["tool_call", "tool_planned", "tool_executing", "tool_completed", "tool_result"])
@pytest.mark.parametrize("number", [1, 5])
async def test_cancelling_at_an_event_of_a_call_starts_nothing_more(at: str, number: int) -> None:
    run = ProgramRun("parallel(price, ['a'] * 20)")
    count = 0

    def on_event(event: Event) -> None:
        nonlocal count
        if event.type == at and getattr(event.data, "name", "") == "price":
            count += 1
            if count == number:
                run.agent.cancel()

    run.agent.subscribe(on_event)
    assert (await run.agent.run("Go.")).status == "cancelled"
    assert check_log(run.log) == []


async def test_a_call_that_does_not_stop_is_closed_before_its_program() -> None:
    started, released = asyncio.Event(), asyncio.Event()

    @heald.tool
    async def ignore_everything() -> str:
        """Do not stop."""
        started.set()
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue
        return ""

    run = ProgramRun("ignore_everything()", ignore_everything)
    exchange = asyncio.create_task(run.agent.run("Go."))
    await started.wait()
    run.agent.cancel()
    assert (await exchange).status == "cancelled"
    released.set()
    assert check_log(run.log) == []
    assert run.outcomes() == [("ignore_everything", "cancelled")]


async def test_an_approval_that_waits_is_closed_by_a_cancel() -> None:
    run = ProgramRun("pay(1)", pay, permissions="ask")
    asked = asyncio.Event()
    run.agent.subscribe(lambda event: asked.set() if isinstance(event.data, ApprovalRequested) else None)
    exchange = asyncio.create_task(run.agent.run("Go."))
    await asked.wait()
    run.agent.cancel()
    assert (await exchange).status == "cancelled"
    assert check_log(run.log) == []
    (resolved,) = run.payloads("approval_resolved")
    assert isinstance(resolved, ApprovalResolved)
    assert resolved.decision == "denied"


async def test_the_family_is_offered_by_name_only() -> None:
    assert "run_program" not in {tool.name for tool in named_tools(["all"])}
    assert [tool.name for tool in named_tools(["code"])] == ["run_program"]
    assert named_tools(["run_program"]) == named_tools(["code"])


async def test_without_a_sandbox_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    tools = code_family(replace(Sandbox(), unsandboxed=True))
    model = ScriptedModel([[ScriptedModel.call("run_program", program="print(1)")], "Done."])
    agent = heald.Agent(model, tools=tools)
    await agent.run("Go.")
    (block,) = agent.messages[2].content
    assert block.text.startswith("sandbox_unavailable: Programs cannot be run: bubblewrap (bwrap) is not installed")  # type: ignore[union-attr]


async def test_without_python_nothing_runs() -> None:
    tools = code_family(Sandbox(path="/nowhere"))
    model = ScriptedModel([[ScriptedModel.call("run_program", program="print(1)")], "Done."])
    agent = heald.Agent(model, tools=tools)
    await agent.run("Go.")
    (block,) = agent.messages[2].content
    assert block.text == f"no_python: {program_module.NO_PYTHON}"  # type: ignore[union-attr]
