"""The style of a repository's commit messages, learnt from its log, and messages that follow it."""

import re
from collections.abc import Iterable, Sequence

import msgspec

from heald.core.lazy import lazy_pattern
from heald.tools.git.program import GitFailed
from heald.tools.git.repository import GitRepository

_COMMITS = 40
_SAMPLES = 12
_HALF = 0.5
_SHORTEST, _LONGEST = 50, 100
_TYPED = lazy_pattern(r"([a-z]+)(\([^()\s]+\))?!?: ")
_FENCE = lazy_pattern(r"^```\w*\n(.*?)\n?```$", re.S | re.M)
_LABEL = lazy_pattern(r"^\W{0,2}(?:commit message|message|subject|title)\W{0,2}:\s*", re.I)


class CommitStyle(msgspec.Struct, frozen=True, kw_only=True):
    """How the messages of a repository are written."""

    samples: tuple[str, ...] = ()
    """Subjects of the last commits, the latest first."""
    types: tuple[str, ...] = ()
    """Types such as `feat` that begin most subjects, the most frequent first; empty if subjects have none."""
    has_scopes: bool = False
    is_capitalized: bool = True
    """Whether the first word of a subject begins with a capital."""
    ends_with_period: bool = False
    longest: int = 72
    """The characters that a subject may have."""
    has_bodies: bool = False
    is_signed_off: bool = False

    def describe(self) -> str:
        """Return the rules for a model."""
        rules = [f"The subject has at most {self.longest} characters."]
        if self.types:
            scope = " with a scope in parentheses" if self.has_scopes else ""
            rules.append(f"It begins with a type{scope} and a colon; types used here: {', '.join(self.types)}.")
        rules.append(f"Its first word{' after the type' * bool(self.types)} is written {self._case()}.")
        rules.append(f"It ends with{'' if self.ends_with_period else 'out'} a period.")
        rules.append(
            "After an empty line, a body of a few lines says why, wrapped at 72 characters."
            if self.has_bodies
            else "There is no body: the subject is all."
        )
        if self.samples:
            rules += ["The last subjects of this repository:", *(f"  {subject}" for subject in self.samples)]
        return "\n".join(rules)

    def _case(self) -> str:
        return "with a capital letter" if self.is_capitalized else "in lower case"

    def conform(self, text: str) -> str:
        """Return a message that a model wrote in this style: without fences, labels and quotes, and with the case and
        the end that subjects have here."""
        fenced = _FENCE.search(text)
        lines = (fenced[1] if fenced is not None else text).strip().splitlines()
        if not lines:
            return ""
        subject = _LABEL.sub("", lines[0].strip()).strip().strip("`\"'*").strip()
        subject = self._conform_subject(subject)
        body = "\n".join(line.rstrip() for line in lines[1:]).strip() if self.has_bodies else ""
        return f"{subject}\n\n{body}" if body else subject

    def _conform_subject(self, subject: str) -> str:
        typed = _TYPED.match(subject)
        if typed is not None and not self.samples:
            return subject.rstrip(".")  # there is no style to follow yet
        head, rest = (subject[: typed.end()], subject[typed.end() :]) if typed is not None else ("", subject)
        head = head if self.types else ""  # a type where subjects have none
        first = rest.split(" ", 1)[0]
        if rest and first[1:].islower() | (len(first) == 1):  # not a name such as README or parseArgs
            rest = (rest[0].upper() if self.is_capitalized else rest[0].lower()) + rest[1:]
        rest = rest.rstrip(".") + "." * self.ends_with_period
        return f"{head}{rest}"


def learn_style(repository: GitRepository) -> CommitStyle:
    """Learn the style from the log. A repository without commits has the usual one."""
    try:
        output = repository.run("log", f"-{_COMMITS}", "--no-merges", "--format=%x00%B", "--")
    except GitFailed:
        return CommitStyle()
    messages = [text.strip() for text in output.decode("utf-8", "replace").split("\0") if text.strip()]
    return style_of(messages)


def style_of(messages: Sequence[str]) -> CommitStyle:
    """Learn the style of messages, the latest first."""
    if not messages:
        return CommitStyle()
    subjects = [message.splitlines()[0].strip() for message in messages]
    typed = [match for subject in subjects if (match := _TYPED.match(subject)) is not None]
    is_typed = len(typed) >= len(subjects) * _HALF
    types = [match[1] for match in typed] if is_typed else []
    texts = [subject[match.end() :] if (match := _TYPED.match(subject)) else subject for subject in subjects]
    lengths = sorted(len(subject) for subject in subjects)
    bodies = [_body(message) for message in messages]
    return CommitStyle(
        samples=tuple(subjects[:_SAMPLES]),
        types=tuple(sorted(set(types), key=lambda name: -types.count(name))),
        has_scopes=is_typed and _share(bool(match[2]) for match in typed) >= _HALF,
        is_capitalized=_share(text[:1].isupper() for text in texts) >= _HALF,
        ends_with_period=_share(text.endswith(".") for text in texts) >= _HALF,
        longest=min(max(lengths[len(lengths) * 9 // 10 if len(lengths) > 1 else 0], _SHORTEST), _LONGEST),
        has_bodies=_share(map(bool, bodies)) >= _HALF,
        is_signed_off=_share("\nSigned-off-by: " in message for message in messages) >= _HALF,
    )


def _body(message: str) -> str:
    """Return the lines after the subject, without trailers."""
    lines = [line for line in message.splitlines()[1:] if not re.match(r"[A-Z][\w-]+: \S", line)]
    return "\n".join(lines).strip()


def _share(flags: Iterable[bool]) -> float:
    values = list(flags)
    return sum(values) / len(values) if values else 0.0
