"""Modules, objects and regular expressions that are loaded or made at their first use."""

import re

import pytest

from heald.core.digest import sha256
from heald.core.lazy import LazyModule, LazyObject, lazy_pattern, lazy_property


def test_a_pattern_is_compiled_at_its_first_use() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search("(")


def test_a_pattern_works_like_a_compiled_one() -> None:
    word = lazy_pattern(r"(H)\w+", re.IGNORECASE)
    for _ in range(2):  # the first use compiles it
        match = word.search("a heald")
        assert match is not None
        assert match[0] == "heald"
        assert word.sub("x", "hook and heald") == "x and x"
        assert word.findall("hook and heald") == ["h", "h"]
    assert word.pattern == r"(H)\w+"
    assert lazy_pattern(rb"\n").split(b"a\nb") == [b"a", b"b"]


def test_a_pattern_has_no_methods_of_its_own() -> None:
    with pytest.raises(AttributeError):
        getattr(lazy_pattern("a"), "nothing")  # noqa: B009 - the type has no such name


def test_a_module_is_imported_at_its_first_use() -> None:
    missing = LazyModule("heald.no_such_module")
    with pytest.raises(ModuleNotFoundError):
        _ = missing.anything
    names = LazyModule("keyword")
    for _ in range(2):
        assert names.iskeyword("def")
    with pytest.raises(AttributeError):
        _ = names.nothing


def test_an_object_is_made_once_for_each_attribute() -> None:
    made: list[str] = []

    def make() -> str:
        made.append("text")
        return "text"

    text = LazyObject(make)
    assert made == []
    assert [text.upper() for _ in range(3)] == ["TEXT"] * 3
    assert made == ["text"]


def test_a_digest_is_that_of_hashlib() -> None:
    digest = sha256(b"a")
    digest.update(b"b")
    assert digest.hexdigest() == "fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603"


class Shelf:
    made = 0

    @lazy_property
    def books(self) -> list[str]:
        """What stands on it."""
        type(self).made += 1
        return []


def test_an_attribute_is_made_once_and_can_be_set_before() -> None:
    shelf, other = Shelf(), Shelf()
    other.books = ["Emma"]
    assert vars(shelf) == {}
    shelf.books.append("Persuasion")
    assert (shelf.books, other.books, Shelf.made) == (["Persuasion"], ["Emma"], 1)
    assert Shelf.books.__doc__ == "What stands on it."
