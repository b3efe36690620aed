"""The command `weft`: one parser, one file a subcommand, one sentence for every error."""

import argparse
import io
import os
import sys
from collections.abc import Sequence

from weft import __version__
from weft.cli import conform, demo, run
from weft.core.errors import WeftError


def parser() -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(
        prog="weft", description="Language models call tools in a loop, and everything streams to whoever watches."
    )
    root.add_argument("--version", action="version", version=f"weft {__version__}")
    commands = root.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in (run, conform, demo):
        command.add_parser(commands)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. 0 is success, 1 failure, 2 wrong usage, 130 interrupted."""
    options = parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal with few letters still gets all the text
    try:
        status = options.run(options)
        sys.stdout.flush()
        return status
    except WeftError as error:
        print(f"weft: {error}", file=sys.stderr)
        return 2 if error.code in ("configuration", "unknown_provider", "missing_key", "bad_base_url") else 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read us has seen enough; nothing is left to be flushed into the void at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
