"""What every workspace promises. Another one is held to it by adding it to `KINDS`."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heald.tools.workspace.base import Change, FileEdit, Workspace
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.memory import MemoryWorkspace
from heald.tools.workspace.paths import PathFault

KINDS = ("memory", "disk", "disk without openat2")


class Bench:
    """A workspace, the changes it announced, and a hand that changes files behind its back."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.folder = folder
        self.changes: list[Change] = []
        self.note: Callable[[Change], None] = self.changes.append
        self._memory = MemoryWorkspace() if kind == "memory" else None
        self.workspace: Workspace = self._memory or DiskWorkspace(folder, openat2=kind == "disk")

    def put(self, path: str, content: bytes | None) -> None:
        if self._memory is not None:
            self._memory.put(path, content)
        elif content is None:
            (self.folder / path).unlink()
        else:
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_bytes(content)

    def write(self, path: str, content: str | bytes, *, new: bool = False) -> Change | None:
        return self.workspace.write(path, content, on_change=self.note, new=new)

    def changed(self, path: str, content: str | bytes) -> Change:
        change = self.write(path, content)
        assert change is not None
        return change


@pytest.fixture(params=KINDS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(request.param, tmp_path)
    yield bench
    bench.workspace.close()


def fault(kind: str, act: Callable[[], object]) -> PathFault:
    with pytest.raises(PathFault) as caught:
        act()
    assert caught.value.kind == kind, str(caught.value)
    return caught.value


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_it_states_what_it_is(bench: Bench) -> None:
    assert bench.workspace.is_project is (bench.kind == "memory")
    assert bench.workspace.root == ("" if bench.kind == "memory" else str(bench.folder))


def test_what_was_written_is_read(bench: Bench) -> None:
    change = bench.changed("./src//app.py", "print('ä')\n")
    assert bench.workspace.read("src/app.py") == "print('ä')\n".encode()
    assert bench.workspace.read_text("src/app.py") == "print('ä')\n"
    assert change.path == "src/app.py"
    assert (change.revision, change.prev_hash) == (1, None)
    assert change.hash == sha("print('ä')\n".encode())
    assert change.size == 12
    assert change.diff.startswith("--- /dev/null\n+++ b/src/app.py\n@@ -0,0 +1 @@\n+print")
    assert bench.changes == [change]


def test_empty_files_and_bytes(bench: Bench) -> None:
    assert bench.changed("empty", "").size == 0
    assert bench.workspace.read("empty") == b""
    change = bench.changed("pixel.png", b"\x89PNG\0\xff")
    assert bench.workspace.read("pixel.png") == b"\x89PNG\0\xff"
    assert "Binary" in change.diff


def test_a_byte_order_mark_and_line_ends_are_kept(bench: Bench) -> None:
    bench.put("dos.txt", b"\xef\xbb\xbfone\r\ntwo")
    text = bench.workspace.read_text("dos.txt")
    assert text == "\ufeffone\r\ntwo"
    bench.changed("dos.txt", text + "\r\n")
    assert bench.workspace.read("dos.txt") == b"\xef\xbb\xbfone\r\ntwo\r\n"


@pytest.mark.parametrize("content", [b"a\0b", b"\xff\xfe", b"\xc3"])
def test_what_is_no_text(bench: Bench, content: bytes) -> None:
    bench.put("x.bin", content)
    fault("not_text", lambda: bench.workspace.read_text("x.bin"))
    assert bench.workspace.read("x.bin") == content


def test_half_a_character_is_not_written(bench: Bench) -> None:
    fault("not_text", lambda: bench.write("x.txt", "a\ud800"))
    assert not bench.workspace.exists("x.txt")


def test_a_file_too_large_names_its_size(bench: Bench) -> None:
    bench.put("big", b"x" * 101)
    assert "101" in str(fault("too_large", lambda: bench.workspace.read("big", limit=100)))
    assert len(bench.workspace.read("big", limit=101)) == 101
    assert bench.write("big", "over what was never read") is not None


def test_the_same_content_is_no_change(bench: Bench) -> None:
    bench.changed("a", "one")
    assert bench.write("a", "one") is None
    assert [change.revision for change in bench.changes] == [1]


def test_what_is_missing(bench: Bench) -> None:
    assert not bench.workspace.exists("no/such")
    message = str(fault("not_found", lambda: bench.workspace.read("no/such")))
    assert "'no/such'" in message
    assert str(bench.folder) not in message
    fault("not_found", lambda: bench.workspace.delete("no/such", on_change=bench.note))
    fault("not_found", lambda: bench.workspace.list("no/such"))
    fault("not_found", lambda: bench.workspace.undo("no/such", on_change=bench.note))
    assert bench.changes == []


def test_folders_are_not_files_and_files_not_folders(bench: Bench) -> None:
    bench.put("d/f", b"x")
    fault("is_a_folder", lambda: bench.workspace.read("d"))
    fault("is_a_folder", lambda: bench.write("d", "x"))
    fault("is_a_folder", lambda: bench.workspace.delete("d", on_change=bench.note))
    fault("not_a_folder", lambda: bench.write("d/f/g", "x"))
    fault("not_a_folder", lambda: bench.workspace.read("d/f/g"))
    fault("not_a_folder", lambda: bench.workspace.list("d/f"))
    fault("is_a_folder", lambda: bench.workspace.read(""))
    fault("is_a_folder", lambda: bench.write(".", "x"))
    assert bench.workspace.exists("d")
    assert bench.workspace.exists("")


def test_new_refuses_to_replace(bench: Bench) -> None:
    assert bench.write("a", "one", new=True) is not None
    fault("exists", lambda: bench.write("a", "two", new=True))
    fault("exists", lambda: bench.write("a", "one", new=True))
    assert bench.workspace.read("a") == b"one"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("../OUT/secret.txt", "path_outside_workspace"),
        ("a/../../b", "path_outside_workspace"),
        ("a/..", "path_outside_workspace"),
        ("/etc/passwd", "path_outside_workspace"),
        ("//x", "path_outside_workspace"),
        ("~/x", "path_outside_workspace"),
        ("C:/x", "path_outside_workspace"),
        ("/proc/self/environ", "path_outside_workspace"),
        ("/proc/self/root/etc/passwd", "path_outside_workspace"),
        ("/dev/stdin", "path_outside_workspace"),
        ("a\0.txt", "invalid_path"),
        ("ok.txt\0../../etc/passwd", "invalid_path"),
        ("..\\OUT", "invalid_path"),
        ("a\nb", "invalid_path"),
        ("a\x7f", "invalid_path"),
        ("a\x85b", "invalid_path"),
        ("a\u2028b", "invalid_path"),
        ("a\ud800", "invalid_path"),
        ("x" * 256, "invalid_path"),
        ("ä" * 128, "invalid_path"),
        ("a/" * 1025, "invalid_path"),
    ],
)
def test_paths_that_are_never_ours(bench: Bench, path: str, kind: str) -> None:
    workspace, note = bench.workspace, bench.note
    fault(kind, lambda: workspace.normal(path))
    fault(kind, lambda: workspace.read(path))
    fault(kind, lambda: workspace.read_text(path))
    fault(kind, lambda: workspace.exists(path))
    fault(kind, lambda: workspace.list(path))
    fault(kind, lambda: workspace.write(path, "x", on_change=note))
    fault(kind, lambda: workspace.write_all([FileEdit(path=path, content=b"x")], on_change=note))
    fault(kind, lambda: workspace.delete(path, on_change=note))
    fault(kind, lambda: workspace.undo(path, on_change=note))
    fault(kind, lambda: workspace.revisions(path))
    fault(kind, lambda: workspace.content_at(path, 0))
    assert bench.changes == []


