"""Small changes of a page in plain words: what is understood, where it is done, and what is said otherwise."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald.core.json import encode
from heald.core.messages import Message, Text, decode_messages
from heald.core.turn import Settings
from heald.providers.scripted import ScriptedCall
from heald.tools.families import families
from heald.tools.files.text_matches import replace_text
from heald.tools.workspace.memory import MemoryWorkspace
from heald_local.builder import CANNOT
from heald_local.commands import (
    DuplicateElement,
    Edit,
    EditTarget,
    MakeSticky,
    MoveElement,
    RemoveElement,
    SetColour,
    SetLanguage,
    SetProperty,
    SetText,
    parse_edits,
)
from heald_local.edit import (
    PageSource,
    SourceElement,
    apply_edit,
    duplicate_element,
    edit_page,
    remove_element,
    set_style,
    set_text,
)
from heald_local.files import edits_between
from heald_local.request import read_request
from heald_pictures.design_request import DesignRequest, FileSpan, SelectedElement, design_data
from local_support import Bench, needs_vision

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

IT = EditTarget()
SAID = EditTarget(text="Order now")


@pytest.mark.parametrize(
    ("words", "wish"),
    [
        ("make it red", SetColour(IT, "red")),
        ("Please make this blue.", SetColour(IT, "blue")),
        ("change the background to #ff8800", SetColour(IT, "#ff8800", "background")),
        ("set the text color to rgb(1, 2, 3)", SetColour(IT, "rgb(1, 2, 3)", "text")),
        ("background color: tomato", SetColour(IT, "tomato", "background")),
        ("make the title navy", SetColour(EditTarget(tag="h1"), "navy")),
        ('make "Order now" green', SetColour(SAID, "green")),
        ('make the "Order now" button background green', SetColour(SAID, "green", "background")),
        ('change "Fresh bread" to "Warm bread"', SetText(EditTarget(text="Fresh bread"), "Warm bread")),
        ("replace “Fresh bread” with “Warm bread”", SetText(EditTarget(text="Fresh bread"), "Warm bread")),
        ('change the text to "Buy"', SetText(IT, "Buy")),
        ('make it say "Buy"', SetText(IT, "Buy")),
        ("font size 20px", SetProperty(IT, "font-size", "20px")),
        ("set the width to 300", SetProperty(IT, "width", "300px")),
        ("set the padding of it to 1.5rem", SetProperty(IT, "padding", "1.5rem")),
        ("make it 200px wide", SetProperty(IT, "width", "200px")),
        ("make it bigger", SetProperty(IT, "zoom", "1.25")),
        ("make the heading bold", SetProperty(EditTarget(tag="h1"), "font-weight", "700")),
        ("remove this", RemoveElement(IT)),
        ("delete the selected element", RemoveElement(IT)),
        ('remove the "Order now" button', RemoveElement(SAID)),
        ("get rid of the footer", RemoveElement(EditTarget(tag="footer"))),
        ("duplicate it", DuplicateElement(IT)),
    ],
)
def test_what_is_understood(words: str, wish: Edit) -> None:
    assert parse_edits(words) == [wish]


def test_several_at_once_are_all_understood_or_none() -> None:
    both = parse_edits('make the title red and remove "Order now"')
    assert both == [SetColour(EditTarget(tag="h1"), "red"), RemoveElement(SAID)]
    assert parse_edits("make it red and add a login form") == []
    assert parse_edits('change "salt and pepper" to "this and that"') == [
        SetText(EditTarget(text="salt and pepper"), "this and that")
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
    assert parse_edits(words) == []


def test_hostile_words_are_fast() -> None:
    begun = time.process_time()
    for words in (
        "make it red and " + '"' * 580,
        "make " * 110,
        "set the " + "text " * 110,
        "“" * 290 + "”" * 290,
        "a, " * 190,
    ):
        parse_edits(words)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("piece", ["<!--", "<style>", "<script ", '<a x="', "<a x={", "<a ", "<a b=c ", "</a", "<a/>"])
def test_hostile_sources_are_read_in_one_pass(piece: str) -> None:
    """A quadratic reader would need hours for half a megabyte, far beyond the suite's limit of time."""
    PageSource(piece * (500_000 // len(piece)))
    PageSource(f'<script type="text/babel">{piece * (500_000 // len(piece))}</script>')


@pytest.mark.parametrize(("opening", "closing"), [("<p>", "</b>"), ("<div>x", "</div>"), ("<li>Rye", "")])
def test_a_large_page_is_read_and_searched_in_one_pass(opening: str, closing: str) -> None:
    page = PageSource(f"<main>{opening * 20_000}{closing * 20_000}<h1>Fresh bread</h1></main>")
    assert len(page.elements) == 20_002
    assert page.with_text(["fresh", "bread"])[-1].name == "h1"


@given(st.text(max_size=200))
def test_no_words_break_it(words: str) -> None:
    for wish in parse_edits(words):
        assert isinstance(wish, SetText | SetColour | SetProperty | RemoveElement | DuplicateElement)


@given(st.text(alphabet="<>/=\"'{} abdiv-!\n", max_size=200))
def test_no_source_breaks_it(source: str) -> None:
    for element in PageSource(source).elements:
        assert 0 <= element.start < element.inside <= element.inside_end <= element.end <= len(source)


@given(
    st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=30),
    st.lists(st.sampled_from(["a\n", "b\n", "d\n"]), max_size=30),
)
def test_edits_lead_from_one_text_to_another(old: list[str], new: list[str]) -> None:
    before, after = "".join(old), "".join(new)
    text = before
    for edit in edits_between(before, after) if before else []:
        text = replace_text(text, edit["old_text"], edit["new_text"])  # as strict as edit_file itself
    assert text == (after if before else before)


def first(source: str, name: str) -> SourceElement:
    return next(element for element in PageSource(source).elements if element.name == name)


def test_styles_texts_copies_and_removals_in_html_and_jsx() -> None:
    jsx = '<script type="text/babel">\nconst x = (<h1 className="title">Hi</h1>);\n</script>'
    title = first(jsx, "h1")
    assert title.attributes == {"class": "title"}
    styled = set_style(jsx, title, "background-color", "red")
    assert '<h1 className="title" style={{ backgroundColor: "red" }}>' in styled
    restyled = set_style(styled, first(styled, "h1"), "color", "rgb(1, 2, 3)")
    assert 'style={{ backgroundColor: "red", color: "rgb(1, 2, 3)" }}' in restyled
    third = set_style(restyled, first(restyled, "h1"), "width", "9px")
    assert 'style={{ backgroundColor: "red", color: "rgb(1, 2, 3)", width: "9px" }}' in third
    assert 'title">{"a \\u003c b"}</h1>' in set_text(jsx, title, "a < b")
    (item,) = PageSource(PAGE).with_text(["Wheat"])
    assert PAGE.count("\n") == remove_element(PAGE, item).count("\n") + 1
    assert duplicate_element(PAGE, item).count("Wheat") == 2
    assert "a &lt; b" in set_text(PAGE, item, "a < b")
    assert 'style="color: red"' in set_style(PAGE, item, "color", "red")
    names = [element.name for element in PageSource(PAGE).elements]
    assert names.count("p") == 1  # none of those in the style sheet
    written = set_text(jsx, title, "a < b")
    assert PageSource(written).text_of(first(written, "h1")) == "a < b"


async def changed(words: str, page: str = PAGE) -> tuple[str, str]:
    async with Bench(workspace=MemoryWorkspace({"index.html": page})) as bench:
        result = await bench.ask(words)
        assert result.status == "completed"
        return bench.file(), result.text


async def refused(words: str) -> tuple[str, str]:
    async with Bench(workspace=MemoryWorkspace({"index.html": PAGE})) as bench:
        sentence = await bench.refusal(words)
        return bench.file(), sentence


async def test_a_page_is_read_and_edited_and_the_change_reported() -> None:
    page, answer = await changed('make the title red and change "Order now" to "Buy bread"')
    assert '<h1 class="title" style="color: red">Fresh bread</h1>' in page
    assert '<span class="caption">Buy bread</span>' in page
    assert answer == "Done in index.html: <h1> has the colour red; “Order now” now says “Buy bread”."
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
    page, answer = await refused('remove "Rye"')
    assert page == PAGE
    assert answer == "“Rye” is there 2 times; choose the one that is meant in the preview."
    _, answer = await refused("make it red")
    assert "choose one in the preview, or give its text in quotes" in answer
    _, answer = await refused('remove "Spelt"')
    assert "“Spelt” is not the whole text of any element" in answer
    _, answer = await refused("get rid of the footer")
    assert "There is no <footer> in the page" in answer


async def test_what_needs_a_language_model_is_reported_in_one_sentence() -> None:
    page, answer = await refused("add a newsletter form below the list")
    assert page == PAGE
    assert answer == CANNOT
    assert answer.count(". ") == 0


async def test_without_a_page_the_reason_is_reported() -> None:
    async with Bench() as bench:
        assert (await bench.refusal("make the title red")).startswith("index.html cannot be changed here: ")
    async with Bench(tools=()) as bench:
        assert "There is no tool to edit files here" in await bench.refusal("make the title red")


def design(instruction: str, element: SelectedElement | None = None) -> Message:
    """A request as the studio attaches it: the files stand in the content, whatever the words around them."""
    content = [Text("Diese Dateien gibt es:\n"), Text(f"<<{PAGE}>>"), Text("Bitte.")]
    files = [FileSpan("index.html", 1, 2, 2 + len(PAGE))]
    request = DesignRequest(kind="update", instruction=instruction, element=element, files=files)
    return Message(role="user", content=list(content), structured=design_data(request))


@pytest.mark.parametrize(("line", "number", "changed"), [(19, 0, 19), (0, 2, 19), (0, 1, 17)])
async def test_the_selected_element_is_the_one_that_changes(line: int, number: int, changed: int) -> None:
    """As the studio asks: files in the prompt, the element as the browser has it."""
    async with Bench(workspace=MemoryWorkspace({"index.html": PAGE})) as bench:
        element = SelectedElement('<li class="item">Rye</li>', "index.html" if line else "", line, number)
        await bench.ask(design("make it red", element))
        assert bench.calls() == ["edit_file"]
        assert bench.file().splitlines()[changed - 1] == '      <li class="item" style="color: red">Rye</li>'


@pytest.mark.parametrize(
    ("words", "before", "after"),
    [
        ("change order now to Buy bread", ">Order now<", ">Buy bread<"),
        ("Please change the text of Order now to Buy bread.", ">Order now<", ">Buy bread<"),
        ("change the heading to Warm bread", ">Fresh bread<", ">Warm bread<"),
    ],
)
async def test_a_text_is_named_without_quotes(words: str, before: str, after: str) -> None:
    async with Bench(workspace=MemoryWorkspace({"index.html": PAGE})) as bench:
        await bench.ask(design(words))
        assert bench.file() == PAGE.replace(before, after)


@pytest.mark.parametrize(
    "words", ["change the layout to two columns", "change rye to spelt", "replace all with a form"]
)
async def test_words_that_are_no_text_of_the_page_change_nothing(words: str) -> None:
    async with Bench(workspace=MemoryWorkspace({"index.html": PAGE})) as bench:
        assert await bench.refusal(design(words)) == CANNOT
        assert bench.file() == PAGE


OWN_TEXTS = {
    "update": "Ändere das Projekt:\n\n{{request}}\n\nSonst nichts.",
    "files": "So sieht es aus.\n\n{{files}}\n\nEnde der Dateien.",
    "element": "Gemeint ist {{html}} {{place}}",
    "system": "Du baust Seiten. {{rules}}",
}


@pytest.mark.parametrize("has_own_texts", [False, True])
async def test_own_prompt_texts_change_nothing(tmp_path: Path, has_own_texts: bool) -> None:
    from heald_studio.prompt.build import build_prompt
    from heald_studio.prompt.request import PromptRequest
    from heald_studio.prompt.texts import PromptTexts
    from heald_studio.stacks.installed import find_stack

    for name, text in OWN_TEXTS.items() if has_own_texts else ():
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
    request = PromptRequest(mode="text", text="make the title red", files={"index.html": PAGE})
    prompt = build_prompt(request, find_stack("html_css"), texts=PromptTexts(tmp_path))
    stored = decode_messages(encode(prompt.messages))  # a session that is opened again reads them from its log
    async with Bench(workspace=MemoryWorkspace({"index.html": PAGE}), instructions=prompt.system) as bench:
        await bench.ask(stored[-1])
        assert bench.calls() == ["edit_file"]
        (title,) = [line for line in bench.file().splitlines() if "<h1" in line]
        assert "color: red" in title


async def test_the_studio_s_own_prompt_is_understood() -> None:
    from heald_studio.prompt.build import build_prompt
    from heald_studio.prompt.request import ChosenElement, PromptRequest
    from heald_studio.stacks.installed import find_stack

    element = ChosenElement(html='<button class="button" type="button"><span class="caption">Order now</span></button>')
    asked = PromptRequest(mode="text", text='make it say "Buy"', files={"index.html": PAGE}, element=element)
    prompt = build_prompt(asked, find_stack("html_css"))
    request = read_request(prompt.messages, [tool.definition for tool in families()["files"]], Settings())
    assert (request.stack, request.entry, request.instruction) == ("html_css", "index.html", 'make it say "Buy"')
    assert request.files == {"index.html": PAGE}
    parts = edit_page(request)
    assert parts is not None
    assert isinstance(parts[0], ScriptedCall)
    assert parts[0].input["edits"][0]["new_text"] == '      <span class="caption">Buy</span>\n'


@pytest.mark.parametrize(
    ("words", "edit"),
    [
        ("hide the footer", SetProperty(EditTarget(tag="footer"), "display", "none")),
        ("Please make the header sticky.", MakeSticky(EditTarget(tag="header"))),
        ("move the sidebar right", MoveElement(EditTarget(tag="aside"), is_first=False)),
        ("move the menu to the left side", MoveElement(EditTarget(tag="nav"), is_first=True)),
        ("centre the heading", SetProperty(EditTarget(tag="h1"), "text-align", "center")),
        ('align "Rye" to the right', SetProperty(EditTarget(text="Rye"), "text-align", "right")),
        ("set the language to German", SetLanguage("de")),
        ("change the language of the page to pt-br", SetLanguage("pt-br")),
    ],
)
def test_places_and_the_language_are_understood(words: str, edit: Edit) -> None:
    assert parse_edits(words) == [edit]


@pytest.mark.parametrize(
    ("words", "before", "after"),
    [
        ("move the sidebar right", "<aside>A</aside>\n<p>B</p>\n", "<p>B</p>\n<aside>A</aside>\n"),
        ("move the sidebar left", "<p>B</p>\n<p>C</p>\n<aside>A</aside>\n", "<aside>A</aside>\n<p>B</p>\n<p>C</p>\n"),
        (
            "make the sidebar sticky",
            "<aside>A</aside>\n",
            '<aside style="position: sticky; top: 0; z-index: 10">A</aside>\n',
        ),
        ("hide the sidebar", "<aside>A</aside>\n", '<aside style="display: none">A</aside>\n'),
    ],
)
def test_what_is_understood_is_done_in_the_source(words: str, before: str, after: str) -> None:
    source = f"<html lang='en'>\n<body>\n{before}</body>\n</html>\n"
    assert _edited(words, source) == source.replace(before, after)


def test_the_language_of_the_page_is_set() -> None:
    assert _edited("set the language to German", "<html lang='en'><body></body></html>").startswith('<html lang="de">')
    assert _edited("set the language to German", "<html><body></body></html>").startswith('<html lang="de">')


def _edited(words: str, source: str) -> str:
    for edit in parse_edits(words):
        source = apply_edit("index.html", source, edit, None)
    return source
