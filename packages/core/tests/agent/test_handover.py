"""Hand-over: the conversation goes on with the instructions, tools, model and limits of another agent, in one log."""

from collections.abc import Sequence
from typing import Any

import pytest

import heald
from heald.agent.agent import Agent
from heald.core.errors import ConfigurationError, HealdError
from heald.core.events import AgentChanged, ApprovalRequested, ExchangeResponse, MessageStart, ToolFailed
from heald.core.messages import Message, ToolDefinition, ToolResult
from heald.core.turn import Cost, Settings, Usage
from heald.providers.base import ProviderSession
from heald.providers.scripted import Script, ScriptedRequest, ScriptedSession
from log_support import Log, call, scripted
from priced_model import PricedModel, S, used

TO_BILLING = [call("hand_over", agent="billing", reason="It is about money.")]
TO_TRIAGE = [call("hand_over", agent="triage")]


@heald.tool(effect="read")
async def look_up(order: str) -> str:
    """Look up an order."""
    return f"{order} was paid"


@heald.tool(effect="write")
async def refund(order: str) -> str:
    """Refund an order."""
    return f"{order} was refunded"


@heald.tool(effect="write")
async def note(text: str) -> str:
    """Write a note."""
    return "noted"


def team(triage: Sequence[Script], billing: Sequence[Script], *, member: Any = None, **options: Any) -> Agent[Any]:
    """Return an agent that hands over to another one, and that one back."""
    member_options: dict[str, Any] = {"tools": [refund], "handoffs": ["triage"]} | (member or {})
    other = Agent(
        scripted(*billing, name="scripted/billing"),
        name="billing",
        description="Refunds and invoices.",
        instructions="You are the billing agent.",
        **member_options,
    )
    settings: dict[str, Any] = {"tools": [look_up, note], "instructions": "You route requests."} | options
    return Agent(scripted(*triage, name="scripted/triage"), name="triage", handoffs=[other], **settings)


def results(log: Log) -> dict[str, tuple[str, str]]:
    return {result.name: (result.status, result.text) for result in log.of(ToolResult)}


def requests_of(agent: Agent[Any]) -> list[ScriptedRequest]:
    """Return the requests to the models of an agent and of the one that it hands over to."""
    (other,) = agent.options["handoffs"]
    return [*agent.options["model"].requests, *other.options["model"].requests]


async def test_the_other_agent_continues_with_its_instructions_tools_and_model() -> None:
    agent = team([TO_BILLING], [[call("refund", order="7")], "Refunded.", "You are welcome."])
    log = Log(agent)
    result = await agent.run("I want my money for 7.")
    assert (result.text, result.status, result.turns) == ("Refunded.", "completed", 3)
    assert agent.speaker == "billing"
    assert (await agent.run("Thanks.")).text == "You are welcome."
    first, *others = requests_of(agent)
    assert [tool.name for tool in first.tools] == ["look_up", "note", "hand_over"]
    assert "You route requests." in first.settings.system
    for request in others:
        assert [tool.name for tool in request.tools] == ["refund", "hand_over"]
        assert "You are the billing agent." in request.settings.system
        assert "You route requests." not in request.settings.system
    assert [message.text for message in others[0].messages if message.role == "user"] == ["I want my money for 7."]
    assert [payload.model for payload in log.of(MessageStart)] == ["scripted/triage", *["scripted/billing"] * 3]
    (changed,) = log.of(AgentChanged)
    assert (changed.agent, changed.previous, changed.model) == ("billing", "triage", "scripted/billing")
    assert changed.reason == "It is about money."
    assert changed.call_id == log.of(ToolResult)[0].id
    log.prove()


async def test_the_model_is_told_the_agents_and_what_they_are_for() -> None:
    agent = team([TO_BILLING], ["Hello."])
    tool = agent.find_tool("hand_over")
    assert tool is not None
    assert "- billing: Refunds and invoices." in tool.definition.description
    assert tool.definition.input_schema["properties"]["agent"]["enum"] == ["billing"]


def many_tools() -> list[heald.Tool]:
    """Return so many tools that they are offered by name only."""

    async def body() -> str:
        return ""

    body.__doc__ = "Does something that takes many words to describe. " * 40
    return [heald.tool(name=f"tool_{number}")(body) for number in range(60)]


async def test_the_tool_that_hands_over_is_offered_among_many() -> None:
    agent = team([TO_BILLING], ["Hello."], tools=many_tools())
    assert (await agent.run("Hello.")).text == "Hello."
    names = [tool.name for tool in requests_of(agent)[0].tools]
    assert "hand_over" in names
    assert "tool_1" not in names


