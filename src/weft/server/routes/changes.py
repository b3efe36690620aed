"""What a session made of its files, for a person to accept or to take back, by file and by hunk."""

import asyncio
from typing import Any

from weft.server.operations import Call, Operation
from weft.server.views import ChangesView, ChangeView, HunksView, JudgementBody
from weft.sessions.changes import Compared

_MOST = 1000


async def listed(call: Call) -> ChangesView:
    async with call.context.open.use(await call.session()) as session:
        found = await session.changes.all()
    return ChangesView([ChangeView(**_head(each)) for each in found[:_MOST]])


async def one(call: Call) -> HunksView:
    async with call.context.open.use(await call.session()) as session:
        return await _shown(await session.changes.of(call.path["path"]))


async def judged(call: Call) -> HunksView:
    body: JudgementBody = call.body
    path = call.path["path"]
    async with call.context.open.use(await call.session()) as session:
        decide = session.changes.accept if body.decision == "accept" else session.changes.revert
        await decide(path, body.base, body.hash, body.hunks)
        return await _shown(await session.changes.of(path))


async def _shown(compared: Compared) -> HunksView:
    return HunksView(**_head(compared), hunks=await asyncio.to_thread(lambda: compared.hunks))


def _head(compared: Compared) -> dict[str, Any]:
    return {
        "path": compared.path,
        "kind": compared.kind,
        "base": compared.base,
        "hash": compared.hash,
        "problem": compared.problem,
    }


OPERATIONS = (
    Operation(
        "GET",
        "/sessions/{session}/changes",
        listed,
        "The files that are not what they were, as far as nobody has accepted that.",
        answer=ChangesView,
        refusals=("not_found",),
        tag="files",
    ),
    Operation(
        "GET",
        "/sessions/{session}/changes/{path}",
        one,
        "What is changed in a file, hunk by hunk.",
        answer=HunksView,
        refusals=("not_found",),
        tag="files",
    ),
    Operation(
        "POST",
        "/sessions/{session}/changes/{path}",
        judged,
        "Accept or revert what is changed in a file, or some of it. Gives what is left.",
        body=JudgementBody,
        answer=HunksView,
        refusals=("not_found", "conflict"),
        tag="files",
    ),
)
