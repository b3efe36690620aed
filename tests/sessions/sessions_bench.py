"""What tests of sessions share: events, logs, and parts that fail when they are told to."""

from collections.abc import Sequence

import weft
from weft.core.envelope import Event
from weft.core.events import ConversationQueued
from weft.core.payload import Payload
from weft.sessions.sessions import Sessions
from weft.sessions.store import Lease, SessionInfo, Store, iterate_events

call = weft.ScriptedModel.call


def event(session: str, seq: int, payload: Payload | None = None, *, epoch: int = 1) -> Event:
    data = payload if payload is not None else ConversationQueued(seq)
    return Event(
        seq=seq,
        id=f"{session}-{epoch}-{seq}",
        session=session,
        exchange=None,
        type=data.type,
        layer=data.layer,
        time=float(seq),
        epoch=epoch,
        data=data,
    )


def events(session: str, first: int, count: int, *, epoch: int = 1) -> list[Event]:
    return [event(session, seq, epoch=epoch) for seq in range(first, first + count)]


async def leased(store: Store, session: str = "ses_a") -> Lease:
    """A new session, and the right to write it."""
    await store.create(SessionInfo(id=session))
    return await store.acquire(session, "test")


async def log_of(store: Store, session: str) -> list[Event]:
    return [event async for event in iterate_events(store, session)]


def types_of(log: Sequence[Event]) -> list[str]:
    return [event.type for event in log]


@weft.tool(effect="read")
async def look(n: int) -> str:
    """Look at something."""
    return f"saw {n}"


def model(*turns: object) -> weft.ScriptedModel:
    return weft.ScriptedModel(turns)  # pyright: ignore[reportArgumentType]


async def fresh(store: Store, **settings: object) -> str:
    return (await Sessions(store).create(**settings)).id  # pyright: ignore[reportArgumentType]
