"""A draft that a model polishes, beside a page that a model writes from nothing: the score, and the output tokens.

`python -m benchmarks.polish [NAME ...] [--pages N] [--resume]` takes pages of the evaluation that the converter was not
tuned with, by default the twelve shortest. The converter drafts each, and a scripted model that edits well corrects the
draft (`page_editor`). The page from nothing is its own source, written by one call: few models write a shorter one.
Tokens are characters divided by four, for both. It writes benchmarks/results/polish.json, and fails above the bar.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.page_editor import PageEditor
from benchmarks.pages import pictures, render
from heald.testing import ScriptedModel
from heald_server.models import KnownModels
from heald_studio.browser.browser import shared_browser
from heald_studio.commands.local_studio import OWNER, open_local_studio
from heald_studio.input.pictures import read_picture
from heald_studio.projects.project import Variant, VariantRef
from heald_studio.request import BuildRequest, View
from heald_studio.score.scoring import compare_page
from heald_studio.stacks.installed import find_stack
from heald_studio.studio import Studio

RESULTS = Path(__file__).parent / "results" / "polish.json"
SET = "held"
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
    totals: Totals
    pages: list[PageFigures]


def choose_pages(count: int) -> list[str]:
    """Return the names of the shortest pages."""
    names = [name for which, name in render.pages() if which == SET]
    return sorted(names, key=lambda name: (len(render.page_html(SET, name)), name))[:count]


async def measure_page(name: str, folder: Path) -> PageFigures:
    options = argparse.Namespace(studio_prompts=None, studio_stacks=None)
    source = render.page_html(SET, name).decode().replace("../pictures/", "pictures/")
    call = ScriptedModel.call("create_file", path="index.html", content=source)
    writer = ScriptedModel([call, "Done."], name="scripted/writer", piece=400)
    editor = PageEditor()
    models = KnownModels(named={"scripted/editor": editor.model("scripted/editor"), "scripted/writer": writer})
    async with open_local_studio(models, options) as (studio, _):
        await render.render(shared_browser(), SET, name, folder / name)
        target = (folder / f"{name}.png").read_bytes()
        truth = json.loads((folder / f"{name}.json").read_bytes())
        editor.ratio = ratio = read_picture(target).width / truth["width"]
        editor.texts = [tuple(text[side] * ratio for side in ("x", "y", "w", "h")) for text in truth["texts"]]
        polished, _ = await _build(studio, target, "scripted/editor", draft=True)
        written, files = await _build(studio, target, "scripted/writer", draft=False)
        folder = render.HERE / "pictures"
        photographs = {f"pictures/{path.name}": path.read_bytes() for path in folder.iterdir() if path.name in source}
        score, *_ = await compare_page(find_stack(_STACK), {**files, **photographs}, target)
    if polished.score is None or polished.draft_score is None:
        sys.exit(f"{name} was not scored: {polished.error or polished.note}")
    return PageFigures(
        name,
        round(polished.draft_score.overall, 4),
        round(polished.score.overall, 4),
        polished.usage.output or 0,
        round(score.overall, 4),
        written.usage.output or 0,
    )


async def _build(studio: Studio, target: bytes, model: str, *, draft: bool) -> tuple[Variant, dict[str, bytes]]:
    view = View(read_picture(target))
    request = BuildRequest(mode="image", views=(view,), stack=_STACK, models=(model,), variants=1, draft=draft)
    project = await studio.create(OWNER, request)
    version = await studio.wait_version(OWNER, project.id, project.versions[0].id)
    variant = version.variants[0]
    if variant.status != "completed":
        sys.exit(f"{model} failed: {variant.error}")
    return variant, dict(await studio.files(OWNER, project.id, VariantRef(version.id, 0)))


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
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if name not in rows:
                rows[name] = await measure_page(name, Path(folder))
                results = PolishResults(
                    f"python -m benchmarks.polish {' '.join(rows)}", summarize(list(rows.values())), list(rows.values())
                )
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
