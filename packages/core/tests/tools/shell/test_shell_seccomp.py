"""The filter of system calls: read by a small BPF machine for both processors, and met by real calls (S16)."""

import errno
import platform
import struct
from collections.abc import Sequence

import pytest
from shell_bench import Place

from heald.tools.shell import seccomp

MACHINES = tuple(seccomp.AUDIT_ARCH)
REFUSED = 0x00050000 | errno.EPERM


def verdict(machine: str, number: int, arguments: Sequence[int] = (), arch: int | None = None) -> int:
    """What the kernel would answer: classic BPF, as far as the filter uses it."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, seccomp.AUDIT_ARCH[machine] if arch is None else arch, 0, *padded)
    code = list(struct.iter_unpack("<HBBI", seccomp.program(machine)))
    at = accumulator = 0
    while True:
        kind, yes, no, value = code[at]
        at += 1
        match kind:
            case 0x20:
                [accumulator] = struct.unpack_from("<I", data, value)
            case 0x15:
                at += yes if accumulator == value else no
            case 0x35:
                at += yes if accumulator >= value else no
            case 0x45:
                at += yes if accumulator & value else no
            case 0x06:
                return value
            case _:
                raise AssertionError(f"unknown instruction {kind:#x}")


def number_of(name: str, machine: str) -> int | None:
    return {**seccomp.REFUSED, **seccomp.JUDGED}[name][MACHINES.index(machine)]


@pytest.mark.parametrize("machine", MACHINES)
def test_every_refused_call_is_refused_and_others_are_not(machine: str):
    refused = {number_of(name, machine) for name in seccomp.REFUSED} - {None}
    judged = {number_of(name, machine) for name in seccomp.JUDGED}
    assert not refused & judged
    for number in range(600):
        if number in refused:
            assert verdict(machine, number) == REFUSED, number
        elif number not in judged:
            assert verdict(machine, number) == seccomp.ALLOW, number


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_that_are_judged_by_their_arguments(machine: str):
    def judged(name: str, *arguments: int) -> int:
        number = number_of(name, machine)
        assert number is not None
        return verdict(machine, number, arguments)

    high = 0xDEAD << 32  # the kernel ignores it in 32-bit arguments
    assert judged("clone", 0x1200011) == seccomp.ALLOW, "fork"
    assert judged("clone", 0x3D0F00) == seccomp.ALLOW, "a thread"
    for flag in (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x04000000, 0x08000000, 0x02000000):
        assert judged("clone", flag | 17) == REFUSED
    assert judged("clone3", 0) == 0x00050000 | errno.ENOSYS
    assert judged("ioctl", 0, 0x5401) == seccomp.ALLOW
    for code in (0x5412, 0x541C):
        assert judged("ioctl", 0, code) == REFUSED
        assert judged("ioctl", 0, code | high) == REFUSED
    assert judged("personality", 0xFFFFFFFF) == seccomp.ALLOW
    assert judged("personality", 0) == seccomp.ALLOW
    assert judged("personality", 0x0040000) == REFUSED
    for family in (1, 2, 10):
        assert judged("socket", family) == seccomp.ALLOW
    for family in (0, 3, 16, 17, 38, 40, 44, 45):
        assert judged("socket", family) == 0x00050000 | errno.EAFNOSUPPORT
        assert judged("socket", family | high) == 0x00050000 | errno.EAFNOSUPPORT


def test_foreign_calls_do_not_pass():
    assert verdict("x86_64", 0x40000000 | 101) == REFUSED, "x32 has numbers of its own"
    assert verdict("x86_64", 0x40000000) == REFUSED
    assert verdict("x86_64", 0, arch=0x40000003) == seccomp.KILL_PROCESS, "i386"
    assert verdict("aarch64", 0, arch=0x40000028) == seccomp.KILL_PROCESS, "arm"
    assert not seccomp.supported("riscv64")


CALLS = ("ptrace", "process_vm_readv", "io_uring_setup", "unshare", "setns", "mount", "keyctl", "bpf", "add_key")
PROGRAM = """
import ctypes, errno, os
call = ctypes.CDLL(None, use_errno=True).syscall
def attempt(name, *arguments):
    ctypes.set_errno(0)
    result = call(*arguments)
    print(name, errno.errorcode.get(ctypes.get_errno(), 'none') if result == -1 else 'DONE')
for name, number in NUMBERS.items():
    attempt(name, number, 0, 0, 0, 0, 0)
attempt('unshare-user', NUMBERS['unshare'], 0x10000000)
attempt('clone-user', CLONE, 0x10000000 | 17, 0, 0, 0, 0)
attempt('tiocsti', IOCTL, 0, 0x5412, b'x')
attempt('netlink', SOCKET, 16, 3, 0)
"""


@pytest.mark.skipif(not seccomp.supported(), reason="there is no filter for this processor")
async def test_real_calls_are_refused(place: Place):
    machine = platform.machine()
    numbers = {name: number_of(name, machine) for name in CALLS}
    lines = [
        f"NUMBERS = {numbers!r}",
        *(f"{name.upper()} = {number_of(name, machine)}" for name in ("clone", "ioctl", "socket")),
        PROGRAM,
    ]
    (place.folder / "calls.py").write_text("\n".join(lines))
    result = await place.run("command -v /usr/bin/python3 || exit 77; /usr/bin/python3 calls.py")
    if result.text.startswith("exit code 77"):
        pytest.skip("the system has no python3 of its own")
    said = dict(line.split() for line in result.text.splitlines()[2:])
    assert said.pop("netlink") == "EAFNOSUPPORT"
    assert set(said) == {*CALLS, "unshare-user", "clone-user", "tiocsti"}
    assert set(said.values()) == {"EPERM"}, said


async def test_tools_for_it_fail_too(place: Place):
    result = await place.run("unshare -Ur id; echo $?; mount -t tmpfs x /tmp; echo $?; nsenter -t 1 -a id; echo $?")
    assert "uid=0" not in result.text
    assert "\n0\n" not in result.text


async def test_threads_and_processes_work_under_the_filter(place: Place):
    result = await place.run(
        "/usr/bin/python3 -c 'import threading, subprocess, multiprocessing as m\n"
        't = threading.Thread(target=print, args=["thread"]); t.start(); t.join()\n'
        'subprocess.run(["echo", "child"])\' || echo thread child'
    )
    assert {"thread", "child"} <= set(result.text.split())