@pytest.mark.parametrize("path", [".git/config", "sub/.git", ".agent/settings.json", "heald.toml", "AGENTS.md"])
def test_protected_files_are_read_and_never_written(bench: Bench, path: str) -> None:
    fault("protected_path", lambda: bench.write(path, "x"))
    assert not bench.workspace.exists(path)
    bench.put(path, b"mine")
    assert bench.workspace.read(path) == b"mine"
    assert bench.workspace.content_at(path, 0) == b"mine"
    fault("protected_path", lambda: bench.write(path, "x"))
    fault("protected_path", lambda: bench.workspace.delete(path, on_change=bench.note))
    edits = [FileEdit(path="ok", content=b"x"), FileEdit(path=path, content=b"x")]
    fault("protected_path", lambda: bench.workspace.write_all(edits, on_change=bench.note))
    assert bench.workspace.read(path) == b"mine"
    assert not bench.workspace.exists("ok")
    assert bench.changes == []


def test_others_changes_make_a_read_stale(bench: Bench) -> None:
    bench.put("a", b"one")
    bench.workspace.read("a")
    bench.put("a", b"theirs")
    assert "read it again" in str(fault("stale_read", lambda: bench.write("a", "mine")))
    fault("stale_read", lambda: bench.workspace.delete("a", on_change=bench.note))
    assert bench.workspace.read("a") == b"theirs"
    assert bench.changed("a", "mine").revision == 1
    assert bench.workspace.content_at("a", 0) == b"theirs"


def test_a_file_deleted_by_others(bench: Bench) -> None:
    bench.changed("a", "one")
    bench.put("a", None)
    fault("stale_read", lambda: bench.write("a", "two"))
    fault("not_found", lambda: bench.workspace.read("a"))
    bench.changed("a", "two")
    assert [(change.revision, change.hash is None) for change in bench.changes] == [(1, False), (2, True), (3, False)]


