"""Writes a report to disk as HTML, Markdown and JSON, with its pictures."""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from weft.studio.evaluate.report import COLUMNS_BY_KEY, EvaluationReport, Row, Summary

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&-])")
_FIGURE_HEAD = ["figure", "mean", "median", "worst", "where"]
RESULT_TEXT = {True: "met", False: "not met", None: "not measured"}


def _page_table(report: EvaluationReport) -> Iterator[list[str]]:
    """Yield the head and the rows of the table of all pages."""
    columns = report.columns()
    yield ["target", "model", "stack", *(column.label for column in columns)]
    for row in report.rows:
        yield [row.target, row.model, row.stack, *(column.format(column.value(row)) for column in columns)]


def _figure_rows(summary: Summary) -> Iterator[list[str]]:
    for figures in summary.figures:
        if figures.count:
            column = COLUMNS_BY_KEY[figures.column]
            values = (column.format(value) for value in (figures.mean, figures.median, figures.worst))
            yield [column.label, *values, figures.where]


def _row_pictures(row: Row) -> dict[str, bytes]:
    pictures = {"target": row.pictures.target, "result": row.pictures.result, "difference": row.pictures.heat}
    return {kind: image for kind, image in pictures.items() if image}


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
    head, *rows = _page_table(report)
    yield from ("", "## Pages", "", *_table_head(head, 3), *map(_table_line, rows))
    for row, paths in zip(report.rows, pictures, strict=True):
        yield from _row_lines(row, paths)


def _summary_lines(summary: Summary) -> Iterator[str]:
    yield from ("", f"## {escape_markdown(summary.title)}", "")
    yield from (*_table_head(_FIGURE_HEAD, 1), *map(_table_line, _figure_rows(summary)), "")
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


_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_STYLE = """
:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:1500px;padding:24px}
table{border-collapse:collapse;margin:12px 0;font-variant-numeric:tabular-nums}.wide{overflow-x:auto}
th,td{border:1px solid #8886;padding:4px 10px;text-align:right;white-space:nowrap}
th:first-child,td:first-child,.text{text-align:left}h3{margin:48px 0 8px;border-top:1px solid #8886;padding-top:20px}
.true{color:#15803d}.false{color:#dc2626;font-weight:700}.none{color:#888}
.pictures{display:grid;grid-template-columns:repeat(3,1fr);gap:12px}figure{margin:0}
figure img{width:100%;border:1px solid #8886;display:block}figcaption{font-size:13px;color:#888}
li{overflow-wrap:anywhere}
"""


def render_html(report: EvaluationReport) -> str:
    return "".join(_html_parts(report))


def _html_parts(report: EvaluationReport) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>Evaluation</title>\n'
    yield f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>Evaluation</h1>\n"
    yield _list_html(report.notes)
    for summary in report.summaries():
        yield from _summary_html(summary)
    yield "<h2>Pages</h2>\n"
    head, *rows = _page_table(report)
    yield _table_html(head, rows)
    for row in report.rows:
        yield from _row_html(row)
    yield "</main>\n</body>\n</html>\n"


def _summary_html(summary: Summary) -> Iterator[str]:
    yield f"<h2>{escape(summary.title)}</h2>\n"
    yield _table_html(_FIGURE_HEAD, _figure_rows(summary))
    yield "<table><thead><tr><th>bar</th><th>value</th><th>verdict</th></tr></thead><tbody>\n"
    for verdict in summary.verdicts:
        value = COLUMNS_BY_KEY[verdict.column].format(verdict.value)
        kind, word = str(verdict.met).lower(), RESULT_TEXT[verdict.met]
        yield f'<tr><td>{escape(verdict.bar)}</td><td>{escape(value)}</td><td class="{kind}">{word}</td></tr>\n'
    yield "</tbody></table>\n"


def _row_html(row: Row) -> Iterator[str]:
    yield f"<h3>{escape(f'{row.target} · {row.model} · {row.stack}')}</h3>\n"
    if row.error:
        yield f'<p class="false">{escape(row.error)}</p>\n'
    yield '<div class="pictures">\n'
    for label, image in _row_pictures(row).items():
        source = f"data:image/webp;base64,{base64.b64encode(image).decode()}"
        text = escape(f"{label} of {row.target}")
        yield f'<figure><img src="{source}" alt="{text}"><figcaption>{label}</figcaption></figure>\n'
    yield "</div>\n"
    yield _list_html(row.remarks)


def _table_html(head: list[str], lines: Iterable[list[str]]) -> str:
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>\n" for line in lines)
    return f'<div class="wide"><table><thead><tr>{names}</tr></thead><tbody>\n{body}</tbody></table></div>\n'


def _list_html(sentences: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>\n" for sentence in sentences)
    return f"<ul>\n{items}</ul>\n" if items else ""


_UNSAFE = re.compile(r"[^a-z0-9]+")


def write_report(report: EvaluationReport, folder: Path) -> Path:
    """Write the report into the folder, over an earlier one, and return the path of the HTML file."""
    pictures = folder / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    for old in pictures.glob("*.webp"):
        old.unlink()
    paths: list[dict[str, str]] = []
    for number, row in enumerate(report.rows, 1):
        name = _UNSAFE.sub("-", f"{row.target}-{row.model}-{row.stack}".lower()).strip("-")[:80]
        found = _row_pictures(row)
        paths.append({kind: f"pictures/{number:03}-{name}-{kind}.webp" for kind in found})
        for kind, image in found.items():
            (folder / paths[-1][kind]).write_bytes(image)
    (folder / "report.json").write_bytes(report.as_json())
    (folder / "report.md").write_text(render_markdown(report, paths), "utf-8", "replace")
    html = folder / "report.html"
    html.write_text(render_html(report), "utf-8", "replace")
    return html
