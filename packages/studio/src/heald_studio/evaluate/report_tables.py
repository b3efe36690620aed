"""The tables of a report, which its forms have in common."""

from collections.abc import Iterator

from heald_studio.evaluate.columns import COLUMNS_BY_KEY
from heald_studio.evaluate.report import EvaluationReport, Summary
from heald_studio.evaluate.row import Row

FIGURE_HEAD = ["figure", "mean", "median", "worst", "where"]
RESULT_TEXT = {True: "met", False: "not met", None: "not measured"}


def page_table(report: EvaluationReport) -> Iterator[list[str]]:
    """Yield the head and the rows of the table of all pages."""
    columns = report.columns()
    yield ["target", "model", "stack", *(column.label for column in columns)]
    for row in report.rows:
        yield [row.target, row.model, row.stack, *(column.format(column.value(row)) for column in columns)]


def figure_rows(summary: Summary) -> Iterator[list[str]]:
    for figures in summary.figures:
        if figures.count:
            column = COLUMNS_BY_KEY[figures.column]
            values = (column.format(value) for value in (figures.mean, figures.median, figures.worst))
            yield [column.label, *values, figures.where]


def row_pictures(row: Row) -> dict[str, bytes]:
    pictures = {"target": row.pictures.target, "result": row.pictures.result, "difference": row.pictures.heat}
    return {kind: image for kind, image in pictures.items() if image}
