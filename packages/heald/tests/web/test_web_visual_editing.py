"""Editing in the preview itself: several elements, dragging, handles, layers, text in place, tokens and breakpoints."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from page_support import Visit
from playwright.async_api import FrameLocator, Locator, expect

HEAD = """<!doctype html>
<html lang="en"><head><title>Harbour Cafe</title>
<script src="https://cdn.tailwindcss.com"></script>
"""
PAGE = f"""{HEAD}<script>tailwind.config = {{ theme: {{ extend: {{ colors: {{ brand: "#0f766e" }} }} }} }}</script>
</head>
<body>
<main class="p-8">
  <h1 class="text-2xl">Coffee</h1>
  <ul class="p-4">
    <li class="p-2">First</li>
    <li class="p-2">Second</li>
    <li class="p-2">Third</li>
  </ul>
</main>
</body></html>
"""
PLAIN = re.sub("<script.*</script>", "", PAGE)
"""The same without a compiler of styles, whose work at each load is half of what such a test needs."""
REACT = f"""{HEAD}<script src="https://cdn.jsdelivr.net/npm/react@18.3.1/umd/react.production.min.js"></script>
<script src="https://cdn.jsdelivr.net/npm/react-dom@18.3.1/umd/react-dom.production.min.js"></script>
<script src="https://cdn.jsdelivr.net/npm/@babel/standalone@7/babel.min.js"></script>
</head><body><div id="root"></div>
<script type="text/babel">
  const drinks = ["First", "Second", "Third"];
  function App() {{
    return (
      <main className="p-8">
        <h1 className="text-2xl">Coffee</h1>
        <p className="m-2">Don't wait</p>
        <ul>{{drinks.map((drink) => <li key={{drink}} className="p-2">{{drink}}</li>)}}</ul>
      </main>
    );
  }}
  ReactDOM.createRoot(document.getElementById("root")).render(<App />);
</script></body></html>
"""
VUE = f"""{HEAD}<script src="https://cdn.jsdelivr.net/npm/vue@3/dist/vue.global.prod.js"></script>
</head><body>
<div id="app"><h1 class="text-2xl">Coffee</h1>
<ul><li v-for="drink in drinks" class="p-2">{{{{ drink }}}}</li></ul><site-foot></site-foot></div>
<script>
  const Foot = {{ template: `<footer><p class="m-2">Open daily</p></footer>` }};
  const drinks = ["First", "Second", "Third"];
  Vue.createApp({{ setup: () => ({{ drinks }}) }}).component("site-foot", Foot).mount("#app");
