"""`heald completion`: prints a completion script for a shell, made from the parsers of `heald`."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any, cast

from heald_cli.completion_scripts import SHELLS, CompletedCommand, CompletedFlag

EXAMPLES = """examples:
  heald completion bash > ~/.local/share/bash-completion/completions/heald
  heald completion zsh > ~/.zfunc/_heald          with fpath+=~/.zfunc before compinit in ~/.zshrc
  heald completion fish > ~/.config/fish/completions/heald.fish"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=list(SHELLS))


def run(options: argparse.Namespace) -> int:
    from heald_cli.main import parser

    print(SHELLS[options.shell](list(commands_of(parser(whole=True)))), end="")
    return 0


def commands_of(
    parser: argparse.ArgumentParser, words: Sequence[str] = (), text: str = ""
) -> Iterator[CompletedCommand]:
    """Yield the commands of a parser, recursively."""
    actions = cast("list[Any]", parser._actions)  # pyright: ignore[reportPrivateUsage]
    below = [action for action in actions if isinstance(action.choices, dict)]
    inner = {name: deeper for action in below for name, deeper in action.choices.items()}
    helps = {choice.dest: choice.help or "" for action in below for choice in action._choices_actions}
    options = tuple(_option(action) for action in actions if action.option_strings)
    plain = tuple(word for action in actions if not action.option_strings for word in _choices(action))
    if words:
        yield CompletedCommand(tuple(words), text, options, tuple(inner) or plain)
    for name, deeper in inner.items():
        yield from commands_of(deeper, [*words, name], helps.get(name, ""))


def _option(action: Any) -> CompletedFlag:
    text = " ".join(str(action.help or "").replace("%(default)s", str(action.default)).split())
    return CompletedFlag(tuple(action.option_strings), text, _choices(action), action.nargs != 0)


def _choices(action: Any) -> tuple[str, ...]:
    if (completions := getattr(action, "completions", None)) is not None:
        return tuple(completions())
    choices: Any = action.choices
    return () if choices is None or isinstance(choices, dict) else tuple(str(choice) for choice in choices)
