"""`/review main..` of `heald chat`: the commits of a branch, with the numbers of their lines."""

from pathlib import Path

import pytest
from cli_repository import git, make_repository
from cli_tmux import NEEDS_TMUX, Tmux

from cli_pages import here
from heald.core.errors import ConfigurationError
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.git.repository import find_repository
from heald_cli.repository.branch_diff import read_branch_diff


def make_branch() -> None:
    make_repository()
    git("branch", "-M", "main")
    git("switch", "-qc", "topic")
    here("a.txt").write_text("one\ntwo\n-- three\n")
    git("commit", "-qam", "More lines")
    git("switch", "-q", "main")
    here("other.txt").write_text("only in main\n")
    git("add", "-A")
    git("commit", "-qm", "Something else")
    git("switch", "-q", "topic")


def test_lines_have_the_numbers_of_the_new_file() -> None:
    make_branch()
    repository = find_repository(".")
    assert repository is not None
    diff = read_branch_diff(repository, "main..")
    assert "    2 +two" in diff.splitlines()
    assert "    3 +-- three" in diff.splitlines()
    assert "only in main" not in diff
    assert read_branch_diff(repository, "main..topic") == diff
    for commits in ("nothing..", "--output=x..", "main"):
        with pytest.raises(ConfigurationError):
            read_branch_diff(repository, commits)
    assert not here("x").exists()


@NEEDS_TMUX
async def test_a_branch_is_reviewed(tmp_path: Path) -> None:
    make_branch()
    async with ScriptedServer(lambda _: wire_reply("chat", text="a.txt:2: two is wrong")) as server:
        place = ["--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data")]
        async with Tmux(tmp_path, "chat", *place) as terminal:
            await terminal.shows("heald with m")
            await terminal.enter("/review main..")
            await terminal.shows("Review the commits main..", "a.txt:2: two is wrong", seconds=60)
            await terminal.enter("/review topic..")
            await terminal.shows("topic.. changes nothing.", seconds=60)
    assert "2 +two" in str(server.requests[0].body["messages"][-1])
