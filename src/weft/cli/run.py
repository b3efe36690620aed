"""`weft run`: one exchange from the shell."""

import argparse
import asyncio
import base64
import signal
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from weft.agent.agent import Agent
from weft.agent.result import AgentResult
from weft.agent.tracker import Budget
from weft.cli.approval_view import approval_lines
from weft.cli.edit_formats import describe_format, use_kept_format
from weft.cli.event_printer import ConsolePrinter, JsonPrinter, PipeGuard
from weft.cli.mcp_input import attach_resources, expand_prompt
from weft.cli.options import add_options
from weft.cli.own_tools import OwnTools, builtin_names, open_own_tools, print_problems
from weft.cli.project_commands import describe_skills, load_skills, skill_tool
from weft.cli.project_notes import read_notes
from weft.cli.request_settings import reasoning_of
from weft.cli.telemetry import start_telemetry
from weft.cli.terminal import Colours, print_note
from weft.core.errors import ConfigurationError
from weft.core.events import ApprovalRequested, QuestionAsked
from weft.core.messages import Image, Message, user_message
from weft.providers.model import Model
from weft.tools.approvals import NOBODY, Approval
from weft.tools.builtin import named_tools
from weft.tools.hooks import ToolHooks
from weft.tools.permissions import Permissions
from weft.tools.sanitize import sanitize_text
from weft.tools.shell.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft.agent.telemetry import TelemetryReactor
    from weft.server.models import KnownModels

_NOBODY = "Nobody is there to be asked. Whoever started this can allow it with --permissions auto or --rule."
_MEDIA = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif"}
NO_MODEL = (
    "There is no model to talk to; set a key such as ANTHROPIC_API_KEY, start a server such as Ollama, "
    "or name one with --model."
)
_TICK_SECONDS = 0.25
EXIT_CODES = {"completed": 0, "failed": 1, "limit": 3, "cancelled": 130}

EXAMPLES = """examples:
  weft run --model anthropic/claude-sonnet-4-6 "Say hello"
  weft run --model openai/gpt-5 --workspace . --permissions ask "Fix the failing test"
  weft run --model gemini/gemini-3-flash --workspace site --tools files --permissions auto --image shot.png "Build this"
  weft run --tool my_tools:weather --mcp files='npx -y @modelcontextprotocol/server-filesystem .' "What is here?"
  weft run --model my-model --wire chat --base-url http://127.0.0.1:8080/v1 "Say hello" --json

exit status: 0 completed, 1 failed, 2 wrong usage, 3 a limit was reached, 130 cancelled"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", help="what to ask; - reads standard input")
    model = parser.add_argument_group("model")
    model.add_argument("--image", action="append", default=[], metavar="FILE", help="picture to send; repeatable")
    add_options(parser, "run", {"model": model})
    parser.add_argument("--json", action="store_true", help="print every event as one JSON line")
    parser.add_argument(
        "--stream", action="store_true", help="print text to a pipe or file while it arrives, also if it is discarded"
    )


def run(options: argparse.Namespace) -> int:
    question = _question(options)
    if options.model is None and options.base_url is None:
        options.model = _default_model()
    show = JsonPrinter() if options.json else ConsolePrinter(stream=options.stream)
    agent, guard, result = asyncio.run(_run(options, question, show))
    guard.check()
    if not options.json and agent.workspace.is_project and result.files:
        print_note(f"{_describe_files(result)} is not saved; --workspace DIR saves files.")
    return EXIT_CODES[result.status]


async def _run(
    options: argparse.Namespace, question: Message, show: JsonPrinter | ConsolePrinter
) -> tuple[Agent, PipeGuard, AgentResult]:
    folders = [options.workspace] if options.workspace else []
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
) -> tuple[Agent, PipeGuard, AgentResult]:
    settings = _agent_options(options)
    print_problems(own)
    settings["tools"] += own.sources()
    hooks = ToolHooks(options.hooks_before, options.hooks_after, folder=options.workspace)
    skills = load_skills(options.workspace) if options.workspace and settings["tools"] else []
    settings["tools"] += [skill_tool(skills)] if skills else []
    settings["instructions"] += [describe_skills(skills)] if skills else []
    agent = Agent(named_model(options), middleware=[hooks.run_around] if hooks else [], **settings)
    agent.runtime.shared_middleware = [hooks.run_around] if hooks else []
    if options.workspace:
        agent.engine.overview = overview_of(agent, has_map=options.repo_map)
    use_kept_format(agent.engine, named_model(options))
    await agent.engine.find_edit_format()
    if (reason := describe_format(agent.engine, options.edit_format)) and not options.json:
        print_note(reason)
    guard = PipeGuard(show, agent.cancel)
    agent.subscribe(guard)
    if telemetry is not None:
        agent.subscribe(telemetry)
    expanded = await expand_prompt(own.servers, question.text)
    question = question if expanded is None else user_message(*expanded)
    resources, faults = await attach_resources(own.servers, question.text)
    for fault in faults:
        print_note(fault)
    question = msgspec.structs.replace(question, content=[*question.content, *resources])
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


def _agent_options(options: argparse.Namespace) -> dict[str, Any]:
    names: list[str] = options.tools or ["all" if options.workspace else "none"]
    return {
        "tools": named_tools(builtin_names(names), Sandbox(unsandboxed=options.unsandboxed)),
        "instructions": [text for text in (options.system, read_notes(options.workspace)) if text],
        "workspace": _folder(options.workspace),
        "permissions": Permissions(options.permissions, options.rule),
        "budget": Budget(
            turns=options.max_turns, tokens=options.max_tokens, usd=options.max_usd, seconds=options.max_seconds
        ),
        "max_output_tokens": options.max_output,
        "temperature": options.temperature,
        "reasoning": reasoning_of(options),
        "cache": options.cache,
        "tool_profile": options.tool_profile,
        "edit_format": options.edit_format,
        "on_approval": ask_approval,
        "on_question": ask_question,
    }


def overview_of(agent: Agent, *, has_map: bool) -> "Callable[[int], str]":
    """Return the function that describes an agent's folder: the state of its repository, then the map of its code."""
    from weft.tools.files import read_file
    from weft.tools.repository.git import find_repository
    from weft.tools.repository.map import RepositoryMap, count_map_tokens
    from weft.tools.repository.status import describe_repository

    runtime = agent.runtime
    code = RepositoryMap(agent.workspace, lambda path: runtime.may_show(read_file, {"path": path})) if has_map else None

    @cache
    def read_state() -> str:
        repository = find_repository(agent.workspace.root)
        return describe_repository(repository) if repository is not None else ""

    def describe(tokens: int) -> str:
        state = read_state()
        drawn = code.render(tokens - count_map_tokens(state)) if code is not None else ""
        return "\n\n".join(part for part in (state, drawn) if part)

    return describe


