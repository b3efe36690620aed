"""Tries every attack of docs/attacks.md and of attacks/*.toml, and prints what happened to each.

    python scripts/run_attacks.py                   all of them, as `make attack`
    python scripts/run_attacks.py --only preview    rows that contain a word
    python scripts/run_attacks.py --list            the rows and their tests, without trying them
    python scripts/run_attacks.py --processes 4     in several processes

pytest runs once, on the tests of all rows. An attack is `held` if all its tests pass, `PASSED THROUGH` if one fails,
`no test` if a test does not exist, and `not tried` if all are skipped, because a program that they need is not
installed. The exit status is 1 if an attack passed through or has no test.
"""

import argparse
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "attacks.md"
FOLDER = ROOT / "attacks"
_ROW = re.compile(r"^\| ?(?P<case>\w*) \| (?P<attempt>.+) \| (?P<outcome>.+) \| `(?P<test>[^`]+)` \|$")
_ATTEMPT_WIDTH = 60

Result = Literal["held", "PASSED THROUGH", "no test", "not tried"]


@dataclass(frozen=True, slots=True)
class Attack:
    """A row: what is tried, at which place, what must happen instead, and the tests that try it."""

    place: str
    case: str
    attempt: str
    outcome: str
    tests: tuple[str, ...]

    def contains(self, word: str) -> bool:
        return word.casefold() in " ".join((self.place, self.case, self.attempt, self.outcome, *self.tests)).casefold()


def read_table(path: Path = TABLE) -> list[Attack]:
    """Read the rows of the table. The heading above a row is its place."""
    attacks: list[Attack] = []
    place = ""
    for line in path.read_text().splitlines():
        if line.startswith("## "):
            place = line.removeprefix("## ")
        elif (match := _ROW.match(line)) is not None:
            attacks.append(Attack(place, match["case"], match["attempt"], match["outcome"], (match["test"],)))
    return attacks


def read_files(folder: Path = FOLDER) -> list[Attack]:
    """Read the rows of a folder, one a file. Exits with a sentence about a file that is not a row."""
    attacks: list[Attack] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            row = tomllib.loads(path.read_text())
        except tomllib.TOMLDecodeError as error:
            sys.exit(f"{path.name} is not valid TOML: {error}.")
        tests = row.get("tests", [row["test"]] if "test" in row else [])
        texts = [row.get(name) for name in ("place", "attempt", "outcome")]
        if not tests or not all(isinstance(text, str) and text for text in (*texts, *tests)):
            sys.exit(f"{path.name} needs the texts place, attempt, outcome and test; attacks/README.md shows a file.")
        attacks.append(Attack(row["place"], path.stem, row["attempt"], row["outcome"], tuple(tests)))
    return attacks


class Outcomes:
    """A plugin of pytest that keeps the outcome of every test."""

    def __init__(self) -> None:
        self.outcomes: dict[str, list[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        is_expected = hasattr(report, "wasxfail")
        if report.when == "call" or report.outcome != "passed":
            outcome = "skipped" if is_expected and report.outcome == "skipped" else report.outcome
            self.outcomes.setdefault(report.nodeid, []).append(outcome)


def judge(attack: Attack, outcomes: Mapping[str, Sequence[str]]) -> Result:
    """Judge an attack by the outcomes of its tests, each of which may have many cases."""
    by_test = [_outcomes_of(test, outcomes) for test in attack.tests]
    if any("failed" in results for results in by_test):
        return "PASSED THROUGH"
    if not all(by_test):
        return "no test"
    return "held" if any("passed" in results for results in by_test) else "not tried"


def _outcomes_of(test: str, outcomes: Mapping[str, Sequence[str]]) -> list[str]:
    return [
        outcome
        for node, results in outcomes.items()
        if node == test or node.startswith((f"{test}[", f"{test}::"))
        for outcome in results
    ]


def run_tests(attacks: Iterable[Attack], options: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Run the tests of all rows once. Tests that do not exist are left out, so that the others run."""
    plugin = Outcomes()
    tests = list(dict.fromkeys(test for attack in attacks for test in attack.tests))
    existing = [test for test in tests if _exists(test)]
    if existing:
        pytest.main(["-q", "--no-header", "--tb=short", "--rootdir", str(ROOT), *options, *existing], plugins=[plugin])
    return plugin.outcomes


def _exists(test: str) -> bool:
    path, _, name = test.partition("::")
    file = ROOT / path
    return file.is_file() and re.search(rf"def {re.escape(name or 'test_')}", file.read_text()) is not None


def print_table(attacks: Sequence[Attack], results: Sequence[Result]) -> None:
    width = max(len(attack.place) for attack in attacks)
    for attack, result in zip(attacks, results, strict=True):
        attempt = (
            attack.attempt if len(attack.attempt) <= _ATTEMPT_WIDTH else attack.attempt[: _ATTEMPT_WIDTH - 1] + "…"
        )
        tests = ", ".join(test.rpartition("/")[2] for test in attack.tests)
        print(f"{result:14}  {attack.place:{width}}  {attack.case:4}  {attempt:{_ATTEMPT_WIDTH}}  {tests}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", metavar="WORD", help="try the rows that contain a word")
    parser.add_argument("--list", action="store_true", help="print the rows and their tests")
    parser.add_argument("--processes", type=int, default=0, metavar="N", help="run the tests in N processes")
    options = parser.parse_args()
    attacks = [attack for attack in (*read_table(), *read_files()) if attack.contains(options.only)]
    if not attacks:
        print(f"No attack contains {options.only!r}; --list shows all.", file=sys.stderr)
        return 1
    if options.list:
        for attack in attacks:
            print(f"{attack.place}: {attack.attempt} -> {attack.outcome}\n    {', '.join(attack.tests)}")
        return 0
    outcomes = run_tests(attacks, ["--processes", str(options.processes)] if options.processes else [])
    results: list[Result] = [judge(attack, outcomes) for attack in attacks]
    print()
    print_table(attacks, results)
    counts = Counter(results)
    print(
        f"\n{len(attacks)} attacks: " + ", ".join(f"{count} {result}" for result, count in counts.most_common()) + "."
    )
    return 1 if counts["PASSED THROUGH"] or counts["no test"] else 0


if __name__ == "__main__":
    sys.exit(main())
