"""search_files: lines that match, in bounded time, the same with and without ripgrep."""

import asyncio
import random
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from example_counts import scaled
from files_bench import Bench
from heald.tools.files import ripgrep, search
from heald.tools.files.pattern import Expression, PatternFault
from heald.tools.files.ripgrep import Ripgrep
from heald.tools.files.scan import Scan
from heald.tools.files.search import search_files
from heald.tools.files.walk import Deadline
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.memory import MemoryWorkspace

no_ripgrep = ripgrep._programs() is None  # pyright: ignore[reportPrivateUsage]
needs_ripgrep = pytest.mark.skipif(no_ripgrep, reason="ripgrep or bubblewrap is missing, or may not be used here")


@pytest.fixture(params=["memory", "disk", pytest.param("ripgrep", marks=needs_ripgrep)])
def searched(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bench]:
    """Every way there is to search, with time enough for a busy machine."""
    monkeypatch.setattr(search, "Deadline", partial(Deadline, 30))
    if request.param == "memory":
        yield Bench(MemoryWorkspace())
        return
    if request.param == "disk":
        monkeypatch.setattr(ripgrep, "_programs", lambda: None)
    workspace = DiskWorkspace(tmp_path_factory.mktemp("ws"))
    yield Bench(workspace)
    workspace.close()


async def test_lines_with_their_place(searched: Bench) -> None:
    searched.put("a.py", "import os\nx = os.path\n")
    searched.put("b/c.py", "os\r\nno\r\n")
    searched.put("b.bin", b"os\0os")
    searched.put(".hidden", "os")
    searched.put(".git/config", "os")
    searched.put("node_modules/x.js", "os")
    done = await searched.run(search_files, pattern=r"\bos\b")
    assert done.lines == [".hidden:1: os", "a.py:1: import os", "a.py:2: x = os.path", "b/c.py:1: os"]
    assert done.summary == "4 lines in 3 files"
    assert not done.truncated


async def test_where_to_look(searched: Bench) -> None:
    for path in ("src/a.py", "src/a.ts", "src/deep/b.py", "c.py", "node_modules/x.py"):
        searched.put(path, "Hit\n")
    run = searched.run
    assert (await run(search_files, pattern="Hit", path="src")).lines == [
        "src/a.py:1: Hit",
        "src/a.ts:1: Hit",
        "src/deep/b.py:1: Hit",
    ]
    assert (await run(search_files, pattern="Hit", glob="*.ts")).lines == ["src/a.ts:1: Hit"]
    assert (await run(search_files, pattern="Hit", path="src", glob="src/*.py")).lines == ["src/a.py:1: Hit"]
    assert (await run(search_files, pattern="Hit", path="c.py")).lines == ["c.py:1: Hit"]
    assert (await run(search_files, pattern="Hit", path="node_modules")).lines == ["node_modules/x.py:1: Hit"]
    assert (await run(search_files, pattern="hit")).text == "No line matches."
    assert len((await run(search_files, pattern="hit", ignore_case=True)).lines) == 4
    assert (await run(search_files, pattern="Hit", path="gone")).kind == "not_found"
    assert (await run(search_files, pattern="Hit", glob="../*")).kind == "invalid_pattern"


async def test_context_lines(searched: Bench) -> None:
    searched.put("a", "".join(f"{number}\n" for number in range(1, 21)))
    done = await searched.run(search_files, pattern="^(3|5|15|20)$", context=1)
    assert done.lines == [
        *("a-2- 2", "a:3: 3", "a-4- 4", "a:5: 5", "a-6- 6", "--"),
        *("a-14- 14", "a:15: 15", "a-16- 16", "--", "a-19- 19", "a:20: 20"),
    ]


async def test_too_many_results(searched: Bench) -> None:
    searched.put("a", "x\n" * 300)
    done = await searched.run(search_files, pattern="x", max_results=7)
    assert done.lines[6:] == ["a:7: x", "[Stopped at 7 matching lines; narrow the search, or raise max_results.]"]
    assert done.truncated
    searched.put("a", "x" * 3_000 + "\n")
    searched.put("b", ("x" * 290 + "\n") * 1_000)
    done = await searched.run(search_files, pattern="x", max_results=1000)
    assert len(done.text) < 61_000
    assert done.lines[-1] == "[Stopped: the result is full; narrow the search.]"


