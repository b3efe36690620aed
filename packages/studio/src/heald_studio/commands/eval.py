"""`heald eval`: rebuilds pictures with models in several stacks, measures the results and writes a report."""

import argparse
import asyncio
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from heald.commands.amounts import format_seconds, format_usd
from heald.commands.interruption import run_interruptible
from heald.commands.live_lines import LiveLines
from heald.commands.options import add_options
from heald.commands.terminal import print_note
from heald.commands.text_columns import pad
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError, HealdError, InvalidRequest
from heald.core.events import FilePreview
from heald.providers.batch_api import batch_api
from heald.providers.batch_journal import BatchJournal
from heald.providers.batch_queue import QUIET_SECONDS, BatchQueue, use_batches
from heald.providers.model import Model
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.tools.sanitize import sanitize_text
from heald_server.context import ServerContext
from heald_server.models import KnownModels
from heald_studio.commands.local_studio import (
    OWNER,
    check_output,
    choose_models,
    open_local_studio,
    resolve_models,
)
from heald_studio.score.figure_text import format_figure

if TYPE_CHECKING:
    from heald_studio.evaluate.conversion import Conversion
    from heald_studio.evaluate.report import EvaluationReport, Summary
    from heald_studio.evaluate.row import Row
    from heald_studio.evaluate.targets import EvaluationTarget
    from heald_studio.stacks.stack import Stack
    from heald_studio.studio import Studio

EXAMPLES = """examples:
  heald eval shots/ --models anthropic/claude-sonnet-4-6,openai/gpt-5.2 -o report
  heald eval shots/ --models local/vision --stacks html_css,react_tailwind
  heald eval shots/ --models openai/gpt-5.2 --batch -o report     half the price; the same line goes on after Ctrl-C
  heald eval shots/ --resume -o report                            goes on after Ctrl-C: finished pages are kept
  heald eval shots/ --json | jq .summaries

shots/ holds NAME.png, or NAME@2x.png for a picture of twice the size; its subfolders are groups of the report. A file
NAME.json beside a picture may hold the text that is in it; NAME.html is the document that it was made from, and pages
are compared with it, also by the definition of Design2Code. Every conversion costs what its model costs.
exit status: 0 a report was written, 1 nothing could be converted, 2 wrong usage"""


JOURNAL = "batches.jsonl"
"""The file in the folder of the report that remembers batches."""
ROWS = "rows"
"""The folder in it with the rows that are finished."""
_MOST_EXCHANGES = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("targets", metavar="DIR", help="folder with the pictures")
    add_options(parser, "eval")
    parser.add_argument("--force", action="store_true", help="write into a folder that holds other files")
    parser.add_argument("--json", action="store_true", help="also print the report as JSON")


def run(options: argparse.Namespace) -> int:
    out = Path(options.output)
    check_output(out)
    others = [path for path in out.iterdir() if path.name not in (JOURNAL, ROWS)] if out.is_dir() else []
    if others and not (out / "report.html").is_file() and not options.force:
        raise ConfigurationError(f"The folder {out} holds other things; name another with --output, or use --force.")
    from heald_studio.evaluate.report_files import write_report

    models = resolve_models(options)
    if options.batch:
        _check_batches(options.model, models)
    report = run_interruptible(_evaluate(options, models))
    if options.share:
        print(f"Rows in {out / ROWS}: {len(report.rows)}. Run the same without --share for the report.")
        return 1 if report.rows and all(row.error for row in report.rows) else 0
    page = write_report(report, out)
    if options.json:
        print(report.as_json().decode())
    else:
        for summary in report.summaries():
            print("\n".join(_summary_lines(summary)))
        print(f"cost: {_total_cost(report, batch=options.batch)}")
        print(page)
    return 1 if all(row.error for row in report.rows) else 0


def _check_batches(names: list[str], models: KnownModels) -> None:
    for name in names:
        model = models.open(name)
        try:
            if isinstance(model, Model):
                batch_api(model)
        except InvalidRequest as error:
            raise ConfigurationError(str(error)) from None


async def _evaluate(options: argparse.Namespace, models: KnownModels) -> "EvaluationReport":
    from heald_studio.evaluate.evaluation import evaluate
    from heald_studio.evaluate.row_store import RowStore
    from heald_studio.evaluate.targets import load_targets

    store = RowStore(Path(options.output))
    if not options.resume:
        store.clear()
    stacks: list[str] = options.stacks
    batch: bool = options.batch
    targets = _share_of(await asyncio.to_thread(load_targets, Path(options.targets)), options.share)
    exchanges = _MOST_EXCHANGES if batch else None
    async with open_local_studio(models, options, scores=False, exchanges=exchanges) as (studio, context):
        names, _ = choose_models(options.model, studio, None, 1, pictures=True)
        names = names if options.model else names[:1]
        chosen = [studio.find_stack(name) for name in stacks]
        previews = _Previews(context)
        converters = {name: _Converter(studio, previews, name) for name in names}
        progress = _Progress(len(targets) * len(names) * len(stacks))
        silent = options.json and not sys.stderr.isatty()
        async with _explaining_interruption(progress), LiveLines(progress.lines, silent=silent) as live:

            def done(row: "Row") -> None:
                live.report(progress.done(row))

            if not batch:
                return await evaluate(targets, converters, chosen, progress=done, seconds=options.seconds, store=store)
            queue = BatchQueue(
                BatchJournal(Path(options.output) / JOURNAL),
                poll_seconds=options.batch_poll,
                quiet_seconds=min(options.batch_poll, QUIET_SECONDS),
                on_change=progress.show_batch,
            )
            async with use_batches(queue):
                return await evaluate(
                    targets, converters, chosen, progress=done, seconds=None, at_once=True, store=store
                )