</script></body></html>
"""
SHEET = """<!doctype html>
<html lang="en"><head><title>Harbour Cafe</title>
<style>
  :root { --brand: #0f766e; --font-display: Georgia, serif; }
  h1 { margin: 8px }
  .drinks li {
    padding: 8px;
    transition: padding 9s;
  }
  .drinks .first { color: #102030 }
</style></head>
<body><h1>Coffee</h1><ul class="drinks"><li class="first">First</li><li>Second</li></ul></body></html>
"""
TEXTS = "items => items.map(item => item.textContent)"


def stage(visit: Visit) -> FrameLocator:
    return visit.page.locator(".stage").frame_locator("iframe.shown")


def panel_of(visit: Visit) -> Locator:
    return visit.page.get_by_role("form", name="Change the element")


async def open_editor(visit: Visit, source: str = PAGE, *, device: str = "Desktop") -> None:
    """Import a page, show it in its own size, and begin to edit it."""
    page = visit.page
    await page.evaluate("location.hash = '#/'")
    file = {"name": "cafe.html", "mimeType": "text/html", "buffer": source.encode()}
    await page.locator("input[type=file]").first.set_input_files([file])  # pyright: ignore[reportArgumentType]
    await page.get_by_role("button", name="Import", exact=True).click()
    await expect(stage(visit).locator("h1")).to_have_text("Coffee")
    await page.get_by_role("radio", name=device).click()
    await page.get_by_role("radio", name="100 %").click()
    await page.get_by_role("button", name="Select and edit").click()


@asynccontextmanager
async def new_version(visit: Visit, version: int) -> AsyncIterator[None]:
    """What happens inside makes this version; wait until the stage shows it."""
    frame = visit.page.locator(".stage iframe.shown")
    earlier = await frame.get_attribute("data-key") or ""
    yield
    await expect(visit.page.get_by_label("Version", exact=True).locator("option")).to_have_count(version)
    await expect(frame).not_to_have_attribute("data-key", earlier)


async def apply(visit: Visit, version: int) -> None:
    """Apply what was changed, and wait until the new version is shown."""
    async with new_version(visit, version):
        await panel_of(visit).get_by_role("button", name="Apply as new version").click()


async def expect_code(visit: Visit, *parts: str) -> None:
    """The source holds these parts; the preview is shown again afterwards."""
    page = visit.page
    await page.get_by_role("tab", name="Code").click()
    content = page.get_by_label("Content of index.html")
    for part in parts:
        await expect(content).to_contain_text(part)
    await expect(content).not_to_contain_text("data-heald")
    await page.get_by_role("tab", name="Preview").click()


async def test_several_elements_change_together_and_are_undone_together(visit: Visit) -> None:
    await open_editor(visit)
    items = stage(visit).locator("li")
    await items.nth(0).click()
    await items.nth(1).click(modifiers=["Shift"])
    panel = panel_of(visit)
    await expect(panel).to_contain_text("Change 2 elements")
    await panel.get_by_label("Padding", exact=True).fill("24px")
    await panel.get_by_label("Colour: token").select_option("theme(colors.brand)")
    for at, padding in ((0, "24px"), (1, "24px"), (2, "8px")):
        await expect(items.nth(at)).to_have_css("padding-top", padding)
    await expect(items.nth(0)).to_have_css("color", "rgb(15, 118, 110)")
    assert await visit.axe() == []
    await apply(visit, 2)
    await expect(items.nth(1)).to_have_css("padding-top", "24px")
    await expect(items.nth(1)).to_have_css("outline-style", "solid")
    changed = ('<li class="p-6 text-brand">First', '<li class="p-6 text-brand">Second', '<li class="p-2">Third')
    await expect_code(visit, *changed)
    await visit.page.get_by_role("button", name=re.compile("^Undo")).click()
    await expect(items.nth(0)).to_have_css("padding-top", "8px")


async def drag_below(visit: Visit, moved: Locator, target: Locator) -> None:
    start, goal = await moved.bounding_box(), await target.bounding_box()
    assert start is not None
    assert goal is not None
    mouse = visit.page.mouse
    await mouse.move(start["x"] + 60, start["y"] + start["height"] / 2)
    await mouse.down()
    await mouse.move(goal["x"] + 70, goal["y"] + goal["height"] / 2, steps=4)
    await mouse.move(goal["x"] + 70, goal["y"] + goal["height"] - 3)
    await mouse.up()


async def test_elements_are_dragged_to_another_place(visit: Visit) -> None:
    await open_editor(visit, PLAIN)
    items = stage(visit).locator("li")
    await items.nth(0).click()
    async with new_version(visit, 2):
        await drag_below(visit, items.nth(0), items.nth(2))
    await expect(items).to_have_text(["Second", "Third", "First"])
    await expect(items.nth(2)).to_have_css("outline-style", "solid")
    await expect(panel_of(visit).get_by_label("Text", exact=True)).to_have_value("First")
    await items.nth(1).click()
    await items.nth(0).click(modifiers=["Shift"])
    await expect(panel_of(visit)).to_contain_text("Change 2 elements")
    async with new_version(visit, 3):
        await drag_below(visit, items.nth(1), items.nth(2))
    await expect(items).to_have_text(["First", "Second", "Third"])
    for at in (1, 2):
        await expect(items.nth(at)).to_have_css("outline-style", "solid")
    await expect(panel_of(visit)).to_contain_text("Change 2 elements")


async def test_spaces_are_dragged_by_handles(visit: Visit) -> None:
    await open_editor(visit, device="Mobile")  # the middle of a wide page is below the panel
    target = stage(visit).locator("ul")
    await target.click(position={"x": 4, "y": 4})
    panel = panel_of(visit)
    await expect(panel.get_by_label("Padding", exact=True)).to_have_value("16px")
    box = await target.bounding_box()
    assert box is not None
    mouse = visit.page.mouse
    middle, top = box["x"] + box["width"] / 2, box["y"] + 8
    await mouse.move(middle, top)
    await mouse.down()
    await mouse.move(middle, top + 9, steps=3)
    await mouse.move(middle, top + 17)
    await expect(target).to_have_css("padding-top", "32px")
    await mouse.up()
    await expect(panel.get_by_label("Padding", exact=True)).to_have_value("32px 16px 16px")
    await panel.get_by_label("Look applies to").select_option("All widths")
    await apply(visit, 2)
    await expect_code(visit, '<ul class="p-4 pt-8">')


async def test_an_edit_at_a_narrow_width_leaves_the_wide_page_alone(visit: Visit) -> None:
    page = visit.page
    await open_editor(visit, device="Mobile")
    items = stage(visit).locator("li")
    await items.nth(0).click()
    panel = panel_of(visit)
    await expect(panel.get_by_label("Look applies to")).to_have_value("640")
    await panel.get_by_label("Padding", exact=True).fill("24px")
    await apply(visit, 2)
    await expect(items.nth(0)).to_have_css("padding-top", "24px")
    await page.get_by_role("radio", name="Desktop").click()
    await expect(items.nth(0)).to_have_css("padding-top", "8px")
    await expect_code(visit, '<li class="p-2 max-sm:p-6">First')


async def test_a_style_sheet_is_edited_where_its_rule_styles_only_what_is_selected(visit: Visit) -> None:
    await open_editor(visit, SHEET, device="Mobile")
    items = stage(visit).locator("li")
    await items.nth(0).click()
    panel = panel_of(visit)
    await panel.get_by_label("Look applies to").select_option("All widths")
    await panel.get_by_label("Colour: token").select_option("var(--brand)")
    await panel.get_by_label("Font: token").select_option("var(--font-display)")
    await apply(visit, 2)
    await expect(items.nth(0)).to_have_css("color", "rgb(15, 118, 110)")
    await items.nth(1).click(modifiers=["Shift"])
    await expect(panel).to_contain_text("Change 2 elements")
    await panel.get_by_label("Look applies to").select_option("All widths")
    await panel.get_by_label("Padding", exact=True).fill("24px")
    await apply(visit, 3)
    await stage(visit).locator("h1").click()
    await panel.get_by_label("Margin", exact=True).fill("0px")
    await apply(visit, 4)
    changed = (".first { color: var(--brand); font-family: var(--font-display); }", "padding: 24px;")
    await expect_code(visit, *changed, "h1 { margin: 0px; }", '<li class="first">First</li><li>Second</li>')


async def test_layers_select_and_move(visit: Visit) -> None:
    page = visit.page
    await open_editor(visit, PLAIN)
    await page.get_by_role("button", name="Layers", exact=True).click()
    tree = page.get_by_role("tree", name="Elements")
    await tree.get_by_role("treeitem", name="li Third").click()
    await expect(panel_of(visit).get_by_label("Text", exact=True)).to_have_value("Third")
    await expect(tree.get_by_role("treeitem", name="li Third")).to_have_attribute("aria-selected", "true")
    assert await visit.axe() == []
    frame = page.locator(".stage iframe.shown")
    earlier = await frame.get_attribute("data-key") or ""
    await tree.get_by_role("treeitem", name="li Third").press("Alt+ArrowUp")
    await expect(page.get_by_label("Version", exact=True).locator("option")).to_have_count(2)
    items = stage(visit).locator("li")
    await expect(frame).not_to_have_attribute("data-key", earlier)  # the new version is shown
    await expect(items.nth(1)).to_have_text("Third")
    await expect(items.nth(1)).to_have_css("outline-style", "solid")
    await tree.get_by_role("treeitem", name="li First").click(modifiers=["Shift"])
    await expect(panel_of(visit)).to_contain_text("Change 2 elements")
    async with new_version(visit, 3):
        await tree.get_by_role("treeitem", name="li First").press("Alt+ArrowDown")
    await expect(items).to_have_text(["Second", "First", "Third"])
    await expect(panel_of(visit)).to_contain_text("Change 2 elements")
    await tree.get_by_role("treeitem", name="ul", exact=True).press("ArrowLeft")
    await expect(tree.get_by_role("treeitem", name="li First")).to_have_count(0)
    await page.get_by_role("button", name="Close the layers").click()
    await expect(tree).to_have_count(0)


async def test_a_text_is_written_in_place(visit: Visit) -> None:
    await open_editor(visit, PLAIN)
    heading = stage(visit).locator("h1")
    await heading.dblclick()
    await expect(heading).to_be_focused()
    await visit.page.keyboard.type("Tea & cake")
    await visit.page.keyboard.press("Enter")
    await expect(panel_of(visit).get_by_label("Text", exact=True)).to_have_value("Tea & cake")
    await expect(heading).to_have_text("Tea & cake")
    await apply(visit, 2)
    await expect_code(visit, '<h1 class="text-2xl">Tea &amp; cake</h1>')


async def test_what_react_and_vue_make_is_edited_in_its_code(visit: Visit) -> None:
    for source, paragraph, changed in (
        (REACT, '<p className="m-4">Do wait</p>', 'className="p-6">{drink}'),
        (VUE, '<p class="m-4">Do wait</p>', 'class="p-6">{{ drink }}'),
    ):
        await open_editor(visit, source)
        items = stage(visit).locator("li")
        await items.nth(1).click()
        panel = panel_of(visit)
        await expect(panel).to_contain_text("makes 3 of these")
        await panel.get_by_label("Padding", exact=True).fill("24px")
        for at in range(3):
            await expect(items.nth(at)).to_have_css("padding-top", "24px")
        await apply(visit, 2)
        await expect(items.nth(0)).to_have_class("p-6")  # the new version is shown
        await stage(visit).locator("p").click()
        await panel.get_by_label("Text", exact=True).fill("Do wait")
        await panel.get_by_label("Margin", exact=True).fill("16px")
        await apply(visit, 3)
        await expect(stage(visit).locator("p")).to_have_text("Do wait")
        await expect_code(visit, paragraph, changed)


async def test_a_locked_element_is_neither_edited_nor_moved(visit: Visit) -> None:
    page = visit.page
    visit.expected.append("409")
    await open_editor(visit, PLAIN)
    items = stage(visit).locator("li")
    await items.nth(0).click()
    locks = page.get_by_role("group", name="Lock the element")
    await locks.get_by_role("button", name="Element").click()
    await expect(locks.get_by_role("button", name="Element")).to_have_attribute("aria-pressed", "true")
    await panel_of(visit).get_by_label("Colour", exact=True).fill("#b00020")
    await panel_of(visit).get_by_role("button", name="Apply as new version").click()
    await expect(page.get_by_text("is locked").first).to_be_visible()
    await panel_of(visit).get_by_role("button", name="Reset").click()
    await page.get_by_role("button", name="Layers", exact=True).click()
    await page.get_by_role("button", name="Move behind").click()
    await expect(items.nth(1)).to_have_text("First")  # shown at once
    await expect(items.nth(0)).to_have_text("First")  # and taken back
    await expect(page.get_by_label("Version", exact=True).locator("option")).to_have_count(1)
    await page.get_by_role("button", name="Close the layers").click()
