"""A comparison becomes a better page; pictures become text; a page is written in two modes."""

from typing import Any

import pytest
from PIL import Image as Drawing

from heald_local.arrange.page import arrange
from heald_local.files import MOST_FILES, MOST_TEXT, embed_in_page, encode_as_files
from heald_local.model import Mode
from heald_local.page import Node, Page, walk_nodes
from heald_local.refine import apply_mode, correct_page
from heald_local.see.detect import detect_elements
from heald_pictures.colours import contrast
from heald_pictures.comparison import DifferenceKind, PageComparison, PageDifference
from heald_pictures.elements import Detection
from heald_pictures.rect import Rect
from heald_studio.score.differences import Difference
from heald_studio.score.score import Score
from heald_studio.tools.compare import comparison_of
from local_support import needs_vision, page

pytestmark = needs_vision

SEEN = Detection(400, 300, 1, False, "#ffffff", (), (), (), ())


def built(*nodes: Node) -> Page:
    return Page("Page", "en", 400, 300, (("padding-bottom", "50px"),), nodes, (), SEEN)


TITLE = Node("h1", "title", (("font-size", "30px"), ("margin-top", "10px")), lines=("Fresh bread",))
NOTE = Node("p", "note", (("white-space", "nowrap"), ("gap", "13px")), lines=("Every day", "but Monday"))


def difference(kind: DifferenceKind = "position", text: str = "Fresh bread", **values: Any) -> PageDifference:
    return PageDifference(kind=kind, text=text, **values)


def corrected(page: Page, *differences: PageDifference, mode: Mode = "fidelity") -> Page | None:
    return correct_page(page, PageComparison(score=0.957, differences=differences), mode)


def test_a_comparison_is_passed_as_data() -> None:
    differences = tuple(
        Difference("height", (1, 2, 3, 4), "Whatever.", detail) for detail in (difference("height"), None)
    )
    score = Score(block=0.9, text=1, position=0.8, colour=1, ssim=1, differences=differences)
    assert comparison_of(score) == PageComparison(score=0.957, differences=(difference("height"),))


def test_colours_texts_places_and_the_height_are_corrected() -> None:
    better = corrected(
        built(TITLE, NOTE),
        difference("colour", colour="#222222"),
        difference(right=12, down=20),
        difference("height", "", down=40),
    )
    assert better is not None
    style = dict(better.body[0].style)
    assert (style["color"], style["margin-top"], style["margin-left"]) == ("#222222", "-10px", "-12px")
    assert dict(better.style)["padding-bottom"] == "10px"
    assert better.body[1] == NOTE
    reads = corrected(built(TITLE), difference("text", "Fresh bread!", page_text="Fresh bread"))
    assert reads is not None
    assert reads.body[0].lines == ("Fresh bread!",)


def test_a_long_text_is_found_by_its_beginning_and_not_replaced() -> None:
    long = "A text of more than sixty letters, which is wrapped somewhere in the page"
    page = built(Node("p", "text", lines=(f"{long}, and goes on",)))
    better = corrected(page, difference("colour", long, colour="#222222"))
    assert better is not None
    assert dict(better.body[0].style)["color"] == "#222222"
    assert corrected(page, difference("text", "Other words", page_text=long)) is None


def test_the_responsive_mode_is_not_pinned_to_places() -> None:
    assert corrected(built(TITLE), difference(right=12), mode="responsive") is None
    assert corrected(built(TITLE), difference(right=12)) is not None


@pytest.mark.parametrize(
    "change",
    [
        difference(down=2),
        difference(down=900),
        difference(),
        difference("colour", "Nobody says this", colour="#222222"),
        difference("missing"),
        difference("height", "", down=400),
        difference("picture", ""),
    ],
)
def test_what_cannot_be_corrected_is_left(change: PageDifference) -> None:
    assert corrected(built(TITLE, NOTE), change) is None


def test_the_highest_misplaced_text_is_moved_and_no_other() -> None:
    second = Node("h2", "second", lines=("More",))
    better = corrected(built(TITLE, second), difference(text="More", down=30), difference(down=30))
    assert better is not None
    assert dict(better.body[0].style)["margin-top"] == "-20px"
    assert better.body[1] == second


def test_the_responsive_mode_flows() -> None:
    grid = Node(
        "div", "cards", (("width", "620px"), ("gap", "10px"), ("grid-template-columns", "repeat(3, minmax(0, 1fr))"))
    )
    page_ = apply_mode(built(NOTE, grid), "responsive")
    assert page_.body[0].lines == ("Every day but Monday",)
    assert dict(page_.body[0].style) == {"gap": "12px"}
    assert dict(page_.body[1].style)["grid-template-columns"] == "repeat(auto-fit, minmax(min(100%, 180px), 1fr))"
    assert apply_mode(built(NOTE), "fidelity") == built(NOTE)


def noise(width: int, height: int) -> bytes:
    import io

    out = io.BytesIO()
    Drawing.effect_noise((width, height), 100).convert("RGB").save(out, "PNG")
    return out.getvalue()


def test_pictures_fit_through_events() -> None:
    assets = {f"assets/photo-{number}.png": noise(1000, 800) for number in range(4)}
    carried = encode_as_files(assets)
    assert all(len(text) < 900_000 for text in carried.files.values())
    assert sum(map(len, carried.files.values())) < MOST_TEXT + 10_000
    assert carried.fill('<img src="assets/photo-1.png">') == '<img src="assets/photo-1.svg">'


def test_too_many_pictures_go_into_the_page() -> None:
    assets = {f"assets/icon-{number}.png": noise(8, 8) for number in range(MOST_FILES + 5)}
    carried = encode_as_files(assets)
    assert len(carried.files) == MOST_FILES
    assert sum(place.startswith("data:") for place in carried.places.values()) == 5
    assert "assets/icon-1.png" not in embed_in_page(assets).fill("assets/icon-1.png assets/icon-11.png")


def test_a_seen_page_has_what_the_tools_of_the_studio_crop() -> None:
    seen = detect_elements(page())
    assert [asset[0] for asset in arrange(seen).assets] == [f"assets/{picture.name}.png" for picture in seen.pictures]
    assert any(picture.rect.common(Rect(260, 210, 180, 120)) > 15_000 for picture in seen.pictures)


GREY = difference("colour", "9:41", colour="#707579")


def _mail(colour: str) -> Page:
    row = Node(
        "div", "row", (("background", "#e2e8f0"),), children=(Node("p", "text", (("color", colour),), lines=("9:41",)),)
    )
    seen = Detection(400, 300, 1, False, "#ffffff", (), (), (), ())
    return Page("Mail", "en", 400, 300, (("background", "#ffffff"),), (row,), (), seen)


def test_a_colour_is_corrected_as_far_as_it_can_be_read() -> None:
    better = corrected(_mail("#202124"), GREY)
    assert better is not None
    (colour,) = [dict(node.style)["color"] for node in walk_nodes(better.body) if node.lines]
    assert colour != "#202124"
    assert contrast(colour, "#e2e8f0") >= 4.5


def test_a_page_that_is_as_near_as_it_may_be_is_not_corrected_a_second_time() -> None:
    once = corrected(_mail("#202124"), GREY)
    assert once is not None
    assert corrected(once, GREY) is None
