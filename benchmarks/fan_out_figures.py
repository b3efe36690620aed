"""The figures of many readers in benchmarks/README.md, kept in fan_out.json. `benchmarks.fan_out` writes them."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.served_figures import put_table

FILE = Path(__file__).with_name("fan_out.json")
PAGE = Path(__file__).with_name("README.md")
_HEAD = "| readers | server | CPU an event | beside the bare one | memory a reader | lag, median | lag, p99 |"
_TABLE = re.compile(rf"^{re.escape(_HEAD)}\n(?:\|.*\n)*\n.*\n", re.M)


@dataclass(frozen=True)
class FanOutRow:
    """One server and one shape. CPU in microseconds, memory in kilobytes, lags in milliseconds."""

    shape: str
    server: str
    readers: int
    cpu: float
    memory: float
    median: float
    p99: float


@dataclass(frozen=True)
class FanOut:
    """A whole run."""

    command: str
    commit: str
    machine: str
    how: str
    rows: Sequence[FanOutRow]


def read(path: Path = FILE) -> FanOut:
    stored = json.loads(path.read_text("utf-8"))
    return FanOut(**stored | {"rows": [FanOutRow(**row) for row in stored["rows"]]})


def table(fan_out: FanOut) -> str:
    """The table of the page, as GitHub markdown, with a line below it that says how it was measured."""
    lines = [_HEAD, "|---|---|---:|---:|---:|---:|---:|"]
    bare = {row.shape: row.cpu for row in fan_out.rows if row.server == "bare"}
    for row in fan_out.rows:
        times = f"{row.cpu / bare[row.shape]:.1f} ×" if row.shape in bare else "–"
        name = "heald, SQLite" if row.server == "heald" else "bare broadcaster, nothing stored"
        lags = f"{row.median:.1f} ms | {row.p99:.1f} ms"
        lines.append(
            f"| {row.readers:,} of {row.shape} | {name} | {row.cpu:.0f} µs | {times} | {row.memory:.0f} KB | {lags} |"
        )
    return "\n".join([*lines, "", f"{fan_out.how} {fan_out.machine}"])


def keep(fan_out: FanOut) -> None:
    """Keep the figures, and put the table in the place of the one that the page has."""
    FILE.write_text(json.dumps(asdict(fan_out), indent=1) + "\n", "utf-8")
    put_table(PAGE, _TABLE, table(fan_out))
