"""Elements are changed in the source that makes them, and nothing else in it changes."""

from typing import Any

import pytest

from heald_studio.visual.breakpoint import Breakpoint
from heald_studio.visual.cannot_edit import CannotEdit
from heald_studio.visual.class_list import edit_class_list
from heald_studio.visual.edit_elements import Move, VisualChange, edit_elements
from heald_studio.visual.locate import RenderedElement
from heald_studio.visual.merged_rules import merge_rules
from heald_studio.visual.move_element import Place

ALL = Breakpoint()
PHONE = Breakpoint(375, 640)
TABLET = Breakpoint(768, 1024)

CLASS_LISTS = [
    ("p-4 text-lg", {"padding": "24px"}, ALL, "p-6 text-lg"),
    ("flex  p-4\n  text-lg", {"padding": "1.5rem"}, ALL, "flex  p-6\n  text-lg"),
    ("p-4", {"padding": "13px"}, ALL, "p-[13px]"),
    ("p-4", {"padding-top": "24px"}, ALL, "p-4 pt-6"),
    ("p-4 pt-2", {"padding-top": "24px"}, ALL, "p-4 pt-6"),
    ("px-4 py-2 flex", {"padding": "8px"}, ALL, "p-2 flex"),
    ("px-4 py-2", {"padding": "8px 16px"}, ALL, "px-4 py-2"),
    ("px-4 py-2", {"padding-top": "16px", "padding-bottom": "16px"}, ALL, "px-4 py-4"),
    ("pt-4 pb-4", {"padding-top": "8px", "padding-bottom": "8px"}, ALL, "py-2"),
    ("p-4", {"padding": "1px"}, ALL, "p-px"),
    ("p-4", {"padding": "0"}, ALL, "p-0"),
    ("p-4 m-2", {"padding": ""}, ALL, "m-2"),
    ("m-2", {"margin-top": "-16px"}, ALL, "m-2 -mt-4"),
    ("mx-auto", {"margin-left": "auto", "margin-right": "auto"}, ALL, "mx-auto"),
    ("-mt-4", {"margin-top": "16px"}, ALL, "mt-4"),
    ("text-lg text-red-500 text-center", {"color": "#B00020"}, ALL, "text-lg text-[#b00020] text-center"),
    ("text-lg text-red-500 text-center", {"font-size": "24px"}, ALL, "text-2xl text-red-500 text-center"),
    ("text-lg/7", {"font-size": "19px"}, ALL, "text-[19px]"),
    ("text-[#fff] text-[14px]", {"font-size": "1rem"}, ALL, "text-[#fff] text-base"),
    ("text-[#fff] text-[14px]", {"color": "teal"}, ALL, "text-[teal] text-[14px]"),
    ("bg-cover bg-teal-600", {"background-color": "var(--color-brand)"}, ALL, "bg-cover bg-brand"),
    ("bg-white", {"background-color": "theme(colors.brand.500)"}, ALL, "bg-brand-500"),
    ("bg-white", {"background-color": "var(--brand)"}, ALL, "bg-[color:var(--brand)]"),
    ("text-wrap", {"color": "var(--ink)"}, ALL, "text-wrap text-[color:var(--ink)]"),
    ("bg-gradient-to-r", {"background-color": "white"}, ALL, "bg-gradient-to-r bg-white"),
    ("font-bold font-serif", {"font-weight": "500"}, ALL, "font-medium font-serif"),
    ("font-bold font-serif", {"font-family": "theme(fontFamily.display)"}, ALL, "font-bold font-display"),
    ("font-bold", {"font-family": "Inter, sans-serif"}, ALL, "font-bold font-[Inter,sans-serif]"),
    ("rounded-lg rounded-t-none", {"border-radius": "4px"}, ALL, "rounded rounded-t-none"),
    ("gap-4", {"gap": "8px"}, ALL, "gap-2"),
    ("gap-x-4 gap-y-2", {"row-gap": "16px"}, ALL, "gap-x-4 gap-y-4"),
    ("leading-tight", {"line-height": "1.5"}, ALL, "leading-normal"),
    ("w-full max-w-md", {"width": "320px"}, ALL, "w-80 max-w-md"),
    ("opacity-50", {"opacity": "0.75"}, ALL, "opacity-75"),
    ("hover:p-8 dark:p-2 p-4", {"padding": "24px"}, ALL, "hover:p-8 dark:p-2 p-6"),
    ("!p-4", {"padding": "24px"}, ALL, "!p-6"),
    ("p-4!", {"padding": "24px"}, ALL, "p-6!"),
    ("grid", {"grid-area": "1 / 2"}, ALL, "grid [grid-area:1_/_2]"),
    # Breakpoints: the class in effect at the shown width is changed, and other widths stay as they are.
    ("p-4 lg:p-8", {"padding": "40px"}, ALL, "p-4 lg:p-10"),
    ("p-4 lg:p-8", {"padding-top": "40px"}, ALL, "p-4 lg:p-8 lg:pt-10"),
    ("p-4", {"padding": "24px"}, PHONE, "p-4 max-sm:p-6"),
    ("p-4 max-sm:p-2", {"padding": "24px"}, PHONE, "p-4 max-sm:p-6"),
    ("p-4 sm:p-8", {"padding": "24px"}, PHONE, "p-6 sm:p-8"),
    ("p-4 md:p-8", {"padding": "24px"}, PHONE, "p-4 md:p-8 max-sm:p-6"),
    ("p-4 md:p-8", {"padding": "24px"}, TABLET, "p-4 md:p-8 md:max-lg:p-6"),
    ("p-4 md:p-8 lg:p-12", {"padding": "24px"}, TABLET, "p-4 md:p-6 lg:p-12"),
    ("p-4", {"padding": "24px"}, TABLET, "p-4 max-lg:p-6"),
    ("text-4xl", {"font-size": "24px"}, PHONE, "text-4xl max-sm:text-2xl"),
    ("p-4", {"padding": "24px"}, Breakpoint(500, 601), "p-4 max-[600px]:p-6"),
    ("", {"padding": "24px"}, PHONE, "max-sm:p-6"),
]


