"""A folder on a real disk, and all that can lie in it."""

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald.core.errors import ConfigurationError
from heald.tools.workspace.base import Change, FileEdit
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.paths import PathFault

CANARY = b"CANARY-7f3a"

needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="there is no /proc here")


class House:
    """A workspace WS, and beside it a folder OUT with a secret."""

    def __init__(self, folder: Path, *, openat2: bool) -> None:
        self.inside, self.outside = folder / "WS", folder / "OUT"
        self.inside.mkdir()
        self.outside.mkdir()
        (self.outside / "secret.txt").write_bytes(CANARY)
        self.workspace = DiskWorkspace(self.inside, openat2=openat2)
        self.changes: list[Change] = []

    def write(self, path: str, content: str = "x") -> Change | None:
        return self.workspace.write(path, content, on_change=self.changes.append)

    def refused(self, path: str, *kinds: str) -> None:
        """Nothing can be done with the path."""
        note = self.changes.append
        for act in (
            lambda: self.workspace.read(path),
            lambda: self.workspace.read_text(path),
            lambda: self.workspace.write(path, "x", on_change=note),
            lambda: self.workspace.write(path, "x", on_change=note, new=True),
            lambda: self.workspace.write_all([FileEdit(path=path, content=b"x")], on_change=note),
            lambda: self.workspace.delete(path, on_change=note),
            lambda: self.workspace.list(path),
        ):
            with pytest.raises(PathFault) as caught:
                act()
            assert caught.value.kind in kinds
            assert CANARY.decode() not in str(caught.value)
            assert str(self.inside.parent) not in str(caught.value)

    def untouched(self) -> bool:
        return (
            sorted(os.listdir(self.outside)) == ["secret.txt"]
            and (self.outside / "secret.txt").read_bytes() == CANARY
            and sorted(os.listdir(self.inside.parent)) == ["OUT", "WS"]
        )

    def names(self) -> list[str]:
        """All that is really there, temporaries too."""
        return sorted(str(path.relative_to(self.inside)) for path in self.inside.rglob("*"))


@pytest.fixture(params=[True, False], ids=["openat2", "by name"])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path, openat2=request.param)
    yield house
    house.workspace.close()


def test_paths_out_of_it(house: House) -> None:
    for path in ("../OUT/secret.txt", str(house.outside / "secret.txt"), str(house.inside / "a"), "/proc/self/fd/0"):
        house.refused(path, "path_outside_workspace")
    assert house.untouched()


@pytest.mark.parametrize("absolute", [True, False])
def test_a_link_to_a_folder_outside(house: House, absolute: bool) -> None:
    (house.inside / "link").symlink_to(house.outside if absolute else "../OUT")
    for path in ("link/secret.txt", "link/new", "link/new/er"):
        house.refused(path, "path_outside_workspace")
    with pytest.raises(PathFault) as caught:
        house.workspace.list("link")
    assert caught.value.kind == "path_outside_workspace"
    assert not house.workspace.exists("link/secret.txt")
    assert not house.workspace.exists("link")
    assert [(entry.path, entry.kind) for entry in house.workspace.list(depth=None)] == [("link", "link")]
    assert house.untouched()
    assert house.changes == []


def test_a_link_to_a_file_outside(house: House) -> None:
    (house.inside / "link").symlink_to("../OUT/secret.txt")
    house.refused("link", "path_outside_workspace")
    assert house.untouched()


def test_a_dangling_link_outside(house: House) -> None:
    (house.inside / "dangling").symlink_to(house.outside / "new")
    (house.inside / "relative").symlink_to("../OUT/new")
    house.refused("dangling", "path_outside_workspace")
    house.refused("relative", "path_outside_workspace")
    assert house.untouched()


def test_a_link_out_and_back_in_is_not_followed(house: House) -> None:
    (house.inside / "a").write_text("x")
    (house.inside / "link").symlink_to("../WS/a")
    house.refused("link", "path_outside_workspace")


