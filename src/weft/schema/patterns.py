"""Patterns of schemas: regular expressions as ECMAScript has them, run by RE2, whose time is linear in the text.

Schemas come from strangers, so no pattern is ever given to an engine that backtracks. What only such an engine can do
(looking ahead or behind, back-references) is not checked: `Pattern.matches` says yes.
"""

from functools import lru_cache
from typing import Any

import re2  # pyright: ignore[reportMissingTypeStubs]

from weft.schema.ecmascript import BadPattern, Unsupported, translate
from weft.schema.faults import SchemaFault
from weft.schema.node import Path, Run
from weft.schema.wording import shown

_MAX_LENGTH = 5_000
_MAX_PROGRAM = 10_000
_MAX_MEMORY = 2 << 20
_WORK_IN_A_STEP = 100
_STEPS_AT_LEAST = 20
_MISTAKES = ("missing", "unexpected )", "trailing", "no argument", "bad repetition")
_re2: Any = re2


class Pattern:
    """One pattern, found anywhere in a text unless it says otherwise."""

    __slots__ = ("_compiled", "_size", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self._compiled = _compiled(source)
        self._size = self._compiled.programsize if self._compiled is not None else 0

    @property
    def checked(self) -> bool:
        """Whether RE2 can do it."""
        return self._compiled is not None

    def matches(self, text: str, run: Run) -> bool:
        if self._compiled is None:
            return True
        run.spend(_STEPS_AT_LEAST + self._size * len(text) // _WORK_IN_A_STEP)
        return self._compiled.search(text.encode("utf-8", "surrogatepass")) is not None


def check_pattern(source: str, place: Path) -> None:
    """Raise SchemaFault if this is no regular expression at all."""
    try:
        _compiled(source)
    except BadPattern as error:
        raise SchemaFault(place, f"{shown(source)} is no regular expression: {error}.") from None


@lru_cache(256)
def _compiled(source: str) -> Any:
    """None if RE2 cannot do it. BadPattern if nobody can."""
    if len(source) > _MAX_LENGTH:
        return None
    options = _re2.Options()
    options.never_capture = True
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        compiled = _re2.compile(translate(source).encode(), options)
    except (Unsupported, UnicodeEncodeError):
        return None
    except _re2.error as error:
        reason = error.args[0]
        reason = (reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)).partition(":")[0]
        if reason.startswith(_MISTAKES):
            raise BadPattern(reason) from None
        return None
    return compiled if compiled.programsize <= _MAX_PROGRAM else None
