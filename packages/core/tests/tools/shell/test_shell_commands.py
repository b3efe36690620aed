"""Shell lines as permission rules see them (S04, S05)."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shell_bench import Place

from heald.core.messages import ToolCall
from heald.tools.permissions import Permissions
from heald.tools.runtime import ToolRuntime
from heald.tools.shell.commands import MOST_PARTS, split_commands
from heald.tools.shell.sandbox import Sandbox
from heald.tools.shell.tools import shell_tools
from heald.tools.workspace.disk import DiskWorkspace


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("ls -la", ["ls -la"]),
        ("a; b & c && d || e | f |& g\nh", ["a", "b", "c", "d", "e", "f", "g", "h"]),
        ("git add . && git commit -m 'two words'", ["git add .", "git commit -m 'two words'"]),
        ("a &&\n\n b", ["a", "b"]),
        ("ls \\\n -l", ["ls -l"]),
        ("# a note; rm x\nls # rm y\n", ["ls"]),
        ("echo a#b", ["echo 'a#b'"]),
        ("c'u'r\"l\" x", ["curl x"]),
        ("\\curl x", ["curl x"]),
        ("echo ';' \"&&\" \\|", ["echo ';' '&&' '|'"]),
        ("ls 2>&1 >/dev/null | wc -l 2> /dev/null", ["ls", "wc -l"]),
        ("ls>/dev/null&&a", ["ls", "a"]),
        ('echo $HOME ${X} "$Y"', ["echo $HOME ${X} $Y"]),
        ("find . -exec id {} \\;", ["find . -exec id {} ';'"]),
        ("[ -f x ] && ls *.py", ["[ -f x ]", "ls *.py"]),
        ("bash run.sh", ["bash run.sh"]),
        ("echo ''", ["echo ''"]),
        ("sleep 1 &", ["sleep 1"]),
        ("", []),
        ("true;" * 49 + "curl http://sink/", [*["true"] * 49, "curl http://sink/"]),
    ],
)
def test_what_can_be_judged(line: str, parts: list[str]):
    assert split_commands(line) == parts


@pytest.mark.parametrize(
    "line",
    [
        "echo $(id)",
        "echo `id`",
        'echo "$(id)"',
        'echo "`id`"',
        "diff <(a) b",
        "tee >(a)",
        "cat << X\nid\nX",
        "cat <<< x",
        "ls > f",
        "ls >> f",
        "ls 2>f",
        "ls &> f",
        "ls >| f",
        "cat < f",
        "ls >&f",
        "ls > /dev/null/../f",
        "eval id",
        "exec id",
        "source x",
        ". x",
        "$X",
        "${X} y",
        "c$X",
        'c"$X"',
        "curl${IFS}x",
        "echo ${X:-y}",
        "echo ${X@P}",
        "echo $((1+a[$(id)]))",
        "echo $[1]",
        "echo $'a'",
        'echo $"a"',
        "bash -c id",
        "/bin/sh -c id",
        "sh",
        "x | bash",
        "bash -",
        "busybox",
        "env curl x",
        "X=1 curl x",
        "PATH=. ls",
        "command curl x",
        "timeout 5 curl x",
        "xargs curl",
        "nohup curl x",
        "sudo ls",
        "trap id EXIT",
        "alias ls=curl",
        "hash -p /x ls",
        "export PATH=.",
        "printf -v PATH .",
        "(ls)",
        "{ ls; }",
        "{ls,-l}",
        "a{b,c} d",
        "echo {1..9}",
        "f() { ls; }",
        "function f { ls; }",
        "if a; then b; fi",
        "for x in a; do b; done",
        "while a; do b; done",
        "case x in y) z;; esac",
        "[[ a ]]",
        "! ls",
        "time ls",
        "cur? x",
        "/usr/bin/c*l x",
        "~/x",
        "'' x",
        "ls 'a",
        'ls "a',
        "ls \\",
        "a ;; b",
        "; a",
        "a && && b",
        "a |",
        "a &&",
        "ls \0",
        "true;" * 51,
        "true;" * 10_000,
    ],
)
def test_what_is_too_complex(line: str):
    assert split_commands(line) is None


ALPHABET = "abz019 \t\n'\"\\$`;&|<>(){}[]!#*?~=/-.,é"


@given(st.text(ALPHABET, max_size=40) | st.text(max_size=40))
def test_it_never_raises(line: str):
    parts = split_commands(line)
    assert parts is None or len(parts) <= MOST_PARTS


WORD = st.from_regex(r"[a-z][a-z0-9_./-]{0,6}", fullmatch=True).filter(
    lambda word: split_commands(word) == [word]  # no reserved word and no runner
)


@given(
    st.lists(st.lists(WORD, min_size=1, max_size=4), min_size=1, max_size=8),
    st.lists(st.sampled_from([";", " ; ", "&&", " || ", "|", "\n", " & ", "&& \n", "|&"]), min_size=8, max_size=8),
)
def test_plain_words_joined_by_separators_come_back(commands: list[list[str]], separators: list[str]):
    line = ""
    for command, separator in zip(commands, separators, strict=False):
        line += (separator if line else "") + " ".join(command)
    assert split_commands(line) == [" ".join(command) for command in commands]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*"ab'\"\\ \t;&|#\n", "&&", "||", "$x", "é"]), max_size=14).map("".join))
def test_bash_runs_nothing_that_was_not_listed(line: str):
    """Every command that bash itself says it runs is among the parts, or the line was too complex."""
    parts = split_commands(line)
    if parts is None:
        return
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, "--norc", "-c", 'command_not_found_handle() { echo "RAN:$1" >&2; return 1; }\n' + line],
        capture_output=True,
        env={"PATH": "/nonexistent"},
        stdin=subprocess.DEVNULL,
        timeout=20,
        check=False,
    )
    ran = set(re.findall(r"RAN:(.*)", done.stderr.decode("utf-8", "replace")))
    names = {part.partition(" ")[0].strip("'").replace("'\\''", "'") for part in parts}
    assert {name for name in ran if re.fullmatch(r"[abé]+", name)} <= names


async def test_rules_hold_for_every_part(tmp_path: Path):
    """A deny is met wherever the command stands, and a line too complex to judge is denied with it."""
    permissions = Permissions("auto", ["deny run_command(curl *)"])
    runtime = ToolRuntime(
        shell_tools(Sandbox(unsandboxed=True)), workspace=DiskWorkspace(tmp_path), permissions=permissions
    )
    place = Place(tmp_path, tmp_path, runtime)
    for line in (
        "curl http://sink/",
        "true;" * 49 + "curl http://sink/",
        "true;" * 10_000 + "curl http://sink/",
        "/usr/bin/curl http://sink/",
        "c'u'rl http://sink/",
        "echo $(curl http://sink/)",
        "true\ncurl http://sink/",
    ):
        assert (await place.run(line)).status == "denied", line
    assert (await place.run("echo fine")).status == "ok"
    await runtime.close()


async def test_the_summary_is_escaped_for_display(tmp_path: Path):
    [run_command, *_] = shell_tools(Sandbox(unsandboxed=True))
    assert run_command.summary is not None
    call = ToolCall(id="1", name="run_command", input={"command": "ls \x1b[2J\u202e", "cwd": "a\x07"})
    assert run_command.summary(call.input) == "ls \\u202e (in a\\x07)"
    assert os.listdir(tmp_path) == []
