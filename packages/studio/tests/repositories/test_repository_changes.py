"""A change of a repository is a branch: the base stays as it was until it is merged. With real git."""

from pathlib import Path

import pytest
from repository_support import make_repository, workshop

from git_commands import git
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald_forges.remote import parse_remote
from heald_forges.remote_forge import NoForgeToken
from heald_studio.repositories.change_branch import BranchRefused, ChangeBranch
from heald_studio.repositories.pull_request import open_pull_request

TOKEN = "forge-canary-77"


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def changed(folder: Path, title: str = "A new title!") -> ChangeBranch:
    """A change that is committed."""
    changes = ChangeBranch(str(folder))
    changes.begin(title)
    (folder / "title.txt").write_text("After\n")
    (folder / "new file.txt").write_text("New\n")
    (folder / "check.mjs").unlink()
    changes.commit("Change the title\n\nWith a reason.")
    return changes


def test_a_change_leaves_its_base_alone_until_it_is_merged(tmp_path: Path) -> None:
    site = make_repository(tmp_path / "site")
    base = git(site, "rev-parse", "main").strip()
    changes = ChangeBranch(str(site))
    state = changes.begin("A new title!")
    assert (state.branch, state.base, state.changed) == ("heald/a-new-title", "main", [])
    (site / "title.txt").write_text("After\n")
    (site / "new file.txt").write_text("New\n")
    (site / "check.mjs").unlink()
    state = changes.state()
    assert state is not None
    assert state.changed == ["check.mjs", "new file.txt", "title.txt"]
    (site / "linked").symlink_to("/etc/hostname")
    diff = changes.diff()
    assert "+After" in diff
    assert (
        "diff --git a/new file.txt b/new file.txt\nnew file\n--- /dev/null\n+++ b/new file.txt\n@@ -0,0 +1 @@\n+New\n"
        in diff
    )
    assert "+/etc/hostname\n" in diff  # where the link leads, and not what is there
    (site / "linked").unlink()
    commit = changes.commit("Change the title\n\nWith a reason.")
    assert git(site, "rev-parse", "main").strip() == base
    assert git(site, "rev-parse", "HEAD").strip() == commit
    assert git(site, "status", "--porcelain") == ""
    assert git(site, "log", "-1", "--format=%B").strip() == "Change the title\n\nWith a reason."
    assert git(site, "show", "--name-status", "--format=", "HEAD").split("\n")[:3] == [
        "D\tcheck.mjs",
        "A\tnew file.txt",
        "M\ttitle.txt",
    ]
    state = changes.merge()
    assert (state.branch, state.base) == ("main", "")
    assert git(site, "rev-parse", "main").strip() == commit
    assert git(site, "status", "--porcelain") == ""
    assert git(site, "fsck", "--strict") == ""


def test_leaving_brings_the_files_of_the_base_back_and_keeps_the_branch(tmp_path: Path) -> None:
    site = make_repository(tmp_path / "site")
    changes = changed(site)
    state = changes.go_back()
    assert (state.branch, state.changed) == ("main", [])
    assert (site / "title.txt").read_text() == "Before\n"
    assert (site / "check.mjs").exists()
    assert not (site / "new file.txt").exists()
    assert git(site, "show", "heald/a-new-title:title.txt") == "After\n"
    assert changes.begin("A new title!").branch == "heald/a-new-title-2"


def test_what_would_lose_or_mix_work_is_refused(tmp_path: Path) -> None:
    site = make_repository(tmp_path / "site")
    changes = ChangeBranch(str(site))
    (site / "title.txt").write_text("Mine\n")
    with pytest.raises(BranchRefused, match="1 files are not committed"):
        changes.begin("x")
    git(site, "commit", "-qam", "Mine")
    with pytest.raises(BranchRefused, match="no open change"):
        changes.commit("x")
    changes.begin("x")
    with pytest.raises(BranchRefused, match="still open"):
        changes.begin("y")
    with pytest.raises(BranchRefused, match="No file has changed"):
        changes.commit("x")
    (site / "title.txt").write_text("Open\n")
    for step in (changes.merge, changes.go_back):
        with pytest.raises(BranchRefused, match="not committed"):
            step()
    changes.commit("Open")
    git(
        site,
        "update-ref",
        "refs/heads/main",
        git(site, "commit-tree", "-m", "Other", "-p", "main", "main^{tree}").strip(),
    )
    with pytest.raises(BranchRefused, match="main has commits"):
        changes.merge()
    assert ChangeBranch(str(tmp_path)).state() is None
    with pytest.raises(BranchRefused, match="not a git repository"):
        ChangeBranch(str(tmp_path)).begin("x")


