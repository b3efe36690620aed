"""The folder of evaluations: results, logs, comparison and recordings."""

import json
from pathlib import Path
from typing import Any

import pytest
from evaluations_support import answering, by_case

import heald
from heald.testing import ScriptedServer, wire_reply
from heald_evals import Case, CaseOutcome, CheckOutcome, Evaluation, Judge, compare_runs, contains
from heald_evals.evaluation_folder import EvaluationFolder
from heald_evals.report_lines import comparison_lines, summary_line

CASES = [Case(name, "What to wear?", checks=[contains("coat")]) for name in ("oslo", "rome")]


def wear(oslo: str, rome: str) -> Evaluation:
    return Evaluation("wear", by_case({"oslo": [oslo], "rome": [rome]}), CASES)


async def test_results_are_lines_of_json(tmp_path: Path) -> None:
    report = await wear("A coat.", "A jacket.").run(folder=tmp_path / "evals")
    lines = [json.loads(line) for line in (tmp_path / "evals" / "results.jsonl").read_text().splitlines()]
    assert {line["case"]: line["status"] for line in lines} == {"oslo": "passed", "rome": "failed"}
    rome = next(line for line in lines if line["case"] == "rome")
    assert rome["checks"][0] == {
        "name": "contains 'coat'",
        "passed": False,
        "reason": "the answer does not contain 'coat': A jacket.",
    }
    assert rome.keys() >= {"run", "time", "evaluation", "model", "tokens", "cost_usd", "duration_ms", "session"}
    assert {line["run"] for line in lines} == {report.run}


async def test_the_log_of_a_case_is_a_session(tmp_path: Path) -> None:
    report = await wear("A coat.", "A jacket.").run(folder=tmp_path)
    store = heald.sessions.SqliteStore(tmp_path / "sessions.db")
    info = await store.info(report.failures[0].session)
    session = await heald.sessions.Session.open(store, info.id, model=heald.testing.ScriptedModel([]))
    assert info.title == "wear: rome"
    assert [message.text for message in session.messages] == ["What to wear?", "A jacket."]
    await session.close()
    await store.close()


async def test_a_run_is_compared_with_the_last_one(tmp_path: Path) -> None:
    first = await wear("A coat.", "A jacket.").run(folder=tmp_path)
    assert comparison_lines(first.comparison) == []
    assert [outcome.case for outcome in first.comparison.new] == ["oslo", "rome"]
    second = await wear("A hat.", "A coat.").run(folder=tmp_path)
    assert [change.after.case for change in second.comparison.worse] == ["oslo"]
    assert [change.after.case for change in second.comparison.better] == ["rome"]
    lines = comparison_lines(second.comparison)
    assert lines[:3] == [
        "Compared with the last run: 1 better, 1 worse, 0 the same",
        "  worse  oslo: passed → failed",
        "  better rome: failed → passed",
    ]
    assert lines[3].startswith("  tokens ")
    third = await wear("A hat.", "A coat.").run(folder=tmp_path, only="oslo")
    assert [len(third.comparison.same), len(third.comparison.changes)] == [1, 1]


def outcome(case: str = "oslo", run: str = "run_1", **changes: Any) -> CaseOutcome:
    fields: dict[str, Any] = {"time": "", "evaluation": "wear", "model": "a/b", "status": "passed"}
    return CaseOutcome(run=run, case=case, **(fields | changes))


def test_a_small_difference_of_scores_is_none() -> None:
    def judged(run: str, score: float, model: str = "a/b") -> CaseOutcome:
        return outcome(run=run, model=model, checks=[CheckOutcome("judge", True, score=score)])

    assert compare_runs([judged("run_1", 0.85)], [judged("run_2", 0.8)]).worse == []
    comparison = compare_runs([judged("run_1", 0.9)], [judged("run_2", 0.6, "c/d")])
    assert comparison_lines(comparison)[1] == "  worse  oslo: passed, score 0.90 → 0.60 (a/b → c/d)"


