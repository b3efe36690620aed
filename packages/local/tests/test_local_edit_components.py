"""Small changes in plain words in a project of several files: they are made in the component that shows the element."""

import pytest

from heald.core.messages import Message, Text
from heald.tools.workspace.memory import MemoryWorkspace
from heald_pictures.design_request import DesignRequest, FileSpan, SelectedElement, design_data
from local_support import Bench, needs_vision

pytestmark = needs_vision

HERO = """export default function Hero() {
  return (
    <section className="hero">
      <h1 className="title">Fresh bread</h1>
      <button type="button">Order now</button>
    </section>
  );
}
"""
FOOTER = """export default function SiteFooter() {
  return (
    <footer>
      <p>Open daily</p>
      <p>Order now</p>
    </footer>
  );
}
"""
FILES = {
    "index.html": '<!doctype html>\n<div id="root"></div>\n<script type="module" src="/src/main.jsx"></script>\n',
    "src/components/Hero.jsx": HERO,
    "src/components/SiteFooter.jsx": FOOTER,
}


def request(instruction: str, element: SelectedElement | None = None) -> Message:
    spans = [FileSpan(path, at, 0, len(text)) for at, (path, text) in enumerate(FILES.items())]
    design = DesignRequest(kind="update", instruction=instruction, element=element, files=spans, stack="react_vite")
    return Message(role="user", content=[Text(text) for text in FILES.values()], structured=design_data(design))


@pytest.mark.parametrize(
    ("words", "path", "before", "after"),
    [
        ("make the heading red", "Hero", 'className="title">', 'className="title" style={{ color: "red" }}>'),
        ('change "Fresh bread" to "Warm bread"', "Hero", ">Fresh bread<", ">Warm bread<"),
        ("change open daily to Closed", "SiteFooter", ">Open daily<", ">Closed<"),
        ('remove "Open daily"', "SiteFooter", "      <p>Open daily</p>\n", ""),
        ("remove the footer", "SiteFooter", FOOTER[FOOTER.index("<footer") : FOOTER.index("\n  );")], "null"),
    ],
)
async def test_the_component_with_the_element_is_changed(words: str, path: str, before: str, after: str) -> None:
    async with Bench(workspace=MemoryWorkspace(dict(FILES))) as bench:
        await bench.ask(request(words))
        name = f"src/components/{path}.jsx"
        assert bench.file(name) == FILES[name].replace(before, after)
        others = {file: text for file, text in FILES.items() if file != name}
        assert {file: bench.file(file) for file in others} == others


async def test_a_text_in_two_components_is_to_be_chosen() -> None:
    async with Bench(workspace=MemoryWorkspace(dict(FILES))) as bench:
        sentence = await bench.refusal(request('change "Order now" to "Buy"'))
        assert bench.calls() == []
    assert sentence.endswith("choose the element in the preview.")


async def test_a_chosen_element_is_changed_where_its_source_is() -> None:
    element = SelectedElement("<p>Order now</p>", "src/components/SiteFooter.jsx", 5)
    async with Bench(workspace=MemoryWorkspace(dict(FILES))) as bench:
        await bench.ask(request("make it red", element))
        assert '<p style={{ color: "red" }}>Order now</p>' in bench.file("src/components/SiteFooter.jsx")
