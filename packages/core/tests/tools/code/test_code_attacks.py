"""Programs that want out: the network, files, the environment, the channel, and more than their share."""

import asyncio
import os
import socket
import threading
from pathlib import Path
from textwrap import indent

import pytest
from program_bench import ProgramRun, price, run_program

import heald
from heald.tools.code.program import MAX_BYTES, MAX_CALLS, MAX_LINE
from heald.tools.shell.process import Process

CANARY = "CANARY-0123456789"
CHANNEL = "import os, sys\nfd = int(sys.argv[1])\n"
"""The beginning of a program that writes to its channel itself."""


def attempt(code: str) -> str:
    """A program that prints what code gets, or the error."""
    return f"try:\n{indent(code, '    ')}\nexcept Exception as error:\n    print('refused', type(error).__name__)"


async def test_the_network_of_the_host_is_out_of_reach() -> None:
    connections: list[object] = []
    server = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        try:
            connections.append(server.accept())
        except OSError:
            return

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    port = server.getsockname()[1]
    connect = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 3)\nprint('connected')"
    assert (await run_program(attempt(connect))).text == "refused ConnectionRefusedError"
    for address in ("169.254.169.254", "192.0.2.1"):
        result = await run_program(attempt(f"import socket\nsocket.create_connection(({address!r}, 80), 3)\nprint(1)"))
        assert result.text == "refused OSError"
    assert not connections
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join()