def _default_model() -> str:
    from weft.server.models import KnownModels

    found = default_model(KnownModels())
    if not found:
        raise ConfigurationError(NO_MODEL)
    return found


def _folder(name: str | None) -> str | None:
    if name is not None and not Path(name).is_dir():
        raise ConfigurationError(f"There is no folder {name!r} to work in; create it first.")
    return name


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


def _question(options: argparse.Namespace) -> Message:
    prompt = _read_stdin() if options.prompt == "-" else options.prompt
    if not prompt.strip() and not options.image:
        raise ConfigurationError("There is nothing to ask: give a prompt.")
    return user_message(prompt, *(_image(Path(name)) for name in options.image))


def _read_stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise ConfigurationError("Standard input is not text; send pictures with --image.") from None


def _image(path: Path) -> Image:
    media_type = _MEDIA.get(path.suffix.lower())
    if media_type is None:
        raise ConfigurationError(f"{path} is no picture Weft can send; use {', '.join(_MEDIA)}.")
    try:
        return Image(media_type=media_type, data=base64.b64encode(path.read_bytes()).decode())
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from None


def _describe_files(result: AgentResult) -> str:
    names = list(result.files)
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


# --- questions on the terminal ----------------------------------------------------------------------------------------


async def ask_approval(request: ApprovalRequested) -> Approval:
    """Show a call and read the decision as one letter."""
    if not sys.stdin.isatty():
        return Approval(False, _NOBODY)
    shown = "\n".join(approval_lines(request, Colours(sys.stderr)))
    print(f"\nweft: {sanitize_text(request.name)}\n{shown}", file=sys.stderr)
    while True:
        answer = (await _read_line("allow? [y]es, [n]o, [a]lways this: ")).strip().lower()
        if answer in ("y", "yes"):
            return Approval(True)
        if answer in ("a", "always"):
            return Approval(True, always=True)
        if answer in ("n", "no"):
            return Approval(False, (await _read_line("why? (for the model; may be empty) ")).strip())


async def ask_question(question: QuestionAsked) -> str:
    if not sys.stdin.isatty():
        return NOBODY
    print(f"\nweft: {sanitize_text(question.text)}", file=sys.stderr)
    for number, suggestion in enumerate(question.suggestions, 1):
        print(f"  {number}. {sanitize_text(suggestion)}", file=sys.stderr)
    answer = (await _read_line("a number, or an answer of your own: ")).strip()
    if answer.isdecimal() and 1 <= int(answer) <= len(question.suggestions):
        return question.suggestions[int(answer) - 1]
    return answer


async def _read_line(prompt: str) -> str:
    """Read a line. Unlike a thread that reads, this wait can be cancelled."""
    print(prompt, end="", file=sys.stderr, flush=True)
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(sys.stdin, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(sys.stdin)
    line = sys.stdin.readline()
    if not line:
        raise EOFError("standard input was closed")
    return line
