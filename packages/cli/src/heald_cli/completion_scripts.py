"""Completion scripts for bash, zsh and fish."""

import shlex

import msgspec


class CompletedFlag(msgspec.Struct, frozen=True):
    names: tuple[str, ...]
    help: str
    choices: tuple[str, ...] = ()
    takes_value: bool = False


class CompletedCommand(msgspec.Struct, frozen=True):
    words: tuple[str, ...]
    """The words after `heald`: one, or two for an action of a command."""
    help: str
    options: tuple[CompletedFlag, ...]
    actions: tuple[str, ...] = ()


def _bash(commands: list[CompletedCommand]) -> str:
    top = " ".join(command.words[0] for command in commands if len(command.words) == 1)
    values = [
        f"    {shlex.quote(' '.join(command.words))}:{name}) words={shlex.quote(' '.join(option.choices))} ;;"
        for command in commands
        for option in command.options
        for name in option.names
        if option.choices
    ]
    words = [
        f"    {shlex.quote(' '.join(command.words))}) options={shlex.quote(_names(command))}; "
        f"actions={shlex.quote(' '.join(command.actions))} ;;"
        for command in commands
    ]
    nested = "|".join(command.words[0] for command in commands if command.actions and _has_inner(command, commands))
    return f"""# bash completion for heald
_heald() {{
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
complete -o default -F _heald heald
"""


def _zsh(commands: list[CompletedCommand]) -> str:
    tops = [command for command in commands if len(command.words) == 1]
    lines = "\n".join(f"    {shlex.quote(f'{command.words[0]}:{command.help}')}" for command in tops)
    cases: list[str] = []
    for command in commands:
        specs = [_zsh_spec(option, name) for option in command.options for name in option.names]
        if command.actions:
            specs.append(shlex.quote(f"1:action:({' '.join(command.actions)})"))
        specs.append("'*:file:_files'")
        key = shlex.quote(" ".join(command.words))
        cases.append(f"    {key}) _arguments -s : {' '.join(specs)} ;;")
    nested = "|".join(command.words[0] for command in tops if _has_inner(command, commands))
    return f"""#compdef heald
_heald() {{
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
if [ "$funcstack[1]" = "_heald" ]; then _heald "$@"; else compdef _heald heald; fi
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
    lines = ["# fish completion for heald", "complete -c heald -n __fish_use_subcommand -l version -d 'its version'"]
    for command in commands:
        if len(command.words) == 1:
            lines.append(
                f"complete -c heald -n __fish_use_subcommand -f -a {command.words[0]} -d {_quoted(command.help)}"
            )
        condition = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.words)
        if command.actions:
            lines.append(f"complete -c heald -n {_quoted(condition)} -f -a {_quoted(' '.join(command.actions))}")
        lines += [f"complete -c heald -n {_quoted(condition)}{_fish_option(option)}" for option in command.options]
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
    return any(len(other.words) == 2 and other.words[0] == command.words[0] for other in commands)


SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
