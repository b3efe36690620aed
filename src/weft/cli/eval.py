"""`weft eval`: pictures rebuilt by models in stacks, measured, and put into a report."""

import argparse
import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from weft.cli.board import Board
from weft.cli.paint import pad, seconds
from weft.cli.studio_here import OWNER, add_model_options, chosen_models, missing_studio, models_of, studio_here
from weft.core.envelope import Event
from weft.core.errors import ConfigurationError, WeftError
from weft.core.events import FilePreview
from weft.server.context import ServerContext
from weft.server.models import KnownModels
from weft.sessions.session import Session
from weft.sessions.store import SessionInfo
from weft.tools.printable import printable

if TYPE_CHECKING:
    from weft.studio.evaluate import Conversion, Report, Row
    from weft.studio.evaluate.report import Summary
    from weft.studio.stacks.stack import Stack
    from weft.studio.studio import Studio

_EXAMPLES = """examples:
  weft eval shots/ --models anthropic/claude-sonnet-4-6,openai/gpt-5.2 -o report
  weft eval shots/ --models local/vision --stacks html_css,react_tailwind
  weft eval shots/ --json | jq .summaries

shots/ holds NAME.png, or NAME@2x.png for a picture of twice the size; folders in it are groups of the report. A file
NAME.json beside a picture may say which text is really in it. Every conversion costs what its model costs.
exit status: 0 a report was written, 1 nothing could be converted, 2 wrong usage"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage]
    parser = commands.add_parser(
        "eval",
        help="measure how well models rebuild pictures",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("targets", metavar="DIR", help="the pictures to rebuild")
    parser.add_argument("--stacks", default="html_css", metavar="NAMES", help="by commas (%(default)s)")
    parser.add_argument("--seconds", type=float, default=600.0, metavar="N", help="for one conversion (600)")
    add_model_options(parser, "--models")
    parser.add_argument("-o", "--output", default="report", metavar="DIR", help="(%(default)s)")
    parser.add_argument("--force", action="store_true", help="write into a folder that holds other things")
    parser.add_argument("--json", action="store_true", help="print the report as JSON as well")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    out = Path(options.output)
    if out.exists() and not out.is_dir():
        raise ConfigurationError(f"{out} is no folder; name another with --output.")
    if out.is_dir() and any(out.iterdir()) and not (out / "report.html").is_file() and not options.force:
        raise ConfigurationError(f"The folder {out} holds other things; name another with --output, or use --force.")
    try:
        from weft.studio.evaluate import write_report
    except ImportError as error:
        raise missing_studio(error) from None
    report = asyncio.run(_evaluate(options, models_of(options)))
    page = write_report(report, out)
    if options.json:
        print(report.as_json().decode())
    else:
        for summary in report.summaries():
            print("\n".join(_told(summary)))
        print(page)
    return 1 if all(row.error for row in report.rows) else 0


async def _evaluate(options: argparse.Namespace, models: KnownModels) -> "Report":
    from weft.studio.evaluate import evaluate, load_targets

    stacks = [name.strip() for name in options.stacks.split(",") if name.strip()]
    targets = await asyncio.to_thread(load_targets, Path(options.targets))
    async with studio_here(models, scores=False) as (studio, context):
        names, _ = chosen_models(options.model, studio, None, 1)
        names = names if options.model else names[:1]
        previews = _Previews(context)
        converters = {name: _Converter(studio, previews, name) for name in names}
        progress = _Progress(len(targets) * len(names) * len(stacks))
        async with Board(progress.lines, silent=options.json and not sys.stderr.isatty()) as board:

            def done(row: "Row") -> None:
                board.news(progress.done(row))

            return await evaluate(targets, converters, stacks, progress=done, seconds=options.seconds)


class _Previews:
    """When something could first be seen of each session."""

    def __init__(self, context: ServerContext) -> None:
        self.first: dict[str, float] = {}
        context.open.on_open(self._follow)

    def _follow(self, info: SessionInfo, session: Session) -> None:
        def hear(event: Event) -> None:
            if isinstance(event.data, FilePreview):
                self.first.setdefault(info.id, monotonic())

        session.subscribe(hear, types=["file_preview"])


class _Converter:
    """One model, through the studio."""

    def __init__(self, studio: "Studio", previews: _Previews, model: str) -> None:
        self._studio = studio
        self._previews = previews
        self._model = model

    async def __call__(self, target: bytes, stack: "Stack", /) -> "Conversion":
        from weft.studio.brief import Brief, View
        from weft.studio.evaluate import Conversion
        from weft.studio.input.pictures import read_picture
        from weft.studio.projects.project import Base

        started = monotonic()
        view = View(await asyncio.to_thread(read_picture, target))
        brief = Brief(mode="image", views=(view,), stack=stack.name, models=(self._model,), variants=1)
        project = await self._studio.create(OWNER, brief)
        try:
            version = await self._studio.finished(OWNER, project.id, project.versions[-1].id)
            (variant,) = version.variants
            if variant.error is not None:
                raise WeftError(variant.error.message)
            files = await self._studio.files(OWNER, project.id, Base(version.id, 0))
        finally:
            await self._studio.delete(OWNER, project.id)
        seen = self._previews.first.pop(variant.session, None)
        return Conversion(
            files=dict(files),
            cost_usd=variant.cost_usd,
            first_preview_seconds=seen - started if seen is not None else None,
            notes=() if variant.status == "completed" else (f"It ended as {variant.status}.",),
        )


class _Progress:
    """How far the run is."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._rows = 0
        self._last = ""
        self._started = monotonic()

    def done(self, row: "Row") -> str:
        self._rows += 1
        found = f"score {row.score.overall:.3f}" if row.score is not None else row.error or "no score"
        self._last = f"{row.target}, {row.model}, {row.stack}: {printable(found)}"
        return f"{self._rows}/{self._count} {self._last}, {seconds(row.seconds)}"

    def lines(self) -> list[str]:
        full = 24 * self._rows // max(self._count, 1)
        took = seconds(monotonic() - self._started)
        return [f"{pad('█' * full, 24)} {self._rows}/{self._count}  {took}  {self._last}"]


def _told(summary: "Summary") -> Iterator[str]:
    """What was measured, and whether it is enough."""
    from weft.studio.evaluate.columns import BY_KEY
    from weft.studio.evaluate.markdown import MET

    overall = next(figures.mean for figures in summary.figures if figures.column == "overall")
    yield f"{summary.title}: {f'score {overall:.3f}' if overall is not None else 'no score'}"
    for verdict in summary.verdicts:
        value = BY_KEY[verdict.column].written(verdict.value)
        yield f"  {pad(verdict.bar, 42)} {value:>10}  {MET[verdict.met]}"
