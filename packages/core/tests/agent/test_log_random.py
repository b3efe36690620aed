"""Thousands of random streams: whatever a model, its tools and its user do, the log is right.

Each conversation is drawn from one random source: a seed, for many of them fast, or Hypothesis, which makes a failure
small. A stream is one attempt of a model at a turn.
"""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import heald
from example_counts import IS_LONG, scaled
from heald.agent.agent import Agent
from heald.core.envelope import Event
from heald.core.errors import ContextOverflow, IncompleteStream, Overloaded, ProviderError
from heald.core.events import ApprovalRequested, MessageStart, QuestionAsked, ToolExecuting
from heald.core.messages import Image, ToolCall, ToolResult
from heald.core.turn import StopReason, Usage
from heald.providers.scripted import Part, Script
from heald.testing.server import Cut, Reply, Reset, ScriptedServer, Step
from heald.testing.streams import wire_stream
from heald.tools.definitions import Access
from heald.tools.families import named_tools
from heald.tools.permissions import Permissions
from log_support import Log, call, fail, raw_call, stop, think, until

BLOCKS, CONVERSATIONS = 14 if IS_LONG else 2, 160
SOCKET_BLOCKS, SOCKET_CONVERSATIONS = 3 if IS_LONG else 1, 40
STREAMS = 10_000 if IS_LONG else 1_200

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
ERRORS: list[Callable[[], ProviderError]] = [
    lambda: Overloaded("busy", status=529),
    lambda: IncompleteStream("cut"),
    lambda: ContextOverflow("too long", status=400),
]
STOPS: list[StopReason] = [reason for reason in get_args(StopReason) if reason != "error"]
TEXTS = [
    "",
    " ",
    "Hello.",
    "Zwölf Boxkämpfer\n",
    "日本語 ",
    "😀👩‍👩‍👧",
    "é",
    "\r\n",
    '"quoted" \\ ',
    "```\n",
    "$& \\1 ",
    "<html>",
]
FILES = ["a.txt", "b/c.md", "../out", "b"]


# --- tools: every way a call can end -------------------------------------------------------------------------------


@heald.tool
async def look(place: str = "", often: int = 1) -> str:
    """Fine."""
    return f"{place} " * min(often, 10)


@heald.tool
def plain(place: str = "") -> str:
    """Fine, in a thread."""
    return place


@heald.tool
async def breaks() -> str:
    """Fails by accident."""
    raise ValueError("no such file: /home/somebody/secret.txt")


@heald.tool
async def faults() -> str:
    """Fails on purpose."""
    raise heald.ToolFault("Not today.", "closed")


@heald.tool
async def cancels_itself() -> str:
    """Raises what only its caller should."""
    raise asyncio.CancelledError


@heald.tool
async def slow(steps: int, ctx: heald.ToolContext) -> str:
    """Takes some turns of the loop, and says so."""
    for step in range(steps % 5):
        ctx.output(f"step {step}\n", "progress")
        await asyncio.sleep(0)
    return "done"


@heald.tool(timeout=0.001)
async def late() -> str:
    """Is never done in time."""
    await asyncio.sleep(60)
    return "never"


@heald.tool
async def picture() -> list[Any]:
    """A picture and a word."""
    return [Image(data=PIXEL), "a pixel"]


@heald.tool(max_output=400)  # short enough to stay as it is when a conversation is compacted
async def huge() -> str:
    """More than fits."""
    return "0123456789" * 1000


@heald.tool(access=lambda _: [Access(resource="thing:one")])
async def shared(turns: int = 0) -> str:
    """One at a time."""
    for _ in range(turns % 4):
        await asyncio.sleep(0)
    return "mine"


@heald.tool(effect="write", sequential=True)
async def guarded(place: str = "") -> str:
    """Needs a yes."""
    return f"did {place}"


@heald.tool(effect="write")
async def forbidden() -> str:
    """Is never allowed."""
    raise AssertionError("a denied call ran")


TOOLS = [look, plain, breaks, faults, cancels_itself, slow, late, picture, huge, shared, guarded, forbidden]
BUILT_IN = named_tools(["create_file", "write_file", "edit_file", "read_file", "ask", "todo"])
RULES = Permissions("auto", ["ask guarded", "deny forbidden"])


# --- what a model may say -------------------------------------------------------------------------------------------


def some_text(random: Random) -> str:
    return "".join(random.choice(TEXTS) for _ in range(random.randrange(1, 5)))


