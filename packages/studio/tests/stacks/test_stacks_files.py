"""Each stack is one file: what stands in it, what is said when it is wrong, and stacks of one's own."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heald.core.errors import ConfigurationError
from heald_studio.stacks.installed import find_stack, load_stacks
from heald_studio.stacks.stack_file import parse_stack

ALL = list(load_stacks())
GOOD = '+++\nlabel = "Mine"\nentry = "index.html"\npreview = "page"\n+++\nRules.\n\n# File: a/b.txt\n\n```\none\n```\n'


def test_there_are_the_eleven() -> None:
    assert set(ALL) == {
        "html_css",
        "html_tailwind",
        "react_tailwind",
        "vue_tailwind",
        "bootstrap",
        "ionic_tailwind",
        "svg",
        "react_vite",
        "next_shadcn",
        "svelte_vite",
        "astro_tailwind",
    }


@pytest.mark.parametrize("name", ALL)
def test_a_stack_has_rules_and_starts_with_its_entry(name: str) -> None:
    stack = find_stack(name)
    assert stack.label
    assert len(stack.rules) > 200
    assert stack.entry in stack.scaffold
    assert "# File" not in stack.rules
    assert all(text.endswith("\n") for text in stack.scaffold.values())


def test_the_project_with_a_build_is_complete() -> None:
    files = find_stack("react_vite").scaffold
    assert {"package.json", "vite.config.js", "index.html", "src/main.jsx", "src/App.jsx", "src/index.css"} <= set(
        files
    )
    assert not find_stack("react_vite").is_single_file
    assert find_stack("html_css").is_single_file


@pytest.mark.parametrize("name", [name for name in ALL if find_stack(name).is_built])
def test_a_project_has_scripts_and_ignores_what_is_built(name: str) -> None:
    files = find_stack(name).scaffold
    package = json.loads(files["package.json"])
    assert {"dev", "build"} <= set(package["scripts"])
    assert all(re.fullmatch(r"\^\d+\.\d+\.\d+", version) for version in package["devDependencies"].values())
    assert "node_modules" in files[".gitignore"]


def test_an_unknown_stack_states_which_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"no stack 'cobol'; choose one of html_tailwind, .*react_vite"):
        find_stack("cobol")


def test_a_file_is_read_with_its_fence() -> None:
    text = GOOD + "\n# File: c.md\n\n````md\n```\ninside\n```\n````\n"
    assert parse_stack("mine", text).scaffold == {"a/b.txt": "one\n", "c.md": "```\ninside\n```\n"}
    assert parse_stack("mine", text).rules == "Rules.\n"
    assert parse_stack("mine", text.replace("\n", "\r\n")) == parse_stack("mine", text)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("Mine!", GOOD, "cannot be called"),
        ("mine", "Rules.", "has no settings"),
        ("mine", GOOD.replace('"Mine"', "Mine"), "cannot be read"),
        ("mine", GOOD.replace("label", "lable"), "needs a label and an entry"),
        ("mine", GOOD.replace('"page"', '"flash"'), "no preview 'flash'"),
        ("mine", GOOD.replace("a/b.txt", "../b.txt"), "file that cannot be"),
        ("mine", GOOD.replace("index.html", "/etc/passwd"), "file that cannot be"),
    ],
)
def test_a_wrong_file_is_one_sentence(name: str, text: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence) as caught:
        parse_stack(name, text)
    assert "\n" not in str(caught.value).removesuffix("\n")


def test_a_folder_adds_stacks_and_replaces_ours(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text(GOOD)
    (tmp_path / "svg.md").write_text(GOOD)
    stacks = load_stacks(tmp_path)
    assert stacks["mine"].label == stacks["svg"].label == "Mine"
    assert "html_css" in stacks
    assert "mine" not in load_stacks()


@settings(deadline=None)
@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8}\.[a-z]{2,4})?", fullmatch=True), st.text()))
def test_what_is_written_is_read(files: dict[str, str]) -> None:
    files = {path: text.replace("\r", "").replace("`", "'") + "\n" for path, text in files.items()}
    sections = "".join(f"\n# File: {path}\n\n```\n{text}```\n" for path, text in files.items())
    assert parse_stack("mine", GOOD.partition("# File")[0] + sections).scaffold == files