@pytest.mark.parametrize(("before", "style", "scope", "after"), CLASS_LISTS)
def test_the_class_of_a_property_is_replaced(before: str, style: dict[str, str], scope: Breakpoint, after: str) -> None:
    assert edit_class_list(before, style, scope) == after
    assert edit_class_list(after, style, scope) == after  # the same edit again changes nothing


TAILWIND = '<script src="https://cdn.tailwindcss.com"></script>'


def _edit(
    source: str, mark: str, scope: Breakpoint = ALL, *, file: str = "index.html", template: str = "", **change: Any
) -> str:
    """Edit the element of a mark, or of a selector, in a project of one file."""
    is_path = mark.startswith("body")
    element = RenderedElement(path=mark if is_path else "body > x", source="" if is_path else mark, template=template)
    visual_change = VisualChange(element=element, **change)
    files = {file: source.encode()}
    return edit_elements(files, "index.html", [visual_change], scope).get(file, source.encode()).decode()


def _place(source: str, marked: str, file: str = "src/App.jsx", start: int = 0) -> str:
    """Return the mark that a preview gives the element whose tag begins with `marked`."""
    at = source.index(marked)
    lines = source[start:at].split("\n")
    return f"{file}:{len(lines)}:{len(lines[-1])}"


HTML = [
    ("<p>One</p>", "body > p", {"text": "Two"}, "<p>Two</p>"),
    ("<p>\n  Fish &amp; chips&nbsp;&copy;\n</p>", "body > p", {"text": "Fish & crisps\xa0©"},
     "<p>\n  Fish &amp; crisps&nbsp;&copy;\n</p>"),
    ("<p>a</p>", "body > p", {"text": "<b> & c"}, "<p>&lt;b&gt; &amp; c</p>"),
    ("<p style='color:red;margin:0'>a</p>", "body > p", {"style": {"color": "blue"}},
     "<p style='color:blue;margin:0'>a</p>"),
    ('<p style="color: red; margin: 0;">a</p>', "body > p", {"style": {"padding": "4px"}},
     '<p style="color: red; margin: 0; padding: 4px;">a</p>'),
    ('<p style="color: red">a</p>', "body > p", {"style": {"color": ""}}, "<p>a</p>"),
    ('<p style="background: url(a;b.png); color: red">a</p>', "body > p", {"style": {"color": "blue"}},
     '<p style="background: url(a;b.png); color: blue">a</p>'),
    ("<p>a</p>", "body > p", {"style": {"color": "var(--brand)"}}, '<p style="color: var(--brand)">a</p>'),
    ("<ul><li>A<li>B</ul>", "body > ul > li:nth-of-type(2)", {"style": {"color": "red"}},
     '<ul><li>A<li style="color: red">B</ul>'),
    ("<table><tr><td>A<td>B</table>", "body > table > tbody > tr > td:nth-of-type(2)", {"style": {"color": "red"}},
     '<table><tr><td>A<td style="color: red">B</table>'),
    ("<svg><path d='M0'/><path d='M1'/></svg>", "body > svg > path:nth-of-type(2)", {"style": {"opacity": ".5"}},
     "<svg><path d='M0'/><path style=\"opacity: .5\" d='M1'/></svg>"),
    ("<img src=a.png alt=x>", "body > img", {"attributes": {"src": "b.png"}}, '<img src="b.png" alt=x>'),
    ("<a href='x'>y</a>", "body > a", {"attributes": {"href": "it's"}}, "<a href='it&#x27;s'>y</a>"),
    (f'{TAILWIND}<p  class="p-4  x"\n id=q>a</p>', "body > p", {"style": {"padding": "24px"}},
     f'{TAILWIND}<p  class="p-6  x"\n id=q>a</p>'),
    (f"{TAILWIND}<p class=p-4>a</p>", "body > p", {"style": {"padding": "24px"}}, f"{TAILWIND}<p class=p-6>a</p>"),
    (f"{TAILWIND}<p>a</p>", "body > p", {"style": {"padding": "24px", "color": "#fff"}},
     f'{TAILWIND}<p class="p-6 text-[#fff]">a</p>'),
]  # fmt: skip


