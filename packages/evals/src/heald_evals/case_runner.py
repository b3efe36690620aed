"""Runs cases: each in a session of its own, with its log stored."""

import asyncio
import inspect
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from heald.agent.agent import Agent
from heald.agent.budget import Budget
from heald.agent.model_chain import ModelLike
from heald.agent.result import AgentResult
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError, HealdError, ProviderError
from heald.core.events import ApprovalRequested, QuestionAsked
from heald.core.ids import new_id
from heald.core.turn import Usage
from heald.providers.recording import record, replay
from heald.sessions.opening_session import open_session
from heald.sessions.session import Session
from heald.sessions.store import Store
from heald.tools.approvals import Approval
from heald.tools.workspace.memory import MemoryWorkspace
from heald_evals.case import Case
from heald_evals.case_outcome import CaseOutcome
from heald_evals.case_run import CaseRun
from heald_evals.check_outcome import CheckOutcome
from heald_evals.checks import Check, equals, run_check
from heald_evals.evaluation_folder import EvaluationFolder
from heald_evals.judge import Judge

Traffic = Literal["live", "record", "replay"]
"""Whether models are asked, asked and recorded, or replayed from a recording."""
AgentSource = Agent[Any] | Callable[[], Agent[Any]] | Callable[[Case], Agent[Any]]
"""An agent whose options every case gets, or a function that makes the agent of a case."""


