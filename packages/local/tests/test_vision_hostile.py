"""Pictures that are not page: each gives something sensible or one sentence, in bounded time and memory."""

import io
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from vision_drawing import Paper

from heald_local.arrange.page import arrange
from heald_local.see.detect import detect_elements
from heald_local.see.models import available
from heald_local.write.stacks import write_files
from heald_pictures.elements import Detection
from heald_pictures.errors import UnreadablePicture, VisionError
from heald_pictures.screen_scale import pixel_ratio

pytestmark = pytest.mark.skipif(not available(), reason="the models of heald[local] are not installed")
PATIENCE = 240.0
"""Seconds of the processor: a few for the work. Whatever else the machine does is not counted."""


def _bytes(image: Image.Image, kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    image.save(out, kind, compress_level=1)
    return out.getvalue()


def _photograph(width: int, height: int) -> Image.Image:
    random = np.random.default_rng(5)
    coarse = Image.fromarray(random.integers(0, 255, (12, 16, 3), np.uint8))
    smooth = np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC)).astype(np.int16)
    return Image.fromarray(np.clip(smooth + random.integers(-14, 14, smooth.shape), 0, 255).astype(np.uint8))


def _noise(width: int, height: int) -> Image.Image:
    return Image.fromarray(np.random.default_rng(6).integers(0, 255, (height, width, 3), np.uint8))


def _stripes(width: int, height: int) -> Image.Image:
    rows = np.arange(height) % 2 * 255
    return Image.fromarray(np.broadcast_to(rows[:, None, None], (height, width, 3)).astype(np.uint8))


PICTURES = {
    "photograph": lambda: _bytes(_photograph(900, 600), "JPEG"),
    "noise": lambda: _bytes(_noise(500, 400)),
    "stripes": lambda: _bytes(_stripes(400, 300)),
    "blank": lambda: _bytes(Image.new("RGB", (1280, 800), "white")),
    "transparent": lambda: _bytes(Image.new("RGBA", (300, 200), (0, 0, 0, 0))),
    "tiny": lambda: _bytes(Image.new("RGB", (8, 8), "red")),
    "flat": lambda: _bytes(Image.new("1", (900, 12), 1)),
}


@cache
def _seen(name: str) -> Detection:
    """Each picture is looked at once."""
    return detect_elements(PICTURES[name]())


@pytest.mark.parametrize("name", PICTURES)
def test_it_becomes_a_page_in_bounded_time(name: str) -> None:
    started = time.process_time()
    seen = _seen(name)
    assert not any(text.text for text in seen.texts)
    assert len(seen.boxes) + len(seen.pictures) < 400
    html = write_files(arrange(seen))["index.html"]
    assert str(html).startswith("<!doctype html>") or str(html).lower().startswith("<!doctype")
    assert time.process_time() - started < PATIENCE


def test_a_photograph_is_one_picture() -> None:
    seen = _seen("photograph")
    assert sum(picture.rect.area for picture in seen.pictures) > 0.8 * 900 * 600
    assert len(seen.pictures) <= 4


@pytest.mark.parametrize("cut", [0.02, 0.3, 0.9])
def test_a_corrupt_file_is_one_sentence(cut: float) -> None:
    for kind in ("PNG", "JPEG", "WEBP"):
        whole = _bytes(_noise(200, 200), kind)
        with pytest.raises(VisionError) as caught:
            detect_elements(whole[: int(cut * len(whole))])
        assert str(caught.value).endswith(".")
        assert "\n" not in str(caught.value)
    with pytest.raises(UnreadablePicture):
        detect_elements(b"")


@pytest.mark.parametrize(("width", "ratio"), [(1280, 1), (2560, 2), (780, 2), (1170, 3)])
def test_the_pixel_ratio_of_a_page_with_only_words(width: int, ratio: int) -> None:
    paper = Paper(width, 300 * ratio)
    for number, words in enumerate(("Quiet page with some words", "that stand there, and nothing", "else at all.")):
        paper.text(20 * ratio, (60 + 40 * number) * ratio, words, 16 * ratio)
    assert pixel_ratio(np.asarray(paper.image)) == ratio


def test_a_page_of_ten_thousand_rows_is_read_to_its_end_with_little_memory() -> None:
    """In a process of its own, so that the peak is this page's. `getrusage` tells whoever began it, too."""
    if not Path("/proc/self/status").exists():
        pytest.skip("the peak of a process is not told here")
    program = (
        "import io\n"
        "from PIL import Image, ImageDraw\n"
        "from heald_local.see.detect import detect_elements\n"
        "page = Image.new('RGB', (1280, 10_000), 'white')\n"
        "pen = ImageDraw.Draw(page)\n"
        "for y in range(100, 10_000, 700):\n"
        "    pen.rectangle((80, y, 1200, y + 300), fill='#eef2ff')\n"
        "    pen.text((100, y + 40), f'Part at {y}', fill='black', font_size=28)\n"
        "out = io.BytesIO()\n"
        "page.save(out, 'PNG', compress_level=1)\n"
        "seen = detect_elements(out.getvalue())\n"
        "status = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
        "peak = int(status['VmHWM'].split()[0]) // 1024\n"
        "texts = [text.text for text in seen.texts]\n"
        "print(len(seen.boxes), seen.height, peak, 'Part at 100' in texts and 'Part at 9900' in texts)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr.decode()[-500:]
    boxes, height, peak, reads_to_its_end = done.stdout.decode().split()
    assert (boxes, height, reads_to_its_end) == ("15", "10000", "True")
    assert int(peak) < 1_200
