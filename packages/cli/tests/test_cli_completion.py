"""`heald completion`: the scripts are made from the parsers, and bash really completes with them. Help has examples."""

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from cli_bench import run
from heald_cli.main import commands, parser

Capture = pytest.CaptureFixture[str]


@pytest.fixture
async def script(capsys: Capture, tmp_path: Path) -> Path:
    ran = await run(capsys, "completion", "bash")
    assert ran.code == 0
    file = tmp_path / "heald.bash"
    file.write_text(ran.out)
    return file


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("heald b", "build"),
        ("heald build --stack", "--stack --stacks"),
        ("heald build --stack vu", "vue_tailwind"),
        ("heald sessions ex", "export"),
        ("heald sessions list --js", "--json"),
        ("heald replay --dialect ag-", "ag-ui"),
        ("heald completion f", "fish"),
        ("heald chat --permissions re", "read-only"),
    ],
)
async def test_bash(script: Path, line: str, offered: str) -> None:
    words = shlex.split(line)
    code = f"source {shlex.quote(str(script))}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _heald; "
    done = subprocess.run(  # noqa: ASYNC221
        ["bash", "-c", code + 'printf "%s\\n" "${COMPREPLY[@]}"'],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert done.stdout.split() == offered.split()
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["zsh", "fish"])
async def test_other_shells_get_all_words(capsys: Capture, tmp_path: Path, shell: str) -> None:
    ran = await run(capsys, "completion", shell)
    for command in commands():
        assert command in ran.out
    for word in ("--dialect" if shell == "zsh" else "-l dialect", "react_tailwind", "ai-sdk"):
        assert word in ran.out
    if shutil.which(shell) is None:
        return
    file = tmp_path / "script"
    file.write_text(ran.out)
    subprocess.run([shell, "-n", str(file)], check=True, timeout=30)  # noqa: ASYNC221


async def test_the_list_of_commands_states_what_they_state_of_themselves(capsys: Capture) -> None:
    listed = parser().format_help()
    assert listed == parser(whole=True).format_help()
    for command in commands():
        assert f"\n    {command}" in listed


async def test_a_command_that_is_not_there(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as left:
        await run(capsys, "bild")
    assert left.value.code == 2
    assert "There is no command 'bild'; did you mean build?" in capsys.readouterr().err


@pytest.mark.parametrize("command", list(commands()))
async def test_help_has_examples(capsys: Capture, command: str) -> None:
    with pytest.raises(SystemExit) as left:
        parser(command).parse_args([command, "--help"])
    out = capsys.readouterr().out
    assert left.value.code == 0
    assert "examples:" in out
    assert f"heald {command}" in out
