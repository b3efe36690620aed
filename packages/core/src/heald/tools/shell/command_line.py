"""`CommandLine`: a shell line as permission rules and hooks judge it. This is not a boundary; the sandbox is.

The one reading of a line for rules that allow, deny and ask, for hooks, and for "only reads". It lists each command
that the line runs, through the wrappers around it. A line of which that cannot be said is unreadable, never guessed.
"""

import posixpath
from collections.abc import Iterable, Sequence
from functools import lru_cache
from glob import escape

import msgspec

from heald.tools.rule_pattern import Pieces, may_match, must_match
from heald.tools.shell.evaluating_builtins import evaluated_names
from heald.tools.shell.git_commands import check_git, split_git
from heald.tools.shell.hidden_commands import check_hidden, script_file
from heald.tools.shell.parser import MOST_COMMANDS, parse_line
from heald.tools.shell.read_only_commands import only_reads
from heald.tools.shell.simple_command import Redirection, SimpleCommand
from heald.tools.shell.unreadable import Unreadable
from heald.tools.shell.variables import effect_of
from heald.tools.shell.words import ANYTHING, Piece, Word, source_text, spell_words
from heald.tools.shell.wrappers import Inner, unwrap
from heald.tools.subjects import Subjects

READ_ONLY = "read-only"
"""The pattern of a rule for commands that only read."""
_MOST_WRAPPED = 8
_COPIERS = frozenset(("cp", "dd", "install", "ln", "mv", "tee"))
"""Programs that write the files which their arguments name."""


class LineCommand(msgspec.Struct, frozen=True):
    """A command that a line runs: the subject of a rule."""

    words: tuple[Word, ...]
    opaque: str = ""
    """Why it may do whatever a rule forbids, such as running code. Empty: it does what its words say."""
    reads_only: bool = False
    other_spellings: tuple[tuple[Piece, ...], ...] = ()
    """The same command in other words, for rules that deny or ask."""

    @property
    def text(self) -> str:
        return source_text(spell_words(self.words))

    @property
    def is_known(self) -> bool:
        return not self.opaque and all(word.literal is not None for word in self.words)

    def may_match(self, pattern: str) -> bool:
        if pattern == READ_ONLY:
            return self.reads_only
        if self.opaque:
            return True
        spellings = (spell_words(self.words), *self.other_spellings)
        if any(may_match(pattern, _outline(spelling)) for spelling in spellings):
            return True
        bare = [*_bare(self.words)]
        return may_match(pattern, bare) or may_match(pattern.replace("'", "").replace('"', ""), bare)

    def must_match(self, pattern: str) -> bool:
        if pattern == READ_ONLY:
            return self.reads_only
        spelling = spell_words(self.words)
        sources = [piece.source for piece in spelling if not isinstance(piece, str)]
        if all(source in pattern for source in sources):  # the rule names the expansion itself
            return must_match(pattern, [source_text(spelling)])
        return must_match(pattern, _outline(spelling))


class CommandLine(msgspec.Struct, frozen=True):
    """What a line runs."""

    line: str
    commands: tuple[LineCommand, ...] = ()
    unreadable: str = ""
    """What the line has that hides a command. Empty: `commands` are all that it runs."""
    unallowable: str = ""
    """What the line does beside its commands, so that no pattern allows it. Empty: nothing."""

    @classmethod
    def read(cls, line: str, *, is_posix: bool = False) -> "CommandLine":
        """Read a line for bash, or with `is_posix` for any shell."""
        return _read(line, is_posix)

    @property
    def reads_only(self) -> bool:
        """Whether the line does nothing but read."""
        return not self.unreadable and not self.unallowable and all(command.reads_only for command in self.commands)

    @property
    def subjects(self) -> Subjects:
        """What rules are matched against. The texts include the line, since files are named in its redirections too."""
        if self.unreadable:
            reason = f"The command line cannot be judged, because it has {self.unreadable}; send plain commands."
            return Subjects([self.line], [], reason)
        texts = [command.text for command in self.commands]
        return Subjects([*texts, self.line], self.commands, "", self.unallowable)


@lru_cache(128)
def _read(line: str, is_posix: bool) -> CommandLine:
    judge = _Judge()
    try:
        judge.read_line(line, is_posix=is_posix)
        judge.check_files()
    except Unreadable as unreadable:
        return CommandLine(line, unreadable=str(unreadable))
    return CommandLine(line, tuple(judge.commands), "", judge.unallowable)


