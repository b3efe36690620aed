"""Writes a report as Markdown."""

import re
from collections.abc import Iterator, Mapping, Sequence

from heald_studio.evaluate.columns import COLUMNS_BY_KEY
from heald_studio.evaluate.report import EvaluationReport, Summary
from heald_studio.evaluate.report_tables import FIGURE_HEAD, RESULT_TEXT, figure_rows, page_table
from heald_studio.evaluate.row import Row

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&-])")


def escape_markdown(text: str) -> str:
    """Escape the special characters of Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def render_markdown(report: EvaluationReport, pictures: Sequence[Mapping[str, str]]) -> str:
    """Render the report as Markdown. `pictures` has the paths of the pictures of each row."""
    return "\n".join(_markdown_lines(report, pictures)) + "\n"


def _markdown_lines(report: EvaluationReport, pictures: Sequence[Mapping[str, str]]) -> Iterator[str]:
    yield from ("# Evaluation", "")
    yield from (f"- {escape_markdown(note)}" for note in report.notes)
    for summary in report.summaries():
        yield from _summary_lines(summary)
    head, *rows = page_table(report)
    yield from ("", "## Pages", "", *_table_head(head, 3), *map(_table_line, rows))
    for row, paths in zip(report.rows, pictures, strict=True):
        yield from _row_lines(row, paths)


def _summary_lines(summary: Summary) -> Iterator[str]:
    yield from ("", f"## {escape_markdown(summary.title)}", "")
    yield from (*_table_head(FIGURE_HEAD, 1), *map(_table_line, figure_rows(summary)), "")
    yield from _table_head(["bar", "value", "verdict"], 1)
    for verdict in summary.verdicts:
        yield _table_line([verdict.bar, COLUMNS_BY_KEY[verdict.column].format(verdict.value), RESULT_TEXT[verdict.met]])


def _row_lines(row: Row, paths: Mapping[str, str]) -> Iterator[str]:
    yield from ("", f"### {escape_markdown(f'{row.target} · {row.model} · {row.stack}')}", "")
    if row.error:
        yield from (escape_markdown(row.error), "")
    if paths:
        yield from _table_head(list(paths), len(paths))
        yield (
            "| "
            + " | ".join(f"![{kind} of {escape_markdown(row.target)}]({path})" for kind, path in paths.items())
            + " |"
        )
        yield ""
    yield from (f"- {escape_markdown(sentence)}" for sentence in row.remarks)


def _table_head(names: list[str], texts: int) -> tuple[str, str]:
    """Return the head of a table: text columns are aligned left, figures right."""
    return _table_line(names), "|" + "|".join("---" if index < texts else "---:" for index in range(len(names))) + "|"


def _table_line(cells: list[str]) -> str:
    return "| " + " | ".join(map(escape_markdown, cells)) + " |"
