"""Arguments with which a program runs something that is not a word of the command.

Two kinds: an option or a script that makes a program for other purposes run a command cannot be read, so no pattern
allows it. A program that is there to run code, such as an interpreter, is opaque: it can be allowed by its name, but it
may do whatever a rule forbids.
"""

import re
from collections.abc import Sequence

import msgspec

from heald.core.lazy import lazy_pattern
from heald.tools.shell.sed_script import check_sed
from heald.tools.shell.unreadable import Unreadable
from heald.tools.shell.words import Word
from heald.tools.shell.wrappers import SHELLS


class _Options(msgspec.Struct, frozen=True):
    """Options that run a command."""

    letters: str = ""
    longs: tuple[str, ...] = ()
    """Names without dashes. GNU programs accept every unique beginning of one."""
    harmless: tuple[str, ...] = ()
    """Options that are the beginning of one, and options of their own."""

    def check(self, words: Sequence[Word]) -> None:
        for word in words[1:]:
            if word.literal == "--":
                return
            if word.literal is None:
                if word.may_be_option:
                    raise Unreadable(f"an argument of `{words[0].text}` that may be an option")
                continue
            if self._runs(word.literal):
                raise Unreadable(f"the option {word.literal} of `{words[0].text}`, which may run a command")

    def _runs(self, text: str) -> bool:
        if text.startswith("--"):
            name = text[2:].partition("=")[0]
            return name not in self.harmless and any(long.startswith(name) for long in self.longs)
        if not text.startswith("-"):
            return False
        name = text[1:].partition("=")[0]
        return name in self.longs or any(letter in text[1:] for letter in self.letters)


_RUNNING_OPTIONS = {
    "apt": _Options("o", ("option",)),
    "apt-get": _Options("o", ("option",)),
    "cargo": _Options("", ("config",)),
    "cpio": _Options("", ("rsh-command", "to-stdout")),
    "go": _Options("", ("exec", "toolexec", "vettool", "overlay", "modfile")),
    "hg": _Options("", ("config",)),
    "man": _Options("CHPpT", ("pager", "html", "config-file", "troff-device", "preprocessor")),
    "nc": _Options("ec", ("exec", "sh-exec", "lua-exec")),
    "ncat": _Options("ec", ("exec", "sh-exec", "lua-exec")),
    "netcat": _Options("ec", ("exec", "sh-exec", "lua-exec")),
    "nmap": _Options("", ("script", "script-args", "interactive")),
    "openssl": _Options("", ("engine", "provider", "provider-path")),
    "rg": _Options("", ("pre", "hostname-bin"), ("pre-glob",)),
    "rsync": _Options("e", ("rsh", "rsync-path")),
    "scp": _Options("SoFD"),
    "sftp": _Options("SoFDb"),
    "sort": _Options("", ("compress-program",)),
    "split": _Options("", ("filter",)),
    "svn": _Options("", ("editor-cmd", "diff-cmd", "diff3-cmd", "config-option", "config-dir")),
    "tar": _Options(
        "IF",
        ("checkpoint-action", "to-command", "use-compress-program", "rsh-command", "rmt-command", "info-script",
         "new-volume-script"),
        ("checkpoint", "info", "new"),
    ),
    "tcpdump": _Options("z"),
    "wget": _Options("e", ("use-askpass", "execute", "config")),
    "zip": _Options("T", ("unzip-command", "test")),
}  # fmt: skip
_SAME = {"gtar": "tar", "bsdtar": "tar", "gsort": "sort"}
_INTERPRETER = lazy_pattern(
    r"(?:python|pypy|perl|ruby|jruby|node|nodejs|deno|bun|php|lua|luajit|tclsh|wish|osascript|rscript|r|julia|ghci|"
    r"runghc|runhaskell|scala|groovy|jshell|kotlin|irb|guile|racket|sbcl|clisp|ts-node|tsx|elixir|erl|iex|ocaml|"
    r"escript)[0-9.]*\Z",
    re.ASCII,
)
_SCRIPT_FILE = lazy_pattern(r"[A-Za-z0-9_./][^\s]*\.(?:py|pyz|pl|rb|js|mjs|cjs|ts|php|lua|tcl|r|R|jl|jar|exs?|sh)\Z")
_INTERPRETER_FLAGS = ("-u", "-B", "-O", "-E", "-I", "-s", "-w")
_OPAQUE_WORDS = """
    vi vim nvim view vimdiff ex ed emacs emacsclient nano pico micro helix kak less more most ftp lftp telnet
    sqlite3 psql mysql mariadb mongosh dc m4 gnuplot octave maxima gs ansible vagrant docker-compose lxc nerdctl
    ipython jupyter
"""
_OPAQUE = frozenset(_OPAQUE_WORDS.split())
_AWK = frozenset(("awk", "gawk", "mawk", "nawk", "original-awk", "goawk"))
_AWK_RUNS = lazy_pattern(r"system|getline|\||>|@|\\\n")
_MAKE = ("-*f*", "--fi*", "--mak*", "-*E*", "--ev*", "*=*")
_RUNNING_ARGUMENTS = {
    **dict.fromkeys(("docker", "podman", "kubectl", "oc", "crictl", "ctr"),
                    ("run", "exec", "build", "buildx", "compose", "create", "start", "debug", "attach")),
    **dict.fromkeys(("make", "gmake", "bmake"), _MAKE),
    "ninja": ("-f*",),
    "cmake": ("-P*", "-E*", "-C*"),
    "npm": ("exec", "x", "explore", "init", "create", "set-script"),
    "pnpm": ("exec", "dlx", "create"),
    "yarn": ("exec", "dlx", "create", "node"),
    "pip": ("--python*",),
    "cargo": ("run", "r", "script"),
    "go": ("run", "generate", "tool"),
}  # fmt: skip
"""Arguments that make a program run what they name."""


