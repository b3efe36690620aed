"""Regular expressions that are compiled at their first use."""

import re

import pytest

from weft.core.lazy import lazy_pattern


def test_a_pattern_is_compiled_at_its_first_use() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search("(")


def test_a_pattern_works_like_a_compiled_one() -> None:
    word = lazy_pattern(r"(W)\w+", re.IGNORECASE)
    for _ in range(2):  # the first use compiles it
        found = word.search("a weft")
        assert found is not None
        assert found[0] == "weft"
        assert word.sub("x", "warp and weft") == "x and x"
        assert word.findall("warp and weft") == ["w", "w"]
    assert word.pattern == r"(W)\w+"
    assert lazy_pattern(rb"\n").split(b"a\nb") == [b"a", b"b"]


def test_a_pattern_has_no_methods_of_its_own() -> None:
    with pytest.raises(AttributeError):
        getattr(lazy_pattern("a"), "nothing")  # noqa: B009 - the type has no such name
