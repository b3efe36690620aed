"""The figures of the served path in docs/benchmarks.md, stored in served.json. `benchmarks.live` writes them."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = Path(__file__).with_name("served.json")
PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
_HEAD = "| server | CPU per delta | relative to the proxy | median lag | p99 lag | agents per core |"
_TABLE = re.compile(rf"^{re.escape(_HEAD)}\n(?:\|.*\n)*\n.*\n", re.M)


@dataclass(frozen=True)
class ServedRow:
    """A server and its dialect. CPU in microseconds, lags in milliseconds."""

    name: str
    cpu: float
    median: float
    p99: float


@dataclass(frozen=True)
class Served:
    """A whole run."""

    command: str
    commit: str
    measured: str
    machine: str
    agents: int
    pace: int
    """Deltas a second of each agent."""
    rows: Sequence[ServedRow]


def read(path: Path = FILE) -> Served:
    stored = json.loads(path.read_text("utf-8"))
    return Served(**stored | {"rows": [ServedRow(**row) for row in stored["rows"]]})


BASELINE = "bare proxy"


def table(served: Served) -> str:
    """The table of the page, as GitHub markdown, with a line below it that says how it was measured."""
    base = next((row.cpu for row in served.rows if row.name == BASELINE), None)
    lines = [_HEAD, "|---|---:|---:|---:|---:|---:|"]
    for row in served.rows:
        times = f"{row.cpu / base:.1f} ×" if base else "–"
        lags = f"{row.median:.1f} ms | {row.p99:.1f} ms"
        lines.append(f"| {row.name} | {row.cpu:.0f} µs | {times} | {lags} | {1e6 / row.cpu / served.pace:.0f} |")
    place = f"{without_load(served.machine)}, {served.measured}."
    how = f"{served.agents} agents at once, {served.pace} deltas a second each. {place}"
    return "\n".join([*lines, "", how])


def keep(served: Served) -> None:
    """Keep the figures, and put the table in the place of the one that the page has."""
    FILE.write_text(json.dumps(asdict(served), indent=1) + "\n", "utf-8")
    put_table(PAGE, _TABLE, table(served))


def without_load(machine: str) -> str:
    """Return the machine and its Python, without the load averages, which the file of results keeps."""
    return machine.partition("; load average")[0].rstrip(".")


def put_table(page: Path, old: re.Pattern[str], new: str) -> None:
    """Put a table in the place of the one that a page has."""
    text, count = old.subn(lambda _: new + "\n", page.read_text("utf-8"))
    if count != 1:
        raise SystemExit(f"{page.name} has no such table to put the new one in place of.")
    page.write_text(text, "utf-8")
