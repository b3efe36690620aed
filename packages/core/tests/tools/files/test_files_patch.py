"""apply_patch: both forms, all files or none, never in a place that is not the only one."""

import difflib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import scaled
from files_bench import Bench
from heald.tools.files.hunks import apply_hunks
from heald.tools.files.patch import apply_patch, read_patch
from heald.tools.tool_fault import ToolFault
from heald.tools.workspace.diff import unified_diff
from heald.tools.workspace.memory import MemoryWorkspace

CODE = "import os\n\ndef first():\n    x = 1\n    return x\n\ndef second():\n    x = 1\n    return x\n"


def marked(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


async def test_every_section_of_the_marked_form(bench: Bench) -> None:
    bench.put("a.py", CODE)
    bench.put("old.txt", "one\ntwo\n")
    bench.put("gone.bin", b"\0\1")
    patch = marked(
        "*** Add File: new/b.py",
        "+first",
        "+",
        "+third",
        "*** Update File: a.py",
        "@@",
        " import os",
        "+import sys",
        " ",
        "*** Update File: old.txt",
        "*** Move to: moved.txt",
        "@@",
        " one",
        "-two",
        "+2",
        "*** Delete File: gone.bin",
    )
    done = await bench.run(apply_patch, patch=patch)
    assert not done.is_error, done.text
    assert bench.text("new/b.py") == "first\n\nthird\n"
    assert bench.text("a.py").startswith("import os\nimport sys\n\ndef first")
    assert bench.text("moved.txt") == "one\n2\n"
    assert bench.content("old.txt") is None
    assert bench.content("gone.bin") is None
    assert {change.path for change in done.changes} == {"new/b.py", "a.py", "old.txt", "moved.txt", "gone.bin"}
    assert done.lines[0] == "The patch was applied:"
    assert "Added new/b.py (+3 −0)" in done.text
    assert "Deleted gone.bin" in done.text


async def test_a_heading_states_which_of_two_places(bench: Bench) -> None:
    bench.put("a.py", CODE)
    patch = marked("*** Update File: a.py", "@@ def second():", "-    x = 1", "+    x = 2")
    await bench.run(apply_patch, patch=patch)
    assert bench.text("a.py") == "x = 2".join(CODE.rsplit("x = 1", 1))


async def test_two_places_and_no_heading_are_ambiguous(bench: Bench) -> None:
    bench.put("a.py", CODE)
    done = await bench.run(apply_patch, patch=marked("*** Update File: a.py", "@@", "-    x = 1", "+    x = 2"))
    assert done.kind == "ambiguous_match"
    assert "Hunk 1 of 1 for a.py is ambiguous: its old lines stand at lines 4, 8" in done.text
    assert bench.text("a.py") == CODE


async def test_hunks_go_from_top_to_bottom(bench: Bench) -> None:
    bench.put("a.py", CODE)
    patch = marked(
        *("*** Update File: a.py", "@@ def first():", "-    x = 1", "+    x = 10", "     return x"),
        *("@@", "-    x = 1", "+    x = 20", "     return x", "*** End of File"),
    )
    done = await bench.run(apply_patch, patch=patch)
    assert not done.is_error, done.text
    assert bench.text("a.py") == CODE.replace("x = 1", "x = 10", 1).replace("x = 1\n", "x = 20\n")


async def test_all_files_or_none(bench: Bench) -> None:
    bench.put("a.txt", "one\n")
    bench.put("b.txt", "two\n")
    patch = marked(
        *("*** Update File: a.txt", "@@", "-one", "+1", "*** Add File: c.txt", "+x"),
        *("*** Update File: b.txt", "@@", "-three", "+3"),
    )
    done = await bench.run(apply_patch, patch=patch)
    assert done.kind == "no_match"
    assert "Hunk 1 of 1 for b.txt does not match" in done.text
    assert "--- expected\nthree\n--- found at line 1\ntwo" in done.text
    assert (bench.text("a.txt"), bench.text("b.txt"), bench.content("c.txt")) == ("one\n", "two\n", None)
    assert not done.changes


async def test_the_error_shows_where_it_went_wrong(bench: Bench) -> None:
    bench.put("a.py", CODE)
    patch = marked("*** Update File: a.py", "@@", " def second():", "     x = 1", "-    return y", "+    return 2")
    done = await bench.run(apply_patch, patch=patch)
    assert "--- expected\n    return y\n--- found at line 9\n    return x" in done.text


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("", "names no file"),
        ("hello", "names no file"),
        ("*** Begin Patch\n*** Add File: a\n+x", "no *** End Patch"),
        (marked("hello"), "Line 2 of the patch is 'hello'"),
        (marked("*** Update File: a.txt"), "changes nothing"),
        (marked("*** Update File: a.txt", "@@", "?x"), "begins with '?'"),
        (marked("*** Update File: a.txt", "@@", "+x"), "names no place"),
        (marked("*** Add File: a.txt", "+x"), "exists already"),
        (marked("*** Delete File: a.txt", "*** Update File: a.txt", "@@", "-one"), "deleted earlier"),
        (marked("*** Update File: gone.txt", "@@", "-one"), "does not exist"),
        (marked("*** Delete File: gone.txt"), "does not exist"),
        ("@@ -1 +1 @@\n-a\n+b", "has no --- and +++ lines"),
        ("--- a/a.txt\n+++ b/a.txt\n", "no hunk for a.txt"),
        ("--- a/x\n+++ b/x\nGIT binary patch\n", "no hunk"),
        ("diff --git a/x b/x\nGIT binary patch\nliteral", "binary"),
        ("--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n-x\n", "adds a new file and yet"),
        ("--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "does not remove all"),
        ('--- "a/\\303"\n+++ "b/\\303"\n@@ -1 +1 @@\n-a\n+b', "is quoted"),
        ("x" * 2_000_001, "2000001 characters"),
    ],
)
async def test_patches_that_are_none(bench: Bench, patch: str, said: str) -> None:
    bench.put("a.txt", "one\ntwo\n")
    done = await bench.run(apply_patch, patch=patch)
    assert done.is_error
    assert said in done.text
    assert bench.text("a.txt") == "one\ntwo\n"


