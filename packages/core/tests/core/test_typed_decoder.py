"""Types that several threads decode for the first time at once. msgspec alone ends the process then."""

import subprocess
import sys
from textwrap import dedent

THREADS = """
    import sys
    from threading import Barrier, Thread

    import msgspec

    from heald.core.typed_decoder import build_decoder

    FIELDS = [(f"field{number}", int | str | None, None) for number in range(30)]
    DATA = b'{"a": {"field0": 1, "field29": "x"}, "b": [{"field1": 2}]}'
    sys.setswitchinterval(1e-6)

    def decode(kind, barrier):
        barrier.wait()
        build_decoder(kind).decode(DATA)

    for number in range(400):
        inner = msgspec.defstruct("Inner", FIELDS)
        outer = msgspec.defstruct("Outer", [("a", inner), ("b", list[inner])])
        barrier = Barrier(3)
        threads = [Thread(target=decode, args=(outer, barrier)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
"""


def test_threads_that_decode_a_type_first_at_once_all_get_it() -> None:
    assert subprocess.run([sys.executable, "-c", dedent(THREADS)], timeout=300).returncode == 0