def some_call(random: Random) -> Part:
    match random.randrange(16):
        case 0:
            return call("nowhere", place="x")
        case 1:
            return call("look", place=["not", "a", "text"])
        case 2:
            return call("look", plaec="mistyped")
        case 3:
            return raw_call("look", random.choice(['{"place": "x', "nonsense", "[1]", '{"a":1,"a":2}', '"x"', "NaN"]))
        case 4:
            return raw_call("look", random.choice(["", "null", '"{\\"place\\": \\"twice\\"}"']))
        case 5 | 6:
            return call("create_file", path=random.choice(FILES), content=some_text(random))
        case 7:
            return call("edit_file", path=random.choice(FILES), old_text="Hello", new_text=some_text(random))
        case 8:
            return call("read_file", path=random.choice(FILES))
        case 9:
            return call("ask_user", question=some_text(random), suggestions=["yes", "no"])
        case 10:
            return call("todo_list", items=[{"text": "one", "status": "done"}])
        case 11:
            return call("slow", steps=random.randrange(5))
        case 12:
            return call("shared", turns=random.randrange(4))
        case 13:
            return call("guarded", place=some_text(random))
        case _:
            return call(random.choice(TOOLS).name)


def some_script(random: Random) -> Script:
    parts: list[Part] = [
        think(some_text(random)) if random.randrange(3) == 0 else some_text(random) for _ in range(random.randrange(4))
    ]
    if random.randrange(3):
        parts += [some_call(random) for _ in range(random.randrange(1, 4))]
    random.shuffle(parts)
    if random.randrange(4) == 0:
        usage = Usage(input=random.randrange(9), output=random.randrange(9)) if random.randrange(2) else None
        parts.append(stop(random.choice(STOPS), usage))
    if random.randrange(8) == 0:
        parts.insert(random.randrange(len(parts) + 1), fail(random.choice(ERRORS)()))
    return parts


class Disturbance:
    """Does something to the agent at some event."""

    def __init__(self, agent: Agent, at: int, what: str) -> None:
        self._agent, self._at, self._what = agent, at, what
        agent.subscribe(self._on_event)

    def _on_event(self, event: Event) -> None:
        if event.seq != self._at or self._agent.current is None:
            return
        match self._what:
            case "cancel":
                self._agent.cancel("Enough.")
            case "cancel soon":
                asyncio.get_running_loop().call_soon(self._agent.cancel, "Soon.")
            case "steer" | "queue" | "interrupt" as how:
                asyncio.get_running_loop().call_soon(lambda: self._agent.send("And this.", when_busy=how))
            case _:
                raise ValueError("a reactor that fails")


WHAT = ["cancel", "cancel soon", "steer", "steer", "queue", "interrupt", "fail"]


class Conversation:
    """Drawn whole before it runs, so that the same source gives the same conversation."""

    def __init__(self, random: Random) -> None:
        self.models = [[some_script(random) for _ in range(10)] for _ in range(random.choice([1, 1, 2, 3]))]
        self.exchanges = random.randrange(1, 4)
        self.disturbances = [(random.randrange(150), random.choice(WHAT)) for _ in range(random.randrange(3))]
        self.piece = random.choice([1, 3, 8, 50])
        self.budget = heald.Budget(
            turns=random.choice([2, 4, 20]), tokens=random.choice([None, None, None, 10]), seconds=20
        )
        self.approve = [random.randrange(3) for _ in range(8)]
        self.cache = bool(random.randrange(2))

    def agent(self) -> Agent:
        model, *fallbacks = (
            heald.testing.ScriptedModel([*turns, *["Done."] * 40], piece=self.piece) for turns in self.models
        )
        answers = iter([*self.approve, *[0] * 100])

        async def approve(request: ApprovalRequested) -> bool | heald.Approval:
            match next(answers):
                case 0:
                    return True
                case 1:
                    return False
                case _:
                    return heald.Approval(True, arguments={"place": "elsewhere"}, always=True)

        async def answer(question: QuestionAsked) -> str:
            return question.suggestions[0]

        return Agent(
            model,
            fallbacks=fallbacks,
            tools=[*TOOLS, *BUILT_IN],
            permissions=Permissions("auto", RULES.rules),
            budget=self.budget,
            cache=self.cache,
            on_approval=approve,
            on_question=answer,
        )


