"""What a variant without a page is, imported pages, titles from pages, and retries in their place."""

import asyncio
from pathlib import Path

import pytest

import heald
from heald.agent.model_chain import ModelLike
from heald.core.errors import ConfigurationError, HealdError, ServerFault
from heald.core.json import encode_text
from heald.sessions.store_errors import NoSuchSession
from heald_studio.default_models import rank_models
from heald_studio.preview.page_title import read_title
from heald_studio.projects.project import VariantRef
from heald_studio.request import BuildRequest
from heald_studio.stacks.guess import guess_stack
from studio_support import OWNER, S, Script, desk, page, view, writes


def _failing() -> heald.testing.ScriptedModel:
    return S([["I begin. ", S.fail(ServerFault("The provider is out of order."))]] * 20)


def _talks() -> heald.testing.ScriptedModel:
    return S(["I would rather talk about something else."])


async def test_a_variant_without_a_page_failed_and_says_why(tmp_path: Path) -> None:
    scripts: dict[str, Script] = {"talks": _talks, "elsewhere": writes({"notes.txt": "No page."})}
    async with desk(tmp_path, scripts) as studio:
        _, version = await studio.built(BuildRequest(text="A page", models=("talks", "elsewhere")))
        for variant in version.variants:
            assert variant.status == "failed"
            assert variant.error is not None
            assert variant.error.message.startswith("The model wrote no page; retry it, ")
        talks = version.variants[0].error
        assert talks is not None
        assert talks.message.endswith("It answered: I would rather talk about something else.")
        await studio.check(version)


async def test_a_change_that_changes_nothing_is_marked(tmp_path: Path) -> None:
    async with desk(tmp_path, {"good": writes(page("Good")), "talks": _talks}) as studio:
        project, first = await studio.built(BuildRequest(text="A page", models=("good",)))
        change = BuildRequest(text="Which font is it?", models=("talks", "good"))
        second = await studio.studio.update(OWNER, project.id, VariantRef(first.id, 0), change)
        second = await studio.studio.wait_version(OWNER, project.id, second.id)
        assert [variant.status for variant in second.variants] == ["completed", "completed"]
        assert second.variants[0].note == "Nothing was changed."


async def test_an_imported_page_is_the_first_version_and_asks_no_model(tmp_path: Path) -> None:
    source = b"<!doctype html><title>Harbour Cafe</title><h1>Coffee</h1>"
    async with desk(tmp_path, {"good": writes(page("Good"))}) as studio:
        brief = BuildRequest(files={"index.html": source}, stack="html_css")
        project = await studio.studio.import_files(OWNER, brief)
        version = project.versions[0]
        assert (version.number, version.kind, version.base) == (1, "import", None)
        assert (project.title, version.variants[0].status) == ("Harbour Cafe", "completed")
        assert (version.variants[0].cost_usd, version.variants[0].turns, version.request) == (None, 0, "")
        files = await studio.studio.files(OWNER, project.id, VariantRef(version.id, 0))
        assert dict(files) == {"index.html": source}
        assert not studio.models.opened
        change = BuildRequest(text="Larger.", models=("good",))
        second = await studio.studio.update(OWNER, project.id, VariantRef(version.id, 0), change)
        second = await studio.studio.wait_version(OWNER, project.id, second.id)
        assert second.variants[0].status == "completed"
        assert encode_text(source.decode())[1:-1] in encode_text(studio.asked("good"))
        with pytest.raises(ConfigurationError, match=r"the files need index\.html"):
            await studio.studio.import_files(OWNER, BuildRequest(files={"a.txt": b"x"}, stack="html_css"))


async def test_a_project_without_words_is_named_by_its_page(tmp_path: Path) -> None:
    async with desk(tmp_path, {"good": writes(page("Harbour"))}) as studio:
        project, _ = await studio.built(BuildRequest(views=(view(),), models=("good",)))
        assert project.title == "Harbour"
        named, _ = await studio.built(BuildRequest(text="A page about boats", models=("good",)))
        assert named.title == "A page about boats"
        renamed = await studio.studio.create(OWNER, BuildRequest(views=(view(),), models=("good",)))
        await studio.studio.rename(OWNER, renamed.id, "Mine")
        await studio.studio.wait_version(OWNER, renamed.id, renamed.versions[0].id)
        assert (await studio.studio.get(OWNER, renamed.id)).title == "Mine"


