"""A project on a git remote: a branch with a commit for each version, over real git."""

import asyncio
import json
from pathlib import Path

import pytest

from git_server import BACKEND, make_remote, read, serve_git
from heald_cli.main import main
from heald_studio.export.git_push import (
    Commit,
    PushFailed,
    check_branch,
    check_remote,
    collect_commits,
    default_branch,
    push_commits,
)
from heald_studio.projects.project import VariantRef
from heald_studio.projects.session_files import read_session_files
from heald_studio.request import BuildRequest
from studio_support import OWNER, desk, page, writes

BRANCH = "heald/site"
FIRST = Commit(message="Version 1: One\n", time=1_700_000_000, files={"index.html": b"one", 'a "b" ü.txt': b"\n"})
SECOND = Commit(message="Version 2: Two\n", time=1_700_000_100, files={"index.html": b"two", "pages/a.html": b"a"})
OTHER = Commit(message="Version 2: Other\n", time=1_700_000_200, files={"index.html": b"other"})


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text("[user]\n  name = Ann <Example>\n  email = ann@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


async def test_every_version_is_a_commit_and_a_later_push_adds_the_new_ones(tmp_path: Path) -> None:
    remote = make_remote(tmp_path)
    result = await push_commits(str(remote), BRANCH, [FIRST], local=True)
    assert (result.branch, result.versions, result.outcome) == (BRANCH, 1, "new")
    assert (await push_commits(str(remote), BRANCH, [FIRST], local=True)).outcome == "unchanged"
    result = await push_commits(str(remote), BRANCH, [FIRST, SECOND], local=True)
    assert result.outcome == "updated"
    log = read(remote, "log", "--format=%s|%an|%ae|%at", BRANCH).splitlines()
    assert log == [
        "Version 2: Two|Ann Example|ann@example.org|1700000100",
        "Version 1: One|Ann Example|ann@example.org|1700000000",
    ]
    assert read(remote, "ls-tree", "-r", "-z", "--name-only", BRANCH).split("\0")[:-1] == ["index.html", "pages/a.html"]
    assert read(remote, "show", f'{BRANCH}~1:a "b" ü.txt') == "\n"
    assert read(remote, "rev-parse", BRANCH).strip() == result.commit


async def test_nothing_on_the_remote_is_overwritten(tmp_path: Path) -> None:
    remote = make_remote(tmp_path)
    await push_commits(str(remote), BRANCH, [FIRST, SECOND], local=True)
    with pytest.raises(PushFailed, match="has other commits; choose another branch"):
        await push_commits(str(remote), BRANCH, [FIRST, OTHER], local=True)
    assert read(remote, "show", f"{BRANCH}:index.html") == "two"


@pytest.mark.skipif(not BACKEND.exists(), reason="git-http-backend is not installed")
async def test_git_signs_in_over_http_with_its_own_credentials(tmp_path: Path) -> None:
    remote = make_remote(tmp_path)
    with serve_git(tmp_path, password="s3cret") as address:
        with pytest.raises(PushFailed, match="did not let git in") as fault:
            await push_commits(f"{address}/site.git", BRANCH, [FIRST])
        assert "s3cret" not in str(fault.value)
        credentials = tmp_path / "credentials"
        credentials.write_text(address.replace("://", "://ann:s3cret@") + "\n")
        with (tmp_path / "gitconfig").open("a") as settings:
            settings.write(f"[credential]\n  helper = store --file {credentials}\n")
        assert (await push_commits(f"{address}/site.git", BRANCH, [FIRST])).outcome == "new"
    assert read(remote, "show", f"{BRANCH}:index.html") == "one"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "--upload-pack=touch /tmp/x",
        "ext::sh -c touch% /tmp/x",
        "fd::17",
        "file:///tmp/site.git",
        "/tmp/site.git",
        "../site.git",
        "ftp://example.org/site.git",
        "https://ann:secret@example.org/site.git",
        "https://token@example.org/site.git",
        "ssh://-oProxyCommand=touch/site.git",
        "ssh://git@-oProxyCommand=x/site.git",
        "-oProxyCommand=x@example.org:site.git",
        "git@-oProxyCommand=x:site.git",
        "https://example.org/a\nb",
        "https://[",
        "https:///site.git",
    ],
)
def test_addresses_that_are_not_pushed_to(address: str) -> None:
    with pytest.raises(PushFailed) as fault:
        check_remote(address)
    assert "secret" not in str(fault.value)


@pytest.mark.parametrize(
    "address",
    ["https://example.org/me/site.git", "ssh://git@example.org:2222/site.git", "git@example.org:me/site.git"],
)
def test_addresses_that_are_pushed_to(address: str) -> None:
    assert check_remote(address) == address


@pytest.mark.parametrize("name", ["-f", "a..b", "a.lock", "/a", "a/", "a//b", ".a", "a b", "a:b", "+main", "a/-b", ""])
def test_names_that_are_no_branch(name: str) -> None:
    with pytest.raises(PushFailed):
        check_branch(name)


async def test_hooks_and_rewritten_addresses_run_nothing(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "pre-push").write_text(f"#!/bin/sh\ntouch {trace}\n")
    (hooks / "pre-push").chmod(0o755)
    with (tmp_path / "gitconfig").open("a") as settings:
        settings.write(
            f'[core]\n  hooksPath = {hooks}\n[url "ext::sh -c touch% {trace}"]\n  insteadOf = https://example.org/\n'
        )
    with pytest.raises(PushFailed, match="transport 'ext' not allowed"):
        await push_commits("https://example.org/site.git", BRANCH, [FIRST])
    await push_commits(str(make_remote(tmp_path)), BRANCH, [FIRST], local=True)
    assert not trace.exists()


async def test_a_project_is_pushed_with_the_versions_that_led_to_it(tmp_path: Path) -> None:
    remote = make_remote(tmp_path)
    site = {"index.html": page("Harbour"), ".env": "KEY=1"}
    async with desk(tmp_path, {"one": writes(site), "two": writes({"index.html": page("Other")})}) as studio:
        project, first = await studio.built(BuildRequest(text="A page", models=("one", "two"), title="My Site"))
        edited = await studio.studio.edit(OWNER, project.id, VariantRef(first.id, 0), {"index.html": b"By hand"})
        project = await studio.studio.get(OWNER, project.id)
        store = studio.context.sessions.store
        commits = await collect_commits(project, VariantRef(edited.id, 0), lambda name: read_session_files(store, name))
        assert default_branch(project) == "heald/my-site"
        await push_commits(str(remote), default_branch(project), commits, local=True)
    assert read(remote, "log", "--format=%s", "heald/my-site").splitlines() == ["Version 2: Edit", "Version 1: A page"]
    assert read(remote, "show", "heald/my-site:index.html") == "By hand"
    assert ".env" not in read(remote, "ls-tree", "-r", "--name-only", "heald/my-site")


def test_the_command_pushes_a_stored_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def make() -> str:
        async with desk(tmp_path, {"one": writes(page("Harbour"))}) as studio:
            project, _ = await studio.built(BuildRequest(text="A page", models=("one",)))
            return project.id

    name = asyncio.run(make())
    (tmp_path / "studio.db").rename(tmp_path / "sessions.db")
    remote = make_remote(tmp_path)
    assert main(["push", name[:12], str(remote), "--data", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == "new"
    assert "Harbour" in read(remote, "show", "heald/a-page:index.html")
    assert main(["push", name, "ext::sh", "--data", str(tmp_path)]) != 0
    assert "not allowed" in capsys.readouterr().err
