"""Finds the statements of a request that a person would expect to be remembered, word for word.

Nothing is inferred: a statement is a sentence of the request. One that asks to be remembered, or states a lasting rule,
name or decision, counts in every conversation; one that names a value counts in its own.
"""

import re
from collections.abc import Iterator

import msgspec

from heald.core.lazy import lazy_pattern
from heald.tools.memory.fact import FactScope, FactSubject

_MAX_LENGTH = 240
_MIN_WORDS = 3
_MAX_REQUEST = 8_000
_MAX_STATEMENTS = 12
_FENCE = lazy_pattern(r"(?s)```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)")
_SENTENCE_END = lazy_pattern(r"(?<=[.!?。！？])[\"')\]]*\s+|(?<=[。！？])|\n+")
_BULLET = lazy_pattern(r"\s*(?:[-*•]|\d{1,2}[.)])\s+")
_ASKED = lazy_pattern(
    r"(?i)^(?:please\s+|also\s+|and\s+)*(?:remember|memori[sz]e|keep in mind|note(?: down)?|do(?:n't| not) forget)"
    r"(?:\s+this)?(?:\s+that|\s*[:,])?\s+(?=\S+\s+\S+)"
)
_PERSON = lazy_pattern(
    r"(?i)\b(?:my (?:name|e-?mail|team|role|editor|time ?zone|birthday|pronouns?|language|github|handle|company)\b"
    r".{0,40}?\b(?:is|are)\b|call me\b|i (?:always |usually |generally |strongly )?(?:prefer|hate|dislike)\b"
    r"|i(?:'m| am) (?:called|based in|from|(?:a|an|the) (?:\w+ ){0,2}?(?:develop|engineer|design|student|teach|manag|"
    r"scien|writ|begin)\w*)\b|i (?:live|work) (?:in|at|for)\b)"
)
_DECISION = lazy_pattern(
    r"(?i)\b(?:we(?:'ve| have)? (?:decided|agreed|chose|settled|are going with|will use|use|never|always)"
    r"|i(?:'ve| have)? decided|the decision is|decision:|let's (?:go with|stick (?:with|to)))\b"
)
_RULE = lazy_pattern(
    r"(?i)(?:^|\b(?:you|we|please|and|but)\s+)(?:always|never)\s+(?!mind)\w+|\bfrom now on\b"
    r"|\bin this (?:project|repo\w*)\b"
)
_VALUE = lazy_pattern(
    r"\d|[A-Za-z]+[_/@.:-][A-Za-z0-9]|[a-z][A-Z]|(?<!^)(?<![.!?]\s)\b[A-Z][a-z]{2,}|\"[^\"]+\"|'[^']+'|`[^`]+`"
)
_SECRET = lazy_pattern(
    r"(?i)\b(?:pass(?:words?|phrases?|codes?)|secrets?|credentials?|(?:api|access|private)[ _-]?keys?|tokens?)\b"
)
_STATES = lazy_pattern(
    r"(?i)\b(?:is|are|was|were|has|have|uses?|runs?|lives?|listens?|costs?|starts?|ends?|belongs?|called|named|means|"
    r"must|should|needs?|stays?|equals?)\b|[:=]"
)
_REQUESTS = lazy_pattern(
    r"(?i)^(?:please\s+|now\s+|then\s+|also\s+|and\s+)*(?:can|could|would|will|do|does|did|is|are|what|which|who|whom|whose"
    r"|why|how|when|where|add|fix|write|create|make|change|update|remove|delete|rename|refactor|implement|show|explain|"
    r"tell|list|find|run|test|check|look|read|open|move|replace|use|build|help|give|try|see|convert|translate|summari[sz]e)\b"
)


class Statement(msgspec.Struct, frozen=True):
    """A sentence of a request that is worth remembering."""

    text: str
    about: FactSubject
    scope: FactScope


def find_statements(request: str) -> list[Statement]:
    """Return the statements of a request, in order."""
    statements: list[Statement] = []
    for sentence in _sentences(request):
        statement = _read_sentence(sentence)
        if statement is not None:
            statements.append(statement)
    return statements[:_MAX_STATEMENTS]


def names_secret(text: str) -> bool:
    """Return whether a text speaks of a password, a key or another secret, which is never noted."""
    return _SECRET.search(text) is not None


def is_stated(text: str, requests: Iterator[str]) -> bool:
    """Return whether one of the requests states a fact: it has its names and numbers, and most of its words."""
    values = {value.casefold() for value in re.findall(r"[\w.@/:-]*\d[\w.@/:-]*|[A-Z][\w-]+|\w+[_/@]\w+", text)}
    words = set(re.findall(r"\w{4,}", text.casefold()))
    for request in requests:
        held = request.casefold()
        common = sum(word[:-1] in held for word in words)
        first = re.match(r"\w+", text)
        missing = {value for value in values if value.rstrip(".:") not in held}
        missing -= {first[0].casefold()} if first is not None else set()
        if not missing and common >= len(words) * 0.6:
            return True
    return False


def _sentences(request: str) -> Iterator[str]:
    text = _FENCE.sub("\n", request[:_MAX_REQUEST])
    for line in text.split("\n"):
        if line.startswith(("    ", "\t", ">", "diff ", "+", "@@")):
            continue  # code and quotations
        line = line[match.end() :] if (match := _BULLET.match(line)) else line
        for sentence in _SENTENCE_END.split(line):
            sentence = " ".join(sentence.split())
            if len(sentence) <= _MAX_LENGTH and len(sentence.split()) >= _MIN_WORDS:
                yield sentence


def _read_sentence(sentence: str) -> Statement | None:
    if sentence.endswith(("?", "？")) or names_secret(sentence):
        return None
    asked = _ASKED.match(sentence)
    text = sentence[asked.end() :] if asked is not None else sentence
    text = text[:1].upper() + text[1:]
    if _PERSON.search(text):
        return Statement(text, "person", "lasting")
    if _DECISION.search(text):
        return Statement(text, "decision", "lasting")
    if asked is not None or _RULE.search(text):
        return Statement(text, "project", "lasting")
    if _REQUESTS.match(text) or not _STATES.search(text) or not _VALUE.search(text):
        return None
    return Statement(text, "project", "session")
