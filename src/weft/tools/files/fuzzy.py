"""How well a path answers a query: its characters in order, close together, at starts of words, best in the name."""

_CONSECUTIVE = 8
_WORD_START = 10
_IN_NAME = 30
_WHOLE_NAME = 200
_BOUNDARIES = frozenset("/._- ")


def score(query: str, path: str) -> int | None:
    """Higher is better; None if the characters of the query are not in the path in their order. Case does not count."""
    wanted, folded = query.casefold(), path.casefold()
    if len(folded) != len(path):  # a letter that folds into two
        path = folded
    name_start = folded.rfind("/") + 1
    found = _span(wanted, folded, name_start)
    bonus = _IN_NAME
    if found is None:
        found, bonus = _span(wanted, folded, 0), 0
    if found is None:
        return None
    name = folded[name_start:]
    if wanted in (name, name.partition(".")[0], folded):
        bonus += _WHOLE_NAME
    return bonus + _fit(wanted, path, folded, found) - len(path) // 8


def _span(wanted: str, text: str, start: int) -> tuple[int, int] | None:
    """The stretch that holds the characters in order: its end is the earliest, and then its start the latest."""
    at = start - 1
    for char in wanted:
        at = text.find(char, at + 1)
        if at < 0:
            return None
    end = at + 1
    at = end
    for char in reversed(wanted):
        at = text.rfind(char, start, at)
    return at, end


def _fit(wanted: str, path: str, folded: str, found: tuple[int, int]) -> int:
    total, at, last = 0, found[0], -2
    for char in wanted:
        at = folded.find(char, at)
        if at == last + 1:
            total += _CONSECUTIVE
        if at == 0 or path[at - 1] in _BOUNDARIES or (path[at].isupper() and not path[at - 1].isupper()):
            total += _WORD_START
        total -= min(at - last - 1, 10) if last >= 0 else 0
        last, at = at, at + 1
    return total
