"""Every outcome of a variant, each independent of the others; versions fork from anywhere and nothing is lost."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

import heald
from heald.agent.model_chain import ModelLike
from heald.core.errors import HealdError, ServerFault
from heald.core.json import JsonObject
from heald_studio.projects.project import VariantRef
from heald_studio.request import BuildRequest
from studio_support import OWNER, Desk, S, Script, desk, page, picture, texts_of, view, writes


def _failing() -> heald.testing.ScriptedModel:
    return S([["I begin. ", S.fail(ServerFault("The provider is out of order."))]] * 20)


def _endless() -> heald.testing.ScriptedModel:
    return S([[S.call("create_file", path=f"part{number}.html", content=page())] for number in range(40)])


def _slow() -> heald.testing.ScriptedModel:
    return S([["Let me think about this for a long time. " * 200]], piece=4, pause=0.02)


SCRIPTS: dict[str, Script] = {
    "good": writes(page("Good")),
    "failing": _failing,
    "endless": _endless,
    "slow": _slow,
}


async def _speaks(studio: Desk, project: str, index: int) -> None:
    """Wait until a variant has begun."""
    async with asyncio.timeout(60), aclosing(studio.studio.watch(OWNER, project)) as states:
        async for state in states:
            if state.versions[-1].variants[index].status == "running":
                return


async def test_each_variant_has_its_own_outcome(tmp_path: Path) -> None:
    async with desk(tmp_path, SCRIPTS) as studio:
        models = ("good", "failing", "endless", "slow", "missing")
        project = await studio.studio.create(OWNER, BuildRequest(text="A page", models=models))
        version = project.versions[0]
        await _speaks(studio, project.id, 3)
        assert await studio.studio.cancel(OWNER, project.id, VariantRef(version.id, 3))
        version = await studio.studio.wait_version(OWNER, project.id, version.id)
        good, failing, endless, slow, missing = version.variants
        statuses = [variant.status for variant in version.variants]
        assert statuses == ["completed", "failed", "limit", "cancelled", "failed"]
        assert (good.turns, good.error, good.cost_usd) == (2, None, 0.0)
        assert good.usage.output
        assert failing.error is not None
        assert failing.error.message == "The provider is out of order."
        assert endless.turns == 20
        assert slow.error is None
        assert missing.error is not None
        assert missing.error.message.startswith("There is no model 'missing'; choose one of good, ")
        assert missing.exchange is None
        for variant in version.variants:
            assert variant.started is not None
            assert variant.ended is not None
            assert variant.started <= variant.ended
        await studio.check(version)
        files = [await studio.studio.files(OWNER, project.id, VariantRef(version.id, index)) for index in range(4)]
        assert [len(of_variant) for of_variant in files] == [1, 0, 20, 0]


async def test_a_variant_that_is_cancelled_before_it_begins_never_asks_its_model(tmp_path: Path) -> None:
    async with desk(tmp_path, SCRIPTS) as studio:
        project = await studio.studio.create(OWNER, BuildRequest(text="A page", models=("slow", "good")))
        version = project.versions[0]
        assert await studio.studio.cancel(OWNER, project.id, VariantRef(version.id, 0))
        version = await studio.studio.wait_version(OWNER, project.id, version.id)
        assert [variant.status for variant in version.variants] == ["cancelled", "completed"]
        assert not await studio.studio.cancel(OWNER, project.id, VariantRef(version.id, 0))
        await studio.check(version)


async def test_anyone_who_looks_while_variants_begin_treats_none_as_lost(tmp_path: Path) -> None:
    async with desk(tmp_path, SCRIPTS) as studio:

        async def looking() -> None:
            while True:
                for project in (await studio.studio.list(OWNER)).projects:
                    for version in (await studio.studio.get(OWNER, project.id)).versions:
                        assert {variant.status for variant in version.variants} <= {"queued", "running", "completed"}
                await asyncio.sleep(0.005)

        store = studio.context.sessions.store
        configure = store.configure

        async def slowly(session: str, settings: JsonObject) -> None:
            await configure(session, settings)
            await asyncio.sleep(0.02)  # it is stored, and whoever stored it does not know yet

        store.configure = slowly
        looker = asyncio.create_task(looking())
        for _ in range(3):
            _, version = await studio.built(BuildRequest(text="A page", models=("good",), variants=3))
            assert {variant.status for variant in version.variants} == {"completed"}
        assert not looker.done()
        looker.cancel()
        await asyncio.wait([looker])


async def test_every_change_is_seen_by_anyone_who_watches(tmp_path: Path) -> None:
    async with desk(tmp_path, SCRIPTS) as studio:
        project = await studio.studio.create(OWNER, BuildRequest(text="A page", models=("good",), variants=3))
        states = studio.studio.watch(OWNER, project.id)
        first = await anext(states)
        await studio.studio.wait_version(
            OWNER, project.id, project.versions[0].id
        )  # all is over before anybody looks again
        assert not first.versions[0].variants[0].is_done
        last = await asyncio.wait_for(anext(states), 60)
        assert all(variant.is_done for variant in last.versions[0].variants)
        ending = asyncio.ensure_future(anext(states, None))
        await studio.studio.delete(OWNER, project.id)
        assert await asyncio.wait_for(ending, 60) is None


async def test_versions_fork_from_any_variant_and_nothing_is_lost(tmp_path: Path) -> None:
    scripts: dict[str, Script] = {"one": writes(page("One")), "two": writes(page("Two"))}
    async with desk(tmp_path, scripts) as studio:
        project, first = await studio.built(BuildRequest(views=(view(),), mode="image", models=("one", "two")))
        do = studio.studio
        second = await do.update(
            OWNER, project.id, VariantRef(first.id, 1), BuildRequest(text="Larger.", models=("one",))
        )
        await do.wait_version(OWNER, project.id, second.id)
        asked = studio.models.opened["one"][-1].requests[0].messages
        assert "<h1>Two</h1>" in texts_of(asked[-1])
        assert "Larger." in texts_of(asked[-1])
        third = await do.update(
            OWNER,
            project.id,
            VariantRef(first.id, 0),
            BuildRequest(text="Smaller.", views=(view(picture(colour="red")),), variants=1),
        )
        await do.wait_version(OWNER, project.id, third.id)
        edited = await do.edit(OWNER, project.id, VariantRef(second.id, 0), {"index.html": b"Mine", "a/b.css": b"x"})
        edited_twice = await do.edit(OWNER, project.id, VariantRef(edited.id, 0), {"a/b.css": None})
        back = await do.restore(OWNER, project.id, VariantRef(first.id, 1))
        chosen = await do.choose(OWNER, project.id, VariantRef(first.id, 1))
        project = await do.get(OWNER, project.id)
        assert [version.number for version in project.versions] == [1, 2, 3, 4, 5, 6]
        assert [version.kind for version in project.versions] == [
            "create",
            "update",
            "update",
            "edit",
            "edit",
            "restore",
        ]
        bases = [version.base for version in project.versions]
        assert bases == [
            None,
            *(VariantRef(*at) for at in [(first.id, 1), (first.id, 0), (second.id, 0), (edited.id, 0)]),
            bases[1],
        ]
        assert (chosen.chosen, project.versions[0].chosen) == (1, 1)

        async def text(version: str, variant: int = 0) -> dict[str, bytes]:
            return dict(await do.files(OWNER, project.id, VariantRef(version, variant)))

        assert await text(first.id, 0) == {"index.html": page("One").encode()}
        assert await text(first.id, 1) == await text(back.id) == {"index.html": page("Two").encode()}
        assert await text(edited.id) == {"index.html": b"Mine", "a/b.css": b"x"}
        assert await text(edited_twice.id) == {"index.html": b"Mine"}
        for version in project.versions:
            await studio.check(version)
        await do.delete(OWNER, project.id)
        with pytest.raises(HealdError, match="There is no project"):
            await do.get(OWNER, project.id)
        assert (await studio.context.sessions.list()).sessions == []


async def test_a_variant_is_retried_with_all_it_was_asked_with(tmp_path: Path) -> None:
    broken = [True]

    def model() -> ModelLike:
        return _failing() if broken[0] else writes({"more.html": page("More")})()

    async with desk(tmp_path, {"one": model}) as studio:
        brief = BuildRequest(
            text="Change it.", views=(view(),), mode="video", files={"index.html": b"Old"}, options=("<b>",), variants=1
        )
        project, first = await studio.built(brief)
        assert first.variants[0].status == "failed"
        broken[0] = False
        second = await studio.studio.retry(OWNER, project.id, VariantRef(first.id, 0))
        second = await studio.studio.wait_version(OWNER, project.id, second.id)
        assert second.variants[0].status == "completed"
        assert (second.kind, second.base, second.text) == ("create", None, "Change it.")
        assert (second.pictures, second.options) == (first.pictures, first.options)
        asked = [model.requests[0] for model in studio.models.opened["one"] if model.requests]
        contents = [[(message.role, message.content) for message in request.messages] for request in asked]
        assert contents[0] == contents[-1]
        assert asked[0].settings.system == asked[-1].settings.system
        made = await studio.studio.files(OWNER, project.id, VariantRef(second.id, 0))
        assert dict(made) == {"index.html": b"Old", "more.html": page("More").encode()}
        assert second.id == first.id
        assert [attempt.session for attempt in second.variants[0].other_tries] == [first.variants[0].session]
        assert len((await studio.studio.get(OWNER, project.id)).versions) == 1
        edited = await studio.studio.edit(OWNER, project.id, VariantRef(second.id, 0), {"index.html": b"Mine"})
        with pytest.raises(HealdError, match="so it cannot be retried"):
            await studio.studio.retry(OWNER, project.id, VariantRef(edited.id, 0))


async def test_one_that_never_began_can_be_retried(tmp_path: Path) -> None:
    async with desk(tmp_path, SCRIPTS) as studio:
        project, first = await studio.built(BuildRequest(text="A page", models=("missing",)))
        assert first.variants[0].status == "failed"
        studio.models.scripts["missing"] = writes(page("Found"))
        second = await studio.studio.retry(OWNER, project.id, VariantRef(first.id, 0))
        second = await studio.studio.wait_version(OWNER, project.id, second.id)
        assert second.variants[0].status == "completed"


async def test_a_variant_at_work_is_not_retried(tmp_path: Path) -> None:
    async with desk(tmp_path, SCRIPTS) as studio:
        project = await studio.studio.create(OWNER, BuildRequest(text="A page", models=("slow",)))
        with pytest.raises(HealdError, match="still running; stop it"):
            await studio.studio.retry(OWNER, project.id, VariantRef(project.versions[0].id, 0))
        await studio.studio.delete(OWNER, project.id)


@pytest.mark.parametrize("path", ["../x", "/x", "a\\b", "", "index.html/x"])
async def test_an_edit_at_an_odd_path_is_refused(tmp_path: Path, path: str) -> None:
    async with desk(tmp_path, SCRIPTS) as studio:
        project, first = await studio.built(BuildRequest(text="A page", models=("good",)))
        with pytest.raises(HealdError):
            await studio.studio.edit(OWNER, project.id, VariantRef(first.id, 0), {path: b"x"})
        assert len((await studio.studio.get(OWNER, project.id)).versions) == 1


async def test_without_a_model_there_is_one_sentence_and_no_project(tmp_path: Path) -> None:
    async with desk(tmp_path, {}) as studio:
        with pytest.raises(
            HealdError, match=r"There is no model to build with; set a key, or install the local converter: "
        ):
            await studio.studio.create(OWNER, BuildRequest(text="A page"))
        assert (await studio.studio.list(OWNER)).projects == []


async def test_projects_are_their_owners(tmp_path: Path) -> None:
    async with desk(tmp_path, SCRIPTS) as studio:
        project, first = await studio.built(BuildRequest(text="A page", models=("good",)))
        base = VariantRef(first.id, 0)
        do = studio.studio
        for attempt in (
            do.get("bob", project.id),
            do.files("bob", project.id, base),
            do.cancel("bob", project.id, base),
            do.retry("bob", project.id, base),
            do.choose("bob", project.id, base),
            do.edit("bob", project.id, base, {"a": b""}),
            do.restore("bob", project.id, base),
            do.update("bob", project.id, base, BuildRequest(text="x")),
            do.rename("bob", project.id, "x"),
            do.undo("bob", project.id),
            do.redo("bob", project.id),
            do.choose_try("bob", project.id, base, 1),
            do.remove_variant("bob", project.id, base),
            do.delete("bob", project.id),
        ):
            with pytest.raises(HealdError, match="There is no project"):
                await attempt
        assert (await do.list("bob")).projects == []
        variant = first.variants[0]
        with pytest.raises(HealdError, match="There is no project"):
            await do.get(OWNER, variant.session)  # a session is not a project
