"""The regular expressions of JSON Schemas: which ones the linear engine can run, and what they cost."""

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from heald.core.lazy import lazy_pattern

if TYPE_CHECKING:
    from jsonschema_rs import PatternOptionsType, RegexOptions

_MAX_PATTERN = 5_000
_PATTERN_BYTES = 256 * 1024
NO_PATTERN = "is not a regular expression"
_NOT_LINEAR = "is too large, or looks around or refers back, which the linear engine cannot do"
_CLASS_BEFORE_DASH = lazy_pattern(r"(\\[dDsSwW])-(?!\])")
_LITERAL_BRACE = lazy_pattern(r"(?<!\\)(?<!\\[pPux])\{(?!\d+(?:,\d*)?\})")
_REPEAT = lazy_pattern(r"\{(\d+)(?:,(\d*))?\}")


@cache
def pattern_options() -> "RegexOptions":
    from jsonschema_rs import RegexOptions

    return RegexOptions(size_limit=_PATTERN_BYTES, dfa_size_limit=1 << 20)


@lru_cache(1000)
def pattern_problem(source: str) -> str | None:
    """Return why a pattern cannot be checked, or None."""
    from jsonschema_rs import FancyRegexOptions

    if len(source) > _MAX_PATTERN or _compiles(source, pattern_options()):
        return f"is longer than {_MAX_PATTERN} characters" if len(source) > _MAX_PATTERN else None
    return _NOT_LINEAR if _compiles(source, FancyRegexOptions(size_limit=16 * _PATTERN_BYTES)) else NO_PATTERN


def _compiles(pattern: str, options: "PatternOptionsType") -> bool:
    from jsonschema_rs import validator_for

    try:
        validator_for({"pattern": pattern}, pattern_options=options, offline=True)
    except ValueError:
        return False
    return True


def portable_pattern(pattern: str) -> str:
    """Add the escapes that the engine needs and ECMAScript does not: `[\\w-.]`, `{a}`."""
    return _LITERAL_BRACE.sub(r"\\{", _CLASS_BEFORE_DASH.sub(r"\1\\-", pattern))


@lru_cache(1000)
def pattern_weight(source: str) -> int:
    """Estimate the number of states of a pattern."""
    weight = len(source)
    for least, most in _REPEAT.findall(source):
        weight *= max(int((most or least)[:6]), 1)
    return min(weight, _PATTERN_BYTES // 40)
