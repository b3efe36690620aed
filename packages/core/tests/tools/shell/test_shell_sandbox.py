# ruff: noqa: ASYNC221, ASYNC240
"""What a command can and cannot reach (S01, S02, S07, S08, S13, S14 of the threat list)."""

import asyncio
import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from shell_bench import CANARY, Place, exit_code

from heald.tools.shell.network.command_network import proxy_environment
from heald.tools.shell.protected_paths import PROTECTED, SET_ASIDE
from heald.tools.shell.sandbox import Sandbox, SandboxLimits, memory_file


async def test_a_command_sees_and_changes_the_workspace(place: Place):
    (place.folder / "a.txt").write_text("hello")
    result = await place.run("cat a.txt; echo done > b.txt; pwd")
    assert result.text.partition("\n")[2] == "hello/workspace\n"
    assert result.status == "ok"
    assert (place.folder / "b.txt").read_text() == "done\n"
    assert sorted(os.listdir(place.folder)) == ["a.txt", "b.txt"], "no placeholder may stay"


@pytest.mark.parametrize(
    "command",
    [
        "cat ../OUT/secret.txt",
        "cat {out}/secret.txt",
        "cat link/secret.txt",
        "cat /etc/shadow",
        "ls /root",
        "cat /proc/1/root{out}/secret.txt",
        "ls -d {out}",
        "cd {out}",
    ],
)
async def test_nothing_outside_can_be_read(place: Place, command: str):
    (place.folder / "link").symlink_to(place.outside)
    result = await place.run(command.format(out=place.outside))
    assert exit_code(result) != 0
    assert CANARY not in result.text


@pytest.mark.parametrize(
    "command",
    [
        "echo x > {out}/new",
        "echo x > ../OUT/new",
        "echo x > link/new",
        "touch /usr/x",
        "touch /x",
        "touch /etc/x",
        "touch /dev/x",
        ": >> /proc/sys/kernel/core_pattern",
        ": >> /proc/sysrq-trigger",
        ": >> /proc/self/oom_score_adj",
        ": >> /usr/bin/env",
    ],
)
async def test_nothing_outside_can_be_written(place: Place, command: str):
    """Files of the host are opened for writing but nothing is written: a hole must not harm the machine it is on."""
    (place.folder / "link").symlink_to(place.outside)
    assert exit_code(await place.run(command.format(out=place.outside))) != 0


async def test_home_and_tmp_are_empty_and_end_with_the_command(place: Place):
    first = await place.run("ls -A ~ /tmp; touch ~/x /tmp/y && ls ~ /tmp")
    assert exit_code(first) == 0
    second = await place.run("ls -A ~ /tmp")
    assert "x" not in second.text.partition("\n")[2].split()
    assert not Path("/tmp/y").exists()


@pytest.mark.parametrize("cwd", ["/", "../OUT", "link", "/etc", "a\0b", "missing", "file"])
async def test_a_folder_to_run_in_never_leads_out(place: Place, cwd: str):
    (place.folder / "link").symlink_to(place.outside)
    (place.folder / "file").write_text("")
    result = await place.run("touch here", cwd=cwd)
    assert result.status == "error"
    assert str(place.folder.parent) not in result.text
    assert not (place.folder / "here").exists()


async def test_a_folder_inside_is_entered_and_all_of_the_workspace_stays_writable(place: Place):
    (place.folder / "sub").mkdir()
    (place.folder / "alias").symlink_to("sub")
    result = await place.run("pwd; touch here ../there", cwd="sub")
    assert result.text.partition("\n")[2] == "/workspace/sub\n"
    assert (place.folder / "sub" / "here").exists()
    assert (place.folder / "there").exists()
    assert exit_code(await place.run("touch ../too", cwd="alias")) == 0


