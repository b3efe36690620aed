"""Finds ffmpeg, which decodes recordings. It needs no package of the studio: `weft doctor` asks without them."""

import shutil


def find_ffmpeg() -> str | None:
    """Return the ffmpeg of the system, or that of the extra `video`; None if there is neither."""
    if (found := shutil.which("ffmpeg")) is not None:
        return found
    try:
        import imageio_ffmpeg  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        return None
    try:
        return imageio_ffmpeg.get_ffmpeg_exe()
    except RuntimeError:  # the package has no program for this machine
        return None
