"""The scanner of HTML: tokens with their positions, and work that grows with the length only."""

import pytest

from heald.core.markup import EndTag, StartTag, TextToken, scan_html, start_tags


def test_a_page_becomes_tags_and_text_with_their_positions() -> None:
    page = '<p class="a" hidden>x &amp; y<br/></p>'
    opened, text, line, closed = scan_html(page)
    assert isinstance(opened, StartTag)
    assert (opened.name, opened.attributes) == ("p", {"class": "a", "hidden": None})
    assert [page[start:end] for _, start, end in opened.spans] == ['class="a"', "hidden"]
    assert isinstance(text, TextToken)
    assert (text.text, page[text.start : text.end]) == ("x & y", "x &amp; y")
    assert isinstance(line, StartTag)
    assert line.self_closing
    assert isinstance(closed, EndTag)
    assert page[closed.start : closed.end] == "</p>"


def test_the_content_of_a_script_is_text() -> None:
    page = "<script>if (a<b) '<p>'</script><title>a &lt; b</title>"
    script, title = start_tags(page)
    assert script.content is not None
    assert page[slice(*script.content)] == "if (a<b) '<p>'"
    assert page[: script.close].endswith("</script>")
    assert [token.text for token in scan_html(page) if isinstance(token, TextToken)] == ["if (a<b) '<p>'", "a < b"]
    assert title.name == "title"


@pytest.mark.parametrize("page", ["<a href='", "<!-- open", "<script>x", "<p"])
def test_what_is_open_at_the_end_is_dropped(page: str) -> None:
    assert not [token for token in scan_html(f"x{page}") if not isinstance(token, TextToken | StartTag)]


@pytest.mark.parametrize("unit", ["<a ", '<a b="', "<a x={", "<a b='\" c=\"'", "</", "<script>", "{<a x={}>"])
def test_hostile_sources_are_scanned_in_one_pass(unit: str) -> None:
    """A quadratic scanner needs hours for half a megabyte of these; the suite's limit of time would end it."""
    source = unit * (500_000 // len(unit))
    assert sum(1 for _ in scan_html(source)) <= len(source)
