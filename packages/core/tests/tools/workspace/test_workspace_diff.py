"""Unified diffs: right, whatever the texts, and bounded."""

import random
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald.tools.workspace import line_comparison
from heald.tools.workspace.diff import MAX_DIFF_BYTES, unified_diff

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d\r\n", "é\n", "\x0c\u2028x\n"]), max_size=30)
ENDS = st.sampled_from(["", "z", "a"])
TEXTS = st.tuples(LINES, ENDS).map(lambda parts: ("".join(parts[0]) + parts[1]).encode())
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def patched(old: bytes, diff: str) -> bytes:
    """Apply a diff the slow and simple way, checking each line and number of it."""
    source, result, at = re.findall(r"[^\n]*\n|[^\n]+", old.decode()), list[str](), 0
    lines = re.findall(r"[^\n]*\n", diff)[2:]
    left_old = left_new = 0
    for index, line in enumerate(lines):
        text = line[1:]
        if index + 1 < len(lines) and lines[index + 1].startswith("\\"):
            text = text.removesuffix("\n")
        match line[0]:
            case "@":
                assert left_old == left_new == 0
                header = HUNK.fullmatch(line.rstrip("\n"))
                assert header
                start, left_old = int(header[1]), int(header[2] or 1)
                new_start, left_new = int(header[3]), int(header[4] or 1)
                start -= 1 if left_old else 0
                result += source[at:start]
                at = start
                assert new_start - (1 if left_new else 0) == len(result)
            case " ":
                assert source[at] == text
                result.append(text)
                at, left_old, left_new = at + 1, left_old - 1, left_new - 1
            case "-":
                assert source[at] == text
                at, left_old = at + 1, left_old - 1
            case "+":
                result.append(text)
                left_new -= 1
            case mark:
                assert mark == "\\"
    assert left_old == left_new == 0
    return "".join(result + source[at:]).encode()


@given(TEXTS, TEXTS)
def test_a_diff_turns_the_old_text_into_the_new(old: bytes, new: bytes) -> None:
    diff = unified_diff("f", old, new)
    assert (diff == "") == (old == new)
    assert patched(old, diff) == new


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_what_both_share_is_left_out(head: bytes, old: bytes, new: bytes, tail: bytes) -> None:
    shared = b"same\n" * 40
    before, after = head + shared + old + shared + tail, head + shared + new + shared + tail
    diff = unified_diff("f", before, after)
    assert patched(before, diff) == after
    if head.endswith(b"\n") and old.endswith(b"\n") and new.endswith(b"\n") and old != new:
        assert re.search(r"@@.*@@\n( .*\n){3}[-+]", diff)
        assert re.search(r"[-+].*\n( .*\n){3}(@@.*|$)", diff)
    assert diff.count("\n") <= 2 + 2 * 6 + 4 * (old.count(b"\n") + new.count(b"\n") + 2)


@given(TEXTS, TEXTS)
def test_without_a_budget_it_is_longer_and_still_right(old: bytes, new: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_comparison, "_MAX_STEPS", 0)
        assert patched(old, unified_diff("f", old, new)) == new


@pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")
def test_patch_accepts_it(tmp_path: Path) -> None:
    cases = [(b"", b"a"), (b"a", b""), (b"a\nb\nc\n", b"a\nB\nc"), (b"x\n" * 20, b"x\n" * 9 + b"y\n" + b"x\n" * 12)]
    for old, new in cases:
        (tmp_path / "f").write_bytes(old)
        diff = unified_diff("f", old, new)
        subprocess.run(["patch", "-p1", "--no-backup-if-mismatch"], cwd=tmp_path, input=diff.encode(), check=True)
        assert (tmp_path / "f").read_bytes() == new


def test_the_last_line_without_an_end() -> None:
    assert unified_diff("f", b"a\nb", b"a\nb\n") == (
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
    )


def test_files_that_come_and_go() -> None:
    assert unified_diff("f", None, b"a\n") == "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"
    assert unified_diff("f", b"a\n", None) == "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    assert unified_diff("f", None, b"") == "--- /dev/null\n+++ b/f\n"


def test_two_far_changes_are_two_hunks() -> None:
    lines = [f"{number}\n".encode() for number in range(100)]
    changed = [b"first\n", *lines[1:50], b"middle\n", *lines[51:]]
    diff = unified_diff("f", b"".join(lines), b"".join(changed))
    assert re.findall("@@.*@@", diff) == ["@@ -1,4 +1,4 @@", "@@ -48,7 +48,7 @@"]


@pytest.mark.parametrize(("gap", "hunks"), [(1, 1), (4, 1), (6, 1), (7, 2), (8, 2)])
def test_near_changes_share_a_hunk(gap: int, hunks: int) -> None:
    between = b"".join(b"%d\n" % number for number in range(gap))
    before, after = b"a\n" + between + b"b\n", b"A\n" + between + b"B\n"
    diff = unified_diff("f", before, after)
    assert diff.count("@@ -") == hunks
    assert patched(before, diff) == after


def test_what_is_no_text() -> None:
    assert unified_diff("f", b"a\0", b"b") == "Binary files a/f and b/f differ\n"
    assert unified_diff("f", b"a", b"a" * 10_000 + b"\0").startswith("Binary")
    assert unified_diff("f", None, b"\xff") == "Binary files /dev/null and b/f differ\n"


def test_a_long_diff_states_what_is_left_out() -> None:
    new = b"".join(b"%06d\n" % number for number in range(50_000))
    diff = unified_diff("f", b"", new)
    assert len(diff.encode()) < MAX_DIFF_BYTES + 200
    line_count = diff.count("\n+0")
    assert f"… {50_000 - line_count} more lines ({8 * (50_000 - line_count)} bytes) of this diff are left out\n" in diff
    assert unified_diff("f", b"", b"x" * 100_000).endswith("are left out\n")


def test_bad_inputs_are_no_slower_than_good_ones() -> None:
    chance = random.Random(3)
    shuffled = [b"%d\n" % number for number in range(40_000)]
    other = shuffled[:]
    chance.shuffle(other)
    few = [chance.choice([b"a\n", b"b\n"]) for _ in range(20_000)]
    many = [chance.choice([b"a\n", b"b\n"]) for _ in range(20_000)]
    cases = [
        (shuffled, other),
        (few, many),
        ([b"a\n"] * 40_000, [b"a\n", b"b\n"] * 20_000),
        ([b"x" * 1000 + b"\n"] * 10_000 + [b"y"], [b"z"] + [b"x" * 1000 + b"\n"] * 10_000),
        ([b"\n"] * 3_000_000, [b"\n"] * 2_000_000 + [b"a"]),
    ]
    for old, new in cases:
        before, after = b"".join(old), b"".join(new)
        started = time.process_time()
        assert unified_diff("f", before, after)
        assert time.process_time() - started < 5


def test_one_change_in_a_huge_file_is_found_at_once() -> None:
    lines = [b"line %d\n" % number for number in range(1_000_000)]
    before = b"".join(lines)
    lines[700_000] = b"changed\n"
    diff = unified_diff("f", before, b"".join(lines))
    assert diff.splitlines()[2] == "@@ -699998,7 +699998,7 @@"
    assert "-line 700000\n+changed\n" in diff
