"""glob and list_files: which files there are, never outside, in bounded time."""

import time
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from example_counts import scaled
from files_bench import Bench
from heald.tools.files.listing import MAX_LISTED, glob, list_files
from heald.tools.files.pattern import Glob, PatternFault

FILES = ["README.md", "src/app.py", "src/lib/deep/x.py", "src/lib/y.ts", "src/style.css", "test_a.py", "test_bc.py"]


@pytest.fixture
def filled(bench: Bench) -> Bench:
    for path in FILES:
        bench.put(path, path)
    bench.put("node_modules/left/pad.py", "x")
    bench.put("src/__pycache__/app.pyc", "x")
    return bench


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("*.py", ["src/app.py", "src/lib/deep/x.py", "test_a.py", "test_bc.py"]),
        ("**/*.py", ["src/app.py", "src/lib/deep/x.py", "test_a.py", "test_bc.py"]),
        ("src/*.py", ["src/app.py"]),
        ("src/**/*.py", ["src/app.py", "src/lib/deep/x.py"]),
        ("./src/**", ["src/app.py", "src/lib/deep/x.py", "src/lib/y.ts", "src/style.css"]),
        ("test_?.py", ["test_a.py"]),
        ("test_[!a]*.py", ["test_bc.py"]),
        ("src/**/*.{css,ts}", ["src/lib/y.ts", "src/style.css"]),
        ("{README.md,src/{app,none}.py}", ["README.md", "src/app.py"]),
        ("src/lib", []),
    ],
)
async def test_patterns(filled: Bench, pattern: str, paths: list[str]) -> None:
    done = await filled.run(glob, pattern=pattern)
    assert done.lines == (paths or ["No file matches."])


@pytest.mark.parametrize(
    "pattern",
    [
        "../**",
        "/**",
        "**/../../**",
        "src/../../**",
        "",
        "./",
        "{" * 20 + "a" + "}" * 20,
        "{a,b",
        "[z-a]",
        "a\0",
        "\ud800",
    ],
)
async def test_patterns_that_are_refused(filled: Bench, pattern: str) -> None:
    done = await filled.run(glob, pattern=pattern)
    if pattern == "{a,b":  # a brace that never closes is itself
        assert done.text == "No file matches."
        return
    assert done.kind == "invalid_pattern"


async def test_braces_are_not_expanded(filled: Bench) -> None:
    start = time.process_time()
    done = await filled.run(glob, pattern="{a,b}" * 20)
    assert done.text == "No file matches."
    assert (await filled.run(glob, pattern="{a,b}" * 1000)).kind == "invalid_pattern"
    assert time.process_time() - start < 10


async def test_globs_are_capped(bench: Bench) -> None:
    for number in range(MAX_LISTED + 5):
        bench.put(f"{number:05}.txt", "")
    done = await bench.run(glob, pattern="*.txt")
    assert done.lines[:2] == ["00000.txt", "00001.txt"]
    assert done.lines[-1] == "[5 more files match; use a narrower pattern.]"
    assert done.truncated


async def test_a_listing(filled: Bench) -> None:
    done = await filled.run(list_files)
    assert done.lines == [
        "README.md",
        "node_modules/ (not listed)",
        "src/",
        "src/__pycache__/ (not listed)",
        "src/app.py",
        "src/lib/",
        "src/style.css",
        "test_a.py",
        "test_bc.py",
    ]
    assert (await filled.run(list_files, path="node_modules", depth=3)).lines == [
        "node_modules/left/",
        "node_modules/left/pad.py",
    ]
    assert (await filled.run(list_files, path="src/app.py")).lines == ["src/app.py"]
    assert (await filled.run(list_files, path="gone")).kind == "not_found"


async def test_a_long_listing_is_cut(bench: Bench) -> None:
    for number in range(MAX_LISTED + 1):
        bench.put(f"{number:05}.txt", "")
    done = await bench.run(list_files)
    assert len(done.lines) == MAX_LISTED + 1
    assert done.lines[-1].startswith("[Cut after 1000 files and folders")


# --- the matcher against a plain one ---------------------------------------------------------------------------------


def _expanded(pattern: str) -> list[str]:
    """Braces written out."""
    depth = start = 0
    cuts: list[int] = []
    for at, char in enumerate(pattern):
        if char == "{":
            if not depth:
                start, cuts = at, [at]
            depth += 1
        elif char == "," and depth == 1:
            cuts.append(at)
        elif char == "}" and depth:
            depth -= 1
            if not depth:
                cuts.append(at)
                choices = [pattern[a + 1 : b] for a, b in pairwise(cuts)]
                return [done for choice in choices for done in _expanded(pattern[:start] + choice + pattern[at + 1 :])]
    return [pattern]


def _reference(pattern: str, path: str) -> bool:
    parts = pattern.split("/") if "/" in pattern else ["**", pattern]
    names = path.split("/")

    @cache
    def fits(part: int, name: int) -> bool:
        if part == len(parts):
            return name == len(names)
        if parts[part] == "**":
            if part == len(parts) - 1:
                return name < len(names)
            return fits(part + 1, name) or (name < len(names) and fits(part, name + 1))
        return name < len(names) and _fits_name(parts[part], names[name]) and fits(part + 1, name + 1)

    return fits(0, 0)


def _fits_name(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return _fits_name(pattern[1:], name) or (bool(name) and _fits_name(pattern, name[1:]))
    if pattern[0] == "?":
        return bool(name) and _fits_name(pattern[1:], name[1:])
    return bool(name) and pattern[0] == name[0] and _fits_name(pattern[1:], name[1:])


def _is_plain(pattern: str) -> bool:
    """Whether `**` stands only as a whole part, and an expansion does not change what a part is."""
    return all(
        choice and not choice.startswith("/") and all("**" not in part or part == "**" for part in choice.split("/"))
        for choice in _expanded(pattern)
    )


patterns = st.lists(st.sampled_from(["a", "b", ".", "*", "**/", "/**", "?", "/", "{a,b}", "{a,{b,.}c}"]), max_size=6)
paths = st.lists(st.text("ab.c", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)


@settings(max_examples=scaled(200))
@given(patterns.map("".join), paths)
@example("**/a", "a")
@example("a/**", "a")
@example("**", "a/b")
def test_it_matches_what_a_plain_matcher_does(pattern: str, path: str) -> None:
    if not _is_plain(pattern) or ".." in pattern.split("/") or pattern == "./" or pattern.startswith("./"):
        return
    choices = _expanded(pattern)
    if "/" in pattern:  # braces that hold a slash count for all choices
        choices = [choice if "/" in choice else f"./{choice}" for choice in choices]
    expected = any(_reference(choice, f"./{path}" if choice.startswith("./") else path) for choice in choices)
    assert Glob(pattern).matches(path) == expected


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_a_glob_or_a_fault(pattern: str, path: str) -> None:
    try:
        matcher = Glob(pattern)
    except PatternFault:
        return
    matcher.matches(path.encode("utf-8", "replace").decode())


def test_no_pattern_is_slow() -> None:
    start = time.process_time()
    for pattern in ("*a" * 500 + "b", "**/" * 300 + "x", "?*" * 500, "{a*,*a}" * 200 + "b"):
        try:
            Glob(pattern).matches("/".join(["a" * 200] * 10))
        except PatternFault:
            continue
    assert time.process_time() - start < 5
