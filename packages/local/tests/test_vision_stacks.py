"""Every stack from one tree: well formed, escaped, complete, and free of what was not seen."""

import json
import posixpath
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald.core.markup import VOID_ELEMENTS
from heald_local.arrange.page import arrange
from heald_local.page import Page
from heald_local.write.stacks import PROJECTS, STACKS, write_files
from heald_local.write.tailwind import utilities
from heald_pictures.errors import VisionError
from vision_pages import box, picture, seen, text

NASTY = '<script>alert("1")</script> & {{ 7 * 7 }} `${x}` </style>'
HTML = [stack for stack in STACKS if stack != "svg" and stack not in PROJECTS]  # those whose index.html holds the page


def _page(words: str = "Plain words") -> Page:
    return arrange(
        seen(
            text(80, 40, words, 32, 700),
            box(80, 120, 300, 160, "#ffffff", border=True, radius=12),
            text(104, 150, "A card", 18, 700),
            text(104, 190, words, 14),
            picture(480, 120, 200, 160),
            box(80, 320, 160, 44, "#2563eb", radius=8),
            text(124, 333, "Press me", 15, 700, "#ffffff"),
        )
    )


class _Balance(HTMLParser):
    """Complains about an end that nothing began, and remembers the texts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID_ELEMENTS:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def _parsed(html: str) -> _Balance:
    parser = _Balance()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser


@pytest.mark.parametrize("stack", HTML)
def test_html_is_balanced_and_states_what_was_seen(stack: str) -> None:
    files = write_files(_page(), stack)
    html = files["index.html"]
    assert isinstance(html, str)
    parsed = _parsed(html)
    assert html.startswith("<!DOCTYPE html>")
    assert "Plain words" in "".join(parsed.texts)
    assert "assets/photo-1.png" in files
    assert len(html) < 25_000


@pytest.mark.parametrize("stack", [stack for stack in HTML if stack != "react_tailwind"])
def test_what_was_read_is_never_markup(stack: str) -> None:
    html = write_files(_page(NASTY), stack)["index.html"]
    assert isinstance(html, str)
    assert "alert(" not in "".join(re.findall(r"<script[^>]*>(.*?)</script>", html, re.DOTALL))
    assert NASTY in "".join(_parsed(html).texts)
    if stack == "vue_tailwind":
        assert "v-pre" in html


def test_jsx_keeps_what_was_read_in_strings() -> None:
    html = write_files(_page(NASTY), "react_tailwind")["index.html"]
    assert isinstance(html, str)
    assert html.count("</script>") == 6
    assert json.dumps(NASTY).replace("<", "\\u003c") in html


@settings(max_examples=scaled(120), deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=30))
def test_any_text_survives_in_html_and_svg(words: str) -> None:
    page = arrange(seen(text(80, 40, words, 20)))
    html, svg = write_files(page)["index.html"], write_files(page, "svg")["image.svg"]
    assert isinstance(html, str)
    assert isinstance(svg, str)
    assert words in "".join(_parsed(html).texts)
    root = ElementTree.fromstring(svg)
    assert words in [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_svg_is_one_file_with_everything_in_it() -> None:
    files = write_files(_page(), "svg")
    assert list(files) == ["image.svg"]
    svg = files["image.svg"]
    assert isinstance(svg, str)
    assert "data:image/png;base64," in svg
    ElementTree.fromstring(svg)


def test_equal_styles_share_a_class_and_colours_are_variables() -> None:
    cards = [
        part for x in (80, 420, 760) for part in (box(x, 100, 300, 120, "#e0e7ff", radius=8), text(x + 24, 130, "Card"))
    ]
    html = write_files(arrange(seen(*cards)))["index.html"]
    assert isinstance(html, str)
    assert html.count('class="card"') == 3
    assert html.count("\n.card {") == 1
    assert re.search(r"--ink: #[0-9a-f]{6};", str(write_files(_page())["index.html"]))


def test_spacings_sizes_radii_and_families_are_variables_where_they_come_back() -> None:
    rows = [
        part
        for y in (100, 300, 500)
        for part in (
            box(80, y, 300, 160, "#e0e7ff", radius=8),
            text(104, y + 20, f"Name {y}", 18, 700),
            text(104, y + 60, f"Words that say more {y}", 14),
        )
    ]
    html = str(write_files(arrange(seen(*rows)))["index.html"])
    for kind in ("space", "text", "ink", "surface"):
        names = re.findall(rf"--{kind}\b[\w-]*(?=:)", html.partition("}")[0])
        assert names, kind
        assert all(html.count(f"var({name})") for name in names), kind
    steps = {int(step): float(size) for step, size in re.findall(r"--space-(\d+): ([\d.]+)px", html)}
    assert steps
    assert all(size == 4 * step for step, size in steps.items())


def test_elements_are_named_after_what_they_are() -> None:
    cards = [
        part
        for number, x in enumerate((80, 460, 840))
        for part in (
            box(x, 300, 340, 140, "#e0e7ff", radius=8),
            text(x + 24, 324, f"Plan {number}", 20, 700),
            text(x + 24, 370, f"$ {number}9 a month", 15),
        )
    ]
    head = [text(80, 20, "Harbour", 20, 700), *(text(800 + 120 * at, 22, f"Link {at}") for at in range(3))]
    hero = [text(80, 120, "Ships for everyone", 48, 700), text(80, 200, "And boats for the others, too.", 18)]
    html = str(write_files(arrange(seen(*head, *hero, *cards)))["index.html"])
    names = [name for classes in re.findall(r'class="([^"]+)"', html) for name in classes.split()]
    assert {"nav-link", "price-card"} <= set(names)
    assert names.count("price-card") == 3
    assert not re.search(r'class="[^"]*\b(?:text|stack|ml|w)-\d', html)
    assert re.search(r'<h1 class="title">', html)
    assert "\n.title {" in html


def test_every_class_that_is_used_is_declared_and_none_is_in_vain() -> None:
    html = str(write_files(_page())["index.html"])
    used = {name for names in re.findall(r'class="([^"]+)"', html) for name in names.split()}
    declared = set(re.findall(r"\.([a-z][\w-]*)(?=[^{}]*\{)", html.partition("<style>")[2].partition("</style>")[0]))
    assert used == declared


def test_the_colour_of_a_button_is_stronger_than_that_of_bootstrap() -> None:
    """A rule for tags is weaker than `.btn`, so a button has that class beside a class of its own only."""
    html = str(write_files(_page(), "bootstrap")["index.html"])
    button = re.search(r"<button([^>]*)>", html)
    assert button is not None
    assert "btn" not in button[1] or "own-" in button[1]


def test_bootstrap_never_gets_a_class_of_the_pages_own_that_it_knows() -> None:
    html = str(write_files(_page(), "bootstrap")["index.html"])
    declared = set(re.findall(r"\.([a-z][\w-]*)(?=[^{}]*\{)", html.partition("<style>")[2].partition("</style>")[0]))
    assert declared
    assert all(name.startswith("own-") for name in declared)


def test_jsx_attributes_have_no_escapes() -> None:
    words = text(80, 40, "In letters of another family", 20)
    other = replace(words, style=replace(words.style, family="serif"))
    page = arrange(seen(other, *(text(80, 100 + 40 * number, f"Plain words {number}") for number in range(3))))
    html = str(write_files(page, "react_tailwind")["index.html"])
    assert "font-serif" in html
    assert "Liberation Serif" in html.partition("tailwind.config")[2].partition("</script>")[0]
    assert not re.search(r'className="[^"]*\\', html)


def test_a_narrow_screen_has_rules_of_its_own() -> None:
    html = write_files(_page())["index.html"]
    assert isinstance(html, str)
    assert "@media (max-width: 720px)" in html
    phone = write_files(arrange(seen(text(20, 20, "Phone"), width=375, height=600)))["index.html"]
    assert isinstance(phone, str)
    assert "@media (max-width" not in phone


def test_an_unknown_stack_is_named_with_the_known_ones() -> None:
    with pytest.raises(VisionError, match="html_css"):
        write_files(_page(), "cobol")


@pytest.mark.parametrize(
    ("style", "words"),
    [
        ((("display", "flex"), ("gap", "24px")), ["flex", "gap-6"]),
        ((("padding", "10px 25px"),), ["py-2.5", "px-[25px]"]),
        (
            (("background", "#231b2e url(assets/photo-1.png) center / cover no-repeat"),),
            ["[background:#231b2e_url(assets/photo-1.png)_center_/_cover_no-repeat]"],
        ),
        ((("padding", "96px 56px 14px"),), ["pt-24", "px-14", "pb-3.5"]),
        ((("margin-left", "-3px"), ("color", "#1f2937")), ["-ml-[3px]", "text-[#1f2937]"]),
        ((("margin-left", "-1px"), ("color", "#ffffff")), ["-ml-px", "text-white"]),
        ((("font-size", "18px"), ("line-height", "28px")), ["text-lg", "leading-7"]),
        ((("font-size", "15px"), ("line-height", "24.5px")), ["text-[15px]", "leading-[24.5px]"]),
        (
            (("border-radius", "8px"), ("border-radius", "4px"), ("border-radius", "9px")),
            ["rounded-lg", "rounded", "rounded-[9px]"],
        ),
        ((("border", "1px solid #d1d5db"),), ["border", "border-[#d1d5db]"]),
        ((("border-bottom", "2px solid #d1d5db"),), ["border-b-2", "border-b-[#d1d5db]"]),
        ((("box-shadow", "0 1px 3px rgb(0 0 0 / 0.1)"),), ["shadow-[0_1px_3px_rgb(0_0_0_/_0.1)]"]),
        ((("grid-template-columns", "repeat(3, minmax(0, 1fr))"),), ["grid-cols-3"]),
    ],
)
def test_tailwind_states_the_same_in_its_own_words(style: tuple[tuple[str, str], ...], words: list[str]) -> None:
    assert utilities(style) == words


@pytest.mark.parametrize("stack", ["html_tailwind", "react_tailwind", "vue_tailwind", "ionic_tailwind"])
def test_colours_that_a_page_uses_often_have_names_in_the_theme(stack: str) -> None:
    lines = [text(80, 120 + 60 * at, f"class-[#1f2937] of line {at}", 16, 400, "#1f2937") for at in range(3)]
    html = str(write_files(arrange(seen(*lines, text(80, 400, "Once", 16, 400, "#9a3412"))), stack)["index.html"])
    assert 'tailwind.config = { theme: { extend: { colors: {"ink": "#1f2937"}, ' in html
    assert html.count("text-ink") == 3
    assert "text-[#1f2937]" not in html
    assert html.count("class-[#1f2937] of line") == 4  # with the title
    assert "text-[#9a3412]" in html


def test_repeated_cards_are_one_component_with_data() -> None:
    cards = [
        part
        for x, name in ((80, "Rope"), (460, "Anchor"), (840, 'Lamp </script> "{x}"'))
        for part in (
            box(x, 300, 340, 140, "#e0e7ff", radius=8),
            text(x + 24, 324, name, 22, 700),
            text(x + 24, 370, f"Good for {name[:4]}", 15),
        )
    ]
    html = str(write_files(arrange(seen(text(80, 120, "Everything", 48, 700), *cards)), "react_tailwind")["index.html"])
    assert html.count("function Card(") == 1
    assert "{cards.map((each, index) => <Card key={index} {...each} />)}" in html
    assert html.count('"Rope"') == 1
    assert html.count("<article ") == 1
    assert '"Lamp \\u003c/script> \\"{x}\\""' in html
    assert html.count("</script>") == 6


def test_repeated_cards_are_a_loop_over_data_in_vue() -> None:
    cards = [
        part
        for x, name in ((80, "Rope"), (460, "Anchor"), (840, 'Lamp </script> "{{ x }}"'))
        for part in (
            box(x, 300, 340, 140, "#e0e7ff", radius=8),
            text(x + 24, 324, name, 22, 700),
            text(x + 24, 370, "Sold by {{ weight }}", 15),
        )
    ]
    html = str(write_files(arrange(seen(text(80, 120, "Everything", 48, 700), *cards)), "vue_tailwind")["index.html"])
    assert html.count('v-for="(each, at) in cards" :key="at"') == 1
    assert html.count("{{ each.") == 1
    assert html.count("Sold by {{ '{{' }} weight }}") == 1
    assert '{ title: "Rope" },' in html
    assert 'title: "Lamp \\u003c/script>' in html
    assert re.search(r"<h1[^>]* v-pre>Everything</h1>", html)


def test_a_project_of_vite_has_a_file_for_each_part_and_each_list() -> None:
    files = write_files(_page(), "react_vite")
    components = {path.removeprefix("src/components/") for path in files if path.startswith("src/components/")}
    app = str(files["src/App.jsx"])
    assert components
    assert "public/assets/photo-1.png" in files
    for path, content in files.items():
        for name in re.findall(r'^import .*? from "([^"]+)";$', str(content), re.M) if path.endswith(".jsx") else []:
            folder = "src" if path == "src/App.jsx" else "src/components"
            assert posixpath.normpath(f"{folder}/{name}") in files, (path, name)
    used = {f"{name}.jsx" for name in re.findall(r"^ *<([A-Z]\w+) />$", app, re.M)}
    assert used <= components
    assert used
    assert "Plain words" in "".join(str(source) for path, source in files.items() if path.startswith("src/"))


def _project_page(words: str = "Plain words") -> Page:
    cards = [
        part
        for x, name in ((80, "Rope"), (440, "Lamp {x}"), (800, "Sail"))
        for part in (
            box(x, 300, 340, 140, "#e0e7ff", radius=8, border=True),
            text(x + 24, 324, name, 22, 700),
            text(x + 24, 370, "Sold by weight", 15),
        )
    ]
    button = (box(80, 520, 160, 44, "#2563eb", radius=8), text(124, 533, "Press me", 15, 700, "#ffffff"))
    return arrange(seen(text(80, 120, words, 48, 700), *cards, *button))


@pytest.mark.parametrize(
    ("stack", "entry", "item", "data", "loop"),
    [
        (
            "next_shadcn",
            "app/page.tsx",
            "components/card2.tsx",
            "data/card2s.ts",
            "{card2s.map((each, index) => <Card2 ",
        ),
        (
            "svelte_vite",
            "src/App.svelte",
            "src/components/Card.svelte",
            "src/data/cards.js",
            "{#each cards as each}<Card ",
        ),
        (
            "astro_tailwind",
            "src/pages/index.astro",
            "src/components/Card.astro",
            "src/data/cards.ts",
            "{cards.map((each) => <Card ",
        ),
    ],
)
def test_a_list_is_one_component_with_data(stack: str, entry: str, item: str, data: str, loop: str) -> None:
    files = {path: str(content) for path, content in write_files(_project_page(), stack).items()}
    assert loop in "".join(files.values())
    assert "{title}" in files[item]
    assert files[data].count("title:") == 3
    assert "Plain words" in "".join(files.values())
    assert entry in files


@pytest.mark.parametrize("stack", ["svelte_vite", "astro_tailwind"])
def test_braces_and_markup_in_a_text_are_a_string(stack: str) -> None:
    sources = "".join(str(content) for content in write_files(_project_page(NASTY), stack).values())
    assert json.dumps(NASTY).replace("<", "\\u003c") in sources
    assert NASTY not in sources


def test_buttons_and_boxes_are_components_of_shadcn() -> None:
    files = {path: str(content) for path, content in write_files(_project_page(), "next_shadcn").items()}
    sources = "".join(files[path] for path in files if path.endswith(".tsx"))
    assert 'import { Button } from "@/components/ui/button";' in sources
    assert re.search(r'<Button className="[^"]*" type="button">Press me</Button>', sources)
    assert "--primary: #2563eb;" in files["app/globals.css"]
    assert "bg-[#2563eb]" not in sources
    assert "<button" not in sources
    for path, source in files.items():
        imported = re.findall(r"^import \{ (\w+) \} from", source, re.M)
        declared = re.findall(r"^export (?:default )?(?:function|const) (\w+)", source, re.M)
        assert not set(imported) & set(declared), path
