"""Where the chosen element is written."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heald_studio.prompt.request import ChosenElement
from heald_studio.prompt.selected_element import describe_element, locate_element
from heald_studio.prompt.texts import PromptTexts

HTML = """<main>
  <a class="x" href="/">
    One</a>
  <a class="x" href="/">Two</a>
  <img src=a.png ALT="">
</main>
"""
CODE = 'export const Card = () => (\n  <div className="card shadow">\n    <h2>Our boats</h2>\n  </div>\n);\n'


def place(html: str, files: dict[str, str], index: int = 0) -> tuple[str, int]:
    element = locate_element(ChosenElement(html=html, index=index), files)
    return element.file, element.line


def test_by_the_mark_of_the_preview() -> None:
    element = ChosenElement(
        html='<p data-heald-source="src/App.jsx:12" class="a"><b data-heald-source="x:1">hi</b></p>'
    )
    located = locate_element(element, {})
    assert (located.file, located.line) == ("src/App.jsx", 12)
    assert located.html == '<p class="a"><b>hi</b></p>'


def test_by_its_tag_and_number() -> None:
    assert place('<a class="x" href="/">Two</a>', {"index.html": HTML}, 2) == ("index.html", 4)
    assert place("<a href='/' class='x'>One</a>", {"index.html": HTML}, 1) == ("index.html", 2)
    assert place('<img src="a.png" alt="">', {"index.html": HTML}) == ("index.html", 5)


def test_of_several_without_a_number_only_the_file_is_known() -> None:
    assert place('<a class="x" href="/">Two</a>', {"index.html": HTML}) == ("index.html", 0)
    assert place('<a class="x" href="/">Two</a>', {"index.html": HTML, "b.html": HTML}) == ("", 0)


def test_by_classes_or_words_in_code() -> None:
    assert place('<div class="card shadow">x</div>', {"Card.jsx": CODE}) == ("Card.jsx", 2)
    assert place('<h2 class="text-xl">Our boats</h2>', {"Card.jsx": CODE}) == ("Card.jsx", 3)
    assert place('<h2 class="text-xl">Our boats</h2>', {"Card.jsx": CODE, "Other.jsx": CODE}) == ("", 0)
    assert place("<h2>Elsewhere</h2>", {"Card.jsx": CODE}) == ("", 0)


def test_what_is_known_already_is_kept() -> None:
    located = locate_element(ChosenElement(html="<p>", file="a.vue", line=3), {"index.html": "<p>"})
    assert (located.file, located.line) == ("a.vue", 3)


def test_a_long_element_is_cut() -> None:
    description = describe_element(ChosenElement(html="<p>" + "x" * 20_000), PromptTexts())
    assert len(description) < 6_500
    assert "14003 more characters" in description


@pytest.mark.parametrize("html", ["", "text", "<", "<!-- x -->", "<p", "</p>", '<p class="', "<![CDATA[x", "<?php"])
def test_what_is_no_element_is_left_as_it_is(html: str) -> None:
    assert locate_element(ChosenElement(html=html), {"index.html": HTML}).file == ""


@settings(deadline=None)
@given(st.text(), st.text(), st.integers(-3, 5))
def test_nothing_breaks_it(html: str, source: str, index: int) -> None:
    describe_element(
        locate_element(ChosenElement(html=html, index=index, count=index), {"a.html": source, "b.js": source}),
        PromptTexts(),
    )
