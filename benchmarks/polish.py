"""A draft that a model polishes, beside a page that a model writes from nothing: the score, and the output tokens.

`python -m benchmarks.polish [NAME ...] [--pages N] [--resume]` takes pages of the evaluation that the converter was not
tuned with, by default twelve that a fixed seed draws. The converter drafts each, and a scripted model that knows the
page of the picture corrects what differs (`page_editor`). The page from nothing is its own source, written by one call:
few models write a shorter one. Tokens are characters divided by four, for both: of the answers and of the arguments of
all calls. It writes benchmarks/results/polish.json, and fails above the bar.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random

import msgspec

from benchmarks.page_editor import PageEditor
from benchmarks.pages import pictures, render
from benchmarks.report import commit_name, machine
from heald.testing import ScriptedModel
from heald_server.models import KnownModels
from heald_studio.browser.browser import shared_browser
from heald_studio.commands.local_studio import OWNER, open_local_studio
from heald_studio.input.pictures import read_picture
from heald_studio.projects.project import Variant, VariantRef
from heald_studio.request import BuildRequest, View
from heald_studio.stacks.installed import find_stack
from heald_studio.studio import Studio

RESULTS = Path(__file__).parent / "results" / "polish.json"
SET = "held"
SEED = 18
BAR = 0.2
"""The most output tokens of all polished drafts, as a part of those of the pages from nothing."""
_STACK = "html_css"


class PageFigures(msgspec.Struct, frozen=True):
    page: str
    draft_score: float
    polished_score: float
    polished_tokens: int
    written_score: float
    written_tokens: int

    @property
    def share(self) -> float:
        return self.polished_tokens / self.written_tokens


class Totals(msgspec.Struct, frozen=True):
    pages: int
    draft_score: float
    polished_score: float
    written_score: float
    polished_tokens: int
    written_tokens: int
    share: float


class PolishResults(msgspec.Struct, frozen=True):
    command: str
    commit: str
    machine: str
    totals: Totals
    pages: list[PageFigures]


def choose_pages(count: int) -> list[str]:
    """Return the names of pages that the seed draws."""
    return Random(SEED).sample(sorted(name for which, name in render.pages() if which == SET), count)


async def measure_page(which: str, name: str, folder: Path) -> PageFigures:
    options = argparse.Namespace(studio_prompts=None, studio_stacks=None)
    source = render.page_html(which, name).decode().replace("../pictures/", "pictures/")
    photographs = {
        f"pictures/{path.name}": path.read_bytes()
        for path in (render.HERE / "pictures").iterdir()
        if path.name in source
    }
    await render.render(shared_browser(), which, name, folder / name)
    target = (folder / f"{name}.png").read_bytes()
    stack = find_stack(_STACK)
    editor = PageEditor(
        "scripted/editor", stack, {"index.html": source.encode(), **photographs}, target, render.viewport(name)
    )
    call = ScriptedModel.call("create_file", path="index.html", content=source)
    writer = ScriptedModel([call, "Done."], name="scripted/writer", piece=400)
    models = KnownModels(named={"scripted/editor": editor, "scripted/writer": writer})
    async with open_local_studio(models, options) as (studio, _):
        polished, corrected = await _build(studio, target, "scripted/editor", editor)
        written, files = await _build(studio, target, "scripted/writer")
    return PageFigures(
        name,
        round(editor.draft_score, 4),
        round(await editor.score(corrected), 4),
        polished.usage.output or 0,
        round(await editor.score({**files, **photographs}), 4),
        written.usage.output or 0,
    )


async def _build(
    studio: Studio, target: bytes, model: str, editor: PageEditor | None = None
) -> tuple[Variant, dict[str, bytes]]:
    """Build the page of a picture; with an editor the converter drafts it first."""
    view = View(read_picture(target))
    is_draft = editor is not None
    request = BuildRequest(mode="image", views=(view,), stack=_STACK, models=(model,), variants=1, draft=is_draft)
    project = await studio.create(OWNER, request)
    place = VariantRef(project.versions[0].id, 0)
    if editor is not None:
        editor.read_draft.set_result(lambda: studio.files(OWNER, project.id, place))
    version = await studio.wait_version(OWNER, project.id, place.version)
    variant = version.variants[0]
    if variant.status != "completed":
        sys.exit(f"{model} failed: {variant.error}")
    return variant, dict(await studio.files(OWNER, project.id, place))


def summarize(rows: list[PageFigures]) -> Totals:
    count = len(rows)
    polished, written = sum(row.polished_tokens for row in rows), sum(row.written_tokens for row in rows)
    return Totals(
        count,
        round(sum(row.draft_score for row in rows) / count, 4),
        round(sum(row.polished_score for row in rows) / count, 4),
        round(sum(row.written_score for row in rows) / count, 4),
        polished,
        written,
        round(polished / written, 4),
    )


def print_row(name: str, row: PageFigures | Totals) -> None:
    scores = f"draft {row.draft_score:.3f}  polished {row.polished_score:.3f}  from nothing {row.written_score:.3f}"
    print(f"{name:16}  {scores}  tokens {row.polished_tokens:5} of {row.written_tokens:6}  {row.share:.1%}", flush=True)


async def main(names: Sequence[str], *, resume: bool) -> int:
    stored = msgspec.json.decode(RESULTS.read_bytes(), type=PolishResults).pages if resume and RESULTS.exists() else []
    rows = {row.page: row for row in stored}
    commit = commit_name()  # before the results change
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if name not in rows:
                rows[name] = await measure_page(SET, name, Path(folder))
                command, figures = f"python -m benchmarks.polish {' '.join(rows)}", list(rows.values())
                results = PolishResults(command, commit, machine(), summarize(figures), figures)
                RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
            print_row(name, rows[name])
    totals = summarize(list(rows.values()))
    print_row("all", totals)
    return 0 if totals.share <= BAR and totals.polished_score >= totals.draft_score else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these pages")
    parser.add_argument("--pages", type=int, default=12)
    parser.add_argument("--resume", action="store_true", help="keep the pages that an earlier run measured")
    arguments = parser.parse_args()
    pictures.main()
    try:
        status = asyncio.run(main(arguments.names or choose_pages(arguments.pages), resume=arguments.resume))
    finally:
        shared_browser().close()
    sys.exit(status)
