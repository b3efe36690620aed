"""Prints the seconds from the first import of a row to the end of its first short answer."""

import time

START = time.perf_counter()

import asyncio  # noqa: E402
import importlib  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402

from benchmarks.row import Ask, Row  # noqa: E402
from benchmarks.rows import ROWS  # noqa: E402


def main() -> None:
    name, base_url = sys.argv[1:]
    row: Row = importlib.import_module(ROWS[name]).ROW

    async def first_turn() -> None:
        await row.converse(Ask(base_url, row.wires[0], "bench-text-1"))
        print(time.perf_counter() - START, flush=True)
        os._exit(0)  # clients keep connections and threads open; there is nothing left to save

    asyncio.run(first_turn())


if __name__ == "__main__":
    main()