@pytest.mark.parametrize(("before", "path", "change", "after"), HTML)
def test_html_changes_at_one_place(before: str, path: str, change: dict[str, Any], after: str) -> None:
    assert _edit(before, path, **change) == after


JSX = [
    ("<p>One</p>", "<p", {"text": "Two"}, "<p>Two</p>"),
    ("<p>\n      One two\n      three four\n    </p>", "<p", {"text": "One two three five"},
     "<p>\n      One two\n      three five\n    </p>"),
    ("<p>\n      One two\n      three four\n    </p>", "<p", {"text": "One three four"},
     "<p>\n      One\n      three four\n    </p>"),
    ("<p>a</p>", "<p", {"text": "{x}"}, '<p>{"{x}"}</p>'),
    ("<p>a</p>", "<p", {"text": "<b>"}, "<p>&lt;b&gt;</p>"),
    ("<p>{'Don’t'}</p>", "<p", {"text": "Do"}, "<p>{'Do'}</p>"),
    ("<p>Don't {x => <b>it's</b>}</p>", "<b", {"text": "it is"}, "<p>Don't {x => <b>it is</b>}</p>"),
    ("<p style={{ color: 'red', margin: 0 }}>a</p>", "<p", {"style": {"color": "blue", "margin": "4px"}},
     "<p style={{ color: 'blue', margin: \"4px\" }}>a</p>"),
    ("<p style={{ color: x }} />", "<p", {"style": {"font-size": "12px"}},
     '<p style={{ color: x, fontSize: "12px" }} />'),
    ("<p>a</p>", "<p", {"style": {"background-color": "var(--brand)"}},
     '<p style={{ backgroundColor: "var(--brand)" }}>a</p>'),
    ("<p style={{ color: 'red' }}>a</p>", "<p", {"style": {"color": ""}}, "<p>a</p>"),
    ("items.map((n) => <li key={n} title={`a>${n}`}>{n}</li>)", "<li", {"style": {"color": "red"}},
     'items.map((n) => <li style={{ color: "red" }} key={n} title={`a>${n}`}>{n}</li>)'),
    ("useState<string>(/<p>'/ ? 1 < 2 : <em>x</em>)", "<em", {"text": "y"},
     "useState<string>(/<p>'/ ? 1 < 2 : <em>y</em>)"),
    ("<Card head={<h2>It's</h2>}>{/* <h2> */}</Card>", "<h2>It", {"text": "That"},
     "<Card head={<h2>That</h2>}>{/* <h2> */}</Card>"),
    ("<img src={'a.png'} alt=\"\" />", "<img", {"attributes": {"src": "b.png"}}, '<img src="b.png" alt="" />'),
]  # fmt: skip


