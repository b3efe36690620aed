"""An external agent on a project in memory: it works in a private copy, and its changes become those of the project."""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import heald
import scripted_agent
from heald.core.envelope import Event
from heald.core.events import ApprovalRequested
from heald.core.json import encode_text
from heald.tools.approvals import Approval
from heald.tools.permissions import Mode
from heald.tools.shell.sandbox import Sandbox
from heald.tools.workspace.memory import MemoryWorkspace
from heald_acp import project_copy
from heald_acp.model import AcpAgent
from heald_acp.program import AgentProgram
from heald_check import check_log

NEEDS_SANDBOX = pytest.mark.skipif(Sandbox().available() is not None, reason="bubblewrap makes no sandbox here")
PAGE = "<!doctype html><title>Bread</title>"


class Project:
    """A project in memory with an agent that plays a script."""

    def __init__(self, folder: Path) -> None:
        self.files = MemoryWorkspace()
        self.events: list[Event] = []
        self.questions: list[ApprovalRequested] = []
        self.is_allowed = True
        self._script, self._record = folder / "script.json", folder / "record.jsonl"

    def agent(self, *prompts: Sequence[Sequence[Any]], mode: Mode = "inside") -> heald.Agent:
        self._script.write_text(json.dumps(prompts))
        command = (sys.executable, scripted_agent.__file__, str(self._script), str(self._record))

        async def approve(request: ApprovalRequested) -> Approval:
            self.questions.append(request)
            return Approval(allowed=self.is_allowed)

        agent = heald.Agent(
            AcpAgent(program=AgentProgram(name="scripted", command=command)),
            workspace=self.files,
            permissions=heald.Permissions(mode),
            on_approval=approve,
        )
        agent.subscribe(self.events.append)
        return agent

    def of(self, kind: str) -> list[Any]:
        return [event.data for event in self.events if event.type == kind]

    def changes(self) -> list[tuple[str, str]]:
        """The changed files, each with the name of the call that changed it."""
        names = {call.id: call.name for call in self.of("tool_call")}
        return [(change.path, names[change.cause]) for change in self.of("file_changed")]

    def results(self) -> str:
        return json.dumps([str(result.content) for result in self.of("tool_result")])

    def record(self) -> list[Any]:
        return [json.loads(line) for line in self._record.read_text().splitlines()]

    def folder(self) -> Path:
        """The folder that the agent was told to work in."""
        return Path(next(entry["params"]["cwd"] for entry in self.record() if entry.get("method") == "session/new"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def write(path: str, text: str = PAGE, call: str = "c1") -> list[Any]:
    return ["ask", call, {"kind": "edit", "title": "Write", "rawInput": {"path": path}, "writes": [path, text]}]


def during(kind: str, *steps: Sequence[Any], **report: Any) -> list[Any]:
    """A call of the agent that it does not ask for, and what happens in it."""
    call = {"toolCallId": "c1", "kind": kind, "status": "in_progress", **report}
    return [["tool_call", call], *steps, ["tool_call_update", {"toolCallId": "c1", "status": "completed"}]]


async def test_a_written_file_is_one_of_the_project(project: Project) -> None:
    async with project.agent([write("index.html"), ["say", "Done."]]) as agent:
        result = await agent.run("Build")
        assert project.folder().parent.stat().st_mode & 0o077 == 0
    assert (result.status, result.text, result.files) == ("completed", "Done.", {"index.html": PAGE})
    assert project.changes() == [("index.html", "acp_edit")]
    assert not project.questions
    assert not project.folder().exists()
    assert check_log(project.events) == []


async def test_the_agent_finds_the_files_changes_and_deletes_them(project: Project) -> None:
    for path in ("a.txt", "b/c.txt", "d.txt"):
        project.files.put(path, "old\n")
    project.files.put("logo.png", b"\x89PNG\0")
    command = "cat a.txt > copy.txt; echo new > b/c.txt; rm d.txt; touch a.txt; mv logo.png mark.png"
    async with project.agent(
        during("execute", ["shell", command], rawInput={"command": command}), mode="auto"
    ) as agent:
        await agent.run("Go")
    assert {path: project.files.read(path) for path in project.files.paths} == {
        "a.txt": b"old\n",
        "b/c.txt": b"new\n",
        "copy.txt": b"old\n",
        "mark.png": b"\x89PNG\0",
    }
    assert {path for path, _ in project.changes()} == {"b/c.txt", "copy.txt", "d.txt", "logo.png", "mark.png"}
    assert {name for _, name in project.changes()} == {"acp_execute"}
    assert check_log(project.events) == []


async def test_a_change_is_published_while_the_call_runs(project: Project, tmp_path: Path) -> None:
    go_on = tmp_path / "seen"
    steps = during("edit", ["shell", "echo 1 > a.txt"], ["await", str(go_on)], ["shell", "echo 2 > a.txt"], rawInput={
        "path": "a.txt"
    })  # fmt: skip
    async with project.agent(steps) as agent, asyncio.timeout(60):
        running = agent.send("Go")
        while not project.of("file_changed"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert not project.of("tool_result")
        go_on.touch()
        await running.result()
    assert [change.revision for change in project.of("file_changed")] == [1, 2]
    assert project.files.read_text("a.txt") == "2\n"
    assert check_log(project.events) == []


async def test_what_no_call_covers_becomes_a_call(project: Project) -> None:
    steps = [*during("read", rawInput={"path": "x"}), ["shell", "echo 1 > a.txt"], ["say", "Done."]]
    async with project.agent(steps) as agent:
        assert (await agent.run("Go")).status == "completed"
    assert project.changes() == [("a.txt", "acp_edit")]
    assert project.of("tool_call")[-1].input == {"paths": ["a.txt"]}
    assert check_log(project.events) == []


async def test_it_becomes_one_while_the_agent_works(project: Project, tmp_path: Path) -> None:
    go_on = tmp_path / "seen"
    steps = [["shell", "echo 1 > a.txt"], ["await", str(go_on)], ["say", "Done."]]
    async with project.agent(steps) as agent, asyncio.timeout(60):
        running = agent.send("Go")
        while not project.of("file_changed"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        go_on.touch()
        result = await running.result()
    assert (result.text, result.files) == ("Done.", {"a.txt": "1\n"})
    assert check_log(project.events) == []


async def test_it_is_asked_for_once_if_the_permissions_say_so(project: Project, tmp_path: Path) -> None:
    project.is_allowed = False
    flags = [tmp_path / "second", tmp_path / "third"]
    steps = [
        write("a.txt", "1"),
        ["shell", "echo 2 > b.txt"],
        ["await", str(flags[0])],
        ["shell", "echo 3 > c.txt"],
        ["await", str(flags[1])],
        ["say", "Done."],
    ]
    async with project.agent(steps, mode="ask") as agent, asyncio.timeout(60):
        running = agent.send("Go")
        for count, flag in enumerate(flags, 2):
            while len(project.questions) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            flag.touch()
        assert (await running.result()).status == "completed"
    asked = [question.input for question in project.questions]
    assert asked == [{"path": "a.txt"}, {"paths": ["b.txt"]}, {"paths": ["c.txt"]}]
    assert not project.files.paths
    assert not project.of("file_changed")
    assert check_log(project.events) == []


async def test_a_call_that_may_change_one_file_publishes_no_other(project: Project) -> None:
    steps = during("edit", ["shell", "echo 1 > a.txt; echo 2 > b.txt"], rawInput={"path": "a.txt"})
    async with project.agent(steps) as agent:
        await agent.run("Go")
    causes = {change.path: change.cause for change in project.of("file_changed")}
    assert causes.keys() == {"a.txt", "b.txt"}
    assert causes["a.txt"] != causes["b.txt"]
    assert check_log(project.events) == []


async def test_calls_outside_of_the_copy_and_commands_are_asked_for(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "outside.txt"
    outside = str(file)
    steps = [
        write(outside, "x"),
        ["ask", "c2", {"kind": "execute", "rawInput": {"command": "ls"}}],
        ["request", "fs/write_text_file", {"path": outside, "content": "x"}],
    ]
    project.is_allowed = False
    async with project.agent(steps) as agent:
        await agent.run("Go")
    assert [question.name for question in project.questions] == ["acp_edit", "acp_execute"]
    assert "is outside of the folder" in (project.questions[0].reason or "")
    assert not file.exists()
    assert "is outside of the workspace" in json.dumps(project.record())


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("ln -s /etc/passwd link", "'link' is a symbolic link"),
        ("ln -s .. up", "'up' is a symbolic link"),
        ("mkfifo pipe", "'pipe' is not a regular file"),
        ("mkdir -p node_modules/x; echo 1 > node_modules/x/a.js", "'node_modules' is among installed or generated"),
        ("echo 1 > AGENTS.md", "'AGENTS.md' is protected"),
        ("mkdir .github; mkdir .github/workflows; echo 1 > .github/workflows/ci.yml", "is obeyed by other programs"),
        ("head -c 2000 /dev/zero > big.bin", "'big.bin' has 2,000 bytes; a file of a project has at most 1,000"),
        ("for n in 1 2 3 4 5 6; do echo $n > $n.txt; done", "which has 5 files, the most possible"),
        ("for n in 1 2 3 4; do head -c 999 /dev/zero > $n.bin; done", "which would exceed 3,000 bytes"),
        (r"touch 'a\b.txt'", "has a name that a file of a project cannot have"),
    ],
)
async def test_what_a_project_cannot_hold_is_refused_with_a_sentence(
    command: str, sentence: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit in (("MAX_FILE", 1000), ("MAX_FILES", 5), ("MAX_TOTAL", 3000)):
        monkeypatch.setattr(project_copy, name, limit)
    steps = during("execute", ["shell", f"{command}; echo good > good.txt"], rawInput={"command": "make"})
    async with project.agent(steps, mode="auto") as agent:
        await agent.run("Go")
    assert sentence in project.results()
    assert len(project.files.paths) <= 5
    assert not {"link", "up", "pipe", "AGENTS.md", "big.bin"} & set(project.files.paths)
    assert check_log(project.events) == []


async def test_a_file_that_becomes_a_link_stays_as_it_was(project: Project) -> None:
    project.files.put("a.txt", "old\n")
    steps = [["shell", "ln -sf /etc/passwd a.txt"], ["say", "Done."]]
    async with project.agent(steps) as agent:
        await agent.run("Go")
    assert project.files.read_text("a.txt") == "old\n"
    assert "'a.txt' is a symbolic link" in project.results()


async def test_files_through_heald_are_those_of_the_copy(project: Project) -> None:
    project.files.put("a.txt", "one\ntwo\n")
    steps = [
        ["shell", "echo three >> a.txt"],
        ["request", "fs/read_text_file", {"path": "a.txt"}],
        ["request", "fs/write_text_file", {"path": "b.txt", "content": "b\n"}],
        ["shell", "cat b.txt > c.txt"],
        ["request", "fs/write_text_file", {"path": ".git/config", "content": "x"}],
        ["request", "fs/write_text_file", {"path": "node_modules/x.js", "content": "x"}],
    ]
    async with project.agent(steps) as agent:
        await agent.run("Go")
    assert {path: project.files.read_text(path) for path in project.files.paths} == {
        "a.txt": "one\ntwo\nthree\n",
        "b.txt": "b\n",
        "c.txt": "b\n",
    }
    answers = [entry.get("result", entry.get("error")) for entry in project.record() if "method" not in entry]
    assert answers[0] == {"content": "one\ntwo\nthree\n"}
    assert "is protected" in answers[2]["message"]
    assert "is among installed" in answers[3]["message"]
    assert check_log(project.events) == []


@NEEDS_SANDBOX
async def test_a_terminal_runs_in_the_sandbox_of_the_copy(project: Project, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("CANARY")
    project.files.put("a.txt", "one\n")
    command = f"cat a.txt > b.txt; cat {tmp_path}/outside.txt; ls -a"
    async with project.agent([["run_command", command]], mode="auto") as agent:
        result = await agent.run("Go")
    assert "CANARY" not in result.text
    assert project.files.read_text("b.txt") == "one\n"
    assert project.files.paths == ["a.txt", "b.txt"]
    assert "is protected" not in project.results()  # the sandbox's own placeholders
    assert check_log(project.events) == []


async def test_the_next_request_finds_what_others_changed(project: Project) -> None:
    project.files.put("gone.txt", "x")
    second = during("execute", ["shell", "cat a.txt; ls > list.txt"], rawInput={"command": "ls"})
    async with project.agent([write("a.txt", "1")], second, mode="auto") as agent:
        await agent.run("Go")
        project.files.put("a.txt", "2")
        project.files.put("new.txt", "3")
        project.files.put("gone.txt", None)
        await agent.run("And now?")
    assert project.files.read_text("list.txt").split() == ["a.txt", "list.txt", "new.txt"]
    assert project.files.read_text("a.txt") == "2"


async def test_the_log_names_files_of_the_project_and_not_of_the_copy(project: Project) -> None:
    diff = [{"type": "diff", "path": "$CWD/a.txt", "newText": "1"}]
    edit = during("edit", ["shell", "echo 1 > a.txt"], rawInput={"path": "$CWD/a.txt"}, content=diff)
    async with project.agent(edit) as agent:
        await agent.run("Go")
    assert [call.input for call in project.of("tool_call")] == [{"path": "a.txt"}]
    assert "a.txt was changed" in project.results()
    assert str(project.folder()) not in encode_text(project.events)


async def test_a_cancelled_exchange_keeps_what_was_done_and_leaves_no_process(project: Project, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    child = f"(setsid sh -c 'echo $$ >> {pids}; exec sleep 600' &) ; (sh -c 'echo $$ >> {pids}; exec sleep 600' &)"
    steps = during("edit", ["shell", f"{child} >/dev/null 2>&1; echo 1 > a.txt"], ["wait"], rawInput={"path": "a.txt"})
    async with project.agent(steps) as agent, asyncio.timeout(60):
        running = agent.send("Go")
        while not project.of("file_changed") or len(pids.read_text().split()) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        running.cancel()
        assert (await running.result()).status == "cancelled"
        alive = [pid for pid in map(int, pids.read_text().split()) if is_alive(pid)]
        assert not alive
    assert project.files.read_text("a.txt") == "1\n"
    assert not project.folder().exists()
    assert check_log(project.events) == []


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
