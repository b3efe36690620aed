"""`weft run`: one exchange from the shell."""

import argparse
import asyncio
import base64
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from weft.agent.agent import Agent
from weft.agent.result import AgentResult
from weft.cli.event_printer import ConsolePrinter, JsonPrinter, OutputGuard
from weft.cli.options import add_options
from weft.cli.own_tools import OwnTools, open_own_tools, print_problems
from weft.cli.run_agent import AgentPlace, complete_question, make_agent
from weft.cli.terminal import print_note
from weft.config.paths import data_path
from weft.core.errors import ConfigurationError
from weft.core.media import describe_picture_fault, picture_type
from weft.core.messages import Image, Message, user_message
from weft.providers.model import Model

if TYPE_CHECKING:
    from weft.agent.telemetry import TelemetryReactor
    from weft.server.models import KnownModels

_NO_MODEL = (
    "There is no model to talk to; set a key such as ANTHROPIC_API_KEY (`weft key set anthropic` keeps it), start a "
    "server such as Ollama, or name one with --model."
)
_TICK_SECONDS = 0.25
EXIT_CODES = {"completed": 0, "failed": 1, "limit": 3, "cancelled": 130}

EXAMPLES = """examples:
  weft run --model anthropic/claude-sonnet-4-6 "Say hello"
  git diff | weft run --system "Review these changes."
  weft run --model openai/gpt-5 --workspace . --permissions ask "Fix the failing test"
  weft run --model gemini/gemini-3-flash --workspace site --tools files --permissions auto --image shot.png "Build this"
  weft run --tool my_tools:weather --mcp files='npx -y @modelcontextprotocol/server-filesystem .' "What is here?"
  weft run --attempts 3 --check "pytest -q" --permissions auto "Fix the failing test"
  weft run --attempts 2 --model openai/gpt-5 --model anthropic/claude-sonnet-4-6 --permissions auto "Fix it" --take 2
  weft run --model my-model --wire chat --base-url http://127.0.0.1:8080/v1 "Say hello" --json

With --attempts N agents work in copies of the folder; the one that you choose, or the first that passes the check, is
applied to the folder, and `weft undo` restores the state before it.
exit status: 0 completed, 1 failed, 2 wrong usage, 3 a limit was reached, 130 cancelled"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="?", help="what to ask; without it, or with -, standard input is read")
    model = parser.add_argument_group("model")
    model.add_argument("--image", action="append", default=[], metavar="FILE", help="picture to send; repeatable")
    add_options(parser, "run", {"model": model})
    attempts = parser.add_argument_group("several attempts, each in a git worktree of its own")
    attempts.add_argument("--attempts", type=int, metavar="N", help="agents that try the request side by side")
    attempts.add_argument("--check", metavar="COMMAND", help="run in each attempt, such as 'pytest -q'; 0 is success")
    attempts.add_argument("--take", type=int, metavar="N", help="apply this attempt without a question")
    attempts.add_argument("--keep", action="store_true", help="keep the worktrees, and say where they are")
    parser.add_argument("--json", action="store_true", help="print every event as one JSON line")
    parser.add_argument(
        "--stream", action="store_true", help="print text to a pipe or file while it arrives, also if it is discarded"
    )


def run(options: argparse.Namespace) -> int:
    question = _question(options)
    names: list[str] = options.model or ([] if options.base_url is not None else [_default_model()])
    if options.workspace or options.attempts is not None:
        from weft.cli.attempts import clean_leftovers

        clean_leftovers(data_path())
    if options.attempts is not None:
        from weft.cli.attempts import run_attempts

        return run_attempts(options, question, [(name, named_model(_with_model(options, name))) for name in names])
    if len(names) > 1 or options.take is not None or options.check or options.keep:
        raise ConfigurationError("Several models, --take, --check and --keep go with --attempts N.")
    options.model = names[0] if names else None
    show = JsonPrinter() if options.json else ConsolePrinter(stream=options.stream)
    agent, guard, result = asyncio.run(_run(options, question, show))
    guard.check()
    if not options.json and agent.workspace.is_project and result.files:
        print_note(f"{_describe_files(result)} is not saved; --workspace DIR saves files.")
    return EXIT_CODES[result.status]


async def _run(
    options: argparse.Namespace, question: Message, show: JsonPrinter | ConsolePrinter
) -> tuple[Agent, OutputGuard, AgentResult]:
    folders = [options.workspace] if options.workspace else []
    telemetry = None
    if options.otel_export:
        from weft.cli.telemetry import start_telemetry

        telemetry = start_telemetry(options)
    try:
        async with open_own_tools(options, folders=folders) as own:
            return await _run_with(options, question, show, own, telemetry.reactor if telemetry is not None else None)
    finally:
        if telemetry is not None:
            await telemetry.close()


async def _run_with(
    options: argparse.Namespace,
    question: Message,
    show: JsonPrinter | ConsolePrinter,
    own: OwnTools,
    telemetry: "TelemetryReactor | None",
) -> tuple[Agent, OutputGuard, AgentResult]:
    print_problems(own)
    agent, reason = await make_agent(options, named_model(options), own, AgentPlace())
    if reason and not options.json:
        print_note(reason)
    guard = OutputGuard(show, agent.cancel)
    agent.subscribe(guard)
    if telemetry is not None:
        agent.subscribe(telemetry)
    question, faults = await complete_question(question, own)
    for fault in faults:
        print_note(fault)
    return agent, guard, await _ask(agent, question, show)


async def _ask(agent: Agent, question: Message, show: JsonPrinter | ConsolePrinter) -> AgentResult:
    async def refresh_status() -> None:
        while isinstance(show, ConsolePrinter):
            await asyncio.sleep(_TICK_SECONDS)
            show.tick()

    refreshing = asyncio.create_task(refresh_status(), name="weft-run-status")
    try:
        async with agent:
            with suppress(NotImplementedError, RuntimeError):  # signals work in the main thread of POSIX systems only
                asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, agent.cancel, "It was terminated.")
            return await agent.run(question)
    finally:
        refreshing.cancel()


def _default_model() -> str:
    from weft.server.models import KnownModels

    found = default_model(KnownModels())
    if not found:
        raise no_model_error()
    return found


def no_model_error() -> ConfigurationError:
    """Explain why there is no model to talk to, if none is named."""
    from weft.providers.keys import find_key_origin
    from weft.providers.presets import PRESETS

    keyed = next((name for name, each in PRESETS.items() if find_key_origin(each.key_envs) is not None), "")
    if not keyed:
        return ConfigurationError(_NO_MODEL)
    return ConfigurationError(
        f"There is a key for {keyed}, but no model of it is chosen by itself; name one with --model {keyed}/NAME. "
        f"`weft models --provider {keyed}` lists them."
    )


def _with_model(options: argparse.Namespace, name: str) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(options), "model": name})


def default_model(models: "KnownModels") -> str:
    """Choose a model if none is named: one with a key, else the first of a local server, else ""."""
    name = models.default
    if name and not name.startswith("local/"):  # which only builds pages
        return name
    return next((model for server in models.servers.find() for model in server.models), "")


def named_model(options: argparse.Namespace) -> str | Model:
    """Return the model that the options name: of a provider, or at an endpoint of one's own."""
    check_endpoint(options)
    return options.model if options.base_url is None else own_model(options, options.model)