@pytest.mark.parametrize(("markup", "marked", "change", "result"), JSX)
def test_jsx_changes_at_one_place(markup: str, marked: str, change: dict[str, Any], result: str) -> None:
    frame = "export default function App() {{\n  return (\n    {}\n  );\n}}\n"
    before = frame.format(markup)
    start = before.index("return") + before[before.index("return") :].index(marked)
    lines = before[:start].split("\n")
    mark = f"src/App.jsx:{len(lines)}:{len(lines[-1])}"
    assert _edit(before, mark, file="src/App.jsx", **change) == frame.format(result)


JSX_CLASSES = [
    ('<p className="p-4 x">a</p>', '<p className="p-6 x">a</p>'),
    ("<p className={'p-4 x'}>a</p>", "<p className={'p-6 x'}>a</p>"),
    ("<p className={`x ${y} p-4`}>a</p>", "<p className={`x ${y} p-6`}>a</p>"),
    ("<p className={`p-4 ${on ? 'b' : ''}`}>a</p>", "<p className={`p-6 ${on ? 'b' : ''}`}>a</p>"),
    ("<p className={clsx('x', on && 'p-4')}>a</p>", "<p className={clsx('x', on && 'p-6')}>a</p>"),
    ("<p className={cn(on && 'y', 'x', className)}>a</p>", "<p className={cn(on && 'y', 'x p-6', className)}>a</p>"),
    ("<p className={kind === 'p-4' ? 'p-4' : 'y'}>a</p>", "<p className={kind === 'p-4' ? 'p-6' : 'y'}>a</p>"),
    ("<p>a</p>", '<p className="p-6">a</p>'),
    ("<p id='q'>a</p>", "<p className=\"p-6\" id='q'>a</p>"),
]


@pytest.mark.parametrize(("markup", "result"), JSX_CLASSES)
def test_classes_of_jsx_are_edited_in_their_strings(markup: str, result: str) -> None:
    page = f'{TAILWIND}\n<div id="root"></div>\n<script type="text/babel">\nconst A = () => {markup};\n</script>\n'
    start = page.index('babel">') + len('babel">')
    mark = _place(page, "<p", "index.html#0", start)
    assert _edit(page, mark, style={"padding": "24px"}) == page.replace(markup, result)


def test_the_elements_of_vue_templates_are_found() -> None:
    page = f'{TAILWIND}<div id="app"><li v-for="n in list" class="p-4">{{{{ n }}}}</li><p :class="x">Hi</p></div>'
    mark = "@body > div:nth-of-type(1) > li:nth-of-type(1)"
    assert _edit(page, mark, style={"padding": "24px"}) == page.replace("p-4", "p-6")
    bound = "@body > div:nth-of-type(1) > p:nth-of-type(1)"
    assert _edit(page, bound, style={"padding": "24px"}) == page.replace("<p :class", '<p class="p-6" :class')
    script = 'const Card = { template: `<article><h2>{{ name }}</h2><site-link /><p class="a">Open</p></article>` };\n'
    template = script.split("`")[1]
    position = f"~{template.index('<p')}"
    changed = _edit(script, position, file="components.js", template=template, text="Closed")
    assert changed == script.replace("Open", "Closed")
    single = "<script setup>\nconst a = 1 < 2\n</script>\n\n<template>\n  <Card />\n  <p>Open</p>\n</template>\n"
    changed = _edit(single, "src/App.vue:7:2", file="src/App.vue", text="Closed")
    assert changed == single.replace("Open", "Closed")