def test_links_that_stay_inside_work(house: House) -> None:
    (house.inside / "real/deep").mkdir(parents=True)
    (house.inside / "real/file").write_text("one")
    (house.inside / "folder").symlink_to("real")
    (house.inside / "real/deep/up").symlink_to("../file")
    (house.inside / "chain").symlink_to("folder/deep/up")
    assert house.workspace.read("folder/file") == house.workspace.read("chain") == b"one"
    change = house.write("chain", "two")
    assert change is not None
    assert change.path == "chain"
    assert (house.inside / "real/file").read_text() == "two"
    assert (house.inside / "chain").is_symlink()
    assert (house.inside / "real/deep/up").is_symlink()
    house.write("folder/new/x", "three")
    assert (house.inside / "real/new/x").read_text() == "three"
    assert [entry.path for entry in house.workspace.list("folder", depth=None)] == [
        "folder/deep",
        "folder/deep/up",
        "folder/file",
        "folder/new",
        "folder/new/x",
    ]


def test_a_dangling_link_inside_makes_what_it_names(house: House) -> None:
    (house.inside / "link").symlink_to("sub/new")
    house.write("link", "x")
    assert (house.inside / "sub/new").read_text() == "x"


def test_a_loop_of_links_ends(house: House) -> None:
    (house.inside / "a").symlink_to("b")
    (house.inside / "b").symlink_to("a")
    house.refused("a", "path_outside_workspace")
    house.refused("a/x", "path_outside_workspace")


def test_links_do_not_open_what_is_protected(house: House) -> None:
    (house.inside / ".git/hooks").mkdir(parents=True)
    (house.inside / "innocent").symlink_to(".git")
    (house.inside / "hook.sh").symlink_to(".git/hooks/post-checkout")
    (house.inside / "later").symlink_to(".agent")
    for path in ("innocent/config", "innocent/hooks/x", "hook.sh", "later/settings.json"):
        with pytest.raises(PathFault) as caught:
            house.write(path)
        assert caught.value.kind == "protected_path"
    assert house.names() == [".git", ".git/hooks", "hook.sh", "innocent", "later"]


def test_two_names_of_one_file_in_a_group(house: House) -> None:
    (house.inside / "a").write_text("x")
    (house.inside / "link").symlink_to("a")
    edits = [FileEdit(path="a", content=b"1"), FileEdit(path="link", content=b"2")]
    with pytest.raises(PathFault, match="same file"):
        house.workspace.write_all(edits, on_change=house.changes.append)
    assert (house.inside / "a").read_text() == "x"


@pytest.mark.parametrize(
    "path", [".g\u200cit/config", "\uff0egit/config", ".git./config", "git~1/config", ".GIT/config"]
)
def test_protected_names_in_disguise(house: House, path: str) -> None:
    with pytest.raises(PathFault) as caught:
        house.write(path)
    assert caught.value.kind == "protected_path"
    assert house.names() == []


def test_pipes_and_sockets_are_neither_read_nor_replaced(house: House) -> None:
    os.mkfifo(house.inside / "pipe")
    (house.inside / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(house.inside)  # the path of a socket must be short
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
        house.refused("pipe", "not_a_regular_file", "not_a_folder")
        house.refused("link", "not_a_regular_file", "not_a_folder")
        house.refused("socket", "not_a_regular_file", "not_a_folder")
    kinds = {entry.path: entry.kind for entry in house.workspace.list()}
    assert kinds == {"pipe": "other", "socket": "other", "link": "link"}


def test_a_hard_link_to_a_file_outside_does_not_touch_it(house: House) -> None:
    os.link(house.outside / "secret.txt", house.inside / "hl")
    house.workspace.read("hl")
    house.write("hl", "mine")
    assert (house.inside / "hl").read_text() == "mine"
    assert house.untouched()


@pytest.mark.parametrize("mode", [0o600, 0o755, 0o640, 0o200])
def test_the_mode_is_kept(house: House, mode: int) -> None:
    file = house.inside / "x.txt"
    file.write_text("one")
    file.chmod(mode)
    if mode & 0o400:
        house.write("x.txt", "two")
        assert file.read_text() == "two"
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert house.names() == ["x.txt"]


def test_bits_that_lend_power_are_not_kept(house: House) -> None:
    file = house.inside / "tool"
    file.write_text("one")
    file.chmod(0o4755)
    house.write("tool", "two")
    assert stat.S_IMODE(file.stat().st_mode) == 0o755


def test_a_read_only_file_stays(house: House) -> None:
    file = house.inside / "x.txt"
    file.write_text("one")
    file.chmod(0o444)
    with pytest.raises(PathFault) as caught:
        house.write("x.txt", "two")
    assert caught.value.kind == "not_permitted"
    assert file.read_text() == "one"
    assert house.names() == ["x.txt"]


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        workspace = DiskWorkspace(tmp_path)
        workspace.write("d/new", "x", on_change=id)
        workspace.close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "d/new").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "d").stat().st_mode) == 0o750


