"""Public pages as targets of an evaluation: draws some of a folder, and tabulates what was measured on them.

`python -m benchmarks.public_pages draw FOLDER TO [--count N]` copies pictures NAME.png with their documents NAME.html,
and the pictures that these show, into groups: `tuning` has those whose number modulo 4 is 1, which may be looked at
while a converter is improved, and `measured` has the others. The draw is the same for the same seed.

`python -m benchmarks.public_pages table REPORT` prints the figures of each group from the report of `heald eval`. Pages
that the measure of Design2Code cannot tell from themselves are named and left out of its means.

`python -m benchmarks.public_pages keep REPORT FILE --run COMMAND` keeps the figures of each page, without its text, in
a JSON file with the command that measured them; `table FILE` prints the same table from it.
"""

import argparse
import random
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import msgspec

from benchmarks.report import commit_name, machine

SEED = 39
TUNING, MEASURED = "tuning", "measured"
LEAST_IDENTITY = 0.95
LEAST_SEEN = 0.95
"""The share of a document's lines that the measure must see; what a copy has of the others counts as invented."""
SCORES = ("d2c_block", "d2c_text", "d2c_position", "d2c_colour")
COUNTS = ("links", "fields", "headings", "lists", "tables", "weight", "style", "size", "wrap", "unread")
TOTALS = {"charts": "charts invented", "new_fields": "fields invented", "letters": "letters as pictures"}
MEDIANS = {"by_place": "nth-* selectors, median", "hollow": "empty elements, median", "cpu": "CPU seconds, median"}
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw", help="copy pages into groups")
    drawing.add_argument("folder", type=Path)
    drawing.add_argument("to", type=Path)
    drawing.add_argument("--count", type=int, help="pages of each group (all)")
    drawing.add_argument("--seed", type=int, default=SEED, help="(%(default)s)")
    table = commands.add_parser("table", help="print the figures of a report")
    table.add_argument("report", type=Path, help="folder of heald eval, or a file that was kept")
    keeping = commands.add_parser("keep", help="keep the figures of a report in a file")
    keeping.add_argument("report", type=Path)
    keeping.add_argument("file", type=Path)
    keeping.add_argument("--run", required=True, help="the command that measured the report")
    options = parser.parse_args()
    if options.command == "draw":
        draw(options.folder, options.to, options.count, options.seed)
    elif options.command == "keep":
        rows = [kept_row(row) for row in read_rows(options.report)]
        results = {"command": options.run, "commit": commit_name(), "machine": machine(), "rows": rows}
        options.file.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
    else:
        print("\n".join(table_lines(read_rows(options.report))))


def read_rows(report: Path) -> list[Row]:
    """Return the rows of a report, or of a file that was kept."""
    source = report if report.is_file() else report / "report.json"
    if not source.is_file():
        sys.exit(f"There is no {source.name} in {report}; run heald eval -o {report} first.")
    return msgspec.json.decode(source.read_bytes())["rows"]


def kept_row(row: Row) -> Row:
    """Return the part of a row that the table needs; it names the page and has nothing of its text."""
    figures = {key: row["figures"][key] for key in (*SCORES, "seen", "agrees", "overflow", *TOTALS, *MEDIANS)}
    return {key: row[key] for key in ("target", "group", "identity", "document", "error")} | {"figures": figures}


def draw(folder: Path, to: Path, count: int | None, seed: int) -> None:
    """Copy the drawn pages into `to`, which is emptied first."""
    names = sorted(path.stem for path in folder.glob("*.html") if path.with_suffix(".png").is_file())
    if not names:
        sys.exit(f"There is no NAME.png with a NAME.html in {folder}; name a folder that holds both.")
    shutil.rmtree(to, ignore_errors=True)
    resources = [path for path in folder.iterdir() if path.suffix in _PICTURES and path.stem not in names]
    for group in (TUNING, MEASURED):
        members = [name for name in names if group_of(name) == group]
        drawn = members if count is None else random.Random(seed).sample(members, min(count, len(members)))
        (to / group).mkdir(parents=True)
        paths = [folder / f"{name}{ending}" for name in drawn for ending in (".png", ".html")]
        for path in (*paths, *resources):
            shutil.copyfile(path, to / group / path.name)
        print(f"{group}: {len(drawn)} of {len(members)}")