@pytest.mark.parametrize("file", ["src/App.svelte", "src/pages/index.astro"])
def test_elements_of_svelte_and_astro_are_found_and_expressions_stay(file: str) -> None:
    source = '<Card />\n<p class="p-4">Open</p>\n<p class={look}>Closed</p>\n<p>{words}</p>\n<link rel="x" />\n'
    source += "<!-- @import 'tailwindcss' -->\n"
    text = _edit(source, f"{file}:2:0", file=file, text="A {b}")
    assert text == source.replace("Open", "A &#123;b&#125;")
    styled = _edit(source, f"{file}:2:0", file=file, style={"padding": "24px"})
    assert styled == source.replace("p-4", "p-6")
    with pytest.raises(CannotEdit, match="An expression sets attributes"):
        _edit(source, f"{file}:3:0", file=file, style={"padding": "24px"})
    with pytest.raises(CannotEdit, match="not in the source"):
        _edit(source, f"{file}:4:0", file=file, text="New", before="Old")


def test_a_text_that_data_makes_is_replaced_in_the_data() -> None:
    script = "const items = ['Tea', 'It\\'s'];\nexport default () => items.map((item) => <li key={item}>{item}</li>);\n"
    mark = _place(script, "<li")
    changed = _edit(script, mark, file="src/App.jsx", text="Don't", before="Tea")
    assert changed == script.replace("'Tea'", "'Don\\'t'")


PAGE = (
    "<html><head>\n  <style>\n    p { color: red }\n  </style>\n</head><body><p>a</p><p class='x'>b</p></body></html>"
)


def test_an_edit_at_a_narrow_width_is_a_media_query() -> None:
    first = _edit(PAGE, "body > p:nth-of-type(1)", PHONE, style={"padding": "8px"})
    rule = "\n    @media (max-width: 639px) {\n      .edit-1 { padding: 8px !important; }\n    }"
    assert first == PAGE.replace("red }", "red }" + rule).replace("<p>a", '<p class="edit-1">a')
    second = _edit(first, "body > p:nth-of-type(2)", PHONE, style={"color": "blue"})
    added = first.replace("important; }\n", "important; }\n      .edit-2 { color: blue !important; }\n")
    assert second == added.replace("class='x'", "class='x edit-2'")
    third = _edit(second, "body > p:nth-of-type(1)", PHONE, style={"padding": "4px", "color": "teal"})
    assert third == second.replace("padding: 8px !important;", "padding: 4px !important; color: teal !important;")
    wide = _edit(third, "body > p:nth-of-type(1)", style={"padding": "20px"})
    assert wide == third.replace('<p class="edit-1">', '<p style="padding: 20px" class="edit-1">')


SHEET = """<style>
  h1, h2 { color: red }
  .card {
    /* color: pink; */
    padding: 8px 16px;
    color: red; /* warm */
  }
  .card > p{margin:0}
  @media (max-width: 639px) { .card { color: teal; } }
  .note { padding-top: 2px; padding: 4px }
  .note { content: "}"; }
</style>
<div class="card"><p class="note">a</p></div>
"""
RULES = [
    ({"color": "blue"}, ".card", ("color: red; /*", "color: blue; /*")),
    ({"font-size": "20px"}, ".card", ("/* warm */\n", "/* warm */\n    font-size: 20px;\n")),
    ({"padding-top": "1px", "color": ""}, ".card",
     ("16px;\n    color: red; /* warm */\n", "16px;\n    /* warm */\n    padding-top: 1px;\n")),
    ({"padding": ""}, ".card", ("    padding: 8px 16px;\n", "")),
    ({"color": "blue"}, "h1, h2", ("{ color: red }", "{ color: blue }")),
    ({"margin": "4px", "color": "blue"}, ".card > p", ("{margin:0}", "{margin:4px; color: blue; }")),
    ({"padding-top": "6px"}, ".note", ("{ padding-top: 2px; padding: 4px }", "{ padding: 4px; padding-top: 6px; }")),
    ({"color": "blue"}, ".note", ('"}"; }', '"}"; color: blue; }')),
    ({"color": "blue"}, ".none", ('<p class="note">', '<p style="color: blue" class="note">')),
]  # fmt: skip


