"""Cases: what makes one pass, fail or end with an error."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from evaluations_support import S, answering, by_case, weather

import heald
from heald.core.errors import AuthenticationFailed, ConfigurationError
from heald_evals import (
    Case,
    CaseOutcome,
    CaseRun,
    CheckOutcome,
    Evaluation,
    avoids,
    calls,
    contains,
    equals,
    excludes,
    matches,
    writes,
)


async def run_one(agent: Any, case: Case, **options: Any) -> CaseOutcome:
    report = await Evaluation("tried", agent, [case], **options).run()
    return report.outcomes[0]


COAT = (S.call("weather", city="Oslo"), "Take a warm coat.")


async def test_a_case_passes_with_all_its_checks() -> None:
    checks = [contains("COAT", "warm"), excludes("jacket"), matches(r"\bwarm\b"), calls("weather", city="Oslo")]
    outcome = await run_one(answering(*COAT), Case("oslo", "What to wear?", checks=[*checks, avoids("run_command")]))
    assert (outcome.status, outcome.score, outcome.text) == ("passed", 1.0, "Take a warm coat.")
    assert [check.name for check in outcome.checks] == [
        "contains 'COAT', 'warm'",
        "excludes 'jacket'",
        r"matches \bwarm\b",
        "calls weather(city='Oslo')",
        "avoids run_command",
    ]
    assert (outcome.model, outcome.turns) == ("scripted/model", 2)
    assert outcome.tokens > 0


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (contains("warm", "jacket"), "the answer does not contain 'jacket': Take a warm coat."),
        (excludes("coat"), "the answer contains 'coat': Take a warm coat."),
        (matches("^coat"), "the answer does not match: Take a warm coat."),
        (equals("A coat."), "expected A coat., got Take a warm coat."),
        (calls("weather", city="Rome"), 'weather was called with {"city":"Oslo"}'),
        (calls("search"), "search was not called; the calls were of weather"),
        (avoids("weather"), "weather was called"),
        (writes("a.txt"), "a.txt was not written"),
    ],
)
async def test_a_failed_check_has_a_reason(check: Any, reason: str) -> None:
    outcome = await run_one(answering(*COAT), Case("oslo", "What to wear?", checks=[contains("coat"), check]))
    assert (outcome.status, outcome.score) == ("failed", 0.5)
    assert [failure.reason for failure in outcome.failures] == [reason]


async def test_checks_are_functions() -> None:
    def asserts(run: CaseRun) -> None:
        assert "jacket" in run.text, "no jacket"

    async def answers(run: CaseRun) -> bool:
        await asyncio.sleep(0)
        return run.text == run.expected

    def breaks(run: CaseRun) -> bool:
        return bool(run.files["missing.txt"])

    def scores(run: CaseRun) -> CheckOutcome:
        return CheckOutcome("length", True, score=0.5)

    def returns_text(run: CaseRun) -> Any:
        return "fine"

    def passes(run: CaseRun) -> None:
        assert [result.text for result in run.results] == ["Oslo: 3 °C, snow"]

    checks = [asserts, answers, breaks, scores, returns_text, passes]
    outcome = await run_one(answering(*COAT), Case("oslo", "?", expected="Take a warm coat.", checks=checks))
    outcomes = {check.name: (check.passed, check.reason.partition(" (")[0]) for check in outcome.checks}
    assert outcomes == {
        "asserts": (False, "no jacket"),
        "answers": (True, ""),
        "breaks": (False, "KeyError: 'missing.txt'"),
        "length": (True, ""),
        "returns_text": (False, "the check returned a str; return True, False, None or a CheckOutcome"),
        "passes": (True, ""),
    }


async def test_checks_of_the_evaluation_hold_for_every_case() -> None:
    cases = [Case("cold", "?"), Case("warm", "?")]
    agent = by_case({"cold": ["A coat."], "warm": ["A jacket."]})
    report = await Evaluation("wear", agent, cases, checks=[contains("coat")]).run()
    assert [(outcome.case, outcome.status) for outcome in report.outcomes] == [("cold", "passed"), ("warm", "failed")]
    assert not report.passed
    assert [outcome.case for outcome in report.failures] == ["warm"]


async def test_expected_alone_is_compared() -> None:
    assert (await run_one(answering(" 42\n"), Case("sum", "?", expected="42"))).passed
    outcome = await run_one(answering("43"), Case("sum", "?", expected="42"))
    assert outcome.failures[0].reason == "expected 42, got 43"


class Total(msgspec.Struct):
    total: int


async def test_expected_is_compared_with_typed_output() -> None:
    agent = heald.Agent(S(['{"total": 42}']), output=Total)
    assert (await run_one(agent, Case("sum", "?", expected=Total(42)))).passed


async def test_files_and_history_are_those_of_the_case() -> None:
    model = S([S.call("read_file", path="a.txt"), S.call("write_file", path="b.txt", content="hi\n"), "Done."])
    seen: list[list[str]] = []

    def make_agent() -> heald.Agent:
        return heald.Agent(model, tools=["files"], default_instructions=False)

    def reads(run: CaseRun) -> None:
        seen.append([result.text for result in run.results])

    case = Case(
        "copy",
        "Copy a.txt.",
        files={"a.txt": "hello\n"},
        history=[{"role": "user", "content": "I am Ann."}, {"role": "assistant", "content": "Hello, Ann."}],
        checks=[writes("b.txt", "hi\n"), reads],
    )
    assert (await run_one(make_agent, case)).passed
    assert "hello" in seen[0][0]
    assert [message.text for message in model.requests[0].messages] == ["I am Ann.", "Hello, Ann.", "Copy a.txt."]


async def test_a_budget_that_is_reached_fails_the_case() -> None:
    outcome = await run_one(answering(*COAT), Case("oslo", "?"), budget=heald.Budget(turns=1))
    assert (outcome.status, outcome.failures[0].name) == ("failed", "status")
    assert outcome.failures[0].reason.startswith("the exchange ended as limit, not as completed: ")
    case = Case("oslo", "?", budget=heald.Budget(turns=5))
    assert (await run_one(answering(*COAT), case, budget=heald.Budget(turns=1))).passed


async def test_a_case_may_expect_another_status() -> None:
    @heald.guardrail("request")
    def refuse(messages: Sequence[heald.Message]) -> str:
        return "Not this."

    agent = heald.Agent(S(["Hello."]), guardrails=[refuse])
    assert (await run_one(agent, Case("refused", "?", status="failed"))).passed
    outcome = await run_one(agent, Case("refused", "?"))
    assert (outcome.status, outcome.failures[0].name) == ("failed", "status")
    assert "Not this." in outcome.failures[0].reason


async def test_a_model_that_fails_is_an_error_of_the_case() -> None:
    agent = answering([S.fail(AuthenticationFailed("The key is wrong."))])
    outcome = await run_one(agent, Case("oslo", "?", checks=[contains("coat")]))
    assert (outcome.status, outcome.checks, outcome.score) == ("error", [], 0.0)
    assert "The key is wrong." in outcome.error


async def test_a_function_that_fails_is_an_error_of_the_case() -> None:
    def no_agent(case: Case) -> heald.Agent:
        raise KeyError(case.name)

    assert (await run_one(no_agent, Case("oslo", "?"))).error == "KeyError: 'oslo'"
    outcome = await run_one(lambda: "an agent", Case("oslo", "?"))
    assert outcome.error == "<lambda> returned a str; it must return a heald.Agent."


async def test_nobody_is_asked() -> None:
    """A stored session would wait for a person for ever."""

    def make_agent() -> heald.Agent:
        turns = [S.call("weather", city="Oslo"), S.call("ask_user", question="Which one?"), "I cannot look."]
        return heald.Agent(S(turns), tools=[weather, "ask_user"], permissions="ask")

    def is_denied(run: CaseRun) -> None:
        assert next(result.status for result in run.results) == "denied"

    assert (await run_one(make_agent, Case("asked", "?", checks=[is_denied]))).passed


async def test_another_model_can_be_tried() -> None:
    evaluation = Evaluation("wear", answering("A coat."), [Case("oslo", "?", checks=[contains("jacket")])])
    assert not (await evaluation.run()).passed
    report = await evaluation.run(model=S(["A jacket."], name="other/model"))
    assert report.passed
    assert report.outcomes[0].model == "other/model"


async def test_cases_run_in_parallel_and_report_their_progress() -> None:
    running = asyncio.Event()
    started: list[str] = []
    ended: list[str] = []

    @heald.tool
    async def wait_for_other() -> str:
        """Wait until the other case runs."""
        if len(started) == 2:
            running.set()
        await running.wait()
        return "both run"

    def make_agent() -> heald.Agent:
        return heald.Agent(S([S.call("wait_for_other"), "Done."]), tools=[wait_for_other])

    cases = [Case("first", "?"), Case("second", "?"), Case("third", "?")]
    report = await Evaluation("together", make_agent, cases).run(
        parallel=2,
        on_start=lambda case: started.append(case.name),
        on_outcome=lambda outcome: ended.append(outcome.case),
    )
    assert report.passed
    assert started == ["first", "second", "third"]
    assert sorted(ended) == ["first", "second", "third"]
    assert [outcome.case for outcome in report.outcomes] == ["first", "second", "third"]


async def test_only_some_cases_run() -> None:
    evaluation = Evaluation("wear", answering("A coat."), [Case("oslo", "?"), Case("rome", "?"), Case("osaka", "?")])
    assert [outcome.case for outcome in (await evaluation.run(only="os")).outcomes] == ["oslo", "osaka"]
    assert [outcome.case for outcome in (await evaluation.run(only="*o")).outcomes] == ["oslo"]
    with pytest.raises(ConfigurationError, match="No case of wear matches 'paris'; the cases are oslo, rome, osaka"):
        await evaluation.run(only="paris")


def make(**changes: Any) -> Evaluation:
    options: dict[str, Any] = {"name": "wear", "agent": answering("A coat."), "cases": [Case("oslo", "?")]}
    return Evaluation(**(options | changes))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": " "}, "Evaluation: name must not be empty"),
        ({"cases": []}, "The evaluation wear has no cases"),
        ({"cases": [Case("oslo", "?"), Case("oslo", "!")]}, "two cases with the name 'oslo'"),
        ({"cases": [Case("oslo", "?", criteria="It is polite.")]}, "has criteria, and the evaluation has no judge"),
        ({"agent": "openai/gpt-5.2"}, "agent must be"),
        ({"budget": {"usd": 1}}, r"budget must be a Budget or None, not a dict; write Budget\(usd=1\)"),
        ({"cases": ["oslo"]}, "cases must be"),
    ],
)
def test_wrong_uses_are_refused_in_a_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        make(**changes)


def test_a_case_is_checked_when_it_is_made() -> None:
    with pytest.raises(ConfigurationError, match="Case: name must not be empty"):
        Case("", "?")
    with pytest.raises(ConfigurationError, match="Case: status must be"):
        Case("oslo", "?", status="done")  # pyright: ignore[reportArgumentType]


async def test_recordings_need_a_folder() -> None:
    with pytest.raises(ConfigurationError, match="traffic='record' needs a folder"):
        await make().run(traffic="record")
    with pytest.raises(ConfigurationError, match="parallel is 0"):
        await make().run(parallel=0)
