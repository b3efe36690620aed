"""Recognises calls that a model writes into its text, because its server does not parse them.

Models are trained on different forms: `<tool_call>` (Hermes, Qwen), `<function=…>` (Llama, Qwen Coder),
`<|python_tag|>` (Llama), `[TOOL_CALLS]` (Mistral), `<｜tool▁calls▁begin｜>` (DeepSeek), JSON with or without a fence,
and Python-like calls. A call counts only if it ends the message, stands in no quotation and in no code that goes on
behind it, names a tool that was offered, and has arguments that fit. All other text is passed on unchanged: a model
that explains a call, or quotes a document that holds one, makes none.
"""

import re
from collections.abc import Callable
from operator import itemgetter

from heald.core.json import JsonObject
from heald.core.lazy import lazy_pattern
from heald.wires.quotation_context import Quotation, QuotationContext
from heald.wires.text_call import TextCall, Tools
from heald.wires.text_call_forms import END_TOKENS, OPENERS, holds_prose, read_calls
from heald.wires.text_call_json import BracketScan, may_be_json_call
from heald.wires.text_call_python import end_of_python, python_name

MAX_HELD = 400_000
"""The largest text that is held back as the possible beginning of a call."""


Part = str | TextCall

_LONGEST = max(len(opener) for _, opener, _ in OPENERS)
_OPENER_STARTS = frozenset(opener[:size] for _, opener, _ in OPENERS for size in range(1, len(opener) + 1))
_LINE_START = lazy_pattern(r"[ \t]*(?:[{\[]|(?:functions\.|default_api\.|print\()?[A-Za-z_]\w*\()")


_LANGUAGES = ("", "json", "tool_call", "tool_calls", "tool_code", "tool", "python", "py", "xml", "function")
_PLAIN = lazy_pattern(r"[^\n<\[{`✿]+")
"""Text that begins no call, unless it stands at the start of a line."""
_PROSE = lazy_pattern(r"[ \t]*([A-Za-z_])(\w*[^\w.(\n<\[{`✿])?[^\n<\[{`✿]*")
"""Such text at the start of a line, its first letter, and its first word, if that has ended and is not that of a
call."""
_first_letter = itemgetter(slice(1))
_UNDECIDED = lazy_pattern(r"(?:\[\s*\{?\s*)?(?:print\(\s*)?([\w.]*)")
_PREFIXES = ("", "functions.", "default_api.")
_WORD_LETTERS = "fdp"  # of these, and of `print`
_ENDS = lazy_pattern(rf"(?:{END_TOKENS})*")
_MAY_END = lazy_pattern(rf"(?:{END_TOKENS})*(?:<[^\s<>]{{0,30}})?")
_QUOTED_END = lazy_pattern(r"`|\n[ \t]*\n")
_OPEN_ENDED = ("<|python_tag|>", "[TOOL_CALLS]")
"""Openers of forms that reach to the end of the message."""

Fits = Callable[[str, JsonObject], bool]
"""Whether a tool of this name accepts these arguments."""


