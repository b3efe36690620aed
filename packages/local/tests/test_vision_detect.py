"""A whole screenshot, seen with the real models: small pages, so that it takes a moment only."""

import io

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from vision_drawing import Paper

from heald_local.arrange.page import arrange
from heald_local.page import walk_nodes
from heald_local.see.detect import detect_elements
from heald_local.see.detection_cache import clear_cache
from heald_local.see.models import available
from heald_local.write.stacks import write_files
from heald_pictures.detector import Progress
from heald_pictures.fonts import faces, installed

pytestmark = pytest.mark.skipif(not available(), reason="the models of heald[local] are not installed")
fonts_needed = pytest.mark.skipif(not any(face.path for face in faces()), reason="no known font is installed")


def _form() -> Paper:
    paper = Paper(640, 420, "#f9fafb")
    paper.box(0, 0, 640, 56, "#111827")
    paper.text(32, 36, "Northwind", 20, "#ffffff", bold=True)
    paper.text(32, 110, "Sign in to continue", 28, "#111827", bold=True)
    paper.text(32, 150, "Use the address that you gave us when you joined.", 16, "#4b5563")
    paper.box(32, 180, 320, 44, "#ffffff", 6, outline="#9ca3af")
    paper.text(46, 207, "you@example.com", 15, "#6b7280")
    paper.box(32, 248, 140, 44, "#2563eb", 8)
    paper.text(72, 275, "Continue", 15, "#ffffff", bold=True)
    return paper


@fonts_needed
def test_a_page_is_seen_arranged_and_written() -> None:
    clear_cache()  # a picture that was seen before has no first preview
    told: list[Progress] = []
    seen = detect_elements(_form().png(), told.append)
    said = {text.text for text in seen.texts}
    assert {"Northwind", "Sign in to continue", "you@example.com", "Continue"} <= said
    assert seen.background == "#f9fafb"
    title = next(text for text in seen.texts if text.text.startswith("Sign in"))
    assert (title.style.weight, title.style.colour) == (700, "#111827")
    assert abs(title.style.size - 28) <= 1
    page = arrange(seen)
    tags = {node.tag for node in walk_nodes(page.body)}
    assert {"header", "main", "h1", "input", "button"} <= tags
    html = write_files(page)["index.html"]
    assert isinstance(html, str)
    assert "Use the address that you gave us when you joined." in html
    rough = [progress.detection for progress in told if progress.detection is not None]
    assert rough[0].rough
    assert arrange(rough[0]).body
    assert told[0].stage == "regions"
    assert told[-1].stage == "done"


@fonts_needed
def test_loss_costs_no_words() -> None:
    seen = detect_elements(_form().jpeg(85))
    assert seen.lossy
    assert any("loss" in note for note in seen.notes)
    assert {"Northwind", "Continue"} <= {text.text for text in seen.texts}


@fonts_needed
def test_a_card_with_a_photograph_keeps_its_words() -> None:
    """The card's border runs along the photograph and on along the words: it makes them no part of the picture."""
    paper = Paper(640, 420, "#ffffff")
    paper.box(60, 40, 330, 257, "#ffffff", 8, outline="#cbd5e1")
    random = np.random.default_rng(3)
    coarse = Image.fromarray(random.integers(0, 255, (14, 24, 3), np.uint8))
    paper.image.paste(coarse.resize((328, 170), Image.Resampling.BICUBIC), (61, 41))
    paper.text(84, 244, "Letters from the coast", 18, bold=True)
    paper.text(84, 272, "Short stories about people by the sea.", 14, "#4b5563")
    seen = detect_elements(paper.png())
    assert {"Letters from the coast", "Short stories about people by the sea."} <= {text.text for text in seen.texts}
    assert max(picture.rect.bottom for picture in seen.pictures) < 230


def test_an_empty_page_stays_empty() -> None:
    seen = detect_elements(Paper(400, 300, "#e5e7eb").png())
    assert (seen.boxes, seen.texts, seen.pictures) == ((), (), ())
    assert seen.background == "#e5e7eb"
    assert "#e5e7eb" in str(write_files(arrange(seen))["index.html"])


def test_a_photograph_stays_one_picture() -> None:
    random = np.random.default_rng(3)
    coarse = random.integers(0, 255, (24, 32, 3), np.uint8)
    image = Image.fromarray(coarse).resize((320, 240), Image.Resampling.BICUBIC)
    noise = random.integers(-12, 12, (240, 320, 3))
    pixels = np.clip(np.asarray(image).astype(int) + noise, 0, 255).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    seen = detect_elements(out.getvalue())
    assert not seen.texts
    assert sum(picture.rect.area for picture in seen.pictures) > 0.9 * 320 * 240
    assert len(seen.pictures) <= 3


def test_a_small_icon_is_a_picture_or_a_box() -> None:
    paper = Paper(200, 200, "#ffffff")
    paper.pen.ellipse((40, 40, 160, 160), fill="#dc2626")
    paper.pen.polygon([(80, 70), (80, 130), (135, 100)], fill="#ffffff")
    seen = detect_elements(paper.png())
    assert not seen.texts
    assert len(seen.pictures) + len(seen.boxes) >= 1


def test_a_very_tall_page_is_read_where_there_is_something() -> None:
    paper = Paper(500, 10_000, "#ffffff")
    paper.text(40, 60, "The very beginning", 24)
    paper.text(40, 9_940, "The very end", 24)
    seen = detect_elements(paper.png())
    assert seen.height == 10_000
    if any(face.path for face in faces()):
        assert [text.text for text in seen.texts] == ["The very beginning", "The very end"]


def test_what_cannot_be_read_is_kept_and_sent() -> None:
    thai = next((path for path in _thai()), None)
    if thai is None:
        pytest.skip("no Thai font is installed")
    paper = Paper(500, 200)
    font = ImageFont.truetype(thai, 26)
    ImageDraw.Draw(paper.image).text((40, 100), "สวัสดีชาวโลกและขอบคุณ", fill="#000000", font=font, anchor="ls")
    seen = detect_elements(paper.png())
    assert not seen.texts
    assert any(picture.kind == "unread" for picture in seen.pictures)
    assert any("not read" in note for note in seen.notes)


def _thai() -> list[str]:
    return [path for name, path in installed().items() if name.startswith("NotoSansThai-Regular")]
