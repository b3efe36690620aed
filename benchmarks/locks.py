"""Whether locks hold: edits that alter what is locked are checked, and none may pass.

`python -m benchmarks.locks [--count 1000] [--seed 1]` makes hostile edits of a page, checks each with Chromium as the
studio does, and prints the edits that pass, and the harmless ones that are refused. It fails if there is one.
"""

import argparse
import asyncio
import sys
from collections.abc import Mapping
from time import monotonic

from benchmarks.hostile_edits import BASE, LOCKS, HostileEdit, harmless_edits, hostile_edits
from heald_studio.locks.lock_check import check_locks
from heald_studio.stacks.installed import find_stack


async def read_base(_: str) -> Mapping[str, bytes]:
    return BASE


async def reason_of(edit: HostileEdit) -> str:
    """Return why an edit is refused; empty if it passes."""
    broken = await check_locks(find_stack("html_css"), [edit.lock], edit.files, read_base)
    return broken[0].sentence if broken else ""


async def main(count: int, seed: int, verbose: bool) -> int:
    edits = hostile_edits(count, seed)
    passed: list[str] = []
    slots = asyncio.Semaphore(2)
    started = monotonic()

    async def check(number: int, edit: HostileEdit) -> None:
        async with slots:
            reason = await reason_of(edit)
        if verbose:
            print(f"{number} {edit.name}\n    {reason or 'PASSED'}", flush=True)
        if not reason:
            passed.append(f"{number} {edit.name}")
            print(f"passed: {number} {edit.name}", flush=True)

    await asyncio.gather(*(check(number, edit) for number, edit in enumerate(edits)))
    refused = 0
    for name, files in harmless_edits().items():
        broken = await check_locks(find_stack("html_css"), list(LOCKS.values()), files, read_base)
        refused += bool(broken)
        if broken:
            print(f"refused: {name}: {broken[0].sentence}")
    seconds = monotonic() - started
    print(f"{count - len(passed):,} of {count:,} hostile edits refused, {len(passed)} passed (seed {seed})")
    print(f"{refused} of {len(harmless_edits())} harmless edits refused; {seconds:.0f} s")
    return 1 if passed or refused else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    sys.exit(asyncio.run(main(options.count, options.seed, options.verbose)))
