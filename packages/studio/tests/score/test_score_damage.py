"""The score: exactly 1 for a page against itself, and lower the more is wrong."""

from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from heald_studio.browser.page import TextBlock
from heald_studio.score.heat_map import heat_map
from heald_studio.score.page_image import PageImage, PictureError
from heald_studio.score.score import Score, score
from score_support import CARDS, HEIGHT, WIDTH, WORDS, Card, Word, drawn

TARGET = drawn()
PARTS = ("block", "text", "position", "colour", "ssim")


def parts(result: Score) -> tuple[float, ...]:
    return tuple(getattr(result, name) for name in PARTS)


def test_a_page_against_itself() -> None:
    result = score(TARGET, TARGET)
    assert parts(result) == (1.0, 1.0, 1.0, 1.0, 1.0)
    assert result.overall == 1.0
    assert result.differences == ()


def test_pages_without_text_against_themselves() -> None:
    bare = drawn(words=())
    assert parts(score(bare, bare)) == (1.0,) * 5
    assert parts(score(TARGET, bare))[:4] == (0.0,) * 4


def moved(step: int) -> PageImage:
    return drawn([word._replace(x=word.x + 6 * step, y=word.y + 9 * step) for word in WORDS])


def recoloured(step: int) -> PageImage:
    def shift(colour: tuple[int, int, int]) -> tuple[int, int, int]:
        red, green, blue = colour
        return red, min(255, green + 12 * step), blue

    return drawn([word._replace(colour=shift(word.colour)) for word in WORDS])


def misspelt(step: int) -> PageImage:
    return drawn([word._replace(text=word.text[: len(word.text) - step] + "#" * step) for word in WORDS])


def without_words(step: int) -> PageImage:
    return drawn(WORDS[: len(WORDS) - step])


def without_cards(step: int) -> PageImage:
    return drawn(cards=CARDS[: len(CARDS) - step])


def with_more_words(step: int) -> PageImage:
    return drawn([*WORDS, *(Word(f"Invented sentence {'abcdef'[n] * 6}", 330, 480 + 20 * n, 12) for n in range(step))])


def darker(step: int) -> PageImage:
    return drawn(ground=(250 - 30 * step, 250 - 30 * step, 248 - 30 * step))


DAMAGE: dict[str, tuple[Callable[[int], PageImage], int, tuple[str, ...]]] = {
    "moved": (moved, 6, ("position",)),
    "recoloured": (recoloured, 6, ("colour",)),
    "misspelt": (misspelt, 3, ("text",)),
    "without words": (without_words, 10, ("block",)),
    "without cards": (without_cards, 5, ("ssim",)),
    "with more words": (with_more_words, 5, ("block",)),
    "darker": (darker, 6, ("ssim",)),
}


@pytest.mark.parametrize(("damage", "steps", "falling"), DAMAGE.values(), ids=DAMAGE.keys())
def test_it_falls_as_the_damage_grows(damage: Callable[[int], PageImage], steps: int, falling: Sequence[str]) -> None:
    results = [score(TARGET, damage(step)) for step in range(0, steps + 1, 2)]
    assert results[0].overall == 1.0
    for before, after in pairwise(results):
        assert after.overall < before.overall
        for name in falling:
            assert getattr(after, name) < getattr(before, name)
    assert results[-1].differences


def test_either_may_be_the_target() -> None:
    shifted, tinted = moved(3), recoloured(4)
    forth, back = score(shifted, tinted), score(tinted, shifted)
    assert parts(forth) == pytest.approx(parts(back))


