"""The command `weft`: one parser, one file a subcommand, one sentence for every error."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from weft import __version__
from weft.core.errors import WeftError

COMMANDS = ("run", "serve", "conform", "demo")


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands, or of one: what others need is not loaded for it."""
    root = argparse.ArgumentParser(
        prog="weft", description="Language models call tools in a loop, and everything streams to whoever watches."
    )
    root.add_argument("--version", action="version", version=f"weft {__version__}")
    commands = root.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS if command not in COMMANDS else (command,):
        import_module(f"weft.cli.{name}").add_parser(commands)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. 0 is success, 1 failure, 2 wrong usage, 130 interrupted."""
    words = sys.argv[1:] if arguments is None else arguments
    options = parser(words[0] if words else None).parse_args(words)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal with few letters still gets all the text
    try:
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


def _shown(error: WeftError) -> str:
    """Providers say things too, and not all of them belong on a terminal."""
    from weft.tools.printable import printable

    return printable(str(error))


if __name__ == "__main__":
    sys.exit(main())