async def test_the_conversation_can_be_handed_back() -> None:
    agent = team([TO_BILLING, "I route again."], [TO_TRIAGE])
    log = Log(agent)
    assert (await agent.run("Hello.")).text == "I route again."
    assert [changed.agent for changed in log.of(AgentChanged)] == ["billing", "triage"]
    assert agent.speaker == "triage"
    assert [tool.name for tool in agent.tools] == ["look_up", "note", "hand_over"]
    log.prove()


async def test_all_calls_of_a_message_run_with_the_tools_of_the_agent_that_made_them() -> None:
    script = [*TO_BILLING, call("look_up", order="7"), call("refund", order="7")]
    agent = team([script], ["Hello."], permissions="auto")
    log = Log(agent)
    await agent.run("Hello.")
    statuses = {name: status for name, (status, _) in results(log).items()}
    assert statuses == {"hand_over": "ok", "look_up": "ok", "refund": "unknown_tool"}
    log.prove()


async def test_only_the_first_of_two_hand_overs_in_a_message_counts() -> None:
    sales = Agent(scripted(), name="sales")
    billing = Agent(scripted("Hello."), name="billing")
    script = [*TO_BILLING, call("hand_over", agent="sales")]
    agent = Agent(scripted(script), name="triage", handoffs=[billing, sales])
    log = Log(agent)
    assert (await agent.run("Hello.")).text == "Hello."
    assert [result.status for result in log.of(ToolResult)] == ["ok", "error"]
    assert [changed.agent for changed in log.of(AgentChanged)] == ["billing"]


# --- permissions, approvals, guardrails ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("session", "member", "status"),
    [
        ("auto", "auto", "ok"),
        ("read-only", "auto", "denied"),
        ("auto", "read-only", "denied"),
        (heald.Permissions("auto", ["deny refund"]), "auto", "denied"),
        ("auto", heald.Permissions("auto", ["deny refund"]), "denied"),
        (heald.Permissions("read-only", ["allow note"]), heald.Permissions("auto", ["allow refund"]), "denied"),
    ],
)
async def test_permissions_are_those_of_the_speaker_within_those_of_the_session(
    session: Any, member: Any, status: str
) -> None:
    agent = team(
        [TO_BILLING], [[call("refund", order="7")], "Done."], permissions=session, member={"permissions": member}
    )
    log = Log(agent)
    await agent.run("Refund 7.")
    assert results(log)["refund"][0] == status


async def test_an_agent_that_gets_the_conversation_back_has_its_own_permissions() -> None:
    agent = team(
        [TO_BILLING, [call("note", text="x")], "Done."],
        [[call("refund", order="7")], TO_TRIAGE],
        permissions="auto",
        member={"permissions": "read-only"},
    )
    log = Log(agent)
    await agent.run("Refund 7.")
    assert {name: status for name, (status, _) in results(log).items()} == {
        "refund": "denied",
        "hand_over": "ok",
        "note": "ok",
    }


async def test_a_change_of_the_session_s_mode_holds_for_the_agent_that_speaks() -> None:
    agent = team([TO_BILLING, "Never."], ["Hello.", [call("refund", order="7")], "Done."], permissions="auto")
    log = Log(agent)
    await agent.run("Hello.")
    agent.permissions.mode = "read-only"
    await agent.run("Refund 7.")
    assert results(log)["refund"][0] == "denied"


@pytest.mark.parametrize("who", ["session", "member", "both"])
async def test_approvals_are_asked_of_the_session_else_of_the_agent_that_speaks(who: str) -> None:
    asked: list[str] = []

    def approver(name: str) -> Any:
        def decide(request: ApprovalRequested) -> bool:
            asked.append(name)
            return True

        return decide

    options: dict[str, Any] = {"on_approval": approver("session")} if who != "member" else {"permissions": "auto"}
    member: dict[str, Any] = {"on_approval": approver("member")} if who != "session" else {"permissions": "ask"}
    agent = team(
        [TO_BILLING, [call("note", text="x")], "Done."],
        [[call("refund", order="7")], TO_TRIAGE],
        member=member,
        **options,
    )
    log = Log(agent)
    await agent.run("Refund 7.")
    assert {status for status, _ in results(log).values()} == {"ok"}
    assert asked == {"member": ["member"]}.get(who, ["session", "session"])
    log.prove()


async def test_a_rule_may_name_a_tool_of_another_agent_and_no_unknown_one() -> None:
    team([], [], permissions=heald.Permissions("auto", ["deny refund"]))
    with pytest.raises(ConfigurationError, match="refund"):
        team([], [], permissions=heald.Permissions("auto", ["deny refnd"]))


async def test_a_hand_over_can_be_denied() -> None:
    agent = team([TO_BILLING, "I stay."], [], permissions=heald.Permissions("auto", ["deny hand_over(billing)"]))
    log = Log(agent)
    assert (await agent.run("Hello.")).text == "I stay."
    assert log.of(AgentChanged) == []
    assert agent.speaker == "triage"


