"""edit_file: exact, once, all or nothing."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from files_bench import Bench
from heald.tools.files.edit import edit_file
from heald.tools.files.nearest_lines import candidates
from heald.tools.files.text_matches import find_all, replace_text
from heald.tools.tool_fault import ToolFault


async def test_one_edit_gives_a_diff(bench: Bench) -> None:
    bench.put("a.py", "a = 1\nb = 2\nc = 3\n")
    done = await bench.run(edit_file, path="a.py", edits=[{"old_text": "b = 2", "new_text": "b = 22\nd = 4"}])
    assert bench.text("a.py") == "a = 1\nb = 22\nd = 4\nc = 3\n"
    assert done.summary == "+2 −1"
    assert done.lines[0] == "Edited a.py (+2 −1)."
    assert "-b = 2\n+b = 22\n+d = 4" in done.text
    assert [change.path for change in done.changes] == ["a.py"]


async def test_a_single_edit_without_a_list(bench: Bench) -> None:
    bench.put("a.py", "a = 1\n")
    await bench.run(edit_file, path="a.py", old_text="1", new_text="2")
    assert bench.text("a.py") == "a = 2\n"


async def test_two_edits_the_second_on_the_result_of_the_first(bench: Bench) -> None:
    bench.put("a.txt", "one two")
    edits = [{"old_text": "one", "new_text": "three"}, {"old_text": "three two", "new_text": "done"}]
    done = await bench.run(edit_file, path="a.txt", edits=edits)
    assert bench.text("a.txt") == "done"
    assert len(done.changes) == 1


async def test_all_or_nothing(bench: Bench) -> None:
    bench.put("a.txt", "one two")
    edits = [{"old_text": "one", "new_text": "1"}, {"old_text": "gone", "new_text": "x"}]
    done = await bench.run(edit_file, path="a.txt", edits=edits)
    assert done.kind == "no_match"
    assert done.text.startswith("Edit 2 of 2 of a.txt does not match")
    assert done.text.endswith("No edit of this call was applied.")
    assert bench.text("a.txt") == "one two"
    assert not done.changes


async def test_an_ambiguous_edit_names_its_lines(bench: Bench) -> None:
    bench.put("a.txt", "x\nfoo\ny\nfoo\nfoo\n")
    done = await bench.run(edit_file, path="a.txt", edits=[{"old_text": "foo", "new_text": "bar"}])
    assert done.kind == "ambiguous_match"
    assert "3 times, at lines 2, 4, 5" in done.text
    assert bench.text("a.txt") == "x\nfoo\ny\nfoo\nfoo\n"


async def test_count_replaces_all_of_them(bench: Bench) -> None:
    bench.put("a.txt", "foo foo foo")
    await bench.run(edit_file, path="a.txt", edits=[{"old_text": "foo", "new_text": "bar", "count": 3}])
    assert bench.text("a.txt") == "bar bar bar"
    done = await bench.run(edit_file, path="a.txt", edits=[{"old_text": "bar", "new_text": "x", "count": 2}])
    assert done.kind == "ambiguous_match"
    bench.put("b.txt", "foo")
    done = await bench.run(edit_file, path="b.txt", edits=[{"old_text": "foo", "new_text": "x", "count": 2}])
    assert "set count to 1" in done.text


@pytest.mark.parametrize("new", ["$&", r"\1 \g<0> \\", "$1${x}", "%s {0}", "\\"])
async def test_the_new_text_is_literal(bench: Bench, new: str) -> None:
    bench.put("a.txt", "a (b) c")
    await bench.run(edit_file, path="a.txt", edits=[{"old_text": "(b)", "new_text": new}])
    assert bench.text("a.txt") == f"a {new} c"


async def test_the_old_text_is_no_pattern(bench: Bench) -> None:
    bench.put("a.txt", "aXc a.c")
    await bench.run(edit_file, path="a.txt", edits=[{"old_text": "a.c", "new_text": "-"}])
    assert bench.text("a.txt") == "aXc -"


async def test_crlf_is_found_with_lf_and_kept(bench: Bench) -> None:
    bench.put("a.txt", "one\r\ntwo\r\nthree\r\n")
    await bench.run(edit_file, path="a.txt", edits=[{"old_text": "one\ntwo", "new_text": "1\n2\n2½"}])
    assert bench.content("a.txt") == "1\r\n2\r\n2½\r\nthree\r\n".encode()


async def test_the_nearest_candidates_are_in_the_error(bench: Bench) -> None:
    bench.put("a.py", "import os\n\ndef compute(a, b):\n    return a + b\n\ndef other():\n    pass\n")
    done = await bench.run(edit_file, path="a.py", old_text="def compute(a,b):\n  return a+b", new_text="x")
    assert done.kind == "no_match"
    assert "--- lines 3-4" in done.text
    assert "def compute(a, b):\n    return a + b" in done.text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "No edit was given"),
        ({"edits": []}, "No edit was given"),
        ({"old_text": "a"}, "needs both"),
        ({"old_text": "a", "new_text": "b", "edits": [{"old_text": "a", "new_text": "b"}]}, "Both edits"),
        ({"old_text": "", "new_text": "b"}, "empty old_text"),
        ({"old_text": "a", "new_text": "a"}, "would change nothing"),
        ({"edits": [{"old_text": "a", "new_text": "b"}] * 201}, "201 edits are too many"),
    ],
)
async def test_edits_that_are_none(bench: Bench, arguments: dict[str, object], said: str) -> None:
    bench.put("a.txt", "a")
    done = await bench.run(edit_file, path="a.txt", **arguments)
    assert done.kind == "invalid_edit"
    assert said in done.text
    assert bench.text("a.txt") == "a"


async def test_what_is_not_there_or_no_text(bench: Bench) -> None:
    bench.put("a.bin", b"\0\1")
    assert (await bench.run(edit_file, path="gone", old_text="a", new_text="b")).kind == "not_found"
    assert (await bench.run(edit_file, path="a.bin", old_text="a", new_text="b")).kind == "not_text"


# --- the algorithm -----------------------------------------------------------------------------------------------

plain = st.text(st.sampled_from("ab\n é"), max_size=30)


@given(
    plain,
    st.text(st.sampled_from("ab\n é"), min_size=1, max_size=3),
    st.text(st.sampled_from("ab$&\\1\r\n"), max_size=4),
)
def test_it_is_str_replace_where_it_fits(text: str, old: str, new: str) -> None:
    if text.count(old) == 1 and old != new:
        assert replace_text(text, old, new) == text.replace(old, new, 1)
        return
    with pytest.raises(ToolFault):
        replace_text(text, old, new)


@given(plain, st.text(st.sampled_from("ab\n é"), min_size=1, max_size=3), plain)
def test_crlf_files_behave_as_lf_files(text: str, old: str, new: str) -> None:
    """Edit, then change the line endings: the same as the other way round."""
    if text.count(old) != 1 or old == new or "\n" not in text:
        return
    crlf = text.replace("\n", "\r\n")
    assert replace_text(crlf, old, new) == replace_text(text, old, new).replace("\n", "\r\n")
    assert replace_text(crlf, old.replace("\n", "\r\n"), new.replace("\n", "\r\n")) == replace_text(crlf, old, new)


@given(st.text(st.sampled_from("ab\r\n"), max_size=30), st.text(st.sampled_from("ab\r\n"), min_size=1, max_size=3))
def test_matches_in_mixed_files_are_where_they_state(text: str, old: str) -> None:
    ends = 0
    for match in find_all(text, old):
        assert match.start >= ends
        matched = text[match.start : match.end]
        assert matched == old or matched.replace("\r\n", "\n") == old.replace("\r\n", "\n")
        ends = match.end


def test_a_miss_in_a_large_file_is_fast() -> None:
    text = "\n".join(f"def function_{number}(a, b): return a + b * {number}" for number in range(100_000))
    for old_text in ("def function_77(a,b):  return a+b*77", "q" * 100_000, "def f\n" * 1000, "\n\n\n", "😀"):
        start = time.process_time()
        with pytest.raises(ToolFault):
            replace_text(text, old_text, "x")
        assert time.process_time() - start < 5
    assert candidates(text, "def function_77(a,b):  return a+b*77")[0][0] == 78