@pytest.mark.parametrize(("style", "selector", "difference"), RULES)
def test_the_rule_of_the_elements_is_edited(style: dict[str, str], selector: str, difference: tuple[str, str]) -> None:
    rules = {name.partition("-")[0] if name.startswith("padding") else name: selector for name in style}
    changed = _edit(SHEET, "body > div > p", style=style, rules=rules)
    assert changed == SHEET.replace(*difference)
    assert _edit(changed, "body > div > p", style=style, rules=rules) == changed  # the same edit again changes nothing


def test_a_rule_that_other_pages_may_use_is_left_alone() -> None:
    page = b"<link rel=stylesheet href=styles.css><p class=x>a</p>"
    files = {"index.html": page, "styles.css": b".x { color: red }\n"}
    change = VisualChange(element=RenderedElement(path="body > p"), style={"color": "blue"}, rules={"color": ".x"})
    assert edit_elements(files, "index.html", [change]) == {"styles.css": b".x { color: blue }\n"}
    changed = edit_elements(files | {"about.html": page}, "index.html", [change])
    assert changed == {"index.html": page.replace(b"<p", b'<p style="color: blue"')}


def test_a_media_query_repeats_the_selector_of_a_rule_before_it() -> None:
    rules = {"padding": "h1, h2", "color": "h1, h2"}
    path = "body > div > p"
    first = _edit(SHEET, path, TABLET, style={"padding": "8px"}, rules=rules)
    block = "  @media (max-width: 1023px) {\n    h1, h2 { padding: 8px; }\n  }\n</style>"
    assert first == SHEET.replace("</style>", block)
    second = _edit(first, path, TABLET, style={"padding": "4px", "color": "teal"}, rules=rules)
    assert second == first.replace("padding: 8px; }", "padding: 4px; color: teal; }")
    behind = {"padding": ".note"}  # a media query before the rule would lose against it
    changed = _edit(SHEET, path, PHONE, style={"padding": "8px"}, rules=behind)
    added = SHEET.replace("color: teal; }", "color: teal; } .edit-1 { padding: 8px !important; }")
    assert changed == added.replace('"note"', '"note edit-1"')


def test_a_page_without_a_style_sheet_gets_one() -> None:
    page = "<html>\n  <head>\n    <title>T</title>\n  </head>\n  <body>\n    <p>a</p>\n  </body>\n</html>\n"
    sheet = (
        "    <style>\n      @media (max-width: 639px) {\n        .edit-1 { color: red !important; }\n      }\n"
        "    </style>\n"
    )
    changed = _edit(page, "body > p", PHONE, style={"color": "red"})
    assert changed == page.replace("  </head>", sheet + "  </head>").replace("<p>", '<p class="edit-1">')
    inline = "<html><head><title>T</title></head><body><p>a</p></body></html>"
    assert "<style>\n" in _edit(inline, "body > p", PHONE, style={"color": "red"})


def test_a_project_writes_its_media_queries_into_its_style_sheet() -> None:
    script = "export default () => <p className='x'>a</p>;\n"
    files = {
        "index.html": b"<div id=root></div>",
        "src/App.jsx": script.encode(),
        "src/index.css": b"p { margin: 0 }\n",
    }
    element = RenderedElement(path="body > p", source=_place(script, "<p"))
    changes = [VisualChange(element=element, style={"color": "red"})]
    changed = edit_elements(files, "index.html", changes, TABLET)
    assert changed == {
        "src/App.jsx": script.replace("'x'", "'x edit-1'").encode(),
        "src/index.css": b"p { margin: 0 }\n@media (max-width: 1023px) {\n  .edit-1 { color: red !important; }\n}\n",
    }


