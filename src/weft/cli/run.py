"""`weft run`: one exchange from the shell."""

import argparse
import asyncio
import base64
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from weft.agent.agent import Agent
from weft.agent.budget import Budget
from weft.agent.result import AgentResult
from weft.cli.prompting import decide, reply
from weft.cli.show import JsonLines, Reader, Terminal
from weft.core.content import Image
from weft.core.errors import ConfigurationError
from weft.core.messages import Message, user
from weft.core.settings import Reason
from weft.providers.model import Model
from weft.tools.builtin import named_tools
from weft.tools.permissions import MODES, Permissions
from weft.tools.shell.sandbox import Sandbox
from weft.wires.registry import WIRES

if TYPE_CHECKING:
    from weft.server.models import KnownModels

_MEDIA = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif"}
NO_MODEL = (
    "There is no model to talk to; set a key such as ANTHROPIC_API_KEY, start a server such as Ollama, "
    "or name one with --model."
)
_TICK = 0.25
_STATUS = {"completed": 0, "failed": 1, "limit": 3, "cancelled": 130}

_EXAMPLES = """examples:
  weft run --model anthropic/claude-sonnet-4-6 "Say hello"
  weft run --model openai/gpt-5 --workspace . --permissions ask "Fix the failing test"
  weft run --model gemini/gemini-3-flash --workspace site --tools files --permissions auto --image shot.png "Build this"
  weft run --model my-model --wire chat --base-url http://127.0.0.1:8080/v1 "Say hello" --json

exit status: 0 completed, 1 failed, 2 wrong usage, 3 a limit was reached, 130 cancelled"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage]
    parser = commands.add_parser(
        "run",
        help="one exchange: ask a model, let it use tools, stream what happens",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("prompt", help="what to ask; - reads it from standard input")
    model = parser.add_argument_group("model")
    model.add_argument("--model", help="provider/model, or the bare name with --base-url (the best that keys allow)")
    model.add_argument("--base-url", help="an endpoint of your own; the model's name is sent as it stands")
    model.add_argument("--wire", choices=list(WIRES), help="what that endpoint speaks (chat)")
    model.add_argument("--api-key-env", metavar="NAME", help="the environment variable with that endpoint's key")
    model.add_argument("--system", default="", help="instructions that stand above the conversation")
    model.add_argument("--image", action="append", default=[], metavar="FILE", help="a picture to show; repeatable")
    model.add_argument("--effort", choices=["none", "minimal", "low", "medium", "high", "xhigh"])
    model.add_argument("--max-output", type=int, metavar="TOKENS", help="most that the model may write in one turn")
    work = parser.add_argument_group("work")
    work.add_argument("--workspace", metavar="DIR", help="the folder that tools work in; without it, memory")
    work.add_argument(
        "--tools",
        action="append",
        metavar="NAMES",
        help="tools or families, separated by commas: files, read, shell, web, todo, ask, all, none "
        "(all with --workspace, otherwise none); repeatable",
    )
    work.add_argument("--permissions", choices=MODES, default="ask", help="what needs no question (ask)")
    work.add_argument("--rule", action="append", default=[], metavar="RULE", help="such as 'deny run_command(rm *)'")
    work.add_argument("--unsandboxed", action="store_true", help="run commands without a sandbox; every result says so")
    limits = parser.add_argument_group("limits")
    limits.add_argument("--max-turns", type=int, default=Budget().turns, metavar="N", help="(%(default)s)")
    limits.add_argument("--max-tokens", type=int, metavar="N", help="tokens of all turns together")
    limits.add_argument("--max-usd", type=float, metavar="N")
    limits.add_argument("--max-seconds", type=float, metavar="N")
    parser.add_argument("--json", action="store_true", help="every event as one JSON line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    question = _question(options)
    if options.model is None and options.base_url is None:
        options.model = _default_model()
    agent = _agent(options)
    show = JsonLines() if options.json else Terminal()
    reader = Reader(show, agent.cancel)
    agent.subscribe(reader)
    result = asyncio.run(_ask(agent, question, show))
    reader.check()
    if not options.json and agent.workspace.is_project and result.files:
        print(f"weft: {_names(result)} is kept nowhere; give --workspace DIR to keep it.", file=sys.stderr)
    return _STATUS[result.status]


async def _ask(agent: Agent, question: Message, show: JsonLines | Terminal) -> AgentResult:
    async with agent, _ticking(show):
        with suppress(NotImplementedError, RuntimeError):  # not every system, and not every thread, takes signals
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, agent.cancel, "It was terminated.")
        return await agent.run(question)


@asynccontextmanager
async def _ticking(show: JsonLines | Terminal) -> AsyncGenerator[None]:
    """Whoever waits at a terminal sees what for."""

    async def tick() -> None:
        while isinstance(show, Terminal):
            await asyncio.sleep(_TICK)
            show.tick()

    ticking = asyncio.create_task(tick(), name="weft-run-tick")
    try:
        yield
    finally:
        ticking.cancel()


def _agent(options: argparse.Namespace) -> Agent:
    names = ",".join(options.tools or ["all" if options.workspace else "none"]).split(",")
    return Agent(
        named_model(options),
        tools=named_tools(
            [name.strip() for name in names if name.strip() not in ("", "none")],
            Sandbox(unsandboxed=options.unsandboxed),
        ),
        instructions=options.system or None,
        workspace=_folder(options.workspace),
        permissions=Permissions(options.permissions, options.rule),
        budget=Budget(
            turns=options.max_turns, tokens=options.max_tokens, usd=options.max_usd, seconds=options.max_seconds
        ),
        max_output_tokens=options.max_output,
        reasoning=Reason(effort=options.effort) if options.effort else None,
        on_approval=decide,
        on_question=reply,
    )


def _default_model() -> str:
    from weft.server.models import KnownModels

    found = default_model(KnownModels())
    if not found:
        raise ConfigurationError(NO_MODEL)
    return found


def _folder(name: str | None) -> str | None:
    if name is not None and not Path(name).is_dir():
        raise ConfigurationError(f"There is no folder {name!r} to work in; make it first.")
    return name


def default_model(models: "KnownModels") -> str:
    """The model to talk to where none is named: by a key, else the first of a server on this machine, else none."""
    name = models.default
    if name and not name.startswith("local/"):  # which builds pages and does not talk
        return name
    return next((model for server in models.servers.find() for model in server.models), "")


def named_model(options: argparse.Namespace) -> str | Model:
    """The model that the options name: of a provider, or at an endpoint of one's own."""
    if options.base_url is not None and not options.model:
        raise ConfigurationError("--base-url goes with --model, the name that the endpoint knows.")
    if options.base_url is None:
        if options.wire or options.api_key_env:
            raise ConfigurationError("--wire and --api-key-env go with --base-url; a provider by name has its own.")
        return options.model
    return Model(options.model, wire=options.wire or "chat", base_url=options.base_url, api_key_env=options.api_key_env)


def _question(options: argparse.Namespace) -> Message:
    prompt = _from_stdin() if options.prompt == "-" else options.prompt
    if not prompt.strip() and not options.image:
        raise ConfigurationError("There is nothing to ask: give a prompt.")
    return user(prompt, *(_image(Path(name)) for name in options.image))


def _from_stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise ConfigurationError("What came on standard input is no text; give pictures with --image.") from None


def _image(path: Path) -> Image:
    media_type = _MEDIA.get(path.suffix.lower())
    if media_type is None:
        raise ConfigurationError(f"{path} is no picture Weft can send; use {', '.join(_MEDIA)}.")
    try:
        return Image(media_type=media_type, data=base64.b64encode(path.read_bytes()).decode())
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from None


def _names(result: AgentResult) -> str:
    names = list(result.files)
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
