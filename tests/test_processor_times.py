"""`pytest --processor-times`: a sum of seconds that is right while threads and processes come and end."""

import os
import subprocess
from threading import Event, Thread

from processor_times import tree_seconds


def start_threads(end: Event) -> None:
    while not end.is_set():
        threads = [Thread(target=end.wait, args=(0.0001,)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def test_no_second_is_lost_while_threads_and_children_end() -> None:
    end = Event()
    starting = Thread(target=start_threads, args=(end,))
    starting.start()
    try:
        with subprocess.Popen(["sh", "-c", "while read line; do /bin/true; done"], stdin=subprocess.PIPE) as shell:
            assert shell.stdin is not None
            seen = tree_seconds(os.getpid())
            for _ in range(100):
                shell.stdin.write(b"\n" * 3)
                shell.stdin.flush()
                before, seen = seen, tree_seconds(os.getpid())
                assert seen >= before
            shell.stdin.close()
    finally:
        end.set()
        starting.join()