def test_what_was_never_read_may_be_replaced(bench: Bench) -> None:
    bench.put("a", b"one")
    assert bench.changed("a", "two").revision == 1


def test_what_others_wrote_is_a_revision_of_its_own(bench: Bench) -> None:
    bench.changed("a", "one\n")
    bench.put("a", b"theirs\n")
    bench.workspace.read("a")
    bench.changed("a", "mine\n")
    assert [change.revision for change in bench.changes] == [1, 2, 3]
    assert [change.hash for change in bench.changes] == [sha(b"one\n"), sha(b"theirs\n"), sha(b"mine\n")]
    assert [change.prev_hash for change in bench.changes] == [None, sha(b"one\n"), sha(b"theirs\n")]
    assert "-one\n+theirs\n" in bench.changes[1].diff
    assert "-theirs\n+mine\n" in bench.changes[2].diff
    assert bench.workspace.revisions("a") == tuple(bench.changes)
    assert bench.workspace.content_at("a", 2) == b"theirs\n"


def test_others_wrote_what_was_meant(bench: Bench) -> None:
    bench.changed("a", "one")
    bench.put("a", b"two")
    assert bench.write("a", "two") is None
    assert bench.changed("a", "three").revision == 3


def test_undo_and_redo(bench: Bench) -> None:
    bench.put("a", b"found")
    bench.changed("a", "one")
    bench.changed("a", "two")
    undone = bench.workspace.undo("a", on_change=bench.note)
    assert (undone.revision, undone.hash, undone.prev_hash) == (3, sha(b"one"), sha(b"two"))
    assert bench.workspace.undo("a", on_change=bench.note).hash == sha(b"two")
    assert bench.workspace.undo("a", 1, on_change=bench.note).hash == sha(b"found")
    assert bench.workspace.read("a") == b"found"
    assert [change.revision for change in bench.changes] == [1, 2, 3, 4, 5]
    fault("not_found", lambda: bench.workspace.undo("a", 6, on_change=bench.note))
    fault("not_found", lambda: bench.workspace.undo("a", 0, on_change=bench.note))


def test_undo_of_a_new_file_deletes_it_and_of_that_brings_it_back(bench: Bench) -> None:
    bench.changed("a", "one")
    assert bench.workspace.undo("a", on_change=bench.note).hash is None
    assert not bench.workspace.exists("a")
    assert bench.workspace.content_at("a", 0) is None
    assert bench.workspace.undo("a", on_change=bench.note).hash == sha(b"one")
    assert bench.workspace.read("a") == b"one"


def test_undo_does_not_trample_on_others(bench: Bench) -> None:
    bench.changed("a", "one")
    bench.changed("a", "two")
    bench.put("a", b"theirs")
    fault("stale_read", lambda: bench.workspace.undo("a", on_change=bench.note))
    bench.put("a", b"one")
    assert bench.workspace.undo("a", on_change=bench.note).hash == sha(b"one")
    assert [change.revision for change in bench.changes] == [1, 2, 3]
    assert bench.workspace.undo("a", 2, on_change=bench.note) == bench.changes[-1]


def test_delete(bench: Bench) -> None:
    bench.changed("d/a", "one\n")
    change = bench.workspace.delete("d/a", on_change=bench.note)
    assert (change.revision, change.hash, change.prev_hash, change.size) == (2, None, sha(b"one\n"), 0)
    assert change.diff == "--- a/d/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"
    assert not bench.workspace.exists("d/a")
    assert bench.changed("d/a", "two").prev_hash is None
    assert [change.revision for change in bench.changes] == [1, 2, 3]


def test_contents_of_revisions(bench: Bench) -> None:
    assert bench.workspace.content_at("a", 0) is None
    bench.put("a", b"found")
    assert bench.workspace.content_at("a", 0) == b"found"
    fault("not_found", lambda: bench.workspace.content_at("a", 1))
    bench.changed("a", "one")
    assert [bench.workspace.content_at("a", number) for number in (0, 1)] == [b"found", b"one"]
    fault("not_found", lambda: bench.workspace.content_at("a", 2))
    fault("not_found", lambda: bench.workspace.content_at("a", -1))


