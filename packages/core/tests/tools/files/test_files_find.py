"""find_file: fuzzy by name, best first."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from files_bench import Bench
from heald.tools.files.fuzzy_score import score
from heald.tools.files.listing import MAX_FOUND, find_file

FILES = [
    "src/user/controller.ts",
    "src/user/control.ts",
    "src/users/index.ts",
    "docs/user-controls.md",
    "uc.txt",
    "src/app.py",
    "a/p/p.py",
    "node_modules/user/controller.ts",
]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("controller", "src/user/controller.ts"),
        ("control.ts", "src/user/control.ts"),
        ("userctrl", "docs/user-controls.md"),
        ("app", "src/app.py"),
        ("UC", "uc.txt"),
        ("usr idx", "src/users/index.ts"),
    ],
)
async def test_the_best_comes_first(bench: Bench, query: str, best: str) -> None:
    for path in FILES:
        bench.put(path, "")
    done = await bench.run(find_file, query=query)
    assert done.lines[0] == best
    assert "node_modules" not in done.text


async def test_nothing_alike(bench: Bench) -> None:
    bench.put("a.py", "")
    assert (await bench.run(find_file, query="zzz")).text == "No file is like that."
    assert (await bench.run(find_file, query="  ")).kind == "invalid_query"
    assert (await bench.run(find_file, query="x" * 201)).kind == "invalid_query"


async def test_it_is_bounded(bench: Bench) -> None:
    for number in range(60):
        bench.put(f"file{number}.txt", "")
    assert len((await bench.run(find_file, query="file")).lines) == MAX_FOUND


@given(st.text(min_size=1, max_size=10), st.text(max_size=40))
def test_a_score_means_that_the_characters_are_there_in_order(query: str, path: str) -> None:
    rest = iter(path.casefold())
    assert (score(query, path) is not None) == all(char in rest for char in query.casefold())


def test_scoring_is_fast() -> None:
    start = time.process_time()
    for _ in range(1_000):
        score("a" * 200, "a" * 2_000)
    assert time.process_time() - start < 10
