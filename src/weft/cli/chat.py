"""`weft chat`: the coding assistant, in a terminal, on a folder."""

import argparse
import asyncio
import logging
import sys
from pathlib import Path

from weft.cli.data import DATA_HELP, data_folder, kept_sessions
from weft.cli.paint import BOLD, Paint
from weft.cli.run import default_model, named_model
from weft.core.errors import ConfigurationError
from weft.core.settings import Reason
from weft.server.models import KnownModels
from weft.sessions.settings import SessionSettings
from weft.tools.builtin import named_tools
from weft.tools.permissions import MODES, Permissions
from weft.tools.shell.sandbox import Sandbox
from weft.wires.registry import WIRES

_EXAMPLES = """examples:
  weft chat                                        on the folder you are in
  weft chat site --model openai/gpt-5.2
  weft chat --resume                               go on with the last conversation of this folder
  weft chat --permissions auto --rule 'deny run_command(git push *)'

While it runs: Enter sends, Esc interrupts, @path sends a file along, Ctrl-V a picture, /help says the rest. Calls
that do more than read wait for a key: y yes, n no, a always this."""
_LAST = "last"


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage]
    parser = commands.add_parser(
        "chat",
        help="the coding assistant in this terminal, on a folder",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="where it works (the current folder)")
    parser.add_argument(
        "--resume", nargs="?", const=_LAST, metavar="SESSION", help="go on with the last one here, or with this one"
    )
    model = parser.add_argument_group("model")
    model.add_argument("--model", help="provider/model (the best one that keys allow)")
    model.add_argument("--base-url", help="an endpoint of your own; the model's name is sent as it stands")
    model.add_argument("--wire", choices=list(WIRES), help="what that endpoint speaks (chat)")
    model.add_argument("--api-key-env", metavar="NAME", help="the environment variable with that endpoint's key")
    model.add_argument("--system", default="", help="instructions that stand above the conversation")
    model.add_argument("--effort", choices=["none", "minimal", "low", "medium", "high", "xhigh"])
    work = parser.add_argument_group("work")
    work.add_argument("--tools", default="all", metavar="NAMES", help="tools or families, by commas (%(default)s)")
    work.add_argument("--permissions", choices=MODES, default="ask", help="what needs no question (%(default)s)")
    work.add_argument("--rule", action="append", default=[], metavar="RULE", help="such as 'deny run_command(rm *)'")
    work.add_argument("--unsandboxed", action="store_true", help="run commands without a sandbox; every result says so")
    work.add_argument("--data", metavar="DIR", help=DATA_HELP)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise ConfigurationError("weft chat needs a terminal; in scripts use `weft run`.")
    folder = Path(options.folder)
    if not folder.is_dir():
        raise ConfigurationError(f"There is no folder {options.folder!r} to work in; make it first.")
    models = KnownModels(options.model, {options.model: named_model(options)} if options.base_url else {})
    settings = SessionSettings(
        model=options.model or default_model(models),
        tools=[name.strip() for name in options.tools.split(",") if name.strip()],
        instructions=options.system,
        permissions=options.permissions,
        rules=options.rule,
        workspace=str(folder.resolve()),
        reasoning=Reason(effort=options.effort) if options.effort else None,
    )
    sandbox = Sandbox(unsandboxed=options.unsandboxed)
    Permissions(settings.permissions, settings.rules)
    named_tools(settings.tools, sandbox)
    log = logging.FileHandler(data_folder(options.data) / "chat.log", delay=True)  # nothing else writes on the screen
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s", handlers=[log])
    asyncio.run(_chat(options, models, settings, sandbox))
    return 0


async def _chat(options: argparse.Namespace, models: KnownModels, settings: SessionSettings, sandbox: Sandbox) -> None:
    from weft.cli.chatting.console import Console
    from weft.cli.chatting.screen import Screen
    from weft.cli.chatting.talk import Talk
    from weft.cli.chatting.teller import Teller
    from weft.cli.sessions import find_session

    paint = Paint(sys.stdout)
    screen = Screen(sys.stdout)
    teller = Teller(screen, paint)
    async with kept_sessions(options.data) as sessions:
        talk = Talk(sessions, models, settings, sandbox=sandbox, hear=teller.hear)
        console = Console(talk, screen, teller, paint)
        if options.resume is None:
            await talk.begin()
        else:
            found = await talk.earlier() if options.resume == _LAST else [await find_session(sessions, options.resume)]
            if not found:
                raise ConfigurationError("There is no earlier conversation in this folder; begin one with `weft chat`.")
            await talk.resume(found[0], options.model)
        try:
            screen.say(f"{paint('weft', BOLD)} with {talk.model} in {talk.folder}")
            console.note("/help says what can be done here. Calls that do more than read ask first.")
            if options.resume is not None:
                await console.show_past()
            await console.run()
        finally:
            name = talk.session.session
            kept = talk.session.bus.seq > 0
            await talk.close()
    if kept:
        print(paint(f"weft chat --resume {name} goes on from here.", "2"))
