"""Own prompts and stacks of `Studio`: they are used at once, and what is wrong with them is one sentence."""

from pathlib import Path

import pytest

from heald.core.errors import ConfigurationError
from heald_studio import BuildRequest, Studio, VariantRef
from studio_support import OWNER, desk, page, texts_of, writes

OWN_STACK = """+++
label = "House style"
entry = "home.html"
preview = "page"
+++
Use no library at all.

# File: home.html

```html
<!doctype html>
```
"""


def folder(parent: Path, **files: str | bytes) -> Path:
    made = parent / "own"
    made.mkdir(exist_ok=True)
    for name, text in files.items():
        (made / f"{name}.md").write_bytes(text.encode() if isinstance(text, str) else text)
    return made


async def test_an_own_stack_is_built_and_previewed(tmp_path: Path) -> None:
    stacks = folder(tmp_path, house=OWN_STACK, README="How we write stacks.")
    async with desk(tmp_path, writes({"home.html": page("Own")}), stacks=str(stacks)) as studio:
        assert list(studio.studio.stacks())[-1] == "house"
        assert "html_css" in studio.studio.stacks()
        project, version = await studio.built(BuildRequest(text="A page", stack="house", variants=1))
        assert project.stack == "house"
        assert studio.studio.entry_of(project) == "home.html"
        assert "Use no library at all." in studio.instructions("one")
        preview = await studio.studio.preview(OWNER, project.id, VariantRef(version.id, 0))
        answer = preview.answer("index.html")
        assert answer is not None
        assert b"<h1>Own</h1>" in answer.body


async def test_a_project_outlives_its_stack(tmp_path: Path) -> None:
    stacks = folder(tmp_path, house=OWN_STACK, other=OWN_STACK)
    async with desk(tmp_path, writes({"home.html": page()}), stacks=stacks) as studio:
        project, _ = await studio.built(BuildRequest(text="A page", stack="house", variants=1))
        (stacks / "house.md").unlink()
        assert studio.studio.entry_of(await studio.studio.get(OWNER, project.id)) == "index.html"
        with pytest.raises(ConfigurationError, match="There is no stack 'house'; choose one of html_tailwind"):
            await studio.studio.create(OWNER, BuildRequest(text="A page", stack="house"))


async def test_own_prompts_are_sent(tmp_path: Path) -> None:
    prompts = folder(tmp_path, create_text="Please build {{request}} for us.", system="You are our builder.")
    async with desk(tmp_path, writes(page()), prompts=prompts) as studio:
        await studio.built(BuildRequest(text="a harbour", variants=1))
        assert texts_of(studio.asked("one")[-1]) == "Please build a harbour for us."
        assert studio.instructions("one").endswith("You are our builder.")
        (prompts / "create_text.md").write_text("Changed: {{request}}")
        await studio.built(BuildRequest(text="a harbour", variants=1))
        assert texts_of(studio.asked("one", 1)[-1]) == "Changed: a harbour"


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({}, r"The folder .*own for stacks has no \.md file; put one there or name another\."),
        ({"house": "Rules only."}, r"own/house\.md has no settings; begin the file with them between two lines"),
        ({"house": OWN_STACK.replace('"page"', '"flash"')}, r"own/house\.md has no preview 'flash'; choose page, svg"),
        ({"house": OWN_STACK.replace("# File: home", "# File: ../home")}, r"own/house\.md names a file that cannot"),
        ({"My-Stack": OWN_STACK}, r"A stack cannot be called 'My-Stack'; name its file with small letters"),
        ({"house": b"\xff"}, r"own/house\.md is not UTF-8 text; save it as UTF-8\."),
        ({"house": "x" * 300_000}, r"own/house\.md is larger than 256,000 bytes; shorten it\."),
    ],
)
async def test_a_wrong_stack_is_one_sentence(tmp_path: Path, files: dict[str, str | bytes], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        async with desk(tmp_path, writes(page()), stacks=folder(tmp_path, **files)):
            pass


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({}, r"The folder .*own for prompts has no \.md file"),
        ({"sytem": "You build."}, r"own/sytem\.md replaces no prompt; name it agent, .*, update with \.md\."),
        ({"update": "{{wish}}"}, r"own/update\.md names {{wish}}; the places in it are: request\."),
    ],
)
async def test_a_wrong_prompt_is_one_sentence(tmp_path: Path, files: dict[str, str | bytes], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        async with desk(tmp_path, writes(page()), prompts=folder(tmp_path, **files)):
            pass


@pytest.mark.parametrize("option", ["prompts", "stacks"])
async def test_a_folder_that_is_none_is_named(tmp_path: Path, option: str) -> None:
    (tmp_path / "file").write_text("x")
    for name, why in (("none", "No such file or directory"), ("file", "Not a directory")):
        sentence = f"The folder .*{name} for {option} cannot be read: {why}; create it or name another."
        with pytest.raises(ConfigurationError, match=sentence):
            async with desk(tmp_path, writes(page()), **{option: tmp_path / name}):
                pass


def test_the_door_shows_the_class_that_is_used() -> None:
    assert Studio.__module__ == "heald_studio.studio"