@asynccontextmanager
async def _explaining_interruption(progress: "_Progress") -> AsyncGenerator[None]:
    """Print how to continue, if the block is interrupted."""
    try:
        yield
    except asyncio.CancelledError:
        print_note(f"{progress.describe_count()} are done and kept; the same command with --resume continues.")
        raise


def _share_of(targets: "tuple[EvaluationTarget, ...]", share: str) -> "tuple[EvaluationTarget, ...]":
    """Return the targets of one share, such as 2/3: every third one, beginning with the second."""
    if not share:
        return targets
    first, _, count = share.partition("/")
    if not (first.isdecimal() and count.isdecimal() and 1 <= int(first) <= int(count)):
        raise ConfigurationError(f"The share {share!r} cannot be read; write one such as 1/2.")
    return targets[int(first) - 1 :: int(count)]


def _total_cost(report: "EvaluationReport", *, batch: bool) -> str:
    costs = [row.cost_usd for row in report.rows]
    priced = [cost for cost in costs if cost is not None]
    if not priced:
        return "unknown"
    least = "at least " if len(priced) < len(costs) else ""
    return f"{least}{format_usd(sum(priced))}{', the price of batches' if batch else ''}"


class _Previews:
    """Records when the first preview of each session appeared."""

    def __init__(self, context: ServerContext) -> None:
        self.first: dict[str, float] = {}
        context.open_sessions.on_open(self._follow)

    def _follow(self, info: SessionInfo, session: Session) -> None:
        def on_event(event: Event) -> None:
            if isinstance(event.data, FilePreview):
                self.first.setdefault(info.id, monotonic())

        session.subscribe(on_event, types=["file_preview"])


class _Converter:
    """Converts a picture with one model, through the studio."""

    def __init__(self, studio: "Studio", previews: _Previews, model: str) -> None:
        self._studio = studio
        self._previews = previews
        self._model = model

    async def __call__(self, target: bytes, stack: "Stack", /) -> "Conversion":
        from heald_studio.evaluate.conversion import Conversion
        from heald_studio.input.pictures import read_picture
        from heald_studio.projects.project import VariantRef
        from heald_studio.request import BuildRequest, View

        started = monotonic()
        view = View(await asyncio.to_thread(read_picture, target))
        brief = BuildRequest(mode="image", views=(view,), stack=stack.name, models=(self._model,), variants=1)
        project = await self._studio.create(OWNER, brief)
        try:
            version = await self._studio.wait_version(OWNER, project.id, project.versions[-1].id)
            (variant,) = version.variants
            if variant.error is not None:
                raise HealdError(variant.error.message)
            files = await self._studio.files(OWNER, project.id, VariantRef(version.id, 0))
        finally:
            await self._studio.delete(OWNER, project.id)
        first_preview = self._previews.first.pop(variant.session, None)
        return Conversion(
            files=dict(files),
            cost_usd=variant.cost_usd,
            first_preview_seconds=first_preview - started if first_preview is not None else None,
            notes=() if variant.status == "completed" else (f"It ended as {variant.status}.",),
        )


class _Progress:
    """Counts the conversions that are done."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._rows = 0
        self._last = ""
        self._batch = ""
        self._started = monotonic()

    def show_batch(self, text: str) -> None:
        """Show how far a batch is."""
        self._batch = text

    def done(self, row: "Row") -> str:
        self._rows += 1
        outcome = f"score {format_figure(row.score.overall)}" if row.score is not None else row.error or "no score"
        self._last = f"{row.target}, {row.model}, {row.stack}: {sanitize_text(outcome)}"
        memory = f", {row.memory_mb:,.0f} MB" if row.memory_mb is not None else ""
        spent = f"{format_seconds(row.seconds)}, {format_seconds(row.cpu_seconds)} of processor time{memory}"
        return f"{self._rows}/{self._count} {self._last}, {spent}"

    def describe_count(self) -> str:
        return f"{self._rows} of {self._count} pages"

    def lines(self) -> list[str]:
        full = 24 * self._rows // max(self._count, 1)
        elapsed = format_seconds(monotonic() - self._started)
        return [f"{pad('█' * full, 24)} {self._rows}/{self._count}  {elapsed}  {self._batch or self._last}"]


def _summary_lines(summary: "Summary") -> Iterator[str]:
    """Yield the measured values, and whether they pass."""
    from heald_studio.evaluate.columns import COLUMNS_BY_KEY
    from heald_studio.evaluate.report_tables import RESULT_TEXT

    overall = next(figures.mean for figures in summary.figures if figures.column == "overall")
    yield f"{summary.title}: {f'score {format_figure(overall)}' if overall is not None else 'no score'}"
    for verdict in summary.verdicts:
        value = COLUMNS_BY_KEY[verdict.column].format(verdict.value)
        yield f"  {pad(verdict.bar, 42)} {value:>10}  {RESULT_TEXT[verdict.met]}"
