"""`heald run`: runs one prompt and exits."""

import argparse
import asyncio
import base64
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from heald.agent.agent import Agent
from heald.agent.result import AgentResult
from heald.commands.logs import hide_in_warnings
from heald.commands.memory_protection import protect_memory
from heald.commands.model_options import named_model
from heald.commands.options import add_options
from heald.commands.stdin import read_stdin
from heald.commands.terminal import print_note
from heald.config.paths import data_folder, data_path
from heald.core.errors import ConfigurationError
from heald.core.media import describe_picture_fault, picture_type
from heald.core.messages import Image, Message, Text, user_message
from heald_cli.console_printer import ConsolePrinter
from heald_cli.end_signals import call_at_end
from heald_cli.json_printer import JsonPrinter
from heald_cli.model_choice import default_model, no_model_error
from heald_cli.output_guard import OutputGuard
from heald_cli.own_tools import OwnTools, open_own_tools, print_problems
from heald_cli.run_agent import AgentPlace, complete_question, make_agent
from heald_cli.run_log import RunLog

if TYPE_CHECKING:
    from heald.agent.telemetry import TelemetryReactor
    from heald_cli.repository.run_checkpoints import RunCheckpoints

_TICK_SECONDS = 0.25
_LAST = "last"
EXIT_CODES = {"completed": 0, "failed": 1, "limit": 3, "cancelled": 130}

