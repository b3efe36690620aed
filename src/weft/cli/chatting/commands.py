"""What begins with a slash: `/model`, `/undo`, `/resume` and the like."""

from collections.abc import Awaitable, Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from weft.cli.sessions import when
from weft.core.errors import ConfigurationError
from weft.sessions.store import SessionInfo

if TYPE_CHECKING:
    from weft.cli.chatting.console import Console

Command = Callable[["Console", str], Awaitable[None]]

_KEYS = (
    "Enter sends; Alt-Enter or Ctrl-J begins a new line. What is sent while an answer runs waits for its turn.",
    "Esc interrupts. Ctrl-C clears the line, then interrupts, then leaves; Ctrl-D leaves.",
    "@path sends a file or a folder's list along (Tab completes); a path to a picture sends the picture.",
    "Ctrl-V sends the picture in the clipboard along.",
)


async def run_command(console: "Console", text: str) -> None:
    """Do what a line with a slash says."""
    name, _, rest = text[1:].strip().partition(" ")
    command = COMMANDS.get(name)
    if command is None:
        near = get_close_matches(name, COMMANDS, 1)
        hint = f"did you mean /{near[0]}?" if near else "/help lists all."
        raise ConfigurationError(f"There is no /{name[:40]}; {hint}")
    await command[1](console, rest.strip())


def complete_command(text: str) -> tuple[str, list[str]]:
    """What Tab makes of `/mo`: the text as far as it is certain, and what it could be."""
    found = [f"/{name}" for name in COMMANDS if name.startswith(text[1:])]
    return (f"{found[0]} " if len(found) == 1 else text), found


async def _help(console: "Console", _: str) -> None:
    width = max(len(name) for name in COMMANDS) + 2
    console.note(*(f"/{name:<{width}} {said}" for name, (said, _) in COMMANDS.items()), *_KEYS)


async def _model(console: "Console", name: str) -> None:
    talk = console.talk
    if not name:
        console.note(
            f"The model is {talk.model}. /model provider/name changes it; `weft models` lists those there are."
        )
        return
    _check_idle(console)
    await talk.change_model(name)
    console.note(f"From here on with {name}.")


async def _undo(console: "Console", _: str) -> None:
    _check_idle(console)
    console.note(*await console.talk.undo())


async def _cost(console: "Console", _: str) -> None:
    console.note(await console.talk.cost())


async def _resume(console: "Console", which: str) -> None:
    _check_idle(console)
    earlier = await console.talk.earlier()
    if not earlier:
        console.note("There is no earlier conversation in this folder.")
        return
    if not which:
        titles = [f"{number:>3}. {when(info.updated)}  {info.title[:70]}" for number, info in enumerate(earlier, 1)]
        console.note(*titles, "/resume 1 goes on with the first.")
        return
    await console.talk.resume(_chosen(earlier, which))
    await console.show_past()
    console.note(f"Going on with {console.talk.model}.")


async def _new(console: "Console", _: str) -> None:
    _check_idle(console)
    await console.talk.begin()
    console.note("A new conversation. /resume has the earlier ones.")


async def _exit(console: "Console", _: str) -> None:
    console.leave()


def _chosen(earlier: list[SessionInfo], which: str) -> SessionInfo:
    if which.isdecimal() and 1 <= int(which) <= len(earlier):
        return earlier[int(which) - 1]
    found = [info for info in earlier if info.id.startswith(which)]
    if len(found) != 1:
        raise ConfigurationError(f"{which[:40]!r} is none of them; give a number from 1 to {len(earlier)}.")
    return found[0]


def _check_idle(console: "Console") -> None:
    if console.talk.is_busy:
        raise ConfigurationError("An answer is being written; wait for its end, or interrupt it with Esc.")


COMMANDS: dict[str, tuple[str, Command]] = {
    "help": ("this list", _help),
    "model": ("what answers, or /model NAME for another", _model),
    "undo": ("take the last exchange back, with what it did to files", _undo),
    "resume": ("earlier conversations of this folder, or /resume N to go on with one", _resume),
    "new": ("begin another conversation", _new),
    "cost": ("what it took so far", _cost),
    "exit": ("leave; the conversation is kept", _exit),
    "quit": ("the same", _exit),
}
