"""The command `weft`: one parser, one file a subcommand, one sentence for every error."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from weft import __version__
from weft.core.errors import WeftError

COMMANDS = {
    "build": "build a page from a picture, a sentence, an address or a recording",
    "chat": "the coding assistant in this terminal, on a folder",
    "serve": "sessions over HTTP, server-sent events and WebSocket",
    "run": "one exchange: ask a model, let it use tools, stream what happens",
    "sessions": "list, show, export, import, rename and delete sessions",
    "models": "models that can be named here, and what they cost",
    "replay": "a session once more, on the terminal or in the words of a client",
    "eval": "measure how well models rebuild pictures",
    "config": "what is set, and where each of it comes from",
    "trust": "let the weft.toml of a project count, or not",
    "key": "keep keys in the keyring of the system",
    "doctor": "what works on this machine, and how to get the rest",
    "conform": "find out what a model server gets wrong",
    "demo": "an agent at work over every wire; needs no key and no network",
    "completion": "a script that lets your shell complete weft's words",
}
"""What there is, as the list of all commands says it: that list is shown without loading any."""

_EXAMPLES = """examples:
  weft doctor                      what works on this machine
  weft build shot.png              a picture becomes a page
  weft chat                        work on this folder with a model
  weft serve                       the page, and the server behind it

weft COMMAND --help says more, with examples. What options say can be set for good: weft config --help.
exit status: 0 done, 1 failed, 2 wrong usage, 3 a limit was reached, 130 interrupted"""


def parser(command: str | None = None, *, whole: bool = False) -> argparse.ArgumentParser:
    """The parser of one command, or the list of all; the `whole` one knows the options of all, and loads all."""
    root = argparse.ArgumentParser(
        prog="weft",
        description="Language models call tools in a loop, and everything streams to whoever watches.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=f"weft {__version__}")
    commands = root.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, said in COMMANDS.items():
        if whole or name == command:
            import_module(f"weft.cli.{name}").add_parser(commands)
        elif command not in COMMANDS:
            commands.add_parser(name, help=said)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. 0 is success, 1 failure, 2 wrong usage, 3 a limit that was reached, 130 interrupted."""
    words = sys.argv[1:] if arguments is None else arguments
    if not words:
        parser().print_help(sys.stderr)
        raise SystemExit(2)
    options = parser(words[0]).parse_args(words)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal with few letters still gets all the text
    try:
        _settle(options, words)
        status = options.run(options)
        sys.stdout.flush()
        return status
    except WeftError as error:
        print(f"weft: {_shown(error)}", file=sys.stderr)
        return 2 if error.code in ("configuration", "unknown_provider", "missing_key", "bad_base_url") else 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read us has seen enough; nothing is left to be flushed into the void at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _settle(options: argparse.Namespace, words: Sequence[str]) -> None:
    """What no flag says may be set elsewhere."""
    from weft.cli.settling import settle

    settle(options, words, lambda: parser(options.command))


def _shown(error: WeftError) -> str:
    """Providers say things too, and not all of them belong on a terminal."""
    from weft.tools.printable import printable

    return printable(str(error))


if __name__ == "__main__":
    sys.exit(main())
