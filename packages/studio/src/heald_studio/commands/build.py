"""`heald build`: builds pages from pictures, a text, a web address or a recording, with one model or several."""

import argparse
from pathlib import Path

from heald.commands.interruption import run_interruptible
from heald.commands.model_options import require_key
from heald.commands.options import add_options
from heald.commands.terminal import print_note
from heald.commands.text_columns import align_columns
from heald.core.errors import ConfigurationError
from heald_server.models import KnownModels
from heald_studio.commands.build_request import check_picture_name, read_request
from heald_studio.commands.build_result import exit_status, print_result, print_sources, write_variants
from heald_studio.commands.build_wait import wait_version
from heald_studio.commands.design_scores import print_design_scores, score_designs
from heald_studio.commands.local_studio import OWNER, check_output, open_local_studio, resolve_models
from heald_studio.commands.variant_progress import VariantProgress

EXAMPLES = """examples:
  heald build shot.png                                        into out/, by the strongest models that have a key
  heald build shot.png -o site --stack react_tailwind --variants 2
  heald build --text "A page for a bakery" --model anthropic/claude-sonnet-4-6 --model openai/gpt-5.2
  heald build --text "A pricing page" --design ../shop          in the design of a repository; a file or an address too
  heald build shot.png --draft --model openai/gpt-5.2          the converter's page, corrected by a model
  heald build shot.png --models acp/claude,openai/gpt-5.2      an external agent and a model, side by side
  heald build --video screen.mp4 --stack vue_tailwind
  heald build --from site --text "Make the header sticky" -o site --force

Without a language model, local/vision follows small requests of --from: make the heading red, set the font size of
"Order now" to 18px, change Old words to New words, remove or hide the footer, move the sidebar right, centre the
heading, make the header sticky, duplicate "Rye", set the language to German.

Several variants go into out/1, out/2, …, the best first; one goes into out itself.
exit status: 0 a page is complete, 1 all failed or changed nothing, 2 wrong usage, 3 a limit was reached, 130 stopped"""

MOST_SCALE = 8

COMMON_OPTIONS = (
    *("pictures", "text", "url", "video", "start", "design_system", "model"),
    *("stack", "variants", "score", "output", "force", "json"),
)
"""What `--help` shows; `--help-all` shows the rest."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    source = parser.add_argument_group("input")
    source.add_argument("pictures", nargs="*", metavar="PICTURE", help="PNG, JPEG, WebP, GIF or HEIC")
    source.add_argument("--text", default="", help="what to build, alone or with a picture; - reads standard input")
    source.add_argument("--url", help="page to rebuild; it is captured as on a desktop and on a phone")
    source.add_argument("--video", action="append", default=[], metavar="FILE", help="recording of a screen")
    source.add_argument("--from", dest="start", metavar="PATH", help="page to change: a folder, an HTML file or a zip")
    source.add_argument(
        "--as",
        dest="picture_kind",
        default="",
        choices=("page", "sketch", "photo"),
        help="what the pictures are, for the local converter: a screenshot of a page, a drawing by hand, or the "
        "photograph of a screen (found out)",
    )
    source.add_argument(
        "--scale",
        type=int,
        choices=range(1, MOST_SCALE + 1),
        metavar="N",
        help=f"pixels of the pictures for each CSS pixel, 1 to {MOST_SCALE} (found out)",
    )
    groups = {"input": source}
    add_options(parser, "build", groups)
    groups["output"].add_argument("--force", action="store_true", help="replace existing files")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


def run(options: argparse.Namespace) -> int:
    if options.stack == "list":
        return _list_stacks(options.studio_stacks)
    if options.variants is not None and options.variants < 1:
        raise ConfigurationError("--variants is at least 1.")
    out = Path(options.output)
    _check_output(out, options.force)
    for name in options.pictures:
        check_picture_name(name)
    models = resolve_models(options)
    return run_interruptible(_build(options, models, out))


async def _build(options: argparse.Namespace, models: KnownModels, out: Path) -> int:
    async with open_local_studio(models, options, data=options.data, scores=options.score) as (studio, context):
        request = await read_request(options, studio)
        progress = VariantProgress()
        context.open_sessions.on_open(progress.follow)
        for name in request.models:
            require_key(models, name)
        project = await studio.create(OWNER, request)
        version = await wait_version(studio, project, progress, quiet=options.json)
        completed = [variant for variant in version.variants if variant.status == "completed"]
        is_scored = not request.views or not completed or any(variant.score for variant in completed)
        if options.score and not is_scored and not options.json:
            print_note("The pages were not scored; `heald doctor` shows what is missing.")
        built = await write_variants(studio, project.id, version, out, options.force)
        designs = await score_designs(studio, project.id, version, built) if options.score else {}
    print_result(options, project, built, designs)
    if not options.json:
        print_design_scores(designs)
        print_sources(progress.sources(), is_named=bool(options.picture_kind))
    return exit_status(built)


def _check_output(out: Path, force: bool) -> None:
    check_output(out)
    if not force and out.is_dir() and any(out.iterdir()):
        raise ConfigurationError(f"The folder {out} is not empty; name another with --output, or allow it by --force.")


def _list_stacks(folder: str | None) -> int:
    """Print the names and labels of all stacks."""
    from heald_studio.stacks.installed import load_stacks

    stacks = load_stacks(Path(folder) if folder else None)
    for line in align_columns([[stack.name, stack.label] for stack in stacks.values()]):
        print(line)
    return 0
