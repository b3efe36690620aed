"""Agents that do the tasks: Heald, and others where they are installed."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import structs

import heald
from benchmarks.tasks.task import Function
from benchmarks.tool_search import answer, made_definitions
from heald.agent.tool_search import SHARE
from heald.tools.definitions import Tool

SECONDS = 900
_TURNS = 10
_MORE_TOOLS = 100
_INSTRUCTIONS = "You work with tools. Use them to do what is asked, then say briefly what you did."


@dataclass(frozen=True)
class Place:
    """The model and its endpoint."""

    model: str
    base_url: str
    key: str = "none"


@dataclass(frozen=True)
class Runner:
    """An agent. A part that it cannot do is None."""

    name: str
    code: Callable[[str, Path, Place], None] | None = None
    """Do a request in a folder."""
    call: Callable[[str, Place, Sequence[Function]], str] | None = None
    """Answer a request with tools."""


def available_runners() -> list[Runner]:
    """The agents that can run here, Heald first."""
    runners = [
        Runner("heald", lambda text, folder, place: _heald_code(text, folder, place, "auto"), _heald_call),
        Runner("heald, tools only", lambda text, folder, place: _heald_code(text, folder, place, "tools")),
        Runner("heald, four small tools", _heald_small),
        Runner("heald, 100 more tools, found by a search", call=_heald_many),
        Runner("heald, 100 more tools of four services, found by a search", call=_heald_mixed),
        Runner("heald, 100 more tools, described", call=_heald_described),
    ]
    if find_spec("pydantic_ai") is not None:
        runners.append(Runner("pydantic-ai", _pydantic_code, _pydantic_call))
    if find_spec("agents") is not None:
        runners.append(Runner("openai-agents", _agents_code, _agents_call))
    if shutil.which("aider") is not None:
        runners.append(Runner("aider, whole files", _aider_code))
    return runners


def file_functions(folder: Path) -> list[Function]:
    """Four small tools for the files of a folder."""

    def inside(path: str) -> Path:
        place = (folder / path).resolve()
        if not place.is_relative_to(folder.resolve()):
            raise ValueError(f"{path} is outside of the folder")
        return place

    def list_files() -> str:
        """List all files."""
        return "\n".join(sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()))

    def read_file(path: str) -> str:
        """Read a file."""
        return inside(path).read_text("utf-8") if inside(path).is_file() else f"There is no {path}."

    def write_file(path: str, content: str) -> str:
        """Write a whole file."""
        inside(path).parent.mkdir(parents=True, exist_ok=True)
        inside(path).write_text(content, "utf-8")
        return f"Wrote {path}."

    def edit_file(path: str, old_text: str, new_text: str) -> str:
        """Replace a text that stands once in a file."""
        text = inside(path).read_text("utf-8") if inside(path).is_file() else ""
        if text.count(old_text) != 1:
            return f"old_text stands {text.count(old_text)} times in {path}."
        inside(path).write_text(text.replace(old_text, new_text), "utf-8")
        return f"Changed {path}."

    return [list_files, read_file, write_file, edit_file]


# --- Heald --------------------------------------------------------------------------------------------------------


def _run_heald(text: str, place: Place, **options: Any) -> str:
    async def run() -> str:
        model = heald.Model(place.model, base_url=place.base_url, api_key=place.key)
        budget = heald.Budget(turns=_TURNS, seconds=SECONDS)
        async with heald.Agent(model, budget=budget, **options) as agent:
            return (await agent.run(text)).text

    return asyncio.run(run())


def _heald_code(text: str, folder: Path, place: Place, edit_format: str) -> None:
    _run_heald(text, place, tools=["files"], workspace=folder, edit_format=edit_format)


def _heald_small(text: str, folder: Path, place: Place) -> None:
    _run_heald(text, place, tools=[heald.tool(function) for function in file_functions(folder)])


def _heald_call(text: str, place: Place, functions: Sequence[Function]) -> str:
    return _run_heald(text, place, tools=[heald.tool(function) for function in functions])


def _heald_many(text: str, place: Place, functions: Sequence[Function], tool_search: float | None = SHARE) -> str:
    """Answer with the tools of the tasks behind 100 others, which are described in full without a search."""
    tools = [Tool(definition=definition, run=answer) for definition in made_definitions(_MORE_TOOLS)]
    tools += [heald.tool(function) for function in functions]
    return _run_heald(text, place, tools=tools, tool_search=tool_search)


def _heald_described(text: str, place: Place, functions: Sequence[Function]) -> str:
    return _heald_many(text, place, functions, tool_search=None)


def _heald_mixed(text: str, place: Place, functions: Sequence[Function]) -> str:
    """Answer with tools of four services, each of which has one of the tasks and 25 others."""
    tools: list[Tool] = []
    for number, function in enumerate(functions):
        tool = heald.tool(function)
        definition = structs.replace(tool.definition, name=f"service{number}__{tool.name}")
        task_tool = structs.replace(tool, definition=definition)
        others = [
            structs.replace(definition, name=definition.name.replace("service0", f"service{number}"))
            for definition in made_definitions(_MORE_TOOLS)[number::4]
        ]
        made = [Tool(definition=definition, run=answer) for definition in others]
        tools += [*made[:12], task_tool, *made[12:]]
    return _run_heald(text, place, tools=tools)


# --- others ------------------------------------------------------------------------------------------------------


def _run_pydantic(text: str, place: Place, functions: list[Function]) -> str:
    openai: Any = import_module("pydantic_ai.models.openai")
    providers: Any = import_module("pydantic_ai.providers.openai")
    usage: Any = import_module("pydantic_ai.usage")
    provider = providers.OpenAIProvider(base_url=place.base_url, api_key=place.key)
    model = openai.OpenAIChatModel(place.model, provider=provider)
    library: Any = import_module("pydantic_ai")
    agent = library.Agent(model, tools=functions, system_prompt=_INSTRUCTIONS)
    return str(agent.run_sync(text, usage_limits=usage.UsageLimits(request_limit=_TURNS)).output)


def _pydantic_code(text: str, folder: Path, place: Place) -> None:
    _run_pydantic(text, place, file_functions(folder))


def _pydantic_call(text: str, place: Place, functions: Sequence[Function]) -> str:
    return _run_pydantic(text, place, list(functions))


def _run_agents(text: str, place: Place, functions: list[Function]) -> str:
    agents: Any = import_module("agents")
    openai: Any = import_module("openai")
    agents.set_tracing_disabled(True)
    client = openai.AsyncOpenAI(base_url=place.base_url, api_key=place.key)
    model = agents.OpenAIChatCompletionsModel(model=place.model, openai_client=client)
    tools = [agents.function_tool(function) for function in functions]
    agent = agents.Agent(name="worker", instructions=_INSTRUCTIONS, model=model, tools=tools)
    return str(agents.Runner.run_sync(agent, text, max_turns=_TURNS).final_output)


def _agents_code(text: str, folder: Path, place: Place) -> None:
    _run_agents(text, place, file_functions(folder))


def _agents_call(text: str, place: Place, functions: Sequence[Function]) -> str:
    return _run_agents(text, place, list(functions))


def _aider_code(text: str, folder: Path, place: Place) -> None:
    files = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    quiet = ("--yes-always", "--no-git", "--no-auto-commits", "--no-check-update", "--no-show-model-warnings")
    command = ["aider", "--model", f"openai/{place.model}", "--edit-format", "whole", *quiet, "--message", text, *files]
    environment = os.environ | {"OPENAI_API_BASE": place.base_url, "OPENAI_API_KEY": place.key}
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=SECONDS, check=False)
