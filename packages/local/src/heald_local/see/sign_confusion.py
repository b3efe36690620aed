"""Chinese characters of one or two strokes that the network reads where a page in another script has a sign."""

import re
from collections.abc import Iterable

_SIGNS = str.maketrans({"十": "+", "一": "—", "丨": "|"})
_CHINESE = re.compile("[\u3040-\u30ff\u3400-\u9fff]")


def has_chinese(texts: Iterable[str]) -> bool:
    """Whether a text has a Chinese or Japanese character that does not look like a sign."""
    return any(_CHINESE.search(replace_signs(text)) for text in texts)


def replace_signs(text: str) -> str:
    """Return a text with signs for the characters that look like them."""
    return text.translate(_SIGNS)
