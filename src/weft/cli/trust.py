"""`weft trust`: whether the `weft.toml` of a project may be obeyed."""

import argparse
import os
import sys
from pathlib import Path

from weft.cli.paint import BOLD, DIM, YELLOW, Paint
from weft.config.places import project_file, shown
from weft.config.reading import content_of, read
from weft.config.trust import answers, forget, remember, state_of
from weft.core.errors import ConfigurationError
from weft.core.json import encode_text
from weft.tools.printable import printable

_EXAMPLES = """examples:
  weft trust                 show the weft.toml of this project, and ask
  weft trust --yes           the same for scripts, without asking
  weft trust --no            never ask about it again, as long as it stays as it is
  weft trust --forget        take back what was said
  weft trust --list --json   all projects that were asked about

A project's weft.toml names models, addresses, tools and permissions. It may have come with a repository that somebody
else wrote, so it does nothing until you trust it; and nothing again once it is changed."""
_MOST = 200


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage]
    parser = commands.add_parser(
        "trust",
        help="let the weft.toml of a project count, or not",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="of the project (the current folder)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--yes", action="store_true", help="trust it as it is now")
    which.add_argument("--no", action="store_true", help="refuse it as it is now")
    which.add_argument("--forget", action="store_true", help="take back what was said")
    which.add_argument("--list", action="store_true", help="what was said of all projects")
    parser.add_argument("--json", action="store_true", help="one JSON object a line; goes with --list")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.list:
        return _list(as_json=options.json)
    if not Path(options.folder).is_dir():
        raise ConfigurationError(f"There is no folder {options.folder!r}.")
    path = project_file(Path(options.folder))
    if path is None:
        raise ConfigurationError(f"There is no weft.toml in {options.folder!r}, nor above it in the same project.")
    if options.forget:
        said = "is forgotten." if forget(path) else "was never asked about."
    elif options.yes or options.no:
        said = _decide(path, trusted=options.yes)
    elif not sys.stdin.isatty():
        raise ConfigurationError(f"Nobody is there to be asked about {shown(path)}; say --yes or --no.")
    else:
        return 0 if ask(path) else 1
    print(f"weft: {printable(shown(path))} {said}", file=sys.stderr)
    return 0


def ask(path: Path) -> bool:
    """Show a project's file and ask; whether it is trusted now."""
    content = content_of(path) or b""
    read(path, "project", content)  # what is wrong with it is said before anything is asked
    paint = Paint(sys.stderr)
    asks = "has changed since you trusted it" if state_of(path, content) == "changed" else "is not trusted yet"
    print(paint(f"weft: {printable(shown(path))} {asks}. It says:", BOLD), file=sys.stderr)
    lines = printable(content.decode("utf-8", "replace")).splitlines()
    for line in lines[:_MOST]:
        print(paint(f"  │ {line}", DIM), file=sys.stderr)
    if len(lines) > _MOST:
        print(
            paint(f"  │ … {len(lines) - _MOST} more lines: read the file before you trust it", YELLOW), file=sys.stderr
        )
    print("obey it? [y]es, [n]o and never ask, anything else: not now. ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline().strip().lower()
    if answer in ("y", "yes") and content_of(path) != content:
        raise ConfigurationError(f"{shown(path)} was changed while you looked at it; look again.")
    if answer in ("y", "yes", "n", "no"):
        remember(path, content, trusted=answer in ("y", "yes"))
    return answer in ("y", "yes")


def _decide(path: Path, *, trusted: bool) -> str:
    content = content_of(path)
    if content is None:
        raise ConfigurationError(f"{shown(path)} is gone.")
    if trusted:
        read(path, "project", content)
    remember(path, content, trusted=trusted)
    return "is trusted as it is now." if trusted else "is refused as it is now."


def _list(*, as_json: bool) -> int:
    for name, answer in sorted(answers().items()):
        content = content_of(Path(name)) if os.path.isfile(name) else None
        state = state_of(Path(name), content) if content is not None else "gone"
        line = encode_text({"file": name, "state": state, "trusted": answer.trusted and state == "trusted"})
        print(line if as_json else f"{state:<8} {printable(shown(Path(name)))}")
    return 0
