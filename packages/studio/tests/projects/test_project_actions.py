"""Every action of a project is undone and done again, and a retry keeps the pages before it."""

from pathlib import Path

import msgspec
import pytest

import heald
from heald.agent.model_chain import ModelLike
from heald.core.errors import HealdError, ServerFault
from heald.sessions.store_errors import NoSuchSession
from heald_studio.projects import actions
from heald_studio.projects.actions import CannotUndo, next_redo, next_undo
from heald_studio.projects.direct_edit import ElementChange
from heald_studio.projects.pages import PageChange
from heald_studio.projects.project import Project, Variant, VariantRef, Version, newest_page
from heald_studio.request import BuildRequest
from studio_support import OWNER, S, desk, page, writes


class Outcomes:
    """Opens a model for each try: a page of its number, or the failure of this number."""

    def __init__(self, *failures: int) -> None:
        self.count = 0
        self._failures = failures

    def __call__(self) -> ModelLike:
        self.count += 1
        if self.count in self._failures:
            return heald.testing.ScriptedModel([[S.fail(ServerFault("The provider is out of order."))]] * 20)
        return writes(page(f"Page {self.count}"))()


def undo_text(project: Project) -> str | None:
    action = next_undo(project)
    return action.text if action is not None else None


async def test_a_retry_keeps_the_page_before_it(tmp_path: Path) -> None:
    async with desk(tmp_path, {"one": Outcomes()}) as studio:
        do = studio.studio
        project, first = await studio.built(BuildRequest(text="A page", models=("one",)))
        base = VariantRef(first.id, 0)
        pages = [await do.files(OWNER, project.id, base)]
        await do.retry(OWNER, project.id, base)
        version = await do.wait_version(OWNER, project.id, first.id)
        variant = version.variants[0]
        assert (variant.number, [attempt.number for attempt in variant.tries]) == (2, [1, 2])
        pages.append(await do.files(OWNER, project.id, base))
        assert pages[0] != pages[1]
        await do.choose_try(OWNER, project.id, base, 1)
        assert await do.files(OWNER, project.id, base) == pages[0]
        await do.choose_try(OWNER, project.id, base, 2)
        assert await do.files(OWNER, project.id, base) == pages[1]
        preview = await do.preview(OWNER, project.id, base, number=1)
        answer = preview.answer("index.html")
        assert answer is not None
        assert answer.body == pages[0]["index.html"]
        with pytest.raises(HealdError, match="The variant has no try 3; it has 2"):
            await do.choose_try(OWNER, project.id, base, 3)
        sessions = [attempt.session for attempt in variant.tries]
        await do.delete(OWNER, project.id)
        for session in sessions:
            with pytest.raises(NoSuchSession):
                await studio.context.sessions.store.info(session)


async def test_a_retry_that_fails_leaves_the_page_before_it(tmp_path: Path) -> None:
    async with desk(tmp_path, {"one": Outcomes(2)}) as studio:
        do = studio.studio
        project, first = await studio.built(BuildRequest(text="A page", models=("one",)))
        base = VariantRef(first.id, 0)
        files = await do.files(OWNER, project.id, base)
        retried = await do.retry(OWNER, project.id, base)
        assert retried.variants[0].number == 2
        version = await do.wait_version(OWNER, project.id, first.id)
        variant = version.variants[0]
        assert (variant.number, variant.status) == (1, "completed")
        assert [(attempt.number, attempt.status) for attempt in variant.tries] == [(1, "completed"), (2, "failed")]
        assert await do.files(OWNER, project.id, base) == files
        assert undo_text(await do.get(OWNER, project.id)) is None  # it changed nothing
        await do.retry(OWNER, project.id, base)
        version = await do.wait_version(OWNER, project.id, first.id)
        assert (version.variants[0].number, version.variants[0].status) == (3, "completed")


async def test_a_retry_of_a_failure_takes_its_place(tmp_path: Path) -> None:
    async with desk(tmp_path, {"one": Outcomes(1, 2)}) as studio:
        do = studio.studio
        project, first = await studio.built(BuildRequest(text="A page", models=("one",)))
        base = VariantRef(first.id, 0)
        for number, status in ((2, "failed"), (3, "completed")):
            await do.retry(OWNER, project.id, base)
            version = await do.wait_version(OWNER, project.id, first.id)
            assert (version.variants[0].number, version.variants[0].status) == (number, status)


