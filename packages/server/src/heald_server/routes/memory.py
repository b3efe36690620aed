"""The facts that a session is given and notes: the routes of its memory."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Annotated

import msgspec

from heald.core.errors import ConfigurationError
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.tools.memory.fact import Fact, FactSubject
from heald.tools.memory.fact_books import FactBooks
from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation
from heald_server.routes.fields import Body, Empty
from heald_server.routes.paths import SESSION

_Words = Annotated[str, msgspec.Meta(min_length=1, max_length=400)]


class NewFactBody(Body, frozen=True, kw_only=True):
    text: _Words
    about: FactSubject = "project"


class FactBody(Body, frozen=True, kw_only=True):
    text: _Words | None = None
    """Other words. Without them the fact is kept for all conversations as it is."""


class MemoryView(msgspec.Struct, frozen=True):
    facts: list[Fact]
    """The facts that count in this session, those of other sessions in its folder among them."""
    enabled: bool = True
    """Whether the session has a memory: it works in a folder, and the server has not turned it off."""


async def _list_facts(call: ApiCall) -> MemoryView:
    info = await call.session()
    books = _find_books(call, info)
    if books is None:
        return MemoryView([], enabled=False)
    return MemoryView(await asyncio.to_thread(books.facts, info.id))


async def _add_fact(call: ApiCall) -> Fact:
    body: NewFactBody = call.body
    return await _change(call, lambda books, _: books.add(body.text, body.about))


async def _change_fact(call: ApiCall) -> Fact:
    body: FactBody = call.body
    text = body.text
    return await _change(
        call, lambda books, fact: books.keep(fact) if text is None else books.replace(fact, text), checks=True
    )


async def _remove_fact(call: ApiCall) -> Empty:
    await _change(call, lambda books, fact: books.remove(fact), checks=True)
    return Empty()


async def _change(call: ApiCall, change: Callable[[FactBooks, str], Fact], *, checks: bool = False) -> Fact:
    """Change the facts of a session. With `checks` the path names one that counts there."""
    info = await call.session()
    books = _find_books(call, info)
    if books is None:
        raise ApiError("conflict", "This session has no memory: it works in no folder, or the server turned it off.")
    fact = call.path.get("fact", "")

    def run() -> Fact:
        if checks and not any(other.id == fact for other in books.facts(info.id)):
            raise ApiError("not_found", f"There is no fact {fact[:20]!r} in the memory of this session.")
        try:
            return change(books, fact)
        except ConfigurationError as error:
            raise ApiError("invalid", str(error)) from None

    return await asyncio.to_thread(run)


def _find_books(call: ApiCall, info: SessionInfo) -> FactBooks | None:
    """Return the facts about the folder of a session, for its owner."""
    name = SessionSettings.of(info.settings).workspace
    folder = call.context.workspaces.get(name) if name is not None else None
    find = call.context.find_memory
    return find(folder, info.owner) if folder is not None and find is not None and not info.kind else None


_operation = partial(Operation, errors=("not_found", "conflict"), tag="memory")

OPERATIONS = (
    _operation("GET", f"{SESSION}/memory", _list_facts, "The facts that a session is given.", MemoryView),
    _operation("POST", f"{SESSION}/memory", _add_fact, "Add a fact.", Fact, NewFactBody, status=201),
    _operation("PATCH", f"{SESSION}/memory/{{fact}}", _change_fact, "Change or keep a fact.", Fact, FactBody),
    _operation("DELETE", f"{SESSION}/memory/{{fact}}", _remove_fact, "Remove a fact.", Empty),
)
