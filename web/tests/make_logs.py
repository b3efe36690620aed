"""Logs that Python wrote, with the states that Python folds them to, for the page's own fold to be held against.

    python web/tests/make_logs.py

Each `NAME.jsonl` beside this file in `logs/` is a session's log; `NAME.json` has the state after some of its events.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

import heald
from heald.agent.agent import Agent
from heald.agent.state import ConversationState
from heald.core.client_events import ResponseRequested
from heald.core.context_events import ConversationCompacted, ConversationRestored, PromptProgress, RequestWithdrawn
from heald.core.envelope import Event, decode_event
from heald.core.errors import InvalidRequest, Overloaded
from heald.core.events import (
    AgentChanged,
    ApprovalRequested,
    ConversationSteered,
    ConversationWaiting,
    FileAccepted,
    FileChanged,
    QuestionAsked,
    SessionForked,
    SessionReleased,
    SessionResumed,
    SessionRewound,
    TextDelta,
    ToolExecuting,
    UserMessage,
)
from heald.core.json import JsonObject, encode
from heald.core.messages import Message, Source, Text, ToolCall, ToolResult, user_message
from heald.core.payload import Payload
from heald.core.server_tool_events import CitationAdded, ServerToolCall, ServerToolResult

S = heald.testing.ScriptedModel
LOGS = Path(__file__).parent / "logs"
EVERY = 7
PAGE = "<!doctype html>\n<title>Grüße 👋</title>\n<h1>Hello</h1>\n"


@heald.tool
async def look(place: str = "") -> str:
    """Looks."""
    return f"seen {place}"


@heald.tool(effect="write")
async def change(what: str) -> str:
    """Changes."""
    return f"changed {what}"


@heald.tool
async def paint() -> heald.ToolOutput:
    """Paints."""
    return heald.ToolOutput(content=[heald.Image(media_type="image/png", data="iVBORw0KGgo=")], summary="Painted")


@heald.tool
async def wait_long(ctx: heald.ToolContext) -> str:
    """Waits."""
    ctx.output("waiting\n")
    await asyncio.sleep(60)
    return "never"


class Recording:
    """An agent and all that its bus hands out."""

    def __init__(self, *turns: Any, **options: Any) -> None:
        self.agent = Agent(S(list(turns), piece=options.pop("piece", 6), pause=options.pop("pause", 0.0)), **options)
        self.events: list[Event] = []
        self.agent.subscribe(self.events.append)

    async def ask(self, prompt: str) -> None:
        await asyncio.wait_for(self.agent.send(prompt).result(), 30)

    async def until(self, kind: type[Payload], count: int = 1) -> None:
        async with asyncio.timeout(20):
            while sum(isinstance(event.data, kind) for event in self.events) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.002)


async def hello() -> Recording:
    it = Recording(["Hello **there**, `you`."])
    await it.ask("Hi")
    return it


async def thinking() -> Recording:
    it = Recording(
        [S.think("Oslo is cold in winter."), "Let me look.", S.call("look", place="Oslo")],
        [S.think("Snow."), "Take a coat."],
        tools=[look],
    )
    await it.ask("What should I wear in Oslo?")
    return it


async def files() -> Recording:
    edit = S.call("edit_file", path="index.html", edits=[{"old_text": "Hello", "new_text": "Good morning"}])
    it = Recording(
        [S.call("create_file", path="index.html", content=PAGE)],
        [edit, S.call("create_file", path="../out.html", content="no")],
        "Done.",
        tools=["files"],
    )
    await it.ask("Write a page.")
    return it


async def broken_calls() -> Recording:
    it = Recording(
        [S.call("look", place="a"), S.call("nowhere"), S.raw_call("look", '{"place": '), S.call("look", wrong=1)],
        [S.call("look", place="b"), S.stop("max_tokens")],
        "I give up.",
        tools=[look],
    )
    await it.ask("Look.")
    return it


async def failing() -> Recording:
    it = Recording(["Half of an", S.fail(InvalidRequest("The model refuses this request."))])
    await it.ask("Go.")
    return it


async def retried() -> Recording:
    second = S([[S.call("look", place="x")], "Done at last."])
    begun = S.call("create_file", path="never.txt", content="A file that is taken back.")
    first = ["Half", begun, S.fail(Overloaded("The provider is busy."))]
    it = Recording(first, fallbacks=[second], tools=[look, "files"])
    await it.ask("Go.")
    return it


async def approved() -> Recording:
    it = Recording(
        [S.call("change", what="one"), S.call("change", what="two")],
        "Done.",
        tools=[change],
        permissions=heald.Permissions("auto", ["ask change"]),
        on_approval=_first_only(),
    )
    await it.ask("Change.")
    return it


def _first_only() -> Callable[[ApprovalRequested], Awaitable[bool]]:
    seen: list[str] = []

    async def decide(request: ApprovalRequested) -> bool:
        seen.append(request.approval)
        return len(seen) == 1

    return decide


async def waiting() -> Recording:
    """It ends while somebody is asked: what waits must be there after a reload."""
    it = Recording([S.call("change", what="it")], tools=[change], permissions=heald.Permissions("auto", ["ask change"]))
    it.agent.send("Change it.")
    await it.until(ApprovalRequested)
    return it


async def asked() -> Recording:
    async def blue(_: QuestionAsked) -> str:
        return "blue"

    question = S.call("ask_user", question="Which colour?", suggestions=["red", "blue"])
    it = Recording([question], "Blue it is.", tools=["ask"], on_question=blue)
    await it.ask("Paint.")
    return it


async def asked_and_cancelled() -> Recording:
    it = Recording([S.call("ask_user", question="Which?", suggestions=["a", "b"])], "Fine.", tools=["ask"])
    exchange = it.agent.send("Go.")
    await it.until(QuestionAsked)
    it.agent.cancel()
    await exchange.result()
    await it.ask("Then without.")
    return it


async def client_calls() -> Recording:
    """One call has its result from the client; the log ends while the other one waits."""
    it = Recording(
        [S.call("look", place="here"), S.call("where_am_i"), S.call("where_am_i")],
        tools=[look],
        client_tools=[{"name": "where_am_i"}],
    )
    it.agent.send("Where am I?")
    await it.until(ConversationWaiting)
    it.agent.send_tool_result(it.agent.client_calls[0].id, "Oslo")
    await it.until(ToolResult, 2)
    return it


async def continued() -> Recording:
    """It begins with the results of calls from before the log."""
    asked = Message(role="assistant", content=[ToolCall(id="call_1", name="look", input={})])
    it = Recording("Snow.", history=[user_message("What is there?"), asked])
    answered = Message(role="tool", content=[ToolResult(id="call_1", name="look", status="ok", content="seen")])
    await asyncio.wait_for(it.agent.send(answered).result(), 30)
    return it


async def cancelled() -> Recording:
    it = Recording([S.think("Long."), "One two three four five six seven eight nine ten."], "Again.", pause=0.01)
    exchange = it.agent.send("Count.")
    await it.until(TextDelta, 3)
    it.agent.cancel("enough")
    await exchange.result()
    await it.ask("Once more.")
    return it


async def queued() -> Recording:
    it = Recording([S.call("wait_long")], "Two.", "Three.", tools=[wait_long])
    exchanges = [it.agent.send("One.")]
    await it.until(ToolExecuting)
    exchanges += [it.agent.send("Two."), it.agent.send("Three.")]
    exchanges[1].cancel()
    it.agent.cancel()
    for exchange in exchanges:
        await exchange.result()
    return it


async def steered() -> Recording:
    it = Recording([S.call("look", place="a"), S.call("look", place="b")], "As you wish.", tools=[look], pause=0.01)
    exchange = it.agent.send("Look.")
    await it.until(ToolExecuting)
    exchange.steer(user_message("Rather not."))
    await exchange.result()
    return it


async def pictures() -> Recording:
    it = Recording([S.call("paint")], "There.", tools=[paint])
    await it.agent.run(["Paint like this.", heald.Image(media_type="image/png", data="iVBORw0KGgo=")])
    return it


async def limited() -> Recording:
    it = Recording([S.call("look")], [S.call("look")], tools=[look], budget=heald.Budget(turns=2))
    await it.ask("Look twice.")
    return it


async def rewound() -> Recording:
    """Back, on, and back to before the first time back, which undoes it."""
    it = Recording("One.", "Two.", "Another two.", "Three.")
    await it.ask("First.")
    first = it.agent.last_seq
    await it.ask("Second.")
    second = it.agent.last_seq
    it.agent.publish(SessionRewound(first))
    await it.ask("Another second.")
    it.agent.publish(SessionResumed(it.agent.last_seq))
    it.agent.publish(SessionRewound(second))
    await it.ask("Third.")
    return it


async def context_and_clients() -> Recording:
    """Events that change what the model is sent, or that only clients of other protocols read."""
    it = Recording("One.", "Two.")
    await it.ask("First.")
    source = Source(url="https://example.org/", title="A page")
    for payload in (
        ServerToolCall("m1", "s1", "web_search", {"query": "x"}),
        ServerToolResult("m1", "s1", "web_search", "found", [source]),
        CitationAdded("m1", "b1", source),
        ConversationCompacted("requested"),
        ConversationRestored(it.agent.last_seq),
        RequestWithdrawn("It was too long.", 0),
        PromptProgress("msg_1", 40, 100),
        ConversationSteered(user_message("And this.")),
        ResponseRequested("ex_1", {}, sha256(b"[]").hexdigest()),
        AgentChanged("refunds", "front", "scripted/model"),
        SessionForked("ses_1", 3),
        SessionReleased(),
    ):
        it.agent.publish(payload)
    await it.ask("Second.")
    return it


async def reverted() -> Recording:
    """What a person does to files beside any exchange."""
    it = Recording([S.call("create_file", path="a.txt", content="one\n")], "Done.", "I see.", tools=["files"])
    await it.ask("Write it.")
    one = sha256(b"one\n").hexdigest()
    it.agent.publish(
        FileChanged("a.txt", 2, None, one, "user", diff="--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n")
    )
    told = Message(role="user", content=[Text("The user reverted all changes in a.txt.")], said="Reverted a.txt.")
    it.agent.publish(UserMessage(told))
    it.agent.publish(FileAccepted("b.txt", one))
    await it.ask("Go on.")
    return it


RECORDED: tuple[Callable[[], Awaitable[Recording]], ...] = (
    hello,
    thinking,
    files,
    broken_calls,
    failing,
    retried,
    approved,
    waiting,
    asked,
    asked_and_cancelled,
    client_calls,
    context_and_clients,
    continued,
    cancelled,
    queued,
    steered,
    pictures,
    limited,
    rewound,
    reverted,
)


def state_of(state: ConversationState) -> JsonObject:
    """What the page's fold must say too."""
    value = {
        "seq": state.seq,
        "status": state.status,
        "exchange": state.exchange,
        "messages": state.messages,
        "tools": {name: _tool(tool) for name, tool in state.tools.items()},
        "files": state.files,
        "approvals": state.approvals,
        "questions": state.questions,
        "client_calls": state.client_calls,
        "queued": state.queued,
        "turns": state.turns,
        "usage": state.usage,
        "cost_usd": state.cost_usd,
        "error": state.error,
        "partial": state.partial,
    }
    return msgspec.json.decode(encode(value))


def _tool(tool: Any) -> JsonObject:
    return {"call": tool.call, "phase": tool.phase, "summary": tool.summary, "result": tool.result}


def states_of(events: Iterable[Event]) -> list[JsonObject]:
    """The state after every seventh event, and at the end."""
    state = ConversationState()
    states: list[JsonObject] = []
    for event in events:
        state.feed(event)
        if event.seq % EVERY == 0:
            states.append(state_of(state))
    return [*states, state_of(state)]


def read(path: Path) -> list[Event]:
    return [decode_event(line) for line in path.read_bytes().splitlines()]


async def make(record: Callable[[], Awaitable[Recording]]) -> None:
    recording = await record()
    events = [event for event in recording.events if event.session == recording.agent.session]
    name = getattr(record, "__name__", "log")
    (LOGS / f"{name}.jsonl").write_bytes(b"".join(encode(event) + b"\n" for event in events))
    (LOGS / f"{name}.json").write_bytes(encode(states_of(events)) + b"\n")
    await recording.agent.close()


async def main() -> None:
    LOGS.mkdir(exist_ok=True)
    for record in RECORDED:
        await make(record)


if __name__ == "__main__":
    asyncio.run(main())
