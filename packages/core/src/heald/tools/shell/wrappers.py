"""Programs that run another command, and where in their arguments it stands.

Each takes its options, then a number of operands, then the command. An option that is not in the table cannot be read:
it could have a value, and the command would be another one. What a wrapper gives to a shell is read as a line.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from heald.core.lazy import lazy_pattern
from heald.tools.shell.unreadable import Unreadable
from heald.tools.shell.variables import VARIABLE_NAME
from heald.tools.shell.words import ANYTHING, Expansion, Word

Shell = Literal["sh", "bash", "same"]


class Inner(msgspec.Struct, frozen=True):
    """What a wrapper runs: a command as words, or a line for a shell."""

    words: tuple[Word, ...] = ()
    line: str | None = None
    shell: Shell = "sh"
    """Which shell reads the line: whichever `sh` is, bash, or the one that runs the wrapper."""
    starts_shell: bool = False
    """Whether the wrapper starts a shell for the line by itself."""
    variables: tuple[str, ...] = ()
    """Variables that the wrapper assigns for it."""


class _Arguments:
    """Reads the arguments of a wrapper from left to right. Raises Unreadable for one that is not written out."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.program = words[0].text
        self.rest = list(words[1:])

    def peek(self) -> str | None:
        """The next argument. None: there is none."""
        if not self.rest:
            return None
        literal = self.rest[0].literal
        if literal is None:
            raise Unreadable(f"an argument of `{self.program}` that is not written out")
        return literal

    def read_next(self) -> str:
        literal = self.peek()
        if literal is None:
            raise Unreadable(f"`{self.program}` without a command")
        self.rest.pop(0)
        return literal

    def read_options(self, flags: str, valued: str, longs: str = "", valued_longs: str = "") -> dict[str, str]:
        """Read options with their values until the first operand."""
        options: dict[str, str] = {}
        while (text := self.peek()) is not None and text.startswith("-") and text != "-":
            self.rest.pop(0)
            if text == "--":
                break
            if text.startswith("--"):
                name, equals, value = text[2:].partition("=")
                if name in valued_longs.split():
                    options[name] = value if equals else self.read_next()
                elif name in longs.split():
                    options[name] = value
                else:
                    raise self.unknown(text)
                continue
            letters = text[1:]
            while letters:
                letter, letters = letters[0], letters[1:]
                if letter in valued:
                    options[letter] = letters or self.read_next()
                    break
                if letter not in flags:
                    raise self.unknown(text)
                options[letter] = ""
        return options

    def read_assignments(self) -> tuple[str, ...]:
        names: list[str] = []
        while self.rest:
            first = self.rest[0].pieces[0] if self.rest[0].pieces else ""
            name, equals, _ = first.partition("=") if isinstance(first, str) else ("", "", "")
            if not equals or not self.rest[0].is_single:
                break
            if not VARIABLE_NAME.match(name):
                raise Unreadable(f"an argument of `{self.program}` that is not plain")
            names.append(name)
            self.rest.pop(0)
        return tuple(names)

    def command(self) -> Inner:
        if not self.rest:
            raise Unreadable(f"`{self.program}` without a command, which starts a shell or reads what to run")
        return Inner(tuple(self.rest))

    def joined_line(self) -> Inner:
        """The remaining arguments as a line for `sh`, with spaces between them."""
        texts: list[str] = []
        while self.rest:
            texts.append(self.read_next())
        if not texts:
            raise Unreadable(f"`{self.program}` without a command, which starts a shell")
        return Inner(line=" ".join(texts), starts_shell=True)

    def unknown(self, option: str) -> Unreadable:
        return Unreadable(f"the option {option} of `{self.program}`, which may hide a command")


class _Wrapper(msgspec.Struct, frozen=True):
    """The options of a wrapper, and the operands in front of its command."""

    flags: str = ""
    valued: str = ""
    longs: str = ""
    valued_longs: str = ""
    operands: int = 0
    is_number: bool = False
    """Whether its operands are numbers, which some versions do without."""
    assigns: bool = False
    is_optional: bool = False
    """Whether it runs nothing without a command."""
    output: str = ""
    """The option for a file that it writes to, where `|` in front of the value pipes to a command."""

    def read(self, arguments: _Arguments) -> list[Inner]:
        options = arguments.read_options(self.flags, self.valued, self.longs, self.valued_longs)
        if options.get(self.output, "").startswith(("|", "!")):
            raise arguments.unknown(f"-{self.output}")
        for _ in range(self.operands):
            operand = arguments.read_next()
            if self.is_number and not operand[:1].isdecimal():
                raise Unreadable(f"`{arguments.program}` without a number in front of its command")
        variables = arguments.read_assignments() if self.assigns else ()
        if self.is_optional and not arguments.rest:
            return []
        return [Inner(arguments.command().words, variables=variables)]