LIST = "<ul>\n  <li>A</li>\n  <li>B\n    <b>b</b>\n  </li>\n  <li>C</li>\n</ul>\n<ol>\n    <li>D</li>\n</ol>\n"
MOVES = [
    (LIST, "ul > li:nth-of-type(3)", "before", "ul > li:nth-of-type(1)",
     LIST.replace("  <li>C</li>\n", "").replace("  <li>A", "  <li>C</li>\n  <li>A")),
    (LIST, "ul > li:nth-of-type(1)", "after", "ul > li:nth-of-type(2)",
     LIST.replace("  <li>A</li>\n", "").replace("  </li>\n", "  </li>\n  <li>A</li>\n")),
    (LIST, "ul > li:nth-of-type(2)", "before", "ol > li",
     LIST.replace("  <li>B\n    <b>b</b>\n  </li>\n", "").replace(
         "    <li>D", "    <li>B\n      <b>b</b>\n    </li>\n    <li>D")),
    (LIST, "ul > li:nth-of-type(1)", "before", "ul > li:nth-of-type(2)", LIST),
    ("<p><b>1</b> <i>2</i> <u>3</u></p>", "p > u", "before", "p > b", "<p><u>3</u> <b>1</b> <i>2</i></p>"),
    ("<p><b>1</b><i>2</i></p>", "p > b", "after", "p > i", "<p><i>2</i><b>1</b></p>"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "moved", "place", "target", "after"), MOVES)
def test_an_element_is_moved_with_its_lines(before: str, moved: str, place: str, target: str, after: str) -> None:
    goal = RenderedElement(path=f"body > {target}")
    assert _edit(before, f"body > {moved}", move=Move(target=goal, place=place)) == after  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("moved", "place", "target", "order"),
    [
        ((1, 3), "after", 4, "B D A C E"),
        ((1, 2), "after", 5, "C D E A B"),
        ((4, 5), "before", 1, "D E A B C"),
        ((1, 4), "after", 3, "B C A D E"),  # the second one is where it goes, and the first one before it
        ((2, 3), "after", 1, "A B C D E"),
    ],
)
def test_several_elements_are_moved_together_in_their_order(
    moved: tuple[int, ...], place: Place, target: int, order: str
) -> None:
    def source(names: str) -> str:
        items = "".join(f"  <li>{name}</li>\n" for name in names.split())
        return f"<ul>\n{items}</ul>\n"

    def element(number: int) -> RenderedElement:
        return RenderedElement(path=f"body > ul > li:nth-of-type({number})")

    before = source("A B C D E")
    move = Move(target=element(target), place=place)
    changes = [VisualChange(element=element(number), move=move) for number in moved]
    changed = edit_elements({"index.html": before.encode()}, "index.html", changes)
    assert changed.get("index.html", before.encode()).decode() == source(order)


def test_elements_of_jsx_are_moved_but_not_out_of_an_expression() -> None:
    script = "const A = () => (\n  <Card>\n    <h1>a</h1>\n    {on && <em>c</em>}\n    <p>b</p>\n  </Card>\n);\n"

    def move(moved: str, target: str) -> str:
        goal = RenderedElement(path="body > x", source=_place(script, target))
        mark = _place(script, moved)
        return _edit(script, mark, file="src/App.jsx", move=Move(target=goal, place="before"))

    assert move("<p", "<h1") == script.replace("    <p>b</p>\n", "").replace("    <h1", "    <p>b</p>\n    <h1")
    for moved, target in (("<em", "<h1"), ("<h1", "<em"), ("<h1", "<h1")):
        with pytest.raises(CannotEdit):
            move(moved, target)


def test_several_elements_change_in_one_edit() -> None:
    page = f"{TAILWIND}<p class='p-4'>a</p><p class='p-2'>b</p>"
    paths = ("body > p:nth-of-type(1)", "body > p:nth-of-type(2)")
    changes = [VisualChange(element=RenderedElement(path=path), style={"padding": "24px"}) for path in paths]
    changed = edit_elements({"index.html": page.encode()}, "index.html", changes)
    assert changed["index.html"].decode() == page.replace("p-4", "p-6").replace("p-2", "p-6")
    copies = "export default () => [1, 2].map((n) => <i key={n}>x</i>);\n"
    copy = VisualChange(element=RenderedElement(path="i", source=_place(copies, "<i")), style={"color": "red"})
    files = {"src/App.jsx": copies.encode(), "index.html": b""}
    assert edit_elements(files, "index.html", [copy, copy])["src/App.jsx"].count(b"color") == 1