class TextCalls:
    """Splits a streamed text into text and calls. `tools` has the names of the arguments of each tool, in order."""

    def __init__(self, tools: Tools, fits: Fits | None = None) -> None:
        self._tools = tools
        self._fits = fits
        self._context = QuotationContext()
        self._held = ""
        self._form = ""  # of the possible call in `_held`; empty if there is none
        self._quotation: Quotation = ""  # in which it stands
        self._calls: list[TextCall] = []  # that end the text so far
        self._ending: list[str] = []  # the text of these calls, and the tokens behind them
        self._tail = ""  # the text behind the last of them that may become a token
        self._brackets = BracketScan()
        self._searched = self._quotation_searched = 0
        self._at_line_start = True
        self.failed = False
        """The text ends with something that looks like a call and is none that can be read."""

    def skip_plain(self, text: str) -> bool:
        """Skip the next piece of text if it is not part of a call. Returns False if it must be fed."""
        if self._held or self._calls:
            return False
        if not self._at_line_start:
            if _PLAIN.fullmatch(text) is None:
                return False
        elif (prose := _PROSE.fullmatch(text)) is None or (prose[2] is None and self._may_be_name(prose[1])):
            return False
        self._context.feed(text)
        self.failed = self._at_line_start = False
        return True

    def feed(self, text: str) -> list[Part]:
        if self.skip_plain(text):
            return [text]
        self._held += text
        parts: list[Part] = []
        while self._held and self._step(parts):
            pass
        return parts

    def close(self) -> list[Part]:
        """Return the rest, with the calls that end the text. A form that was not ended reaches to here."""
        parts: list[Part] = []
        if self._form:
            self._finish(parts, self._held, "")
        else:
            self._pass_on(parts, self._held)
        self._held = ""
        if self._calls and not self._tail:
            parts += self._calls
        elif self._calls:
            parts.append("".join(self._ending))
        self._calls, self._ending = [], []
        return parts

    def cancel(self) -> list[Part]:
        """Return the rest as text: the API has reported a call, so that it parses calls itself."""
        rest = "".join((*self._ending, self._held))
        self._calls, self._ending, self._held, self._form, self.failed = [], [], "", "", False
        return [rest] if rest else []

    def _step(self, parts: list[Part]) -> bool:
        """Process a piece of the held text. Returns False if more text is needed."""
        if self._form:
            return self._read_form(parts)
        opener = self._next_opener()
        if opener is None:
            keep = self._undecided()
            self._pass_on(parts, self._held[: len(self._held) - keep])
            self._held = self._held[len(self._held) - keep :]
            return False
        at, form = opener
        self._pass_on(parts, self._held[:at])
        self._held, self._form = self._held[at:], form
        self._brackets, self._searched, self._quotation_searched = BracketScan(), 0, 0
        self._quotation = self._context.find_quotation(self._held)
        is_open_ended = form == "fenced" or self._held.startswith(_OPEN_ENDED)
        if self._quotation == "block" or (self._quotation and is_open_ended):
            self._release(parts)
        return True

    def _next_opener(self) -> tuple[int, str] | None:
        """Return where the next possible call begins, and its form."""
        held = self._held
        marks = [(at, form) for form, opener, _ in OPENERS if (at := held.find(opener)) >= 0]
        start = 0
        while start <= len(held):
            if start > 0 or self._at_line_start:
                line = _LINE_START.match(held, start)
                if line is not None and self._may_begin_call(held, start):
                    marks.append((start, "json" if re.match(r"[ \t]*(?:\[\s*)?\{", held[start:]) else "python"))
                    break
            newline = held.find("\n", start)
            if newline < 0:
                break
            start = newline + 1
        return min(marks) if marks else None

    def _may_begin_call(self, text: str, at: int) -> bool:
        """Whether a line that begins with a bracket or a name may be a call."""
        rest = text[at:].lstrip(" \t")
        if rest[:1] == "{" or re.match(r"\[\s*\{", rest):
            return may_be_json_call(rest, self._tools)
        return python_name(rest.removeprefix("[")) in self._tools

    def _may_be_name(self, letter: str) -> bool:
        """Whether the name of a tool, or a word that may stand before one, begins with a letter."""
        return letter in {*map(_first_letter, self._tools), *_WORD_LETTERS}

    def _undecided(self) -> int:
        """Return how many characters at the end may begin a call."""
        held = self._held
        line = held.rfind("\n") + 1
        if (line > 0 or self._at_line_start) and len(held) - line < 80:
            rest = held[line:].lstrip(" \t")
            name = _UNDECIDED.fullmatch(rest)
            if name is not None and self._may_become_name(name[1]):
                return len(held) - line
        for size in range(min(_LONGEST - 1, len(held)), 0, -1):
            if held[-size:] in _OPENER_STARTS:
                return size
        return 0

    def _may_become_name(self, text: str) -> bool:
        """Whether a text may be the beginning of the name of a tool, or of `print`."""
        names = ("print", *(f"{prefix}{tool}" for prefix in _PREFIXES for tool in self._tools))
        return any(name.startswith(text) or text == f"{name}.call"[: len(text)] for name in names)

    def _read_form(self, parts: list[Part]) -> bool:
        held = self._held
        if len(held) > MAX_HELD:
            self._release(parts)
            return True
        if self._form == "fenced" and self._is_hopeless():  # the whole of it may have come at once
            self._release(parts)
            return True
        end = self._end_of_form()
        if self._quotation:
            end = self._end_of_quotation(end)
        if end is None:
            if self._is_hopeless():
                self._release(parts)
                return True
            return False
        self._finish(parts, held[:end], held[end:])
        return bool(self._held)

    def _end_of_form(self) -> int | None:
        """Return where the possible call ends, if it is complete."""
        held = self._held
        if self._form == "json":
            return self._brackets.feed(held)
        if self._form == "python":
            end = end_of_python(held, self._searched)
            self._searched = max(held.rfind("\n"), 0)
            return end
        for form, opener, closers in OPENERS:
            if form == self._form and held.startswith(opener):
                start = held.find("\n") if form == "fenced" else len(opener)
                if start < 0:
                    return None
                ends = [(at, closer) for closer in closers if (at := held.find(closer, start)) >= 0]
                if ends:
                    at, closer = min(ends)
                    return at + len(closer)
        return None

    def _end_of_quotation(self, end: int | None) -> int | None:
        """Return where a quoted form ends: with the form, with inline code, or with the paragraph."""
        quoted = _QUOTED_END.search(self._held, max(self._quotation_searched, 1))
        self._quotation_searched = max(self._held.rfind("\n"), 0)
        return end if quoted is None else min(quoted.end(), end or quoted.end())

    def _is_hopeless(self) -> bool:
        """Whether the text cannot become a call, so that it need not wait for its end."""
        held = self._held
        match self._form:
            case "fenced":
                head, newline, body = held[3:].partition("\n")
                if not newline:
                    return len(head) > 40 or not re.fullmatch(r"[\w+-]*[ \t]*", head)
                return not self._may_be_fenced_call(head.strip().lower(), body)
            case "json":
                return not may_be_json_call(held, self._tools)
            case "python":
                return "\n\n" in held
            case _:
                return False

    def _may_be_fenced_call(self, language: str, body: str) -> bool:
        text = body.lstrip()
        if language not in _LANGUAGES:
            return False
        if not text:
            return True
        if text[0] in "{[":
            return may_be_json_call(text, self._tools)
        if text[0] == "<":
            return any(opener.startswith(text[: len(opener)]) for _, opener, _ in OPENERS if opener[0] == "<")
        if "(" not in text.partition("\n")[0]:
            return "\n" not in text and len(text) < 80 and _UNDECIDED.fullmatch(text) is not None
        if _UNDECIDED.fullmatch(text):
            return True
        return python_name(text) in self._tools

    def _finish(self, parts: list[Part], text: str, rest: str) -> None:
        """End a form: its calls wait for the end of the text, or its text is passed on."""
        form, self._form, self._held = self._form, "", rest
        if self._quotation:
            self._quotation = ""
            self._pass_on(parts, text)
            return
        calls = read_calls(text, form, self._tools)
        if not calls or not all(self._fits is None or self._fits(call.name, call.arguments) for call in calls):
            is_marked = form not in ("fenced", "json", "python")
            self._pass_on(parts, text)
            self.failed = bool(calls) or (is_marked and not holds_prose(text))
            return
        if self._tail:  # it looked like the beginning of a token
            self._calls, self._tail = [], ""
            parts.append("".join(self._ending))
            self._ending.clear()
        self._calls += calls
        self._ending.append(text)
        self._at_line_start = True

    def _release(self, parts: list[Part]) -> None:
        """Pass on the first character or fence of a text that is not a call."""
        size = 3 if self._form == "fenced" else max(len(self._held) - len(self._held.lstrip(" \t")), 0) + 1
        self._form = self._quotation = ""
        text, self._held = self._held[:size], self._held[size:]
        self._pass_on(parts, text)
        self._at_line_start = False

    def _pass_on(self, parts: list[Part], text: str) -> None:
        """Pass on text. A call that other text follows is text too, and what may only end a call waits with it."""
        if not text:
            return
        self._context.feed(text)
        self._at_line_start = text.rpartition("\n")[2].strip(" \t") == "" and ("\n" in text or self._at_line_start)
        if self._calls:
            self._tail += text
            self._ending.append(text)
            if _ENDS.fullmatch(self._tail):
                self._tail = ""  # so that a long tail is not read once more with each piece
                return
            if _MAY_END.fullmatch(self._tail):
                return
            text, self._calls, self._ending, self._tail = "".join(self._ending), [], [], ""
        if text.strip():
            self.failed = False
        parts.append(text)
