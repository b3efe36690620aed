"""Random work on a workspace, beside a model of it: the chain of revisions holds whatever happens."""

import hashlib
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from example_counts import scaled
from heald.tools.workspace.base import Change, FileEdit, Workspace
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.memory import MemoryWorkspace
from heald.tools.workspace.paths import PathFault

NAMES = st.sampled_from(["a", "b", "d/c"])
CONTENTS = st.sampled_from([b"", b"one\n", b"two\n", b"one\ntwo", b"\0bin", b"x" * 50])

Known = dict[str, bytes | None]


class Chain(RuleBasedStateMachine):
    """`now` is what is there, `seen` what the session last saw, `chains` the content of every revision from 0 on."""

    def __init__(self) -> None:
        super().__init__()
        self.now: Known = {}
        self.seen: Known = {}
        self.chains: dict[str, list[bytes | None]] = {}
        self.changes: list[Change] = []
        self.workspace = self.make()

    def make(self) -> Workspace:
        self.memory = MemoryWorkspace()
        return self.memory

    def put(self, path: str, content: bytes | None) -> None:
        self.memory.put(path, content)

    @rule(path=NAMES, content=CONTENTS)
    def others_write(self, path: str, content: bytes) -> None:
        self.put(path, content)
        self.now[path] = content

    @rule(path=NAMES)
    def others_delete(self, path: str) -> None:
        if self.now.get(path) is not None:
            self.put(path, None)
            self.now[path] = None

    @rule(path=NAMES)
    def read(self, path: str) -> None:
        if self.now.get(path) is None:
            with pytest.raises(PathFault):
                self.workspace.read(path)
            if path in self.seen:
                self.seen[path] = None
        else:
            assert self.workspace.read(path) == self.now[path]
            self.seen[path] = self.now[path]

    @rule(path=NAMES, content=CONTENTS)
    def write(self, path: str, content: bytes) -> None:
        self._group([FileEdit(path=path, content=content)], single=True)

    @rule(edits=st.dictionaries(NAMES, st.none() | CONTENTS))
    def write_all(self, edits: dict[str, bytes | None]) -> None:
        self._group([FileEdit(path=path, content=content) for path, content in edits.items()])

    @rule(path=NAMES)
    def delete(self, path: str) -> None:
        self._group([FileEdit(path=path, content=None)], single=True)

    @precondition(lambda self: bool(self.chains))
    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.chains)))
        chain = self.chains[path]
        revision = data.draw(st.none() | st.integers(1, len(chain) - 1))
        target = chain[(len(chain) - 1 if revision is None else revision) - 1]
        if target != self.now.get(path) and self._stale(path):
            with pytest.raises(PathFault) as caught:
                self.workspace.undo(path, revision, on_change=self.changes.append)
            assert caught.value.kind == "stale_read"
            return
        change = self.workspace.undo(path, revision, on_change=self.changes.append)
        assert change.hash == _hash(target)
        self._done(path, target)

    def _group(self, edits: list[FileEdit], *, single: bool = False) -> None:
        note, count = self.changes.append, len(self.changes)
        missing = [e for e in edits if e.content is None and self.now.get(e.path) is None]
        stale = [e for e in edits if e.content != self.now.get(e.path) and self._stale(e.path)]
        if missing or stale:
            with pytest.raises(PathFault) as caught:
                self.workspace.write_all(edits, on_change=note)
            assert caught.value.kind in ("not_found", "stale_read")
            assert len(self.changes) == count
            self._forgive(edits)
            return
        if single and edits[0].content is not None:
            self.workspace.write(edits[0].path, edits[0].content, on_change=note)
        elif single:
            self.workspace.delete(edits[0].path, on_change=note)
        else:
            self.workspace.write_all(edits, on_change=note)
        for edit in edits:
            if edit.content == self.now.get(edit.path):
                self.seen[edit.path] = edit.content
            else:
                self._done(edit.path, edit.content)

    def _forgive(self, edits: list[FileEdit]) -> None:
        """A refused group has looked at its files up to the one that was refused."""
        for edit in edits:
            current = self.now.get(edit.path)
            if edit.content is None and current is None:
                if edit.path in self.seen:
                    self.seen[edit.path] = None
                return
            if edit.content == current:
                self.seen[edit.path] = current
            elif self._stale(edit.path):
                return

    def _stale(self, path: str) -> bool:
        return path in self.seen and self.seen[path] != self.now.get(path)

    def _done(self, path: str, content: bytes | None) -> None:
        before = self.now.get(path)
        chain = self.chains.setdefault(path, [before])
        if len(chain) > 1 and chain[-1] != before:
            chain.append(before)
        if content != before:
            chain.append(content)
        self.now[path] = self.seen[path] = content

    @invariant()
    def the_chain_holds(self) -> None:
        for path, chain in self.chains.items():
            changes = [change for change in self.changes if change.path == path]
            assert [change.revision for change in changes] == list(range(1, len(chain)))
            assert [change.hash for change in changes] == [_hash(content) for content in chain[1:]]
            assert [change.prev_hash for change in changes] == [None, *(change.hash for change in changes)][:-1]
            assert self.workspace.revisions(path) == tuple(changes)
            assert [self.workspace.content_at(path, number) for number in range(len(chain))] == chain

    @invariant()
    def the_files_are_what_they_should_be(self) -> None:
        listed = {entry.path for entry in self.workspace.list(depth=None) if entry.kind == "file"}
        assert listed == {path for path, content in self.now.items() if content is not None}

    def teardown(self) -> None:
        self.workspace.close()


class DiskChain(Chain):
    openat2 = True

    def make(self) -> Workspace:
        self.folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        (self.folder / "d").mkdir()
        return DiskWorkspace(self.folder, openat2=self.openat2)

    def put(self, path: str, content: bytes | None) -> None:
        if content is None:
            (self.folder / path).unlink()
        else:
            (self.folder / path).write_bytes(content)

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.folder)


class DiskChainByName(DiskChain):
    openat2 = False


def _hash(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()


MANY = settings(max_examples=scaled(60), stateful_step_count=25, deadline=None)

TestMemoryChain = Chain.TestCase
TestMemoryChain.settings = MANY
TestDiskChain = DiskChain.TestCase
TestDiskChain.settings = MANY
TestDiskChainByName = DiskChainByName.TestCase
TestDiskChainByName.settings = settings(MANY, max_examples=scaled(20))
