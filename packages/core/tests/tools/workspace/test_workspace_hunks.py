"""Differences in pieces: whichever are taken, every line comes from one side or the other, and nothing is lost."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heald.tools.workspace.base import Change
from heald.tools.workspace.hunks import MAX_HUNK_BYTES, apply_selected_hunks, split_hunks
from heald.tools.workspace.memory import MemoryWorkspace
from heald.tools.workspace.paths import PathFault
from heald.tools.workspace.revision_log import digest

LINES = [f"line {number}\n" for number in range(40)]
OLD = "".join(LINES).encode()


def changed(*numbers: int) -> bytes:
    return "".join(f"NEW {n}\n" if n in numbers else line for n, line in enumerate(LINES)).encode()


texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d", "e\r\n"]), max_size=60).map(
    lambda lines: "".join(lines).encode()
)


def test_hunks_stand_apart_and_state_what_they_are():
    hunks = split_hunks(OLD, changed(3, 4, 30))
    assert hunks is not None
    assert [(hunk.added, hunk.removed) for hunk in hunks] == [(2, 2), (1, 1)]
    assert hunks[0].text.startswith("@@ -1,8 +1,8 @@\n line 0\n")
    assert "-line 30\n+NEW 30\n" in hunks[1].text


def test_each_hunk_is_accepted_by_itself():
    new = changed(3, 30)
    assert apply_selected_hunks(OLD, new, [0]) == changed(3)
    assert apply_selected_hunks(OLD, new, [1]) == changed(30)
    assert apply_selected_hunks(OLD, new, [0, 1, 1]) == new
    assert apply_selected_hunks(OLD, new, []) == OLD
    with pytest.raises(IndexError):
        apply_selected_hunks(OLD, new, [2])


def test_a_file_that_was_not_there_is_one_hunk():
    assert len(split_hunks(None, OLD) or ()) == 1
    assert apply_selected_hunks(None, OLD, [0]) == OLD
    assert apply_selected_hunks(None, OLD, []) is None
    assert apply_selected_hunks(OLD, None, [0]) is None


def test_what_is_not_text_has_no_hunks():
    assert split_hunks(b"\x00\x01", OLD) is None
    assert split_hunks(OLD, b"\xff\xfe") is None
    assert split_hunks(OLD, OLD) == []


def test_a_long_hunk_is_shown_in_part():
    hunks = split_hunks(None, b"word word word\n" * 20_000)
    assert hunks is not None
    assert len(hunks[0].text.encode()) < MAX_HUNK_BYTES + 100
    assert hunks[0].text.endswith("more lines are left out\n")
    assert hunks[0].added == 20_000


@given(texts, texts, st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_choice_of_hunks_is_reached_from_both_sides(old: bytes, new: bytes, data: st.DataObject):
    hunks = split_hunks(old, new)
    assert hunks is not None
    numbers = range(len(hunks))
    taken = data.draw(st.sets(st.sampled_from(numbers)) if hunks else st.just(set[int]()))
    between = apply_selected_hunks(old, new, taken)
    assert between is not None
    assert apply_selected_hunks(old, new, numbers) == new
    assert apply_selected_hunks(old, new, ()) == old
    rest = split_hunks(between, new)
    assert rest is not None
    assert apply_selected_hunks(between, new, range(len(rest))) == new


@given(st.sets(st.integers(0, 39), max_size=6), st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_hunks_that_are_accepted_keep_the_others(numbers: set[int], data: st.DataObject):
    new = changed(*numbers)
    hunks = split_hunks(OLD, new) or []
    taken = data.draw(st.sets(st.sampled_from(range(len(hunks)))) if hunks else st.just(set[int]()))
    between = apply_selected_hunks(OLD, new, taken)
    assert [hunk.text.partition("\n")[2] for hunk in split_hunks(OLD, between) or []] == [
        hunks[n].text.partition("\n")[2] for n in sorted(taken)
    ]


def test_a_person_puts_a_file_back_and_the_session_has_to_look():
    project = MemoryWorkspace({"a.txt": "one\n"})
    made: list[Change] = []
    project.write("a.txt", "two\n", on_change=made.append)
    assert made[0].found == digest(b"one\n")
    change = project.replace_content("a.txt", b"one\n", instead_of=digest(b"two\n"), on_change=made.append)
    assert (change.revision, change.prev_hash, change.found) == (2, digest(b"two\n"), None)
    with pytest.raises(PathFault) as refused:
        project.write("a.txt", "three\n", on_change=made.append)
    assert refused.value.kind == "stale_read"
    assert project.read_text("a.txt") == "one\n"
    project.write("a.txt", "three\n", on_change=made.append)
    assert [change.revision for change in made] == [1, 2, 3]


def test_a_file_that_somebody_changed_meanwhile_is_not_put_back():
    project = MemoryWorkspace({"a.txt": "one\n"})
    project.write("a.txt", "two\n", on_change=lambda _: None)
    with pytest.raises(PathFault) as refused:
        project.replace_content("a.txt", b"one\n", instead_of=digest(b"other\n"), on_change=lambda _: None)
    assert refused.value.kind == "stale_read"
    assert project.read_text("a.txt") == "two\n"


def test_what_is_protected_is_not_put_back():
    project = MemoryWorkspace({})
    with pytest.raises(PathFault) as refused:
        project.replace_content(".git/config", b"x", instead_of=None, on_change=lambda _: None)
    assert refused.value.kind == "protected_path"