async def test_all_that_failed_is_retried_in_its_place(tmp_path: Path) -> None:
    broken = [True]

    def model() -> ModelLike:
        return _failing() if broken[0] else writes(page("Found"))()

    async with desk(tmp_path, {"good": writes(page("Good")), "broken": model}) as studio:
        models = ("broken", "good", "broken")
        project, first = await studio.built(BuildRequest(text="A page", models=models))
        before = [variant.session for variant in first.variants]
        assert [variant.status for variant in first.variants] == ["failed", "completed", "failed"]
        broken[0] = False
        retried = await studio.studio.retry_failed(OWNER, project.id, first.id)
        assert retried.id == first.id
        version = await studio.studio.wait_version(OWNER, project.id, first.id)
        assert [variant.status for variant in version.variants] == ["completed"] * 3
        assert [variant.model for variant in version.variants] == list(models)
        assert [variant.session == old for variant, old in zip(version.variants, before, strict=True)] == [
            False,
            True,
            False,
        ]
        tries = [[attempt.session for attempt in variant.other_tries] for variant in version.variants]
        assert tries == [[before[0]], [], [before[2]]]
        with pytest.raises(HealdError, match="No variant of this version failed"):
            await studio.studio.retry_failed(OWNER, project.id, first.id)
        store = studio.context.sessions.store
        await studio.studio.delete(OWNER, project.id)
        for session in before:
            with pytest.raises(NoSuchSession):
                await store.info(session)


async def test_two_retries_at_once_start_one_attempt(tmp_path: Path) -> None:
    async with desk(tmp_path, {"broken": _failing}) as studio:
        project, first = await studio.built(BuildRequest(text="A page", models=("broken",)))
        base = VariantRef(first.id, 0)
        both = await asyncio.gather(
            studio.studio.retry(OWNER, project.id, base),
            studio.studio.retry(OWNER, project.id, base),
            return_exceptions=True,
        )
        assert sum(isinstance(outcome, HealdError) for outcome in both) == 1
        version = await studio.studio.wait_version(OWNER, project.id, first.id)
        assert len(version.variants[0].tries) == 2


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("<title>Harbour</title><h1>Other</h1>", "Harbour"),
        ("<title>Document</title><h1>Fish &amp; <b>Chips</b></h1>", "Fish & Chips"),
        ("<h2>Second</h2><h1>First</h1>", "Second"),
        ("<p>No heading</p>", ""),
        ("<title>Vite + React</title>", ""),
    ],
)
def test_the_title_of_a_page(source: str, title: str) -> None:
    assert read_title({"index.html": source.encode()}, "index.html") == title


@pytest.mark.parametrize(
    ("source", "stack"),
    [
        ("<!doctype html><p>plain</p>", "html_css"),
        ('<script src="https://cdn.tailwindcss.com"></script>', "html_tailwind"),
        ('<script src="https://cdn.tailwindcss.com"></script><script type="text/babel"></script>', "react_tailwind"),
        ('<script src="https://unpkg.com/vue@3/dist/vue.global.js"></script>', "vue_tailwind"),
        ('<link href="https://cdn.jsdelivr.net/npm/bootstrap@5.3.0/dist/css/bootstrap.min.css">', "bootstrap"),
        ('<svg xmlns="http://www.w3.org/2000/svg"></svg>', "svg"),
    ],
)
def test_the_stack_of_an_imported_page(source: str, stack: str) -> None:
    assert guess_stack(source) == stack


def test_the_newest_general_models_come_first() -> None:
    offered = [
        "anthropic/claude-2",
        "anthropic/claude-opus-4-6",
        "anthropic/claude-haiku-4-6",
        "anthropic/claude-3-5-sonnet",
        "openai/gpt-3.5-turbo",
        "openai/gpt-5.2",
        "openai/gpt-4o-audio-preview",
        "openai-chat/gpt-5.2",
        "local/vision",
    ]
    assert rank_models(offered) == [
        "anthropic/claude-opus-4-6",
        "openai/gpt-5.2",
        "anthropic/claude-haiku-4-6",
        "anthropic/claude-3-5-sonnet",
    ]
    assert rank_models(offered, "openai/gpt-4")[0] == "openai/gpt-4"
