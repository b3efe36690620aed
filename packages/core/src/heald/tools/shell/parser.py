"""Reads a shell line into its simple commands, wherever they stand in it.

The grammar is that of the POSIX shell (XCU 2.3, 2.6, 2.9) with the extensions of bash, as far as every version of bash
since 3.2 agrees on it. Nothing is guessed: whatever is not read with certainty raises Unreadable. That includes all
arithmetic with names in it, since the shell evaluates the value of a name as an expression, and `a[$(id)]` is one.
"""

import re
from itertools import groupby

import msgspec

from heald.core.lazy import lazy_pattern
from heald.tools.shell.ansi_quotes import decode_ansi_quotes
from heald.tools.shell.simple_command import Redirection, SimpleCommand
from heald.tools.shell.unreadable import Unreadable
from heald.tools.shell.words import Expansion, Kind, Piece, Word

MOST_COMMANDS = 50
_MOST_WORDS = 5_000
_MOST_EXPANSIONS = 1_000
"""Of one word: reading one costs more than a character."""
_MOST_NESTED = 12

_BLANK = " \t"
_BREAKS = " \t\n;&|()<>"
_END = r"(?=[ \t\n;&|()<>]|\Z)"
_RESERVED = lazy_pattern(
    r"(?:!|\{|\}|\[\[|case|coproc|do|done|elif|else|esac|fi|for|function|if|in|select|then|time|until|while)" + _END
)
_RESERVED_WORDS = "! { } [[ ]] case coproc do done elif else esac fi for function if in select then time until while"
_RESERVED_NAMES = frozenset(_RESERVED_WORDS.split())
_CONTROLS = lazy_pattern(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_NAME = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_FUNCTION_NAME = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_.:-]*" + _END, re.ASCII)
_FUNCTION = lazy_pattern(r"([A-Za-z_][A-Za-z0-9_.:-]*)[ \t]*\([ \t]*\)", re.ASCII)
_ASSIGNMENT = lazy_pattern(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?\+?=", re.ASCII)
_PLAIN = lazy_pattern(r"[A-Za-z0-9_./:%+@^-]+", re.ASCII)
_SUBSCRIPT = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*\[", re.ASCII)
_REDIRECTION = lazy_pattern(r"[0-9]*(<<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\())|(&>>|&>)")
_DELIMITER = lazy_pattern(r"(?:'([^'\n]*)'|\"([^\"\\$`\n]*)\"|(\\?)([A-Za-z0-9_.%+-]+))" + _END)
_PARAMETER = lazy_pattern(
    r"\{(?:"
    r"#?(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[?#@*!$-])(?P<index>\[(?:[0-9]+|@|\*)\])?"
    r"(?:(?::?[-+]|##?|%%?|\^\^?|,,?)[A-Za-z0-9_./:,*?@%+= -]*|//?[A-Za-z0-9_.:,*? -]*(?:/[A-Za-z0-9_.:, -]*)?"
    r"|:[0-9]+(?::[0-9]+)?)?"
    r")\}",
    re.ASCII,
)
_NUMBERS = lazy_pattern(r"\(\([0-9+\-*/% \t]*\)\)", re.ASCII)
_EXPANDED = lazy_pattern(r"[~*?\[]")
_FOLDERS = frozenset({"HOME", "PWD", "OLDPWD"})
"""Variables that hold a path. A line that assigns one of them cannot be read."""
_DIGITS = frozenset("?#$!")
_UNARY = frozenset(f"-{letter}" for letter in "abcdefghknprstuwxzGLNOS")
_BINARY = frozenset(("=", "==", "!=", "=~", "<", ">", "-nt", "-ot", "-ef"))
_COMPARISONS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))


class ParsedLine(msgspec.Struct, frozen=True):
    """The commands of a line in the order of their text."""

    commands: tuple[SimpleCommand, ...]
    redirections: tuple[Redirection, ...]
    """Those of compound commands."""
    loop_variables: tuple[str, ...]
    has_substitutions: bool
    has_functions: bool


class _Contents(msgspec.Struct):
    """What was read so far, shared by the parsers of nested texts."""

    commands: list[SimpleCommand] = []
    redirections: list[Redirection] = []
    loop_variables: list[str] = []
    has_substitutions: bool = False
    has_functions: bool = False
    words: int = 0


