"""Finds ffmpeg, which decodes recordings. `heald doctor` uses it without other parts of the studio."""

import shutil


def find_ffmpeg() -> str | None:
    """Return the ffmpeg of the system, or that of the extra `video`; None if there is neither."""
    if (program := shutil.which("ffmpeg")) is not None:
        return program
    try:
        import imageio_ffmpeg  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        return None
    try:
        return imageio_ffmpeg.get_ffmpeg_exe()
    except RuntimeError:  # the package has no program for this machine
        return None
