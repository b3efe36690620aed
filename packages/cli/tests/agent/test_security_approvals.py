"""I04a and the like: what a person sees is what is asked, what was allowed once is allowed once, and rules hold."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from security_support import Stage

import heald
from heald.agent.agent import Agent
from heald.core.events import ApprovalRequested, ApprovalResolved
from heald.providers.scripted import ScriptedCall
from heald.tools.approvals import NotPending
from log_support import Log, call, scripted, until


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, monkeypatch)


class Person:
    """Somebody who is asked, and decides by hand."""

    def __init__(self, stage: Stage, *turns: list[ScriptedCall] | str) -> None:
        self.agent = Agent(scripted(*turns), tools=["files"], workspace=stage.inside, permissions="ask")
        self.log = Log(self.agent)
        self._seen = 0

    async def asked(self) -> ApprovalRequested:
        """The next request."""
        await until(lambda: len(self.log.of(ApprovalRequested)) > self._seen)
        self._seen += 1
        return self.log.of(ApprovalRequested)[self._seen - 1]


def write(content: str, call_id: str = "call_1", path: str = "a.txt") -> ScriptedCall:
    return ScriptedCall("write_file", {"path": path, "content": content}, id=call_id)


@pytest.fixture
async def person(stage: Stage) -> Any:
    people: list[Person] = []

    def make(*turns: list[ScriptedCall] | str) -> Person:
        people.append(Person(stage, *turns))
        return people[-1]

    yield make
    for somebody in people:
        somebody.log.prove(host_paths=[str(stage.folder)])
        await somebody.agent.close()


async def test_i04a_the_same_id_with_other_arguments_is_repeated(stage: Stage, person: Callable[..., Person]) -> None:
    alice = person([write("A")], [write("B")], "Done.")
    exchange = alice.agent.send("Go.")
    first = await alice.asked()
    alice.agent.approve(first.approval, digest=first.digest)
    second = await alice.asked()
    assert second.digest != first.digest
    assert second.approval != first.approval
    assert second.call_id != first.call_id
    assert (stage.inside / "a.txt").read_text() == "A"
    with pytest.raises(NotPending):
        alice.agent.approve(first.approval, digest=first.digest)
    with pytest.raises(NotPending):
        alice.agent.approve(second.approval, digest=first.digest)
    alice.agent.deny(second.approval)
    await asyncio.wait_for(exchange.result(), 60)
    assert (stage.inside / "a.txt").read_text() == "A"


async def test_i04a_the_same_call_a_second_time_is_repeated(stage: Stage, person: Callable[..., Person]) -> None:
    alice = person([write("A")], [write("A", path="b.txt")], [write("A", path="b.txt")], "Done.")
    exchange = alice.agent.send("Go.")
    for decision in (True, True, False):
        request = await alice.asked()
        if decision:
            alice.agent.approve(request.approval, digest=request.digest)
            with pytest.raises(NotPending):
                alice.agent.approve(request.approval, digest=request.digest)
        else:
            alice.agent.deny(request.approval)
            with pytest.raises(NotPending):
                alice.agent.approve(request.approval)
    await asyncio.wait_for(exchange.result(), 60)
    assert [r.decision for r in alice.log.of(ApprovalResolved)] == ["allowed", "allowed", "denied"]


async def test_i04a_two_calls_with_one_id_in_one_message(stage: Stage, person: Callable[..., Person]) -> None:
    alice = person([write("A"), write("B", path="b.txt")], "Done.")
    exchange = alice.agent.send("Go.")
    first, second = await alice.asked(), await alice.asked()
    alice.agent.deny(second.approval)
    alice.agent.approve(first.approval, digest=first.digest)
    await asyncio.wait_for(exchange.result(), 60)
    assert (stage.inside / "a.txt").read_text() == "A"
    assert not (stage.inside / "b.txt").exists()


async def test_i04a_an_approval_of_an_exchange_that_is_over(stage: Stage, person: Callable[..., Person]) -> None:
    alice = person([write("A")], [write("A")], "Done.")
    exchange = alice.agent.send("Go.")
    old = await alice.asked()
    alice.agent.cancel()
    await asyncio.wait_for(exchange.result(), 60)
    exchange = alice.agent.send("Again.")
    new = await alice.asked()
    assert new.digest == old.digest, "the same call in the same place"
    with pytest.raises(NotPending):
        alice.agent.approve(old.approval, digest=old.digest)
    alice.agent.deny(new.approval)
    await asyncio.wait_for(exchange.result(), 60)
    assert not (stage.inside / "a.txt").exists()


async def test_i04a_always_is_for_this_and_nothing_wider(stage: Stage, person: Callable[..., Person]) -> None:
    paths = ["a*.txt", "a*.txt", "abc.txt", "sub/a*.txt"]
    alice = person(*([write("A", path=path)] for path in paths), "Done.")
    exchange = alice.agent.send("Go.")
    first = await alice.asked()
    alice.agent.approve(first.approval, always=True)
    for _ in paths[2:]:
        alice.agent.deny((await alice.asked()).approval)
    await asyncio.wait_for(exchange.result(), 60)
    assert len(alice.log.of(ApprovalRequested)) == 3
    assert (stage.inside / "a*.txt").exists()
    assert not (stage.inside / "abc.txt").exists()


async def test_i04a_always_in_one_folder_is_not_always_in_another(stage: Stage) -> None:
    assert await _asked_after_always(stage, {"command": "./build"}, {"command": "./build", "cwd": "sub"}) == 2


async def test_i04a_always_for_a_script_is_not_always_for_the_program_of_that_name(stage: Stage) -> None:
    assert await _asked_after_always(stage, {"command": "./tools/rm -r sub"}, {"command": "rm -r sub"}) == 2


async def _asked_after_always(stage: Stage, *made: dict[str, str]) -> int:
    """How often somebody is asked who says always."""

    async def always(_: ApprovalRequested) -> heald.Approval:
        return heald.Approval(True, always=True)

    turns = [[ScriptedCall("run_command", arguments)] for arguments in made]
    played = await stage.play(*turns, "Done.", permissions="ask", on_approval=always)
    return len(played.log.of(ApprovalRequested))


async def test_i04a_other_arguments_of_the_approver_are_judged_too(stage: Stage) -> None:
    async def decide(_: ApprovalRequested) -> heald.Approval:
        return heald.Approval(True, arguments={"path": "../OUT/x", "content": "x"})

    (outside,) = await stage.calls(write("A"), tools=["files"], permissions="ask", on_approval=decide)
    assert outside.is_error

    async def forbidden(_: ApprovalRequested) -> heald.Approval:
        return heald.Approval(True, arguments={"path": "no/x", "content": "x"})

    permissions = heald.Permissions("ask", ["deny write_file(no/*)"])
    (denied,) = await stage.calls(write("A"), tools=["files"], permissions=permissions, on_approval=forbidden)
    assert denied.status == "denied"


@pytest.mark.parametrize("path", ["no/x", "./no/x", "no//x", "no/./x", "fine/../no/x"])
async def test_a_rule_holds_for_every_spelling_of_a_path(stage: Stage, path: str) -> None:
    permissions = heald.Permissions("auto", ["deny write_file(no/*)"])
    (result,) = await stage.calls(write("A", path=path), tools=["files"], permissions=permissions)
    assert result.is_error
    assert not (stage.inside / "no").exists()


@pytest.mark.parametrize("made", ["alias/key.txt", "other.txt"])
async def test_a_rule_holds_through_a_link(stage: Stage, made: str) -> None:
    (stage.inside / "private").mkdir()
    (stage.inside / "private" / "key.txt").write_text("PRIVATE\n")
    (stage.inside / "alias").symlink_to("private")
    (stage.inside / "other.txt").symlink_to("private/key.txt")
    permissions = heald.Permissions("auto", ["deny read_file(private/*)"])
    direct, linked = await stage.calls(
        call("read_file", path="private/key.txt"), call("read_file", path=made), permissions=permissions
    )
    assert direct.status == "denied"
    assert "PRIVATE" not in linked.text


_CUT = "The summary of a request for approval is cut at 120 characters, and at 480 without a mark."
_JOINED = "Line breaks of a command are shown as spaces, so that one behind a comment looks like a part of it."


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("true; ", id="plain"),
        pytest.param(f"echo {'a' * 130}; ", id="long"),
        pytest.param(f"true {' ' * 600}; ", id="spaces"),
        pytest.param("true # done\n", id="comment"),
    ],
)
async def test_i01a_a_person_is_shown_all_of_a_command(stage: Stage, before: str) -> None:
    summaries: list[str] = []

    async def decide(request: ApprovalRequested) -> bool:
        summaries.append(request.summary)
        return False

    await stage.calls(
        call("run_command", command=f"{before}curl http://evil.test/"), permissions="ask", on_approval=decide
    )
    assert "curl http://evil.test/" in summaries[0]
    assert "# done curl" not in summaries[0]
