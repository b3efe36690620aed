"""Instructions and where they come from; budgets; notes about an unusual outcome."""

import asyncio
from pathlib import Path
from typing import cast

import pytest

import heald
from heald.agent.agent import Agent
from heald.agent.instructions import DEFAULT
from heald.config.trust import remember
from heald.core.errors import ConfigurationError
from heald.core.events import ConversationInterrupted, ToolExecuting
from heald.core.turn import Cost, Settings, StopReason, Usage
from heald.providers.scripted import ScriptedSession
from log_support import Log, call, played, results_of, scripted, stop, think


@heald.tool
async def look(place: str = "") -> str:
    """Looks."""
    return "seen"


@heald.tool
async def wait_long() -> str:
    """Waits."""
    await asyncio.sleep(60)
    return "never"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder and a settings folder of its own for each test."""
    (tmp_path / "work").mkdir()
    (tmp_path / "config" / "heald").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


# --- instructions ----------------------------------------------------------------------------------------------------


def trust(home: Path) -> None:
    file = home / "work" / "heald.toml"
    remember(file, file.read_bytes(), trusted=True)


async def system_of(**options: object) -> str:
    model = scripted("Fine.")
    await Agent(model, **options).run("Go.")  # pyright: ignore[reportArgumentType]
    return model.requests[0].settings.system


async def test_the_default_is_for_agents_with_tools() -> None:
    assert await system_of(tools=[look]) == DEFAULT
    assert await system_of() == ""
    assert await system_of(tools=[look], default_instructions=False) == ""


async def test_ones_own_follow_the_default() -> None:
    assert await system_of(tools=[look], instructions="Be brief.") == f"{DEFAULT}\n\nBe brief."
    assert await system_of(instructions=["One.", "Two."]) == "One.\n\nTwo."


async def test_a_path_is_read(home: Path) -> None:
    (home / "rules.md").write_text("From a file: ä.\n", "utf-8")
    assert await system_of(instructions=home / "rules.md") == "From a file: ä."
    assert await system_of(instructions=["First.", home / "rules.md"]) == "First.\n\nFrom a file: ä."


async def test_a_text_that_looks_like_a_path_is_a_text(home: Path) -> None:
    (home / "work" / "rules.md").write_text("secret")
    assert await system_of(instructions="rules.md") == "rules.md"


async def test_what_cannot_be_read_is_reported(home: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"gone\.md cannot be read"):
        Agent(scripted("x"), instructions=home / "gone.md")
    (home / "blob").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match="are not text"):
        Agent(scripted("x"), instructions=home / "blob")


async def test_heald_toml(home: Path) -> None:
    (home / "work" / "heald.toml").write_text('[agent]\ninstructions = "In short."\ninstructions_file = "more.md"\n')
    (home / "work" / "more.md").write_text("And politely.")
    trust(home)
    (home / "config" / "heald" / "heald.toml").write_text('[agent]\ninstructions = "In English."\n')
    assert await system_of(instructions="Mine.") == "In short.\n\nAnd politely.\n\nIn English.\n\nMine."


async def test_the_same_twice_is_reported_once(home: Path) -> None:
    (home / "work" / "heald.toml").write_text('[agent]\ninstructions = "Be brief."\n')
    trust(home)
    assert await system_of(instructions=["Be brief.", " Be brief.\n"]) == "Be brief."
    assert await system_of(tools=[look], instructions=DEFAULT) == f"{DEFAULT}\n\nBe brief."


async def test_the_system_of_settings_joins() -> None:
    settings = Settings(system="From settings.", temperature=0.1)
    assert await system_of(settings=settings, instructions="Mine.") == "From settings.\n\nMine."


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[agent]\ninstruction = "x"\n', "did you mean 'instructions'"),
        ("[agent]\ninstructions = 3\n", r"\[agent\]"),
        ("agent = 3\n", "must be a table"),
        ('[agent]\ninstructions_file = "none.md"\n', "cannot be read as text"),
        ("[agent\n", "cannot be read"),
    ],
)
async def test_a_wrong_heald_toml_reports_it(home: Path, text: str, problem: str) -> None:
    (home / "work" / "heald.toml").write_text(text)
    trust(home)
    with pytest.raises(ConfigurationError, match=problem):
        Agent(scripted("x"))


# --- budgets ---------------------------------------------------------------------------------------------------------


async def test_turns() -> None:
    result, log = await played(
        *[[call("look", place=str(n))] for n in range(9)], tools=[look], budget=heald.Budget(turns=3)
    )
    assert (result.status, result.limit, result.turns) == ("limit", "turns", 3)
    assert result.note == "The exchange reached its budget of 3 turns."
    assert [tool_result.status for tool_result in results_of(result.messages)] == ["ok"] * 3
    assert [payload.reason for payload in log.of(ConversationInterrupted)] == ["turns"]


async def test_twenty_turns_if_nothing_is_reported() -> None:
    result, _ = await played(*[[call("look", place=str(n))] for n in range(30)], tools=[look])
    assert (result.status, result.turns) == ("limit", 20)


async def test_tokens_and_the_calls_that_they_no_longer_allow() -> None:
    first = ["See.", call("look"), call("nowhere"), stop("tool_use", Usage(input=90, output=20))]
    result, log = await played(first, "Done.", tools=[look], budget=heald.Budget(tokens=100))
    assert (result.status, result.limit, result.turns, result.text) == ("limit", "tokens", 1, "See.")
    assert [tool_result.status for tool_result in results_of(result.messages)] == ["cancelled", "unknown_tool"]
    assert "100 tokens" in results_of(result.messages)[0].text
    assert log.of(ToolExecuting) == []


async def test_an_answer_that_uses_up_the_budget_is_still_an_answer() -> None:
    result, _ = await played(["Done.", stop("end_turn", Usage(output=500))], budget=heald.Budget(tokens=100))
    assert (result.status, result.text) == ("completed", "Done.")


class Priced(heald.testing.ScriptedModel):
    """A dollar a token of output; None: no price is known."""

    price: float | None = 1.0

    def open_session(self, **asked: object) -> ScriptedSession:  # pyright: ignore[reportIncompatibleMethodOverride]
        session = cast("ScriptedSession", super().open_session(**asked))  # pyright: ignore[reportArgumentType]
        price = self.price
        session.cost = lambda usage: Cost(usd=None if price is None else price * (usage.output or 0))
        return session


async def test_money() -> None:
    agent = Agent(
        Priced([["A", call("look"), stop("tool_use", Usage(output=n))] for n in (2, 3, 9)]),
        tools=[look],
        budget=heald.Budget(usd=5),
    )
    log = Log(agent)
    result = await agent.run("Go.")
    assert (result.status, result.limit, result.cost_usd, result.turns) == ("limit", "usd", 5.0, 2)
    assert result.note == "The exchange reached its budget of $5."
    log.prove()


async def test_money_where_no_price_is_known_is_refused_before_anything_is_asked() -> None:
    model = Priced(["Never."])
    model.price = None
    agent = Agent(model, budget=heald.Budget(usd=1))
    log = Log(agent)
    with pytest.raises(ConfigurationError, match="The price of scripted/model is not known"):
        await agent.run("Go.")
    assert model.requests == []
    log.prove()


async def test_an_unknown_price_makes_the_cost_unknown() -> None:
    model = Priced(["Fine."])
    model.price = None
    assert (await Agent(model).run("Go.")).cost_usd is None


async def test_seconds_while_a_tool_runs() -> None:
    result, _ = await played([call("wait_long")], tools=[wait_long], budget=heald.Budget(seconds=0.05))
    assert (result.status, result.limit) == ("limit", "seconds")
    assert [tool_result.status for tool_result in results_of(result.messages)] == ["cancelled"]


async def test_seconds_while_the_model_writes() -> None:
    model = scripted("word " * 1000, "Fine.", pause=0.01)
    agent = Agent(model, budget=heald.Budget(seconds=0.1))
    log = Log(agent)
    result = await agent.run("Go.")
    assert (result.status, result.limit) == ("limit", "seconds")
    assert result.text.startswith("word ")
    assert agent.messages[-1].text == result.text
    log.prove()


@pytest.mark.parametrize("wrong", [{"turns": 0}, {"tokens": -1}, {"usd": 0.0}, {"seconds": 0}])
def test_a_budget_of_nothing_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError, match="must be greater than 0"):
        heald.Budget(**wrong)  # pyright: ignore[reportArgumentType]


async def test_each_exchange_has_the_whole_budget() -> None:
    agent = Agent(scripted([call("look")], "One.", [call("look")], "Two."), tools=[look], budget=heald.Budget(turns=2))
    assert [(await agent.run("Go.")).status for _ in range(2)] == ["completed", "completed"]


# --- notes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "reason", "note"),
    [
        ([stop("end_turn")], "end_turn", "The model answered with no text."),
        ([think("Hm.")], "end_turn", "The model answered with no text."),
        (["  \n"], "end_turn", "The model answered with no text."),
        (["Half an ans", stop("max_tokens")], "max_tokens", "The answer was cut off at the output limit."),
        (["No.", stop("refusal")], "refusal", "The model refused."),
        (["I ca", stop("content_filter")], "content_filter", "A content filter stopped the answer."),
        (["Fine.", stop("stop_sequence")], "stop_sequence", None),
        (["Fine."], "end_turn", None),
    ],
)
async def test_notes(script: list[str], reason: StopReason, note: str | None) -> None:
    result, _ = await played(script)
    assert (result.status, result.stop_reason, result.note) == ("completed", reason, note)


async def test_a_paused_turn_goes_on() -> None:
    result, _ = await played(["Searching", stop("pause_turn")], "Found.")
    assert (result.turns, result.text, result.note) == (2, "Found.", None)


@pytest.mark.parametrize("reason", ["refusal", "content_filter"])
async def test_a_refusal_with_calls_runs_none_and_ends(reason: StopReason) -> None:
    result, log = await played(["No.", call("look"), stop(reason)], "Never.", tools=[look])
    assert (result.status, result.turns) == ("completed", 1)
    assert [tool_result.status for tool_result in results_of(result.messages)] == ["invalid_input"]
    assert log.of(ToolExecuting) == []


async def test_a_call_that_was_cut_off_is_reported_and_repeated() -> None:
    result, log = await played([call("look"), stop("max_tokens")], [call("look")], "Done.", tools=[look])
    assert [tool_result.status for tool_result in results_of(result.messages)] == ["invalid_input", "ok"]
    assert "output limit" in results_of(result.messages)[0].text
    assert len(log.of(ToolExecuting)) == 1
