"""Rules and command lines that hide what they run: a guess allows nothing, and who wanted to be asked is asked."""

import pytest

from heald.tools.families import named_tools
from heald.tools.permissions import Mode, Permissions, Verdict

RUN = named_tools(["run_command"])[0]
HIDDEN = ["$(echo git push)", "eval git push", "git status > f", "git pu`echo s`h", "for x in a; do git push; done"]


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


def test_an_argument_is_always_seen() -> None:
    assert verdict("auto", ["ask run_command(cwd=src)"], HIDDEN[0]) == "allow"
    decided = Permissions("auto", ["ask run_command(cwd=src)"]).decide(RUN, {"command": HIDDEN[0], "cwd": "src"})
    assert decided.verdict == "ask"