async def test_a_long_line_is_shown_around_the_match(searched: Bench) -> None:
    searched.put("a.js", "a" * 5_000 + "needle" + "b" * 5_000)
    done = await searched.run(search_files, pattern="needle")
    assert "…" in done.text
    assert "aneedleb" in done.text
    assert len(done.text) < 400


async def test_a_file_that_is_too_large_is_named_in_a_note(bench: Bench) -> None:
    bench.put("big.log", b"needle\n" * 700_000)
    done = await bench.run(search_files, pattern="needle")
    assert done.text == "No line matches.\n[1 files of more than 4 MB were not searched.]"


# --- hostile patterns ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|a)*b", "(.*a){25}", r"\d+\d+\d+$", "(?=(a+))*", "(x+x+)+y"])
async def test_r01_answers_or_refuses_in_time(searched: Bench, pattern: str) -> None:
    searched.put("a.txt", "a" * 27 + "!\n" + "a" * 100_000 + "!\n" + "1" * 50_000)
    worst, stop = 0.0, asyncio.Event()

    async def tick() -> None:
        nonlocal worst
        while not stop.is_set():
            start = time.monotonic()
            await asyncio.sleep(0.005)
            worst = max(worst, time.monotonic() - start)

    ticking = asyncio.create_task(tick())
    start = time.monotonic()
    done = await searched.run(search_files, pattern=pattern)
    stop.set()
    await ticking
    took = time.monotonic() - start
    assert took < 60
    assert worst < max(1, took / 2), "the loop went on meanwhile"
    assert not done.is_error or done.kind == "invalid_pattern"


@pytest.mark.parametrize(
    "pattern",
    [
        "[",
        "(?P<",
        r"\1",
        "(?i",
        "x" * 100_000,
        "x{1000000}",
        "(x{100}){100}",
        "a)(b",
        "",
        "\ud800",
        "(?=a)",
        "*",
        "a**",
    ],
)
@pytest.mark.parametrize("ignore_case", [True, False])
async def test_r02_invalid_patterns(searched: Bench, pattern: str, ignore_case: bool) -> None:
    searched.put("a.txt", "x")
    done = await searched.run(search_files, pattern=pattern, ignore_case=ignore_case)
    assert done.kind == "invalid_pattern"
    assert len(done.text) < 300


