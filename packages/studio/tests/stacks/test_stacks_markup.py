"""Start tags and their places, and how long hostile pages may take."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heald.core.markup import start_tags
from heald_studio.export.single_page import single_page
from heald_studio.preview.preview import PAGE, ProjectPreview
from heald_studio.prompt.request import ChosenElement
from heald_studio.prompt.selected_element import locate_element
from heald_studio.stacks.installed import find_stack


def parsed_tags(html: str) -> list[tuple[str, dict[str, str | None]]]:
    return [(tag.name, tag.attributes) for tag in start_tags(html)]


def test_tags_are_found_as_browsers_find_them() -> None:
    assert parsed_tags("<P a=1 B='x>y' c=\"&lt;\" d><br/>text < 3 <!-- <i> --><!doctype html></p><?x <b>?>") == [
        ("p", {"a": "1", "b": "x>y", "c": "<", "d": None}),
        ("br", {}),
    ]
    assert parsed_tags("<script>if (a <b) '<i>'</script ><u>") == [("script", {}), ("u", {})]
    assert parsed_tags("<title><b></title><i") == [("title", {})]
    assert parsed_tags('<a x="1" x="2" =y>') == [("a", {"x": "1", "=y": None})]


def test_places_are_exact() -> None:
    html = 'x<script src="a">code</SCRIPT\n>y<img alt>'
    script, image = start_tags(html)
    assert html[script.start : script.end] == '<script src="a">'
    assert script.content is not None
    assert html[slice(*script.content)] == "code"
    assert html[script.close] == "y"
    assert [html[start:end] for _, start, end in image.spans] == ["alt"]


@settings(deadline=None)
@given(st.text(alphabet="<>!-/scriptle='\" \nab&"))
def test_any_text_has_tags_in_order(html: str) -> None:
    at = 0
    for tag in start_tags(html):
        assert at <= tag.start < tag.end <= len(html)
        at = max(tag.end, tag.close)
        for key, start, end in tag.spans:
            assert html[start:end].lower().startswith(key)


HOSTILE = ["<!-", "<a", "<a <", "<![", "<?", "</", "<!--", "<script ", "<link ", "<a b='", "<a b=", "<script>", "<head"]
STYLES = ["@import ", "@import x ", "url(", "url( ", 'url("', "@import url("]


@pytest.mark.parametrize("text", [*HOSTILE, *STYLES, "https://unpkg.com", "from  ", "import(", " " * 4])
def test_no_page_is_slow(text: str) -> None:
    page = text * 20_000
    started = time.process_time()
    single_page(find_stack("html_css"), {"index.html": page})
    single_page(
        find_stack("html_css"), {"index.html": f"<style>{page}</style><script type=module>{page}</script><p {page}>"}
    )
    ProjectPreview(find_stack("react_vite"), {"index.html": page}).answer(PAGE)
    locate_element(ChosenElement(html=page), {"index.html": page})
    assert time.process_time() - started < 30
