"""Runs work in parallel, on as many cores as this process may use."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import TypeVar

MOST_CORES = 4  # more hardly make a page faster, and need memory
Item = TypeVar("Item")
Result = TypeVar("Result")


def map_parallel(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Map in order on all cores. A network uses one core for a batch, and two that work at the same time share them."""
    cores = min(count_cores(), MOST_CORES)
    pool = _workers(cores)
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > cores:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


@cache
def _workers(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, "heald-models")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.cache_clear)  # threads do not survive a fork


def count_cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
