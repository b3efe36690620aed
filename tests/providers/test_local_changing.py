"""Small changes of a page in plain words: what is understood, where it is done, and what is said otherwise."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_support import Bench, needs_vision

from weft.core.messages import user
from weft.core.settings import Settings
from weft.providers.local.asked import asked_of
from weft.providers.local.changing import change
from weft.providers.local.edits import edits_between
from weft.providers.local.source import doubled, elements, with_style, with_text, without
from weft.providers.local.telling import CANNOT
from weft.providers.local.wishes import Duplicate, Paint, Remove, Style, Target, Wish, Write, wishes
from weft.providers.scripted import Call
from weft.tools.files import FILE_TOOLS
from weft.tools.files.replacing import replaced
from weft.tools.workspace.memory import MemoryWorkspace

pytestmark = needs_vision

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<title>Bakery</title>
<style>
.card > p { color: red; }
</style>
</head>
<body>
  <header class="top"><p class="name">Bakery</p></header>
  <main>
    <h1 class="title">Fresh bread</h1>
    <button class="button" type="button">
      <span class="caption">Order now</span>
    </button>
    <ul>
      <li class="item">Rye</li>
      <li class="item">Wheat</li>
      <li class="item">Rye</li>
    </ul>
  </main>
</body>
</html>
"""

IT = Target()
SAID = Target(text="Order now")


@pytest.mark.parametrize(
    ("words", "wish"),
    [
        ("make it red", Paint(IT, "red")),
        ("Please make this blue.", Paint(IT, "blue")),
        ("change the background to #ff8800", Paint(IT, "#ff8800", "background")),
        ("set the text color to rgb(1, 2, 3)", Paint(IT, "rgb(1, 2, 3)", "text")),
        ("background color: tomato", Paint(IT, "tomato", "background")),
        ("make the title navy", Paint(Target(tag="h1"), "navy")),
        ('make "Order now" green', Paint(SAID, "green")),
        ('make the "Order now" button background green', Paint(SAID, "green", "background")),
        ('change "Fresh bread" to "Warm bread"', Write(Target(text="Fresh bread"), "Warm bread")),
        ("replace “Fresh bread” with “Warm bread”", Write(Target(text="Fresh bread"), "Warm bread")),
        ('change the text to "Buy"', Write(IT, "Buy")),
        ('make it say "Buy"', Write(IT, "Buy")),
        ("font size 20px", Style(IT, "font-size", "20px")),
        ("set the width to 300", Style(IT, "width", "300px")),
        ("set the padding of it to 1.5rem", Style(IT, "padding", "1.5rem")),
        ("make it 200px wide", Style(IT, "width", "200px")),
        ("make it bigger", Style(IT, "zoom", "1.25")),
        ("make the heading bold", Style(Target(tag="h1"), "font-weight", "700")),
        ("remove this", Remove(IT)),
        ("delete the selected element", Remove(IT)),
        ('remove the "Order now" button', Remove(SAID)),
        ("get rid of the footer", Remove(Target(tag="footer"))),
        ("duplicate it", Duplicate(IT)),
    ],
)
def test_what_is_understood(words: str, wish: Wish) -> None:
    assert wishes(words) == [wish]


def test_several_at_once_are_all_understood_or_none() -> None:
    both = wishes('make the title red and remove "Order now"')
    assert both == [Paint(Target(tag="h1"), "red"), Remove(SAID)]
    assert wishes("make it red and add a login form") == []
    assert wishes('change "salt and pepper" to "this and that"') == [
        Write(Target(text="salt and pepper"), "this and that")
    ]


@pytest.mark.parametrize(
    "words",
    [
        "",
        "make it nicer",
        "make it look like Stripe",
        "make it pop",
        "add a dark mode",
        "remove all the bugs",
        "change the layout to two columns",
        "make it url(javascript:alert(1))",
        "make it expression(1)",
        "why is it red?",
        "the title should be more serious",
        "x" * 10_000,
    ],
)
def test_what_is_not_understood_is_not_done(words: str) -> None:
    assert wishes(words) == []