@pytest.mark.skipif(os.geteuid() == 0, reason="root is permitted everything")
def test_a_folder_that_may_not_be_written(house: House) -> None:
    (house.inside / "d").mkdir(mode=0o500)
    with pytest.raises(PathFault) as caught:
        house.write("d/x")
    assert caught.value.kind == "not_permitted"


def test_names_that_no_path_can_hold_are_not_listed(house: House) -> None:
    for name in (b"ok", b"bad\xff", b"new\nline", b"back\\slash"):
        with open(os.path.join(os.fsencode(house.inside), name), "wb"):
            pass
    (house.inside / ".heald-0123456789abcdef.tmp").write_text("left by a killed writer")
    assert [entry.path for entry in house.workspace.list(depth=None)] == ["ok"]


def test_a_very_deep_tree_is_walked_to_a_bound(house: House) -> None:
    name, folders = "d" * 100, [os.open(house.inside, os.O_RDONLY)]
    try:
        for _ in range(60):
            os.mkdir(name, dir_fd=folders[-1])
            folders.append(os.open(name, os.O_RDONLY, dir_fd=folders[-1]))
        listing = house.workspace.list(depth=None)
    finally:
        os.close(folders.pop())
        while folders:  # no path is long enough to remove them all at once
            os.rmdir(name, dir_fd=folders[-1])
            os.close(folders.pop())
    assert len(listing) == 20  # of 101 bytes each, in paths of at most 2048


@needs_proc
def test_a_file_that_states_it_is_empty_and_is_not() -> None:
    workspace = DiskWorkspace("/proc/self")
    with pytest.raises(PathFault, match="more than the 10"):
        workspace.read("status", limit=10)
    assert b"Threads" in workspace.read("status")
    workspace.close()


@needs_proc
@pytest.mark.parametrize("openat2", [True, False], ids=["openat2", "by name"])
def test_links_that_the_system_makes_up_are_not_followed(tmp_path: Path, openat2: bool) -> None:
    workspace = DiskWorkspace("/proc/self", openat2=openat2)
    for path in ("root/etc/passwd", "cwd/pyproject.toml", "exe", "fd/0"):
        with pytest.raises(PathFault):
            workspace.read(path)
    workspace.close()


@needs_proc
def test_nothing_is_left_open(house: House) -> None:
    (house.inside / "a").write_text("one")
    (house.inside / "link").symlink_to("a")
    (house.inside / "out").symlink_to("..")
    before = len(os.listdir("/proc/self/fd"))
    for number in range(5):
        house.write(f"d/{number}/x", "x")
        house.write("link", f"{number}")
        house.workspace.list(depth=None)
        house.workspace.exists("a")
        house.refused("out/x", "path_outside_workspace")
        house.refused("a/b", "not_a_folder")
    assert len(os.listdir("/proc/self/fd")) == before
    house.workspace.close()
    house.workspace.close()
    assert len(os.listdir("/proc/self/fd")) == before - 1
    with pytest.raises(PathFault):
        house.workspace.read("a")


def test_a_workspace_needs_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="name a folder that exists"):
        DiskWorkspace(tmp_path / "missing")
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigurationError):
        DiskWorkspace(tmp_path / "file")


PIECES = st.sampled_from(
    ["..", ".", "", "a", "b", "out", "in", "secret.txt", "OUT", "~", "\0", "\\", ".git", "\u202e", "x" * 300, "．．"]
)
PATHS = st.text(max_size=30) | st.lists(PIECES | st.text(max_size=5), max_size=6).map("/".join)


@settings(max_examples=scaled(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=PATHS)
@example("in/x")
@example("in/../../OUT/x")
@example("out/secret.txt")
def test_any_path_is_refused_or_stays_inside(house: House, path: str) -> None:
    if not (house.inside / "out").is_symlink():
        (house.inside / "out").symlink_to(house.outside)
        (house.inside / "home").mkdir()
        (house.inside / "in").symlink_to("home")
    try:
        house.write(path, "stays inside")
    except PathFault:
        pass
    else:
        assert house.workspace.read(path) == b"stays inside"
        assert (house.inside / house.workspace.normal(path)).resolve().is_relative_to(house.inside.resolve())
        house.workspace.delete(path, on_change=house.changes.append)
    assert house.untouched()
