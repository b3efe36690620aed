"""Agents as files: what a file says, what the session adds and bounds, and the sentence for every mistake."""

from pathlib import Path
from typing import Any

import pytest

import heald
from heald.agent.agent_files import AgentFiles
from heald.agent.agent_form import read_agent_file
from heald.core.errors import ConfigurationError
from heald.core.messages import ToolResult
from heald.tools.permissions import Mode
from log_support import Log, call, scripted

BILLING = """---
name: billing
description: >
  Refunds and
  invoices.
model: openai/gpt-5.2
tools: [refund, read_file]
permissions:
  - read-only
  - allow refund
budget: {turns: 3, usd: 0.5}
handoffs: triage
---
You are the billing agent.
"""
TRIAGE = """---
description: Routes requests.
tools: none
handoffs: [billing]
---
You route requests.
"""


@heald.tool(effect="write")
async def refund(order: str) -> str:
    """Refund an order."""
    return f"{order} was refunded"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "billing.md").write_text(BILLING)
    (tmp_path / "triage.md").write_text(TRIAGE)
    return tmp_path


def test_a_file_says_all_of_an_agent(folder: Path) -> None:
    file = read_agent_file(folder / "billing.md")
    assert (file.name, file.description, file.model) == ("billing", "Refunds and invoices.", "openai/gpt-5.2")
    assert (file.tools, file.mode, file.rules) == (("refund", "read_file"), "read-only", ("allow refund",))
    assert file.budget == heald.Budget(turns=3, usd=0.5)
    assert (file.handoffs, file.instructions) == (("triage",), "You are the billing agent.")
    other = read_agent_file(folder / "triage.md")
    assert (other.name, other.model, other.tools, other.permissions, other.budget) == ("triage", "", (), None, None)


