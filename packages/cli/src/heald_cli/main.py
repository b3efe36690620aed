"""The command `heald`. Its commands are plugins (`heald.commands`); every error is one sentence."""

import gc
import io
import os
import sys
from collections.abc import Sequence
from functools import partial

from heald import __version__
from heald.entry_points import entry_points, import_entry

TYPE_CHECKING = False  # the module `typing` takes longer than the help
if TYPE_CHECKING:
    import argparse
    from pathlib import Path
    from typing import Any

    from heald.config.command import Command
    from heald_cli.usage import CommandParser, HelpFormatter

    Formatter = partial[HelpFormatter]
    Subparsers = argparse._SubParsersAction[CommandParser]  # pyright: ignore[reportPrivateUsage]

_EXAMPLES = """examples:
  heald doctor                      check this machine
  heald build shot.png              build a page from a picture
  heald chat                        work on this folder with a model
  heald serve                       run the server and open its page

heald COMMAND --help lists the options, with examples. Options can be set permanently: heald config --help.
exit status: 0 done, 1 failed, 2 wrong usage, 3 a limit was reached, 130 interrupted"""


def commands() -> "dict[str, Command]":
    """Return the declarations of all commands that can be loaded, in the order of the help."""
    declared: list[Command] = []
    for entry in entry_points().get("commands", {}).values():
        try:
            declared.append(import_entry(entry))
        except Exception:
            continue  # it is reported when it is used, and by `heald doctor`
    return {command.name: command for command in sorted(declared, key=lambda command: (command.rank, command.name))}


def parser(name: str | None = None, *, whole: bool = False) -> "argparse.ArgumentParser":
    """Make the parser: of one command, of the list of commands, or (`whole`) of all commands with their options."""
    from heald_cli.usage import CommandParser, HelpFormatter, ListedCommand

    formatter = partial(HelpFormatter, width=_help_width())
    root = CommandParser(
        prog="heald",
        description="Lets language models call tools in a loop, and streams every event.",
        epilog=_EXAMPLES,
        formatter_class=formatter,
    )
    root.add_argument("--version", action="version", version=f"heald {__version__}")
    shape: Any = {"dest": "command", "metavar": "COMMAND", "required": True, "prog": "heald"}
    if whole:
        _add_all(root.add_subparsers(**shape), formatter)
    elif name is not None and name in entry_points().get("commands", ()):
        _add_command(root.add_subparsers(**shape), _load_command(name), formatter)
    else:
        listed: Any = root.add_subparsers(**shape | {"parser_class": ListedCommand})
        for command in commands().values():
            listed.add_parser(command.name, help=command.help)
    return root


def _add_all(below: "Subparsers", formatter: "Formatter") -> None:
    """Add every command that can be loaded; `heald doctor` reports the others."""
    from heald.plugin_loader import PluginFailed

    for name in commands():
        try:
            _add_command(below, _load_command(name), formatter)
        except PluginFailed:
            continue


def _load_command(name: str) -> "Command":
    """Load the declaration of a command and its module. Raises PluginFailed."""
    entry = entry_points()["commands"][name]
    try:
        command: Command = import_entry(entry)
        command.load()
    except Exception as error:
        from heald.plugin_loader import PluginFailed, describe_failure

        raise PluginFailed(describe_failure(entry, error)) from error
    return command


def _add_command(below: "Subparsers", command: "Command", formatter: "Formatter") -> None:
    module = command.load()
    added = below.add_parser(
        command.name,
        help=command.help,
        description=f"{command.help[0].upper()}{command.help[1:]}.",
        epilog=module.EXAMPLES,
        formatter_class=formatter,
    )
    module.add_arguments(added)
    if common := getattr(module, "COMMON_OPTIONS", ()):
        added.show_common(common)
    added.set_defaults(run=module.run)


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
    gc.disable()  # modules stay loaded: examining them would cost a tenth of the start
    try:
        if not words:
            parser().print_help(sys.stderr)
            raise SystemExit(2)
        if words[0] in ("help", "version"):
            words = [*words[1:2], f"--{words[0]}"]
        try:
            command_parser = parser(words[0])
            from heald.commands.options import CommandOptions

            options = command_parser.parse_args(words, CommandOptions())
        except Exception as error:
            return _report_error(error)
        # Not for `heald --help`, which loads no command.
        from heald.commands.merged_options import merge_options
        from heald.commands.request_options import request_options
        from heald.core.errors import HealdError
    finally:
        gc.freeze()
        gc.enable()
    try:
        merge_options(options, _ask_trust)
        with request_options(options):
            return options.run(options)
    except HealdError as error:
        return _report_error(error)


def _ask_trust(path: "Path") -> bool:
    from heald_cli.trust_question import ask_trust

    return ask_trust(path)


def _report_error(error: Exception) -> int:
    """Print an error of ours in one sentence. Returns the exit status; raises an error that is not ours."""
    from heald.core.errors import HealdError
    from heald.tools.sanitize import sanitize_text

    if not isinstance(error, HealdError):
        raise error
    print(f"heald: {sanitize_text(str(error))}", file=sys.stderr)  # a provider may have sent control characters
    return 2 if error.code in ("configuration", "unknown_provider", "missing_key", "bad_base_url") else 1


def _report_os_error(error: OSError) -> int:
    """Report what the system refused, such as a write to a full disk. That a reader closed its pipe is not an error."""
    if not isinstance(error, BrokenPipeError):
        from heald.commands.terminal import print_note

        print_note(f"{f'{error.filename}: ' if error.filename is not None else ''}{error.strerror or error}.")
    try:
        sys.stdout.flush()
    except OSError:  # it would fail once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


if __name__ == "__main__":
    sys.exit(main())
