"""Rules, modes, and approvals that are bound to the exact call."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tool_bench import Bench, call

import heald
from heald.core.errors import ConfigurationError
from heald.core.events import ApprovalRequested, ApprovalResolved
from heald.core.messages import ToolCall, ToolResult
from heald.tools.approvals import Approval, NotPending, digest_of
from heald.tools.definitions import Access, Effect, Tool
from heald.tools.function_tools import tool
from heald.tools.permissions import Mode, PermissionRule, Permissions

ran: list[dict[str, Any]] = []


def made(effect: Effect = "any", **options: Any) -> Tool:
    @tool(name="act", effect=effect, **options)
    async def act(what: str) -> str:
        """Act."""
        ran.append({"what": what})
        return what

    return act


Given = dict[str, Any]


def whole(arguments: Given) -> list[str]:
    return [arguments["what"]]


def parts(arguments: Given) -> list[str]:
    return [part.strip() for part in arguments["what"].split(";")]


def too_complex(_: Given) -> None:
    return None


def file_x(_: Given) -> list[Access]:
    return [Access(resource="file:x")]


def file_named(arguments: Given) -> list[Access]:
    return [Access(resource="file:" + arguments["what"].removeprefix("./"))]


def verdict(permissions: Permissions, tool: Tool, what: str) -> str:
    return permissions.decide(tool, {"what": what}).verdict


@pytest.mark.parametrize(
    ("mode", "effect", "expected"),
    [
        ("read-only", "none", "allow"),
        ("read-only", "read", "allow"),
        *(("read-only", effect, "deny") for effect in ("write", "run", "network", "any")),
        ("ask", "read", "allow"),
        *(("ask", effect, "ask") for effect in ("write", "run", "network", "any")),
        *(("auto", effect, "allow") for effect in ("none", "read", "write", "run", "network", "any")),
    ],
)
def test_modes(mode: Mode, effect: Effect, expected: str) -> None:
    assert verdict(Permissions(mode), made(effect), "x") == expected


def test_a_deny_always_wins_and_the_last_other_rule_does() -> None:
    permissions = Permissions("auto", ["deny act(*secret*)", "ask act", "allow act(*secret*)", "allow act(plain*)"])
    by = made(subjects=whole)
    assert verdict(permissions, by, "a secret") == "deny"
    assert verdict(permissions, by, "plain") == "allow"
    assert verdict(permissions, by, "other") == "ask"


def test_rules_by_argument_and_by_pattern_of_the_name() -> None:
    permissions = Permissions("auto", ["deny a*(what=*login*)"])
    assert verdict(permissions, made(), "http://x/login") == "deny"
    assert verdict(permissions, made(), "http://x/") == "allow"


def test_every_part_must_be_allowed_and_none_denied() -> None:
    by = made("run", subjects=parts)
    permissions = Permissions("ask", ["allow act(git *)", "deny act(rm *)"])
    assert verdict(permissions, by, "git status; git log") == "allow"
    assert verdict(permissions, by, "git status; curl x") == "ask"
    assert verdict(permissions, by, ";".join(["true"] * 49 + ["rm -rf x"])) == "deny"


def test_what_is_too_complex_is_denied_where_something_is_forbidden() -> None:
    by = made("run", subjects=too_complex)
    assert verdict(Permissions("auto", ["deny act(rm *)"]), by, "x") == "deny"
    assert verdict(Permissions("ask", ["allow act(git *)"]), by, "x") == "ask"
    assert verdict(Permissions("ask", ["allow act"]), by, "x") == "allow"


def test_a_path_is_judged_as_it_will_be_opened() -> None:
    by = made("write", access=file_named)
    assert verdict(Permissions("auto", ["deny act(secrets/*)"]), by, "./secrets/x") == "deny"


@pytest.mark.parametrize("text", ["", "forbid x", "deny", "deny x(", "allow x)y("])
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is not a rule"):
        PermissionRule.parse(text)


@pytest.mark.parametrize("text", ["deny act(rm *)", "allow act", "ask fetch(url=*x*)"])
def test_rules_read_as_they_are_written(text: str) -> None:
    assert str(PermissionRule.parse(text)) == text


def test_there_is_no_such_mode() -> None:
    with pytest.raises(ConfigurationError, match="mode must be"):
        Permissions("yolo")  # pyright: ignore[reportArgumentType]


# --- approvals --------------------------------------------------------------------------------------------------------


class Asked(Bench):
    """A bench that asks before everything."""

    def __init__(self, *tools: Tool, rules: list[str] | None = None) -> None:
        super().__init__(*tools, permissions=Permissions("ask", rules or []))
        ran.clear()

    async def requests(self, *calls: ToolCall) -> tuple["asyncio.Task[list[ToolResult]]", list[ApprovalRequested]]:
        task = asyncio.create_task(self.run(*calls))
        while len(self.runtime.approvals.open_approvals) < len(calls) and not task.done():  # noqa: ASYNC110
            await asyncio.sleep(0)
        return task, self.runtime.approvals.open_approvals

    def resolve(self, request: ApprovalRequested, decision: Approval, **options: Any) -> None:
        self.runtime.approvals.resolve(request.approval, decision, **options)


async def test_allowed_once() -> None:
    bench = Asked(made())
    task, (request,) = await bench.requests(call("act", what="x"))
    assert request.digest == digest_of("act", {"what": "x"}, "")
    assert ran == []
    bench.resolve(request, Approval(True), digest=request.digest)
    assert (await task)[0].status == "ok"
    assert bench.types() == [
        "approval_requested",
        "approval_resolved",
        "tool_executing",
        "tool_completed",
        "tool_result",
        "tool_use_message",
    ]
    with pytest.raises(NotPending):
        bench.resolve(request, Approval(True))
    assert len(ran) == 1


async def test_denied_with_a_reason() -> None:
    bench = Asked(made())
    task, (request,) = await bench.requests(call("act", what="x"))
    bench.resolve(request, Approval(False, "Use the other file."))
    (result,) = await task
    assert (result.status, ran) == ("denied", [])
    assert "Use the other file." in result.text


async def test_the_digest_of_another_call_resolves_nothing() -> None:
    bench = Asked(made())
    task, (request,) = await bench.requests(call("act", what="x"))
    with pytest.raises(NotPending, match="another call"):
        bench.resolve(request, Approval(True), digest=digest_of("act", {"what": "y"}, ""))
    bench.resolve(request, Approval(False))
    await task


async def test_resolving_twice_before_the_loop_turns() -> None:
    bench = Asked(made())
    task, (request,) = await bench.requests(call("act", what="x"))
    bench.resolve(request, Approval(False))
    with pytest.raises(NotPending):
        bench.resolve(request, Approval(True))
    assert (await task)[0].status == "denied"


async def test_some_wait_and_others_run() -> None:
    bench = Asked(made())
    task, (first, second) = await bench.requests(call("act", id="1", what="a"), call("act", id="2", what="b"))
    bench.resolve(second, Approval(True))
    while not ran:  # noqa: ASYNC110
        await asyncio.sleep(0)
    assert not task.done()
    bench.resolve(first, Approval(False))
    assert [result.status for result in await task] == ["denied", "ok"]


async def test_a_writer_that_waits_for_approval_keeps_its_place() -> None:
    bench = Asked(made(access=file_x))
    task, (first, second) = await bench.requests(call("act", id="1", what="a"), call("act", id="2", what="b"))
    bench.resolve(second, Approval(True))
    for _ in range(10):
        await asyncio.sleep(0)
    assert ran == []
    bench.resolve(first, Approval(True))
    await task
    assert ran == [{"what": "a"}, {"what": "b"}]


async def test_changed_arguments_are_checked_and_reported() -> None:
    bench = Asked(made())
    task, (request,) = await bench.requests(call("act", what="x"))
    bench.resolve(request, Approval(True, arguments={"what": "y"}))
    (result,) = await task
    assert ran == [{"what": "y"}]
    assert '{"what":"y"}' in result.text
    resolved = next(payload for payload in bench.said if isinstance(payload, ApprovalResolved))
    assert resolved.input == {"what": "y"}


@pytest.mark.parametrize(("arguments", "status"), [({"whot": "y"}, "invalid_input"), ({"what": "rm"}, "denied")])
async def test_changed_arguments_get_around_nothing(arguments: dict[str, Any], status: str) -> None:
    bench = Asked(made(subjects=whole), rules=["deny act(rm*)"])
    task, (request,) = await bench.requests(call("act", what="x"))
    bench.resolve(request, Approval(True, arguments=arguments))
    assert (await task)[0].status == status
    assert ran == []


async def test_always_is_for_the_same_thing_and_can_be_withdrawn() -> None:
    bench = Asked(made(subjects=whole))
    task, (request,) = await bench.requests(call("act", what="ls *"))
    bench.resolve(request, Approval(True, always=True))
    await task
    assert (await bench.one("act", what="ls *")).status == "ok"
    task, requests = await bench.requests(call("act", what="ls x"))
    assert len(requests) == 1
    bench.resolve(requests[0], Approval(False))
    await task
    bench.runtime.permissions.always.clear()
    task, requests = await bench.requests(call("act", what="ls *"))
    assert len(requests) == 1
    bench.resolve(requests[0], Approval(False))
    await task


async def test_cancelled_while_it_waits() -> None:
    bench = Asked(made())
    batch = bench.runtime.batch([call("act", what="x")], bench.said.append)
    task = asyncio.create_task(batch.run())
    while not bench.runtime.approvals.open_approvals:  # noqa: ASYNC110
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert batch.results[0].status == "cancelled"
    assert bench.types() == [
        "approval_requested",
        "approval_resolved",
        "tool_failed",
        "tool_result",
        "tool_use_message",
    ]
    assert bench.runtime.approvals.open_approvals == []


async def test_a_question_waits_for_its_answer() -> None:
    @tool
    async def wonder(ctx: heald.ToolContext) -> str:
        """Wonder."""
        return await ctx.ask("Which?", ["a", "b"])

    bench = Bench(wonder)
    task = asyncio.create_task(bench.one("wonder"))
    while not bench.runtime.approvals.open_questions:  # noqa: ASYNC110
        await asyncio.sleep(0)
    (question,) = bench.runtime.approvals.open_questions
    bench.runtime.approvals.answer(question.question, "c")
    assert (await task).content == "c"
    with pytest.raises(NotPending):
        bench.runtime.approvals.answer(question.question, "d")
    assert bench.types()[1:3] == ["question_asked", "question_answered"]


async def test_plan_mode_permits_only_reading_whatever_the_rules_allow(tmp_path: Path) -> None:
    ask = heald.testing.ScriptedModel.call
    steps = [[ask("create_file", path="a.txt", content="x"), ask("list_files")], "A plan."]
    permissions = Permissions("auto", ["allow create_file"])
    permissions.planning = True
    agent = heald.Agent(
        heald.testing.ScriptedModel(steps), tools=["files"], workspace=tmp_path, permissions=permissions
    )
    result = await agent.run("Write it.")
    assert not agent.workspace.exists("a.txt")
    await agent.close()
    blocks = [block for message in result.messages for block in message.content]
    assert [block.status for block in blocks if isinstance(block, ToolResult)] == ["denied", "ok"]
