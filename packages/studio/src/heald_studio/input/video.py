"""Reads a recording as the few pictures that differ most, for models that see pictures only.

Animated GIF and WebP are decoded here; MP4, MOV, WebM and AVI by ffmpeg, that of the system or of the extra `video`, in
a process with limits on time and output. The kind of a file is detected from its content.
"""

import asyncio
import contextlib
import io
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import msgspec
from PIL import Image as Pillow

from heald.core.distribution import install_advice
from heald_studio.bad_input import BadInput
from heald_studio.input.ffmpeg import find_ffmpeg
from heald_studio.input.moments import choose_moments, make_thumbnail
from heald_studio.input.pictures import MAX_PIXELS, InputPicture, open_picture, read_picture

MAX_BYTES = 100_000_000
MAX_SECONDS = 180.0  # of the recording; the rest is ignored
FRAMES = 12
_RATE = 3.0  # moments per second that are examined
_SIDE = 1_568
_TIME = 120.0  # seconds that decoding may take
_MAX_OUTPUT = 300_000_000
Kind = Literal["animation", "mov", "matroska", "avi"]


class VideoFrame(msgspec.Struct, frozen=True):
    seconds: float
    picture: InputPicture

    @property
    def label(self) -> str:
        return f"At {self.seconds:.1f} s"


async def read_video(data: bytes, *, frames: int = FRAMES) -> list[VideoFrame]:
    """Read the moments of a recording that differ most, in order. Raises BadInput."""
    if len(data) > MAX_BYTES:
        raise BadInput(f"The recording has {len(data):,} bytes; at most {MAX_BYTES:,} are read.", "too_large")
    kind = video_kind(data)
    if kind is None:
        raise BadInput(
            "The recording is not a recording that can be read; give MP4, MOV, WebM, AVI or GIF.", "not_a_video"
        )
    if kind == "animation":
        return await asyncio.to_thread(_read_animation, data, frames)
    moments = await _decode(data, kind)
    return await asyncio.to_thread(_pick_frames, moments, frames)


def video_kind(data: bytes) -> Kind | None:
    """Detect the kind of a recording by its first bytes. Playlists, which some decoders follow, are refused."""
    if data[4:8] in (b"ftyp", b"moov", b"wide", b"mdat"):
        return "mov" if data[8:12] not in (b"heic", b"heix", b"mif1", b"avif") else None
    if data.startswith(b"\x1aE\xdf\xa3"):
        return "matroska"
    if data[:4] == b"RIFF" and data[8:12] == b"AVI ":
        return "avi"
    animated = data.startswith((b"GIF87a", b"GIF89a")) or (data[:4] == b"RIFF" and data[8:12] == b"WEBP")
    return "animation" if animated else None


def _read_animation(data: bytes, frames: int) -> list[VideoFrame]:
    moments: list[tuple[float, bytes]] = []
    with open_picture(data, "The recording") as picture:
        at, due, number = 0.0, 0.0, 0
        limit = min(int(getattr(picture, "n_frames", 1)), max(20 * MAX_PIXELS // (picture.width * picture.height), 1))
        while number < limit and at < MAX_SECONDS:
            picture.seek(number)
            picture.load()
            duration = float(picture.info.get("duration") or 100) / 1000
            if at + duration > due or number == limit - 1:
                moments.append((at, _encode_jpeg(picture)))
                due = max(due, at) + 1 / (2 * _RATE)
            at += duration
            number += 1
    return _frames(moments, frames)


def _encode_jpeg(picture: Pillow.Image) -> bytes:
    frame = picture.convert("RGBA")
    flat = Pillow.new("RGB", frame.size, "white")
    flat.paste(frame, mask=frame.getchannel("A"))
    flat.thumbnail((_SIDE, _SIDE))
    out = io.BytesIO()
    flat.save(out, "JPEG", quality=88)
    return out.getvalue()


def _pick_frames(stream: bytes, frames: int) -> list[VideoFrame]:
    return _frames([(number / _RATE, jpeg) for number, jpeg in enumerate(_split_jpegs(stream))], frames)


def _frames(moments: list[tuple[float, bytes]], frames: int) -> list[VideoFrame]:
    if not moments:
        raise BadInput("The recording holds no pictures, or is damaged; record it again.", "not_a_video")
    looks = [make_thumbnail(Pillow.open(io.BytesIO(jpeg))) for _, jpeg in moments]
    return [
        VideoFrame(round(moments[at][0], 2), read_picture(moments[at][1], name="The recording"))
        for at in choose_moments(looks, frames)
    ]


def _split_jpegs(stream: bytes) -> Iterator[bytes]:
    """Yield the pictures of a stream. Inside one, FF D9 stands only at its end (ITU T.81, B.1.1.5)."""
    start = 0
    while (end := stream.find(b"\xff\xd9", start)) >= 0:
        yield stream[start : end + 2]
        start = end + 2


async def _decode(data: bytes, kind: Kind) -> bytes:
    ffmpeg = find_ffmpeg()
    if ffmpeg is None:
        raise BadInput(
            f"The recording needs ffmpeg to be decoded: {install_advice('video')}; an animated GIF or WebP works "
            "without.",
            "no_decoder",
        )
    async with _temporary_file(data) as file:
        status, stream = await _run(_ffmpeg(ffmpeg, file, kind))
    if status is None and not stream:
        raise BadInput(f"The recording took longer than {_TIME:g} s to decode; give a shorter one.", "too_large")
    return stream


def _ffmpeg(program: str, file: Path, kind: Kind) -> list[str]:
    scale = f"scale='if(gt(iw,ih),min({_SIDE},iw),-2)':'if(gt(iw,ih),-2,min({_SIDE},ih))'"
    return [
        *(program, "-nostdin", "-v", "error", "-protocol_whitelist", "file", "-f", kind, "-t", f"{MAX_SECONDS:g}"),
        *("-i", f"file:{file}", "-map", "0:v:0", "-vf", f"fps={_RATE:g},{scale}", "-q:v", "3"),
        *("-c:v", "mjpeg", "-f", "image2pipe", "pipe:1"),
    ]


async def _run(command: list[str]) -> tuple[int | None, bytes]:
    """Return the exit status and the output. The status is None if the time or the output exceeded its limit."""
    environment = {"PATH": os.environ.get("PATH", "")}
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
    )
    output = bytearray()
    status: int | None = None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(_TIME):
            while len(output) <= _MAX_OUTPUT and (chunk := await process.stdout.read(1 << 20)):
                output += chunk
            if len(output) <= _MAX_OUTPUT:
                status = await process.wait()
    except TimeoutError:
        pass
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await asyncio.shield(process.wait())
    return status, bytes(output)


@asynccontextmanager
async def _temporary_file(data: bytes) -> AsyncGenerator[Path]:
    """Write the data to a file that exists for the duration of the block."""
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="heald-video-"))
    try:
        file = folder / "recording"
        await asyncio.to_thread(file.write_bytes, data)
        yield file
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