class _HereDocument(msgspec.Struct):
    """A text below the line, until a line that equals the delimiter."""

    delimiter: str
    is_literal: bool
    strips_tabs: bool


def parse_line(line: str, *, is_posix: bool = False) -> ParsedLine:
    """Read a line. With `is_posix` it must mean the same to bash and to every other shell. Raises Unreadable."""
    if _CONTROLS.search(line):
        raise Unreadable("control characters")
    contents = _Contents()
    _Parser(line, contents, is_posix).read_program()
    return ParsedLine(
        tuple(contents.commands),
        tuple(contents.redirections),
        tuple(contents.loop_variables),
        contents.has_substitutions,
        contents.has_functions,
    )


class _Parser:
    def __init__(self, line: str, contents: _Contents, is_posix: bool, nested: int = 0) -> None:
        self._line = line
        self._at = 0
        self._contents = contents
        self._is_posix = is_posix
        self._nested = nested
        self._substitutions = 0
        """How many `$(` are open at the cursor."""
        self._pending: list[_HereDocument] = []

    # --- lists ---------------------------------------------------------------------------------------------------

    def read_program(self) -> None:
        self._list(frozenset())
        if self._at < len(self._line) or self._pending:
            raise Unreadable("a syntax error")

    def _list(self, ends: frozenset[str], *, needs_command: bool = False) -> None:
        """Read commands until one of the reserved words or operators in `ends`, which stays unread."""
        self._enter()
        count = 0
        while True:
            self._skip_newlines()
            if self._is_end(ends):
                break
            self._and_or()
            count += 1
            self._skip_blanks()
            if self._is_end(ends) or self._peek(2) in (";;", ";&"):
                break
            if self._peek() not in (";", "&", "\n"):
                raise Unreadable("a syntax error")
            if self._peek() == "\n":
                continue  # its here-documents are read with it
            self._at += 1
        if needs_command and not count:
            raise Unreadable("a syntax error")
        self._nested -= 1

    def _enter(self) -> None:
        self._nested += 1
        if self._nested > _MOST_NESTED:
            raise Unreadable("commands that are nested too deeply")

    def _is_end(self, ends: frozenset[str]) -> bool:
        if self._at >= len(self._line):
            return True
        if self._peek() == ")":
            if ")" not in ends:
                raise Unreadable("a syntax error")
            return True
        if ";;" in ends and self._peek(2) in (";;", ";&"):
            return True
        word = self._reserved()
        return word is not None and word in ends

    def _and_or(self) -> None:
        self._pipeline()
        while self._skip_blanks() and self._peek(2) in ("&&", "||"):
            self._at += 2
            self._skip_newlines()
            self._pipeline()

    def _pipeline(self) -> None:
        while (prefix := self._reserved()) in ("!", "time"):
            if prefix == "time":
                self._bash_only("`time`")
            self._at += len(prefix or "")
            self._skip_blanks()
            if prefix == "time" and self._peek() == "-":
                raise Unreadable("an option of `time`")
            if prefix == "time" and self._peek() in ("", "\n", ";"):
                return
        self._command()
        while self._skip_blanks() and self._peek() == "|" and self._peek(2) != "||":
            if self._peek(2) == "|&":
                self._bash_only("`|&`")
                self._at += 1
            self._at += 1
            self._skip_newlines()
            self._command()

    # --- commands ------------------------------------------------------------------------------------------------

    def _command(self) -> None:
        if self._peek() == "(":
            if self._peek(2) == "((":
                raise Unreadable("arithmetic")
            self._at += 1
            self._list(frozenset({")"}), needs_command=True)
            self._expect(")")
            self._trailing_redirections()
            return
        word = self._reserved()
        if word is None:
            self._simple_command()
            return
        self._at += len(word)
        match word:
            case "{":
                self._list(frozenset({"}"}), needs_command=True)
                self._expect_word("}")
            case "if":
                self._if()
            case "while" | "until":
                self._list(frozenset({"do"}), needs_command=True)
                self._body()
            case "for":
                self._for()
            case "case":
                self._case()
            case "[[":
                self._conditional()
            case "function":
                self._function_keyword()
                return
            case _:
                raise Unreadable(f"`{word}` where a command is expected")
        self._trailing_redirections()

    def _if(self) -> None:
        self._list(frozenset({"then"}), needs_command=True)
        self._expect_word("then")
        self._list(frozenset({"elif", "else", "fi"}), needs_command=True)
        word = self._reserved()
        self._at += len(word or "")
        match word:
            case "elif":
                self._enter()
                self._if()
                self._nested -= 1
            case "else":
                self._list(frozenset({"fi"}), needs_command=True)
                self._expect_word("fi")
            case "fi":
                return
            case _:
                raise Unreadable("a syntax error")

    def _body(self) -> None:
        self._expect_word("do")
        self._list(frozenset({"done"}), needs_command=True)
        self._expect_word("done")

    def _for(self) -> None:
        self._skip_blanks()
        name = _NAME.match(self._line, self._at)
        if name is None or self._line[name.end() : name.end() + 1] not in (*" \t\n;", ""):
            raise Unreadable("a loop without a plain variable")
        self._contents.loop_variables.append(name[0])
        self._at = name.end()
        self._skip_newlines()
        if self._reserved() == "in":
            self._at += len("in")
            while self._skip_blanks() and self._peek() not in (";", "\n"):
                if self._peek() in tuple("&|()<>"):
                    raise Unreadable("a syntax error")
                self._word()
        self._skip_blanks()
        if self._peek() == ";":
            self._at += 1
        self._skip_newlines()
        self._body()

    def _case(self) -> None:
        if self._substitutions:
            raise Unreadable("`case` in a substitution")  # older versions of bash end the substitution at its `)`
        self._skip_blanks()
        self._word()
        self._skip_newlines()
        self._expect_word("in")
        while True:
            self._skip_newlines()
            if self._reserved() == "esac":
                break
            if self._peek() == "(":
                self._at += 1
                self._skip_blanks()
            self._word()
            while self._skip_blanks() and self._peek() == "|":
                self._at += 1
                self._skip_blanks()
                self._word()
            self._expect(")")
            self._list(frozenset({"esac", ";;"}))
            if self._peek(2) == ";;" and self._peek(3) != ";;&":
                self._at += 2
            elif self._reserved() != "esac":
                raise Unreadable("a syntax error")
        self._expect_word("esac")

    def _conditional(self) -> None:
        """Read `[[ … ]]`. Numbers are compared only if they are written out: the shell evaluates other texts."""
        self._bash_only("`[[`")
        terms: list[Word | str] = []
        while True:
            self._skip_newlines()
            if self._line.startswith("]]", self._at) and self._line[self._at + 2 : self._at + 3] in ("", *_BREAKS):
                self._at += 2
                return _check_condition(terms)
            if self._peek(2) in ("&&", "||"):
                self._at += 2
                _check_condition(terms)
                terms = []
            elif self._peek() in ("<", ">") and self._line[self._at + 1 : self._at + 2] in (" ", "\t"):
                terms.append(self._peek())
                self._at += 1
            elif self._peek() in ("", *";&|()<>"):
                raise Unreadable("a condition in `[[` that is not simple")
            else:
                terms.append(self._word(may_assign=True))

    def _function_keyword(self) -> None:
        self._bash_only("`function`")
        self._skip_blanks()
        name = _FUNCTION_NAME.match(self._line, self._at)
        if name is None:
            raise Unreadable("a function without a plain name")
        self._at = name.end()
        self._skip_blanks()
        if self._peek() == "(":
            self._at += 1
            self._skip_blanks()
            self._expect(")")
        self._function_body()

    def _function_body(self) -> None:
        self._contents.has_functions = True
        self._skip_newlines()
        if self._peek() != "(" and self._reserved() not in ("{", "if", "while", "until", "for", "case"):
            raise Unreadable("a function without a plain body")
        self._enter()
        self._command()
        self._nested -= 1

    def _simple_command(self) -> None:
        function = _FUNCTION.match(self._line, self._at)
        if function is not None:
            if function[1] in _RESERVED_NAMES:
                raise Unreadable("a syntax error")
            self._at = function.end()
            self._function_body()
            return
        variables: list[str] = []
        words: list[Word] = []
        redirections: list[Redirection] = []
        while self._skip_blanks():
            if self._is_redirection():
                redirections.append(self._redirection())
                continue
            if self._peek() in tuple("\n;&|)"):
                break
            if self._peek() == "(":
                raise Unreadable("`(` inside of a command")
            if not words and (assignment := _ASSIGNMENT.match(self._line, self._at)) is not None:
                variables.append(self._assignment(assignment))
                continue
            words.append(self._word(may_assign=not words))
        if not words and not variables and not redirections:
            raise Unreadable("a syntax error")
        if words and not words[0].is_quoted and words[0].literal in _RESERVED_NAMES:
            raise Unreadable(f"`{words[0].literal}` where a command is expected")
        self._contents.commands.append(SimpleCommand(tuple(variables), tuple(words), tuple(redirections)))
        if len(self._contents.commands) > MOST_COMMANDS:
            raise Unreadable(f"more than {MOST_COMMANDS} commands")

    def _assignment(self, assignment: "re.Match[str]") -> str:
        """Read an assignment. A subscript is evaluated by the shell, so it must be a number."""
        name, subscript = assignment[1], assignment[2]
        if subscript is not None and not subscript[1:-1].isdecimal():
            raise Unreadable("an assignment to a subscript")
        if subscript is not None or assignment[0].endswith("+="):
            self._bash_only("an assignment to a part of a variable")
        self._at = assignment.end()
        if self._peek() == "(":
            self._bash_only("an array")
            self._at += 1
            while self._skip_newlines() and self._peek() != ")":
                if self._peek() in ("[", *";&|(<>"):
                    raise Unreadable("an array that is not a plain list")
                self._word(may_assign=True)
            self._expect(")")
            if self._peek() not in ("", *" \t\n;&|)"):
                raise Unreadable("text behind an array")
        elif self._peek() not in ("", *_BREAKS) or self._starts_process_substitution():
            self._word()
        return name

    # --- redirections --------------------------------------------------------------------------------------------

    def _is_redirection(self) -> bool:
        return _REDIRECTION.match(self._line, self._at) is not None

    def _trailing_redirections(self) -> None:
        while self._skip_blanks() and self._is_redirection():
            self._contents.redirections.append(self._redirection())

    def _redirection(self) -> Redirection:
        match = _REDIRECTION.match(self._line, self._at)
        assert match is not None
        operator = match[1] or match[2]
        self._at = match.end()
        if operator in ("&>", "&>>", "<<<"):
            self._bash_only(f"`{operator}`")
        self._skip_blanks()
        if operator in ("<<", "<<-"):
            return self._here_document(operator)
        if self._peek() in ("", *"\n;&|()") or (self._peek() in "<>" and not self._starts_process_substitution()):
            raise Unreadable("a redirection without a target")
        target = self._word()
        if (target.literal or "").isdecimal() and self._peek() in ("<", ">"):
            raise Unreadable("a redirection without a target")
        return Redirection(operator, target)

    def _here_document(self, operator: str) -> Redirection:
        match = _DELIMITER.match(self._line, self._at)
        if match is None:
            raise Unreadable("a here-document with an unusual delimiter")
        self._at = match.end()
        single, double, backslash, bare = match.groups()
        delimiter = single if single is not None else double if double is not None else bare
        self._pending.append(_HereDocument(delimiter, bare is None or bool(backslash), operator == "<<-"))
        return Redirection(operator, Word.of(delimiter))

    def _read_here_documents(self) -> None:
        pending, self._pending = self._pending, []
        for document in pending:
            lines: list[str] = []
            while True:
                if self._at >= len(self._line):
                    raise Unreadable("a here-document without an end")
                end = self._line.find("\n", self._at)
                end = len(self._line) if end < 0 else end
                line = self._line[self._at : end]
                self._at = min(end + 1, len(self._line))
                if (line.lstrip("\t") if document.strips_tabs else line) == document.delimiter:
                    break
                lines.append(line)
            body = "\n".join(lines)
            if self._substitutions and any(char in body for char in "()'\"`\\"):
                raise Unreadable("a here-document in a substitution")  # older versions of bash look for `)` in it
            if not document.is_literal:
                _Parser(body, self._contents, self._is_posix, self._nested).read_text()

    def read_text(self) -> None:
        """Read the expansions in a here-document."""
        self._enter()
        while self._at < len(self._line):
            char = self._line[self._at]
            self._at += 1
            if char == "`":
                self._backticks(is_quoted=True)
            elif char == "$":
                self._dollar(is_quoted=True)
            elif char == "\\":
                if self._peek() == "\n":
                    raise Unreadable("a line break in a here-document")
                self._at += 1

    # --- words ---------------------------------------------------------------------------------------------------

    def _word(self, *, may_assign: bool = False) -> Word:
        start = self._at
        self._contents.words += 1
        if self._contents.words > _MOST_WORDS:
            raise Unreadable(f"more than {_MOST_WORDS} words")
        if may_assign and _SUBSCRIPT.match(self._line, start):
            raise Unreadable("a subscript")  # bash reads on until its `]`, over blanks and operators
        builder = _WordBuilder()
        while self._at < len(self._line):
            char = self._line[self._at]
            if self._starts_process_substitution():
                self._bash_only("a process substitution")
                source_start = self._at
                self._at += 2
                self._substitution()
                builder.expand(Expansion(self._line[source_start : self._at], "path"))
                continue
            if char in _BREAKS:
                break
            self._at += 1
            match char:
                case "'":
                    builder.quote(self._until_quote())
                case '"':
                    builder.quote(*self._double_quoted())
                case "\\":
                    builder.quote(self._escaped())
                case "`":
                    builder.expand(self._backticks(is_quoted=False))
                case "$":
                    self._dollar_in_word(builder)
                case _:
                    run = _PLAIN.match(self._line, self._at)
                    self._at = run.end() if run is not None else self._at
                    builder.write(char + run[0] if run is not None else char)
        if self._at == start:
            raise Unreadable("a syntax error")
        if builder.expansions > _MOST_EXPANSIONS:
            raise Unreadable(f"more than {_MOST_EXPANSIONS} expansions in one word")
        if builder.is_descriptor_name and self._peek() in ("<", ">"):
            raise Unreadable("a redirection that assigns a variable")
        if builder.has_braces:
            self._bash_only("a brace expansion")
            return Word((Expansion(self._line[start : self._at], "words"),))
        return builder.word()

    def _dollar_in_word(self, builder: "_WordBuilder") -> None:
        if self._peek() == "'":
            self._bash_only("`$'…'`")
            self._at += 1
            text, self._at = decode_ansi_quotes(self._line, self._at)
            builder.quote(text)
            return
        if self._peek() == '"':
            raise Unreadable('`$"…"`')
        piece = self._dollar(is_quoted=False)
        if isinstance(piece, str):
            builder.quote(piece)
        else:
            builder.expand(piece)

    def _until_quote(self) -> str:
        end = self._line.find("'", self._at)
        if end < 0:
            raise Unreadable("a quote without an end")
        text = self._line[self._at : end]
        self._check_line_break(text)
        self._at = end + 1
        return text

    def _check_line_break(self, text: str) -> None:
        if self._pending and "\n" in text:
            raise Unreadable("a quoted line break in front of a here-document")

    def _escaped(self) -> str:
        char = self._peek()
        if char in ("", "\n"):
            raise Unreadable("a backslash at the end of a line")
        self._at += 1
        return char

    def _double_quoted(self) -> tuple[Piece, ...]:
        pieces: list[Piece] = []
        text: list[str] = []
        start = self._at
        while self._at < len(self._line):
            char = self._line[self._at]
            self._at += 1
            if char == '"':
                self._check_line_break(self._line[start : self._at])
                return (*pieces, "".join(text))
            piece: Piece = char
            if char == "`":
                piece = self._backticks(is_quoted=True)
            elif char == "$":
                piece = self._dollar(is_quoted=True)
            elif char == "\\" and self._peek() in ("$", "`", '"', "\\", "\n"):
                piece = "" if self._peek() == "\n" else self._peek()
                self._at += 1
            if isinstance(piece, str):
                text.append(piece)
            else:
                pieces += ["".join(text), piece]
                text = []
        raise Unreadable("a quote without an end")

    def _dollar(self, *, is_quoted: bool) -> Piece:
        """Read what follows a dollar sign."""
        start = self._at - 1
        following = self._peek()
        if following == "(":
            if self._peek(2) == "((":
                numbers = _NUMBERS.match(self._line, self._at)
                if numbers is None:
                    raise Unreadable("arithmetic")
                self._at = numbers.end()
                return Expansion(self._line[start : self._at], "number")
            self._at += 1
            self._substitution()
            return Expansion(self._line[start : self._at], "text" if is_quoted else "words")
        if following == "[":
            raise Unreadable("arithmetic")
        if following == "{":
            return self._parameter(start, is_quoted)
        if following == "\\" and self._peek(2) == "\\\n":
            raise Unreadable("a backslash at the end of a line")
        name = _NAME.match(self._line, self._at)
        if name is not None:
            self._at = name.end()
            return Expansion(self._line[start : self._at], _kind(name[0], is_quoted))
        if following and following in "0123456789?#@*!$-":
            self._at += 1
            if following == "$" and self._peek() in ("(", "{", "[", "'", '"'):
                raise Unreadable("`$$` in front of a bracket or quote")  # bash pairs the second one with it
            return Expansion(self._line[start : self._at], _kind(following, is_quoted))
        return "$"

    def _parameter(self, start: int, is_quoted: bool) -> Expansion:
        match = _PARAMETER.match(self._line, self._at)
        if match is None:
            raise Unreadable("an expansion that is not plain")
        is_plain = match[0] == f"{{{match['name']}}}"
        if not is_plain:
            self._bash_only_parameter(match)
        self._at = match.end()
        source = self._line[start : self._at]
        if match["index"] in ("[@]", "[*]"):
            return Expansion(source, "words")
        if match[0].startswith("{#") and match["name"] != "#":
            return Expansion(source, "number")
        return Expansion(source, _kind(match["name"], is_quoted) if is_plain else "text" if is_quoted else "words")

    def _bash_only_parameter(self, match: "re.Match[str]") -> None:
        if match["index"] or any(mark in match[0] for mark in ("/", "^", ",", ":0", ":1")):
            self._bash_only("an expansion that is not plain")

    def _substitution(self) -> None:
        """Read the commands of `$(…)` behind its opening."""
        if self._pending:
            raise Unreadable("a substitution in front of a here-document")
        self._contents.has_substitutions = True
        self._substitutions += 1
        self._list(frozenset({")"}))
        if self._pending:
            raise Unreadable("a here-document without an end")
        self._expect(")")
        self._substitutions -= 1

    def _backticks(self, *, is_quoted: bool) -> Expansion:
        start = self._at - 1
        end = self._line.find("`", self._at)
        text = self._line[self._at : end]
        if end < 0 or "\\" in text or (is_quoted and '"' in text):
            raise Unreadable("backticks with quotes inside")
        self._check_line_break(text)
        self._contents.has_substitutions = True
        self._at = end + 1
        nested = _Parser(text, self._contents, self._is_posix, self._nested + 1)
        nested._substitutions = 1
        nested.read_program()
        return Expansion(self._line[start : self._at], "text" if is_quoted else "words")

    # --- characters ----------------------------------------------------------------------------------------------

    def _peek(self, count: int = 1) -> str:
        return self._line[self._at : self._at + count]

    def _starts_process_substitution(self) -> bool:
        return self._peek(2) in ("<(", ">(")

    def _skip_blanks(self) -> bool:
        """Advance to the next token of the line. Return whether there is one."""
        line = self._line
        while self._at < len(line):
            char = line[self._at]
            if char in _BLANK:
                self._at += 1
            elif char == "\\" and self._peek(2) == "\\\n" and (self._at == 0 or line[self._at - 1] in " \t\n"):
                self._at += 2
            elif char == "#" and (self._at == 0 or line[self._at - 1] in _BREAKS):
                if self._substitutions:
                    raise Unreadable("a comment in a substitution")  # older versions of bash look for `)` in it
                end = line.find("\n", self._at)
                self._at = len(line) if end < 0 else end
            else:
                return True
        return False

    def _skip_newlines(self) -> bool:
        while self._skip_blanks():
            if self._peek() != "\n":
                return True
            self._at += 1
            self._read_here_documents()
        return False

    def _reserved(self) -> str | None:
        """The reserved word at the cursor."""
        match = _RESERVED.match(self._line, self._at)
        return match[0] if match is not None else None

    def _expect(self, operator: str) -> None:
        self._skip_blanks()
        if not self._line.startswith(operator, self._at):
            raise Unreadable("a syntax error")
        self._at += len(operator)

    def _expect_word(self, word: str) -> None:
        self._skip_newlines()
        if self._reserved() != word:
            raise Unreadable("a syntax error")
        self._at += len(word)

    def _bash_only(self, construct: str) -> None:
        if self._is_posix:
            raise Unreadable(f"{construct}, which shells read differently")


