"""The table of started programs: it names every start in the source, and no key reaches a program without a reason."""

import ast
import asyncio
import io
import os
import re
import shutil
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import heald
from git_commands import git
from git_server import make_remote
from heald.core.errors import HealdError
from heald.tools.diagnostics.formatter import FORMATTERS, format_text
from heald.tools.files import ripgrep
from heald.tools.files.walk import Deadline
from heald.tools.git import sandbox as git_sandbox
from heald.tools.git.repository import find_repository
from heald.tools.hooks import ToolHooks
from heald.tools.mcp import McpServer, McpServers
from heald.tools.shell import sandbox
from heald.tools.shell.sandbox import Sandbox
from heald_acp.model import AcpAgent
from heald_acp.program import AgentProgram
from heald_cli.chat.clipboard import _read_clipboard  # pyright: ignore[reportPrivateUsage]
from heald_cli.chat.screen import ChatScreen
from heald_cli.doctor.machine import _program_version  # pyright: ignore[reportPrivateUsage]
from heald_cli.open_browser import open_browser
from heald_cli.repository.changed_hunks import read_changes
from heald_cli.repository.checkpoints import open_checkpoints
from heald_cli.repository.commit import commit_hunks
from heald_cli.repository.commit_dialog import edit_message
from heald_cli.repository.status import describe_repository
from heald_studio.browser.chromium import _spawn  # pyright: ignore[reportPrivateUsage]
from heald_studio.doctor_checks import _describe_program  # pyright: ignore[reportPrivateUsage]
from heald_studio.evaluate.checkers import Checkers
from heald_studio.export.git_push import Commit, push_commits
from heald_studio.input.video import _run  # pyright: ignore[reportPrivateUsage]
from process_starts import may_start, process_starts, starts_of
from repository import ROOT

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

CANARY = "CANARY-0123456789"
SECRETS = (
    *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "HEALD_TOKEN", "HEALD_STORE_PASSWORD"),
    *("GH_TOKEN", "PGPASSWORD", "STRIPE_SK"),
)
OTHERS = {"GH_TOKEN", "PGPASSWORD", "STRIPE_SK"}
"""Secrets that are not keys of models and of Heald."""
_BWRAP = """while [ "$1" != "--" ]; do
    [ $# -eq 0 ] && exit 0
    [ "$1" = "--chdir" ] && cd "$2"
    shift
done
shift
exec "$@\""""
"""A bubblewrap without walls, so that the program inside can write down its environment."""
_ROW = re.compile(r"^\| `([\w./:]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def rows() -> dict[str, tuple[str, ...]]:
    """The rows of the table by the function that starts."""
    text = (ROOT / "docs" / "processes.md").read_text()
    table = {re.sub(r"\.py:|/", ".", row[0]): row[1:] for row in _ROW.findall(text)}
    assert len(table) == sum(line.startswith("| `") for line in text.splitlines())
    return table


def test_every_start_in_the_source_is_described() -> None:
    assert set(rows()) == process_starts()


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess\ndef f(): subprocess.run(['x'])",
        "import subprocess as s\ndef f(): return s.Popen(['x'])",
        "from subprocess import check_output\ndef f(): check_output('x')",
        "import asyncio, subprocess\nasync def f(): await asyncio.to_thread(subprocess.run, ['x'])",
        "import asyncio\nasync def f(): await asyncio.create_subprocess_exec('x')",
        "from asyncio import create_subprocess_shell as shell\nasync def f(): await shell('x')",
        "import os\ndef f(): os.execvp('x', ['x'])",
        "import os\ndef f(): os.system('x')",
        "def f():\n    from os import posix_spawn\n    posix_spawn('x', [], {})",
        "import webbrowser\ndef f(): webbrowser.open('x')",
        "from concurrent.futures import ProcessPoolExecutor\ndef f(): ProcessPoolExecutor()",
        "async def f(loop): await loop.subprocess_exec(None, 'x')",
        "import multiprocessing\ndef f(): multiprocessing.Process(target=print).start()",
    ],
)
def test_a_start_is_found_in_each_form(source: str) -> None:
    assert may_start(source)
    assert list(starts_of("module", ast.parse(source))) == ["module.f"]


def test_a_type_is_no_start() -> None:
    source = "import subprocess\ndef f(a: subprocess.Popen[bytes]):\n    b: subprocess.Popen[bytes] | None = None"
    assert list(starts_of("module", ast.parse(source))) == []


def test_one_place_starts_git() -> None:
    """Of the modules that start programs, only those of `heald.tools.git` name git."""
    named = {start for start, row in rows().items() if re.search(r"\bgit\b", row[0])}
    assert {start.rpartition(".")[0] for start in named} == {"heald.tools.git.program", "heald.tools.git.sandbox"}
    for start in process_starts() - named:
        parts = start.split(".")
        paths = [ROOT.glob(f"packages/*/src/{'/'.join(parts[:length])}.py") for length in range(len(parts), 1, -1)]
        path = next(path for matches in paths for path in matches)
        constants = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
        assert "git" not in constants, start