def test_hostile_words_take_no_time() -> None:
    begun = time.monotonic()
    for words in (
        "make it red and " + '"' * 580,
        "make " * 110,
        "set the " + "text " * 110,
        "“" * 290 + "”" * 290,
        "a, " * 190,
    ):
        wishes(words)
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("piece", ["<!--", "<style>", "<script ", '<a x="', "<a x={", "<a ", "<a b=c ", "</a", "<a/>"])
def test_hostile_sources_take_no_time(piece: str) -> None:
    begun = time.monotonic()
    elements(piece * (50_000 // len(piece)))
    assert time.monotonic() - begun < 10


@given(st.text(max_size=200))
def test_no_words_break_it(words: str) -> None:
    for wish in wishes(words):
        assert isinstance(wish, Write | Paint | Style | Remove | Duplicate)


@given(st.text(alphabet="<>/=\"'{} abdiv-!\n", max_size=200))
def test_no_source_breaks_it(source: str) -> None:
    for element in elements(source):
        assert 0 <= element.start < element.inside <= element.inside_end <= element.end <= len(source)


@given(
    st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=30),
    st.lists(st.sampled_from(["a\n", "b\n", "d\n"]), max_size=30),
)
def test_edits_lead_from_one_text_to_another(old: list[str], new: list[str]) -> None:
    before, after = "".join(old), "".join(new)
    text = before
    for edit in edits_between(before, after) if before else []:
        text = replaced(text, edit["old_text"], edit["new_text"])  # as strict as edit_file itself
    assert text == (after if before else before)


def test_styles_texts_copies_and_removals_in_html_and_jsx() -> None:
    jsx = '<script type="text/babel">\nconst x = (<h1 className="title">Hi</h1>);\n</script>'
    title = next(each for each in elements(jsx) if each.name == "h1")
    assert title.attributes == {"class": "title"}
    styled = with_style(jsx, title, "background-color", "red")
    assert '<h1 className="title" style={{ backgroundColor: "red" }}>' in styled
    again = with_style(styled, next(each for each in elements(styled) if each.name == "h1"), "color", "rgb(1, 2, 3)")
    assert 'style={{ backgroundColor: "red", color: "rgb(1, 2, 3)" }}' in again
    third = with_style(again, next(each for each in elements(again) if each.name == "h1"), "width", "9px")
    assert 'style={{ backgroundColor: "red", color: "rgb(1, 2, 3)", width: "9px" }}' in third
    assert 'title">{"a \\u003c b"}</h1>' in with_text(jsx, title, "a < b")
    item = next(each for each in elements(PAGE) if each.text(PAGE) == "Wheat")
    assert PAGE.count("\n") == without(PAGE, item).count("\n") + 1
    assert doubled(PAGE, item).count("Wheat") == 2
    assert "a &lt; b" in with_text(PAGE, item, "a < b")
    assert 'style="color: red"' in with_style(PAGE, item, "color", "red")
    assert [each.name for each in elements(PAGE) if each.name == "p"] == ["p"]  # none of those in the style sheet
    written = with_text(jsx, title, "a < b")
    assert next(each for each in elements(written) if each.name == "h1").text(written) == "a < b"


async def changed(words: str, page: str = PAGE) -> tuple[str, str]:
    async with Bench(workspace=MemoryWorkspace({"index.html": page})) as bench:
        result = await bench.ask(words)
        assert result.status == "completed"
        return bench.file(), result.text


async def test_a_page_is_read_and_edited_and_the_change_told() -> None:
    page, said = await changed('make the title red and change "Order now" to "Buy bread"')
    assert '<h1 class="title" style="color: red">Fresh bread</h1>' in page
    assert '<span class="caption">Buy bread</span>' in page
    assert said == "Done in index.html: <h1> has the colour red; “Order now” now says “Buy bread”."
    assert page.replace(' style="color: red"', "").replace("Buy bread", "Order now") == PAGE


async def test_remove_and_duplicate() -> None:
    page, _ = await changed('remove the "Order now" button')
    assert "button" not in page
    page, _ = await changed('duplicate "Wheat"')
    assert page.count('<li class="item">Wheat</li>') == 2


async def test_words_that_are_also_the_title_or_the_whole_page_are_those_on_the_page() -> None:
    page = "<html><head><title>Hello</title></head>\n<body>\n<main><h1>Hello</h1></main>\n</body></html>\n"
    after, _ = await changed('change "Hello" to "Bye"', page)
    assert after == page.replace("<h1>Hello", "<h1>Bye")
    after, _ = await changed('remove "Hello"', page)
    assert after == page.replace("<h1>Hello</h1>", "")


async def test_what_is_unclear_is_asked_back() -> None:
    page, said = await changed('remove "Rye"')
    assert page == PAGE
    assert said == "“Rye” is there 2 times; choose the one that is meant in the preview."
    _, said = await changed("make it red")
    assert "choose it in the preview, or give its text in quotes" in said
    _, said = await changed('remove "Spelt"')
    assert "“Spelt” is not the whole text of any element" in said
    _, said = await changed("get rid of the footer")
    assert "There is no <footer> in the page" in said


async def test_what_needs_a_language_model_is_said_in_one_sentence() -> None:
    page, said = await changed("add a newsletter form below the list")
    assert page == PAGE
    assert said == CANNOT
    assert said.count(". ") == 0


async def test_without_a_page_the_reason_is_told() -> None:
    async with Bench() as bench:
        result = await bench.ask("make the title red")
        assert result.text.startswith("index.html cannot be changed here: ")
    async with Bench(tools=()) as bench:
        assert "There is no tool to edit files here" in (await bench.ask("make the title red")).text


FRAMED = f"""The project as it is now:

<file path="index.html">
{PAGE}</file>

"""


def framed(request: str, html: str, place: str, which: str = "") -> str:
    return (
        f"Change the project as follows. Leave everything else as it is.\n\n{request}\n\n"
        f"This is about one element of the page, which the person chose in the preview{which}:\n\n"
        f"```html\n{html}\n```\n\n{place}"
    )


@pytest.mark.parametrize(
    ("place", "which", "line"),
    [
        ("It is written in `index.html`, line 19.", "", 19),
        ("", ", number 2 of the 2 that look alike", 19),
        ("", ", number 1 of the 2 that look alike", 17),
    ],
)
async def test_the_chosen_element_is_the_one_that_changes(place: str, which: str, line: int) -> None:
    """As the studio asks: files in the prompt, the element as the browser has it."""
    async with Bench(workspace=MemoryWorkspace({"index.html": PAGE})) as bench:
        asked = framed("make it red", '<li class="item">Rye</li>', place, which)
        await bench.ask(user(FRAMED, asked))
        assert bench.calls() == ["edit_file"]
        assert bench.file().splitlines()[line - 1] == '      <li class="item" style="color: red">Rye</li>'


async def test_the_studio_s_own_prompt_is_understood() -> None:
    from weft.studio.prompts.builder import build_prompt
    from weft.studio.prompts.request import Element, Request
    from weft.studio.stacks.stack import stack

    element = Element(html='<button class="button" type="button"><span class="caption">Order now</span></button>')
    request = Request(mode="text", text='make it say "Buy"', files={"index.html": PAGE}, element=element)
    prompt = build_prompt(request, stack("html_css"))
    asked = asked_of(prompt.messages, [tool.definition for tool in FILE_TOOLS], Settings(system=prompt.system))
    assert (asked.stack, asked.entry, asked.words) == ("html_css", "index.html", 'make it say "Buy"')
    assert asked.files == {"index.html": PAGE}
    parts = change(asked)
    assert parts is not None
    assert isinstance(parts[0], Call)
    assert parts[0].input["edits"][0]["new_text"] == '      <span class="caption">Buy</span>\n'