EXAMPLES = """examples:
  heald run --model anthropic/claude-sonnet-4-6 "Say hello"
  git diff | heald run --system "Review these changes."
  heald run --model openai/gpt-5 --workspace . --permissions ask "Fix the failing test"
  heald run --model gemini/gemini-3-flash --workspace site --tools files --permissions auto --image a.png "Build this"
  heald run --agent reviewer --workspace . "Review the last commit"
  heald run --resume --permissions inside "Now add a test"   continue the last conversation of the folder
  heald run --tool my_tools:weather --mcp files='npx -y @modelcontextprotocol/server-filesystem .' "What is here?"
  heald run --attempts 3 --check "pytest -q" --permissions auto "Fix the failing test"
  heald run --attempts 2 --model openai/gpt-5 --model anthropic/claude-sonnet-4-6 --permissions auto "Fix it" --apply 2
  heald run --attempts 3 --agent claude,codex,ours --check "pytest -q" --permissions auto "Fix the failing test"
  heald run --model my-model --wire chat --base-url http://127.0.0.1:8080/v1 "Say hello" --json

With --attempts N agents work in copies of the folder; the one that you choose, or the first that passes the check, is
applied to the folder. `heald undo` restores the state before a run, or before the attempt, in a git repository.
exit status: 0 completed, 1 failed, 2 wrong usage, 3 a limit was reached, 130 stopped"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="?", help="the prompt; without it, or with -, standard input is read")
    model = parser.add_argument_group("model")
    model.add_argument("--image", action="append", default=[], metavar="FILE", help="picture to send; repeatable")
    add_options(parser, "run", {"model": model})
    attempts = parser.add_argument_group("several attempts, each in a git worktree of its own")
    attempts.add_argument("--attempts", type=int, metavar="N", help="run several agents in parallel")
    attempts.add_argument("--check", metavar="COMMAND", help="run in each attempt, such as 'pytest -q'; 0 is success")
    attempts.add_argument("--apply", type=int, metavar="N", help="apply this attempt without a question")
    attempts.add_argument("--attempts-log", metavar="FILE", help="write every event of all attempts, a JSON line each")
    attempts.add_argument("--keep", action="store_true", help="keep the worktrees, and print their paths")
    parser.add_argument(
        "--resume",
        nargs="?",
        const=_LAST,
        metavar="SESSION",
        help="continue the last conversation of the folder, or this one; what follows is stored in it",
    )
    parser.add_argument("--json", action="store_true", help="print every event as one JSON line")
    parser.add_argument(
        "--stream", action="store_true", help="print text to a pipe or file while it arrives, also if it is discarded"
    )


def run(options: argparse.Namespace) -> int:
    protect_memory()
    hide_in_warnings()
    if options.resume is not None:
        return _resume(options)
    question = _question(options)
    if options.agent and options.attempts is not None:
        return _run_agents(options, question)
    if options.agent:
        from heald_cli.agent_choice import use_agent

        use_agent(options, options.workspace or ".")
    names: list[str] = options.model or ([] if options.base_url is not None else [_default_model()])
    if options.workspace or options.attempts is not None:
        from heald_cli.attempts.command import clean_leftovers

        clean_leftovers(data_path())
    if options.attempts is not None:
        from heald_cli.attempts.command import run_attempts
        from heald_cli.attempts.entrant import Entrant

        entrants = [Entrant(name, named_model(_with_model(options, name))) for name in names]
        return run_attempts(options, question, entrants)
    if len(names) > 1 or options.apply is not None or options.check or options.keep:
        raise ConfigurationError("Several models, --apply, --check and --keep go with --attempts N.")
    options.model = names[0] if names else None
    show = JsonPrinter() if options.json else ConsolePrinter(stream=options.stream)
    agent, guard, result = asyncio.run(_run(options, question, show))
    guard.check()
    if not options.json and agent.workspace.is_project and result.files:
        print_note(f"{_describe_files(result)} is not saved; --workspace DIR saves files.")
    return EXIT_CODES[result.status]


def _resume(options: argparse.Namespace) -> int:
    """Continue a stored conversation."""
    if options.prompt is None and options.resume != _LAST and not options.resume.startswith("ses"):
        options.prompt, options.resume = options.resume, _LAST  # heald run --resume "Now add a test"
    if options.attempts is not None or options.apply is not None or options.check or options.keep:
        raise ConfigurationError("--resume continues one conversation; --attempts begins several.")
    if len(options.model or ()) > 1:
        raise ConfigurationError("--resume continues with one model; give one --model.")
    from heald_cli.resumed_run import run_resumed

    question = _question(options)
    show = JsonPrinter() if options.json else ConsolePrinter(stream=options.stream)

    async def run_shown() -> tuple[OutputGuard, AgentResult]:
        async with _refreshed(show):
            return await run_resumed(options, question, show)

    guard, result = asyncio.run(run_shown())
    guard.check()
    return EXIT_CODES[result.status]


def _run_agents(options: argparse.Namespace, question: Message) -> int:
    """Run attempts of the agents that `--agent` names, separated by commas."""
    from heald_cli.attempts.command import clean_leftovers, run_attempts
    from heald_cli.attempts.entrant import choose_entrants

    names = [name.strip() for name in options.agent.split(",") if name.strip()]
    models: list[str] = options.model or []
    entrants = choose_entrants(
        names,
        options.workspace or ".",
        our_model=lambda: models[0] if models else _default_model(),
        find_model=lambda name: named_model(_with_model(options, name)) if name in models else name,
    )
    clean_leftovers(data_path())
    return run_attempts(options, question, entrants)


async def _run(
    options: argparse.Namespace, question: Message, show: JsonPrinter | ConsolePrinter
) -> tuple[Agent, OutputGuard, AgentResult]:
    folders = [options.workspace] if options.workspace else []
    telemetry = None
    if options.otel_export:
        from heald_cli.telemetry import start_telemetry

        telemetry = start_telemetry(options)
    try:
        async with open_own_tools(options, folders=folders) as own_tools:
            return await _run_with(
                options, question, show, own_tools, telemetry.reactor if telemetry is not None else None
            )
    finally:
        if telemetry is not None:
            await telemetry.close()


async def _run_with(
    options: argparse.Namespace,
    question: Message,
    show: JsonPrinter | ConsolePrinter,
    own_tools: OwnTools,
    telemetry: "TelemetryReactor | None",
) -> tuple[Agent, OutputGuard, AgentResult]:
    print_problems(own_tools)
    saved = _start_checkpoints(options, question)
    place = AgentPlace(middleware=[saved.wait_until_saved]) if saved is not None else AgentPlace()
    agent, reason = await make_agent(options, named_model(options), own_tools, place)
    log = RunLog(agent, options) if options.record else None
    if reason and not options.json:
        print_note(reason)
    guard = OutputGuard(show, agent.cancel)
    agent.subscribe(guard)
    if telemetry is not None:
        agent.subscribe(telemetry)
    question, faults = await complete_question(question, own_tools)
    question = await _hide_in_attachments(agent, question)
    for fault in faults:
        print_note(fault)
    try:
        return agent, guard, await _ask_saved(agent, question, show, saved, options)
    finally:
        if log is not None and (problem := await log.store()):
            print_note(problem)


async def _ask_saved(
    agent: Agent,
    question: Message,
    show: JsonPrinter | ConsolePrinter,
    saved: "RunCheckpoints | None",
    options: argparse.Namespace,
) -> AgentResult:
    """Send the request, between checkpoints of the folder if there are some."""
    if saved is None:
        return await _ask(agent, question, show)
    if isinstance(options.model, str) and options.model.startswith("acp/"):
        await saved.wait()  # an external agent has tools of its own
    try:
        return await _ask(agent, question, show)
    finally:
        await saved.finish()


def _start_checkpoints(options: argparse.Namespace, question: Message) -> "RunCheckpoints | None":
    """Begin to save the folder for `heald undo`. None without a folder in a git repository, or without tools."""
    if not options.workspace or options.tools == ["none"]:
        return None
    from heald.tools.git.repository import find_repository
    from heald_cli.repository.applied_attempts import AppliedAttempts
    from heald_cli.repository.checkpoint_store import CheckpointLimits
    from heald_cli.repository.run_checkpoints import RunCheckpoints

    repository = find_repository(options.workspace)
    if repository is None:
        return None
    saved = RunCheckpoints(AppliedAttempts(repository, data_folder(), CheckpointLimits.of(options)), question.words)
    saved.start()
    return saved


async def _hide_in_attachments(agent: Agent, question: Message) -> Message:
    """Hide secret values in what was added to a question."""
    if len(question.content) < 2:
        return question
    parts = [
        Text(await agent.hide_secrets(part.text)) if index and isinstance(part, Text) else part
        for index, part in enumerate(question.content)
    ]
    return msgspec.structs.replace(question, content=parts)


async def _ask(agent: Agent, question: Message, show: JsonPrinter | ConsolePrinter) -> AgentResult:
    async with _refreshed(show), agent:
        call_at_end(agent.cancel, "It was terminated.")
        return await agent.run(question)


@asynccontextmanager
async def _refreshed(show: JsonPrinter | ConsolePrinter) -> AsyncGenerator[None]:
    """Refresh the status line for the duration of the block."""

    async def refresh_status() -> None:
        while isinstance(show, ConsolePrinter):
            await asyncio.sleep(_TICK_SECONDS)
            show.tick()

    refreshing = asyncio.create_task(refresh_status(), name="heald-run-status")
    try:
        yield
    finally:
        refreshing.cancel()


def _default_model() -> str:
    from heald_server.models import KnownModels

    name = default_model(KnownModels())
    if not name:
        raise no_model_error()
    return name


def _with_model(options: argparse.Namespace, name: str) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(options), "model": name})


def _question(options: argparse.Namespace) -> Message:
    prompt: str | None = options.prompt
    if prompt == "-" or (prompt is None and not sys.stdin.isatty()):
        prompt = read_stdin()
    prompt = prompt or ""
    if not prompt.strip() and not options.image:
        raise ConfigurationError("No prompt given.")
    return user_message(prompt, *(_image(Path(name)) for name in options.image))


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
