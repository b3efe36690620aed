"""Paths from a model, before any disk sees them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald.tools.workspace.paths import (
    MAX_PATH_BYTES,
    PROTECTED_FILES,
    PROTECTED_FOLDERS,
    PathFault,
    is_protected,
    is_usable_path,
    normalize_path,
    quote_path,
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a", "a"),
        ("./a//b", "a/b"),
        ("a/", "a"),
        ("a/./b/.", "a/b"),
        ("", ""),
        (".", ""),
        ("./", ""),
        (" a ", " a "),
        ("..a/b..", "..a/b.."),
        ("...", "..."),
        ("-rf", "-rf"),
        ("a/~/b", "a/~/b"),
        ("naïve/日本語.txt", "naïve/日本語.txt"),
        ("e\u0301", "e\u0301"),
    ],
)
def test_one_spelling(path: str, expected: str) -> None:
    assert normalize_path(path) == expected


def test_an_absolute_path_is_reported_what_to_do() -> None:
    with pytest.raises(PathFault, match="relative to the workspace"):
        normalize_path("/home/me/project/a.txt")


@given(st.text())
def test_normal_is_safe_and_stable(path: str) -> None:
    result = _normal(path)
    if isinstance(result, PathFault):
        assert result.kind in ("invalid_path", "path_outside_workspace")
        assert str(result).isprintable()
        return
    assert normalize_path(result) == result
    assert not result.startswith("/")
    assert result == "" or not {"..", ".", ""} & set(result.split("/"))
    assert not set(result) & {"\0", "\\", "\n"}
    assert len(result.encode()) <= MAX_PATH_BYTES
    assert is_usable_path(result)


def _normal(path: str) -> str | PathFault:
    try:
        return normalize_path(path)
    except PathFault as fault:
        return fault


@given(st.lists(st.sampled_from(["..", ".", "", "a", "/", "\\", "\0", "~", "\u2024\u2024", "．．"])).map("/".join))
def test_no_path_climbs(path: str) -> None:
    try:
        names = normalize_path(path).split("/")
    except PathFault:
        return
    assert ".." not in names


@pytest.mark.parametrize("path", [*PROTECTED_FOLDERS, *PROTECTED_FILES])
def test_each_of_the_list_however_it_is_spelt(path: str) -> None:
    for spelling in (path, path.upper(), f"deep/er/{path}", f"{path}/x", f"{path}.", f"{path} ", f"{path}::$DATA"):
        assert is_protected(spelling), spelling
    assert is_protected("\u200d".join(path))
    assert is_protected("".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in path))


@pytest.mark.parametrize(
    "path",
    [
        ".git",
        ".GIT/config",
        ".g\u200cit/config",
        "\uff0egit/config",
        ".git./config",
        ".git. . /config",
        ".git::$INDEX_ALLOCATION/config",
        ".git:x",
        "git~1/config",
        "GIT~12/config",
        "gi7eba~1/config",
        "\u2024git/hooks/post-checkout",
        "．git／config",
        ".\ufe0fgit",
        ".\U0001d406it/config",
        ".gi\u034ft",
        ".\U000e0067git",
        "heald~1.tom",
        "HEALD~1.TOM",
        "mcp~1.jso",
        "bashrc~1",
        "bash_p~1",
        "agent\u017f.md",
        "Agents.MD",
        "docs/claude.md",
        ".vscode/TASKS.json",
        "vscode~1/tasks.json",
        ".\u00advscode/settings.json",
    ],
)
def test_protected(path: str) -> None:
    assert is_protected(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "git/config",
        ".gitignore",
        ".github/workflows/ci.yml",
        ".gitattributes",
        "a.git/x",
        ".vscode/extensions.json",
        "tasks.json",
        "heald.tomlx",
        "my-heald.toml",
        "agents.mdx",
        "src/agents.py",
        "git~x",
        "digit~1",
        "README.md",
        "x.bashrc",
    ],
)
def test_not_protected(path: str) -> None:
    assert not is_protected(path)


@given(st.text(max_size=40))
def test_protected_answers_for_any_text(path: str) -> None:
    assert is_protected(path + "/.git/x") or "\\" in path or ":" in path
    is_protected(path)


def test_a_path_in_a_message_is_escaped_and_short() -> None:
    assert quote_path("a\x1b]52\u202eb") == "'a\\x1b]52\\u202eb'"
    assert len(quote_path("x" * 10_000)) < 210
