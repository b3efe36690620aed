"""Reads an evaluation from a TOML file, for cases that need no Python."""

import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from heald.agent.agent import Agent
from heald.agent.budget import Budget
from heald.core.errors import ConfigurationError, HealdError
from heald.core.events import ExchangeStatus
from heald.entry_points import import_reference
from heald.tools.permissions import Mode
from heald_evals.case import Case
from heald_evals.case_runner import AgentSource
from heald_evals.checks import Check, avoids, calls, contains, excludes, matches, writes
from heald_evals.evaluation import Evaluation
from heald_evals.judge import Judge

Texts = str | list[str]


class _StrictTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class AgentOfCases(_StrictTable, frozen=True, kw_only=True):
    """The table `[agent]`."""

    model: str
    instructions: str | None = None
    tools: list[str] = []
    permissions: Mode | None = None
    workspace: str | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None


class JudgeTable(_StrictTable, frozen=True, kw_only=True):
    """The table `[judge]`."""

    model: str
    criteria: str = ""
    passing_score: float = 0.5


class ExpectedCall(_StrictTable, frozen=True, kw_only=True):
    """A call that a case expects."""

    tool: str
    arguments: dict[str, Any] = {}


class CaseTable(_StrictTable, frozen=True, kw_only=True):
    """One table of `[[cases]]`."""

    name: str
    prompt: str
    expected: Any = None
    criteria: str = ""
    contains: Texts = []
    excludes: Texts = []
    matches: Texts = []
    calls: list[str | ExpectedCall] = []
    avoids: list[str] = []
    writes: list[str] | dict[str, str] = []
    files: dict[str, str] = {}
    status: ExchangeStatus = "completed"
    budget: dict[str, Any] | None = None


class CasesDocument(_StrictTable, frozen=True, kw_only=True):
    """A file of cases."""

    agent: str | AgentOfCases
    cases: list[CaseTable]
    name: str = ""
    judge: JudgeTable | None = None
    budget: dict[str, Any] | None = None


def read_toml_cases(file: Path) -> Evaluation:
    """Read the evaluation of a TOML file. Raises ConfigurationError, with the path and what is wrong."""
    try:
        values = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise ConfigurationError(f"{file} is not valid TOML: {error}.") from None
    try:
        document = msgspec.convert(values, CasesDocument)
        judge = document.judge
        return Evaluation(
            document.name or file.stem.removeprefix("test_"),
            _agent_source(document.agent),
            [_read_case(table) for table in document.cases],
            judge=Judge(judge.model, criteria=judge.criteria, passing_score=judge.passing_score) if judge else None,
            budget=_read_budget(document.budget),
        )
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{file} is not a file of cases: {error}.") from None
    except HealdError as error:
        raise ConfigurationError(f"{file}: {error}") from None


def _agent_source(agent: str | AgentOfCases) -> AgentSource:
    if isinstance(agent, AgentOfCases):
        options = msgspec.structs.asdict(agent)
        return lambda: Agent(**options)
    if not re.fullmatch(r"[\w.]+:[\w.]+", agent):
        raise ConfigurationError(f"agent is {agent!r}; write 'module:function', or a table [agent] with a model.")
    try:
        return import_reference(agent)
    except Exception as error:
        raise ConfigurationError(f"agent {agent!r} cannot be imported: {type(error).__name__}: {error}") from error


def _read_case(table: CaseTable) -> Case:
    return Case(
        table.name,
        table.prompt,
        expected=table.expected,
        checks=_make_checks(table),
        criteria=table.criteria,
        budget=_read_budget(table.budget),
        status=table.status,
        files=table.files,
    )


def _make_checks(table: CaseTable) -> list[Check]:
    checks: list[Check] = []
    if table.contains:
        checks.append(contains(*_listed(table.contains)))
    if table.excludes:
        checks.append(excludes(*_listed(table.excludes)))
    for pattern in _listed(table.matches):
        try:
            checks.append(matches(pattern))
        except re.error as error:
            raise ConfigurationError(
                f"matches of the case {table.name!r} is not a regular expression: {error}."
            ) from None
    checks += [calls(call) if isinstance(call, str) else calls(call.tool, **call.arguments) for call in table.calls]
    if table.avoids:
        checks.append(avoids(*table.avoids))
    if isinstance(table.writes, dict):
        checks += [writes(path, content) for path, content in table.writes.items()]
    else:
        checks += [writes(path) for path in table.writes]
    return checks


def _read_budget(limits: dict[str, Any] | None) -> Budget | None:
    return msgspec.convert(limits, Budget) if limits is not None else None


def _listed(texts: Texts) -> list[str]:
    return [texts] if isinstance(texts, str) else texts
