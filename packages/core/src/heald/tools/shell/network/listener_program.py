"""The first program of a sandbox with a network: it listens in the sandbox's namespace and hands the socket out.

The namespace of a sandbox has no way out. Before the command starts, this program opens a TCP socket on the loopback of
that namespace, sends it over a Unix socket to Heald, closes both and becomes the command. Heald accepts the
connections, so that nothing of the proxy runs inside. It is a static ELF program of a few hundred bytes for Linux on
x86_64 and aarch64: the sandbox need not contain an interpreter, and starting one would triple the time of a command.
"""

import platform
import struct

PORT = 61080
"""The proxy's port on the loopback of each sandbox. It lies above the range that the kernel assigns."""
FAILED = 125
"""The exit code if the socket could not be handed out. The command is not started then."""

_CODE, _DATA = 0x400000, 0x600000
_PAGE = 0x10000
_SOCK_STREAM_CLOEXEC = 0x80001
_BACKLOG = 128
_MACHINES = {"x86_64": 62, "aarch64": 183}
_HEADERS = 64 + 3 * 56  # the ELF header and three program headers

# Offsets in the data: a byte to send, sockaddr_in, iovec, cmsghdr with one descriptor, msghdr.
_BYTE, _SOCKADDR, _IOVEC, _CMSG, _MSGHDR, _DATA_SIZE = 0, 8, 24, 40, 64, 120
_DESCRIPTOR = _CMSG + 16


def supported(machine: str | None = None) -> bool:
    return (machine or platform.machine()) in _MACHINES


def listener_program(channel: int, machine: str | None = None) -> bytes:
    """Return the program for a machine (default: this one). It sends the socket over the descriptor `channel`.

    Its arguments are the command to become: an absolute path and the arguments, from the program's name on.
    """
    machine = machine or platform.machine()
    code_size = len(_code(machine, channel, 0))
    data_at = _DATA + _HEADERS + code_size
    code = _code(machine, channel, data_at)
    return _headers(machine, code_size) + code + _data(data_at)


def _headers(machine: str, code_size: int) -> bytes:
    """The headers of elf(5): code that can be executed, data that can be written, a stack that is not executable."""
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = identity + struct.pack(
        "<HHIQQQIHHHHHH", 2, _MACHINES[machine], 1, _CODE + _HEADERS, 64, 0, 0, 64, 56, 3, 64, 0, 0
    )
    executable, end = _HEADERS + code_size, _HEADERS + code_size + _DATA_SIZE
    load, stack, read, write, execute = 1, 0x6474E551, 4, 2, 1
    header += struct.pack("<IIQQQQQQ", load, read | execute, 0, _CODE, _CODE, executable, executable, _PAGE)
    header += struct.pack("<IIQQQQQQ", load, read | write, 0, _DATA, _DATA, end, end, _PAGE)
    return header + struct.pack("<IIQQQQQQ", stack, read | write, 0, 0, 0, 0, 0, 16)


def _data(at: int) -> bytes:
    data = struct.pack("<8s", b"+")
    data += struct.pack("<H", 2) + struct.pack(">H4s8x", PORT, bytes((127, 0, 0, 1)))
    data += struct.pack("<QQ", at + _BYTE, 1)
    data += struct.pack("<Qiiii", 20, 1, 1, -1, 0)  # SOL_SOCKET, SCM_RIGHTS
    return data + struct.pack("<QQQQQQQ", 0, 0, at + _IOVEC, 1, at + _CMSG, 24, 0)


def _code(machine: str, channel: int, data: int) -> bytes:
    return _code_x86_64(channel, data) if machine == "x86_64" else _code_aarch64(channel, data)


def _code_x86_64(channel: int, data: int) -> bytes:
    """r12: the stack at the start; r13: the socket."""
    fail = _x86_call(60, FAILED)  # exit
    after = b"".join(
        (
            _x86_call(3, channel),  # close
            bytes.fromhex("498b7c2410"),  # mov rdi, [r12+16]       argv[1]
            bytes.fromhex("498d742410"),  # lea rsi, [r12+16]       argv + 1
            bytes.fromhex("498b0424"),  # mov rax, [r12]          argc
            bytes.fromhex("498d54c410"),  # lea rdx, [r12+rax*8+16] envp
            b"\xb8" + struct.pack("<I", 59) + b"\x0f\x05",  # execve; it returns only if it failed
        )
    )
    return b"".join(
        (
            bytes.fromhex("4989e4"),  # mov r12, rsp
            _x86_call(41, 2, _SOCK_STREAM_CLOEXEC, 0),  # socket(AF_INET, …)
            bytes.fromhex("4989c5"),  # mov r13, rax
            _x86_call(49, None, data + _SOCKADDR, 16),  # bind
            _x86_call(50, None, _BACKLOG),  # listen
            bytes.fromhex("44892c25") + struct.pack("<I", data + _DESCRIPTOR),  # mov [descriptor], r13d
            _x86_call(46, channel, data + _MSGHDR, 0),  # sendmsg
            bytes.fromhex("4885c0"),  # test rax, rax
            b"\x78" + struct.pack("<b", len(after)),  # js fail
            after,
            fail,
        )
    )


def _x86_call(number: int, *arguments: int | None) -> bytes:
    """A system call. None stands for the socket, in the first argument only."""
    loads = b""
    for opcode, argument in zip(b"\xbf\xbe\xba", arguments, strict=False):  # mov edi, esi, edx
        loads += bytes.fromhex("4c89ef") if argument is None else bytes((opcode,)) + struct.pack("<I", argument)
    return loads + b"\xb8" + struct.pack("<I", number) + b"\x0f\x05"  # mov eax, number; syscall


def _code_aarch64(channel: int, data: int) -> bytes:
    """x19: the stack at the start; x20: the socket."""
    after = [
        *_arm_call(57, channel),  # close
        0xF9400A60,  # ldr x0, [x19, #16]        argv[1]
        0x91004261,  # add x1, x19, #16          argv + 1
        0xF9400263,  # ldr x3, [x19]             argc
        0x8B030E62,  # add x2, x19, x3, lsl #3
        0x91004042,  # add x2, x2, #16           envp
        *_arm_call(221),  # execve; it returns only if it failed
    ]
    code = [
        0x910003F3,  # mov x19, sp
        *_arm_call(198, 2, _SOCK_STREAM_CLOEXEC, 0),  # socket(AF_INET, …)
        0xAA0003F4,  # mov x20, x0
        *_arm_call(200, None, data + _SOCKADDR, 16),  # bind
        *_arm_call(201, None, _BACKLOG),  # listen
        *_arm_load(1, data + _DESCRIPTOR),
        0xB9000034,  # str w20, [x1]
        *_arm_call(211, channel, data + _MSGHDR, 0),  # sendmsg
        0xB7F80000 | (len(after) + 1) << 5,  # tbnz x0, #63, fail
        *after,
        *_arm_call(93, FAILED),  # exit
    ]
    return b"".join(struct.pack("<I", word) for word in code)


def _arm_load(register: int, value: int) -> list[int]:
    """movz and movk of a value of 32 bits."""
    return [0xD2800000 | (value & 0xFFFF) << 5 | register, 0xF2A00000 | (value >> 16) << 5 | register]


def _arm_call(number: int, *arguments: int | None) -> list[int]:
    """A system call. None stands for the socket, in the first argument only."""
    words: list[int] = []
    for register, argument in enumerate(arguments):
        words += [0xAA1403E0] if argument is None else _arm_load(register, argument)  # mov x0, x20
    return [*words, *_arm_load(8, number), 0xD4000001]  # svc #0