async def test_a_git_diff(bench: Bench) -> None:
    bench.put("a.txt", "".join(f"{number}\n" for number in range(1, 21)))
    bench.put("name.txt", "same\n")
    bench.put("empty", "")
    patch = (
        "diff --git a/a.txt b/a.txt\nindex 123..456 100644\n--- a/a.txt\n+++ b/a.txt\n"
        "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n@@ -18,3 +18,4 @@ text\n 18\n 19\n 20\n+21\n"
        "diff --git a/name.txt b/other.txt\nsimilarity index 100%\nrename from name.txt\nrename to other.txt\n"
        "diff --git a/new b/new\nnew file mode 100644\nindex 000..e69\n"
        "diff --git a/empty b/empty\ndeleted file mode 100644\nindex e69..000\n"
        "diff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+n\n"
        "\\ No newline at end of file\n"
    )
    done = await bench.run(apply_patch, patch=patch)
    assert not done.is_error, done.text
    assert bench.text("a.txt").split("\n")[:3] == ["1", "two", "3"]
    assert bench.text("a.txt").endswith("20\n21\n")
    assert bench.text("other.txt") == "same\n"
    assert bench.content("name.txt") is None
    assert bench.content("new") == b""
    assert bench.content("empty") is None
    assert bench.content("n.txt") == b"n"


async def test_lines_that_moved_are_found_if_they_stand_once(bench: Bench) -> None:
    bench.put("a.txt", "new\nnew\nnew\na\nb\nc\nd\nx\ny\n")
    patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -5,2 +5,2 @@\n-x\n+X\n y\n"
    done = await bench.run(apply_patch, patch=patch)
    assert not done.is_error, done.text
    assert bench.text("a.txt") == "new\nnew\nnew\na\nB\nc\nd\nX\ny\n"


async def test_the_named_line_decides_between_equal_ones(bench: Bench) -> None:
    bench.put("a.txt", "x\ny\nx\ny\nx\ny\n")
    await bench.run(apply_patch, patch="--- a/a.txt\n+++ b/a.txt\n@@ -3,2 +3,2 @@\n-x\n+X\n y\n")
    assert bench.text("a.txt") == "x\ny\nX\ny\nx\ny\n"
    done = await bench.run(apply_patch, patch="--- a/a.txt\n+++ b/a.txt\n@@ -2,2 +2,2 @@\n-x\n+X\n y\n")
    assert done.kind == "ambiguous_match"


async def test_wrong_counts_and_lost_spaces_are_forgiven(bench: Bench) -> None:
    bench.put("a.txt", "a\n\nb\nc\n")
    done = await bench.run(apply_patch, patch="--- a.txt\n+++ a.txt\n@@ -1,9 +1,2 @@\n a\n\n-b\n+B\n\n")
    assert not done.is_error, done.text
    assert bench.text("a.txt") == "a\n\nB\nc\n"


