"""Compares this checkout with an earlier one, in one interleaved run. Ends with 1 if a row is over 10 % worse.

python -m benchmarks.check                     against the last release (the newest tag), or the parent of HEAD
python -m benchmarks.check --against COMMIT    against any commit
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.processes import Worker, mock_server
from benchmarks.report import machine
from benchmarks.scenarios import WIRES

ROOT = Path(__file__).resolve().parents[1]
ROWS = ("heald", "heald-agent")
SCENARIOS = ("text-1", "text-1000", "turns-20", "calls-8", "args-20k")
WORSE = 1.10
"""The share of the earlier time from which on a row has become worse."""
_LIMIT = 120.0
"""Seconds for one cell in one round."""


class Comparison(NamedTuple):
    """The CPU seconds of a row on a wire: the best of all rounds, and the median of the shares of the rounds."""

    row: str
    wire: str
    scenario: str
    earlier: float
    now: float
    share: float

    @property
    def is_worse(self) -> bool:
        """Noise makes single rounds slow: both the best round and the middle one must be worse."""
        return self.share > WORSE and self.now > self.earlier * WORSE


def compare(earlier: list[float], now: list[float], row: str, wire: str, scenario: str) -> Comparison:
    """Compare the samples of two checkouts; the samples of a round stand at the same place."""
    shares = [after / before for before, after in zip(earlier, now, strict=True)]
    return Comparison(row, wire, scenario, min(earlier), min(now), median(shares))


@contextmanager
def checkout(commit: str) -> Generator[Path]:
    """Check a commit out beside this tree, with the files that are generated here."""
    with tempfile.TemporaryDirectory(prefix="heald-bench-") as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--detach", "--quiet", tree, commit], cwd=ROOT, check=True)
        try:
            for path in ROOT.glob("packages/*/src/*/**/*prices*"):
                place = tree / path.relative_to(ROOT)
                if path.is_file() and not place.exists() and place.parent.exists():
                    place.write_bytes(path.read_bytes())
            yield tree
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=False)


def measure(tree: Path, rounds: int) -> list[Comparison]:
    """Let the two checkouts take turns on every row, wire and scenario."""
    comparisons: list[Comparison] = []
    with ExitStack() as stack:
        base_url = stack.enter_context(mock_server())
        for row in ROWS:
            workers = [stack.enter_context(Worker(row, verbose=False, tree=place)) for place in (tree, ROOT)]
            for wire in WIRES:
                for scenario in SCENARIOS:
                    print(f"{row}, {wire}, {scenario}", file=sys.stderr, flush=True)
                    command: dict[str, Any] = {"base_url": base_url, "wire": wire, "scenario": scenario, "seconds": 0}
                    if "error" in workers[0].ask(command, _LIMIT):
                        print("The earlier checkout does not have this scenario.", file=sys.stderr, flush=True)
                        continue
                    samples: tuple[list[float], list[float]] = ([], [])
                    for round_ in range(rounds + 1):
                        command["seconds"] = 0.1 if round_ else 0
                        for number in (0, 1) if round_ % 2 else (1, 0):
                            answer = workers[number].ask(command, _LIMIT)
                            if "error" in answer:
                                raise SystemExit(f"{row} on {wire}, {scenario}: {answer['error']}.")
                            if round_:
                                samples[number].append(answer["cpu"])
                    comparisons.append(compare(*samples, row, wire, scenario))
    return comparisons


def _last_release() -> str:
    tag = subprocess.run(["git", "describe", "--tags", "--abbrev=0"], cwd=ROOT, capture_output=True, text=True)
    return tag.stdout.strip() or "HEAD~1"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check", description="This checkout and an earlier one.")
    parser.add_argument("--against", default=_last_release(), help="a commit or tag (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds after a warm-up (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    options = parser.parse_args()
    with checkout(options.against) as tree:
        comparisons = measure(tree, options.rounds)
    print(
        f"CPU milliseconds of a run, {options.against} → this checkout, best of {options.rounds} rounds. {machine()}\n"
    )
    print("| row | wire | scenario | earlier | now | median share |\n|---|---|---|---|---|---|")
    for row in comparisons:
        mark = " **worse**" if row.is_worse else ""
        figures = f"{row.earlier * 1000:.2f} | {row.now * 1000:.2f} | {row.share:.2f} ×{mark}"
        print(f"| {row.row} | {row.wire} | {row.scenario} | {figures} |")
    if options.json is not None:
        command = " ".join(["python -m benchmarks.check", *sys.argv[1:]])
        stored = {"command": command, "machine": machine(), "rows": [row._asdict() for row in comparisons]}
        options.json.write_text(json.dumps(stored, indent=1) + "\n")
    return 1 if any(row.is_worse for row in comparisons) else 0


if __name__ == "__main__":
    sys.exit(main())
