"""Counts the questions for 1,000 generated commands in `ask` beside `inside`, and the attacks that pass.

python -m benchmarks.questions [--no-attacks]

The decisions are those of the real permissions and the real sandbox; hosts go through the real gate, with a person who
allows what is proposed. The commands themselves are not run, the attacks are. A whole run writes questions.json.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.questions.attacks import AttackReport, run_attacks
from benchmarks.questions.make_commands import HOSTS, PROJECTS, SessionCommand, read_commands
from benchmarks.report import commit_name, machine
from heald.core.messages import ToolCall
from heald.tools.permissions import Mode, Permissions
from heald.tools.planned_call import PlannedCall
from heald.tools.runtime import ToolRuntime
from heald.tools.shell.network.command_gate import CommandGate, SessionHosts
from heald.tools.shell.sandbox import Sandbox
from heald.tools.shell.tools import shell_tools
from heald.tools.web.urls import parse_target
from heald.tools.workspace.disk import DiskWorkspace

RESULT = Path(__file__).parent.with_name("questions.json")


@dataclass
class Count:
    """The questions of one mode."""

    commands: int = 0
    distinct_commands: int = 0
    """Without those that `always` spares: the same command again in the same session."""
    hosts: int = 0
    by_kind: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def all(self) -> int:
        return self.commands + self.hosts

    @property
    def distinct(self) -> int:
        return self.distinct_commands + self.hosts


def _make_folders(top: Path) -> None:
    """A folder for each project, with the lock file and the remote that its hosts come from."""
    files = {"python": "uv.lock", "node": "package-lock.json", "rust": "Cargo.lock", "go": "go.sum"}
    lines = {
        "python": 'source = {{ registry = "https://{}/simple" }}\n',
        "node": '"resolved": "https://{}/x.tgz"\n',
        "rust": 'source = "registry+https://{}/index"\n',
        "go": "{}/x/mod v1.0.0 h1:x=\n",
    }
    for name, language in PROJECTS.items():
        folder = top / name
        (folder / ".git").mkdir(parents=True)
        (folder / ".git/config").write_text(f'[remote "origin"]\n\turl = https://{HOSTS["git"][0]}/{name}.git\n')
        (folder / files[language]).write_text("".join(lines[language].format(host) for host in HOSTS[language]))


async def count_questions(mode: Mode, top: Path, commands: list[SessionCommand]) -> Count:
    """Count the questions about commands and about hosts, in the order of the sessions."""
    count = Count()
    runtimes: dict[int, ToolRuntime] = {}
    for command in commands:
        session = command.session
        if session not in runtimes:
            workspace = DiskWorkspace(top / command.folder)
            runtimes[session] = ToolRuntime(shell_tools(Sandbox()), workspace=workspace, permissions=Permissions(mode))
        runtime = runtimes[session]
        planned = runtime.plan(ToolCall(id="call", name="run_command", input={"command": command.command}))
        assert isinstance(planned, PlannedCall)
        if runtime.decide(planned).verdict == "ask":
            digest = runtime.digest(planned)
            count.commands += 1
            count.by_kind[command.kind] = count.by_kind.get(command.kind, 0) + 1
            count.distinct_commands += digest not in runtime.permissions.always
            runtime.permissions.always.add(digest)
        await _count_hosts(count, command, runtime)
    for runtime in runtimes.values():
        await runtime.close()
    return count


async def _count_hosts(count: Count, command: SessionCommand, runtime: ToolRuntime) -> None:
    async def person(_: str, suggestions: Sequence[str]) -> str:
        count.hosts += 1
        return suggestions[0]

    decisions = runtime.session_objects.get(SessionHosts)
    gate = CommandGate(runtime.workspace.root, command.command, decisions, person)
    for host in command.hosts:
        assert await gate.refusal(parse_target(f"https://{host}/")) is None


async def main() -> None:
    if (reason := Sandbox().available()) is not None:
        sys.exit(reason)
    commands = read_commands()
    counts: dict[Mode, Count] = {}
    for mode in ("ask", "inside"):
        with tempfile.TemporaryDirectory() as top, tempfile.TemporaryDirectory() as settings:
            os.environ["XDG_CONFIG_HOME"] = settings
            _make_folders(Path(top))
            counts[mode] = await count_questions(mode, Path(top), commands)
    report = AttackReport()
    if "--no-attacks" not in sys.argv:
        with tempfile.TemporaryDirectory() as settings:
            os.environ["XDG_CONFIG_HOME"] = settings
            report = await run_attacks()
    _print(counts, report, len(commands))
    if "--no-attacks" not in sys.argv:
        place = {"command": "python -m benchmarks.questions", "commit": commit_name(), "machine": machine()}
        result = place | {"commands": len(commands), "modes": {mode: asdict(count) for mode, count in counts.items()}}
        RESULT.write_text(json.dumps(result | {"attacks": asdict(report)}, indent=2) + "\n")
    if counts["inside"].all > counts["ask"].all / 10 or report.passed:
        sys.exit(1)


def _print(counts: dict[Mode, Count], report: AttackReport, total: int) -> None:
    print(f"| {total:,} commands | about commands | about hosts | all | all, with `always` for repeated ones |")
    print("|---|---|---|---|---|")
    for mode, count in counts.items():
        print(f"| `{mode}` | {count.commands:,} | {count.hosts} | {count.all:,} | {count.distinct:,} |")
    ask, inside = counts["ask"], counts["inside"]
    fewer, fewer_distinct = 1 - inside.all / ask.all, 1 - inside.distinct / ask.distinct
    print(f"\n{fewer:.1%} fewer questions, {fewer_distinct:.1%} where `always` spares repeated ones.")
    print(f"Asked for in `inside`: {', '.join(f'{kind} {number}' for kind, number in inside.by_kind.items())}.")
    passed = f": {', '.join(report.passed)}" if report.passed else ""
    print(f"Attacks: {report.tried} tried, {len(report.passed)} passed{passed}.")


if __name__ == "__main__":
    asyncio.run(main())