async def test_a_slow_pattern_is_stopped(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns for which even RE2 needs much time for each character."""
    monkeypatch.setattr(ripgrep, "_programs", lambda: None)
    line = "".join(random.Random(1).choices("ab", k=2_000)) + "\n"
    bench.put("a.txt", line * 1_500)
    start = time.monotonic()
    done = await bench.run(search_files, pattern="([ab]{0,100}a){5}c")
    assert time.monotonic() - start < 60
    assert "[Stopped after 2 s" in done.text
    assert done.truncated


@pytest.mark.parametrize("pattern", ["--pre=./x", "-f/etc/passwd", "-e", "--", "--files", "-"])
async def test_s17_patterns_are_never_options(searched: Bench, pattern: str, tmp_path: Path) -> None:
    searched.put("x", "#!/bin/sh\ntouch /tmp/pwn\n")
    searched.put("-rf", f"text {pattern} text\n")
    done = await searched.run(search_files, pattern=pattern)
    assert done.lines == [f"-rf:1: text {pattern} text"]
    done = await searched.run(search_files, pattern=pattern, path="-rf")
    assert done.lines == [f"-rf:1: text {pattern} text"]
    searched.put("--pre/-rf", f"text {pattern} text\n")
    done = await searched.run(search_files, pattern=pattern, path="--pre")
    assert done.lines == [f"--pre/-rf:1: text {pattern} text"]


# --- one text --------------------------------------------------------------------------------------------------------


def _own(text: str, pattern: str, context: int = 0) -> list[tuple[int, str, bool]]:
    scan = Scan(text.encode(), Expression(pattern), Deadline(30))
    return [(line.number, line.text, line.matches) for line in scan.lines(context)]


@settings(max_examples=scaled(150))
@given(
    st.text(st.sampled_from("ab \té\n\n"), max_size=40),
    st.sampled_from(["a", "^a", "b$", "^$", r"\s", r"a\s*b", "[^a]", ".", r"\bb", "é|b", "(?i)A", "x*", r"^\s*$"]),
    st.integers(0, 3),
)
@example("\n", "^$", 0)
@example("a\n\n", "^$", 1)
def test_it_finds_what_a_plain_search_finds(text: str, pattern: str, context: int) -> None:
    lines = text.removesuffix("\n").split("\n") if text else []
    plain = re.compile(pattern, re.ASCII)
    hits = [number for number, line in enumerate(lines, 1) if plain.search(line)]
    line_numbers = {
        number for hit in hits for number in range(hit - context, hit + context + 1) if 0 < number <= len(lines)
    }
    assert _own(text, pattern, context) == [
        (number, lines[number - 1], number in hits) for number in sorted(line_numbers)
    ]


def test_where_a_long_line_is_cut_is_not_its_end() -> None:
    text = "ab" * 1_000_000 + "c\nb\n"
    assert _own(text, "b$") == [(2, "b", True)]
    assert [number for number, _, _ in _own(text, "b")] == [1, 2]
    scan = Scan(text.encode(), Expression("c"), Deadline(30))
    assert not list(scan.lines())
    assert scan.long


def test_lines_are_counted_across_pieces() -> None:
    text = "".join(f"{number} {'x' * (number % 50)}\n" for number in range(60_000))
    hits = _own(text, "0 x")
    lines = text.split("\n")
    assert [number for number, _, _ in hits] == [number for number, line in enumerate(lines, 1) if "0 x" in line]


# --- ripgrep against our own -----------------------------------------------------------------------------------------

PATTERNS = [
    *(
        r"\d+",
        r"\D",
        r"\w+",
        r"\W",
        r"\s",
        r"\S+",
        r"\bword\b",
        r"[\w.]+@",
        r"[^\d]",
        r"[\s,]x",
        r"a.c",
        r"^\s*$",
        "^$",
    ),
    *(r"[[:alpha:]]+1", r"[a-c\-\]]", r"[]a]", r"[^]a]", r"[a&&b]", r"[a--b]", r"x{2,3}", r"x{,3}", "x{", "}", "]"),
    *(r"\.", r"\/", r"\"", r"\-", r"\x41", r"\x{e9}", r"(?i)STRASSE", r"(?i:é)", "É", "k", "(?P<n>a)b", "(?:a|b)c"),
    *("a|", "x*", r"\Qa.c\E", r"\pL", r"\A", r"a\z", r"\B", r"\C", "[é-ü]", "ſ", "(?s)a.*z", "(?U)a+", r"\t", r"[\t ]"),
    *(
        "a$",
        "^b",
        "$^",
        r"a$\b",
        "(?-m)a$",
        r"^[^\r]+$",
        r"\$",
        r"\^",
        "(a)(b)",
        "#",
        "&&",
        "~~",
        " x",
        r"\ ",
        r"a\nb",
        "[^\n]",
        r"[^\n]x",
        "\u2028",
        r"\_",
    ),
]
TEXTS = [
    "word words\n12 a.c abc\n\n  \n\tx, x\n",
    "A é É ü ſ K k ß straße STRASSE strasse\r\na\r\n\r\nb\r\n",
    '[a] ] } { x{ xx xxx x{,3} ab ac bc a&&b a--b\n# & && ~~ - / " $ ^ _\n',
    "a1 z9 a\tz\u2028q foo@bar",
    b"bad \xff a\n",
    b"late NUL" + b"x" * 9000 + b"\0 a\n",
    "",
    "\n",
    "é",
    "٣",
    "\xa0",
    "aé\x0bb\x0cc\x85d\xa0e٣ ١",
]


@needs_ripgrep
@pytest.mark.parametrize("ignore_case", [False, True])
async def test_both_engines_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ignore_case: bool) -> None:
    monkeypatch.setattr(search, "Deadline", partial(Deadline, 30))
    bench = Bench(DiskWorkspace(tmp_path))
    for number, text in enumerate(TEXTS):
        bench.put(f"d{number % 3}/{number}.txt", text)
    bench.put("z/.hidden/f", "a1")
    bench.put(".gitignore", "z\na*\n")
    bench.put(".ignore", "*.txt\n")
    bench.put(".git/HEAD", "a1")
    bench.put("sub/.git/f", "a1")
    bench.put("sub/node_modules/f", "a1")
    (tmp_path / "link").symlink_to("z")
    (tmp_path / "file_link").symlink_to("d0/0.txt")
    asked = 0
    ask = Ripgrep.candidates

    def counted(*arguments: object, **options: object) -> list[str] | None:
        nonlocal asked
        names = ask(*arguments, **options)  # pyright: ignore[reportArgumentType]
        asked += names is not None
        return names

    for pattern in PATTERNS:
        for path in ("", "link"):
            monkeypatch.setattr(Ripgrep, "candidates", counted)
            first = await bench.run(search_files, pattern=pattern, path=path, ignore_case=ignore_case, max_results=1000)
            monkeypatch.setattr(Ripgrep, "candidates", lambda *_, **__: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
            second = await bench.run(
                search_files, pattern=pattern, path=path, ignore_case=ignore_case, max_results=1000
            )
            assert (first.kind, first.text) == (second.kind, second.text), pattern
    assert asked > len(PATTERNS), "most patterns can be asked of ripgrep"


pieces = st.sampled_from(
    [
        *r"abk. *+?|()[]^$-{}é",
        r"\d",
        r"\W",
        r"\s",
        r"\b",
        r"\w",
        "[ab]",
        "[^a]",
        r"[\d-]",
        "(?i)",
        "(?:",
        "x{2}",
        r"\.",
        r"\S",
    ]
)


@needs_ripgrep
@settings(max_examples=scaled(60))
@given(st.lists(pieces, min_size=1, max_size=6).map("".join), st.booleans())
def test_ripgrep_never_misses_a_file(tmp_path_factory: pytest.TempPathFactory, pattern: str, ignore_case: bool) -> None:
    try:
        expression = Expression(pattern, ignore_case=ignore_case)
    except PatternFault:
        return
    folder = tmp_path_factory.mktemp("rg")
    texts = ["a", "b k\n", "ak.é-\r\n", "  \n", "xx{2}\n", "A1 9\nK", "()[]\n^$\n", "bab\tkk", "\n", "É-*+?|"]
    matching: set[str] = set()
    for number, text in enumerate(texts):
        (folder / str(number)).write_bytes(text.encode())
        if next(Scan(text.encode(), expression, Deadline(30)).lines(), None):
            matching.add(str(number))
    names = Ripgrep(str(folder)).candidates(pattern, "", ignore_case=ignore_case, deadline=Deadline(30))
    assert names is None or matching <= set(names)


@needs_ripgrep
def test_s17_ripgrep_accepts_no_argument_for_an_option(tmp_path: Path) -> None:
    for folder in ("--pre", "-rf"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "-x").write_text("--pre=./x\n")
        for pattern in ("--pre=./x", "-", "--"):
            names = Ripgrep(str(tmp_path)).candidates(pattern, folder, ignore_case=False, deadline=Deadline(60))
            assert names == [f"{folder}/-x"]


@needs_ripgrep
def test_ripgrep_sees_nothing_outside(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_text("CANARY")
    (inside / "link").symlink_to(outside)
    (inside / "etc").symlink_to("/etc")
    for path in ("", "link", "link/secret.txt", "../out", "etc", "../usr/bin"):
        names = Ripgrep(str(inside)).candidates("CANARY|root|.", path, ignore_case=False, deadline=Deadline(10))
        assert not [name for name in names or () if "usr" not in name]
