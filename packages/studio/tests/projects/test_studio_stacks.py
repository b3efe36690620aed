"""Every stack from a picture to its files, events, preview and exports."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from heald.core.events import FileChanged, FilePreview
from heald_studio.cdn.packages import MISSING, is_installed
from heald_studio.export.files import zip_project
from heald_studio.export.single_page import single_page
from heald_studio.preview.preview import PAGE
from heald_studio.projects.project import VariantRef
from heald_studio.request import BuildRequest
from heald_studio.stacks.installed import find_stack, load_stacks
from studio_support import OWNER, S, desk, view, writes

needs_libraries = pytest.mark.skipif(not is_installed(), reason=MISSING)


@needs_libraries
@pytest.mark.parametrize("name", list(load_stacks()))
async def test_a_stack_from_picture_to_export(
    tmp_path: Path, name: str, sample: Callable[[str], dict[str, str | bytes]]
) -> None:
    files = sample(name)
    written = {path: text for path, text in files.items() if isinstance(text, str)}
    pictures = {path: data for path, data in files.items() if isinstance(data, bytes)}
    async with desk(tmp_path, writes(written)) as studio:
        project, version = await studio.built(
            BuildRequest(stack=name, views=(view(),), mode="image", files=pictures, variants=2)
        )
        assert {variant.status for variant in version.variants} == {"completed"}
        await studio.check(version)
        made = await studio.studio.files(OWNER, project.id, VariantRef(version.id, 0))
        for variant in version.variants:
            built = await studio.studio.files(OWNER, project.id, VariantRef(version.id, variant.index))
            expected = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
            assert dict(built) == expected
            log = await studio.log(variant)
            previews = [event.data for event in log if isinstance(event.data, FilePreview)]
            assert (
                "".join(draft.text for draft in previews if draft.path == find_stack(name).entry)
                == written[find_stack(name).entry]
            )
            assert {event.data.path for event in log if isinstance(event.data, FileChanged)} == set(written)
        preview = await studio.studio.preview(OWNER, project.id, VariantRef(version.id, 0), at="/p/")
        answer = preview.answer(PAGE)
        assert answer is not None
        assert answer.status == 200
        assert b"https://cdn" not in answer.body
        packed = zipfile.ZipFile(io.BytesIO(zip_project(made, "harbour")))
        assert {path.split("/", 1)[-1] for path in packed.namelist()} >= set(files)
        assert "arbour" in single_page(find_stack(name), made, title=project.title)


async def test_a_project_of_several_files_begins_with_those_of_its_stack(tmp_path: Path) -> None:
    app = "export default function App() {\n  return <h1>Harbour</h1>;\n}\n"
    async with desk(tmp_path, writes({"src/App.jsx": app})) as studio:
        project, version = await studio.built(BuildRequest(stack="react_vite", text="A harbour.", variants=1))
        made = await studio.studio.files(OWNER, project.id, VariantRef(version.id, 0))
        assert set(made) >= set(find_stack("react_vite").scaffold)
        assert made["src/App.jsx"] == app.encode()
        assert "starts with these files" in "".join(str(message) for message in studio.asked("one"))


async def test_a_page_of_one_file_begins_empty(tmp_path: Path) -> None:
    async with desk(tmp_path, lambda: S(["I would rather not."])) as studio:
        project, version = await studio.built(BuildRequest(stack="html_css", text="A harbour.", variants=1))
        assert await studio.studio.files(OWNER, project.id, VariantRef(version.id, 0)) == {}
        preview = await studio.studio.preview(OWNER, project.id, VariantRef(version.id, 0))
        assert preview.answer(PAGE) is None


async def test_an_unknown_stack_is_one_sentence_and_cleans_up(tmp_path: Path) -> None:
    async with desk(tmp_path, lambda: S(["Hello."])) as studio:
        with pytest.raises(Exception, match=r"There is no stack 'cobol'; choose one of html_tailwind, "):
            await studio.studio.create(OWNER, BuildRequest(stack="cobol", text="A page"))
        assert (await studio.studio.list(OWNER)).projects == []