class _WordBuilder:
    """Collects the pieces of a word, and notices what the shell expands in its unquoted part."""

    def __init__(self) -> None:
        self._pieces: list[tuple[Piece, bool]] = []
        """Each with whether it is bare, so that it may be a part of a glob, a brace or a tilde."""
        self._is_quoted = False

    def write(self, text: str) -> None:
        self._pieces.append((text, True))

    def quote(self, *pieces: Piece) -> None:
        self._is_quoted = True
        self._pieces += [(piece, False) for piece in pieces if piece != ""]

    def expand(self, expansion: Piece) -> None:
        self._pieces.append((expansion, False))

    @property
    def expansions(self) -> int:
        return sum(isinstance(piece, Expansion) for piece, _ in self._pieces) + len(_EXPANDED.findall(self._bare))

    @property
    def _bare(self) -> str:
        return "".join(piece if is_bare and isinstance(piece, str) else "\0" for piece, is_bare in self._pieces)

    @property
    def has_braces(self) -> bool:
        bare = self._bare
        start = bare.find("{")
        return start >= 0 and (bare.find(",", start) > 0 or bare.find("..", start) > 0)

    @property
    def is_descriptor_name(self) -> bool:
        bare = self._bare
        return bare.startswith("{") and bare.endswith("}") and _NAME.fullmatch(bare, 1, len(bare) - 1) is not None

    def word(self) -> Word:
        bare = self._bare
        if not _EXPANDED.search(bare):
            return Word(_merge([piece for piece, _ in self._pieces]), self._is_quoted)
        self._split_runs()
        first, last = bare.find("["), bare.rfind("]")
        pieces: list[Piece] = []
        index = 0
        while index < len(bare):
            piece = self._pieces[index][0]
            if index == 0 and bare[0] == "~":
                end = min((at for at in (bare.find("/"), bare.find("\0")) if at > 0), default=len(bare))
                pieces.append(Expansion(bare[:end], "path"))
                index = end
                continue
            if index == first and last > first:
                inside = (item if isinstance(item, str) else item.source for item, _ in self._pieces[first : last + 1])
                pieces.append(Expansion("".join(inside), _bracket_kind(self._pieces[first : last + 1])))
                index = last + 1
                continue
            pieces.append(Expansion(bare[index], "names") if bare[index] in "*?" else piece)
            index += 1
        return Word(_merge(pieces), self._is_quoted)

    def _split_runs(self) -> None:
        """Split bare texts into characters, one for each in `_bare`."""
        pieces, self._pieces = self._pieces, []
        for piece, is_bare in pieces:
            if is_bare and isinstance(piece, str):
                self._pieces += [(char, True) for char in piece]
            else:
                self._pieces.append((piece, is_bare))


