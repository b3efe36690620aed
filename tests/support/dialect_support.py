"""What tests of dialects share: logs written by hand, and logs of scripted agents."""

import asyncio
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import heald
from heald.agent.agent import Agent
from heald.core.envelope import Event, new_event
from heald.core.errors import ErrorInfo, IncompleteStream, Overloaded
from heald.core.events import (
    ApprovalRequested,
    AssistantMessage,
    ExchangeRequest,
    ExchangeResponse,
    ExchangeStatus,
    InputJsonDelta,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    TextContentBlockStart,
    TextContentBlockStop,
    TextDelta,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from heald.core.json import JsonObject
from heald.core.messages import Message, user_message
from heald.core.payload import Payload
from heald.core.turn import StopReason, Usage
from heald.providers.scripted import Part, Script
from heald.tools.inner_calls import InnerCalls
from heald_server.dialects.dialect import Dialect
from heald_server.dialects.frame import Frame

S = heald.testing.ScriptedModel
BUSY = ErrorInfo(code="overloaded", message="The provider is overloaded.", retryable=True)
CANCELLED = ErrorInfo(code="cancelled", message="The exchange was ended.")


# --- logs written by hand -----------------------------------------------------------------------------------------


def log_of(
    *payloads: Payload | Iterable[Payload], session: str = "ses_1", step: float = 0.1, first: int = 1
) -> list[Event]:
    """Events of one exchange, 0.1 s apart."""
    flat = [payload for item in payloads for payload in ([item] if isinstance(item, Payload) else item)]
    return [
        new_event(
            seq=seq,
            id=f"evt_{seq}",
            session=session,
            exchange="ex_1",
            type=payload.type,
            layer=payload.layer,
            time=1000 + seq * step,
            epoch=1,
            data=payload,
        )
        for seq, payload in enumerate(flat, first)
    ]


def asked() -> Payload:
    return ExchangeRequest(user_message("Go."), "test/model")


def answered(
    status: ExchangeStatus = "completed", stop: StopReason = "end_turn", error: ErrorInfo | None = None
) -> Payload:
    return ExchangeResponse(status, stop, 12.0, 1, Usage(input=10, output=5, reasoning=2), 0.001, error)


def begun(message: str = "msg_1", attempt: int = 1) -> Payload:
    return MessageStart(message, "test/model", attempt)


def ended(message: str = "msg_1", stop: StopReason = "end_turn") -> list[Payload]:
    return [MessageDelta(message, stop, Usage(input=10, output=5)), MessageStop(message)]


def text(*pieces: str, block: str = "msg_1.0", index: int = 0) -> list[Payload]:
    deltas = [TextDelta(index, block, piece) for piece in pieces]
    return [TextContentBlockStart(index, block), *deltas, TextContentBlockStop(index, block)]


def arguments(call: str, name: str, *pieces: str, block: str = "msg_1.1", index: int = 1) -> list[Payload]:
    deltas = [InputJsonDelta(index, block, piece) for piece in pieces]
    return [
        ToolUseContentBlockStart(index, block, call, name),
        *deltas,
        ToolUseContentBlockStop(index, block, call),
    ]


def dropped(message: str = "msg_1", error: ErrorInfo = BUSY) -> Payload:
    return MessageDiscarded(message, error)


# --- what a dialect says ------------------------------------------------------------------------------------------


def spoken(dialect: Dialect, events: Iterable[Event], *, close: bool = True) -> list[Frame]:
    frames = [frame for event in events for frame in dialect.feed(event)]
    return [*frames, *(dialect.close() if close else [])]


def objects(frames: Iterable[Frame]) -> list[JsonObject]:
    return [frame.data for frame in frames if isinstance(frame.data, dict)]


def frame_data(frames: Iterable[Frame]) -> list[Any]:
    """The data of each frame, without what depends on the moment."""
    return [
        {key: value for key, value in frame.data.items() if key != "timestamp"}
        if isinstance(frame.data, dict)
        else frame.data
        for frame in frames
    ]


def weight(value: object, seen: set[int] | None = None) -> int:
    """How many characters something holds on to."""
    seen = set() if seen is None else seen
    if id(value) in seen or callable(value):
        return 0
    seen.add(id(value))
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, dict):
        return sum(weight(key, seen) + weight(item, seen) for key, item in list(value.items()))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list | tuple | set | frozenset):
        return sum(weight(item, seen) for item in list(value))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    slots = [getattr(value, name, None) for name in getattr(type(value), "__slots__", ())]
    return sum(weight(item, seen) for item in [*slots, *getattr(value, "__dict__", {}).values()])


# --- logs of scripted agents --------------------------------------------------------------------------------------


