"""The command `weft`. Each subcommand is a module; every error is one sentence."""

import gc
import io
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module

from weft import __version__

TYPE_CHECKING = False  # the module `typing` takes longer than the help
if TYPE_CHECKING:
    import argparse

COMMANDS = {
    "build": "build a page from a picture, a text, a web address or a recording",
    "chat": "work on a folder with a coding assistant in this terminal",
    "acp": "work on a folder with a coding assistant in an editor",
    "mcp": "offer agents to MCP clients, or sign in to MCP servers",
    "serve": "run the server: sessions over HTTP, server-sent events and WebSocket",
    "run": "one exchange: ask a model, let it use tools, stream the events",
    "undo": "restore the files as they were before an attempt of `weft run --attempts` was applied",
    "sessions": "list, show, check, export, import, rename and delete sessions",
    "tokens": "give users of a server their tokens, list and revoke them",
    "store": "check, migrate and copy the store of the sessions",
    "models": "list the models that can be used here, with their prices",
    "push": "push a project of the studio to a git remote",
    "replay": "play a session again, on the terminal or as a client receives it",
    "eval": "measure how well models rebuild pictures",
    "config": "show all settings and where each is set",
    "trust": "trust or refuse the weft.toml of a project",
    "key": "store API keys in the keyring of the system",
    "doctor": "check what works on this machine, and how to get the rest",
    "conform": "test a model server for errors in its API",
    "demo": "run an agent over every wire; needs no key and no network",
    "completion": "print a completion script for your shell",
}
"""Every command with its help. The module `weft.cli.NAME` defines EXAMPLES, add_arguments and run."""

_EXAMPLES = """examples:
  weft doctor                      check this machine
  weft build shot.png              build a page from a picture
  weft chat                        work on this folder with a model
  weft serve                       run the server and open its page

weft COMMAND --help lists the options, with examples. Options can be set permanently: weft config --help.
exit status: 0 done, 1 failed, 2 wrong usage, 3 a limit was reached, 130 interrupted"""


def parser(command: str | None = None, *, whole: bool = False) -> "argparse.ArgumentParser":
    """Make the parser: of one command, of the list of commands, or (`whole`) of all commands with their options."""
    import argparse

    from weft.cli.usage import CommandParser

    formatter = partial(argparse.RawDescriptionHelpFormatter, width=_help_width())
    root = CommandParser(
        prog="weft",
        description="Lets language models call tools in a loop, and streams every event.",
        epilog=_EXAMPLES,
        formatter_class=formatter,
    )
    root.add_argument("--version", action="version", version=f"weft {__version__}")
    commands = root.add_subparsers(dest="command", metavar="COMMAND", required=True, prog="weft")
    for name, text in COMMANDS.items():
        if whole or name == command:
            module = import_module(f"weft.cli.{name}")
            each = commands.add_parser(
                name,
                help=text,
                description=f"{text[0].upper()}{text[1:]}.",
                epilog=module.EXAMPLES,
                formatter_class=formatter,
            )
            module.add_arguments(each)
            each.set_defaults(run=module.run)
        elif command not in COMMANDS:
            commands.add_parser(name, help=text, formatter_class=formatter, add_help=False)
    return root


def _help_width() -> int:
    """The columns of help. `shutil` counts them too, but it loads every compression."""
    try:
        columns = int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size().columns
    except (ValueError, OSError):
        columns = 80
    return columns - 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns 0 for success, 1 failure, 2 wrong usage, 3 a limit reached, 130 interrupted."""
    _prepare_streams()
    try:
        try:
            return _run_command(sys.argv[1:] if arguments is None else arguments)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        return _report_os_error(error)


def _prepare_streams() -> None:
    """Open the standard streams that the caller closed, and let a small character set show every text."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            opened = os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8", closefd=False)
            setattr(sys, name, opened)
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _run_command(words: Sequence[str]) -> int:
    gc.disable()  # modules are kept: to look at them would cost a tenth of the start
    try:
        if not words:
            parser().print_help(sys.stderr)
            raise SystemExit(2)
        if words[0] in ("help", "version"):
            words = [*words[1:2], f"--{words[0]}"]
        options = parser(words[0]).parse_args(words)
        # Not for `weft --help`, which loads no command.
        from weft.cli.options import merge_options, request_options
        from weft.core.errors import WeftError
    finally:
        gc.freeze()
        gc.enable()
    try:
        merge_options(options)
        with request_options(options):
            return options.run(options)
    except WeftError as error:
        from weft.tools.sanitize import sanitize_text

        print(f"weft: {sanitize_text(str(error))}", file=sys.stderr)  # a provider may have sent control characters
        return 2 if error.code in ("configuration", "unknown_provider", "missing_key", "bad_base_url") else 1


def _report_os_error(error: OSError) -> int:
    """Report what the system refused, such as a write to a full disk. That a reader closed its pipe is no error."""
    if not isinstance(error, BrokenPipeError):
        from weft.cli.terminal import print_note

        print_note(f"{f'{error.filename}: ' if error.filename is not None else ''}{error.strerror or error}.")
    try:
        sys.stdout.flush()
    except OSError:  # it would fail once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


if __name__ == "__main__":
    sys.exit(main())
