"""A document has no link within a link or a button."""

from heald_local.arrange.nested_links import unlink_nested
from heald_local.page import Node

LINK = Node("a", "link", attributes=(("href", "#"), ("class", "place")), lines=("All boats",))


def test_links_within_links_and_buttons_are_plain_words() -> None:
    words = Node("span", "link", attributes=(("class", "place"),), lines=("All boats",))
    sign = Node("span", "sign", lines=("❯",))
    for tag in ("a", "button"):
        item = Node(tag, "item", attributes=(("href", "#"),), children=(LINK, sign))
        [made] = unlink_nested((Node("li", "entry", children=(item,)),))
        [pressed] = made.children
        assert (pressed.tag, pressed.attributes) == (tag, (("href", "#"),))
        assert pressed.children == (words, sign)


def test_other_links_stay() -> None:
    page = (
        Node("h2", "title", attributes=(("href", "#"),), children=(LINK,)),
        Node("nav", "nav", children=(LINK, LINK)),
    )
    assert unlink_nested(page) == page
