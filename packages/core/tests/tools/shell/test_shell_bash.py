"""Generated lines against real shells: what they run was read, whatever the line looks like."""

import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald.tools.families import named_tools
from heald.tools.permissions import Permissions
from heald.tools.shell.command_line import CommandLine
from heald.tools.shell.parser import MOST_COMMANDS

[RUN] = named_tools(["run_command"])
_SECONDS = 20
_TOKENS = """
    a b c1 ' " \\ ; & | && || |& ( ) { } ;} if then else elif fi for|x|in do done while|a case|x|in esac ;; a) $(
    ` ${ $x $(( )) (( [[ ]] [ ] < >f <<E <<'E' <<< &>f 2>&1 # $' \\x61 ! time x= x=1 x+= x[0]= (a|b) f() f
    function|f ~ * ? [a] {a,b} .. , = <( >( $ $" é eval exec coproc select|x|in in -v -c test command $@ $! ${x}
    ${x:-a} ${!x} ${x@P} declare export @( !( ;& \\' \\" \\` E $$ a[ "$x"
"""
TOKENS = [token.replace("|", " ") if token[0].isalpha() else token for token in _TOKENS.split()]
BLANKS = ["", "", " ", " ", "\n", "\t", "\\\n", "\nE\n"]
SHAPES = [
    "if a; then b; fi",
    "for x in a b; do c1 $x; done",
    "case x in a) b;; *) c1;; esac",
    "a $(b) `c1`",
    "cat <<E\n$(a)\nE\nb",
    "f() { a; }; f",
    "[[ a == b ]] && c1",
    "(a; b) | c1",
    "{ a; b; }",
    "a \"b $(c1 'x')\" \\\n b",
    "x=1 y=2 a",
    "a && b || c1 & time b",
    "! a | b",
    'echo "$(a <<E\nb\nE\n)"',
    "eval 'a; b'",
    "exec a > f",
    "a <(b) >(c1)",
    "$'\\x61' b",
    "a{1,2} b",
    "x=(a b); c1",
    "a[ b; c1 ]",
    'a "$$(" ")" b',
]


@st.composite
def soups(draw: st.DrawFn) -> str:
    """Tokens of the shell in any order."""
    tokens = draw(st.lists(st.tuples(st.sampled_from(TOKENS), st.sampled_from(BLANKS)), max_size=12))
    return "".join(token + blank for token, blank in tokens)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A line that is right, with tokens put in and characters taken out."""
    characters = list(draw(st.sampled_from(SHAPES)))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(characters)))
        if draw(st.booleans()):
            characters.insert(at, draw(st.sampled_from(TOKENS)) + draw(st.sampled_from(BLANKS)))
        elif at < len(characters):
            del characters[at]
    return "".join(characters)


LINES = (soups() | damaged()).filter(lambda line: not re.search(r"while|until|coproc|select", line))
"""Without loops that may never end."""
NAMED = r"[abcé][\wé]*"
"""Names that no shell has as a builtin, among those that were tried."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lines")


def run(argv: list[str], folder: Path) -> str:
    command = partial(
        subprocess.run,
        argv,
        capture_output=True,
        cwd=folder,
        env={"PATH": "/nonexistent", "HOME": "/nonexistent", "LANG": "C.UTF-8", "FUNCNEST": "20"},
        stdin=subprocess.DEVNULL,
        timeout=_SECONDS,
        check=False,
    )
    try:
        return command().stderr.decode("utf-8", "replace")
    except subprocess.TimeoutExpired as expired:  # a loop or a recursion without end
        return (expired.stderr or b"").decode("utf-8", "replace")


def names_of(line: CommandLine) -> set[str]:
    return {command.words[0].text for command in line.commands}


fuzzing = settings(
    max_examples=scaled(400), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def check_with_bash(line: str, folder: Path) -> None:
    """Check that bash runs nothing but what was read, or that a line which was not read is refused."""
    read = CommandLine.read(line)
    if read.unreadable:
        assert_fails_closed(line)
        return
    bash = shutil.which("bash")
    assert bash is not None
    handler = 'command_not_found_handle() { echo "RAN:$1" >&2; return 1; }\n'
    output = run([bash, "--norc", "-c", handler + line], folder)
    ran = set(re.findall(r"RAN:(.*)", output))
    assert ran <= {name.partition("\n")[0] for name in names_of(read)}, line


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@fuzzing
@given(line=LINES)
def test_bash_runs_nothing_that_was_not_read(line: str, folder: Path) -> None:
    check_with_bash(line, folder)


@pytest.mark.skipif(shutil.which("dash") is None, reason="dash is not installed")
@fuzzing
@given(line=LINES)
def test_other_shells_run_nothing_that_was_not_read_for_any_shell(line: str, folder: Path) -> None:
    read = CommandLine.read(line, is_posix=True)
    if read.unreadable:
        return
    dash = shutil.which("dash")
    assert dash is not None
    output = run([dash, "-c", line], folder)
    ran = set(re.findall(rf"^[^\n]*dash: \d+: (?:eval: |exec: )*({NAMED}): not found$", output, re.MULTILINE))
    names = "|".join(re.escape(name) for name in names_of(read))
    # processes of a pipeline write their names between each other
    assert [name for name in ran if not re.fullmatch(f"(?:{names})+", name)] == [], line


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@settings(
    max_examples=scaled(150), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(line=LINES)
def test_where_bash_and_the_reader_disagree_on_a_line_nothing_unread_runs(line: str, folder: Path) -> None:
    """What `bash -n` refuses may still run up to the error; what is not read although bash accepts it is refused."""
    bash = shutil.which("bash")
    assert bash is not None
    is_refused = "syntax error" in (output := run([bash, "-n", "-c", line], folder)) or "unexpected EOF" in output
    assume(is_refused != bool(CommandLine.read(line).unreadable))
    check_with_bash(line, folder)


def assert_fails_closed(line: str) -> None:
    arguments = {"command": line}
    assert Permissions("auto", ["deny run_command(rm *)"]).decide(RUN, arguments).verdict == "deny"
    assert Permissions("ask", ["allow run_command(*)"]).decide(RUN, arguments).verdict == "ask"
    assert Permissions("auto", ["ask run_command(rm *)"]).decide(RUN, arguments).verdict == "ask"


@given(st.text("abz019 \t\n'\"\\$`;&|<>(){}[]!#*?~=/-.,é", max_size=40) | st.text(max_size=40))
def test_it_never_raises(line: str) -> None:
    read = CommandLine.read(line)
    assert read.unreadable or len(read.commands) <= MOST_COMMANDS


WORD = st.from_regex(r"[a-z][a-z0-9_./-]{0,6}", fullmatch=True).filter(
    lambda word: [command.text for command in CommandLine.read(word).commands] == [word]  # not reserved, no wrapper
)


@given(
    st.lists(st.lists(WORD, min_size=1, max_size=4), min_size=1, max_size=8),
    st.lists(st.sampled_from([";", " ; ", "&&", " || ", "|", "\n", " & ", "&& \n", "|&"]), min_size=8, max_size=8),
)
def test_plain_words_joined_by_separators_come_back(commands: list[list[str]], separators: list[str]) -> None:
    line = ""
    for command, separator in zip(commands, separators, strict=False):
        line += (separator if line else "") + " ".join(command)
    read = CommandLine.read(line)
    if not read.unreadable:
        assert [command.text for command in read.commands] == [" ".join(command) for command in commands]