def test_costs_are_added_and_compared() -> None:
    before = [outcome(tokens=1000, cost_usd=0.02), outcome("rome", tokens=1000, cost_usd=0.02)]
    after = [
        outcome(run="run_2", tokens=1500, cost_usd=0.03, judge_tokens=100, judge_cost_usd=0.001),
        outcome("rome", run="run_2", tokens=1500, cost_usd=0.03),
    ]
    assert summary_line(after) == "2 passed, 0 failed, 3,000 tokens, $0.0600, judge 100 tokens $0.0010"
    assert comparison_lines(compare_runs(before, after))[-1].startswith(
        "  tokens 2,000 → 3,000 (+50%), cost $0.0400 → $0.0600 (+50%), duration "
    )
    unpriced = [*after, outcome("paris", run="run_2", tokens=5)]
    assert "$0.06" not in summary_line(unpriced), "the cost of one case is not known"


def test_a_line_that_a_crash_cut_off_is_skipped(tmp_path: Path) -> None:
    folder = EvaluationFolder(tmp_path)
    folder.append_outcome(outcome("oslo"))
    with (tmp_path / "results.jsonl").open("ab") as file:
        file.write(b'{"run":"run_1","ti')
    folder.append_outcome(outcome("rome"))
    assert [stored.case for stored in folder.read_outcomes()] == ["oslo", "rome"]


async def test_the_logs_of_the_last_ten_runs_are_stored(tmp_path: Path) -> None:
    evaluation = Evaluation("wear", answering("A coat."), CASES[:1])
    reports = [await evaluation.run(folder=tmp_path) for _ in range(12)]
    await Evaluation("other", answering("A coat."), CASES[:1]).run(folder=tmp_path)
    store = heald.sessions.SqliteStore(tmp_path / "sessions.db")
    stored = {info.id for info in (await store.list(limit=100)).sessions}
    await store.close()
    assert [report.outcomes[0].session in stored for report in reports] == [False] * 2 + [True] * 10
    assert len(stored) == 11
    assert len(EvaluationFolder(tmp_path).read_outcomes()) == 13


async def test_recorded_answers_are_replayed_without_a_server(tmp_path: Path) -> None:
    verdict = json.dumps({"reason": "Warm.", "score": 1})
    replies = [wire_reply("chat", text="A coat."), wire_reply("chat", text=verdict)]
    cases = [Case("a case/with a path", "What to wear?", criteria="It is warm.")]

    def evaluation(url: str, key: str | None) -> Evaluation:
        model = heald.Model("m", base_url=f"{url}/v1", api_key=key)
        return Evaluation("wear", lambda: heald.Agent(model), cases, judge=Judge(model))

    missing = await evaluation("http://127.0.0.1:9", "k").run(folder=tmp_path, traffic="replay")
    assert "There is no recording of this case" in missing.outcomes[0].error
    async with ScriptedServer(replies) as server:
        recorded = await evaluation(server.url, "secret").run(folder=tmp_path, traffic="record")
        assert recorded.passed, recorded.outcomes
    files = [path for path in (tmp_path / "recordings").rglob("*") if path.is_file()]
    assert len(files) == 1
    assert "secret" not in files[0].read_text()
    replayed = await evaluation(server.url, None).run(folder=tmp_path, traffic="replay")  # the server is gone
    assert replayed.passed, replayed.outcomes
    assert replayed.outcomes[0].text == "A coat."
    failed = await evaluation(server.url, "secret").run(folder=tmp_path, traffic="record", only="path")
    assert failed.outcomes[0].status == "error"
    assert (await evaluation(server.url, None).run(folder=tmp_path, traffic="replay")).passed, "it is still there"


async def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(heald.HealdError, match="cannot be created: "):
        await wear("A coat.", "A coat.").run(folder=tmp_path / "file" / "evals")
