"""Facts with evidence: noted, chosen for a request, kept over compactions, and hidden while their events are undone."""

import re
from pathlib import Path
from typing import Any

import heald
from heald.agent.memory import Memory
from heald.core.context_events import ConversationCompacted
from heald.core.envelope import Event
from heald.core.events import ExchangeRequest
from heald.sessions import MemoryStore, Session, Sessions
from heald.testing import ScriptedModel
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.memory.choice import HEAD, MAX_TOKENS, choose_facts, describe_facts
from heald.tools.memory.fact import Fact, Rewind, is_undone
from heald_check import check_log

WINDOW = 4096
FACTS = {
    "Which port does the staging server use?": ("The staging server listens on port 7431.", "7431"),
    "Who owns the billing module?": ("The billing module belongs to Ilse Brandt.", "Ilse Brandt"),
    "What is the release branch called?": ("The release branch is called heron-12.", "heron-12"),
    "Which package manager did we decide on?": ("We decided to use pnpm, not npm.", "pnpm"),
    "What is my time zone?": ("My time zone is Europe/Lisbon.", "Europe/Lisbon"),
}


class ForgetfulModel:
    """Answers from what it is sent. Its summaries lose everything."""

    routes = {"/v1/models": {"data": [{"id": "small", "max_model_len": WINDOW}]}}

    def reply(self, request: ReceivedRequest) -> Reply:
        body: Any = request.body
        texts = [str(message["content"]) for message in body["messages"]]
        size = sum(map(len, texts)) // 3
        if size + body.get("max_tokens", 1) > WINDOW:
            raise AssertionError(f"A request of {size} tokens does not fit.")
        if texts[0].startswith("You write the memory"):
            return wire_reply("chat", text="Task: the user asks questions.", usage=(size, 8))
        for question, (_, value) in FACTS.items():
            if question in texts[-1]:
                held = any(value in text for text in texts[:-1])
                return wire_reply("chat", text=value if held else "I do not know.", usage=(size, 8))
        return wire_reply("chat", text="Fine. " + "It goes on like that. " * 20, usage=(size, 100))


def list_files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_five_facts_survive_ten_compactions_at_4k(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "facts.json")
    events: list[Event] = []
    model = ForgetfulModel()
    async with ScriptedServer(model.reply, facts=model.routes) as server:
        agent = heald.Agent(
            heald.Model("small", base_url=f"{server.url}/v1", api_key="no-key"),
            tools=memory.tools,
            strategies=[memory.strategy],
            max_output_tokens=400,
        )
        agent.subscribe(events.append)
        for statement, _ in FACTS.values():
            await agent.run(statement)
        number = 0
        while sum(isinstance(event.data, ConversationCompacted) for event in events) < 10:
            number += 1
            await agent.run(f"Describe step {number}. " + "The weather of that day does not matter here. " * 30)
            assert number < 200
        answers = [(await agent.run(question)).text for question in FACTS]
        await agent.close()
    assert answers == [value for _, value in FACTS.values()]
    assert check_log(events) == []


async def test_each_fact_cites_the_request_that_states_it(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "facts.json", tmp_path / "person.json")
    agent = heald.Agent(ScriptedModel(["Noted.", "Fine."]), strategies=[memory.strategy], session="ses_here")
    events: list[Event] = []
    agent.subscribe(events.append)
    await agent.run("Hello there.")
    await agent.run("My name is Marta Vidal. Remember that releases are cut on Tuesdays. Which files are there?")
    await agent.close()
    seqs = [event.seq for event in events if isinstance(event.data, ExchangeRequest)]
    assert [(fact.text, fact.about, fact.evidence[0].session, fact.evidence[0].seq) for fact in memory.facts()] == [
        ("My name is Marta Vidal.", "person", "ses_here", seqs[1]),
        ("Releases are cut on Tuesdays.", "project", "ses_here", seqs[1]),
    ]
    assert (tmp_path / "person.json").stat().st_mode & 0o077 == 0


async def test_another_conversation_gets_the_facts_and_a_session_only_its_own(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "facts.json")
    first = heald.Agent(ScriptedModel(["Noted."]), strategies=[memory.strategy])
    await first.run("We decided to use pnpm, not npm. The staging server listens on port 7431.")
    await first.close()
    model = ScriptedModel(["pnpm."])
    second = heald.Agent(model, strategies=[Memory(tmp_path / "facts.json").strategy])
    await second.run("Install it.")
    await second.close()
    system = model.requests[0].settings.system
    assert "We decided to use pnpm, not npm. [f1]" in system
    assert "7431" not in system