@dataclass(frozen=True)
class CaseRunner:
    """Runs the cases of one evaluation."""

    evaluation: str
    agent: AgentSource
    checks: Sequence[Check]
    judge: Judge | None
    budget: Budget | None
    store: Store
    run_id: str
    folder: EvaluationFolder | None = None
    """The folder that gets the outcomes and has the recordings."""
    model: ModelLike | None = None
    """A model to use instead of the agent's."""
    traffic: Traffic = "live"

    async def run_cases(
        self,
        cases: Sequence[Case],
        parallel: int,
        on_start: Callable[[Case], object] | None = None,
        on_outcome: Callable[[CaseOutcome], object] | None = None,
    ) -> list[CaseOutcome]:
        """Run cases, several at a time. Returns the outcomes in the order of the cases."""
        slots = asyncio.Semaphore(parallel)

        async def run_in_slot(case: Case) -> CaseOutcome:
            async with slots:
                if on_start is not None:
                    on_start(case)
                outcome = await self.run_case(case)
            if on_outcome is not None:
                on_outcome(outcome)
            return outcome

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run_in_slot(case)) for case in cases]
        return [task.result() for task in tasks]

    async def run_case(self, case: Case) -> CaseOutcome:
        """Run one case, and store its outcome. A failure of any kind is an outcome."""
        draft = CaseOutcome(
            run=self.run_id, time="", evaluation=self.evaluation, case=case.name, model="", status="error"
        )
        try:
            with self._open_tape(case) as keep_recording:
                outcome = await self._run(case, draft)
                if outcome.status != "error":
                    keep_recording()
        except HealdError as error:
            outcome = msgspec.structs.replace(draft, error=str(error))
        except Exception as error:  # of the function that makes the agent
            outcome = msgspec.structs.replace(draft, error=f"{type(error).__name__}: {error}")
        outcome = msgspec.structs.replace(outcome, time=datetime.now(UTC).isoformat(timespec="seconds"))
        if self.folder is not None:
            self.folder.append_outcome(outcome)
        return outcome

    # --- one case ----------------------------------------------------------------------------------------------------

    async def _run(self, case: Case, draft: CaseOutcome) -> CaseOutcome:
        agent = self._make_agent(case)
        session_id = new_id("ses")
        events: list[Event] = []
        opening = open_session(session_id, agent, store=self.store, title=f"{self.evaluation}: {case.name}")
        async with opening as session:
            _answer_for_people(session, agent)
            session.subscribe(events.append)
            exchange = session.send(case.prompt, budget=case.budget or self.budget)
            result = await exchange.result()
            model = session.model_name
        draft = msgspec.structs.replace(
            draft,
            model=model,
            text=result.text,
            turns=result.turns,
            tokens=(result.usage + (result.delegated or Usage())).total or 0,
            cost_usd=result.cost_usd,
            duration_ms=round(result.duration_ms, 1),
            session=session_id,
        )
        if isinstance(exchange.error, ProviderError | ConfigurationError) and case.status != "failed":
            return msgspec.structs.replace(draft, error=str(exchange.error))
        if result.status != case.status:
            check = CheckOutcome("status", False, _describe_status(result, case.status))
            return msgspec.structs.replace(draft, status="failed", checks=[check])
        return await self._decide(case, CaseRun(case.name, case.prompt, case.expected, result, events), draft)

    async def _decide(self, case: Case, run: CaseRun, draft: CaseOutcome) -> CaseOutcome:
        """Run the checks and the judge."""
        checks = [*self.checks, *case.checks]
        if case.expected is not None and not checks and self.judge is None:
            checks = [equals(case.expected)]
        outcomes = [await run_check(check, run) for check in checks]
        if self.judge is not None and (self.judge.criteria or case.criteria or case.expected is not None):
            try:
                judgement = await self.judge.judge(run, case.criteria)
            except HealdError as error:
                return msgspec.structs.replace(draft, checks=outcomes, error=f"The judge failed: {error}")
            outcomes.append(judgement.outcome)
            draft = msgspec.structs.replace(draft, judge_tokens=judgement.tokens, judge_cost_usd=judgement.cost_usd)
        passed = all(outcome.passed for outcome in outcomes)
        return msgspec.structs.replace(draft, status="passed" if passed else "failed", checks=outcomes)

    def _make_agent(self, case: Case) -> Agent[Any]:
        agent = self.agent
        if not isinstance(agent, Agent):
            agent = _call(agent, case)
        options = dict(agent.options)
        if self.model is not None:
            options |= {"model": self.model, "fallbacks": ()}
        if case.files:
            options["workspace"] = MemoryWorkspace(case.files)
        return Agent(**options, history=[*agent.messages, *case.history])

    @contextmanager
    def _open_tape(self, case: Case) -> Generator[Callable[[], object]]:
        """Record or replay the traffic of the block. Yields a function that replaces an earlier recording."""
        if self.traffic == "live" or self.folder is None:
            yield lambda: None
            return
        path = self.folder.find_recording(self.evaluation, case.name)
        if self.traffic == "replay":
            if not path.exists():
                raise ConfigurationError(f"There is no recording of this case ({path}); record the traffic first.")
            with replay(path):
                yield lambda: None
            return
        part = Path(f"{path}.part")
        part.unlink(missing_ok=True)
        try:
            with record(part):
                yield lambda: part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def _call(make_agent: Callable[..., Any], case: Case) -> Agent[Any]:
    agent: object = make_agent(*([case] if inspect.signature(make_agent).parameters else []))
    if not isinstance(agent, Agent):
        name = getattr(make_agent, "__name__", "The function")
        raise ConfigurationError(f"{name} returned a {type(agent).__name__}; it must return a heald.Agent.")
    return cast("Agent[Any]", agent)


def _answer_for_people(session: Session[Any], agent: Agent[Any]) -> None:
    """Answer the requests that the agent itself has no function for: a stored session would wait for a person."""
    session.answer_with(
        on_approval=_deny if agent.options["on_approval"] is None else None,
        on_question=_decline if agent.options["on_question"] is None else None,
    )


def _deny(_: ApprovalRequested) -> Approval:
    return Approval(False, "Nobody can approve this call: the agent is being evaluated.")


def _decline(_: QuestionAsked) -> str:
    return "Nobody can answer: the agent is being evaluated. Decide yourself."


def _describe_status(result: AgentResult[Any], expected: str) -> str:
    reason = result.error.message if result.error is not None else result.note
    return f"the exchange ended as {result.status}, not as {expected}" + (f": {reason}" if reason else "")