class Recorder:
    """Programs that write down their environment, then run what they stand for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._records = folder / "records"
        self._records.mkdir(parents=True)

    def program(self, name: str, then: str = "exit 1") -> str:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\nenv > {self._records}/{name}-$$\n{then}\n")
        path.chmod(0o755)
        return str(path)

    def leaked(self) -> set[str]:
        """The secrets that any recorded program had."""
        records = list(self._records.iterdir())
        assert records, "nothing was started"
        lines = [line for record in records for line in record.read_text().splitlines()]
        assert any(line.startswith("PATH=") for line in lines)
        return {line.partition("=")[0] for line in lines if CANARY in line}


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    recorder = Recorder(tmp_path / "bin")
    for name in SECRETS:
        monkeypatch.setenv(name, CANARY)
    real_git = shutil.which("git")
    recorder.program("git", f'exec {real_git} "$@"')
    recorder.program("bwrap", _BWRAP)
    monkeypatch.setenv("PATH", f"{recorder.folder}:{os.environ['PATH']}")
    forget_programs()
    yield recorder
    forget_programs()


def forget_programs() -> None:
    """Look for programs anew."""
    for cached in (ripgrep._programs, sandbox._known_options, sandbox._unavailable, git_sandbox._isolation):  # pyright: ignore[reportPrivateUsage]
        cached.cache_clear()


async def run_git(recorder: Recorder, folder: Path) -> None:
    place = folder / "repository"
    place.mkdir()
    git(place, "init", "-q")
    (place / "a.txt").write_text("one\n")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "First")
    for record in (recorder.folder / "records").iterdir():
        record.unlink()  # those of this test's own git
    repository = find_repository(place)
    assert repository is not None
    assert "First" in describe_repository(repository)
    checkpoints = open_checkpoints(str(place), "ses_1", folder / "data")
    assert checkpoints is not None
    checkpoints.save("one")


async def push(recorder: Recorder, folder: Path) -> None:
    remote = make_remote(folder)
    for record in (recorder.folder / "records").iterdir():
        record.unlink()
    commit = Commit(message="One\n", time=1_700_000_000, files={"index.html": b"one"})
    assert (await push_commits(str(remote), "main", [commit], local=True)).outcome == "new"


async def commit(recorder: Recorder, folder: Path) -> None:
    place = folder / "repository"
    place.mkdir()
    git(place, "init", "-q")
    git(place, "config", "user.name", "A")
    git(place, "config", "user.email", "a@example.org")
    (place / "a.txt").write_text("one\n")
    repository = find_repository(place)
    assert repository is not None
    changes = read_changes(repository)
    for record in (recorder.folder / "records").iterdir():
        record.unlink()
    assert (await commit_hunks(repository, changes, changes.default_numbers, "First")).commit


async def edit_commit_message(recorder: Recorder, folder: Path) -> None:
    os.environ["GIT_EDITOR"] = recorder.program("editor", "exit 0")
    try:
        assert edit_message("First") == "First"
    finally:
        del os.environ["GIT_EDITOR"]


async def probe_git(recorder: Recorder, folder: Path) -> None:
    assert git_sandbox._isolation(str(recorder.folder / "git")) is not None  # pyright: ignore[reportPrivateUsage]


async def probe_sandbox(recorder: Recorder, folder: Path) -> None:
    assert Sandbox().available() is None


async def list_options(recorder: Recorder, folder: Path) -> None:
    sandbox._known_options(str(recorder.folder / "bwrap"))  # pyright: ignore[reportPrivateUsage]


async def search(recorder: Recorder, folder: Path) -> None:
    (folder / "a.txt").write_text("needle\n")
    ripgrep.Ripgrep(str(folder)).candidates("needle", "", ignore_case=False, deadline=Deadline(30))


async def run_hook(recorder: Recorder, folder: Path) -> None:
    hooks = ToolHooks(before=[f"create_file: {recorder.program('hook', 'exit 0')}"])
    model = heald.testing.ScriptedModel(
        [[heald.testing.ScriptedModel.call("create_file", path="a", content="x")], "Done."]
    )
    agent = heald.Agent(model, tools=["files"], workspace=folder, middleware=[hooks.run_around])
    await agent.run("Work.")
    await agent.close()


async def start_mcp_server(recorder: Recorder, folder: Path) -> None:
    server = McpServer(name="recorded", command=recorder.program("server"))
    async with McpServers([server], on_failure=lambda _: None):
        pass


async def start_claude(recorder: Recorder, folder: Path) -> None:
    from claude_agent_sdk import ClaudeAgentOptions

    from heald.providers import ClaudeAgent

    options = ClaudeAgentOptions(cli_path=recorder.program("claude"), cwd=str(folder))
    agent = heald.Agent(ClaudeAgent(options=options))
    with suppress(HealdError):
        await agent.run("Hello.")
    await agent.close()


async def start_foreign_agent(recorder: Recorder, folder: Path) -> None:
    program = AgentProgram(name="recorded", command=(recorder.program("agent"),), keys=("ANTHROPIC_API_KEY",))
    agent = heald.Agent(AcpAgent(program=program), workspace=folder)
    with suppress(HealdError):
        await agent.run("Hello.")
    await agent.close()


async def edit(recorder: Recorder, folder: Path) -> None:
    await ChatScreen(io.StringIO()).run_program([recorder.program("editor", "exit 0")])


async def read_clipboard(recorder: Recorder, folder: Path) -> None:
    _read_clipboard(recorder.program("wl-paste"), [])


async def show_page(recorder: Recorder, folder: Path) -> None:
    os.environ["BROWSER"] = recorder.program("browser", "exit 0")
    try:
        await asyncio.to_thread(open_browser, "http://127.0.0.1:9/")
    finally:
        del os.environ["BROWSER"]


async def name_version(recorder: Recorder, folder: Path) -> None:
    _program_version(recorder.program("rg"))


async def name_ffmpeg(recorder: Recorder, folder: Path) -> None:
    _describe_program(recorder.program("ffmpeg"))


async def start_browser(recorder: Recorder, folder: Path) -> None:
    pid, *pipes = _spawn([recorder.program("chromium")], folder)
    await asyncio.to_thread(os.waitpid, pid, 0)
    for pipe in pipes:
        os.close(pipe)


async def decode_video(recorder: Recorder, folder: Path) -> None:
    await _run([recorder.program("ffmpeg")])


async def validate(recorder: Recorder, folder: Path) -> None:
    await Checkers(node=recorder.program("node"), validator=folder / "validator.js").validate_html("<p>")


async def format_file(recorder: Recorder, folder: Path) -> None:
    await format_text(Sandbox(), str(folder), "a.py", FORMATTERS[0], recorder.program("ruff", "cat"), "x = 1\n")


Start = Callable[[Recorder, Path], Awaitable[None]]
STARTS: dict[str, tuple[Start, set[str]]] = {
    "heald.tools.git.program.run_git": (run_git, set()),
    "heald.tools.git.program.push_with_git": (push, {"GH_TOKEN"}),
    "heald.tools.git.program.run_user_git": (commit, OTHERS - {"GH_TOKEN"}),
    "heald.tools.git.sandbox._isolation": (probe_git, set()),
    "heald.tools.diagnostics.confined_program.ConfinedProgram.start": (format_file, set()),
    "heald.tools.shell.sandbox._known_options": (list_options, set()),
    "heald.tools.shell.sandbox._unavailable": (probe_sandbox, set()),
    "heald.tools.files.ripgrep.Ripgrep.candidates": (search, set()),
    "heald.tools.files.ripgrep._programs": (search, set()),
    "heald.tools.hook_process.run_hook_process": (run_hook, OTHERS),
    "heald.tools.mcp.process_transport.process_transport": (start_mcp_server, set()),
    "heald.providers.claude_agent.query.Query.__init__": (
        start_claude,
        {"ANTHROPIC_API_KEY", *OTHERS},
    ),
    "heald_acp.connection.AgentConnection.start": (start_foreign_agent, {"ANTHROPIC_API_KEY"}),
    "heald_cli.chat.screen.ChatScreen.run_program": (edit, OTHERS),
    "heald_cli.repository.commit_dialog.edit_message": (edit_commit_message, OTHERS),
    "heald_cli.chat.clipboard._read_clipboard": (read_clipboard, set()),
    "heald_cli.open_browser.open_browser": (show_page, set()),
    "heald_cli.doctor.machine._program_version": (name_version, set()),
    "heald_studio.doctor_checks._describe_program": (name_ffmpeg, set()),
    "heald_studio.browser.chromium._spawn": (start_browser, set()),
    "heald_studio.input.video._run": (decode_video, set()),
    "heald_studio.evaluate.checkers.Checkers.validate_html": (validate, set()),
}
"""How each program is started here, and the secrets that it may have."""
ELSEWHERE = {
    "heald.tools.shell.process.Process._spawn",  # test_security_shell.py::test_s07_a_key_in_our_environment
    "heald_cli.workers.WorkerSupervisor._start",  # the server itself
    "heald_cli.chat.work_commands.run_shell_line",  # the person's own command, with the person's environment
}


def test_every_start_is_tried() -> None:
    assert {*STARTS, *ELSEWHERE} == set(rows())


@pytest.mark.parametrize("start", STARTS)
async def test_no_program_gets_a_key_without_a_reason(start: str, recorder: Recorder, tmp_path: Path) -> None:
    call, allowed = STARTS[start]
    await call(recorder, tmp_path)
    assert recorder.leaked() == allowed