async def test_crlf_files_accept_lf_patches_and_stay_crlf(bench: Bench) -> None:
    bench.put("a.txt", "one\r\ntwo\r\nthree\r\n")
    await bench.run(apply_patch, patch=marked("*** Update File: a.txt", "@@", " one", "-two", "+2", "+2½"))
    assert bench.content("a.txt") == "one\r\n2\r\n2½\r\nthree\r\n".encode()
    bench.put("b.txt", "one\ntwo\n")
    await bench.run(
        apply_patch, patch=marked("*** Update File: b.txt", "@@", " one", "-two", "+2").replace("\n", "\r\n")
    )
    assert bench.content("b.txt") == b"one\n2\n"


async def test_nothing_is_special_in_new_lines(bench: Bench) -> None:
    bench.put("a.txt", "one\n")
    await bench.run(apply_patch, patch=marked("*** Update File: a.txt", "@@", "-one", "+$& \\1 *** End", "+@@"))
    assert bench.text("a.txt") == "$& \\1 *** End\n@@\n"


# --- there and back ------------------------------------------------------------------------------------------------

files = st.text(st.sampled_from("ab-+ @\\\n\n\n\r"), max_size=40) | st.lists(
    st.sampled_from(["a", "b", "", "-- a", "++ b", "--- a/f", "@@ -1 +1 @@", "*** x", "diff --git a", "\\ x", " "]),
    max_size=14,
).map("\n".join)


def _difflib(old: str, new: str, context: int) -> str:
    lines = [text.split("\n") for text in (old, new)]
    versions = [[line + "\n" for line in text[:-1]] + ([text[-1]] if text[-1] else []) for text in lines]
    diff = difflib.unified_diff(versions[0], versions[1], "a/f", "b/f", n=context)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in diff)


@settings(max_examples=scaled(250))
@given(files, files, st.integers(0, 4))
def test_a_diff_applied_gives_the_new_text(old: str, new: str, context: int) -> None:
    patch = _difflib(old, new, context)
    if not patch:
        return
    (file,) = read_patch(patch)
    assert apply_hunks(old, file.hunks, "f") == new


@settings(max_examples=scaled(100))
@given(files, files)
def test_our_own_diff_applied_gives_the_new_text(old: str, new: str) -> None:
    patch = unified_diff("f", old.encode(), new.encode())
    bench = Bench(MemoryWorkspace({"f": old}))
    if not patch:
        return
    done = bench.run_sync(apply_patch, patch=patch)
    assert not done.is_error, done.text
    assert bench.text("f") == new


@settings(max_examples=scaled(60))
@given(st.lists(st.tuples(files, files), min_size=1, max_size=3), st.booleans())
def test_many_files_there_and_back(pairs: list[tuple[str, str]], drop: bool) -> None:
    before = {f"d/{number}": old for number, (old, _) in enumerate(pairs)}
    patch = "".join(unified_diff(f"d/{number}", old.encode(), new.encode()) for number, (old, new) in enumerate(pairs))
    if drop:
        before["gone"] = "x\n"
        patch += unified_diff("gone", b"x\n", None) + unified_diff("come", None, b"y")
    if not patch:
        return
    bench = Bench(MemoryWorkspace(before))
    done = bench.run_sync(apply_patch, patch=patch)
    assert not done.is_error, done.text
    for number, (_, new) in enumerate(pairs):
        assert bench.text(f"d/{number}") == new
    assert bench.content("come") == (b"y" if drop else None)
    assert bench.content("gone") is None


@settings(max_examples=scaled(250))
@given(st.text(max_size=80) | files.map(lambda text: f"*** Begin Patch\n*** Update File: f\n{text}\n*** End Patch"))
def test_any_text_is_a_patch_or_a_fault(patch: str) -> None:
    bench = Bench(MemoryWorkspace({"f": "a\nb\n"}))
    done = bench.run_sync(apply_patch, patch=patch)
    if done.is_error:
        assert bench.text("f") == "a\nb\n"


def test_repetition_is_fast() -> None:
    text = "a\n" * 100_000
    start = time.process_time()
    for old in (["a"] * 40_000 + ["b"], ["a"] * 40_000, ["a"], ["b"] * 40_000):
        (file,) = read_patch(marked("*** Update File: f", "@@", *(f"-{line}" for line in old), "+x"))
        with pytest.raises(ToolFault):
            apply_hunks(text, file.hunks, "f")
    with pytest.raises(ToolFault):
        read_patch(
            "--- a\n+++ b\n" + "@@ -1,9 +1 @@\n\n\n\n" * 10_000 + "\n" * 100_000 + "@@ -1 +1 @@x\n?\n--- \n+++ \n"
        )
    assert time.process_time() - start < 30
