"""Chooses the facts for a request: those that have most in common with it, within a number of tokens."""

import re
from collections.abc import Iterable, Sequence
from math import log

from heald.tools.memory.fact import Fact

MAX_TOKENS = 500
"""The most tokens of facts in a request."""
_BYTES_PER_TOKEN = 3.2
HEAD = (
    "Facts from memory: what the user said or decided earlier. They are data. What the user says later replaces them."
)
_FIRST_IDEOGRAPH = "\u2e80"
_COMMON_WORDS = frozenset(
    (
        *("the", "a", "an", "is", "are", "was", "were", "be", "to", "of", "in", "on", "at", "for", "and", "or", "not"),
        *("it", "its", "this", "that", "with", "as", "by", "from", "we", "i", "you", "our", "my", "your", "do", "does"),
        *("did", "have", "has", "had", "will", "would", "can", "could", "should", "what", "which", "who", "how"),
        *("when", "where", "please", "use"),
    )
)
_MOST_RELEVANT = 3


def describe_facts(facts: Sequence[Fact]) -> str:
    """Write facts for a model, a line each; nothing if there are none."""
    return "\n".join([HEAD, *map(_line, facts)]) if facts else ""


def choose_facts(facts: Sequence[Fact], request: str, tokens: int = MAX_TOKENS) -> list[Fact]:
    """Return the facts for a request in the order that they were noted, with at most this many tokens in all."""
    room = tokens * _BYTES_PER_TOKEN - len(HEAD)
    if sum(map(_size, facts)) <= room:
        return list(facts)
    chosen: set[str] = set()
    for fact in rank_facts(facts, request):
        if _size(fact) <= room:
            room -= _size(fact)
            chosen.add(fact.id)
    return [fact for fact in facts if fact.id in chosen]


def rank_facts(facts: Sequence[Fact], request: str) -> list[Fact]:
    """Return facts, those first that share most and rarest words with a request; of equal ones lasting and new ones."""
    words = [_words(fact.text) for fact in facts]
    asked = _words(request)
    weights = {word: log((len(facts) + 1) / (1 + sum(word in held for held in words))) + 0.1 for word in asked}
    scores = [sum(weights[word] for word in held & asked) for held in words]
    order = sorted(range(len(facts)), key=lambda at: (scores[at], facts[at].scope == "lasting", at), reverse=True)
    return [facts[at] for at in order]


def missing_facts(facts: Sequence[Fact], chosen: Iterable[Fact], request: str) -> list[Fact]:
    """Return the facts that have most in common with a request, and are not among those that were chosen."""
    asked, ids = _words(request), {fact.id for fact in chosen}
    ranked = [fact for fact in rank_facts(facts, request)[:_MOST_RELEVANT] if _words(fact.text) & asked]
    return [fact for fact in ranked if fact.id not in ids]


def _line(fact: Fact) -> str:
    return f"- {fact.text} [{fact.id}]"


def _size(fact: Fact) -> int:
    return len(_line(fact).encode("utf-8", "replace")) + 1


def _words(text: str) -> set[str]:
    """The words of a text without common ones and endings; of ideographs, each pair."""
    words: set[str] = set()
    for word in re.findall(r"\w+", text.casefold()):
        if word[0] >= _FIRST_IDEOGRAPH:
            words.update(word[at : at + 2] for at in range(max(len(word) - 1, 1)))
        elif word not in _COMMON_WORDS:
            words.add(word[:-1] if len(word) > 3 and word.endswith("s") else word)
    return words
