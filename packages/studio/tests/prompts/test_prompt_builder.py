"""The one builder: what a model is told in every mode."""

from pathlib import Path

import pytest

from heald.core.errors import ConfigurationError
from heald.core.messages import Image, Message, Text
from heald_studio.prompt.build import build_prompt
from heald_studio.prompt.design_system import DesignSystem
from heald_studio.prompt.request import ChosenElement, HistoryMessage, PromptRequest, Shot
from heald_studio.prompt.texts import PromptTexts, prompt_names
from heald_studio.stacks.installed import find_stack, load_stacks

PICTURE = Image(data="aGk=")
PAGE = find_stack("html_css")


def texts_of(message: Message) -> list[str]:
    return [block.text for block in message.content if isinstance(block, Text)]


@pytest.mark.parametrize("name", list(load_stacks()))
def test_the_system_text_holds_the_rules_of_the_stack(name: str) -> None:
    prompt = build_prompt(PromptRequest(shots=(Shot(PICTURE),)), find_stack(name))
    assert prompt.system.endswith(find_stack(name).rules.strip())
    assert f"# The stack: {find_stack(name).label}\n\n" in prompt.system
    assert "{{" not in prompt.system.replace("{{ title }}", "")
    assert "\n\n\n" not in prompt.system


def test_a_creation_from_a_picture() -> None:
    prompt = build_prompt(PromptRequest(text="In blue, please.", shots=(Shot(PICTURE),)), PAGE)
    assert [message.role for message in prompt.messages] == ["user"]
    assert prompt.messages[0].content[0] == PICTURE
    text = texts_of(prompt.messages[0])[-1]
    assert text == "Build a page that looks exactly like the picture.\n\nThe person adds:\n\nIn blue, please."
    bare = build_prompt(PromptRequest(shots=(Shot(PICTURE),)), PAGE)
    assert texts_of(bare.messages[0]) == ["Build a page that looks exactly like the picture."]


def test_several_pictures_are_numbered_or_named() -> None:
    prompt = build_prompt(PromptRequest(shots=(Shot(PICTURE), Shot(PICTURE, "The phone"))), PAGE)
    content = prompt.messages[0].content
    assert content[:4] == [Text("Picture 1:"), PICTURE, Text("The phone:"), PICTURE]
    assert "the 2 pictures, which show one design" in prompt.messages[0].text


def test_a_creation_from_words() -> None:
    prompt_text = build_prompt(PromptRequest(mode="text", text="A page for a harbour."), PAGE).messages[0].text
    assert prompt_text.startswith("Build this page:\n\nA page for a harbour.\n\n")


def test_without_a_picture_the_words_count() -> None:
    prompt_text = build_prompt(PromptRequest(mode="image", text="A harbour."), PAGE).messages[0].text
    assert prompt_text.startswith("Build this page:\n\nA harbour.")


def test_a_creation_from_a_recording() -> None:
    shots = (Shot(PICTURE, "At 0.0 s"), Shot(PICTURE, "At 2.5 s"))
    message = build_prompt(PromptRequest(mode="video", shots=shots), PAGE).messages[0]
    assert message.content[2] == Text("At 2.5 s:")
    assert "moments of one screen recording" in message.text


def test_a_project_of_several_files_starts_with_them() -> None:
    message = build_prompt(PromptRequest(shots=(Shot(PICTURE),)), find_stack("react_vite")).messages[0]
    assert message.text.startswith("The project starts with these files:\n\n<file path=")
    assert '<file path="src/main.jsx">\nimport { StrictMode } from "react";' in message.text


def test_a_change_shows_the_project_as_it_is() -> None:
    files = {"index.html": "<p>hi</p>", "app.js": "go();\n"}
    message = build_prompt(PromptRequest(text="Bigger.", files=files, assets=("dot.png",)), PAGE).messages[0]
    assert texts_of(message)[0] == (
        'The project as it is now:\n\n<file path="index.html">\n<p>hi</p>\n</file>\n'
        '<file path="app.js">\ngo();\n</file>\nOther files: dot.png\n\n'
    )
    assert texts_of(message)[-1] == "Change the project as follows. Leave everything else as it is.\n\nBigger."