@pytest.mark.parametrize(
    ("source", "mark", "change"),
    [
        ("<p className={x}>a</p>", "src/App.jsx:1:0", {"style": {"padding": "4px"}}),
        ("<p style={x}>a</p>", "src/App.jsx:1:0", {"style": {"padding": "4px"}}),
        ("<p>{x}</p>", "src/App.jsx:1:0", {"text": "b", "before": "a"}),
        ("<p><b>a</b></p>", "src/App.jsx:1:0", {"text": "b"}),
        ("<p>a</p>", "src/App.jsx:9:0", {"style": {"color": "red"}}),
        ("<p>a</p>", "src/None.jsx:1:0", {"style": {"color": "red"}}),
        ("<p>a</p>", "src/App.jsx:1:0", {"style": {"color": "red;}"}}),
        ("<img src={logo} />", "src/App.jsx:1:0", {"attributes": {"src": "b.png"}}),
        ("<p title='a", "src/App.jsx:1:0", {"text": "b"}),
    ],
)
def test_what_an_expression_makes_is_refused(source: str, mark: str, change: dict[str, Any]) -> None:
    element = VisualChange(element=RenderedElement(path="body > p", source=mark), **change)
    files = {"src/App.jsx": source.encode(), "index.html": TAILWIND.encode() if "className" in source else b""}
    with pytest.raises(CannotEdit) as caught:
        edit_elements(files, "index.html", [element])
    assert str(caught.value).endswith(".")


MERGED_RULES = [
    (".a{color:green}", ".a { color: green; margin: 0 4px; }"),
    (".a { COLOR: green; padding: 1px }", ".a { color: green; margin: 0 4px; padding: 1px; }"),
    (".c,.b{padding:9px}", ".b, .c { padding: 1px; padding-left: 3px; }\n.c, .b { padding: 9px; }"),
    (".b,.c{padding:9px}", ".b, .c { padding: 9px; }"),
    (".a,.x > li{color:green}", ".a { color: green; margin: 0 4px; }"),
    (".a,.x > li{color:green}", ".x > li { color: green; }\n@media"),
    ("@media print{.a{color:#000}}", "}\n@media print{.a{color:#000}}\n</style>"),
    (":is(.a,.b){color:red}", ":is(.a,.b) { color: red; }\n@media"),
]


@pytest.mark.parametrize(("css", "expected"), MERGED_RULES)
def test_rules_are_merged_into_those_with_the_same_selector(css: str, expected: str) -> None:
    sheet = ".a { color: red; margin: 0 4px; }\n.b, .c { padding: 1px; padding-left: 3px; }"
    page = f"<head><style>\n{sheet}\n@media (max-width: 9px) {{\n  .a {{ color: blue; }}\n}}\n</style></head>"
    merged = merge_rules({"index.html": page}, "index.html", css)
    assert expected in merged.texts["index.html"]
    assert "@media (max-width: 9px) {\n  .a { color: blue; }\n}" in merged.texts["index.html"]


def test_rules_are_merged_into_a_file_or_a_new_sheet() -> None:
    files = {"index.html": "<head></head>", "look.css": ".a{color:red}"}
    assert merge_rules(files, "index.html", ".a{color:blue}.b{top:0}").texts == {
        "look.css": ".a{color:blue}\n.b { top: 0; }\n"
    }
    page = merge_rules({"index.html": "<head></head>"}, "index.html", ".b{top:0}").texts["index.html"]
    assert page == "<head><style>\n.b { top: 0; }\n</style>\n</head>"
    for css in ("", "nothing", ".a{}"):
        with pytest.raises(CannotEdit):
            merge_rules(files, "index.html", css)
    with pytest.raises(CannotEdit):
        merge_rules({"App.jsx": ""}, "index.html", ".b{top:0}")
