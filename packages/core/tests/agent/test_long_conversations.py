"""500 turns on a small endpoint that refuses overlong requests: no refusal reaches the user, and no fact is lost."""

import re
from typing import Any

import pytest

import heald
from heald.agent.state import ConversationState
from heald.core.context_events import ConversationCompacted
from heald.core.envelope import Event
from heald.core.events import ErrorOccurred, ExchangeResponse
from heald.core.messages import ToolCall
from heald.core.turn import Usage
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald_check import check_log

TURNS = 500
FACT = re.compile(r"the (\w+) of the (\w+) is (\w+)")
SUMMARY = "You write the memory"
FACTS = {
    ("colour", "harbour"): "teal",
    ("code", "vault"): "nineteen",
    ("owner", "mill"): "Marta",
    ("name", "dog"): "Pickle",
}


def count_tokens(body: Any) -> int:
    """A tokenizer unlike the estimate of Heald: 2.6 characters a token, 9 tokens around each message."""
    texts = [str(message.get("content") or "") + str(message.get("tool_calls") or "") for message in body["messages"]]
    return sum(9 + len(text) * 10 // 26 for text in texts) + len(str(body.get("tools") or "")) * 10 // 26


class SmallModel:
    """Answers from what it is sent and nothing else. Refuses what does not fit, as llama.cpp or vLLM does."""

    def __init__(self, window: int, *, reports: bool) -> None:
        self.window = window
        self.refused = self.calls = self.summaries = 0
        self.facts: dict[str, object] = {}
        if reports:
            self.facts["/v1/models"] = {"data": [{"id": "small", "max_model_len": window}]}

    def reply(self, request: ReceivedRequest) -> Reply:
        body = request.body
        tokens, room = count_tokens(body), body.get("max_tokens", 1)
        if tokens + room > self.window:
            self.refused += 1
            message = f"This model's maximum context length is {self.window} tokens. However, you requested {tokens}."
            return Reply.json({"error": {"message": message, "code": 400, "type": "BadRequestError"}}, 400)
        messages = body["messages"]
        last = messages[-1]
        facts = {(what, whose): value for text in map(_text, messages) for what, whose, value in FACT.findall(text)}
        if messages[0]["role"] == "system" and messages[0]["content"].startswith(SUMMARY):
            self.summaries += 1
            lines = [f"the {what} of the {whose} is {value}" for (what, whose), value in facts.items()]
            return self._answer(body, "Facts:\n" + "\n".join(lines))
        if last["role"] == "user" and "Look it up" in _text(last):
            self.calls += 1
            call = ToolCall(id=f"call_{self.calls}", name="look_up", input={"page": self.calls})
            return wire_reply("chat", calls=[call], usage=(tokens, 20))
        asked = re.search(r"What is the (\w+) of the (\w+)\?", _text(last))
        if asked is not None:
            return self._answer(body, f"It is {facts.get((asked[1], asked[2]), 'unknown to me')}.")
        return self._answer(body, "I see. " + "Then it goes on like that. " * 6)

    def _answer(self, body: Any, text: str) -> Reply:
        return wire_reply("chat", text=text, usage=(count_tokens(body), len(text) * 10 // 26))


def _text(message: Any) -> str:
    content: Any = message.get("content") or []
    parts: list[Any] = [{"text": content}] if isinstance(content, str) else content
    return " ".join(str(part.get("text", "")) for part in parts)


@heald.tool
async def look_up(page: int) -> str:
    """Look up a page."""
    return f"Page {page}: " + "a long line of an old book. " * 60


def request_text(turn: int) -> str:
    if turn < len(FACTS):
        what, whose = list(FACTS)[turn]
        return f"Please note that the {what} of the {whose} is {FACTS[what, whose]}."
    if turn % 25 == 24:
        what, whose = list(FACTS)[turn // 25 % len(FACTS)]
        return f"What is the {what} of the {whose}?"
    if turn % 10 == 3:
        return f"Look it up on page {turn}, please."
    return f"Turn {turn}. " + "And then we talked about the weather and the road to the sea. " * (1 + turn % 5)


@pytest.mark.parametrize(("window", "reports"), [(4096, True), (8192, True), (4096, False)])
async def test_a_conversation_of_500_turns(window: int, reports: bool, capsys: pytest.CaptureFixture[str]) -> None:
    model = SmallModel(window, reports=reports)
    events: list[Event] = []
    async with ScriptedServer(model.reply, facts=model.facts) as server:
        agent = heald.Agent(heald.Model("small", base_url=server.url + "/v1", api_key="no-key"), tools=[look_up])
        agent.subscribe(events.append)
        for turn in range(TURNS):
            text = request_text(turn)
            result = await agent.run(text)
            asked = re.search(r"What is the (\w+) of the (\w+)\?", text)
            if asked is not None:
                assert result.text == f"It is {FACTS[asked[1], asked[2]]}.", f"turn {turn}"
        context = agent.messages
    assert check_log(events) == []
    assert not [event for event in events if isinstance(event.data, ErrorOccurred)]
    assert model.refused <= (0 if reports else 3), "the size is known, so nothing too long is sent"
    state = ConversationState()
    for event in events:
        state.feed(event)
    assert state.context == context
    assert len(state.messages) >= 2 * TURNS

    compactions = [event.data for event in events if isinstance(event.data, ConversationCompacted)]
    summaries = sum((compaction.usage for compaction in compactions), Usage())
    total = sum((event.data.usage for event in events if isinstance(event.data, ExchangeResponse)), Usage())
    assert model.summaries
    assert summaries.total
    assert total.total
    assert all(compaction.written_by != "rule" for compaction in compactions)
    share = summaries.total / total.total
    with capsys.disabled():
        print(
            f"\n{window} tokens: {TURNS} turns, {len(compactions)} compactions, {summaries.total:,} of {total.total:,} "
            f"tokens ({share:.0%}) for summaries, {model.refused} requests refused"
        )
    assert share < 0.5
