"""The mode `inside`: what stays in the workspace runs without a question, what leaves it is asked for."""

from pathlib import Path

import pytest

import heald
from heald.core.events import ApprovalRequested
from heald.core.json import JsonObject
from heald.tools.families import named_tools
from heald.tools.permissions import Permissions
from heald.tools.shell import sandbox as sandbox_module
from heald.tools.shell.sandbox import Sandbox

S = heald.testing.ScriptedModel
PERMISSIONS = Permissions("inside")


def verdict(tool: str, box: Sandbox | None = None, permissions: Permissions = PERMISSIONS, **arguments: object) -> str:
    tools = {entry.name: entry for entry in named_tools(["all"], box)}
    values: JsonObject = dict(arguments)  # type: ignore[assignment]
    return permissions.decide(tools[tool], values).verdict


@pytest.fixture
def sandbox() -> Sandbox:
    box = Sandbox()
    reason = box.available()
    if reason is not None:
        pytest.skip(reason)
    return box


@pytest.mark.parametrize(
    "command",
    [
        "ls -la", "pytest -q", "npm install", "python setup.py build && rm -rf build", "for f in *; do echo $f; done",
        "curl https://example.org", "git commit -am x && git fetch", "git stash push -m x", "sudo rm -rf /", "eval $X",
    ],
)  # fmt: skip
def test_commands_in_the_sandbox_are_not_asked_for(sandbox: Sandbox, command: str) -> None:
    assert verdict("run_command", sandbox, command=command) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git push", "git push origin main --force", "FOO=1 git -C x -c a=b push", "(git push)", "bash -c 'git push'",
        "git 'push'", "g\\it pu\\sh", "git stash push; git push", "cd x && git push 2>&1 | tail",
    ],
)  # fmt: skip
def test_a_push_is_asked_for(sandbox: Sandbox, command: str) -> None:
    assert verdict("run_command", sandbox, command=command) == "ask"


def test_files_of_the_workspace_are_not_asked_for() -> None:
    assert verdict("read_file", path="a.py") == "allow"
    assert verdict("write_file", path="a.py", content="x") == "allow"
    assert verdict("edit_file", path="a.py", old_text="a", new_text="b") == "allow"
    assert verdict("apply_patch", patch="*** Begin Patch\n*** Delete File: a.py\n*** End Patch") == "allow"


def test_secrets_and_other_tools_are_asked_for(sandbox: Sandbox) -> None:
    assert verdict("read_file", path=".env") == "ask"
    assert verdict("run_command", sandbox, command="cat .env") == "ask"
    assert verdict("fetch_url", url="https://example.org/") == "ask"

    @heald.tool
    def deploy(place: str) -> str:
        """Deploy."""
        return place

    @heald.tool(effect="write")
    def publish(place: str) -> str:
        """Publish."""
        return place

    assert PERMISSIONS.decide(deploy, {"place": "x"}).verdict == "ask"
    assert PERMISSIONS.decide(publish, {"place": "x"}).verdict == "ask"


def test_a_tool_can_say_what_stays_inside() -> None:
    def outside_effect(arguments: JsonObject) -> str | None:
        return None if arguments["place"] == "here" else "It goes elsewhere."

    @heald.tool(effect="write", outside_effect=outside_effect)
    def publish(place: str) -> str:
        """Publish."""
        return place

    assert PERMISSIONS.decide(publish, {"place": "here"}).verdict == "allow"
    decision = PERMISSIONS.decide(publish, {"place": "there"})
    assert (decision.verdict, decision.reason) == ("ask", "It goes elsewhere.")


def test_rules_come_first(sandbox: Sandbox) -> None:
    permissions = Permissions("inside", ["deny run_command(rm *)", "ask run_command(make*)", "allow fetch_url"])
    assert verdict("run_command", sandbox, permissions, command="rm -rf x") == "deny"
    assert verdict("run_command", sandbox, permissions, command="make all") == "ask"
    assert verdict("fetch_url", None, permissions, url="https://example.org/") == "allow"


def test_without_a_sandbox_commands_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert verdict("run_command", Sandbox(unsandboxed=True), command="ls") == "ask"

    def unavailable(_: str | None) -> str:
        return "Commands cannot be run: no bubblewrap."

    monkeypatch.setattr(sandbox_module, "_unavailable", unavailable)
    assert verdict("run_command", Sandbox(path="/usr/bin"), command="ls") == "ask"
    assert verdict("write_file", path="a.py", content="x") == "allow"


async def test_the_question_says_why(tmp_path: Path) -> None:
    asked: list[ApprovalRequested] = []

    async def approve(request: ApprovalRequested) -> bool:
        asked.append(request)
        return True

    calls = [
        [S.call("run_command", command="echo hello")],
        [S.call("write_file", path="a.txt", content="x")],
        [S.call("run_command", command="git push")],
        "Done.",
    ]
    for box, expected in ((Sandbox(), ["git push"]), (Sandbox(unsandboxed=True), ["echo hello", "git push"])):
        if box.available() is not None:
            continue
        asked.clear()
        async with heald.Agent(
            S(calls),
            tools=[*heald.named_tools(["files"]), *heald.shell_tools(box)],
            workspace=tmp_path,
            permissions="inside",
            on_approval=approve,
        ) as agent:
            await agent.run("Go.")
        assert [request.summary.splitlines()[0] for request in asked] == [f"command: {line}" for line in expected]
    assert "(Commands run without a sandbox.)" in asked[0].summary
