"""The seccomp filter of sandboxed commands, for x86_64 and aarch64.

The filter is a second layer: namespaces and dropped capabilities already deny most of these system calls. It reduces
the attack surface of the kernel (io_uring, bpf, user namespaces, keyrings) and denies access to other processes. The
format is the classic BPF of linux/filter.h over `struct seccomp_data` of linux/seccomp.h, little-endian.
"""

import platform
import struct
from errno import EAFNOSUPPORT, ENOSYS, EPERM
from functools import cache
from typing import NamedTuple

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000

ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
_ERRNO = 0x00050000

_LOAD = 0x20  # ld [k]
_JUMP_EQUAL = 0x15
_JUMP_AT_LEAST = 0x35
_JUMP_ANY_BIT = 0x45
_RETURN = 0x06

_NR, _ARCH = 0, 4

REFUSED = {  # name: (x86_64, aarch64); None if the machine has no such call
    # other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    # namespaces and mounts
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "open_tree_attr": (467, 467), "open_by_handle_at": (304, 265),
    # large kernel interfaces with a history of vulnerabilities
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "fanotify_init": (300, 262),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "lookup_dcookie": (212, 18),
    "modify_ldt": (154, None),
    # the machine itself
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224),
    "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "syslog": (103, 116), "settimeofday": (164, 170), "clock_settime": (227, 112), "sethostname": (170, 161),
    "setdomainname": (171, 162), "vhangup": (153, 58), "iopl": (172, None), "ioperm": (173, None),
}  # fmt: skip

JUDGED = {  # denied with some arguments only
    "clone": (56, 220),
    "clone3": (435, 435),
    "ioctl": (16, 29),
    "personality": (135, 92),
    "socket": (41, 198),
}

NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
TERMINAL_INJECTION = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which inject input into a terminal."""
PERSONALITIES = (0, 8, 0xFFFFFFFF)
"""PER_LINUX, PER_LINUX32 and the query of the current personality."""
FAMILIES = (1, 2, 10)
"""AF_UNIX, AF_INET and AF_INET6. Others are useless without a network."""


class _Step(NamedTuple):
    code: int
    value: int
    yes: str | None = None
    """The label to jump to if the test is true. None: the next step."""
    no: str | None = None


def supported(machine: str | None = None) -> bool:
    return (machine or platform.machine()) in AUDIT_ARCH


@cache
def program(machine: str | None = None) -> bytes:
    """Return the filter for a machine (default: this one) in the format of `bwrap --seccomp`."""
    machine = machine or platform.machine()
    column = tuple(AUDIT_ARCH).index(machine)
    steps: list[_Step | str] = [
        _Step(_LOAD, _ARCH),
        _Step(_JUMP_EQUAL, AUDIT_ARCH[machine], no="kill"),
        _Step(_LOAD, _NR),
    ]
    if machine == "x86_64":
        steps.append(_Step(_JUMP_AT_LEAST, X32_BIT, yes="refuse"))
    for numbers in REFUSED.values():
        number = numbers[column]
        if number is not None:
            steps.append(_Step(_JUMP_EQUAL, number, yes="refuse"))
    steps += [_Step(_JUMP_EQUAL, numbers[column], yes=name) for name, numbers in JUDGED.items()]
    steps.append(_Step(_RETURN, ALLOW))
    steps += ["clone", _argument(0), _Step(_JUMP_ANY_BIT, NEW_NAMESPACES, "refuse", "allow")]
    steps += ["ioctl", _argument(1), *(_Step(_JUMP_EQUAL, code, "refuse") for code in TERMINAL_INJECTION)]
    steps.append(_Step(_RETURN, ALLOW))
    steps += ["personality", _argument(0), *(_Step(_JUMP_EQUAL, value, "allow") for value in PERSONALITIES)]
    steps.append(_Step(_RETURN, _ERRNO | EPERM))
    steps += ["socket", _argument(0), *(_Step(_JUMP_EQUAL, family, "allow") for family in FAMILIES)]
    steps.append(_Step(_RETURN, _ERRNO | EAFNOSUPPORT))
    steps += ["clone3", _Step(_RETURN, _ERRNO | ENOSYS)]  # BPF cannot read its flags; libc falls back to clone
    steps += ["refuse", _Step(_RETURN, _ERRNO | EPERM)]
    steps += ["kill", _Step(_RETURN, KILL_PROCESS)]
    steps += ["allow", _Step(_RETURN, ALLOW)]
    return _assemble(steps)


def _argument(index: int) -> _Step:
    """Load the low half of an argument. The kernel treats these arguments as 32-bit values."""
    return _Step(_LOAD, 16 + 8 * index)


def _assemble(steps: list[_Step | str]) -> bytes:
    places: dict[str, int] = {}
    code: list[_Step] = []
    for step in steps:
        if isinstance(step, str):
            places[step] = len(code)
        else:
            code.append(step)

    def distance(label: str | None, here: int) -> int:
        return 0 if label is None else places[label] - here - 1

    return b"".join(
        struct.pack("<HBBI", step.code, distance(step.yes, here), distance(step.no, here), step.value)
        for here, step in enumerate(code)
    )