async def test_every_action_is_undone_and_redone(tmp_path: Path) -> None:
    async with desk(tmp_path, {"one": Outcomes()}) as studio:
        do = studio.studio
        project, first = await studio.built(BuildRequest(text="A page", models=("one", "one")))
        base, name = VariantRef(first.id, 0), project.id
        states = [await do.get(OWNER, name)]
        texts = [undo_text(states[0])]

        async def record() -> None:
            states.append(await do.get(OWNER, name))
            texts.append(undo_text(states[-1]))

        change = await do.update(OWNER, name, base, BuildRequest(text="Make it\n blue", models=("one",)))
        await do.wait_version(OWNER, name, change.id)
        await record()
        await do.retry(OWNER, name, base)
        await do.wait_version(OWNER, name, first.id)
        await record()
        await do.edit_element(OWNER, name, base, ElementChange(path="body > h1", text="Hello", style={"color": "red"}))
        await record()
        await do.edit_pages(OWNER, name, base, PageChange(action="add", name="About"))
        await record()
        await do.edit(OWNER, name, base, {"index.html": b"<h1>Mine</h1>"})
        await record()
        await do.restore(OWNER, name, base)
        await record()
        await do.rename(OWNER, name, "Harbour")
        await record()
        await do.remove_variant(OWNER, name, VariantRef(first.id, 1))
        await record()
        assert texts == [
            None,
            "change “Make it blue”",
            "retry of variant 1 of version 1",
            "edit of h1 (text, color)",
            "new page “About”",
            "edit of index.html",
            "restore version 1",
            "rename to “Harbour”",
            "removal of variant 2 of version 1",
        ]
        for state in reversed(states[:-1]):
            undone = await do.undo(OWNER, name)
            assert (undone.title, _chosen(undone)) == (state.title, _chosen(state))
        with pytest.raises(CannotUndo, match="There is nothing to undo"):
            await do.undo(OWNER, name)
        assert len((await do.get(OWNER, name)).versions) == len(states[-1].versions)  # nothing is deleted
        for state in states[1:]:
            redone = await do.redo(OWNER, name)
            assert (redone.current, redone.title, _chosen(redone)) == (state.current, state.title, _chosen(state))
        with pytest.raises(CannotUndo, match="There is nothing to redo"):
            await do.redo(OWNER, name)


def _chosen(project: Project) -> list[tuple[str, int, int, bool]]:
    """The try and the presence of each variant of the first version."""
    return [(project.versions[0].id, item.index, item.number, item.removed) for item in project.versions[0].variants]


async def test_undoing_a_change_shows_the_page_before_it_to_everyone(tmp_path: Path) -> None:
    async with desk(tmp_path, {"one": Outcomes()}) as studio:
        do = studio.studio
        project, first = await studio.built(BuildRequest(text="A page", models=("one",)))
        base = VariantRef(first.id, 0)
        edited = await do.edit(OWNER, project.id, base, {"index.html": b"<h1>Mine</h1>"})
        assert newest_page(await do.get(OWNER, project.id)) == VariantRef(edited.id, 0)
        undone = await do.undo(OWNER, project.id)
        assert (undone.current, newest_page(undone)) == (first.id, base)
        assert next_redo(undone) is not None
        other = await do.edit(OWNER, project.id, base, {"index.html": b"<h1>Other</h1>"})
        project = await do.get(OWNER, project.id)
        assert (project.current, next_redo(project), other.number) == (other.id, None, 3)


async def test_an_action_that_is_not_the_expected_one_is_left(tmp_path: Path) -> None:
    async with desk(tmp_path, {"one": Outcomes()}) as studio:
        do = studio.studio
        project, _ = await studio.built(BuildRequest(text="A page", models=("one",)))
        renamed = next_undo(await do.rename(OWNER, project.id, "One"))
        assert renamed is not None
        await do.rename(OWNER, project.id, "Two")
        with pytest.raises(CannotUndo, match="changed meanwhile"):
            await do.undo(OWNER, project.id, renamed.id)
        assert (await do.get(OWNER, project.id)).title == "Two"


async def test_the_last_variant_and_one_at_work_are_not_removed(tmp_path: Path) -> None:
    scripts = {"one": Outcomes(), "slow": lambda: S([["word " * 2000]], pause=0.05)}
    async with desk(tmp_path, scripts) as studio:
        do = studio.studio
        project, first = await studio.built(BuildRequest(text="A page", models=("one",)))
        with pytest.raises(HealdError, match="at least one variant"):
            await do.remove_variant(OWNER, project.id, VariantRef(first.id, 0))
        running = await do.create(OWNER, BuildRequest(text="A page", models=("slow", "slow")))
        with pytest.raises(HealdError, match="still running; stop it before you remove it"):
            await do.remove_variant(OWNER, running.id, VariantRef(running.versions[0].id, 1))
        await do.delete(OWNER, running.id)


def test_a_project_that_recorded_no_actions_is_undone_by_its_versions() -> None:
    variants = [Variant(index=0, session="ses_1", model="one", status="completed")]
    made = [
        Version(id="ver_1", number=1, kind="create", created=1.0, variants=variants),
        Version(id="ver_2", number=2, kind="update", created=2.0, variants=variants, text="Blue"),
    ]
    old = Project(id="prj_1", title="Old", stack="html_css", created=1.0, updated=2.0, versions=made)
    assert undo_text(old) == "change “Blue”"
    undone = actions.undo(old)
    assert undone.current == "ver_1"
    assert actions.redo(undone).current == "ver_2"
    third = msgspec.structs.replace(made[1], id="ver_3", number=3, text="Red")
    added = actions.record_version(old, third, "change “Red”")
    assert [action.text for action in added.actions] == ["change “Blue”", "change “Red”"]
