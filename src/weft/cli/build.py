"""`weft build`: builds pages from pictures, a text, a web address or a recording, with one model or several."""

import argparse
import asyncio
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from weft.cli.interruption import run_interruptible
from weft.cli.local_studio import (
    OWNER,
    VariantProgress,
    check_output,
    choose_models,
    missing_studio_error,
    open_local_studio,
    resolve_models,
)
from weft.cli.options import add_options
from weft.cli.run import read_stdin, require_key
from weft.cli.terminal import LiveLines, align_columns, format_seconds, format_usd, print_note
from weft.core.errors import ConfigurationError
from weft.core.json import encode_text
from weft.server.models import KnownModels

if TYPE_CHECKING:
    from weft.studio.project import Project, Variant, Version
    from weft.studio.request import BuildRequest
    from weft.studio.studio import Studio

EXAMPLES = """examples:
  weft build shot.png                                        into out/, by the strongest models that have a key
  weft build shot.png -o site --stack react_tailwind --variants 2
  weft build --text "A page for a bakery" --model anthropic/claude-sonnet-4-6 --model openai/gpt-5.2
  weft build --url https://example.org --design-system house.md
  weft build --video screen.mp4 --stack vue_tailwind
  weft build --from site --text "Make the header sticky" -o site --force

Several variants go into out/1, out/2, …, the best first; one goes into out itself.
exit status: 0 one is complete, 1 all failed, 2 wrong usage, 3 a limit was reached, 130 cancelled"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    source = parser.add_argument_group("input")
    source.add_argument("pictures", nargs="*", metavar="PICTURE", help="PNG, JPEG, WebP, GIF or HEIC")
    source.add_argument("--text", default="", help="what to build, or what to observe; - reads standard input")
    source.add_argument("--url", help="page to rebuild; it is captured as on a desktop and on a phone")
    source.add_argument("--video", action="append", default=[], metavar="FILE", help="recording of a screen")
    source.add_argument("--from", dest="start", metavar="PATH", help="page to change: a folder, an HTML file or a zip")
    groups = {"input": source}
    add_options(parser, "build", groups)
    groups["output"].add_argument("--force", action="store_true", help="replace existing files")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


def run(options: argparse.Namespace) -> int:
    if options.variants is not None and options.variants < 1:
        raise ConfigurationError("--variants is at least 1.")
    out = Path(options.output)
    _check_output(out, options.force)
    for name in options.pictures:
        _check_picture_name(name)
    models = resolve_models(options)
    return run_interruptible(_build(options, models, out))


async def _build(options: argparse.Namespace, models: KnownModels, out: Path) -> int:
    async with open_local_studio(models, options, data=options.data, scores=options.score) as (studio, context):
        request = await _read_request(options, studio)
        progress = VariantProgress()
        context.open_sessions.on_open(progress.follow)
        for name in request.models:
            require_key(models, name)
        project = await studio.create(OWNER, request)
        version = await _wait_version(studio, project, progress, quiet=options.json)
        completed = [each for each in version.variants if each.status == "completed"]
        is_scored = not request.views or not completed or any(each.score for each in completed)
        if options.score and not is_scored and not options.json:
            print_note("The pages were not scored; `weft doctor` says what is missing.")
        built = await _write_variants(studio, project.id, version, out, options.force)
    _print_result(options, project, built)
    return _status(built)


async def _wait_version(studio: "Studio", project: "Project", progress: VariantProgress, *, quiet: bool) -> "Version":
    """Wait for the end of all variants, and show them meanwhile. Ctrl-C ends them; a second one does not wait."""
    version = project.versions[-1]
    stop = _Stop(studio, project.id, version)
    async with LiveLines(progress.lines, silent=quiet and not sys.stderr.isatty()) as live:
        progress.report = live.report
        progress.update(version)
        following = asyncio.create_task(_follow(studio, project.id, progress), name="weft-build-watch")
        try:
            stop.listen()
            version = await studio.wait_version(OWNER, project.id, version.id)
        finally:
            stop.close()
            following.cancel()
            await asyncio.wait([following])
        progress.update(version)
    return version


async def _follow(studio: "Studio", project: str, progress: VariantProgress) -> None:
    async for now in studio.watch(OWNER, project):
        progress.update(now.versions[-1])


class _Stop:
    """Cancels all variants at the first signal, and stops waiting at the second."""

    def __init__(self, studio: "Studio", project: str, version: "Version") -> None:
        self._studio = studio
        self._project = project
        self._version = version
        self._task: asyncio.Task[None] | None = None
        self._main = asyncio.current_task()

    def listen(self) -> None:
        with suppress(NotImplementedError, RuntimeError, ValueError):  # signals work in the main thread only
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, self._stop)

    def close(self) -> None:
        with suppress(NotImplementedError, RuntimeError, ValueError):
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().remove_signal_handler(number)

    def _stop(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._cancel_all())
        elif self._main is not None:
            self._main.cancel()

    async def _cancel_all(self) -> None:
        from weft.studio.project import VariantRef

        for variant in self._version.variants:
            await self._studio.cancel(OWNER, self._project, VariantRef(self._version.id, variant.index))


# --- the request ----------------------------------------------------------------------------------------------------


async def _read_request(options: argparse.Namespace, studio: "Studio") -> "BuildRequest":
    try:
        from weft.studio.input.pictures import load_picture
        from weft.studio.input.projects import read_project
        from weft.studio.request import (
            CREATE_VARIANTS,
            UPDATE_VARIANTS,
            BadInput,
            BuildRequest,
            View,
            read_design_system,
        )
    except ImportError as error:
        raise missing_studio_error(error) from None
    try:
        pictures = [Path(name) for name in options.pictures]
        views = [View(await load_picture(path, name=path.name)) for path in pictures]
        files = await asyncio.to_thread(read_project, Path(options.start)) if options.start else {}
        design = read_design_system(Path(options.design_system)) if options.design_system else None
        if (options.url or options.video) and not options.json:
            print_note(f"Capturing {options.url or options.video[0]} …")
        frames = [view for name in options.video for view in await _read_frames(Path(name))]
        captured = await _capture_page(options.url) if options.url else []
    except BadInput as error:
        raise ConfigurationError(str(error)) from None
    default = UPDATE_VARIANTS if files else CREATE_VARIANTS
    models, variants = choose_models(options.model, studio, options.variants, default)
    views = [*views, *captured, *frames]
    return BuildRequest(
        text=read_stdin() if options.text == "-" else options.text,
        mode="video" if frames else "image" if views else "text",
        views=tuple(views),
        files=files,
        stack=options.stack,
        design_system=design,
        models=tuple(models[:variants]),
        variants=variants,
        title=_title(options),
    )


async def _read_frames(path: Path) -> list[Any]:
    from weft.studio.input.pictures import load_bytes
    from weft.studio.input.video import read_video
    from weft.studio.request import View

    data = await load_bytes(path, limit=256 * 1024 * 1024, name=path.name)
    return [View(frame.picture, frame.label) for frame in await read_video(data)]


async def _capture_page(url: str) -> list[Any]:
    from weft.studio.browser.capture import capture_both
    from weft.studio.input.pictures import read_picture
    from weft.studio.request import View

    found = await capture_both(url)
    wanted = ((found.desktop, "On a desktop"), (found.mobile, "On a phone"))
    return [View(await asyncio.to_thread(read_picture, each.picture), label) for each, label in wanted]


_RECORDINGS = (".mp4", ".mov", ".webm", ".avi", ".mkv")
_PAGES = (".html", ".htm", ".zip")


def _check_picture_name(name: str) -> None:
    """Raise if an argument is no picture but something that an option accepts."""
    path = Path(name)
    if name.lower().startswith(("http://", "https://")):
        raise ConfigurationError(f"{name} is an address, not a picture; capture that page with --url {name}")
    if path.suffix.lower() in _RECORDINGS:
        raise ConfigurationError(f"{name} is a recording, not a picture; give it with --video {name}")
    if path.is_dir() or path.suffix.lower() in _PAGES:
        raise ConfigurationError(f"{name} is no picture; to change an existing page, give it with --from {name}")
    if " " in name and not path.suffix and not path.exists():
        raise ConfigurationError(f"There is no picture {name!r}; words are given with --text {name!r}")


def _title(options: argparse.Namespace) -> str:
    named = [*options.pictures, *options.video, *([options.start] if options.start else [])]
    return "" if options.text.strip() or not named else Path(named[0]).name


def _check_output(out: Path, force: bool) -> None:
    check_output(out)
    if not force and out.is_dir() and any(out.iterdir()):
        raise ConfigurationError(f"The folder {out} is not empty; name another with --output, or allow it by --force.")


# --- the result -----------------------------------------------------------------------------------------------------


async def _write_variants(
    studio: "Studio", project: str, version: "Version", out: Path, force: bool
) -> list[tuple["Variant", Path | None, list[str]]]:
    """Write the variants, the best first. Returns each with its folder and files."""
    from weft.studio.offline import offline_project
    from weft.studio.project import VariantRef

    stack = studio.find_stack((await studio.get(OWNER, project)).stack)
    built: list[tuple[Variant, Path | None, list[str]]] = []
    for number, variant in enumerate(best_first(version.variants), 1):
        files = await studio.files(OWNER, project, VariantRef(version.id, variant.index))
        folder = out / str(number) if len(version.variants) > 1 else out
        if not files or (variant.error is not None and variant.turns == 0):
            built.append((variant, None, []))
            continue
        offline = await offline_project(stack, files)
        folder, paths = await asyncio.to_thread(_write_files, offline, folder, force)
        built.append((variant, folder, paths))
    return built


def _write_files(files: Mapping[str, str | bytes], folder: Path, force: bool) -> tuple[Path, list[str]]:
    """Write a page. One that cannot be written to its folder goes into one for temporary files."""
    from weft.studio.export import write_project
    from weft.tools.workspace.base import PathFault
    from weft.tools.workspace.disk import ADVICE_TO_MODEL

    try:
        return folder, write_project(files, folder, replace=force)
    except PathFault as fault:
        reason = str(fault).removesuffix(ADVICE_TO_MODEL)
        other = Path(tempfile.mkdtemp(prefix="weft-build-"))
        try:
            paths = write_project(files, other)
        except PathFault:
            raise ConfigurationError(f"The page could not be written to {folder}: {reason}") from None
        print_note(f"The page could not be written to {folder}: {reason} It is in {other} instead.")
        return other, paths


def best_first(variants: Sequence["Variant"]) -> list["Variant"]:
    def rank(variant: "Variant") -> tuple[bool, float, int]:
        scored = variant.score.overall if variant.score is not None else -1.0
        return variant.status == "completed", scored, -variant.index

    return sorted(variants, key=rank, reverse=True)


def _print_result(
    options: argparse.Namespace,
    project: "Project",
    built: Sequence[tuple["Variant", Path | None, list[str]]],
) -> None:
    if options.json:
        stored = project.id if options.data is not None else None
        variants = [_as_json(variant, folder, files) for variant, folder, files in built]
        print(encode_text({"project": stored, "stack": project.stack, "variants": variants}))
        return
    table: list[list[str]] = []
    for variant, folder, _ in built:
        if folder is not None:
            score = f"score {variant.score.overall:.3f}" if variant.score is not None else variant.status
            took = format_seconds(max((variant.ended or 0) - (variant.started or 0), 0))
            table.append([f"{folder}/", variant.model, score, took, format_usd(variant.cost_usd)])
        if variant.error is not None:
            print_note(f"Variant {variant.index + 1} ({variant.model}) failed: {variant.error.message}")
        elif variant.status == "limit":
            print_note(f"Variant {variant.index + 1} ({variant.model}) is not complete: {variant.note}")
    for line in align_columns(table):
        print(line)
    if not table and all(variant.error is None for variant, _, _ in built):
        for variant, _, _ in built:
            print_note(f"Nothing was built with {variant.model}: {_why_nothing(variant)}")


def _why_nothing(variant: "Variant") -> str:
    """Say why a variant that did not fail has no files."""
    if variant.note:
        return variant.note
    if variant.status != "completed":
        return f"it was {variant.status}."
    return "the model answered and wrote no file; try another model, or a request that says what to build."


def _as_json(variant: "Variant", folder: Path | None, files: list[str]) -> dict[str, object]:
    from msgspec import to_builtins

    return {
        "folder": str(folder) if folder is not None else None,
        "files": files,
        "model": variant.model,
        "status": variant.status,
        "score": to_builtins(variant.score),
        "seconds": round(max((variant.ended or 0) - (variant.started or 0), 0), 3),
        "turns": variant.turns,
        "usage": cast(dict[str, object], to_builtins(variant.usage)),
        "cost_usd": variant.cost_usd,
        "error": variant.error.message if variant.error is not None else None,
        "note": variant.note,
    }


def _status(built: Sequence[tuple["Variant", Path | None, list[str]]]) -> int:
    found = {variant.status for variant, _, _ in built}
    if "cancelled" in found:
        return 130
    if any(variant.status == "completed" and folder is not None for variant, folder, _ in built):
        return 0
    return 3 if "limit" in found else 1