def _bracket_kind(pieces: list[tuple[Piece, bool]]) -> Kind:
    has_words = any(isinstance(piece, Expansion) and piece.kind == "words" for piece, _ in pieces)
    return "words" if has_words else "names"


def _merge(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Join neighbouring texts."""
    merged: list[Piece] = []
    for is_text, group in groupby(pieces, lambda piece: isinstance(piece, str)):
        if is_text:
            merged.append("".join(piece for piece in group if isinstance(piece, str)))
        else:
            merged += group
    return tuple(piece for piece in merged if piece != "")


def _kind(name: str, is_quoted: bool) -> Kind:
    """What the value of a variable becomes."""
    if name in _DIGITS:
        return "number"
    if name in _FOLDERS:
        return "path"
    return "text" if is_quoted and name != "@" else "words"


def _check_condition(terms: list[Word | str]) -> None:
    while terms and isinstance(terms[0], Word) and terms[0].literal == "!" and not terms[0].is_quoted:
        terms = terms[1:]
    match terms:
        case [Word()]:
            return
        case [Word() as operator, Word()] if operator.literal in _UNARY:
            return
        case [Word(), str(), Word()]:
            return
        case [Word(), Word() as operator, Word()] if operator.literal in _BINARY:
            return
        case [Word() as left, Word() as operator, Word() as right] if operator.literal in _COMPARISONS:
            if left.is_number and right.is_number:
                return
        case _:
            pass
    raise Unreadable("a condition in `[[` that the shell may evaluate")