def check_hidden(program: str, words: tuple[Word, ...]) -> str:
    """Return why a command is opaque, or nothing. Raises Unreadable for arguments that run a hidden command."""
    options = _RUNNING_OPTIONS.get(_SAME.get(program, program))
    if options is not None:
        options.check(words)
    if program in ("tar", "gtar", "bsdtar"):
        _check_old_options(words)
    if program in ("sed", "gsed"):
        check_sed(words)
    if program in _AWK:
        _check_awk(words)
    if program in _OPAQUE or program.startswith(("vim.", "emacs-")):
        return f"`{program}` can run any command"
    if any(word.may_be(_RUNNING_ARGUMENTS.get(program, ())) for word in words[1:]):
        return f"`{program}` runs what its arguments name"
    if _INTERPRETER.match(program) and not _runs_file(words):
        return f"`{program}` runs code that is not judged"
    return ""


def script_file(program: str, words: Sequence[Word]) -> str | None:
    """Return the file that a shell or an interpreter runs, if it runs one: the first argument that is not an option."""
    if program not in SHELLS and not _INTERPRETER.match(program):
        return None
    return next((word.text for word in words[1:] if not word.text.startswith(("-", "+"))), None)


def _runs_file(words: Sequence[Word]) -> bool:
    """Whether an interpreter runs a file by its name, or a module such as pytest: as a program would."""
    texts = [word.literal for word in words[1:]]
    while texts and texts[0] in _INTERPRETER_FLAGS:
        texts.pop(0)
    match texts[:2]:
        case [] | [None, *_]:
            return False
        case ["-m", str(module)]:
            return module not in (
                "code",
                "pdb",
                "timeit",
                "runpy",
                "cProfile",
                "profile",
                "trace",
                "doctest",
                "IPython",
                "asyncio",
            )
        case [("--version" | "-V" | "-v" | "--help" | "-h" | "version")]:
            return True
        case [str(script), *_]:
            return _SCRIPT_FILE.match(script) is not None and not script.startswith(("/dev/", "/proc/"))
        case _:
            return False


def _check_old_options(words: Sequence[Word]) -> None:
    """Check the options of tar that are written without a dash."""
    first = words[1].literal if len(words) > 1 else ""
    if first is None or (not first.startswith("-") and any(letter in first for letter in "IF")):
        raise Unreadable("options of `tar` that may run a command")


def _check_awk(words: Sequence[Word]) -> None:
    """A program of awk runs commands by `system`, pipes and `getline`, and writes files by `>`."""
    rest = list(words[1:])
    while rest:
        text = rest[0].literal
        if text is None:
            raise Unreadable("a program of `awk` that is not written out")
        if text in ("-F", "-v") and len(rest) > 1 and rest[1].is_single:
            del rest[:2]
        elif text.startswith(("-F", "-v")):
            del rest[0]
        elif text == "--":
            del rest[0]
            break
        elif text.startswith("-"):
            raise Unreadable(f"the option {text} of `awk`")
        else:
            break
    program = rest[0].literal if rest else None
    if program is None or _AWK_RUNS.search(program.replace("||", "").replace(">=", "")):
        raise Unreadable("a program of `awk` that may run commands or write files")