class _Judge(msgspec.Struct):
    """Collects the commands of a line and of the lines inside of it."""

    commands: list[LineCommand] = []
    unallowable: str = ""
    written: list[Word] = []
    """The files that redirections and copies write."""
    executed: list[str] = []
    """The files that commands run by their path."""
    depth: int = 0
    is_posix: bool = False
    """Whether the line that is being read is for any shell."""

    def read_line(self, line: str, *, is_posix: bool) -> None:
        self._enter()
        outer, self.is_posix = self.is_posix, is_posix
        parsed = parse_line(line, is_posix=is_posix)
        self._assign(parsed.loop_variables)
        self._redirect(parsed.redirections)
        if parsed.has_substitutions:
            self.unallowable = self.unallowable or "a substitution"
        if parsed.has_functions:
            self.unallowable = self.unallowable or "a function"
        for command in parsed.commands:
            self._read_simple(command)
        self.is_posix = outer
        self.depth -= 1

    def _enter(self) -> None:
        self.depth += 1
        if self.depth > _MOST_WRAPPED:
            raise Unreadable("commands that are nested too deeply")

    def _read_simple(self, command: SimpleCommand) -> None:
        self._assign(command.variables)
        self._redirect(command.redirections)
        if command.words:
            self._read_words(command.words)

    def _read_words(self, words: tuple[Word, ...]) -> None:
        name = words[0].literal
        if name is None:
            raise Unreadable("a command whose name is not written out")
        program = name.rpartition("/")[2]
        if not program or program[0] in "-=":
            raise Unreadable("a command without a plain name")
        if posixpath.normpath(name).lstrip("/").startswith(("proc/", "dev/")):
            raise Unreadable("a command by its process or descriptor")
        spellings = [spell_words((Word.of(other), *words[1:])) for other in sorted({program, program.lower()} - {name})]
        program = program.lower()  # some file systems do not tell the cases apart
        self._assign(evaluated_names(program, words))
        opaque = check_hidden(program, words)
        if program == "git" and (git := split_git(words)) is not None:
            opaque = check_git(git)
            spellings.append(spell_words((Word.of("git"), *git[1:])))
        if program in ("find", "bfs") and any(word.literal == "-delete" for word in words):
            spellings.append(spell_words((Word.of("rm"), ANYTHING)))
        self._add(LineCommand(words, opaque, only_reads(program, words), tuple(spellings)))
        if program in _COPIERS:
            self.written += words[1:]
        self.executed += [name] if "/" in name else []
        self.executed += [file for file in [script_file(program, words)] if file is not None]
        for inner in unwrap(program, words):
            self._read_inner(inner)

    def _add(self, command: LineCommand) -> None:
        self.commands.append(command)
        if len(self.commands) > MOST_COMMANDS:
            raise Unreadable(f"more than {MOST_COMMANDS} commands")

    def _read_inner(self, inner: Inner) -> None:
        self._assign(inner.variables)
        if inner.line is not None:
            if inner.starts_shell:
                self._add(LineCommand((Word.of("sh"), Word.of("-c"), Word.of(inner.line))))
            is_posix = self.is_posix if inner.shell == "same" else inner.shell == "sh"
            self.read_line(inner.line, is_posix=is_posix)
            return
        self._enter()
        self._read_words(inner.words)
        self.depth -= 1

    def _assign(self, variables: Iterable[str]) -> None:
        for variable in variables:
            match effect_of(variable):
                case "runs":
                    raise Unreadable(f"an assignment to {variable}, which changes what commands run")
                case "unknown":
                    self.unallowable = self.unallowable or f"an assignment to {variable}"
                case "none":
                    continue

    def _redirect(self, redirections: Iterable[Redirection]) -> None:
        for redirection in redirections:
            if not redirection.is_harmless:
                self.unallowable = self.unallowable or "a redirection"
            if not redirection.is_harmless and ">" in redirection.operator:
                self.written.append(redirection.target)

    def check_files(self) -> None:
        """Check that the line does not run a file that it writes: what is in it cannot be judged."""
        for target in self.written:
            if any(target.may_be((f"*{escape(posixpath.basename(path))}",)) for path in self.executed):
                raise Unreadable("a file that it writes and may run")


def _outline(spelling: Sequence[Piece]) -> Pieces:
    return [piece if isinstance(piece, str) else None for piece in spelling]


def _bare(words: Iterable[Word]) -> Iterable[str | None]:
    """The words without quotes, with single spaces between them."""
    for index, word in enumerate(words):
        if index:
            yield " "
        yield from _outline(word.pieces)
