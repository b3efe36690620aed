"""Columns of a page in windows that are taller than its picture."""

from heald_local.arrange.page import arrange
from vision_pages import box, seen, text


def test_a_column_that_ends_with_the_picture_grows_with_the_window() -> None:
    words = [text(24, 30, "Northwind", 20, 700, "#ffffff"), text(24, 100, "Overview", 15, 400, "#ffffff")]
    main = [text(280, 40, "Orders of the week", 30, 700), text(280, 100, "All that was ordered since Monday.", 15)]
    row = arrange(seen(box(0, 0, 240, 800, "#1e293b"), *words, *main)).body[-1]
    assert dict(row.style)["flex"] == "1 0 auto"
    assert dict(row.style)["align-items"] == "stretch"
    assert [dict(child.style).get("align-self") for child in row.children] == [None, "flex-start"]


def test_a_page_of_plain_texts_does_not_grow() -> None:
    page = arrange(seen(text(80, 40, "Orders of the week", 30, 700), text(80, 100, "All that was ordered.", 15)))
    assert all("flex" not in dict(node.style) for node in page.body)
