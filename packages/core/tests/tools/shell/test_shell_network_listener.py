"""The program that hands the sandbox's socket out, as a file for both processors. The other tests run it."""

import struct

import pytest

from heald.tools.shell.network.listener_program import PORT, listener_program, supported


@pytest.mark.parametrize(("machine", "number"), [("x86_64", 62), ("aarch64", 183)])
def test_the_program_is_a_small_file_without_memory_that_is_both_written_and_executed(
    machine: str, number: int
) -> None:
    program = listener_program(7, machine)
    assert program[:7] == b"\x7fELF\x02\x01\x01"
    kind, processor, _, entry, table, _, _, _, size, count = struct.unpack_from("<HHIQQQIHHH", program, 16)
    assert (kind, processor, size, count) == (2, number, 56, 3)
    headers = [struct.unpack_from("<IIQQQQQQ", program, table + index * size) for index in range(count)]
    loads = [header for header in headers if header[0] == 1]
    assert all(flags & 3 != 3 for _, flags, *_ in headers)  # never writable and executable
    executable = next(header for header in loads if header[1] & 1)
    assert executable[3] <= entry < executable[3] + executable[5]
    assert max(header[2] + header[5] for header in loads) == len(program) < 1000
    assert struct.pack(">H4s", PORT, bytes((127, 0, 0, 1))) in program


def test_the_channel_is_part_of_the_program() -> None:
    for machine in ("x86_64", "aarch64"):
        assert listener_program(7, machine) != listener_program(8, machine)
        assert supported(machine)
    assert not supported("riscv64")
