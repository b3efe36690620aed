"""Two processes on one data folder: neither takes the other's variants for lost, and no change of a project is."""

import asyncio
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

from heald.sessions.sqlite import SqliteStore
from heald_studio.projects.project import VariantRef
from heald_studio.projects.project_store import ProjectStore
from heald_studio.request import BuildRequest
from heald_studio.studio import Studio
from studio_support import OWNER, desk, page, writes

CHANGES = """
import asyncio, sys
import msgspec
from heald.sessions.sqlite import SqliteStore
from heald_studio.projects.project_store import ProjectStore

async def main(database, project, count):
    projects = ProjectStore(SqliteStore(database))
    for _ in range(int(count)):
        await projects.change(project, lambda it: msgspec.structs.replace(it, design_system=it.design_system + "x"))
    await projects.store.close()

asyncio.run(main(*sys.argv[1:]))
"""
HOLDS = """
import asyncio, sys
from heald.sessions.leases import new_holder
from heald.sessions.sqlite import SqliteStore

async def main(database, session):
    store = SqliteStore(database)
    await store.acquire(session, new_holder())
    print("held", flush=True)
    await asyncio.to_thread(sys.stdin.readline)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_changes_of_several_processes_are_all_kept(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    project = await ProjectStore(store).add(OWNER, title="A", stack="html_css")
    others = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", CHANGES, str(tmp_path / "s.db"), project.id, "15")
        for _ in range(3)
    ]
    async with asyncio.timeout(120):
        assert [await other.wait() for other in others] == [0, 0, 0]
    assert (await ProjectStore(store).get(OWNER, project.id)).design_system == "x" * 45
    await store.close()


async def test_a_variant_that_another_process_builds_is_not_lost(tmp_path: Path) -> None:
    slow = writes(page() + "<!-- word -->" * 400, piece=32, pause=0.01)
    async with desk(tmp_path, slow) as here, desk(tmp_path, slow) as there:
        made = await here.studio.create(OWNER, BuildRequest(text="A page", variants=1))
        version = made.versions[0].id
        seen = made
        for _ in range(1000):
            seen = await there.studio.get(OWNER, made.id)
            if seen.versions[0].variants[0].exchange is not None:
                break
            await asyncio.sleep(0.02)
        assert [variant.status for variant in seen.versions[0].variants] == ["running"]
        await there.studio.files(OWNER, made.id, VariantRef(version, 0))  # reading needs no lease
        watched = asyncio.create_task(_completed(there.studio, made.id))
        done = await here.studio.wait_version(OWNER, made.id, version)
        assert [variant.status for variant in done.variants] == ["completed"]
        await asyncio.wait_for(watched, 120)
        seen = await there.studio.get(OWNER, made.id)
        assert seen.versions[0].variants[0] == done.variants[0]
        await here.check(done)


async def _completed(studio: Studio, project: str) -> None:
    """Whoever watches sees what another process does."""
    async with aclosing(studio.watch(OWNER, project)) as states:
        async for state in states:
            if state.versions[0].variants[0].status == "completed":
                return


async def test_a_project_that_another_process_deletes_is_missing(tmp_path: Path) -> None:
    async with desk(tmp_path, writes(page())) as here, desk(tmp_path, writes(page())) as there:
        made, _ = await here.built(BuildRequest(text="A page", variants=1))
        async with aclosing(there.studio.watch(OWNER, made.id)) as states:
            assert (await anext(states)).id == made.id
            await here.studio.delete(OWNER, made.id)
            async with asyncio.timeout(120):
                assert [state async for state in states] == []


async def test_a_variant_of_a_process_that_died_is_there_for_the_next(tmp_path: Path) -> None:
    async with desk(tmp_path, writes(page())) as here:
        made, version = await here.built(BuildRequest(text="A page", variants=1))
        session = version.variants[0].session
        await here.context.open_sessions.close_session(session)
        other = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", HOLDS, str(tmp_path / "studio.db"), session),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert other.stdout is not None
        assert await other.stdout.readline() == b"held\n"
        assert "index.html" in await here.studio.files(OWNER, made.id, VariantRef(version.id, 0))
        other.kill()
        await other.wait()
        assert "index.html" in await here.studio.files(OWNER, made.id, VariantRef(version.id, 0))
