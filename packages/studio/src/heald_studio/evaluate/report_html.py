"""Writes a report as one HTML document."""

import base64
from collections.abc import Iterable, Iterator
from html import escape

from heald_studio.evaluate.columns import COLUMNS_BY_KEY
from heald_studio.evaluate.report import EvaluationReport, Summary
from heald_studio.evaluate.report_tables import FIGURE_HEAD, RESULT_TEXT, figure_rows, page_table, row_pictures
from heald_studio.evaluate.row import Row

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
    head, *rows = page_table(report)
    yield _table_html(head, rows)
    for row in sorted(report.rows, key=_order):
        yield from _row_html(row)
    yield "</main>\n</body>\n</html>\n"


def _order(row: Row) -> tuple[float, str]:
    """Sort the worst page first."""
    if row.design2code is not None:
        return row.design2code.mean, row.target
    return row.score.overall if row.score is not None else 0.0, row.target


def _summary_html(summary: Summary) -> Iterator[str]:
    yield f"<h2>{escape(summary.title)}</h2>\n"
    yield _table_html(FIGURE_HEAD, figure_rows(summary))
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
    for label, image in row_pictures(row).items():
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
