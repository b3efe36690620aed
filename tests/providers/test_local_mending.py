"""What a comparison says becomes a better page; pictures become text; a page is written in two ways."""

import pytest
from local_support import needs_vision, page
from PIL import Image as Drawing

from weft.providers.local.mending import mended, score_in
from weft.providers.local.pictures import MOST_FILES, MOST_TEXT, as_files, as_text
from weft.providers.local.ways import written
from weft.studio.score.difference import Difference
from weft.studio.score.score import Score
from weft.studio.tools.comparing import told
from weft.vision import Page, arrange, see
from weft.vision.geometry import Rect
from weft.vision.page import Node
from weft.vision.seen import Seen

pytestmark = needs_vision

SEEN = Seen(400, 300, 1, False, "#ffffff", (), (), (), ())


def built(*nodes: Node) -> Page:
    return Page("Page", "en", 400, 300, (("padding-bottom", "50px"),), nodes, (), SEEN)


TITLE = Node("h1", "title", (("font-size", "30px"), ("margin-top", "10px")), lines=("Fresh bread",))
NOTE = Node("p", "note", (("white-space", "nowrap"), ("gap", "13px")), lines=("Every day", "but Monday"))


def compared(*sentences: str) -> str:
    """As the studio's tool tells it."""
    found = tuple(Difference("text", (1, 2, 3, 4), sentence) for sentence in sentences)
    return told(Score(block=0.9, text=1, position=0.8, colour=1, ssim=1, differences=found))


def test_the_score_is_found_in_what_the_tool_says() -> None:
    assert score_in(compared()) == 0.94
    assert score_in("There is no browser here.") is None


def test_colours_texts_places_and_the_height_are_mended() -> None:
    text = compared(
        "“Fresh bread” is #111111 instead of #222222.",
        "“Fresh bread” is 12 px too far right and 20 px too low.",
        "The page is 40 px taller than the target.",
    )
    better = mended(built(TITLE, NOTE), text, "fidelity")
    assert better is not None
    style = dict(better.body[0].style)
    assert (style["color"], style["margin-top"], style["margin-left"]) == ("#222222", "-10px", "-12px")
    assert dict(better.style)["padding-bottom"] == "10px"
    assert better.body[1] == NOTE
    reads = mended(built(TITLE), compared("“Fresh bread!” reads “Fresh bread”."), "fidelity")
    assert reads is not None
    assert reads.body[0].lines == ("Fresh bread!",)


def test_the_way_that_flows_is_not_pinned_to_places() -> None:
    text = compared("“Fresh bread” is 12 px too far right.")
    assert mended(built(TITLE), text, "responsive") is None
    assert mended(built(TITLE), text, "fidelity") is not None


@pytest.mark.parametrize(
    "sentence",
    [
        "“Fresh bread” is 2 px too low.",
        "“Fresh bread” is 900 px too low.",
        "“Fresh bread” is moved by the height of the page.",
        "“Nobody says this” is #111111 instead of #222222.",
        "“Fresh bread” at (1, 2) is missing.",
        "The page is 400 px taller than the target.",
        "The area of 10 × 10 px at (1, 2) looks different.",
    ],
)
def test_what_cannot_be_mended_is_left(sentence: str) -> None:
    assert mended(built(TITLE, NOTE), compared(sentence), "fidelity") is None


def test_the_highest_misplaced_text_is_moved_and_no_other() -> None:
    second = Node("h2", "second", lines=("More",))
    text = compared("“More” is 30 px too low.", "“Fresh bread” is 30 px too low.")
    better = mended(built(TITLE, second), text, "fidelity")
    assert better is not None
    assert dict(better.body[0].style)["margin-top"] == "-20px"
    assert better.body[1] == second


def test_the_responsive_way_flows() -> None:
    grid = Node(
        "div", "cards", (("width", "620px"), ("gap", "10px"), ("grid-template-columns", "repeat(3, minmax(0, 1fr))"))
    )
    page_ = written(built(NOTE, grid), "responsive")
    assert page_.body[0].lines == ("Every day but Monday",)
    assert dict(page_.body[0].style) == {"gap": "12px"}
    assert dict(page_.body[1].style)["grid-template-columns"] == "repeat(auto-fit, minmax(min(100%, 180px), 1fr))"
    assert written(built(NOTE), "fidelity") == built(NOTE)


def noise(width: int, height: int) -> bytes:
    import io

    out = io.BytesIO()
    Drawing.effect_noise((width, height), 100).convert("RGB").save(out, "PNG")
    return out.getvalue()


def test_pictures_fit_through_events() -> None:
    assets = {f"assets/photo-{number}.png": noise(1000, 800) for number in range(4)}
    carried = as_files(assets)
    assert all(len(text) < 900_000 for text in carried.files.values())
    assert sum(map(len, carried.files.values())) < MOST_TEXT + 10_000
    assert carried.fill('<img src="assets/photo-1.png">') == '<img src="assets/photo-1.svg">'


def test_too_many_pictures_go_into_the_page() -> None:
    assets = {f"assets/icon-{number}.png": noise(8, 8) for number in range(MOST_FILES + 5)}
    carried = as_files(assets)
    assert len(carried.files) == MOST_FILES
    assert sum(place.startswith("data:") for place in carried.places.values()) == 5
    assert "assets/icon-1.png" not in as_text(assets).fill("assets/icon-1.png assets/icon-11.png")


def test_a_seen_page_has_what_the_tools_of_the_studio_crop() -> None:
    seen = see(page())
    assert [asset[0] for asset in arrange(seen).assets] == [f"assets/{picture.name}.png" for picture in seen.pictures]
    assert any(picture.rect.common(Rect(260, 210, 180, 120)) > 15_000 for picture in seen.pictures)