async def hold(agent: Agent, conversation: Conversation) -> int:
    """Run it, prove its log, and count the streams."""
    log = Log(agent)
    for at, what in conversation.disturbances:
        Disturbance(agent, at, what)
    for number in range(conversation.exchanges):
        await asyncio.wait_for(agent.send(f"Number {number}.").result(), 30)
    await until(lambda: agent.current is None)
    log.prove()
    executed = {payload.id for payload in log.of(ToolExecuting)}
    never = {"invalid_input", "unknown_tool", "denied"}
    assert not executed & {result.id for result in log.of(ToolResult) if result.status in never}
    await agent.close()
    return len(log.of(MessageStart))


counted = {"streams": 0, "blocks": 0}


@pytest.mark.parametrize("block", range(BLOCKS))
async def test_random_conversations(block: int) -> None:
    for number in range(CONVERSATIONS):
        seed = f"{block}/{number}"
        try:
            conversation = Conversation(Random(seed))
            counted["streams"] += await hold(conversation.agent(), conversation)
        except BaseException as error:
            error.add_note(f"The conversation of seed {seed}.")
            raise
    counted["blocks"] += 1


@settings(
    max_examples=scaled(60), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(st.randoms(use_true_random=False))
def test_random_conversations_made_small(random: Random) -> None:
    conversation = Conversation(random)

    async def run() -> None:
        counted["streams"] += await hold(conversation.agent(), conversation)

    asyncio.run(run())


# --- over sockets: attempts that fail and are tried again ------------------------------------------------------------

WIRES = ["chat", "responses", "messages", "gemini", "ollama"]


def some_reply(random: Random, wire: str, number: int) -> Reply:
    if random.randrange(6) == 0:
        return Reply.json({"error": {"message": "not now"}}, status=random.choice([429, 500, 503, 529, 400]))
    names = [
        random.choice(["look", "nowhere", "huge", "picture", "breaks", "late"]) for _ in range(random.randrange(3))
    ]
    calls = [ToolCall(id=f"call_{number}_{at}", name=name, input={}) for at, name in enumerate(names)]
    pieces = wire_stream(
        wire,
        text=[text for _ in range(random.randrange(4)) if (text := some_text(random))],
        thinking=some_text(random) if random.randrange(3) == 0 else "",
        calls=calls,
        stop=random.choice([None, None, None, None, "max_tokens", "content_filter"]),
    )
    steps: list[Step] = list(pieces)
    if random.randrange(4) == 0:
        steps = [*steps[: random.randrange(len(steps))], random.choice([Cut(), Reset()])]
    content_type = "application/x-ndjson" if wire == "ollama" else "text/event-stream"
    return Reply(steps, content_type=content_type)


async def talk(random: Random) -> int:
    """A conversation with a server that often fails."""
    wire = random.choice(WIRES)
    replies = [some_reply(random, wire, number) for number in range(12)]
    answer = Reply(
        wire_stream(wire, text="Done."),
        content_type="application/x-ndjson" if wire == "ollama" else "text/event-stream",
    )
    async with ScriptedServer([*replies, *[answer] * 60]) as server:
        base = server.url + {"gemini": "/v1beta", "ollama": ""}.get(wire, "/v1")
        models = [
            heald.Model(name, wire=wire, base_url=base, api_key="no-real-key", provider="test")
            for name in ("one", "two")
        ]
        agent = Agent(
            models[0],
            fallbacks=models[1:],
            tools=TOOLS,
            permissions=Permissions("auto", RULES.rules),
            retry=heald.Retry(attempts=random.choice([1, 3]), base=0, cap=0),
            budget=heald.Budget(turns=6),
        )
        log = Log(agent)
        if random.randrange(3) == 0:
            Disturbance(agent, random.randrange(60), random.choice(WHAT))
        for _ in range(3):
            await asyncio.wait_for(agent.send("Go.").result(), 30)
        await until(lambda: agent.current is None)
        log.prove(secrets=["no-real-key"])
        await agent.close()
        return len(log.of(MessageStart))


@pytest.mark.parametrize("block", range(SOCKET_BLOCKS))
async def test_random_servers(block: int) -> None:
    for number in range(SOCKET_CONVERSATIONS):
        seed = f"server/{block}/{number}"
        try:
            counted["streams"] += await talk(Random(seed))
        except BaseException as error:
            error.add_note(f"The conversation of seed {seed}.")
            raise
    counted["blocks"] += 1


def test_there_were_enough() -> None:
    if counted["blocks"] < BLOCKS + SOCKET_BLOCKS:
        pytest.skip("only a part of the conversations was held")
    assert counted["streams"] >= STREAMS
