"""`weft completion`: makes a completion script for a shell from the parsers of `weft`."""

import argparse
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec

EXAMPLES = """examples:
  weft completion bash > ~/.local/share/bash-completion/completions/weft
  weft completion zsh > ~/.zfunc/_weft          with fpath+=~/.zfunc before compinit in ~/.zshrc
  weft completion fish > ~/.config/fish/completions/weft.fish"""


class CompletedFlag(msgspec.Struct, frozen=True):
    names: tuple[str, ...]
    help: str
    choices: tuple[str, ...] = ()
    takes_value: bool = False


class CompletedCommand(msgspec.Struct, frozen=True):
    words: tuple[str, ...]
    """The words after `weft`: one, or two for an action of a command."""
    help: str
    options: tuple[CompletedFlag, ...]
    actions: tuple[str, ...] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=list(_SHELLS))


def run(options: argparse.Namespace) -> int:
    from weft.cli.main import parser

    print(_SHELLS[options.shell](list(commands_of(parser(whole=True)))), end="")
    return 0


def commands_of(
    parser: argparse.ArgumentParser, words: Sequence[str] = (), text: str = ""
) -> Iterator[CompletedCommand]:
    """Yield the commands of a parser, recursively."""
    actions = cast("list[Any]", parser._actions)  # pyright: ignore[reportPrivateUsage]
    below = [action for action in actions if isinstance(action.choices, dict)]
    inner = {name: each for action in below for name, each in action.choices.items()}
    helps = {each.dest: each.help or "" for action in below for each in action._choices_actions}
    options = tuple(_option(action) for action in actions if action.option_strings)
    plain = tuple(word for action in actions if not action.option_strings for word in _choices(action))
    if words:
        yield CompletedCommand(tuple(words), text, options, tuple(inner) or plain)
    for name, each in inner.items():
        yield from commands_of(each, [*words, name], helps.get(name, ""))


def _option(action: Any) -> CompletedFlag:
    text = " ".join(str(action.help or "").replace("%(default)s", str(action.default)).split())
    return CompletedFlag(tuple(action.option_strings), text, _choices(action), action.nargs != 0)


def _choices(action: Any) -> tuple[str, ...]:
    if action.dest in ("stack", "stacks"):
        from weft.studio.stack import load_stacks

        return tuple(load_stacks())
    found: Any = action.choices
    return () if found is None or isinstance(found, dict) else tuple(str(each) for each in found)


def _bash(commands: list[CompletedCommand]) -> str:
    top = " ".join(each.words[0] for each in commands if len(each.words) == 1)
    values = [
        f"    {shlex.quote(' '.join(each.words))}:{name}) words={shlex.quote(' '.join(option.choices))} ;;"
        for each in commands
        for option in each.options
        for name in option.names
        if option.choices
    ]
    words = [
        f"    {shlex.quote(' '.join(each.words))}) options={shlex.quote(_names(each))}; "
        f"actions={shlex.quote(' '.join(each.actions))} ;;"
        for each in commands
    ]
    nested = "|".join(each.words[0] for each in commands if each.actions and _has_inner(each, commands))
    return f"""# bash completion for weft
_weft() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
  local words= options= actions=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W {shlex.quote(f"{top} --help --version")} -- "$current"))
    return
  fi
  case $command in {nested or "-"}) [ "$COMP_CWORD" -gt 2 ] && command="$command ${{COMP_WORDS[2]}}" ;; esac
  case "$command:$before" in
{chr(10).join(values)}
  esac
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  case $command in
{chr(10).join(words)}
  esac
  case $current in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) COMPREPLY=($(compgen -W "$actions" -- "$current")) ;;
  esac
}}
complete -o default -F _weft weft
"""


def _zsh(commands: list[CompletedCommand]) -> str:
    tops = [each for each in commands if len(each.words) == 1]
    lines = "\n".join(f"    {shlex.quote(f'{each.words[0]}:{each.help}')}" for each in tops)
    cases: list[str] = []
    for each in commands:
        specs = [_zsh_spec(option, name) for option in each.options for name in option.names]
        if each.actions:
            specs.append(shlex.quote(f"1:action:({' '.join(each.actions)})"))
        specs.append("'*:file:_files'")
        key = shlex.quote(" ".join(each.words))
        cases.append(f"    {key}) _arguments -s : {' '.join(specs)} ;;")
    nested = "|".join(each.words[0] for each in tops if _has_inner(each, commands))
    return f"""#compdef weft
_weft() {{
  local -a commands
  commands=(
{lines}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words; (( CURRENT-- ))
  case $command in
    {nested or "-"}) if (( CURRENT > 2 )); then command="$command $words[2]"; shift words; (( CURRENT-- )); fi ;;
  esac
  case $command in
{chr(10).join(cases)}
  esac
}}
if [ "$funcstack[1]" = "_weft" ]; then _weft "$@"; else compdef _weft weft; fi
"""


def _zsh_spec(option: CompletedFlag, name: str) -> str:
    text = option.help.replace("[", "(").replace("]", ")").replace(":", " ")
    value = ""
    if option.choices:
        value = f":value:({' '.join(option.choices)})"
    elif option.takes_value:
        value = ":value:_files"
    return shlex.quote(f"*{name}[{text}]{value}")


def _fish(commands: list[CompletedCommand]) -> str:
    lines = ["# fish completion for weft", "complete -c weft -n __fish_use_subcommand -l version -d 'its version'"]
    for each in commands:
        if len(each.words) == 1:
            lines.append(f"complete -c weft -n __fish_use_subcommand -f -a {each.words[0]} -d {_quoted(each.help)}")
        condition = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in each.words)
        if each.actions:
            lines.append(f"complete -c weft -n {_quoted(condition)} -f -a {_quoted(' '.join(each.actions))}")
        lines += [f"complete -c weft -n {_quoted(condition)}{_fish_option(option)}" for option in each.options]
    return "\n".join(lines) + "\n"


def _fish_option(option: CompletedFlag) -> str:
    names = "".join(f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}" for name in option.names)
    value = f" -x -a {_quoted(' '.join(option.choices))}" if option.choices else " -r" * option.takes_value
    return f"{names}{value} -d {_quoted(option.help)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _names(command: CompletedCommand) -> str:
    return " ".join(name for option in command.options for name in option.names)


def _has_inner(command: CompletedCommand, commands: list[CompletedCommand]) -> bool:
    return any(len(each.words) == 2 and each.words[0] == command.words[0] for each in commands)


_SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
