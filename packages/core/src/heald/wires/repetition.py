"""Notices that a model repeats itself without an end, as small ones do."""

_TAIL = 3_000
"""Characters at the end of an answer that are nothing but one part, again and again."""
_LONGEST = 300
"""Characters of that part."""
_STEP = 500
_MARK = 40


class Repetition:
    """Follows an answer as it arrives."""

    def __init__(self) -> None:
        self._tail = ""
        self._unread = 0

    def follow(self, text: str) -> bool:
        """Add a piece of the answer. Returns whether its end repeats itself."""
        self._tail += text
        self._unread += len(text)
        if self._unread < _STEP or len(self._tail) < _TAIL:
            return False
        self._tail, self._unread = self._tail[-_TAIL:], 0
        return is_periodic(self._tail)


def is_periodic(text: str) -> bool:
    """Whether a text consists of one part of at most 300 characters, which is more than white space."""
    before = text.rfind(text[-_MARK:], 0, len(text) - 1)
    period = len(text) - _MARK - before
    return before >= 0 and 0 < period <= _LONGEST and text[period:] == text[:-period]
