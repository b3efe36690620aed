"""Finds tools by words: a ranking (BM25) over their names, descriptions and arguments."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

from heald.core.json import as_object
from heald.core.lazy import lazy_pattern
from heald.core.messages import ToolDefinition

_WORD = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
_NAME_WEIGHT, _DESCRIPTION_WEIGHT, _ARGUMENT_WEIGHT = 4, 2, 1
"""How often a word counts by the place where it stands."""
_SATURATION, _LENGTH_SHARE = 1.2, 0.5
"""The usual constants k1 and b of BM25. b is small: a long description is not a fault of a tool."""
_ENDINGS = ("ers", "ing", "ies", "es", "er", "ed", "s", "e", "y")
_COMMON_WORDS = (
    "a all an and any are as at be by can do does for from has have how i if in into is it its me my need new of on "
    "one or our out some that the their them there this to up us use using want was we what when where which who will "
    "with you your"
)
_COMMON = frozenset(_COMMON_WORDS.split())
"""Words of a query that say nothing about a tool."""
_SHORTEST_STEM = 3
_LEAST_DISTINCT = 0.5
"""The least mean of one over the number of names that have a word, over the words of a distinct name."""


class ToolIndex:
    """The tools of one list, to be searched."""

    def __init__(self, definitions: Sequence[ToolDefinition]) -> None:
        self._definitions = definitions
        self._documents = [_document(definition) for definition in definitions]
        self._lengths = [document.total() for document in self._documents]
        self._mean_length = sum(self._lengths) / max(len(self._lengths), 1)
        self._holders = Counter(word for document in self._documents for word in document)

    def find(self, query: str, most: int, share: float = 0.0) -> list[ToolDefinition]:
        """Return the tools that fit a query best, the best first: those that it names, then those that share words.

        Those that score less than a share of the best one are left out.
        """
        names = set(query.replace(",", " ").split())
        words = {_stem(word) for word in _words(query) if word not in _COMMON}
        scores = [(definition.name in names, self._score(at, words)) for at, definition in enumerate(self._definitions)]
        least = share * max((score for _, score in scores), default=0.0)
        order = sorted(
            range(len(scores)), key=lambda at: scores[at], reverse=True
        )  # stable: equal ones keep their order
        return [
            self._definitions[at]
            for at in order[:most]
            if scores[at] > (False, 0.0) and (scores[at][0] or scores[at][1] >= least)
        ]

    def distinct(self) -> list[ToolDefinition]:
        """Return the tools whose names resemble no other name, in their order.

        `create_issue` next to `list_issue` and `create_page` is not one of them: its look-alikes lead to it.
        """
        names = [_name_words(definition.name) for definition in self._definitions]
        holders = Counter(word for words in names for word in words)
        return [
            definition
            for definition, words in zip(self._definitions, names, strict=True)
            if words and sum(1 / holders[word] for word in words) >= _LEAST_DISTINCT * len(words)
        ]

    def _score(self, at: int, words: Iterable[str]) -> float:
        document = self._documents[at]
        norm = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * self._lengths[at] / self._mean_length)
        score = 0.0
        for word in words:
            if count := document.get(word, 0):
                holders = self._holders[word]
                rarity = log(1 + (len(self._documents) - holders + 0.5) / (holders + 0.5))
                score += rarity * count * (_SATURATION + 1) / (count + norm)
        return score


def _document(definition: ToolDefinition) -> Counter[str]:
    """The words of a tool, with their weights."""
    words: Counter[str] = Counter()
    properties = as_object(definition.input_schema.get("properties"))
    texts = [(definition.name, _NAME_WEIGHT), (definition.description, _DESCRIPTION_WEIGHT)]
    for name, schema in properties.items():
        texts.append((f"{name} {as_object(schema).get('description', '')}", _ARGUMENT_WEIGHT))
    for text, weight in texts:
        for word in _words(text):
            words[_stem(word)] += weight
    return words


def _name_words(name: str) -> set[str]:
    """The words of a name without that of its server."""
    return {_stem(word) for word in _words(name.rpartition("__")[2])}


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _stem(word: str) -> str:
    """Cut one usual ending, so that `issues` and `issue`, `listing` and `list` are the same."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word