async def test_the_environment_is_fixed(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("DATABASE_URL", CANARY)
    monkeypatch.setenv("BASH_ENV", "/workspace/evil")
    (place.folder / "evil").write_text("echo evil")
    result = await place.run("env; cat /proc/$PPID/environ /proc/*/environ")
    assert CANARY not in result.text
    assert "evil" not in result.text
    names = {line.partition("=")[0] for line in result.text.replace("\\x00", "\n").splitlines()[1:] if "=" in line}
    fixed = {"PATH", "HOME", "LANG", "TERM", "TMPDIR", "PWD", "USER", "SHLVL", "_"}
    assert names == fixed | set(proxy_environment())


async def test_no_descriptor_of_the_server_is_inherited(place: Place):
    secret = memory_file(CANARY.encode())
    os.set_inheritable(secret, True)
    try:
        result = await place.run(
            "ls /proc/self/fd; cat /proc/self/fd/0; for f in /proc/[0-9]*/fd/*; do timeout 1 cat $f; done"
        )
    finally:
        os.close(secret)
    assert CANARY not in result.text
    assert result.text.split("\n")[1:5] == ["0", "1", "2", "3"]


async def test_the_network_is_off(place: Place, tmp_path: Path):
    """No listener of the host is reached: by address, by the shell's own sockets, by path, by abstract name."""
    connections = 0

    def connected(*_: object) -> None:
        nonlocal connections
        connections += 1

    name = f"heald-{os.getpid()}"
    by_path = str(tmp_path / "docker.sock")
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind("\0" + name)
    servers = [
        await asyncio.start_server(connected, "127.0.0.1", 0),
        await asyncio.start_unix_server(connected, by_path),
        await asyncio.start_unix_server(connected, sock=abstract),
    ]
    port = servers[0].sockets[0].getsockname()[1]
    (place.folder / "try.py").write_text(
        "import socket, sys\n"
        f"for family, where in ((2, ('127.0.0.1', {port})), (2, ('169.254.169.254', 80)), (1, {by_path!r}),\n"
        f"    (1, '\\0{name}'), (1, '/var/run/docker.sock'), (2, ('192.0.2.1', 53))):\n"
        "    try:\n"
        "        s = socket.socket(family); s.settimeout(2); s.connect(where); print('REACHED', where)\n"
        "    except OSError as error: print('refused', error.errno)\n"
    )
    commands = [
        f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo REACHED",
        f"curl -s --max-time 2 http://127.0.0.1:{port}/ && echo REACHED",
        "/usr/bin/python3 try.py" if os.path.exists("/usr/bin/python3") else "true",
        "getent hosts example.com && echo REACHED",
    ]
    for command in commands:
        assert "REACHED" not in (await place.run(command)).text
    for server in servers:
        server.close()
        await server.wait_closed()
    abstract.close()
    assert connections == 0


async def test_programs_can_talk_to_each_other_inside(place: Place):
    if not os.path.exists("/usr/bin/python3"):
        pytest.skip("the system has no python3 of its own")
    (place.folder / "talk.py").write_text(
        "import socket, threading\n"
        "s = socket.create_server(('127.0.0.1', 0))\n"
        "threading.Thread(target=lambda: s.accept()[0].sendall(b'heard'), daemon=True).start()\n"
        "print(socket.create_connection(s.getsockname()).recv(9))\n"
    )
    result = await place.run("/usr/bin/python3 talk.py")
    assert "heard" in result.text


# --- protected paths --------------------------------------------------------------------------------------------


def tree(folder: Path) -> dict[str, bytes | str]:
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


ATTACKS = [
    "mkdir -p $(dirname {path}); echo evil > {path}",
    "rm -rf {path}; mkdir -p $(dirname {path}); echo evil > {path}",
    "echo evil > /tmp/x; mkdir -p $(dirname {path}); mv -f /tmp/x {path}",
    "ln -sfn /tmp {path}",
    "mv {top} moved; mkdir -p $(dirname {path}); echo evil > {path}",
    "chmod 777 {path}; echo evil >> {path}",
    "mkdir -p {path}; echo evil > {path}/evil",
]


@pytest.mark.parametrize("present", [True, False])
async def test_protected_paths_stay_as_they_are(place: Place, present: bool):
    paths = [*PROTECTED, *SET_ASIDE]
    if present:
        for path in paths:
            at = place.folder / path
            (at if path.endswith("/") else at.parent).mkdir(parents=True, exist_ok=True)
            (at / "kept" if path.endswith("/") else at).write_text("good")
    before = tree(place.folder)
    lines = [
        attack.format(path=path.rstrip("/") + ("/evil" if path.endswith("/") else ""), top=path.split("/")[0])
        for path in paths
        for attack in ATTACKS
    ]
    (place.folder / "attack.sh").write_text("\n".join(lines))
    await place.run("bash attack.sh")
    (place.folder / "attack.sh").unlink()
    after = {path: text for path, text in tree(place.folder).items() if ".refused-" not in path}
    assert {path: text for path, text in after.items() if not path.startswith("moved")} == before
    for path in paths:
        at = place.folder / path
        assert at.exists() == present, path


async def test_what_appears_under_a_protected_name_is_set_aside_and_sent(place: Place):
    result = await place.run("echo obey > AGENTS.md")
    assert "AGENTS.md is protected: what the command made there is now AGENTS.md.refused-" in result.text
    assert not (place.folder / "AGENTS.md").exists()
    [aside] = place.folder.iterdir()
    assert aside.read_text() == "obey\n"


async def test_setting_aside_follows_no_link_out(place: Place):
    (place.outside / "copilot-instructions.md").write_text("mine")
    await place.run(f"ln -s {place.outside} .github; ln -s {place.outside}/secret.txt AGENTS.md")
    assert (place.outside / "copilot-instructions.md").read_text() == "mine"
    (place.outside / "copilot-instructions.md").unlink()


async def test_a_protected_link_is_put_back_and_its_target_read_only(place: Place):
    (place.folder / "rules.md").write_text("good")
    (place.folder / "CLAUDE.md").symlink_to("rules.md")
    (place.folder / ".claude").symlink_to("settings")
    (place.folder / "settings").mkdir()
    result = await place.run(
        "echo evil > CLAUDE.md; echo evil > rules.md; rm CLAUDE.md; echo evil > CLAUDE.md;"
        "touch settings/evil; rm .claude; mkdir .claude; touch .claude/evil"
    )
    assert "CLAUDE.md is protected: the link was put back" in result.text
    assert os.readlink(place.folder / "CLAUDE.md") == "rules.md"
    assert os.readlink(place.folder / ".claude") == "settings"
    assert (place.folder / "rules.md").read_text() == "good"
    assert list((place.folder / "settings").iterdir()) == []


async def test_placeholders_stay_while_another_command_needs_them(place: Place):
    started = await place.run("sleep 60", background=True)
    name = started.text.split()[0]
    await place.run("true")
    assert (place.folder / ".mcp.json").exists()
    assert "Read-only" in (await place.run("echo x > .mcp.json")).text
    (place.folder / ".envrc").write_text("of the user")
    await place.call("stop_command", id=name)
    assert {path.name for path in place.folder.iterdir()} == {".envrc"}, "what a user filled meanwhile stays"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
async def test_git_works_but_not_on_its_hooks_and_settings(place: Place):
    subprocess.run(["git", "init", "-q", str(place.folder)], check=True, stdin=subprocess.DEVNULL)
    config = (place.folder / ".git/config").read_text()
    (place.folder / "a").write_text("1")
    done = await place.run("git add -A && git commit -qm one && git checkout -qb side && git status --short && git log")
    assert exit_code(done) == 0
    assert "one" in done.text
    listed = await place.run("git ls-files")
    assert listed.text.partition("\n")[2] == "a\n", "placeholders are never committed"
    for attack in (
        "git config core.fsmonitor ./x",
        "git config core.hooksPath .",
        "echo x > .git/hooks/post-checkout",
        "rm -rf .git/hooks",
        "mv .git g",
        "echo '[core]' > .git/config.worktree",
        "cp .git/config c && mv c .git/config",
    ):
        assert exit_code(await place.run(attack)) != 0, attack
    await place.run("mkdir evil; echo ../evil > .git/commondir")
    assert not (place.folder / ".git/commondir").exists()
    assert (place.folder / ".git/config").read_text() == config


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
async def test_no_repository_appears(place: Place):
    result = await place.run("git init; mkdir -p .git/hooks; echo x > .git/hooks/post-checkout")
    assert exit_code(result) != 0
    assert not (place.folder / ".git").exists()


# --- limits, and where there is no sandbox -------------------------------------------------------------------------


async def test_limits_hold(make_place: Callable[[Sandbox], Place], sandbox: Sandbox):
    mib = 1024 * 1024
    small = Sandbox(limits=SandboxLimits(file_size=mib, open_files=50, memory=200 * mib, temporary=mib))
    place = make_place(small)
    assert exit_code(await place.run("ulimit -n; head -c 2000000 /dev/zero > big")) != 0
    assert (place.folder / "big").stat().st_size <= mib
    assert exit_code(await place.run("head -c 900000 /dev/zero > /tmp/a; head -c 900000 /dev/zero > /tmp/b")) != 0
    assert "core 0 files 50" in (await place.run("echo core $(ulimit -c) files $(ulimit -n)")).text
    if os.path.exists("/usr/bin/python3"):
        hungry = await place.run("/usr/bin/python3 -c 'print(len(bytearray(400 << 20)))'")
        assert "MemoryError" in hungry.text
    await place.runtime.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="the kernel does not hold root to a number of processes")
