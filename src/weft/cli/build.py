"""`weft build`: a picture, a sentence, a page or a recording becomes files, by one model or several."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from weft.cli.board import Board
from weft.cli.paint import dollars, rows_of, seconds
from weft.cli.studio_here import OWNER, add_model_options, chosen_models, missing_studio, models_of, studio_here
from weft.cli.switch import Switch
from weft.core.errors import ConfigurationError
from weft.core.json import encode_text
from weft.providers.model import Model
from weft.server.models import KnownModels
from weft.tools.printable import printable

if TYPE_CHECKING:
    from weft.cli.variant_lines import VariantLines
    from weft.studio.brief import Brief
    from weft.studio.projects.project import Project, Variant, Version
    from weft.studio.studio import Studio

_EXAMPLES = """examples:
  weft build shot.png                                        into out/, by the strongest models that keys allow
  weft build shot.png -o site --stack react_tailwind --variants 2
  weft build --text "A page for a bakery" --model anthropic/claude-sonnet-4-6 --model openai/gpt-5.2
  weft build --url https://example.org --design-system house.md
  weft build --video screen.mp4 --stack vue_tailwind
  weft build --from site --text "Make the header sticky" -o site --force

Several variants go into out/1, out/2, …, the best first; one goes into out itself.
exit status: 0 one is completed, 1 all failed, 2 wrong usage, 3 a limit was reached, 130 cancelled"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage]
    parser = commands.add_parser(
        "build",
        help="build a page from a picture, a sentence, an address or a recording",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_argument_group("what")
    what.add_argument("pictures", nargs="*", metavar="PICTURE", help="PNG, JPEG, WebP, GIF or HEIC")
    what.add_argument("--text", default="", help="what to build, or what to mind; - reads it from standard input")
    what.add_argument("--url", help="a page to rebuild: it is looked at on a desktop and on a phone")
    what.add_argument("--video", action="append", default=[], metavar="FILE", help="a recording of a screen")
    what.add_argument("--from", dest="start", metavar="PATH", help="a page to change: a folder, an HTML file or a zip")
    what.add_argument("--design-system", metavar="FILE", help="a text about colours, fonts and components")
    how = parser.add_argument_group("how")
    how.add_argument("--stack", default="html_tailwind", help="(%(default)s); any other word lists them")
    how.add_argument("--variants", type=int, metavar="N", help="agents at work side by side (one for each model)")
    how.add_argument("--score", action=Switch, default=True, help="whether what was built is rendered and compared")
    add_model_options(parser)
    where = parser.add_argument_group("where")
    where.add_argument("-o", "--output", default="out", metavar="DIR", help="(%(default)s)")
    where.add_argument("--force", action="store_true", help="replace files that are there")
    where.add_argument("--data", metavar="DIR", help="keep the project there, so that 'weft serve --data DIR' shows it")
    parser.add_argument("--json", action="store_true", help="say what was built as one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.variants is not None and options.variants < 1:
        raise ConfigurationError("--variants is at least 1.")
    out = Path(options.output)
    _check_room(out, options.force)
    models = models_of(options)
    try:
        return asyncio.run(_build(options, models, out))
    except asyncio.CancelledError:
        return 130


async def _build(options: argparse.Namespace, models: KnownModels, out: Path) -> int:
    async with studio_here(models, data=options.data, scores=options.score) as (studio, context):
        from weft.cli.variant_lines import VariantLines

        brief = await _brief(options, studio)
        lines = VariantLines()
        context.open.on_open(lines.follow)
        for name in brief.models:
            _check(models, name)
        project = await studio.create(OWNER, brief)
        version = await _watched(studio, project, lines, quiet=options.json)
        if options.score and brief.views and not any(each.score for each in version.variants):
            _say("No score was taken; `weft doctor` says what is missing for it.", options.json)
        built = await _written(studio, project.id, version, out, options.force)
    _tell(options, project, version, built)
    return _status(version)


def _check(models: KnownModels, name: str) -> None:
    model = models.open(name)
    if isinstance(model, Model):
        model.require_key()


async def _watched(studio: "Studio", project: "Project", lines: "VariantLines", *, quiet: bool) -> "Version":
    """Wait for the end of all variants, and show them meanwhile. Ctrl-C ends them; a second one does not wait."""
    version = project.versions[-1]
    stop = _Stop(studio, project.id, version)
    async with Board(lines.lines, silent=quiet and not sys.stderr.isatty()) as board:
        lines.news = board.news
        lines.update(version)
        following = asyncio.create_task(_follow(studio, project.id, lines), name="weft-build-watch")
        try:
            stop.listen()
            version = await studio.finished(OWNER, project.id, version.id)
        finally:
            stop.close()
            following.cancel()
            await asyncio.wait([following])
        lines.update(version)
    return version


async def _follow(studio: "Studio", project: str, lines: "VariantLines") -> None:
    async for now in studio.watch(OWNER, project):
        lines.update(now.versions[-1])


class _Stop:
    """What Ctrl-C and a polite end of the process do."""

    def __init__(self, studio: "Studio", project: str, version: "Version") -> None:
        self._studio = studio
        self._project = project
        self._version = version
        self._task: asyncio.Task[None] | None = None
        self._main = asyncio.current_task()

    def listen(self) -> None:
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not every thread takes signals
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
        from weft.studio.projects.project import Base

        for variant in self._version.variants:
            await self._studio.cancel(OWNER, self._project, Base(self._version.id, variant.index))


# --- what is asked for ----------------------------------------------------------------------------------------------


async def _brief(options: argparse.Namespace, studio: "Studio") -> "Brief":
    try:
        from weft.studio.brief import CREATIONS, UPDATES, Brief, View
        from weft.studio.input.design_systems import read_design_system
        from weft.studio.input.faults import BadInput
        from weft.studio.input.projects import read_project
        from weft.studio.input.sources import picture_from
    except ImportError as error:
        raise missing_studio(error) from None
    try:
        pictures = [Path(name) for name in options.pictures]
        views = [View(await picture_from(path, name=path.name)) for path in pictures]
        files = await asyncio.to_thread(read_project, Path(options.start)) if options.start else {}
        design = read_design_system(Path(options.design_system)) if options.design_system else None
        if options.url or options.video:
            _say(f"Looking at {options.url or options.video[0]} …", options.json)
        frames = [view for name in options.video for view in await _frames(Path(name))]
        seen = await _captured(options.url) if options.url else []
    except BadInput as error:
        raise ConfigurationError(str(error)) from None
    models, variants = chosen_models(options.model, studio, options.variants, UPDATES if files else CREATIONS)
    views = [*views, *seen, *frames]
    return Brief(
        text=sys.stdin.read() if options.text == "-" else options.text,
        mode="video" if frames else "image" if views else "text",
        views=tuple(views),
        files=files,
        stack=options.stack,
        design_system=design,
        models=tuple(models[:variants]),
        variants=variants,
        title=_title(options),
    )


async def _frames(path: Path) -> list[Any]:
    from weft.studio.brief import View
    from weft.studio.input.sources import bytes_from
    from weft.studio.input.video import read_video

    data = await bytes_from(path, limit=256 * 1024 * 1024, name=path.name)
    return [View(frame.picture, frame.label) for frame in await read_video(data)]


async def _captured(url: str) -> list[Any]:
    from weft.studio.brief import View
    from weft.studio.capture import capture_both
    from weft.studio.input.pictures import read_picture

    found = await capture_both(url)
    wanted = ((found.desktop, "On a desktop"), (found.mobile, "On a phone"))
    return [View(await asyncio.to_thread(read_picture, each.picture), label) for each, label in wanted]


def _title(options: argparse.Namespace) -> str:
    named = [*options.pictures, *options.video, *([options.start] if options.start else [])]
    return "" if options.text.strip() or not named else Path(named[0]).name


def _check_room(out: Path, force: bool) -> None:
    """Before anything is paid for: that there is a place for what will be built."""
    if out.exists() and not out.is_dir():
        raise ConfigurationError(f"{out} is no folder; name another with --output.")
    if not force and out.is_dir() and any(out.iterdir()):
        raise ConfigurationError(f"The folder {out} is not empty; name another with --output, or allow it by --force.")


# --- what was built -------------------------------------------------------------------------------------------------


async def _written(
    studio: "Studio", project: str, version: "Version", out: Path, force: bool
) -> list[tuple["Variant", Path | None, list[str]]]:
    """The variants, the best first, each with the folder it was written to."""
    from weft.studio.export.folder import write_project
    from weft.studio.projects.project import Base

    built: list[tuple[Variant, Path | None, list[str]]] = []
    for number, variant in enumerate(best_first(version.variants), 1):
        files = await studio.files(OWNER, project, Base(version.id, variant.index))
        folder = out / str(number) if len(version.variants) > 1 else out
        if not files or (variant.error is not None and variant.turns == 0):
            built.append((variant, None, []))
            continue
        paths = await asyncio.to_thread(write_project, files, folder, replace=force)
        built.append((variant, folder, paths))
    return built


def best_first(variants: Sequence["Variant"]) -> list["Variant"]:
    def goodness(variant: "Variant") -> tuple[bool, float, int]:
        scored = variant.score.overall if variant.score is not None else -1.0
        return variant.status == "completed", scored, -variant.index

    return sorted(variants, key=goodness, reverse=True)


def _tell(
    options: argparse.Namespace,
    project: "Project",
    version: "Version",
    built: Sequence[tuple["Variant", Path | None, list[str]]],
) -> None:
    if options.json:
        kept = project.id if options.data is not None else None
        variants = [_as_json(variant, folder, files) for variant, folder, files in built]
        print(encode_text({"project": kept, "stack": project.stack, "variants": variants}))
        return
    table: list[list[str]] = []
    for variant, folder, _ in built:
        if folder is not None:
            score = f"score {variant.score.overall:.3f}" if variant.score is not None else variant.status
            took = (variant.ended or 0) - (variant.started or 0)
            table.append([f"{folder}/", variant.model, score, seconds(max(took, 0)), dollars(variant.cost_usd)])
        if variant.error is not None:
            _say(f"Variant {variant.index + 1} ({variant.model}) failed: {variant.error.message}", quiet=False)
    for line in rows_of(table):
        print(line)
    if not table and all(variant.error is None for variant, _, _ in built):
        _say(f"Nothing was built: {version.variants[0].status}.", quiet=False)


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
    }


def _status(version: "Version") -> int:
    found = {variant.status for variant in version.variants}
    if "cancelled" in found:
        return 130
    if "completed" in found:
        return 0
    return 3 if "limit" in found else 1


def _say(line: str, quiet: bool) -> None:
    if not quiet:
        print(f"weft: {printable(line)}", file=sys.stderr, flush=True)