async def test_a_program_loads_an_agent_with_those_that_it_hands_over_to(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-used")
    model = scripted([call("hand_over", agent="billing")])
    agent = heald.load_agent(folder / "triage.md", model=model, tools=[refund], temperature=0.5)
    assert (agent.name, agent.description, agent.settings.temperature) == ("triage", "Routes requests.", 0.5)
    assert "You route requests." in agent.settings.system
    assert [tool.name for tool in agent.tools] == ["hand_over"]
    (billing,) = agent.options["handoffs"]
    assert (billing.name, billing.model_name) == ("billing", "openai/gpt-5.2")
    assert [tool.name for tool in billing.tools] == ["read_file", "refund"]
    assert billing.options["handoffs"] == ["triage"]
    assert billing.options["budget"] == heald.Budget(turns=3, usd=0.5)


async def test_a_file_restricts_the_session_and_never_widens_it(folder: Path) -> None:
    text = BILLING.replace("model: openai/gpt-5.2\n", "")
    calls = [[call("refund", order="7")], "Done."]
    statuses: list[str] = []
    cases: list[tuple[Mode, dict[str, str]]] = [
        ("auto", {}),
        ("read-only", {}),
        ("auto", {"allow refund": "deny refund"}),
        ("read-only", {"read-only": "auto"}),
    ]
    for permissions, change in cases:
        changed = text
        for old, new in change.items():
            changed = changed.replace(old, new)
        (folder / "billing.md").write_text(changed)
        agent = heald.load_agent(folder / "billing.md", model=scripted(*calls), tools=[refund], permissions=permissions)
        log = Log(agent)
        await agent.run("Refund 7.")
        statuses += [result.status for result in log.of(ToolResult)]
    assert statuses == ["ok", "denied", "denied", "denied"]


async def test_the_budget_is_the_tighter_one(folder: Path) -> None:
    text = BILLING.replace("model: openai/gpt-5.2\n", "").replace(", usd: 0.5", "")
    (folder / "billing.md").write_text(text)
    loop = [[call("refund", order="7")]] * 9
    for turns, limit in ((2, 2), (9, 3)):
        budget = heald.Budget(turns=turns)
        agent = heald.load_agent(folder / "billing.md", model=scripted(*loop), tools=[refund], budget=budget)
        result = await agent.run("Refund 7.")
        assert (result.limit, result.turns) == ("turns", limit)


def test_an_agent_without_tools_in_its_file_gets_those_of_the_program(folder: Path) -> None:
    (folder / "plain.md").write_text("---\ndescription: Plain.\n---\nHello.\n")
    agent = heald.load_agent(folder / "plain.md", model=scripted(), tools=[refund, "todo"], instructions="Be brief.")
    assert "refund" in [tool.name for tool in agent.tools]
    assert len(agent.tools) > 1
    assert agent.settings.system.endswith("Hello.\n\nBe brief.")


def test_a_faulty_file_matters_only_to_those_that_need_it(folder: Path) -> None:
    (folder / "README.md").write_text("# Agents\n")
    (folder / "broken.md").write_text("---\nhandofs: x\n---\n")
    (folder / "twin.md").write_text(TRIAGE.replace("---\n", "---\nname: triage\n", 1))
    files = AgentFiles.read(sorted(folder.glob("*.md")))
    assert list(files.by_name) == ["billing", "triage"]
    assert sorted(files.faults) == ["README", "broken", "twin"]
    assert "has no front matter" in str(files.faults["README"])
    assert str(files.faults["twin"]).endswith("twin.md:2: the agent 'triage' is in triage.md too; rename one.")
    with pytest.raises(ConfigurationError, match=r"broken.md:2: there is no field 'handofs'; did you mean 'handoffs'"):
        files.find("broken")
    (folder / "user.md").write_text("---\nhandoffs: broken\n---\n")
    with pytest.raises(ConfigurationError, match=r"broken.md:2"):
        heald.load_agent(folder / "user.md", model=scripted())


@pytest.mark.parametrize(
    ("front", "sentence"),
    [
        ("tool: files", "a.md:2: there is no field 'tool'; did you mean 'tools'?"),
        ("name: two words", "a.md:2: 'two words' is not a valid name for an agent: use at most 63 letters, digits, _"),
        ("description:", "a.md:2: description has no value; give one, or leave it out."),
        ("model: [a, b]", "a.md:2: model must be a text."),
        ("tools: {a: b}", "a.md:2: tools must be a list of names, as in tools: [first, second]."),
        ("tools: fils", "a.md:2: There is no tool 'fils'; did you mean 'files'?"),
        ("permissions: raed-only", "a.md:2: permissions: there is no mode 'raed-only'; did you mean 'read-only'?"),
        ("permissions: [ask, auto]", "a.md:2: permissions names two modes, ask and auto."),
        ("permissions: [forbid it all]", "a.md:2: 'forbid it all' is not a rule"),
        ("permissions: [deny run_comand]", "a.md:2: "),
        ("budget: 5", "a.md:2: budget must be limits with their names, as in budget: {turns: 10, usd: 0.5}."),
        ("budget: {turn: 5}", "a.md:2: budget: there is no limit 'turn'; did you mean 'turns'?"),
        ("budget: {turns: many}", "a.md:2: budget: Expected `int"),
        ("budget: {turns: 0}", "a.md:2: The budget of turns is 0; it must be greater than 0."),
        ("handoffs: a", "a.md:2: the agent hands over to itself."),
        ("handoffs: nobody", "a.md:2: there is no agent 'nobody' to hand over to; there are no others."),
        ("model: nowhere/none", "a.md:2: There is no provider 'nowhere'"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_file_and_line(tmp_path: Path, front: str, sentence: str) -> None:
    path = tmp_path / "a.md"
    path.write_text(f"---\n{front}\n---\nHello.\n")
    with pytest.raises(ConfigurationError) as raised:
        heald.load_agent(path, model=None if "model" in front else scripted())
    assert sentence in str(raised.value)
    assert str(path) in str(raised.value)
    assert str(raised.value).count("\n") == 0


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    cases: list[tuple[str, bytes | None, str]] = [
        ("none.md", None, "none.md: the agent cannot be read: No such file or directory."),
        ("bytes.md", b"---\nname: a\n---\n\xff", "bytes.md:4: the agent is not UTF-8 text."),
        ("large.md", b"x" * 300_000, "large.md: the agent has more than 200,000 bytes"),
        ("long.md", b"---\nname: a\n---\n" + b"x" * 60_000, "long.md: the instructions have 60,000 characters"),
        ("no-model.md", b"---\nname: a\n---\n", "no-model.md:1: the agent names no model; add one"),
    ]
    for name, content, sentence in cases:
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(ConfigurationError) as raised:
            heald.load_agent(tmp_path / name)
        assert sentence in str(raised.value)


def test_wrong_arguments_are_refused(folder: Path) -> None:
    arguments: Any = {"model": scripted(), "budget": {"turns": 3}}
    with pytest.raises(ConfigurationError, match="load_agent: budget must be a Budget"):
        heald.load_agent(folder / "billing.md", **arguments)
