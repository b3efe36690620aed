"""Scores how well a path matches a few typed characters."""

_CONSECUTIVE = 8
_WORD_START = 10
_IN_NAME = 30
_WHOLE_NAME = 200
_BOUNDARIES = frozenset("/._- ")


def score(query: str, path: str) -> int | None:
    """Return a score, higher is better; None if the path lacks the query's characters in order. Ignores case."""
    folded_query, folded = query.casefold(), path.casefold()
    if len(folded) != len(path):  # a character that folds into two
        path = folded
    name_start = folded.rfind("/") + 1
    span = _span(folded_query, folded, name_start)
    bonus = _IN_NAME
    if span is None:
        span, bonus = _span(folded_query, folded, 0), 0
    if span is None:
        return None
    name = folded[name_start:]
    if folded_query in (name, name.partition(".")[0], folded):
        bonus += _WHOLE_NAME
    return bonus + _fit(folded_query, path, folded, span) - len(path) // 8


def _span(query: str, text: str, start: int) -> tuple[int, int] | None:
    """Return the range with the characters in order that has the earliest end and then the latest start."""
    at = start - 1
    for char in query:
        at = text.find(char, at + 1)
        if at < 0:
            return None
    end = at + 1
    at = end
    for char in reversed(query):
        at = text.rfind(char, start, at)
    return at, end


def _fit(query: str, path: str, folded: str, span: tuple[int, int]) -> int:
    total, at, last = 0, span[0], -2
    for char in query:
        at = folded.find(char, at)
        if at == last + 1:
            total += _CONSECUTIVE
        if at == 0 or path[at - 1] in _BOUNDARIES or (path[at].isupper() and not path[at - 1].isupper()):
            total += _WORD_START
        total -= min(at - last - 1, 10) if last >= 0 else 0
        last, at = at, at + 1
    return total
