"""The report as Markdown: for a repository's pages, with the pictures as files beside it."""

import re
from collections.abc import Iterator, Mapping, Sequence

from weft.studio.evaluate.columns import BY_KEY
from weft.studio.evaluate.report import Report, Summary
from weft.studio.evaluate.row import Row

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&-])")
MET = {True: "met", False: "not met", None: "not measured"}


def plain(text: str) -> str:
    """Text that means only itself in a line of Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def markdown(report: Report, pictures: Sequence[Mapping[str, str]]) -> str:
    """`pictures` says for each row under which paths its target, result and heat map lie."""
    return "\n".join(_lines(report, pictures)) + "\n"


def _lines(report: Report, pictures: Sequence[Mapping[str, str]]) -> Iterator[str]:
    yield from ("# Evaluation", "")
    yield from (f"- {plain(note)}" for note in report.notes)
    for summary in report.summaries():
        yield from _summary(summary)
    columns = report.columns()
    yield from ("", "## Pages", "")
    yield from _head(["target", "model", "stack", *(column.label for column in columns)], 3)
    for row in report.rows:
        yield _line([row.target, row.model, row.stack, *(column.written(column.value(row)) for column in columns)])
    for row, paths in zip(report.rows, pictures, strict=True):
        yield from _page(row, paths)


def _summary(summary: Summary) -> Iterator[str]:
    yield from ("", f"## {plain(summary.title)}", "")
    yield from _head(["figure", "mean", "median", "worst", "where"], 1)
    for figures in summary.figures:
        if figures.count:
            column = BY_KEY[figures.column]
            values = (column.written(value) for value in (figures.mean, figures.median, figures.worst))
            yield _line([column.label, *values, figures.where])
    yield ""
    yield from _head(["bar", "value", "verdict"], 1)
    for verdict in summary.verdicts:
        yield _line([verdict.bar, BY_KEY[verdict.column].written(verdict.value), MET[verdict.met]])


def _page(row: Row, paths: Mapping[str, str]) -> Iterator[str]:
    yield from ("", f"### {plain(f'{row.target} · {row.model} · {row.stack}')}", "")
    if row.error:
        yield from (plain(row.error), "")
    if paths:
        yield from _head(list(paths), len(paths))
        yield "| " + " | ".join(f"![{kind} of {plain(row.target)}]({path})" for kind, path in paths.items()) + " |"
        yield ""
    yield from (f"- {plain(sentence)}" for sentence in row.remarks)


def _head(names: list[str], texts: int) -> tuple[str, str]:
    """Columns of text to the left, figures to the right."""
    return _line(names), "|" + "|".join("---" if index < texts else "---:" for index in range(len(names))) + "|"


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(map(plain, cells)) + " |"