def test_better_copies_score_higher() -> None:
    """The order that people give to them: the close copy, the rough one, another page of the same site, nothing."""
    close = drawn([word._replace(x=word.x + 2) for word in WORDS], [card._replace(w=card.w + 4) for card in CARDS])
    rough = drawn(
        [Word(word.text, 40, 20 + 48 * n) for n, word in enumerate(WORDS[:-2])], [CARDS[0]._replace(colour=(0, 0, 0))]
    )
    wrong = drawn(
        [*WORDS[:3], *(Word(f"Lorem ipsum {'xyzuvw'[n] * 5}", 40 + 80 * n, 120 + 70 * n, 18) for n in range(6))],
        [Card(0, 80, 300, 520, (60, 20, 90))],
    )
    blank = drawn((), (), ground=(255, 255, 255))
    scores = [score(TARGET, copy).overall for copy in (TARGET, close, rough, wrong, blank)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 5
    assert scores[1] > 0.95 > scores[2] > scores[3] > 0.2 > scores[4]


def test_lines_that_break_elsewhere_cost_nothing() -> None:
    """The same paragraph in other lines: text and block stay whole."""
    sentence = "The ferry leaves at seven every morning and comes back at noon with the mail and the bread"
    words = sentence.split()

    def broken(count: int) -> PageImage:
        lines = [" ".join(words[at : at + count]) for at in range(0, len(words), count)]
        return drawn([Word(line, 40, 40 + 22 * n) for n, line in enumerate(lines)], ())

    result = score(broken(6), broken(7))
    assert result.block == 1.0
    assert result.text == 1.0
    assert result.position > 0.95


def test_one_line_in_two_pieces() -> None:
    whole = drawn([Word("Sign in to your account", 40, 40)], ())
    pieces = drawn([Word("Sign in to", 40, 40), Word("your account", 115, 40)], ())
    result = score(whole, pieces)
    assert result.block == 1.0
    assert result.text > 0.95


def test_equal_texts_are_matched_by_place() -> None:
    buttons = [Word("Add to basket", x, y) for y in (40, 240, 440) for x in (40, 300, 560)]
    result = score(drawn(buttons, ()), drawn(buttons[3:], ()))
    assert result.position == 1.0
    assert result.block < 1
    assert {difference.box[1] // 100 for difference in result.differences} == {0}, "the first row is what is missing"


def test_differences_state_what_is_wrong() -> None:
    copy = drawn(
        [
            WORDS[0]._replace(colour=(0, 0, 255)),
            WORDS[1]._replace(x=400, y=28),
            WORDS[2]._replace(text="Contract"),
            *WORDS[3:7],
            *WORDS[8:],
            Word("Never asked for", 300, 520),
        ],
        [*CARDS[:1], CARDS[1]._replace(colour=(0, 0, 0)), *CARDS[2:]],
    )
    differences = {difference.kind: difference for difference in score(TARGET, copy).differences}
    assert differences["colour"].sentence == "“Harbour Lights” is #0000ff instead of #b41e1e."
    assert differences["position"].sentence == "“Menu” is 200 px too far left."
    assert differences["text"].sentence == "“Contact” reads “Contract”."
    assert differences["missing"].sentence.startswith("“Book a room” at (")
    assert differences["extra"].sentence.startswith("“Never asked for” at (300, 5")
    x, y, w, h = differences["picture"].box
    assert x < 140 < x + w
    assert y < 280 < y + h


def test_a_longer_page_is_reported_to_be_so() -> None:
    result = score(TARGET, drawn(size=(WIDTH, 2 * HEIGHT)))
    assert any(
        d.kind == "height" and d.sentence == "The page is 600 px taller than the target." for d in result.differences
    )
    assert result.overall < 1


def test_a_sharper_screenshot_is_the_same_page() -> None:
    """A target from a screen with two pixels for one."""
    assert TARGET.texts is not None
    with Image.open(BytesIO(TARGET.image)) as image:
        out = BytesIO()
        image.resize((2 * WIDTH, 2 * HEIGHT), Image.Resampling.NEAREST).save(out, "PNG")
    texts = tuple(TextBlock(t.text, 2 * t.x, 2 * t.y, 2 * t.w, 2 * t.h, t.colour) for t in TARGET.texts)
    result = score(PageImage(out.getvalue(), texts), TARGET)
    assert result.block == 1.0
    assert min(parts(result)) > 0.97


def test_text_that_cannot_be_seen_does_not_count() -> None:
    assert TARGET.texts is not None
    hidden = PageImage(
        TARGET.image, (*TARGET.texts, TextBlock("nowhere to be seen", 300, 500, 120, 15, (250, 250, 248)))
    )
    assert score(TARGET, hidden).overall == 1.0


def test_colours_are_read_from_the_picture_where_nobody_reports() -> None:
    assert TARGET.texts is not None
    unknown = tuple(TextBlock(t.text, t.x - 3, t.y - 3, t.w + 6, t.h + 6) for t in TARGET.texts)
    assert score(TARGET, PageImage(TARGET.image, unknown)).colour > 0.98


def test_a_picture_is_read_where_it_has_no_text() -> None:
    asked: list[bytes] = []

    def read(image: bytes) -> Sequence[TextBlock]:
        asked.append(image)
        return TARGET.texts or ()

    assert score(PageImage(TARGET.image), TARGET, read=read).overall == 1.0
    assert asked == [TARGET.image]


@pytest.mark.parametrize(
    "broken", [b"", b"no picture", TARGET.image[:200], b"<svg xmlns='http://www.w3.org/2000/svg'/>"]
)
def test_what_is_no_picture(broken: bytes) -> None:
    with pytest.raises(PictureError, match="could not be read"):
        score(PageImage(broken, ()), TARGET)


def test_a_picture_that_is_too_large() -> None:
    out = BytesIO()
    Image.new("1", (8000, 6000)).save(out, "PNG")
    with pytest.raises(PictureError, match="8000 × 6000 pixels; at most 40 megapixels"):
        score(PageImage(out.getvalue(), ()), TARGET)


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "LA", "I;16", "1"])
def test_every_kind_of_png_can_be_compared(mode: str) -> None:
    out = BytesIO()
    Image.new("I;16" if mode == "I;16" else mode, (60, 40)).save(out, "PNG")
    picture = PageImage(out.getvalue(), ())
    assert score(picture, picture).overall == 1.0


def test_the_heat_map_is_red_where_it_differs() -> None:
    def red(copy: PageImage) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        with Image.open(BytesIO(heat_map(TARGET, copy))) as image:
            pixels = np.asarray(image.convert("RGB")).astype(int)
        return pixels[..., 0] - pixels[..., 1] > 40

    assert not red(TARGET).any()
    hot = red(without_cards(4))
    rows, columns = np.nonzero(hot)
    scale = WIDTH / hot.shape[1]
    assert rows.min() * scale > 235, "what is above is the same"
    assert columns.max() * scale > 700
