"""Commands that only read: which programs, with which options. Everything that is not in the table may do more."""

import msgspec

from heald.tools.shell.git_commands import split_git
from heald.tools.shell.sed_script import check_sed
from heald.tools.shell.unreadable import Unreadable
from heald.tools.shell.words import Word


class _Reader(msgspec.Struct, frozen=True):
    """The options with which a program only reads."""

    letters: str = ""
    """Options of one letter, with and without a value; a value is in the same word or the next one."""
    longs: str = ""
    most_operands: int | None = None
    """How many operands it may have: a second one of `uniq` is a file that it writes."""

    def accepts(self, words: tuple[Word, ...]) -> bool:
        operands = 0
        is_operand = False
        for word in words:
            text = word.literal
            if is_operand or not word.may_be_option or text == "-":
                operands += 1
            elif text is None:
                return False
            elif text == "--":
                is_operand = True
            elif text.startswith("--"):
                if text[2:].partition("=")[0] not in self.longs.split():
                    return False
            elif not text[1:].isdecimal() and not set(text[1:]) <= set(self.letters):
                return False
        return self.most_operands is None or operands <= self.most_operands


_ANY = _Reader("".join(chr(code) for code in range(ord("!"), ord("~") + 1)))
_SUMS = _Reader("bctwz", "binary check text warn status quiet strict tag zero ignore-missing")
_READERS = {
    "base64": _Reader("diw0123456789", "decode ignore-garbage wrap"),
    "basename": _Reader("asz", "multiple suffix zero"),
    "cat": _Reader("AbeEnstTuv", "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting"),
    "cmp": _Reader("bilns", "print-bytes ignore-initial verbose bytes quiet silent"),
    "comm": _Reader("123z", "check-order nocheck-order output-delimiter total zero-terminated"),
    "cut": _Reader("bcdfnsz0123456789,-:;|/.",
        "bytes characters delimiter fields complement only-delimited output-delimiter"),
    "df": _Reader("aBhHiklmPtTx", "all human-readable inodes local portability print-type si total"),
    "diff": _Reader(
        "abBcdeEHiIlLnNpPqrsStTuUwWxXyZ0123456789",
        "brief unified context recursive text ignore-case ignore-all-space ignore-blank-lines ignore-space-change "
        "new-file side-by-side report-identical-files color exclude label minimal width",
    ),
    "dirname": _Reader("z", "zero"),
    "du": _Reader("0abcdDhHklLmPsSxX0123456789",
        "all apparent-size bytes total dereference max-depth human-readable summarize exclude one-file-system"),
    "echo": _ANY,
    "false": _ANY,
    "file": _Reader("bhikLNnprsvz0", "brief mime mime-type mime-encoding dereference no-dereference no-pad"),
    "grep": _Reader(
        "ABCEFGHILPTUVZabcefhilmnoqrsuvwxyzR0123456789",
        "extended-regexp fixed-strings basic-regexp perl-regexp regexp ignore-case no-ignore-case invert-match "

            "word-regexp line-regexp count color colour files-without-match files-with-matches max-count "
            "only-matching quiet "
        "silent no-messages byte-offset with-filename no-filename label line-number initial-tab null after-context "
        "before-context context text binary-files exclude exclude-dir exclude-from include recursive "
        "dereference-recursive null-data line-buffered",
    ),
    "head": _Reader("cnqvz0123456789kKMG-", "bytes lines quiet silent verbose zero-terminated"),
    "hostname": _Reader("fis", "", 0),
    "id": _Reader("Ggnruz", "group groups name real user zero"),
    "jq": _Reader("acCjMnrsSe",
        "compact-output raw-output null-input slurp sort-keys color-output monochrome-output tab arg argjson "
        "exit-status"),
    "ls": _Reader(
        "1aAbBcCdDfFgGhHiIklLmnNopqQrRsStTuUvwxXZ0123456789",
        "all almost-all author escape ignore-backups color directory classify file-type full-time "
        "group-directories-first no-group human-readable si dereference inode ignore kibibytes numeric-uid-gid literal "
        "indicator-style hide-control-chars quote-name quoting-style reverse recursive size sort time time-style width",
    ),
    "nl": _Reader("bdfhilnpsvwa", ""),
    "nproc": _Reader("", "all ignore", 0),
    "od": _Reader("AjNStvwabcdfilosx0123456789nz",
        "address-radix skip-bytes read-bytes format output-duplicates width"),
    "paste": _Reader("dsz", "delimiters serial zero-terminated"),
    "pwd": _Reader("LP"),
    "readlink": _Reader("efmnqsvz", "canonicalize canonicalize-existing canonicalize-missing no-newline zero"),
    "realpath": _Reader("eLmPqsz",
        "canonicalize-existing canonicalize-missing relative-to relative-base no-symlinks zero"),
    "rev": _Reader(),
    "rg": _Reader(
        "ABCEFHILNPSTUVabcegiflmnopqrstuvwx0123456789.",
        "after-context before-context context count count-matches files files-with-matches files-without-match "
        "fixed-strings glob iglob hidden no-heading heading ignore-case line-number no-line-number max-count max-depth "
        "multiline no-ignore no-ignore-vcs only-matching pcre2 quiet regexp smart-case case-sensitive sort sortr stats "

            "type type-not type-list word-regexp invert-match json color vimgrep column no-messages replace trim "
            "with-filename "
        "no-filename passthru",
    ),
    "seq": _Reader("fsw0123456789.", "format separator equal-width"),
    "md5sum": _SUMS, "sha1sum": _SUMS, "sha224sum": _SUMS, "sha256sum": _SUMS, "sha384sum": _SUMS, "sha512sum": _SUMS,
    "sleep": _Reader(),
    "sort": _Reader(
        "bcCdfgghiMhnRrkstuVz0123456789,.",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort "
        "human-numeric-sort numeric-sort random-sort reverse sort version-sort check key stable field-separator unique "
        "zero-terminated",
    ),
    "stat": _Reader("cfLt", "dereference file-system format printf terse"),
    "strings": _Reader("afneotdx0123456789", "all bytes radix"),
    "tac": _Reader("brs", "before regex separator"),
    "tail": _Reader("cnqvz0123456789+", "bytes lines quiet silent verbose zero-terminated"),
    "test": _ANY, "[": _ANY,
    "tr": _Reader("cCdst", "complement delete squeeze-repeats truncate-set1"),
    "tree": _Reader("adfhilpsugDFLPIcrtvACNS0123456789", "noreport dirsfirst charset prune gitignore du si"),
    "true": _ANY, ":": _ANY,
    "type": _Reader("afptP"),
    "uname": _Reader("amnoprsv", "all kernel-name nodename kernel-release machine"),
    "uniq": _Reader("cdDfisuwz0123456789",
        "count repeated all-repeated skip-fields ignore-case skip-chars unique zero-terminated check-chars", 1),
    "wc": _Reader("cmlLw", "bytes chars lines words max-line-length"),
    "which": _Reader("as", "all"),
    "whoami": _Reader("", "", 0),
    "xxd": _Reader("abceEgilpsu0123456789", "", 1),
}  # fmt: skip
_FIND_WORDS = """
    -a -and -o -or -not ! ( ) , -name -iname -path -ipath -wholename -regex -iregex -type -xtype -size -empty -mtime
    -mmin -atime -amin -ctime -cmin -newer -user -group -perm -links -inum -maxdepth -mindepth -depth -prune -print
    -print0 -ls -quit -true -false -follow -mount -xdev -L -H -P -readable -writable -executable -daystart -noleaf
    -regextype -printf
"""
_FIND = frozenset(_FIND_WORDS.split())
_GIT = {
    "blame": _Reader("bCefhlLMnpstw0123456789,", "line-porcelain porcelain show-stats date"),
    "branch": _Reader("arv", "all remotes list verbose show-current no-color", 0),
    "cat-file": _Reader("ept"),
    "describe": _Reader("", "all tags always long dirty abbrev match exact-match"),
    "diff": _Reader("pumMCSGwbRU0123456789",
        "stat name-only name-status cached staged no-color numstat shortstat summary patch unified word-diff "
        "ignore-all-space ignore-space-change diff-filter no-ext-diff no-textconv no-index check"),
    "log": _Reader("pnLSGiMCguU0123456789",
        "oneline graph decorate all branches tags stat name-only name-status no-merges merges author grep "
        "since until after before format pretty date abbrev-commit max-count follow reverse patch no-color "
        "no-patch first-parent numstat shortstat no-decorate"),
    "ls-files": _Reader("cdmoikstuvz",
        "cached deleted modified others ignored stage exclude-standard full-name error-unmatch"),
    "ls-tree": _Reader("rtdlz", "name-only full-tree long"),
    "merge-base": _Reader("a", "all is-ancestor octopus"),
    "reflog": _Reader("", "", 0),
    "remote": _Reader("v", "verbose", 0),
    "rev-list": _Reader("n0123456789", "all count max-count oneline first-parent no-merges left-right"),
    "rev-parse": _Reader("q",
        "abbrev-ref short verify show-toplevel git-dir is-inside-work-tree show-prefix symbolic-full-name "
        "quiet"),
    "shortlog": _Reader("sne", "summary numbered email all"),
    "show": _Reader("psn0123456789",
        "stat name-only name-status oneline format pretty no-color no-patch patch numstat date"),
    "show-ref": _Reader("", "heads tags head hash"),
    "status": _Reader("bsuvz", "short branch porcelain long show-stash untracked-files ignored no-renames"),
    "tag": _Reader("l", "list", 0),
}  # fmt: skip


def only_reads(program: str, words: tuple[Word, ...]) -> bool:
    """Whether a command reads and prints, and does nothing else. A program at a path is not one that is known."""
    if words[0].literal != program:
        return False
    try:
        if program == "find":
            return all(
                word.literal in _FIND if word.literal is not None else False
                for word in words[1:]
                if word.may_be_option or word.literal in ("!", "(", ")", ",")
            )
        if program == "sed":
            return not check_sed(words)
        if program == "git":
            git = split_git(words)
            return git is not None and git == words and _git_reads(git)
    except Unreadable:
        return False
    reader = _READERS.get(program)
    return reader is not None and reader.accepts(words[1:])


def _git_reads(words: tuple[Word, ...]) -> bool:
    reader = _GIT.get(words[1].literal or "")
    return reader is not None and reader.accepts(words[2:])