@heald.guardrail("output")
def no_fruit(answer: heald.StreamedText) -> str | None:
    return "It names a fruit." if "BANANA" in answer.text else None


@heald.guardrail("call")
def no_refunds(invocation: heald.Invocation) -> str | None:
    return "No refunds today." if invocation.tool.name == "refund" else None


async def test_guardrails_are_those_of_the_agent_that_speaks() -> None:
    agent = team(
        ["A BANANA.", TO_BILLING],
        [[call("refund", order="7")], "A BANANA."],
        member={"guardrails": [no_fruit, no_refunds]},
    )
    log = Log(agent)
    assert (await agent.run("Hello.")).text == "A BANANA."
    with pytest.raises(heald.GuardrailTripped, match="fruit"):
        await agent.run("Hello.")
    assert "No refunds today." in results(log)["refund"][1]
    log.prove()


# --- the account -----------------------------------------------------------------------------------------------------


def priced_team(
    triage: Sequence[Script], billing: Sequence[Script], *, budget: heald.Budget, part: heald.Budget | None = None
) -> Agent[Any]:
    other = Agent(
        PricedModel(billing, name="scripted/billing"),
        name="billing",
        tools=[refund],
        handoffs=["triage"],
        budget=part,
        max_output_tokens=100,
    )
    model = PricedModel(triage, name="scripted/triage")
    return Agent(model, name="triage", handoffs=[other], budget=budget, max_output_tokens=100)


REFUND = used(100, S.call("refund", order="7"), reason="tool_use")
HAND_OVER = used(100, S.call("hand_over", agent="billing"), reason="tool_use")
HAND_BACK = used(100, S.call("hand_over", agent="triage"), reason="tool_use")


@pytest.mark.parametrize(
    ("budget", "limit"),
    [
        (heald.Budget(usd=0.35), "usd"),
        (heald.Budget(tokens=350), "tokens"),
        (heald.Budget(turns=4), "turns"),
    ],
)
@pytest.mark.parametrize("part", [None, heald.Budget(usd=100, tokens=10**6, turns=50)])
async def test_one_account_counts_what_all_agents_use(
    budget: heald.Budget, limit: str, part: heald.Budget | None
) -> None:
    agent = priced_team([HAND_OVER], [REFUND] * 20, budget=budget, part=part)
    result = await agent.run("Refund all.")
    assert (result.status, result.limit, result.turns) == ("limit", limit, 4)
    assert result.cost_usd == pytest.approx(0.4)
    assert result.note is not None
    assert "billing" not in result.note


@pytest.mark.parametrize(
    ("part", "limit", "amount"),
    [
        (heald.Budget(usd=0.15), "usd", "$0.15"),
        (heald.Budget(tokens=150), "tokens", "150 tokens"),
        (heald.Budget(turns=2), "turns", "2 turns"),
    ],
)
async def test_the_budget_of_an_agent_limits_its_part(part: heald.Budget, limit: str, amount: str) -> None:
    agent = priced_team([HAND_OVER], [REFUND] * 20, budget=heald.Budget(usd=10), part=part)
    result = await agent.run("Refund all.")
    assert (result.status, result.limit, result.turns) == ("limit", limit, 3)
    assert result.note is not None
    assert f"The agent billing reached its budget of {amount}." in result.note


async def test_an_agent_that_speaks_twice_in_an_exchange_has_one_budget() -> None:
    agent = priced_team(
        [HAND_OVER, HAND_OVER], [HAND_BACK, REFUND, REFUND], budget=heald.Budget(usd=10), part=heald.Budget(turns=2)
    )
    result = await agent.run("Refund all.")
    assert (result.status, result.limit, result.turns) == ("limit", "turns", 4)


async def test_the_seconds_of_an_agent_end_its_part() -> None:
    other = Agent(scripted(["a", "b"], pause=60.0), name="billing", budget=heald.Budget(seconds=0.05))
    agent = Agent(scripted(TO_BILLING), name="triage", handoffs=[other])
    result = await agent.run("Hello.")
    assert (result.status, result.limit) == ("limit", "seconds")


async def test_two_agents_that_hand_over_for_ever_are_stopped() -> None:
    agent = team([TO_BILLING] * 50, [TO_TRIAGE] * 50)
    result = await agent.run("Hello.")
    assert (result.status, result.limit, result.turns) == ("limit", "turns", 20)


class UnpricedSession(ScriptedSession):
    """A session whose usage has no known price."""

    def cost(self, usage: Usage) -> Cost:
        return Cost()