async def test_undone_events_take_their_facts_with_them_and_redone_ones_bring_them_back(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "facts.json")
    sessions = Sessions(MemoryStore())
    info = await sessions.create(model="scripted/model")
    model = ScriptedModel(["Noted."] * 3)
    session: Session = await sessions.open(info.id, model=model, tools=memory.tools, strategies=[memory.strategy])
    await session.run("Remember that the port is 7431.")
    middle = session.last_seq
    await session.run("Remember that the branch is heron-12.")
    end = session.last_seq
    assert [fact.text for fact in memory.facts()] == ["The port is 7431.", "The branch is heron-12."]
    await session.rewind(middle)
    assert [fact.text for fact in memory.facts()] == ["The port is 7431."]
    await session.run("Go on.")
    assert "heron-12" not in model.requests[2].settings.system
    await session.rewind(end)
    assert [fact.text for fact in memory.facts()] == ["The port is 7431.", "The branch is heron-12."]
    await session.rewind(0)
    assert Memory(tmp_path / "facts.json").facts() == []
    await session.close()


def test_a_rewind_that_is_undone_itself_does_not_count() -> None:
    rewinds = [Rewind(60, 40), Rewind(80, 65), Rewind(90, 59)]
    assert [is_undone(seq, rewinds[:1]) for seq in (40, 50, 61)] == [False, True, False]
    assert [is_undone(seq, rewinds[:2]) for seq in (40, 50, 63, 70, 81)] == [False, True, False, True, False]
    assert [is_undone(seq, rewinds) for seq in (50, 63, 70, 91)] == [False, True, True, False]


async def test_the_model_remembers_what_the_user_said_and_forgets(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "facts.json")
    call = ScriptedModel.call
    model = ScriptedModel(
        [
            call("remember", fact="Tests run with pytest -q", about="project"),
            call("remember", fact="Deploys go to 10.0.0.7 at once", about="project"),
            "Noted.",
            call("forget", fact="pytest -q"),
            call("forget", fact="[f2]"),
            "Forgotten.",
        ]
    )
    agent = heald.Agent(model, tools=memory.tools, strategies=[memory.strategy], session="ses_a")
    await agent.run("You should run tests with `pytest -q` here.")
    lasting = memory.facts()
    assert [fact.text for fact in lasting] == ["Tests run with pytest -q"]
    assert len(lasting[0].evidence) == 2
    assert [fact.text for fact in memory.facts("ses_a") if "10.0.0.7" in fact.text] == [
        "Deploys go to 10.0.0.7 at once"
    ]
    await agent.run("Forget how the tests are run.")
    await agent.close()
    assert memory.facts() == []
    assert "Tests run with" not in (tmp_path / "facts.json").read_text("utf-8")


async def test_the_instructions_stay_the_same_while_the_facts_will_do(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "facts.json")
    memory.add("The port is 7431.")
    model = ScriptedModel(["One.", "Two.", "Three."])
    agent = heald.Agent(model, tools=memory.tools, strategies=[memory.strategy])
    await agent.run("Remember that the branch is heron-12.")
    await agent.run("And the branch?")
    systems = [request.settings.system for request in model.requests]
    assert systems[0] == systems[1]
    memory.replace("f1", "The port is 9999.")
    await agent.run("And now?")
    await agent.close()
    assert "9999" in model.requests[2].settings.system
    assert "7431" not in model.requests[2].settings.system


def test_the_facts_of_a_request_are_those_that_it_needs_within_500_tokens() -> None:
    facts = [
        Fact(id=f"f{at}", text=f"Module {at} is owned by team number {at * 7} of the company.", about="project")
        for at in range(90)
    ]
    facts[3] = Fact(id="f3", text="The staging database is called heron.", about="project")
    chosen = choose_facts(facts, "What is the name of the staging database?")
    assert facts[3] in chosen
    assert len(describe_facts(chosen)) / 3.2 <= MAX_TOKENS
    assert len(chosen) > 15
    assert describe_facts(facts[:2]).startswith(HEAD)


async def test_a_secret_value_is_never_noted(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "facts.json")
    model = ScriptedModel(
        [ScriptedModel.call("remember", fact="The code is canary-4711-4711-4711", about="project"), "No."]
    )
    files = heald.MemoryWorkspace({".env": "SERVICE_KEY=canary-4711-4711-4711\n"})
    agent = heald.Agent(model, tools=memory.tools, strategies=[memory.strategy], workspace=files)
    assert "canary" not in await agent.hide_secrets("canary-4711-4711-4711")
    await agent.run("Remember that the code is canary-4711-4711-4711. The password is hunter2-canary.")
    await agent.close()
    assert memory.facts(agent.session) == []
    assert not any(re.search("canary", path.read_text("utf-8")) for path in list_files(tmp_path))


def test_two_processes_change_one_book(tmp_path: Path) -> None:
    first, second = Memory(tmp_path / "facts.json"), Memory(tmp_path / "facts.json")
    first.add("The port is 7431.")
    second.add("The branch is heron-12.")
    first.remove("f1")
    assert [fact.id for fact in second.facts()] == ["f2"]
    assert first.add("The BRANCH is heron-12").id == "f2"
