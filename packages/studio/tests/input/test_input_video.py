"""Recordings become the few moments that differ, whatever the format."""

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from input_pictures import opened, picture
from PIL import Image, ImageDraw

from heald_studio.bad_input import BadInput
from heald_studio.input.ffmpeg import find_ffmpeg
from heald_studio.input.moments import choose_moments, make_thumbnail
from heald_studio.input.video import read_video, video_kind

STATES = ["white", "navy", "green", "white", "orange"]


def frame(colour: str, step: int = 0) -> Image.Image:
    image = Image.new("RGB", (320, 200), colour)
    ImageDraw.Draw(image).rectangle((10 + step, 10, 90 + step, 40), fill="gray")
    return image


def gif(kind: str = "GIF") -> bytes:
    """Five states, a second each, ten pictures a second."""
    frames = [frame(colour) for colour in STATES for _ in range(10)]
    out = io.BytesIO()
    frames[0].save(out, kind, save_all=True, append_images=frames[1:], duration=100, lossless=True)
    return out.getvalue()


def video(folder: Path, suffix: str, codec: str) -> bytes:
    program = find_ffmpeg()
    assert program is not None
    (folder / "x.gif").write_bytes(gif())
    path = folder / f"x{suffix}"
    command = [program, "-v", "error", "-i", str(folder / "x.gif"), "-c:v", codec, "-pix_fmt", "yuv420p", str(path)]
    if subprocess.run(command, stdin=subprocess.DEVNULL, timeout=120).returncode:
        pytest.skip(f"ffmpeg has no encoder {codec} here")
    return path.read_bytes()


def colours(frames: list[Any]) -> list[str]:
    """The states that frames show, by the colour of a corner."""
    samples = {name: numpy.array(Image.new("RGB", (1, 1), name).getpixel((0, 0))) for name in STATES}
    names: list[str] = []
    for frame in frames:
        corner = numpy.array(opened(frame.picture.data).convert("RGB").getpixel((300, 180)))
        names.append(min(samples, key=lambda name: int(numpy.abs(samples[name] - corner).sum())))
    return names


@pytest.mark.parametrize("kind", ["GIF", "WEBP"])
async def test_an_animation_is_reported_by_its_states(kind: str) -> None:
    frames = await read_video(gif(kind))
    assert colours(frames) == ["white", "navy", "green", "orange"]
    assert [frame.seconds for frame in frames] == sorted(frame.seconds for frame in frames)
    assert 1 <= frames[1].seconds < 2
    assert frames[0].label == "At 0.0 s"


@pytest.mark.parametrize(("suffix", "codec"), [(".mp4", "mpeg4"), (".webm", "libvpx"), (".avi", "mjpeg")])
async def test_a_recording_is_reported_by_its_states(tmp_path: Path, suffix: str, codec: str) -> None:
    frames = await read_video(video(tmp_path, suffix, codec))
    assert colours(frames) == ["white", "navy", "green", "orange"]
    assert 0.9 <= frames[1].seconds < 2.1
    assert (frames[0].picture.width, frames[0].picture.height) == (320, 200)


async def test_no_more_frames_than_asked_for() -> None:
    assert colours(await read_video(gif(), frames=2)) == ["white", "orange"]
    assert len(await read_video(gif(), frames=1)) == 1
    assert len(await read_video(picture("GIF"))) == 1


@pytest.mark.parametrize(
    "data", [b"", b"#EXTM3U\nhttp://127.0.0.1/x.ts\n", b"ffconcat version 1.0\nfile /etc/passwd\n", picture("PNG")]
)
async def test_what_is_no_recording(data: bytes) -> None:
    with pytest.raises(BadInput, match="is not a recording that can be read; give MP4"):
        await read_video(data)


async def test_a_damaged_recording_is_one_sentence() -> None:
    for data in (b"\0\0\0\x18ftypmp42" + bytes(200), b"\x1aE\xdf\xa3" + bytes(200), gif()[:40]):
        with pytest.raises(BadInput) as caught:
            await read_video(data)
        assert "\n" not in str(caught.value)


async def test_without_a_decoder_one_sentence_states_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(BadInput, match=r"needs ffmpeg to be decoded: pip install .* GIF or WebP works without\."):
        await read_video(b"\0\0\0\x18ftypmp42" + bytes(200))
    assert len(await read_video(gif())) == 4


def test_kinds_are_reported_by_content() -> None:
    assert video_kind(b"\0\0\0\x18ftypisom") == "mov"
    assert video_kind(b"\0\0\0\x18ftypheic") is None
    assert video_kind(b"RIFF\0\0\0\0AVI LIST") == "avi"


def test_moments_at_rest_are_preferred() -> None:
    moving = [make_thumbnail(frame("white", step)) for step in range(0, 200, 10)]
    looks = [moving[0]] * 5 + moving + [moving[-1]] * 5
    chosen = choose_moments(looks, 2)
    assert chosen[0] == 0
    assert chosen[1] == len(looks) - 1


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), max_size=30), st.integers(0, 8))
def test_chosen_moments_are_in_order_and_differ(levels: list[int], count: int) -> None:
    looks = [numpy.full((48, 48), level / 5, dtype=numpy.float32) for level in levels]
    chosen = choose_moments(looks, count)
    assert chosen == sorted(set(chosen))
    assert len(chosen) <= count
    assert len({levels[at] for at in chosen}) == len(chosen)
    if levels and count >= 6:
        assert {levels[at] for at in chosen} == set(levels)
