"""Decides whether an agent may make a call, by the operator's rules and by a mode for calls that no rule matches.

A rule is `allow`, `ask` or `deny`, a tool, and optionally a pattern for the subject in parentheses:

    deny run_command(rm *)        a command in the line, also behind wrappers such as `sudo`
    allow write_file(src/*)       a path
    ask fetch_url(url=*login*)    the value of one argument

Rules that deny or ask match what a call could do, rules that allow what it certainly does and nothing else. A call that
cannot be judged matches every pattern of a rule that denies or asks, and none of a rule that allows.

A matching deny rule always wins. Of the other matching rules the last one applies. The mode `inside` allows calls that
stay in the workspace, such as sandboxed commands, and asks for those that leave it.

Files that hold secrets, such as `.env` and private keys, are a subject of their own: `ask read(secrets)` applies in
every mode but `auto`, whichever tool reads them, unless another `read(secrets)` rule matches or a rule allows
the very path.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from heald.core.arguments import checked
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, encode_text
from heald.core.lazy import lazy_pattern
from heald.tools.definitions import Effect, Tool
from heald.tools.secrets import is_secret_file, names_secret_file
from heald.tools.subjects import Subject, Subjects, TextSubject

Verdict = Literal["allow", "ask", "deny"]
Mode = Literal["read-only", "ask", "inside", "auto"]
MODES: tuple[Mode, ...] = ("read-only", "ask", "inside", "auto")

Real = Callable[[str], str]
"""Resolves the links in a workspace path."""

SECRETS = ("read", "secrets")
"""The tool and the subject of a rule about files that hold secrets."""
_NAMES_ONLY = frozenset({"list_files", "glob", "find_file"})
"""Tools that read no contents."""
_HARMLESS: frozenset[Effect] = frozenset({"none", "read"})
_SEES_FILES: frozenset[Effect] = frozenset({"read", "run"})
_RULE = lazy_pattern(r"\s*(allow|ask|deny)\s+([^\s(]+)\s*(?:\((.*)\))?\s*\Z", re.DOTALL)
_NAMED = lazy_pattern(r"([A-Za-z_]\w*)=(.*)\Z", re.DOTALL)


class Decision(msgspec.Struct, frozen=True):
    """The decision on a call, and why."""

    verdict: Verdict
    reason: str = ""


class PermissionRule(msgspec.Struct, frozen=True):
    """A rule for calls: `allow`, `ask` or `deny`."""

    verdict: Verdict
    tool: str
    """A name, or a pattern such as `github__*`."""
    about: str | None = None
    """A pattern for the subject of the call."""
    argument: str | None = None
    """The argument that the pattern is matched against, instead of the subject."""

    @classmethod
    def parse(cls, text: str) -> "PermissionRule":
        match = _RULE.match(text)
        if match is None:
            raise ConfigurationError(
                f"{text!r} is not a rule; write it as 'deny run_command(rm *)' or 'allow read_file'."
            )
        verdict, tool, about = match.groups()
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

    def unseen(self) -> "PermissionRule | None":
        """Return the rule for a call with unknown subjects: of rules with a subject pattern only `ask` rules apply."""
        if self.about is None or self.argument is not None:
            return self
        return PermissionRule("ask", self.tool) if self.verdict == "ask" else None

    def may_match(self, subject: Subject, arguments: JsonObject) -> bool:
        """Whether a call could do what the rule is about."""
        if self.about is not None and self.argument is None:
            return subject.may_match(self.about)
        return self._matches_argument(arguments)

    def must_match(self, subject: Subject, arguments: JsonObject) -> bool:
        """Whether a call does what the rule is about, whatever is still unknown about it."""
        if self.about is not None and self.argument is None:
            return subject.must_match(self.about)
        return self._matches_argument(arguments)

    def _matches_argument(self, arguments: JsonObject) -> bool:
        if self.about is None or self.argument is None:
            return True
        value = arguments.get(self.argument)
        return value is not None and fnmatchcase(_text(value), self.about)


class Permissions:
    """Decides on each call. Rules may be added and removed while a session runs."""

    @checked
    def __init__(self, mode: Mode = "auto", rules: Iterable[PermissionRule | str] = ()) -> None:
        self.mode: Mode = mode
        self.always: set[str] = set()
        """Digests of the exact calls that were allowed for the rest of the session."""
        self.planning = False
        """Whether only reading is permitted, whatever the rules are: a person has not approved the plan yet."""
        self.rules = [rule if isinstance(rule, PermissionRule) else PermissionRule.parse(rule) for rule in rules]

    def decide(self, tool: Tool, arguments: JsonObject, real: Real | None = None) -> Decision:
        """Return the decision on a call. `real` resolves links; rules also match the resolved paths."""
        if self.mode == "auto" and not self.rules and not self.planning:
            return _ALLOWED
        if self.planning and tool.effect not in _HARMLESS:
            return _PLANNING
        rules = self._rules_for(tool) if self.rules else []
        decision = None
        if rules:
            decision = self._by_rules(rules, _all_subjects(tool, arguments, real), arguments)
        decision = decision or self._by_mode(tool, arguments)
        if decision.verdict != "allow" or tool.effect not in _SEES_FILES or not reads_secrets(tool, arguments, real):
            return decision
        return self._on_secrets([rule for rule in rules if rule.about is not None], tool, arguments, real)

    def _rules_for(self, tool: Tool) -> list[PermissionRule]:
        """Return the rules for a tool, and those for the tools that it stands in for: a tool in the loop of another
        agent does what one of ours does, under another name."""
        names: tuple[str, ...] = (tool.name, *getattr(tool, "rules_of", ()))
        return [rule for rule in self.rules if any(rule.is_for(name) for name in names)]

    def _by_mode(self, tool: Tool, arguments: JsonObject) -> Decision:
        is_harmless = tool.effect in _HARMLESS
        if self.mode != "inside" or is_harmless:
            return _BY_MODE[self.mode, is_harmless]
        if tool.outside_effect is None:
            return Decision("ask")
        reason = tool.outside_effect(arguments)
        return Decision("allow") if reason is None else Decision("ask", reason)

    def _on_secrets(
        self, rules: list[PermissionRule], tool: Tool, arguments: JsonObject, real: Real | None
    ) -> Decision:
        """Decide on a call that is otherwise allowed and reads a file that holds secrets."""
        named = self._by_rules(rules, _all_subjects(tool, arguments, real), arguments) if rules else None
        if named is not None and named.verdict == "allow" and tool.effect == "read":
            return named
        rule = self._secrets_rule
        verdict = rule.verdict if rule is not None else "allow" if self.mode == "auto" else "ask"
        return Decision(verdict, f"The rule '{rule}' forbids it." if verdict == "deny" else "")

    @property
    def _secrets_rule(self) -> PermissionRule | None:
        return next((rule for rule in reversed(self.rules) if (rule.tool, rule.about) == SECRETS), None)

    def _by_rules(self, rules: list[PermissionRule], subjects: Subjects, arguments: JsonObject) -> Decision | None:
        denials = [rule for rule in rules if rule.verdict == "deny"]
        items: Sequence[Subject] = subjects.items
        if subjects.unreadable:
            if any(rule.about is not None for rule in denials):
                return Decision("deny", subjects.unreadable)
            rules = [judged for rule in rules if (judged := rule.unseen()) is not None]
        if subjects.unallowable:
            rules = [
                rule for rule in rules if rule.verdict != "allow" or rule.about is None or rule.argument is not None
            ]
        if subjects.unreadable or not items:
            items = (TextSubject(""),)
        for rule in denials:
            for subject in items:
                if rule.may_match(subject, arguments):
                    return Decision("deny", _denial(rule, subject))
        verdicts = {self._last(rules, subject, arguments) for subject in items}
        if "ask" in verdicts:
            return Decision("ask")
        return Decision("allow") if verdicts == {"allow"} else None

    def _last(self, rules: list[PermissionRule], subject: Subject, arguments: JsonObject) -> Verdict | None:
        for rule in reversed(rules):
            matches = rule.must_match if rule.verdict == "allow" else rule.may_match
            if matches(subject, arguments):
                return rule.verdict
        return None


def reads_secrets(tool: Tool, arguments: JsonObject, real: Real | None = None) -> bool:
    """Whether a call reads a file that holds secrets, or runs a command that names one."""
    if tool.effect not in _SEES_FILES or tool.name in _NAMES_ONLY:
        return False
    subjects = _all_subjects(tool, arguments, real)
    return any(names_secret_file(subject) if tool.effect == "run" else is_secret_file(subject) for subject in subjects)


def _all_subjects(tool: Tool, arguments: JsonObject, real: Real | None) -> Subjects:
    """The subjects of a call, with the paths behind links."""
    subjects = subjects_of(tool, arguments)
    if real is None or subjects.unreadable:
        return subjects
    paths = _behind_links(tool, arguments, real)
    if not paths:
        return subjects
    items = (*subjects.items, *(TextSubject(path) for path in paths))
    return Subjects([*subjects, *paths], items, "", subjects.unallowable)


def subjects_of(tool: Tool, arguments: JsonObject) -> Subjects:
    """Return the subjects of a call: those the tool defines, else the files it accesses, else its arguments as JSON."""
    if tool.subjects is not None:
        subjects = tool.subjects(arguments)
        if isinstance(subjects, Subjects):
            return subjects
        if subjects is None:
            return Subjects([], unreadable=_TOO_COMPLEX)
        return Subjects(subjects or [""])
    if tool.access is not None:
        return Subjects([access.resource.removeprefix("file:") for access in tool.access(arguments)] or [""])
    return Subjects([encode_text(arguments)])


def _behind_links(tool: Tool, arguments: JsonObject, real: Real) -> list[str]:
    """Return the resolved paths of the files that a call accesses, where they differ."""
    accesses = tool.access(arguments) if tool.access is not None else ()
    paths = [access.resource.removeprefix("file:") for access in accesses if access.resource.startswith("file:")]
    return [behind for path in paths if path and (behind := real(path)) != path]


def _denial(rule: PermissionRule, subject: Subject) -> str:
    """Return why a rule forbids a call, and what to do if it only could be what the rule is about."""
    if subject.is_known:
        return f"The rule '{rule}' forbids it."
    return f"The rule '{rule}' forbids what it may turn into; write commands and arguments out, without code."


def _text(value: Any) -> str:
    return value if isinstance(value, str) else encode_text(value)


_BY_MODE: dict[tuple[Mode, bool], Decision] = {
    ("read-only", True): Decision("allow"),
    ("read-only", False): Decision("deny", "This agent may only read."),
    ("ask", True): Decision("allow"),
    ("ask", False): Decision("ask"),
    ("inside", True): Decision("allow"),
    ("auto", True): Decision("allow"),
    ("auto", False): Decision("allow"),
}
_ALLOWED = _BY_MODE["auto", True]
_TOO_COMPLEX = "It is too complex to be held against the rules; send a simpler call."
_PLANNING = Decision(
    "deny",
    "This is plan mode: only reading is permitted until the person approves the plan. Answer with the plan.",
)
