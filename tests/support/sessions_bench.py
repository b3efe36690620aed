"""What tests of sessions share: events, logs, and parts that fail when they are told to."""

from collections.abc import Sequence

import heald
from heald.core.envelope import Event, new_event
from heald.core.events import ConversationQueued
from heald.core.payload import Payload
from heald.sessions.leases import Lease
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.store import Store, iterate_events

call = heald.testing.ScriptedModel.call


def event(session: str, seq: int, payload: Payload | None = None, *, epoch: int = 1) -> Event:
    data = payload if payload is not None else ConversationQueued(seq)
    return new_event(
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


@heald.tool(effect="read")
async def look(n: int) -> str:
    """Look at something."""
    return f"saw {n}"


def model(*turns: object) -> heald.testing.ScriptedModel:
    return heald.testing.ScriptedModel(turns)  # pyright: ignore[reportArgumentType]


async def fresh(store: Store, **settings: object) -> str:
    return (await Sessions(store).create(**settings)).id  # pyright: ignore[reportArgumentType]