def test_only_tools_that_there_are_are_spoken_of() -> None:
    request = PromptRequest(shots=(Shot(PICTURE),))
    assert "# Tools" not in build_prompt(request, PAGE).system
    system = build_prompt(request, PAGE, tools=["create_file", "screenshot_preview"]).system
    assert "# Tools besides the file tools\n\n- `screenshot_preview`: look at" in system
    assert "`generate_images`" not in system
    assert "broken or reported in the console" in system


def test_a_design_system_comes_last() -> None:
    design = DesignSystem("Fjord", "Primary: #0a3d62")
    system = build_prompt(PromptRequest(design_system=design), PAGE).system
    assert "# The design system: Fjord\n\n" in system
    assert system.endswith("\n\nPrimary: #0a3d62")
    assert "design system" not in build_prompt(PromptRequest(design_system=DesignSystem("x", " ")), PAGE).system


def test_an_element_is_reported_precisely() -> None:
    files = {"index.html": '<ul>\n<li class="a">1</li>\n<li class="a">2</li>\n</ul>'}
    element = ChosenElement(html='<li class="a">2</li>', path="ul > li:nth-child(2)", index=2, count=2)
    prompt_text = build_prompt(PromptRequest(text="Red.", files=files, element=element), PAGE).messages[0].text
    assert (
        'chose in the preview, number 2 of the 2 that look alike:\n\n```html\n<li class="a">2</li>\n```' in prompt_text
    )
    assert prompt_text.endswith(
        "It is written in `index.html`, line 3. Its place in the page is `ul > li:nth-child(2)`."
    )


def test_nothing_in_a_request_is_treated_as_a_place() -> None:
    prompt_text = (
        build_prompt(PromptRequest(mode="text", text="Write {{request}} and {{rules}} on it."), PAGE).messages[0].text
    )
    assert "Write {{request}} and {{rules}} on it." in prompt_text


def test_what_does_not_fit_is_named() -> None:
    files = {"big.js": "x\n" * 50_000, "index.html": "<p>small</p>\n"}
    prompt = build_prompt(PromptRequest(text="Go.", files=files), PAGE, budget=20_000)
    prompt_text = prompt.messages[0].text
    assert '<file path="index.html">\n<p>small</p>\n</file>' in prompt_text
    assert '<file path="big.js" lines="50001" left-out="read it with read_file"/>' in prompt_text
    assert len(prompt.system) + len(prompt_text) < 20_000


def test_words_before_an_answer_join_the_request() -> None:
    history = (
        HistoryMessage(role="user", text="One."),
        HistoryMessage(role="user", text="Two.", shots=(Shot(PICTURE),)),
    )
    prompt = build_prompt(PromptRequest(mode="text", text="Three.", history=history), PAGE)
    assert [message.role for message in prompt.messages] == ["user"]
    assert PICTURE in prompt.messages[0].content
    assert all(word in prompt.messages[0].text for word in ("One.", "Two.", "Three."))


def test_a_folder_of_texts_stands_in_for_ours(tmp_path: Path) -> None:
    (tmp_path / "create_text.md").write_text("Only: {{request}}\n")
    request = PromptRequest(mode="text", text="boats")
    assert build_prompt(request, PAGE, texts=PromptTexts(tmp_path)).messages[0].text == "Only: boats"
    assert build_prompt(request, PAGE, texts=PromptTexts(tmp_path)).system == build_prompt(request, PAGE).system


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"{{wish}}", r"create_text.md names {{wish}}; the places in it are: request\."),
        (b"\xff", "is not UTF-8 text"),
        (b"x" * 300_000, "is larger than"),
    ],
)
def test_a_wrong_text_is_one_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    (tmp_path / "create_text.md").write_bytes(content)
    with pytest.raises(ConfigurationError, match=sentence):
        build_prompt(PromptRequest(mode="text", text="x"), PAGE, texts=PromptTexts(tmp_path))


def test_every_text_is_there_to_be_read() -> None:
    assert {"system", "tools", "create_image", "create_text", "create_video", "update", "element"} <= set(
        prompt_names()
    )
    assert all(PromptTexts().template(name).strip() for name in prompt_names())
