"""The scanner of JSX: tags with their positions, and work that grows with the length only."""

import pytest

from heald.core.markup import EndTag, StartTag
from heald_local.jsx_markup import scan_jsx


def test_jsx_keeps_the_case_of_names_and_values_in_braces() -> None:
    source = 'const a = i <n && f(); return <Card {...rest} onClick={() => { if (x) { y() } }} title="A">x</Card>'
    card, closed = scan_jsx(source)
    assert isinstance(card, StartTag)
    assert card.name == "Card"
    assert card.attributes == {"onclick": "{() => { if (x) { y() } }}", "title": "A"}
    assert isinstance(closed, EndTag)
    assert source[card.end : closed.start] == "x"


def test_a_less_than_sign_in_a_script_is_no_tag() -> None:
    assert list(scan_jsx("for (i = 0; i <n; i++) { a <b }")) == []


@pytest.mark.parametrize("unit", ["<a ", '<a b="', "<a x={", "<a b='\" c=\"'", "</", "<script>", "{<a x={}>"])
def test_hostile_sources_are_scanned_in_one_pass(unit: str) -> None:
    """A quadratic scanner needs hours for half a megabyte of these; the suite's limit of time would end it."""
    source = unit * (500_000 // len(unit))
    assert sum(1 for _ in scan_jsx(source)) <= len(source)