async def test_processes_are_bounded(make_place: Callable[[Sandbox], Place], sandbox: Sandbox):
    place = make_place(Sandbox(limits=SandboxLimits(processes=20)))
    result = await place.run("for i in $(seq 100); do sleep 5 & done; wait", timeout_s=20)
    assert "Resource temporarily unavailable" in result.text
    await place.runtime.close()


async def test_further_folders_can_be_made_readable(
    make_place: Callable[[Sandbox], Place], tmp_path: Path, sandbox: Sandbox
):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/x").write_text("a tool")
    place = make_place(Sandbox(readable=[str(tmp_path / "tools")]))
    assert "a tool" in (await place.run(f"cat {tmp_path}/tools/x")).text
    assert exit_code(await place.run(f"touch {tmp_path}/tools/y")) != 0
    await place.runtime.close()


async def test_without_bubblewrap_the_tool_refuses(
    make_place: Callable[[Sandbox], Place], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("PATH", str(tmp_path))
    place = make_place(Sandbox())
    result = await place.run("touch here")
    assert result.status == "error"
    assert "bubblewrap (bwrap) is not installed" in result.text
    assert not (place.folder / "here").exists()
    await place.runtime.close()


async def test_where_bubblewrap_fails_the_tool_refuses(
    make_place: Callable[[Sandbox], Place], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    place = make_place(Sandbox())
    result = await place.run("touch here")
    assert result.status == "error"
    assert "user namespaces" in result.text
    assert str(tmp_path) not in result.text
    assert not (place.folder / "here").exists()
    await place.runtime.close()


async def test_unsandboxed_is_reported_with_every_result(
    make_place: Callable[[Sandbox], Place], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    place = make_place(Sandbox(unsandboxed=True))
    result = await place.run("pwd; env; exit 3")
    assert exit_code(result) == 3
    assert ", unsandboxed" in result.text.splitlines()[0]
    assert str(place.folder) in result.text
    assert CANARY not in result.text
    background = await place.run("sleep 50", background=True)
    assert "unsandboxed" in background.text
    assert "unsandboxed" in (await place.call("command_output", id="command-1")).text
    await place.runtime.close()


async def test_a_project_in_memory_has_no_folder_to_run_in(sandbox: Sandbox):
    from heald.tools.runtime import ToolRuntime
    from heald.tools.shell.tools import shell_tools

    place = Place(Path(), Path(), ToolRuntime(shell_tools(sandbox)))
    result = await place.run("true")
    assert result.status == "error"
    assert "in memory" in result.text