PLAIN = {
    "builtin": _Wrapper(is_optional=True),
    "chroot": _Wrapper(longs="skip-chdir", valued_longs="userspec groups", operands=1),
    "chrt": _Wrapper("abdfiorRv", "TPD", operands=1, is_number=True),
    "doas": _Wrapper("nL", "u"),
    "exec": _Wrapper("cl", "a", is_optional=True),
    "ionice": _Wrapper("t", "cn", "ignore", "class classdata"),
    "nice": _Wrapper("", "n", "", "adjustment"),
    "nohup": _Wrapper(),
    "nsenter": _Wrapper("amuinpUCTFe", "tSG", "all preserve-credentials", "target setuid setgid"),
    "setsid": _Wrapper("cfw", "", "ctty fork wait"),
    "stdbuf": _Wrapper("", "ioe", "", "input output error"),
    "strace": _Wrapper("fqcCdDTvVxyzrtikwZ", "abeIopPsSuX", output="o"),
    "ltrace": _Wrapper("fqcCSrtTi", "aAelnopsux", output="o"),
    "sudo": _Wrapper("AbEHknPS", "ugpChrtTUD", "non-interactive preserve-env set-home", "user group", assigns=True),
    "taskset": _Wrapper("ac", "", "all-tasks cpu-list", operands=1),
    "time": _Wrapper("apqv", "fo", "append portability quiet verbose", "format output"),
    "timeout": _Wrapper(
        "v", "ks", "foreground preserve-status verbose", "kill-after signal", operands=1, is_number=True
    ),
    "unshare": _Wrapper(
        "rUmnpfiuCTc", "SGRw", "map-root-user map-current-user user mount net pid fork ipc uts cgroup time mount-proc "
        "kill-child keep-caps", "setuid setgid root wd propagation",
    ),
}  # fmt: skip

RUN_WORDS = {
    "asdf": "exec", "bundle": "exec", "conda": "run", "dotenv": "run", "hatch": "run", "mise": "exec", "pdm": "run",
    "pipenv": "run", "poetry": "run", "rbenv": "exec", "pyenv": "exec", "rye": "run", "uv": "run",
}  # fmt: skip
"""Programs with a subcommand that runs the words behind it."""

_NEVER_READ_WORDS = """
    abduco at atq batch catchsegv chpst chronic cpulimit crontab dbus-run-session dtach entr expect fakechroot
    fakeroot firejail flatpak gdb gdbserver hyperfine ifne lldb logsave mispipe parallel pee perf pkexec proot
    prlimit rlwrap run-parts runcon runuser screen setarch setpriv setuidgid sg snap socat softlimit
    start-stop-daemon stress systemd-run tmux ts tsp unbuffer uvx valgrind xvfb-run zsh fish csh tcsh rbash elvish
    nu xonsh pwsh powershell cmd linux32 linux64 i386 x86_64 sem eatmydata cgexec cset schedtool tini dumb-init gosu
    su-exec s6-setuidgid daemonize inotifywait watchexec nodemon concurrently npx bunx pnpx pipx nix nix-shell guix
    toolbox distrobox repeat noglob nocorrect foreach numactl faketime torsocks winpty proxychains proxychains4
    nsjail minijail0 capsh
"""
_NEVER_READ = frozenset(_NEVER_READ_WORDS.split())
"""Programs that run others in ways that are not read."""

SHELLS = frozenset(("ash", "bash", "dash", "ksh", "mksh", "oksh", "posh", "sh", "yash"))
_SHELL_FLAGS = frozenset("euxvnfhlpbBECaTm")
_OLD_NICE = lazy_pattern(r"--?[0-9]+\Z")
_LOADERS = ("ld-linux", "ld-musl", "ld.so", "ld64.so")
_BWRAP = {
    0: "unshare-all share-net unshare-user unshare-user-try unshare-ipc unshare-pid unshare-net unshare-uts "
    "unshare-cgroup unshare-cgroup-try new-session die-with-parent clearenv as-pid-1 disable-userns",
    1: "dev proc tmpfs dir chdir remount-ro mqueue uid gid hostname cap-drop cap-add perms size unsetenv lock-file",
    2: "bind bind-try ro-bind ro-bind-try dev-bind dev-bind-try symlink",
}