async def test_no_file_of_the_host_and_of_the_workspace_is_in_reach(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text(CANARY)
    home = Path.home()
    program = f"""
        import os, pathlib
        for path in ({str(tmp_path)!r}, {str(home)!r}, "/etc/shadow", "/root", "/var/lib", "/workspace/secret.txt"):
            print(os.path.exists(path))
        print(os.listdir("/workspace"), os.listdir(os.path.expanduser("~")), os.listdir("/tmp"))
        """
    result = await run_program(program, price, workspace=tmp_path)
    assert result.text.splitlines() == [*["False"] * 6, "[] [] []"]
    walk = (
        "import os\nfor folder, _, names in os.walk('/'):\n    if 'secret.txt' in names: print(folder)\nprint('walked')"
    )
    assert (await run_program(walk, price, workspace=tmp_path)).text == "walked"


async def test_what_a_program_writes_is_gone_with_it(tmp_path: Path) -> None:
    write = "open('left', 'w').write('x')\nopen('/tmp/left', 'w').write('x')\nprint('written')"
    assert (await run_program(write, price, workspace=tmp_path)).text == "written"
    refused = attempt("open('/workspace/left', 'w')")
    assert (await run_program(refused, price, workspace=tmp_path)).text == "refused FileNotFoundError"
    look = "import os\nprint(os.listdir('/workspace'), os.listdir('/tmp'))"
    assert (await run_program(look, price, workspace=tmp_path)).text == "[] []"
    assert os.listdir(tmp_path) == []


async def test_no_key_of_the_environment_is_in_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    program = """
        import os, glob
        print(sorted(os.environ))
        for path in glob.glob("/proc/*/environ"):
            try:
                print(open(path, "rb").read().decode())
            except OSError:
                pass
        """
    result = await run_program(program)
    assert CANARY not in result.text
    assert set(eval(result.text.splitlines()[0])) <= {
        "PATH",
        "HOME",
        "LANG",
        "TERM",
        "TMPDIR",
        "PWD",
        "USER",
        "LC_CTYPE",
        "OLDPWD",
        "SHLVL",
        "_",
    }


@heald.tool
async def pay(usd: int) -> str:
    """Pay."""
    return f"paid {usd}"


async def test_a_forged_line_is_a_call_like_every_other(tmp_path: Path) -> None:
    forged = (
        CHANNEL
        + """
import json, queue
channel = next(cell.cell_contents for cell in price.__closure__ if hasattr(cell.cell_contents, "call"))
results = channel._results
results.update({number: queue.SimpleQueue() for number in (7, 8, 9, 10)})
def send(number, name, **arguments):
    line = {"id": number, "name": name, "arguments": arguments, "parent": None, "approved": True}
    os.write(fd, json.dumps(line).encode() + b"\\n")
send(7, "pay", usd=5)
send(8, "read_file", path="../../etc/passwd")
send(9, "../../x")
send(10, "price", item="a\\u0000\\ud800")
send(10, "price", item="twice the id")
for number in (7, 8, 9, 10, 10):
    results[number].get()
"""
    )
    run = ProgramRun(
        forged,
        pay,
        price,
        "files",
        workspace=tmp_path,
        permissions=heald.Permissions(rules=["deny pay"]),
    )
    await run.run()
    assert sorted(run.outcomes()) == [
        ("pay", "denied"),
        ("price", "ok"),
        ("price", "ok"),
        ("read_file", "error"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "b'garbage'",
        "b'[]'",
        'b\'{"id": "x", "name": "price"}\'',
        'b\'{"id": 1, "name": "price", "arguments": []}\'',
        "b'\\xff\\xfe'",
        'b\'{"id": 1, "name": "price", "arguments": {"item": \' + b\'[\' * 100000',
        'b\'{"id": 1e999, "name": "price", "arguments": {}}\'',
    ],
)
async def test_what_is_not_a_call_ends_the_program(line: str) -> None:
    run = ProgramRun(f"{CHANNEL}\nos.write(fd, {line} + b'\\n')\nimport time\ntime.sleep(60)")
    result = await run.run()
    assert result.status == "error"
    assert result.text == (
        "(The program wrote something to the channel of its calls that is not a call. It was ended. "
        "It had made no call.)"
    )


async def test_a_huge_line_ends_the_program() -> None:
    program = f"{CHANNEL}\nwhile True:\n    os.write(fd, b'x' * 65536)"
    result = await run_program(program)
    assert result.text.startswith(f"(The program wrote a line of more than {MAX_LINE:,} bytes")


async def test_a_program_whose_end_takes_a_while_does_not_see_its_channel_close(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop = Process.stop

    async def stop_late(process: Process) -> None:
        await asyncio.sleep(0.5)
        await stop(process)

    monkeypatch.setattr(Process, "stop", stop_late)
    result = await run_program(f"{CHANNEL}\nwhile True:\n    os.write(fd, b'x' * 65536)")
    assert result.text.startswith("(The program wrote a line")


async def test_arguments_that_are_too_long_are_an_error_of_the_call() -> None:
    result = await run_program("try:\n    price('x' * 1000000)\nexcept ToolError as error:\n    print(error)")
    assert result.text == f"The arguments of price are too long: at most {MAX_LINE:,} bytes."


async def test_a_flood_of_calls_ends_the_program() -> None:
    run = ProgramRun("while True:\n    price('tea')")
    result = await run.run()
    assert result.status == "error"
    assert f"The program made more than {MAX_CALLS} calls. It was ended." in result.text
    assert len(run.calls()) == MAX_CALLS


async def test_a_flood_of_arguments_ends_the_program() -> None:
    run = ProgramRun("while True:\n    price('x' * 800_000)")
    result = await run.run()
    assert f"The calls of the program had more than {MAX_BYTES:,} bytes of arguments. It was ended." in result.text
    assert len(run.calls()) < 20


async def test_calls_that_nobody_waits_for_are_bounded_too() -> None:
    line = b'{"id": 1, "name": "price", "arguments": {"item": "tea"}}\n'
    run = ProgramRun(f"{CHANNEL}\nwhile True:\n    os.write(fd, {line!r} * 100)")
    result = await run.run()
    assert result.status == "error"
    assert len(run.calls()) <= MAX_CALLS


async def test_a_program_that_never_ends_is_ended_with_all_its_processes() -> None:
    program = """
        import os, time
        for _ in range(5):
            if os.fork() == 0:
                os.setsid()
        while True:
            time.sleep(1)
        """
    result = await run_program(program, timeout_s=1)
    assert result.status == "timeout"
    assert result.text.startswith("timeout: The program was ended after 1 s, its time limit. It had made no call.")
    assert not programs_left()


async def test_a_fork_bomb_is_ended() -> None:
    result = await run_program(
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass", timeout_s=5
    )
    assert result.status in ("error", "timeout")
    assert not programs_left()


async def test_a_program_that_eats_memory_is_ended() -> None:
    result = await run_program("rows = []\nwhile True:\n    rows.append(bytearray(50_000_000))", timeout_s=600)
    assert result.status == "error"
    assert "MemoryError" in result.text or "memory" in result.text


async def test_a_flood_of_output_is_ended() -> None:
    result = await run_program("while True:\n    print('x' * 100000)")
    assert result.status == "error"
    assert "The program printed more than 64 MiB. It was ended." in result.text


async def test_a_program_that_closes_its_channel_makes_no_further_call() -> None:
    program = (
        f"{CHANNEL}\nos.close(fd)\ntry:\n    price('tea')\nexcept Exception as error:\n    print(type(error).__name__)"
    )
    run = ProgramRun(program)
    assert (await run.run()).text in ("OSError", "ToolError")
    assert not run.calls()


async def test_a_call_whose_program_has_ended_is_cancelled() -> None:
    never, started = asyncio.Event(), asyncio.Event()

    @heald.tool
    async def wait_forever() -> str:
        """Wait."""
        started.set()
        await never.wait()
        return ""

    @heald.tool
    async def wait_for_start() -> str:
        """Wait for the other call."""
        await started.wait()
        return ""

    line = b'{"id": 0, "name": "wait_forever", "arguments": {}}\n'
    program = f"{CHANNEL}os.write(fd, {line!r})\nwait_for_start()\nprint('gone')"
    run = ProgramRun(program, wait_forever, wait_for_start)
    assert (await run.run()).text == "gone"
    assert sorted(run.outcomes()) == [("wait_for_start", "ok"), ("wait_forever", "cancelled")]


async def test_a_program_that_does_not_read_its_results_is_bounded() -> None:
    @heald.tool(effect="read")
    async def give_much() -> str:
        """Much."""
        return "x" * 1_000_000

    line = b'{"id": 1, "name": "give_much", "arguments": {}}\n'
    program = f"{CHANNEL}\nos.write(fd, {line!r} * 100)\nos.kill(os.getpid(), 19)\n"
    run = ProgramRun(program, give_much, timeout_s=3)
    result = await run.run()
    assert result.status == "timeout"
    assert len(run.calls()) <= 100


def programs_left() -> list[int]:
    """The processes of programs that still run on this machine under this test."""
    left: list[int] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                line = Path(f"/proc/{name}/cmdline").read_bytes()
                parent = Path(f"/proc/{name}/stat").read_text().rsplit(")", 1)[1].split()[1]
            except OSError:
                continue
            if b"Runs inside the sandbox" in line and parent == str(os.getpid()):
                left.append(int(name))
    return left
