"""Whether locks hold: edits that alter what is locked are checked, and none may pass.

`python -m benchmarks.locks [--count 1000] [--seed 1]` makes hostile edits of a page, checks each with Chromium as the
studio does, and prints the edits that pass, and the harmless ones that are refused. It fails if there is one. It writes
benchmarks/results/locks.json; `--resume` continues a run that was interrupted.
"""

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from benchmarks.hostile_edits import BASE, LOCKS, HostileEdit, harmless_edits, hostile_edits
from benchmarks.report import commit_name, machine
from heald_studio.locks.lock_check import check_locks
from heald_studio.stacks.installed import find_stack

RESULTS = Path(__file__).parent / "results" / "locks.json"
BATCH = 20
"""Edits after which the results are stored."""
AT_ONCE = 2


class KindCount(msgspec.Struct):
    """Edits against one kind of lock."""

    edits: int = 0
    refused: int = 0


class LockResults(msgspec.Struct):
    command: str
    commit: str
    machine: str
    seed: int
    count: int
    checked: int = 0
    refused: int = 0
    passed: list[str] = []
    """The numbers and names of the hostile edits that pass."""
    kinds: dict[str, KindCount] = {}
    harmless: int = 0
    harmless_refused: list[str] = []

    def add(self, number: int, edit: HostileEdit, reason: str) -> None:
        kind = self.kinds.setdefault(edit.lock.kind, KindCount())
        kind.edits += 1
        self.checked += 1
        if reason:
            kind.refused += 1
            self.refused += 1
        else:
            self.passed.append(f"{number} {edit.name}")

    def store(self) -> None:
        RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n")


async def read_base(_: str) -> Mapping[str, bytes]:
    return BASE


async def reason_of(edit: HostileEdit) -> str:
    """Return why an edit is refused; empty if it passes."""
    broken = await check_locks(find_stack("html_css"), [edit.lock], edit.files, read_base)
    return broken[0].sentence if broken else ""


def begin(count: int, seed: int, resume: bool) -> LockResults:
    """Return the stored results of the same run if it is to be continued, or empty ones."""
    if resume and RESULTS.exists():
        stored = msgspec.json.decode(RESULTS.read_bytes(), type=LockResults)
        if (stored.count, stored.seed) == (count, seed):
            return stored
    command = f"python -m benchmarks.locks --count {count} --seed {seed}"
    return LockResults(command, commit_name(), machine(), seed, count)


async def check_hostile(edits: Sequence[HostileEdit], results: LockResults, verbose: bool) -> None:
    slots = asyncio.Semaphore(AT_ONCE)

    async def check(number: int) -> str:
        async with slots:
            return await reason_of(edits[number])

    while results.checked < len(edits):
        numbers = range(results.checked, min(results.checked + BATCH, len(edits)))
        reasons = await asyncio.gather(*(check(number) for number in numbers))
        for number, reason in zip(numbers, reasons, strict=True):
            results.add(number, edits[number], reason)
            if verbose:
                print(f"{number} {edits[number].name}\n    {reason or 'PASSED'}", flush=True)
            elif not reason:
                print(f"passed: {number} {edits[number].name}", flush=True)
        results.store()
        print(f"{results.checked} of {len(edits)} checked", file=sys.stderr, flush=True)


async def check_harmless(results: LockResults) -> None:
    results.harmless, results.harmless_refused = 0, []
    for name, files in harmless_edits().items():
        broken = await check_locks(find_stack("html_css"), list(LOCKS.values()), files, read_base)
        results.harmless += 1
        if broken:
            results.harmless_refused.append(name)
            print(f"refused: {name}: {broken[0].sentence}", flush=True)
    results.store()


async def main(count: int, seed: int, resume: bool, verbose: bool) -> int:
    results = begin(count, seed, resume)
    await check_hostile(hostile_edits(count, seed), results, verbose)
    await check_harmless(results)
    passed, harmless_refused = len(results.passed), len(results.harmless_refused)
    print(f"{results.refused:,} of {count:,} hostile edits refused, {passed} passed (seed {seed})")
    print(f"{harmless_refused} of {results.harmless} harmless edits refused")
    return 1 if passed or harmless_refused else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    sys.exit(asyncio.run(main(options.count, options.seed, options.resume, options.verbose)))
