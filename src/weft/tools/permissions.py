"""What an agent may do: rules of the operator, and a mode for what no rule names.

A rule is written `allow`, `ask` or `deny`, a tool, and in parentheses what it must be about:

    deny run_command(rm *)        a part of the command line
    allow write_file(src/*)       a path
    ask fetch_url(url=*login*)    the value of one argument

A deny that matches always wins; among the others the last one that matches does.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject, encode_text
from weft.tools.tool import Effect, Tool

Verdict = Literal["allow", "ask", "deny"]
Mode = Literal["read-only", "ask", "auto"]
MODES: tuple[Mode, ...] = ("read-only", "ask", "auto")

Real = Callable[[str], str]
"""The path of a file in the workspace without links on its way."""

_HARMLESS: frozenset[Effect] = frozenset({"none", "read"})
_RULE = re.compile(r"\s*(allow|ask|deny)\s+([^\s(]+)\s*(?:\((.*)\))?\s*\Z", re.DOTALL)
_NAMED = re.compile(r"([A-Za-z_]\w*)=(.*)\Z", re.DOTALL)


class Decision(msgspec.Struct, frozen=True):
    verdict: Verdict
    reason: str = ""


class Rule(msgspec.Struct, frozen=True):
    verdict: Verdict
    tool: str
    """A name, or a pattern such as `github__*`."""
    about: str | None = None
    """A pattern for what the call is about."""
    argument: str | None = None
    """The one argument that the pattern is for."""

    @classmethod
    def parse(cls, text: str) -> "Rule":
        found = _RULE.match(text)
        if found is None:
            raise ConfigurationError(f"{text!r} is no rule; write it as 'deny run_command(rm *)' or 'allow read_file'.")
        verdict, tool, about = found.groups()
        named = _NAMED.match(about) if about else None
        if named is not None:
            return cls(verdict, tool, named[2], named[1])  # pyright: ignore[reportArgumentType]
        return cls(verdict, tool, about or None)  # pyright: ignore[reportArgumentType]

    def __str__(self) -> str:
        if self.about is None:
            return f"{self.verdict} {self.tool}"
        return f"{self.verdict} {self.tool}({f'{self.argument}=' if self.argument else ''}{self.about})"

    def is_for(self, tool: str) -> bool:
        return fnmatchcase(tool, self.tool)

    def unseen(self) -> "Rule | None":
        """The rule for a call that cannot be judged: who wants to be asked is asked, and nothing is allowed by it."""
        if self.about is None or self.argument is not None:
            return self
        return Rule("ask", self.tool) if self.verdict == "ask" else None

    def matches(self, subject: str, arguments: JsonObject) -> bool:
        if self.about is None:
            return True
        if self.argument is None:
            return fnmatchcase(subject, self.about)
        value = arguments.get(self.argument)
        return value is not None and fnmatchcase(_text(value), self.about)


class Permissions:
    """Decides over each call. Rules may be added and taken back while a session runs."""

    def __init__(self, mode: Mode = "auto", rules: Iterable[Rule | str] = ()) -> None:
        if mode not in MODES:
            raise ConfigurationError(f"There is no permission mode {mode!r}; choose one of {', '.join(MODES)}.")
        self.mode: Mode = mode
        self.always: set[str] = set()
        """Digests of calls that were allowed for the rest of the session: exactly these."""
        self.rules = [rule if isinstance(rule, Rule) else Rule.parse(rule) for rule in rules]

    def decide(self, tool: Tool, arguments: JsonObject, real: Real | None = None) -> Decision:
        """The decision over a call. `real` knows the paths of files behind links, which rules look at as well."""
        rules = [rule for rule in self.rules if rule.is_for(tool.name)] if self.rules else []
        if rules:
            subjects = subjects_of(tool, arguments)
            if subjects is not None and real is not None:
                subjects = [*subjects, *_behind_links(tool, arguments, real)]
            decision = self._by_rules(rules, subjects, arguments)
            if decision is not None:
                return decision
        return _BY_MODE[self.mode, tool.effect in _HARMLESS]

    def _by_rules(self, rules: list[Rule], subjects: Sequence[str] | None, arguments: JsonObject) -> Decision | None:
        denials = [rule for rule in rules if rule.verdict == "deny"]
        if subjects is None:
            if any(rule.about is not None for rule in denials):
                return Decision("deny", "It is too complex to be held against the rules; send simpler commands.")
            subjects, rules = [""], [judged for rule in rules if (judged := rule.unseen()) is not None]
        for rule in denials:
            if any(rule.matches(subject, arguments) for subject in subjects):
                return Decision("deny", f"The rule '{rule}' forbids it.")
        verdicts = {self._last(rules, subject, arguments) for subject in subjects}
        if "ask" in verdicts:
            return Decision("ask")
        return Decision("allow") if verdicts == {"allow"} else None

    def _last(self, rules: list[Rule], subject: str, arguments: JsonObject) -> Verdict | None:
        return next((rule.verdict for rule in reversed(rules) if rule.matches(subject, arguments)), None)


def subjects_of(tool: Tool, arguments: JsonObject) -> Sequence[str] | None:
    """What a call is about: what the tool says, else the files it needs, else its arguments as text."""
    if tool.subjects is not None:
        return [""] if (found := tool.subjects(arguments)) is not None and not found else found
    if tool.access is not None:
        return [access.resource.removeprefix("file:") for access in tool.access(arguments)] or [""]
    return [encode_text(arguments)]


def _behind_links(tool: Tool, arguments: JsonObject, real: Real) -> list[str]:
    """Other names of the files that a call needs."""
    accesses = tool.access(arguments) if tool.access is not None else ()
    paths = [access.resource.removeprefix("file:") for access in accesses if access.resource.startswith("file:")]
    return [behind for path in paths if path and (behind := real(path)) != path]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else encode_text(value)


_BY_MODE: dict[tuple[Mode, bool], Decision] = {
    ("read-only", True): Decision("allow"),
    ("read-only", False): Decision("deny", "This agent may only read."),
    ("ask", True): Decision("allow"),
    ("ask", False): Decision("ask"),
    ("auto", True): Decision("allow"),
    ("auto", False): Decision("allow"),
}