@heald.tool
async def look(place: str = "here") -> str:
    """Look around."""
    return f"Nothing at {place}."


@heald.tool
async def breaks() -> str:
    """Is broken."""
    raise RuntimeError("broken inside")


@heald.tool
async def slow(ctx: heald.ToolContext) -> str:
    """Says what it does, and calls other tools, as a program does."""
    for step in range(3):
        ctx.output(f"step {step}\n", "progress")
        await asyncio.sleep(0)
    if ctx.host is not None:
        inner_calls = InnerCalls(ctx, ctx.host)
        await asyncio.gather(*(inner_calls.run(name, {}) for name in ("look", "guarded", "breaks", "nowhere")))
    return "done"


@heald.tool(effect="write")
async def guarded(place: str = "") -> str:
    """Needs a yes."""
    return f"did {place}"


TOOLS: list[Any] = [look, breaks, slow, guarded, "files"]
TEXTS = ["", " ", "Hello.", "Zwölf\n", "日本語 ", "😀", "\r\n", '"q" \\ ', "data: x\n\n", "\u2028", "<html>"]
FILES = ["index.html", "style.css", "notes/a~b.md"]
STOPS: list[StopReason] = ["end_turn", "max_tokens", "refusal", "content_filter", "pause_turn"]


def some_text(random: Random) -> str:
    return "".join(random.choice(TEXTS) for _ in range(random.randrange(1, 6)))


def some_call(random: Random) -> Part:
    match random.randrange(10):
        case 0:
            return S.call("nowhere")
        case 1:
            return S.call("look", place=[1])
        case 2:
            return S.raw_call("look", random.choice(['{"place": "x', "nonsense", ""]))
        case 3 | 4:
            return S.call("create_file", path=random.choice(FILES), content=some_text(random) * random.randrange(1, 20))
        case 5:
            return S.call("edit_file", path=random.choice(FILES), old_text="Hello", new_text=some_text(random))
        case 6:
            return S.call("guarded", place=some_text(random))
        case _:
            return S.call(random.choice(["look", "breaks", "slow"]))


def some_script(random: Random) -> Script:
    parts: list[Part] = [
        S.think(some_text(random)) if random.randrange(3) == 0 else some_text(random)
        for _ in range(random.randrange(4))
    ]
    if random.randrange(3):
        parts += [some_call(random) for _ in range(random.randrange(1, 4))]
    random.shuffle(parts)
    if random.randrange(5) == 0:
        parts.append(S.stop(random.choice(STOPS)))
    if random.randrange(4) == 0:
        error = random.choice([Overloaded("busy", status=529), IncompleteStream("cut")])
        parts.insert(random.randrange(len(parts) + 1), S.fail(error))
    return parts


class Conversation:
    """Drawn whole before it runs: up to three exchanges, models that fail, tools, cancels."""

    def __init__(self, random: Random) -> None:
        self.models = [[some_script(random) for _ in range(6)] for _ in range(random.choice([1, 2, 3, 4]))]
        self.exchanges = random.randrange(1, 4)
        self.piece = random.choice([1, 3, 8, 50])
        self.turns = random.choice([2, 5, 20])
        self.cancel_at = random.choice([None, None, random.randrange(120)])
        self.allow = [bool(random.randrange(2)) for _ in range(6)]

    async def events(self) -> list[Event]:
        model, *fallbacks = (S([*scripts, *["Done."] * 30], piece=self.piece) for scripts in self.models)
        answers = iter([*self.allow, *[True] * 100])

        async def approve(_: ApprovalRequested) -> bool:
            return next(answers)

        events: list[Event] = []
        agent = Agent(
            model,
            fallbacks=fallbacks,
            tools=TOOLS,
            permissions=heald.Permissions("auto", ["ask guarded"]),
            budget=heald.Budget(turns=self.turns, seconds=30),
            on_approval=approve,
        )
        agent.subscribe(events.append)
        if self.cancel_at is not None:
            at = self.cancel_at
            agent.subscribe(lambda event: agent.cancel("Enough.") if event.seq == at else None)
        for number in range(self.exchanges):
            await asyncio.wait_for(agent.send(f"Number {number}.").result(), 60)
        await agent.close()
        return events


async def played(*turns: Script, piece: int = 8, fallbacks: Sequence[Any] = (), **options: Any) -> list[Event]:
    """The log of one exchange with a scripted model."""
    events: list[Event] = []
    agent = Agent(S(turns, piece=piece), fallbacks=fallbacks, **options)
    agent.subscribe(events.append)
    await asyncio.wait_for(agent.send("Go.").result(), 120)
    await agent.close()
    return events


def kept_messages(events: Iterable[Event]) -> list[Message]:
    return [event.data.message for event in events if isinstance(event.data, AssistantMessage)]
