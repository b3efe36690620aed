"""Reads the request of `heald build` from its options."""

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heald.commands.stdin import read_stdin
from heald.commands.terminal import print_note
from heald.core.errors import ConfigurationError
from heald_studio.commands.local_studio import choose_models

if TYPE_CHECKING:
    from heald_studio.request import BuildRequest
    from heald_studio.studio import Studio


async def read_request(options: argparse.Namespace, studio: "Studio") -> "BuildRequest":
    """Read the pictures, recordings and files that the options name. Raises ConfigurationError."""
    from heald_studio.bad_input import BadInput
    from heald_studio.design.source import open_design
    from heald_studio.input.load import load_picture
    from heald_studio.input.projects import read_project
    from heald_studio.request import CREATE_VARIANTS, UPDATE_VARIANTS, BuildRequest, View

    try:
        pictures = [Path(name) for name in options.pictures]
        loaded = [await load_picture(path, name=path.name, scale=options.scale) for path in pictures]
        views = [View(picture, kind=options.picture_kind, scaled=options.scale is not None) for picture in loaded]
        files = await asyncio.to_thread(read_project, Path(options.start)) if options.start else {}
        design = await open_design(options.design_system) if options.design_system else None
        if (options.url or options.video) and not options.json:
            print_note(f"Capturing {options.url or options.video[0]} …")
        frames = [view for name in options.video for view in await _read_frames(Path(name))]
        captured = await _capture_page(options.url) if options.url else []
    except BadInput as error:
        raise ConfigurationError(str(error)) from None
    default = UPDATE_VARIANTS if files else CREATE_VARIANTS
    views = [*views, *captured, *frames]
    models, variants = choose_models(
        options.model, studio, options.variants, default, pictures=bool(views) and not files and not options.draft
    )
    return BuildRequest(
        text=read_stdin() if options.text == "-" else options.text,
        mode="video" if frames else "image" if views else "text",
        views=tuple(views),
        files=files,
        stack=options.stack,
        design_system=design,
        models=tuple(models[:variants]),
        variants=variants,
        draft=options.draft,
        title=_title(options),
    )


async def _read_frames(path: Path) -> list[Any]:
    from heald_studio.input.load import load_bytes
    from heald_studio.input.video import read_video
    from heald_studio.request import View

    data = await load_bytes(path, limit=256 * 1024 * 1024, name=path.name)
    return [View(frame.picture, frame.label) for frame in await read_video(data)]


async def _capture_page(url: str) -> list[Any]:
    from heald_studio.browser.capture import capture_both
    from heald_studio.input.pictures import read_picture
    from heald_studio.request import View

    captures = await capture_both(url)
    labelled = ((captures.desktop, "On a desktop"), (captures.mobile, "On a phone"))
    return [View(await asyncio.to_thread(read_picture, capture.picture), label) for capture, label in labelled]


_RECORDINGS = (".mp4", ".mov", ".webm", ".avi", ".mkv")
_PAGES = (".html", ".htm", ".zip")


def check_picture_name(name: str) -> None:
    """Raise if an argument is not a picture but something that an option accepts."""
    path = Path(name)
    if name.lower().startswith(("http://", "https://")):
        raise ConfigurationError(f"{name} is an address, not a picture; capture that page with --url {name}")
    if path.suffix.lower() in _RECORDINGS:
        raise ConfigurationError(f"{name} is a recording, not a picture; give it with --video {name}")
    if path.is_dir() or path.suffix.lower() in _PAGES:
        raise ConfigurationError(f"{name} is not a picture; to change an existing page, give it with --from {name}")
    if " " in name and not path.suffix and not path.exists():
        raise ConfigurationError(f"There is no picture {name!r}; give a text with --text {name!r}")


def _title(options: argparse.Namespace) -> str:
    named = [*options.pictures, *options.video, *([options.start] if options.start else [])]
    return "" if options.text.strip() or not named else Path(named[0]).name
