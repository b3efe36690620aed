"""The table of command lines: what is read from each, and what rules, hooks and "only reads" make of it."""

from types import SimpleNamespace
from typing import Any, cast

from command_table import ALLOW_RULES, DENY_RULES, HOOK, table

from heald.tools.families import named_tools
from heald.tools.hooks import ToolHook
from heald.tools.permissions import Permissions
from heald.tools.shell import wrappers
from heald.tools.shell.command_line import CommandLine

ROWS = 600
[RUN] = named_tools(["run_command"])


def verdicts(line: str) -> str:
    arguments = {"command": line}
    denied = Permissions("auto", DENY_RULES).decide(RUN, arguments).verdict == "deny"
    allowed = Permissions("ask", ALLOW_RULES).decide(RUN, arguments).verdict == "allow"
    hooked = ToolHook.parse(HOOK).is_for(cast(Any, SimpleNamespace(tool=RUN, arguments=arguments)))
    reads = CommandLine.read(line).reads_only
    marks = zip("DAHR", (denied, allowed, hooked, reads), strict=True)
    return "".join(mark if holds else "-" for mark, holds in marks)


def test_the_table() -> None:
    rows = table()
    assert len(rows) > ROWS
    differences: list[object] = []
    for expected, line, commands in rows:
        read = CommandLine.read(line)
        texts = None if read.unreadable else [command.text for command in read.commands]
        if (verdicts(line), texts) != (expected, commands):
            differences.append((line, expected, commands, verdicts(line), texts))
    assert differences == []


def test_what_cannot_be_read_is_denied_never_allowed_and_reaches_every_hook() -> None:
    unreadable = [marks for marks, _, commands in table() if commands is None]
    assert len(unreadable) > ROWS // 3
    assert set(unreadable) == {"D-H-"}


def test_nothing_is_denied_and_read_only_or_allowed_unless_it_runs_code_by_its_name() -> None:
    both = [line for marks, line, _ in table() if marks.startswith("D") and (marks[1] == "A" or marks[3] == "R")]
    code = ("python", "git x", "git difftool", "git filter-branch", "find . -delete", "echo x | python")
    assert [line for line in both if not line.startswith(code)] == []


def test_every_wrapper_has_a_row() -> None:
    programs = {command.split()[0] for _, _, commands in table() for command in commands or ()}
    names = {*wrappers.PLAIN, *wrappers.READERS, *wrappers.RUN_WORDS, *wrappers.SHELLS}
    assert sorted(names - programs) == []


def test_rules_for_commands_that_only_read() -> None:
    permissions = Permissions("read-only", ["allow run_command(read-only)"])

    def decide(line: str) -> str:
        return permissions.decide(RUN, {"command": line}).verdict

    assert decide("git log --oneline | head -3") == "allow"
    for line in ("git log > x", "git push", "ls; touch x", "./ls", "PATH=. ls", "cat $(rm x)", "ls() { rm x; }; ls"):
        assert decide(line) == "deny", line


def test_reasons_say_what_to_do() -> None:
    permissions = Permissions("auto", ["deny run_command(git push*)"])

    def reason(line: str) -> str:
        return permissions.decide(RUN, {"command": line}).reason

    assert reason("git push") == "The rule 'deny run_command(git push*)' forbids it."
    assert reason("/usr/bin/git -C . push") == reason("git push")
    assert "forbids what it may turn into; write commands and arguments out" in reason("git log; python -c x")
    assert "cannot be judged, because it has a command whose name is not written out; send plain" in reason("$X")