def test_no_program_of_the_repository_runs(tmp_path: Path) -> None:
    site = make_repository(tmp_path / "site")
    mark = tmp_path / "ran"
    for hook in ("pre-commit", "commit-msg", "post-checkout", "reference-transaction", "post-commit"):
        path = site / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {mark}\n")
        path.chmod(0o755)
    git(site, "config", "core.fsmonitor", f"touch {mark}")
    git(site, "config", "filter.x.clean", f"touch {mark}; cat")
    changed(site).merge()
    assert not mark.exists()
    changes = ChangeBranch(str(site))
    changes.begin("filters")
    (site / ".gitattributes").write_text("*.txt filter=x\n")
    (site / "title.txt").write_text("Filtered\n")
    with pytest.raises(BranchRefused, match="filters"):
        changes.commit("x")
    assert not mark.exists()


async def test_a_pull_request_is_pushed_by_git_and_created_by_the_forge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = make_repository(tmp_path / "site")
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", str(remote))
    pulls: list[dict[str, object]] = []

    def answer(request: ReceivedRequest) -> Reply:
        place = request.path.partition("?")[0]
        if place == "/api/v1/version":
            return Reply.json({"version": "1"})
        if TOKEN not in request.headers.get("authorization", ""):
            return Reply.json({"message": "no"}, 401)
        if request.method == "POST" and place == "/api/v1/repos/me/site/pulls":
            body = request.body
            url = "https://example.org/me/site/pulls/4"
            pulls.append(
                {
                    "number": 4,
                    "html_url": url,
                    "title": body["title"],
                    "head": {"ref": body["head"]},
                    "base": {"ref": body["base"]},
                }
            )
            return Reply.json(pulls[0], 201)
        if place == "/api/v1/repos/me/site/pulls":
            return Reply.json(pulls if "page=1" in request.path else [])
        return Reply.json({"message": "Not Found"}, 404)

    async with ScriptedServer(answer) as forge:
        address = f"{forge.url}/me/site.git"
        git(site, "remote", "add", "origin", address)
        git(site, "config", "remote.origin.pushurl", str(remote))
        changes = changed(site)
        with pytest.raises(NoForgeToken):
            await open_pull_request(changes, "Change the title", "")
        assert git(remote, "branch", "--list") == ""  # nothing is pushed without a token
        monkeypatch.setenv(parse_remote(address).token_variable, TOKEN)
        async with workshop(tmp_path, site) as shop:
            view = await shop.ask("POST", "/change/pull-request", title="Change the title", body="Why not.")
            assert view == {"number": 4, "url": "https://example.org/me/site/pulls/4"}
            assert git(remote, "rev-parse", "heald/a-new-title") == git(site, "rev-parse", "HEAD")
            (site / "title.txt").write_text("Later\n")
            refused = await shop.ask("POST", "/change/pull-request", 400, title="x")
            assert "not committed" in refused["error"]["message"]
            await shop.ask("POST", "/change/commit", message="Later")
            again = await shop.ask("POST", "/change/pull-request", title="Change the title")
            assert again == view  # the open one, with the new commit
            assert git(remote, "rev-parse", "heald/a-new-title") == git(site, "rev-parse", "HEAD")
    created = [request.body for request in forge.requests if request.method == "POST"]
    assert created == [{"title": "Change the title", "body": "Why not.", "head": "heald/a-new-title", "base": "main"}]
    assert len(pulls) == 1