def group_of(name: str) -> str:
    """Return the group of a page by its number; one without a number is measured."""
    return TUNING if name.isdecimal() and int(name) % 4 == 1 else MEASURED


def table_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the table of all groups in Markdown, and the pages that are left out of the means of Design2Code."""
    groups = {group: [row for row in rows if row["group"] == group] for group in sorted({row["group"] for row in rows})}
    yield f"| figure | {' | '.join(group or 'pages' for group in groups)} |"
    yield "|---|" + "---:|" * len(groups)
    for label, figure in _figures():
        yield f"| {label} | {' | '.join(figure(members) for members in groups.values())} |"
    doubtful = [f"{row['target']} ({row['identity']['block']:.3f})" for row in rows if not is_sound(row)]
    if doubtful:
        yield f"\nLeft out of the means of Design2Code, by their identity: {', '.join(doubtful)}."
    failed = [f"{row['target']}: {row['error']}" for row in rows if row["error"]]
    yield from (f"\nFailed: {line}" for line in failed)


def is_sound(row: Row) -> bool:
    """Whether the measure of Design2Code finds a document the same as itself."""
    return row["identity"] is None or row["identity"]["block"] >= LEAST_IDENTITY


def _figures() -> Iterator[tuple[str, Callable[[Sequence[Row]], str]]]:
    yield "pages", lambda rows: str(len(rows))
    for key in SCORES:
        yield f"Design2Code {key.removeprefix('d2c_')}, mean", lambda rows, key=key: _mean(_sound_values(rows, key))
    yield "fifth-worst block", lambda rows: _number(_nth(sorted(_sound_values(rows, "d2c_block")), 4))
    yield "pages of which it sees 95 % of the lines", lambda rows: str(len(_seen_values(rows)))
    yield "block on these, mean", lambda rows: _mean(_seen_values(rows))
    yield "fifth-worst block on these", lambda rows: _number(_nth(sorted(_seen_values(rows)), 4))
    yield "worst block", lambda rows: _number(min(_sound_values(rows, "d2c_block"), default=None))
    yield "own score within 0.03 of the true one", lambda rows: _percent(_values(rows, "agrees"))
    for key in COUNTS:
        label = {"unread": "lines not read", "wrap": "lines that wrap alike"}.get(key, key)
        yield label, lambda rows, key=key: _pooled(rows, key)
    for key, label in TOTALS.items():
        yield label, lambda rows, key=key: f"{sum(_values(rows, key)):.0f}"
    yield "pages that overflow, 360 to 2560 px", lambda rows: str(sum(value > 0 for value in _values(rows, "overflow")))
    for key, label in MEDIANS.items():
        yield label, lambda rows, key=key: f"{median(_values(rows, key) or [0]):.1f}"


def _values(rows: Sequence[Row], key: str) -> list[float]:
    return [float(value) for row in rows if (value := row["figures"][key]) is not None]


def _sound_values(rows: Sequence[Row], key: str) -> list[float]:
    """Return the values of pages that the measure fits; a page that failed counts as 0."""
    sound = [row for row in rows if is_sound(row)]
    return [0.0 if row["error"] else float(row["figures"][key] or 0.0) for row in sound]


def _seen_values(rows: Sequence[Row]) -> list[float]:
    """Return the blocks of the pages whose lines the measure sees."""
    return _sound_values([row for row in rows if (row["figures"].get("seen") or 0.0) >= LEAST_SEEN], "d2c_block")


def _nth(values: Sequence[float], number: int) -> float | None:
    return values[number] if len(values) > number else None


def _mean(values: Sequence[float]) -> str:
    return _number(fmean(values) if values else None)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _percent(values: Sequence[float]) -> str:
    return f"{100 * fmean(values):.0f} %" if values else "–"


def _pooled(rows: Sequence[Row], key: str) -> str:
    """Return how many elements of all documents together the pages have."""
    counts = [row["document"][key] for row in rows if row["document"] is not None]
    number, total = (sum(count[part] for count in counts) for part in ("number", "total"))
    return f"{number} of {total} ({100 * number / total:.0f} %)" if total else "–"


if __name__ == "__main__":
    main()
