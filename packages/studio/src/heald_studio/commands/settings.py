"""The settings of the studio and its commands: the tables `[studio]`, `[build]` and `[eval]`."""

from collections.abc import Sequence

from heald.config.table import Amount, Count, Names, Table, option
from heald.config.work_tables import BEST, EndpointTable


def stack_names() -> Sequence[str]:
    """Return the names of the installed stacks."""
    from heald_studio.stacks.installed import load_stacks

    return list(load_stacks())


class StudioTable(Table):
    """The studio, in `heald serve`, `heald build` and `heald eval`."""

    prompts: str = option("folder with prompt texts that replace built-in ones", "studio", metavar="DIR", path=True)
    stacks: str = option(
        "folder with stacks that are offered besides the built-in ones", "studio", metavar="DIR", path=True
    )
    eval_pictures: str = option(
        "folder of pictures for evaluations in the browser; for `heald serve`",
        "studio",
        without="built-in examples",
        metavar="DIR",
        path=True,
    )


class BuildTable(EndpointTable):
    """`heald build`."""

    model: Names = option(
        "provider/model, or acp/NAME for an external agent; several are separated by commas",
        "model",
        without=BEST,
        metavar="NAMES",
        aliases=("--models",),
    )
    design_system: str = option(
        "design.md or another file, a repository or an address to read colours, fonts and components from",
        "input",
        metavar="SOURCE",
        aliases=("--design",),
        path=True,
    )
    stack: str = option(
        "technology of the page; `--stack list` shows all",
        "variants",
        default="html_tailwind",
        completions=stack_names,
    )
    variants: Count = option("agents that work side by side", "variants", without="one for each model", metavar="N")
    draft: bool = option(
        "convert the picture without a model first, and let the models change only what differs",
        "variants",
        default=False,
    )
    score: bool = option("render the pages and compare them with the picture", "variants", default=True)
    output: str = option("folder to write to", "output", default="out", metavar="DIR", aliases=("-o",), path=True)
    data: str = option(
        "keep the project there; the `data` at the top does not count",
        "output",
        metavar="DIR",
        path=True,
        at_top=False,
    )


class EvalTable(EndpointTable):
    """`heald eval`."""

    model: Names = option(
        "provider/model; several are separated by commas",
        "model",
        without=BEST,
        metavar="NAMES",
        aliases=("--models",),
    )
    stacks: Names = option("technologies of the pages", default="html_css", metavar="NAMES", completions=stack_names)
    seconds: Amount = option("for one conversion, without --batch", default=600.0, metavar="N")
    batch: bool = option(
        "send requests as batches of OpenAI, Anthropic or Gemini: half the price, within a day", default=False
    )
    batch_poll: Amount = option("seconds between two looks at a batch", default=30.0, metavar="SECONDS")
    output: str = option(
        "folder that the report is written to", default="report", metavar="DIR", aliases=("-o",), path=True
    )
    resume: bool = option("keep the finished pages of an earlier run", default=False)
    share: str = option("only this share of the pictures, such as 1/2, and no report", default="", metavar="K/N")
