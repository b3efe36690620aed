"""Signs that the network confuses: Chinese characters of one or two strokes, and lone letters for bars."""

import re
from collections.abc import Iterable

_SIGNS = str.maketrans({"十": "+", "一": "—", "丨": "|"})
_BAR, _LONE_BAR = " | ", re.compile(r" [|Il] ")
_FEWEST_ITEMS, _LONGEST_ITEM = 4, 2  # of a line with bars between its items, and the words of an item
_CHINESE = re.compile("[\u3040-\u30ff\u3400-\u9fff]")


def has_chinese(texts: Iterable[str]) -> bool:
    """Whether a text has a Chinese or Japanese character that does not look like a sign."""
    return any(_CHINESE.search(replace_signs(text)) for text in texts)


def replace_signs(text: str) -> str:
    """Return a text with signs for the characters that look like them."""
    return text.translate(_SIGNS)


def replace_bars(text: str) -> str:
    """Return a text with bars for the lone letters between items of a line that has a bar: home I news | about."""
    items = _LONE_BAR.split(text)
    is_menu = len(items) >= _FEWEST_ITEMS and all(1 <= len(item.split()) <= _LONGEST_ITEM for item in items)
    return _BAR.join(items) if is_menu and _BAR in text else text
