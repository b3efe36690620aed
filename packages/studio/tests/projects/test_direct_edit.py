"""An element is changed in the source of its page, without a model."""

import pytest

from heald_studio.projects.direct_edit import CannotEdit, ElementChange, edit_element

PAGE = """<!doctype html>
<html><head><title>Harbour</title></head>
<body>
<header><b>Harbour</b></header>
<section><p>One</p><p class="x" style="color: red; margin: 0">Two &amp; three<br></p></section>
<section><h1>Boats</h1><img src="a.png"><ul><li>A</li><li>B</li></ul></section>
</body></html>
"""


def _edit(**change: object) -> str:
    element_change = ElementChange(**change)  # pyright: ignore[reportArgumentType]
    return edit_element({"index.html": PAGE.encode()}, "index.html", element_change)["index.html"].decode()


def test_a_text_is_written_where_it_stands() -> None:
    changed = _edit(path="body > section:nth-of-type(2) > h1", text="Ships & <boats>")
    assert changed == PAGE.replace("<h1>Boats</h1>", "<h1>Ships &amp; &lt;boats&gt;</h1>")
    assert "<li>C</li></ul>" in _edit(path="body > section:nth-of-type(2) > ul > li:nth-of-type(2)", text="C")


def test_styles_are_merged_and_attributes_set() -> None:
    path = "body > section:nth-of-type(1) > p:nth-of-type(2)"
    changed = _edit(path=path, style={"color": "#102030", "padding": "4px"})
    assert '<p class="x" style="color: #102030; margin: 0; padding: 4px">' in changed
    assert '<p class="x" style="margin: 0">' in _edit(path=path, style={"color": ""})
    assert '<b style="font-size: 20px">Harbour</b>' in _edit(path="body > header > b", style={"font-size": "20px"})
    image = _edit(path="body > section:nth-of-type(2) > img", attributes={"src": 'b.png" onerror="x'})
    assert '<img src="b.png&quot; onerror=&quot;x">' in image


@pytest.mark.parametrize(
    "change",
    [
        {"path": "body > section:nth-of-type(2)", "text": "x"},
        {"path": "body > section:nth-of-type(9) > h1", "style": {"color": "red"}},
        {"path": "body > header > b", "style": {"color": "red; position: fixed"}},
        {"path": "body > header > b", "style": {"co<lor": "red"}},
        {"path": "nothing > here", "text": "x", "before": "Harbour"},  # it stands there twice
    ],
)
def test_what_cannot_be_done_is_one_sentence(change: dict[str, object]) -> None:
    with pytest.raises(CannotEdit) as caught:
        _edit(**change)
    assert str(caught.value).endswith(".")


def test_a_text_that_a_script_writes_is_replaced_where_it_occurs_once() -> None:
    files = {"index.html": b"<div id=root></div>", "src/App.jsx": b"export default () => <h1>Boats</h1>"}
    change = ElementChange(path="body > div > h1", text="Ships", before="Boats")
    assert edit_element(files, "index.html", change) == {"src/App.jsx": b"export default () => <h1>Ships</h1>"}
