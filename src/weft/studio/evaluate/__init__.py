"""Evaluation: a set of targets over converters and stacks, with figures and pictures of how good the pages are."""

from weft.studio.evaluate.bars import BARS, Bar
from weft.studio.evaluate.checkers import Checkers, find_checkers
from weft.studio.evaluate.conversion import Conversion, Converter
from weft.studio.evaluate.evaluation import evaluate
from weft.studio.evaluate.quality import Quality
from weft.studio.evaluate.report import Report
from weft.studio.evaluate.row import Row
from weft.studio.evaluate.target import Target, load_targets
from weft.studio.evaluate.writing import write_report

__all__ = [
    "BARS",
    "Bar",
    "Checkers",
    "Conversion",
    "Converter",
    "Quality",
    "Report",
    "Row",
    "Target",
    "evaluate",
    "find_checkers",
    "load_targets",
    "write_report",
]