def check_endpoint(options: argparse.Namespace) -> None:
    if options.base_url is not None and not options.model:
        raise ConfigurationError("--base-url goes with --model, the name that the endpoint knows.")
    if options.base_url is None and (options.wire or options.api_key_env):
        raise ConfigurationError("--wire and --api-key-env go with --base-url; a provider by name has its own.")


def own_model(options: argparse.Namespace, name: str) -> Model:
    return Model(name, wire=options.wire or "chat", base_url=options.base_url, api_key_env=options.api_key_env)


def require_key(models: "KnownModels", name: str) -> None:
    """Raise if a model is unknown or its key is missing."""
    model = models.open(name)
    if isinstance(model, Model):
        model.require_key()


def check_chat_model(models: "KnownModels", name: str) -> None:
    """Raise if a model cannot be used for a conversation."""
    if not name:
        raise no_model_error()
    if name.startswith("local/"):
        raise ConfigurationError(f"{name} builds pages and does not talk; `weft build` uses it.")
    require_key(models, name)


def _question(options: argparse.Namespace) -> Message:
    prompt: str | None = options.prompt
    if prompt == "-" or (prompt is None and not sys.stdin.isatty()):
        prompt = read_stdin()
    prompt = prompt or ""
    if not prompt.strip() and not options.image:
        raise ConfigurationError("There is nothing to ask: give a prompt.")
    return user_message(prompt, *(_image(Path(name)) for name in options.image))


def read_stdin() -> str:
    """Read the text that is piped to a command."""
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise ConfigurationError("Standard input is not text; a picture is given by the name of its file.") from None


def _image(path: Path) -> Image:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from None
    fault = describe_picture_fault(data)
    if fault is not None:
        raise ConfigurationError(f"{path} cannot be sent as a picture: {fault}.")
    return Image(media_type=picture_type(data) or "", data=base64.b64encode(data).decode())


def _describe_files(result: AgentResult) -> str:
    names = list(result.files)
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
