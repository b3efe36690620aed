"""Every kind of input reaches the models as it should; what cannot be used is one sentence, and nothing is begun."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import heald
from heald.core.errors import HealdError
from heald_studio.input.load import load_picture
from heald_studio.input.projects import read_project
from heald_studio.input.video import read_video
from heald_studio.projects.project import VariantRef
from heald_studio.prompt.design_system import parse_design_system
from heald_studio.prompt.request import ChosenElement
from heald_studio.request import BuildRequest, View
from heald_studio.server.bodies import PromptBody, SelectedBody, SourceBody
from heald_studio.server.briefs import read_brief
from studio_support import OWNER, S, desk, images_of, page, picture, texts_of, view, writes


def _animation() -> bytes:
    """A recording in which the picture changes three times."""
    frames = [Image.new("RGB", (120, 80), colour) for colour in ("white", "navy", "orange", "green")]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=800, loop=0)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "HEIF"])
async def test_a_picture_of_any_kind_is_shown_and_kept(tmp_path: Path, kind: str) -> None:
    if kind == "HEIF":
        pytest.importorskip("pillow_heif").register_heif_opener()
    async with desk(tmp_path, writes(page())) as studio:
        loaded = await load_picture(picture(kind))
        project, version = await studio.built(BuildRequest(views=(View(loaded),), mode="image", variants=1))
        (message,) = studio.asked("one")
        (sent,) = images_of(message)
        assert sent.media_type in ("image/png", "image/jpeg")
        (target,) = project.targets
        assert (target.width, target.height) == (160, 100)
        assert await studio.context.sessions.store.blob(project.id, target.blob) == loaded.data
        assert version.pictures == [target]
        await studio.check(version)


async def test_several_pictures_are_shown_in_order_with_their_names(tmp_path: Path) -> None:
    views = (view(picture(colour="navy"), "On a desktop"), view(picture(size=(60, 120)), "On a phone"))
    async with desk(tmp_path, writes(page())) as studio:
        project, _ = await studio.built(BuildRequest(views=views, mode="image", text="Sticky header.", variants=1))
        (message,) = studio.asked("one")
        assert len(images_of(message)) == 2
        words = texts_of(message)
        assert words.index("On a desktop:") < words.index("On a phone:")
        assert "Sticky header." in words
        assert [target.label for target in project.targets] == ["On a desktop", "On a phone"]


async def test_words_alone_build_a_page(tmp_path: Path) -> None:
    async with desk(tmp_path, writes(page())) as studio:
        project, version = await studio.built(BuildRequest(text="A page for\na bakery", variants=1))
        assert "A page for\na bakery" in texts_of(studio.asked("one")[0])
        assert (project.title, version.text, project.targets) == ("A page for a bakery", "A page for\na bakery", [])


async def test_a_recording_is_shown_as_moments(tmp_path: Path) -> None:
    frames = await read_video(_animation())
    views = tuple(View(frame.picture, frame.label) for frame in frames)
    async with desk(tmp_path, writes(page())) as studio:
        await studio.built(BuildRequest(views=views, mode="video", variants=1))
        (message,) = studio.asked("one")
        assert len(images_of(message)) == len(frames) >= 3
        assert "At 0.0 s:" in texts_of(message)


async def test_a_page_is_changed_and_not_built_anew(tmp_path: Path) -> None:
    def change() -> heald.testing.ScriptedModel:
        return S([[S.call("edit_file", path="index.html", old_text="<h1>Old", new_text="<h1>New")], "Done."])

    async with desk(tmp_path, change) as studio:
        brief = BuildRequest(text="Call it New.", files={"./index.html": page("Old").encode()})
        assert brief.variant_count == 2
        project, version = await studio.built(brief)
        assert [variant.status for variant in version.variants] == ["completed", "completed"]
        made = await studio.studio.files(OWNER, project.id, VariantRef(version.id, 1))
        assert made["index.html"].decode() == page("Old").replace("<h1>Old", "<h1>New")
        assert "<h1>Old</h1>" in texts_of(studio.asked("one")[0])
        await studio.check(version)


@pytest.mark.parametrize("kind", ["folder", "zip"])
async def test_a_folder_or_a_zip_is_where_a_project_begins(tmp_path: Path, kind: str) -> None:
    files = {"index.html": page("Old").encode(), "style/main.css": b"h1 { color: red }", "dot.png": picture()}
    source = tmp_path / "site"
    if kind == "folder":
        for path, data in files.items():
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            (source / path).write_bytes(data)
    else:
        source = tmp_path / "site.zip"
        with zipfile.ZipFile(source, "w") as archive:
            for path, data in files.items():
                archive.writestr(f"site/{path}", data)
    async with desk(tmp_path, writes({"about.html": page("About")})) as studio:
        brief = BuildRequest(text="Add a page about us.", files=read_project(source), stack="html_css", variants=1)
        project, version = await studio.built(brief)
        made = await studio.studio.files(OWNER, project.id, VariantRef(version.id, 0))
        assert dict(made) == files | {"about.html": page("About").encode()}
        words = texts_of(studio.asked("one")[0])
        assert "h1 { color: red }" in words
        assert "Other files: dot.png" in words


async def test_a_design_system_is_part_of_the_prompt_and_stays_with_the_project(tmp_path: Path) -> None:
    async with desk(tmp_path, writes(page())) as studio:
        brief = BuildRequest(text="A page", design_system=parse_design_system("Buttons are octagonal."), variants=1)
        project, version = await studio.built(brief)
        assert "Buttons are octagonal." in studio.instructions("one")
        second = await studio.studio.update(
            OWNER, project.id, VariantRef(version.id, 0), BuildRequest(text="More.", variants=1)
        )
        await studio.studio.wait_version(OWNER, project.id, second.id)
        last = studio.models.opened["one"][-1].requests[0]
        assert "Buttons are octagonal." in last.settings.system


async def test_a_chosen_element_is_named_with_its_place(tmp_path: Path) -> None:
    async with desk(tmp_path, writes(page())) as studio:
        project, version = await studio.built(BuildRequest(text="A page", variants=1))
        element = ChosenElement(html="<h1>Harbour</h1>", path="body > h1", index=1, count=1)
        brief = BuildRequest(text="Make it blue.", element=element, variants=1)
        second = await studio.studio.update(OWNER, project.id, VariantRef(version.id, 0), brief)
        await studio.studio.wait_version(OWNER, project.id, second.id)
        words = texts_of(studio.models.opened["one"][-1].requests[0].messages[-1])
        assert "<h1>Harbour</h1>" in words
        assert "body > h1" in words
        assert "index.html" in words


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        (PromptBody(images=[SourceBody(data="data:image/png;base64,iVBORw0KGgo=")]), "Picture 1"),
        (PromptBody(images=[SourceBody(data="data:image/png;base64,!!!")]), "Picture 1 is a data: URL whose base64"),
        (PromptBody(images=[SourceBody(data="data:image/svg+xml,<svg/>")]), "Picture 1 is an SVG drawing"),
        (PromptBody(images=[SourceBody(data="C:\\shot.png")]), "begins with data:"),
        (PromptBody(images=[SourceBody(url="file:///etc/passwd")]), "begins with https://"),
        (PromptBody(images=[SourceBody(url="http://127.0.0.1:9/x.png")]), "Picture 1 cannot be fetched"),
        (PromptBody(images=[SourceBody()]), "either as data or as a url"),
        (PromptBody(videos=[SourceBody(data="data:video/mp4;base64,aGVsbG8=")]), "The recording is not a recording"),
    ],
)
async def test_what_cannot_be_used_is_reported_in_one_sentence(prompt: PromptBody, sentence: str) -> None:
    with pytest.raises(HealdError) as caught:
        await read_brief(prompt)
    message = str(caught.value)
    assert sentence in message
    assert "\n" not in message
    assert message.endswith(".")


@pytest.mark.parametrize(
    ("brief", "sentence"),
    [
        (BuildRequest(), "There is nothing to build; give a picture, some words, or files."),
        (BuildRequest(text=" \n"), "There is nothing to build; give a picture, some words, or files."),
        (BuildRequest(text="A page", files={"../x.html": b""}), "'..'"),
        (BuildRequest(text="A page", files={"/etc/x": b""}), "An absolute path"),
        (BuildRequest(text="A page", files={"a": b"", "a/b": b""}), "is a file"),
    ],
)
async def test_a_brief_that_cannot_be_built_keeps_no_project(
    tmp_path: Path, brief: BuildRequest, sentence: str
) -> None:
    async with desk(tmp_path, writes(page())) as studio:
        with pytest.raises(HealdError) as caught:
            await studio.studio.create(OWNER, brief)
        assert sentence in str(caught.value)
        assert (await studio.studio.list(OWNER)).projects == []


async def test_a_selected_element_comes_from_the_client_as_it_is() -> None:
    chosen: dict[str, Any] = {"html": "<p>x</p>", "path": "p", "index": 2, "count": 3, "file": "a.html", "line": 7}
    brief = await read_brief(PromptBody(text="Change it.", selected=SelectedBody(**chosen)))
    assert brief.element == ChosenElement(**chosen)
