"""Rules and command lines that hide what they run: a guess allows nothing, and who wanted to be asked is asked."""

import pytest

from heald.tools.families import named_tools
from heald.tools.permissions import Mode, Permissions, Verdict

RUN = named_tools(["run_command"])[0]
HIDDEN = ["$(echo git push)", "eval $X", "echo git push | sh", "x=push; git $x", "test -v 'a[$(git push)]'"]
IN_OTHER_WORDS = [
    *(
        "eval git push",
        "for x in a; do git push; done",
        "FOO=1 git push",
        "(git push)",
        "git push > x",
        "git -C . push",
    ),
    *("timeout 5 git push", "bash -c 'git push'", "$(git push)", "python -c 'git push'", "busybox git push"),
]


def verdict(mode: Mode, rules: list[str], command: str) -> Verdict:
    return Permissions(mode, rules).decide(RUN, {"command": command}).verdict


@pytest.mark.parametrize("command", HIDDEN)
def test_who_wants_to_be_asked_is_asked_about_what_cannot_be_judged(command: str) -> None:
    assert verdict("auto", ["ask run_command(git push*)"], command) == "ask"
    assert verdict("auto", ["allow run_command", "ask run_command(git push*)"], command) == "ask"
    assert verdict("read-only", ["ask run_command(git push*)"], command) == "ask"


@pytest.mark.parametrize("command", HIDDEN)
def test_the_last_rule_wins_here_too(command: str) -> None:
    assert verdict("ask", ["ask run_command(git push*)", "allow run_command"], command) == "allow"
    assert verdict("auto", ["allow run_command(git *)", "ask run_command"], command) == "ask"


@pytest.mark.parametrize("command", HIDDEN)
def test_nothing_is_allowed_by_a_pattern_that_cannot_be_held_against_it(command: str) -> None:
    assert verdict("ask", ["allow run_command(git *)", "allow run_command(*)"], command) == "ask"
    assert verdict("read-only", ["allow run_command(git *)"], command) == "deny"
    assert verdict("auto", ["allow run_command(git *)", "deny run_command(rm *)"], command) == "deny"


@pytest.mark.parametrize("command", IN_OTHER_WORDS)
def test_a_command_is_seen_wherever_it_stands(command: str) -> None:
    assert verdict("auto", ["ask run_command(git push*)"], command) == "ask"
    assert verdict("auto", ["deny run_command(git push*)", "allow run_command"], command) == "deny"


def test_what_can_be_read_is_not_forbidden_by_a_rule_about_something_else() -> None:
    for command in ("git status > f", "for x in a; do git add $x; done", "timeout 5 make", "X=1 git log", "ls | head"):
        assert verdict("auto", ["deny run_command(rm *)"], command) == "allow", command
        assert verdict("auto", ["ask run_command(git push*)"], command) == "allow", command


def test_a_pattern_allows_a_line_only_with_everything_that_it_runs() -> None:
    rules = ["allow run_command(git *)", "allow run_command(timeout *)"]
    assert verdict("ask", rules, "timeout 5 git status") == "allow"
    assert verdict("ask", rules, "for x in a b; do git add $x; done") == "ask"  # it assigns x
    for command in (
        "timeout 5 make",
        "git status > f",
        "git log $(git status)",
        "X=1 git log",
        "git() { git log; }; git",
    ):
        assert verdict("ask", rules, command) == "ask", command


def test_a_part_that_is_not_known_is_covered_by_a_star_only() -> None:
    assert verdict("ask", ["allow run_command(cat *)"], "cat $X") == "allow"
    assert verdict("ask", ["allow run_command(cat $X)"], "cat $X") == "allow"
    assert verdict("ask", ["allow run_command(cat ??)"], "cat $X") == "ask"
    assert verdict("auto", ["deny run_command(cat secret)"], "cat $X") == "deny"
    assert verdict("auto", ["deny run_command(cat secret)"], "cat ./$X") == "allow"
    assert verdict("auto", ["deny run_command(cat secret*)"], "cat *") == "deny"


def test_an_argument_is_always_seen() -> None:
    assert verdict("auto", ["ask run_command(cwd=src)"], HIDDEN[0]) == "allow"
    decided = Permissions("auto", ["ask run_command(cwd=src)"]).decide(RUN, {"command": HIDDEN[0], "cwd": "src"})
    assert decided.verdict == "ask"