def unwrap(program: str, words: Sequence[Word]) -> list[Inner]:
    """Return what a command runs by its arguments. Empty: it is not a wrapper. Raises Unreadable."""
    arguments = _Arguments(words)
    if program in PLAIN:
        if program == "nice" and len(words) > 1 and _OLD_NICE.match(words[1].literal or ""):
            arguments.rest.pop(0)
        return PLAIN[program].read(arguments)
    if program in _NEVER_READ or program.startswith(_LOADERS):
        raise Unreadable(f"`{program}`, which runs other programs")
    if program in SHELLS:
        return _shell(program, arguments)
    if program in RUN_WORDS:
        return _run_word(program, arguments)
    reader = READERS.get(program)
    return reader(arguments) if reader is not None else []


def _shell(program: str, arguments: _Arguments) -> list[Inner]:
    """Read a shell with `-c` and a line, or with a script. One that reads its input could run anything."""
    has_line = False
    while (text := arguments.peek()) is not None and text[:1] in ("-", "+"):
        arguments.rest.pop(0)
        if text == "--":
            break
        if text in ("--norc", "--noprofile", "--login"):
            continue
        letters = text[1:]
        if not letters or letters.startswith("-"):
            raise arguments.unknown(text)
        if "c" in letters and text[0] == "-":
            has_line = True
            letters = letters.replace("c", "")
        if letters.endswith("o"):
            if arguments.read_next() not in ("errexit", "nounset", "pipefail", "xtrace"):
                raise arguments.unknown(text)
            letters = letters[:-1]
        if not set(letters) <= _SHELL_FLAGS:
            raise arguments.unknown(text)
    if has_line:
        return [Inner(line=arguments.read_next(), shell="bash" if program == "bash" else "sh")]
    script = arguments.peek()
    if not script or script.startswith(("/dev/", "/proc/")):
        raise Unreadable(f"`{program}` without a script, which runs what it reads")
    return []


def _run_word(program: str, arguments: _Arguments) -> list[Inner]:
    first = arguments.peek()
    if first is None:
        return []
    arguments.rest.pop(0)
    if first.startswith("-"):
        raise arguments.unknown(first)
    if first in ("tool", "x", "shell", "activate"):
        raise Unreadable(f"`{program} {first}`, which runs other programs")
    if first != RUN_WORDS[program]:
        return []
    second = arguments.peek()
    if second == "--":
        arguments.rest.pop(0)
    elif second is not None and second.startswith("-"):
        raise arguments.unknown(second)
    return [arguments.command()]


def _env(arguments: _Arguments) -> list[Inner]:
    arguments.read_options("i0v", "uC", "ignore-environment null debug", "unset chdir")
    if arguments.rest and arguments.rest[0].literal == "-":
        arguments.rest.pop(0)
    variables = arguments.read_assignments()
    return [Inner(arguments.command().words, variables=variables)] if arguments.rest else []


def _command(arguments: _Arguments) -> list[Inner]:
    options = arguments.read_options("pvV", "")
    if "v" in options or "V" in options or not arguments.rest:
        return []
    return [arguments.command()]


def _eval(arguments: _Arguments) -> list[Inner]:
    if arguments.peek() == "--":
        arguments.rest.pop(0)
    return [Inner(line=arguments.joined_line().line, shell="same")] if arguments.rest else []


def _trap(arguments: _Arguments) -> list[Inner]:
    arguments.read_options("lp", "")
    action = arguments.peek()
    if not action or action == "-" or action.isdecimal():
        return []
    return [Inner(line=action, shell="same")]


def _xargs(arguments: _Arguments) -> list[Inner]:
    longs = "null no-run-if-empty verbose exit open-tty"
    valued_longs = "max-args max-procs delimiter arg-file max-chars"
    options = arguments.read_options("0rtxp", "nPILdasE", longs, valued_longs)
    if not arguments.rest:
        return [Inner((Word.of("echo"), ANYTHING))]
    mark = options.get("I")
    words = arguments.command().words
    if mark:  # a later option may take it back, so words may be added all the same
        words = tuple(_fill(word, mark) for word in words)
    return [Inner((*words, ANYTHING))]


def _fill(word: Word, mark: str) -> Word:
    """Replace a mark by a text that is not known."""
    if mark not in word.text:
        return word
    return Word((Expansion(word.text, "text"),))


def _find(arguments: _Arguments) -> list[Inner]:
    """Read the commands of `-exec` and its kin."""
    commands: list[Inner] = []
    words = arguments.rest
    while words:
        word = words.pop(0)
        if word.literal is None:
            if word.may_be(("-exec*", "-ok*", "-delete", "-fprint*", "-fls", "-files0-from")):
                raise Unreadable("an argument of `find` that may be an action")
            continue
        if word.literal not in ("-exec", "-execdir", "-ok", "-okdir"):
            continue
        end = next((index for index in range(len(words)) if _ends_command(words, index)), None)
        if not end or not all(item.is_single for item in words[:end]):
            raise Unreadable("a command of `find` without an end")
        if any(item.may_be(("-exec", "-execdir", "-ok", "-okdir")) for item in words[:end]):
            raise Unreadable("a command of `find` inside of another")
        commands.append(Inner(tuple(_fill(item, "{}") for item in words[:end])))
        del words[: end + 1]
    return commands


