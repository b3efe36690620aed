"""Guesses the stack of an imported page by the libraries that it loads."""

import re

from heald.core.lazy import lazy_pattern

_STACK_MARKS = (
    ("ionic_tailwind", lazy_pattern(r"@ionic/core|<ion-app\b", re.I)),
    ("vue_tailwind", lazy_pattern(r"vue(?:@3)?(?:/dist/vue|\.global)|unpkg\.com/vue|npm/vue@", re.I)),
    ("react_tailwind", lazy_pattern(r"text/babel|react-dom(?:@|\.)", re.I)),
    ("bootstrap", lazy_pattern(r"bootstrap(?:@\d|\.min|\.bundle)", re.I)),
    ("html_tailwind", lazy_pattern(r"cdn\.tailwindcss\.com|@tailwindcss/browser", re.I)),
)


def guess_stack(page: str) -> str:
    """Guess the stack of an imported page by the libraries that it loads."""
    if page.lstrip()[:2_000].lower().startswith(("<svg", "<?xml")) and "<html" not in page[:2_000].lower():
        return "svg"
    return next((name for name, mark in _STACK_MARKS if mark.search(page)), "html_css")
