"""Commands of git: the subcommand behind global options, and the options with which git runs other programs."""

from collections.abc import Sequence

from heald.tools.shell.unreadable import Unreadable
from heald.tools.shell.words import Word

_GLOBAL_FLAGS_WORDS = """
    --no-pager -P --no-replace-objects --bare --literal-pathspecs --glob-pathspecs --noglob-pathspecs
    --icase-pathspecs --no-optional-locks --no-lazy-fetch --no-advice --version -v --help -h --html-path --man-path
    --info-path
"""
_GLOBAL_FLAGS = frozenset(_GLOBAL_FLAGS_WORDS.split())
_GLOBAL_VALUED = ("-C", "--git-dir", "--work-tree", "--namespace")
_SETTINGS = (
    "user.",
    "color.",
    "author.",
    "committer.",
    "advice.",
    "core.quotepath",
    "core.autocrlf",
    "init.defaultbranch",
)
"""Beginnings of settings that name no program."""

_SUBCOMMANDS_WORDS = """
    add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap
    check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree
    config count-objects describe diff diff-files diff-index diff-tree fast-export fetch fetch-pack fmt-merge-msg
    for-each-ref format-patch fsck gc get-tar-commit-id grep hash-object help index-pack init interpret-trailers log
    ls-files ls-remote ls-tree mailinfo mailsplit merge merge-base merge-file merge-index merge-tree mktag mktree
    multi-pack-index mv name-rev notes pack-objects pack-refs patch-id prune prune-packed pull push range-diff
    read-tree rebase reflog remote repack replace request-pull rerere reset restore rev-list rev-parse revert rm
    send-pack shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule
    switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info var verify-commit
    verify-pack verify-tag version whatchanged worktree write-tree
"""
_SUBCOMMANDS = frozenset(_SUBCOMMANDS_WORDS.split())
_RUNS: dict[str, tuple[str, ...]] = {
    "archive": ("--exec*", "--remote*"),
    "bisect": ("run",),
    "clone": ("--upl*", "-u*", "-c*", "--conf*", "--template*", "--recurs*", "*ext::*"),
    "diff": ("--ext*", "--textconv"),
    "fetch": ("--upl*", "*ext::*"),
    "fetch-pack": ("--upl*", "--exec*", "*ext::*"),
    "grep": ("-*O*", "--open*", "--ext*", "--textconv"),
    "init": ("--template*",),
    "log": ("--ext*",),
    "ls-remote": ("--upl*", "--exec*", "*ext::*"),
    "merge-index": ("*",),
    "pull": ("--upl*", "*ext::*"),
    "push": ("--rec*", "--exec*", "*ext::*"),
    "rebase": ("-x*", "--exec*", "-i", "--interactive"),
    "remote": ("*ext::*",),
    "send-pack": ("--rec*", "--exec*", "*ext::*"),
    "show": ("--ext*", "--textconv"),
    "submodule": ("foreach", "*ext::*", "update", "init"),
    "var": ("*",),
}
"""Arguments of subcommands that run a program."""


def split_git(words: tuple[Word, ...]) -> tuple[Word, ...] | None:
    """Return a command of git without its global options, or None without a subcommand. Raises Unreadable."""
    rest = list(words[1:])
    while rest:
        text = rest[0].literal
        if text is None:
            raise Unreadable("an argument of `git` that is not written out")
        if text == "-c":
            _check_setting(rest[1] if len(rest) > 1 else None)
            del rest[:2]
        elif text in _GLOBAL_FLAGS:
            del rest[0]
        elif text in _GLOBAL_VALUED:
            del rest[:2]
        elif text.startswith(tuple(f"{name}=" for name in _GLOBAL_VALUED if name.startswith("--"))):
            del rest[0]
        elif text.startswith("-"):
            raise Unreadable(f"the option {text} of `git`, which may run a command")
        else:
            break
    return (words[0], *rest) if rest else None


def check_git(words: tuple[Word, ...]) -> str:
    """Return why a subcommand is opaque, or nothing. Raises Unreadable for arguments that run a program."""
    subcommand, arguments = words[1].text, words[2:]
    if subcommand not in _SUBCOMMANDS:
        return f"`git {subcommand}` is an alias or a program of its own"
    if subcommand == "config":
        _check_config(arguments)
    for argument in arguments:
        if argument.may_be(_RUNS.get(subcommand, ())):
            raise Unreadable(f"an argument of `git {subcommand}` that may run a program")
    return ""


def _check_setting(word: Word | None) -> None:
    text = (word.literal or "") if word is not None else ""
    if not text.lower().startswith(_SETTINGS):
        raise Unreadable("a setting of `git` on its command line, which may name a program")


def _check_config(arguments: Sequence[Word]) -> None:
    texts = [argument.literal for argument in arguments]
    if any(
        text in ("--get", "--get-all", "--list", "-l", "get", "list", "--get-regexp", "--show-origin") for text in texts
    ):
        return
    names = [text for text in texts if text is None or not text.startswith("-")]
    if not names or names[0] is None or not names[0].lower().startswith(_SETTINGS):
        raise Unreadable("a setting of `git` that may name a program")