def test_a_group_is_done_whole(bench: Bench) -> None:
    bench.put("old", b"x")
    bench.put("same", b"s")
    edits = [
        FileEdit(path="b/new", content=b"n"),
        FileEdit(path="same", content=b"s"),
        FileEdit(path="old", content=None),
        FileEdit(path="a", content=b"a"),
    ]
    changes = bench.workspace.write_all(edits, on_change=bench.note)
    assert [change.path for change in changes] == ["b/new", "old", "a"]
    assert list(changes) == bench.changes
    assert [entry.path for entry in bench.workspace.list(depth=None)] == ["a", "b", "b/new", "same"]


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (FileEdit(path="missing", content=None), "not_found"),
        (FileEdit(path="../x", content=b""), "path_outside_workspace"),
        (FileEdit(path=".git/x", content=b""), "protected_path"),
        (FileEdit(path="seen", content=b"mine"), "stale_read"),
        (FileEdit(path="./new", content=b"twice"), "invalid_path"),
        (FileEdit(path="new/below", content=b""), "not_a_folder"),
        (FileEdit(path="d", content=b""), "is_a_folder"),
        (FileEdit(path="seen/x", content=b""), "not_a_folder"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_group_is_not_done_at_all(bench: Bench, bad: FileEdit, kind: str, first: bool) -> None:
    bench.put("seen", b"one")
    bench.put("d/f", b"f")
    bench.workspace.read("seen")
    bench.put("seen", b"theirs")
    good = [FileEdit(path="new", content=b"n"), FileEdit(path="d/f", content=None), FileEdit(path="e/e/e", content=b"")]
    edits = [bad, *good] if first else [*good, bad]
    fault(kind, lambda: bench.workspace.write_all(edits, on_change=bench.note))
    assert [entry.path for entry in bench.workspace.list(depth=None)] == ["d", "d/f", "seen"]
    assert bench.changes == []


def test_an_empty_group(bench: Bench) -> None:
    assert list(bench.workspace.write_all([], on_change=bench.note)) == []


def test_listing(bench: Bench) -> None:
    for path in ("a/x", "a-b", "a/.h/y", ".hidden", "b/c/d", ".git/HEAD", "Z"):
        bench.put(path, b"123")
    paths = [entry.path for entry in bench.workspace.list(depth=None)]
    assert paths == [".git", ".hidden", "Z", "a", "a/.h", "a/.h/y", "a/x", "a-b", "b", "b/c", "b/c/d"]
    assert [entry.path for entry in bench.workspace.list()] == [".git", ".hidden", "Z", "a", "a-b", "b"]
    assert [entry.path for entry in bench.workspace.list("./a/", depth=None, hidden=False)] == ["a/x"]
    assert [entry.path for entry in bench.workspace.list(depth=2, hidden=False)] == ["Z", "a", "a/x", "a-b", "b", "b/c"]
    assert [entry.path for entry in bench.workspace.list(".git", depth=None)] == [".git/HEAD"]
    kinds = {entry.path: (entry.kind, entry.size) for entry in bench.workspace.list(depth=None)}
    assert kinds["a"] == ("folder", 0)
    assert kinds["a/x"] == ("file", 3)
    assert bench.workspace.list().cut is False


def test_a_listing_states_when_it_is_cut(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "memory" if bench.kind == "memory" else "disk"
    monkeypatch.setattr(f"heald.tools.workspace.{module}.MAX_ENTRIES", 3)
    for name in "abc":
        bench.put(f"{name}/x", b"")
    listing = bench.workspace.list(depth=None)
    assert [entry.path for entry in listing] == ["a", "a/x", "b"]
    assert listing.cut
    assert not bench.workspace.list().cut


def test_files_are_the_texts_of_the_session(bench: Bench) -> None:
    bench.put("theirs", b"t")
    bench.changed("mine", "m")
    bench.changed("gone", "g")
    bench.workspace.delete("gone", on_change=bench.note)
    bench.changed("binary", b"\0")
    bench.put("mine", b"edited by hand")
    files = {"mine": "edited by hand"}
    assert bench.workspace.files() == (files | {"theirs": "t"} if bench.kind == "memory" else files)
    fault("stale_read", lambda: bench.write("mine", "x"))


def test_old_contents_are_dropped_but_not_their_hashes(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heald.tools.workspace.revision_log.MAX_KEPT_BYTES", 2500)
    for letter in "abcde":
        bench.changed("f", letter * 1000)
    assert "no longer stored" in str(fault("not_found", lambda: bench.workspace.content_at("f", 3)))
    assert bench.workspace.content_at("f", 4) == b"d" * 1000
    assert [change.hash for change in bench.workspace.revisions("f")] == [sha(c.encode() * 1000) for c in "abcde"]
    fault("not_found", lambda: bench.workspace.undo("f", 1, on_change=bench.note))
    assert bench.workspace.undo("f", on_change=bench.note).hash == sha(b"d" * 1000)


def test_many_threads_make_one_chain(bench: Bench) -> None:
    def work(name: str) -> None:
        for number in range(25):
            bench.write("shared", f"{name} {number}")
            bench.write(f"own/{name}", f"{number}")

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    shared = [change for change in bench.changes if change.path == "shared"]
    assert [change.revision for change in shared] == list(range(1, 101))
    assert [change.prev_hash for change in shared[1:]] == [change.hash for change in shared[:-1]]
    assert bench.workspace.revisions("shared") == tuple(shared)