def _ends_command(words: Sequence[Word], index: int) -> bool:
    if words[index].literal == "+":
        return index > 0 and words[index - 1].literal == "{}"
    return words[index].literal == ";"


def _fd(arguments: _Arguments) -> list[Inner]:
    for index, word in enumerate(arguments.rest):
        if word.literal in ("-x", "-X", "--exec", "--exec-batch"):
            words = tuple(_fill(item, "{") for item in arguments.rest[index + 1 :])
            return [Inner((*words, ANYTHING))] if words else []
        if word.may_be(("-[!-]*[xX]*", "-[xX]*", "--exec*")):
            raise Unreadable("an option of `fd` that may run a command")
    return []


def _flock(arguments: _Arguments) -> list[Inner]:
    flags, valued = "sxeunoF", "wE"
    longs = "shared exclusive unlock nonblock close no-fork verbose"
    arguments.read_options(flags, valued, longs, "timeout conflict-exit-code")
    arguments.read_next()
    if not arguments.rest:
        return []
    if arguments.peek() in ("-c", "--command"):
        arguments.rest.pop(0)
        return [Inner(line=arguments.read_next(), starts_shell=True)]
    if (arguments.peek() or "").startswith("-"):
        raise arguments.unknown(arguments.read_next())
    return [arguments.command()]


def _watch(arguments: _Arguments) -> list[Inner]:
    options = arguments.read_options("bcdegtxw", "nq", "beep color errexit no-title exec chgexit", "interval")
    return [arguments.command()] if "x" in options or "exec" in options else [arguments.joined_line()]


def _script(arguments: _Arguments) -> list[Inner]:
    options = arguments.read_options("aefq", "cEIOBTm", "append return flush force quiet", "command echo log-out")
    line = options.get("c", options.get("command"))
    if line is None:
        raise Unreadable("`script` without a command, which starts a shell")
    return [Inner(line=line, starts_shell=True)]


def _su(arguments: _Arguments) -> list[Inner]:
    line: str | None = None
    while arguments.rest:
        text = arguments.read_next()
        if text in ("-c", "--command"):
            line = arguments.read_next()
        elif text.startswith("--command="):
            line = text.partition("=")[2]
        elif text.startswith("-") and text not in ("-", "-l", "--login", "-m", "-p"):
            raise arguments.unknown(text)
    if line is None:
        raise Unreadable("`su` without a command, which starts a shell")
    return [Inner(line=line, starts_shell=True)]


def _ssh(arguments: _Arguments) -> list[Inner]:
    arguments.read_options("46AaCfGgKkMNnqsTtVvXxYy", "bcDeilmpQRLw")
    arguments.read_next()
    return [arguments.joined_line()]


def _busybox(arguments: _Arguments) -> list[Inner]:
    applet = arguments.peek()
    if applet is None or applet.startswith("-"):
        raise Unreadable(f"`{arguments.program}` without a plain command")
    return [arguments.command()]


def _bwrap(arguments: _Arguments) -> list[Inner]:
    counts = {f"--{name}": count for count, names in _BWRAP.items() for name in names.split()}
    while (text := arguments.peek()) is not None and text.startswith("-"):
        arguments.rest.pop(0)
        if text == "--":
            break
        if text not in counts:
            raise arguments.unknown(text)
        for _ in range(counts[text]):
            arguments.read_next()
    return [arguments.command()]


def _direnv(arguments: _Arguments) -> list[Inner]:
    if arguments.peek() != "exec":
        raise Unreadable("`direnv`, which runs what it reads")
    arguments.read_next()
    arguments.read_next()
    return [arguments.command()]


def _ip(arguments: _Arguments) -> list[Inner]:
    if any(word.may_be(("e", "ex", "exe", "exec", "-b*")) for word in arguments.rest):
        raise Unreadable("`ip`, which may run other programs")
    return []


READERS: dict[str, Callable[[_Arguments], list[Inner]]] = {
    "busybox": _busybox,
    "bwrap": _bwrap,
    "command": _command,
    "direnv": _direnv,
    "env": _env,
    "eval": _eval,
    "fd": _fd,
    "fdfind": _fd,
    "find": _find,
    "bfs": _find,
    "flock": _flock,
    "ip": _ip,
    "script": _script,
    "ssh": _ssh,
    "su": _su,
    "toybox": _busybox,
    "trap": _trap,
    "watch": _watch,
    "xargs": _xargs,
}