class UnpricedModel(S):
    def open_session(
        self, *, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> ProviderSession:
        return UnpricedSession(self, messages, tools, settings)


async def test_an_agent_whose_price_is_not_known_gets_no_conversation_with_a_budget_in_dollars() -> None:
    other = Agent(UnpricedModel(["Never."], name="scripted/unpriced"), name="billing")
    script = [used(20, S.call("hand_over", agent="billing"), reason="tool_use"), used(20, "I stay.")]
    agent = Agent(PricedModel(script), name="triage", handoffs=[other], budget=heald.Budget(usd=1))
    log = Log(agent)
    assert (await agent.run("Hello.")).text == "I stay."
    status, text = results(log)["hand_over"]
    assert status == "error"
    assert "The price of scripted/unpriced, the model of billing, is not known" in text
    assert log.of(AgentChanged) == []


# --- beside the conversation -----------------------------------------------------------------------------------------


async def test_a_sub_agent_may_hand_over_within_its_own_conversation() -> None:
    helper = team([TO_BILLING] * 2, ["First.", "Second."])
    agent = Agent(
        scripted([call("help", prompt="1")], [call("help", prompt="2")], "Done."),
        tools=[helper.as_tool("help", "Helps.")],
    )
    log = Log(agent)
    await agent.run("Hello.")
    assert [result.text for result in log.of(ToolResult)] == ["First.", "Second."]
    assert (helper.speaker, agent.speaker) == ("triage", "")
    log.prove()


async def test_tools_of_clients_stay_and_the_type_of_the_answer_holds() -> None:
    member = {"tools": [refund, look_up]}
    agent = team([TO_BILLING], ['{"order": 7}'], member=member, tools=[], client_tools=[{"name": "locate"}])
    await agent.set_client_tools([{"name": "locate"}, {"name": "look_up"}])
    result = await agent.run("Which order?", output=dict[str, int])
    assert result.output == {"order": 7}
    assert [tool.name for tool in agent.client_tools] == ["locate"]
    assert [tool.name for tool in agent.tools] == ["refund", "look_up", "hand_over", "locate"]


async def test_a_program_can_choose_the_agent_of_the_next_request() -> None:
    agent = team(["I route."], ["Hello."])
    log = Log(agent)
    agent.switch_to("billing")
    assert agent.speaker == "billing"
    assert (await agent.run("Hello.")).text == "Hello."
    agent.switch_to("triage")
    agent.switch_to("triage")
    assert (await agent.run("Hello.")).text == "I route."
    assert [changed.agent for changed in log.of(AgentChanged)] == ["billing", "triage"]
    with pytest.raises(ConfigurationError, match="no agent 'biling' here; did you mean 'billing'"):
        agent.switch_to("biling")
    log.prove()


async def test_the_agent_cannot_be_chosen_while_an_exchange_runs() -> None:
    agent = team(["I route."], [])
    exchange = agent.send("Hello.")
    with pytest.raises(HealdError, match="An exchange runs"):
        agent.switch_to("billing")
    await exchange.result()


async def test_a_hand_over_to_nobody_is_refused_by_the_schema() -> None:
    agent = team([[call("hand_over", agent="sales")], "I stay."], [])
    log = Log(agent)
    assert (await agent.run("Hello.")).text == "I stay."
    assert [failed.status for failed in log.of(ToolFailed)] == ["invalid_input"]


# --- wrong uses ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("handoffs", "sentence"),
    [
        ([Agent(scripted())], "handoffs[0] has no name; give it one"),
        ([3], "handoffs[0] must be an Agent or the name of one, not int"),
        ([Agent(scripted(), name="a"), Agent(scripted(), name="a")], "two agents that hand over to each other"),
        ([Agent(scripted(), name="triage")], "are named 'triage'"),
    ],
)
def test_a_wrong_hand_over_is_refused_when_the_agent_is_made(handoffs: Any, sentence: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        Agent(scripted(), name="triage", handoffs=handoffs)
    assert sentence in str(raised.value)


def test_a_wrong_name_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="not a valid name for an agent"):
        Agent(scripted(), name="the billing agent")


async def test_a_name_that_no_agent_has_is_refused_when_a_request_is_sent() -> None:
    other = Agent(scripted(), name="billing", handoffs=["tirage"])
    agent = Agent(scripted(), name="triage", handoffs=[other])
    with pytest.raises(ConfigurationError, match="hands over to 'tirage', which is not an agent here; did you mean"):
        agent.send("Hello.")


async def test_an_exchange_that_is_cancelled_after_the_hand_over_leaves_the_other_agent_speaking() -> None:
    agent = team([TO_BILLING], ["Hello."])
    log = Log(agent)
    agent.subscribe(lambda _: agent.cancel("Stop.") and None, types=["agent_changed"])
    result = await agent.run("Hello.")
    assert result.status == "cancelled"
    assert agent.speaker == "billing"
    assert (await agent.run("Hello?")).text == "Hello."
    assert [response.status for response in log.of(ExchangeResponse)] == ["cancelled", "completed"]
    log.prove()
