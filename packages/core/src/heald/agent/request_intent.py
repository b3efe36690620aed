"""Reads from a request whether it asks for a change of files, for an answer in words, or possibly for either.

The words are English. A request in another language may ask for either.
"""

import re
from collections.abc import Collection
from typing import Literal

from heald.core.lazy import lazy_pattern

RequestIntent = Literal["change", "answer", "either"]

_REST = r"(?!\s+(?:else|but|except|other|besides|in\b|of\b))"
_ASKS_WORDS = lazy_pattern(
    r"\b(?:only|just)\s+(?:answer|explain|tell|describe|say|reply)\b|\banswer\s+only\b|\b(?:in|with)\s+words\s+only\b",
    re.I,
)
"""Asks for words, or quotes such a sentence. A request that orders a change of a file of the workspace quotes it."""
_FORBIDS = lazy_pattern(
    r"\b(?:do\s+not|don't|never|without)\s+(?:chang|modif|edit|writ|touch|alter)(?:e|ing|ying|y|ting)?\s+"
    rf"(?:anything|any\s+(?:files?|code)){_REST}"
    rf"|\b(?:change|modify|edit|write)\s+nothing\b{_REST}|\b(?:make\s+)?no\s+(?:changes|edits|modifications)\b{_REST}",
    re.I,
)
_SPARES = lazy_pattern(
    r"\b(?:do\s+not|don't|never|without)\s+(?:chang|modif|edit|touch|alter)(?:e|ing|ying|y|ting)?\s+"
    r"(?:it|them|the\s+(?:files?|code))\s*(?:[.!,;:]|$)",
    re.I,
)
"""Spares a file. It forbids all changes only if the request orders none."""
_STRONG = (
    "fix|correct|repair|change|edit|modify|update|rename|refactor|rewrite|replace|remove|delete|drop|implement|extend|"
    "move|simplify|convert|complete|finish|set|increase|decrease|raise|lower|swap|sort|reverse|insert|append|prepend|"
    "split|merge|port|migrate|improve|optimi[sz]e|adjust|adapt|bump|turn|enable|disable|clean|format|indent|wrap|"
    "extract|inline|uncomment|comment|document|annotate|handle|support|use|let|apply|undo|revert|restore|solve"
)
"""Verbs that ask for a change of something that is there."""
_WEAK = "add|write|create|make|generate|build|give|put|save|translate|draft|include|define|declare|introduce"
"""Verbs that ask for a change only if they name a file or a part of code."""
_LEAD = (
    r"(?:(?:in|for|inside|within)\s+[^\s,]+,?\s+)?(?:(?:please|now|then|and|also|but|so|next|first|finally|instead|kindly|ok(?:ay)?|great|thanks|yes|no)\b[,:]?\s+)*"
    r"(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?|(?:i\s+(?:want|need)|i'd\s+like|i\s+would\s+like)\s+(?:you\s+)?to\s+"
    r"|let's\s+|let\s+us\s+|why\s+(?:not|don't\s+you)\s+|you\s+(?:must|should)\s+|(?:go\s+ahead\s+and|try\s+to|make\s+sure\s+to)\s+)?"
)
_ORDER = lazy_pattern(rf"\W*{_LEAD}(?:(?P<strong>{_STRONG})|(?P<weak>{_WEAK}))\b", re.I)
_ORDER_LATER = lazy_pattern(
    rf"(?:,|;|\band|\bthen|\bso)\s+{_LEAD}(?P<strong>fix|correct|change|update|rename|replace|remove|implement)\b", re.I
)
_OBLIGATION = lazy_pattern(r"\b(?:must|should|shall|needs?\s+to|has\s+to|ought\s+to)\b(?!\s+(?:i|we)\b)", re.I)
_QUESTION = lazy_pattern(
    r"\W*(?:what|why|how|which|who|whose|whom|where|when)\b"
    r"|\W*(?:is|are|was|were|does|do|did|has|have|can|could|should|would|will|may)\b.*\?\W*$"
    r"|\W*(?:please\s+)?(?:(?:can|could|would)\s+you\s+)?(?:explain|describe|tell\s+me|summari[sz]e|show\s+me|list|compare|review|name|quote|answer|say)\b",
    re.I,
)
_PART_OF_CODE = lazy_pattern(
    r"\b(?:files?|functions?|class(?:es)?|methods?|tests?|scripts?|modules?|pages?|parameters?|arguments?|fields?|columns?|"
    r"keys?|rules?|options?|sections?|lines?|imports?|endpoints?|buttons?|variables?|constants?|tables?|headings?|"
    r"docstrings?|comments?|readme|entr(?:y|ies)|steps?|jobs?|routes?|index(?:es)?|elements?|links?|queries|query)\b",
    re.I,
)
_PATH = lazy_pattern(r"(?<![\w/])[\w@~+-][\w@~+./-]*\.[A-Za-z]\w{0,9}\b")
_MAX_READ = 10_000
_FENCED = lazy_pattern(r"^(`{3,}|~{3,}).*?^\1", re.S | re.M)


def read_intent(request: str, paths: Collection[str]) -> RequestIntent:
    """Return what a request asks for. `paths` are the files of the workspace."""
    request = _FENCED.sub("", request[:_MAX_READ]).replace("’", "'")
    if _FORBIDS.search(request):
        return "answer"
    sentences = [part for part in re.split(r"(?<=[.!?])\s+|\n+", request) if part.strip()]
    names_file = _PATH.search(request) is not None
    if _ASKS_WORDS.search(request):
        return "change" if any(_orders_file(sentence, paths) for sentence in sentences) else "answer"
    if any(_orders_change(sentence, paths, names_file) for sentence in sentences):
        return "change"
    if _SPARES.search(request):
        return "answer"
    if sentences and all(_QUESTION.match(sentence) or _is_short(sentence) for sentence in sentences):
        return "answer" if any(_QUESTION.match(sentence) for sentence in sentences) else "either"
    return "either"


def _orders_change(sentence: str, paths: Collection[str], names_file: bool) -> bool:
    """Whether a sentence asks for a change of files. `names_file` is whether the request names one."""
    order = _ORDER.match(sentence)
    names_code = bool(_PATH.search(sentence) or _PART_OF_CODE.search(sentence))
    if order is not None:
        return names_code or (order["strong"] is not None and bool(paths))
    if sentence.rstrip().endswith("?") or _QUESTION.match(sentence):
        return False
    if _ORDER_LATER.search(sentence):
        return bool(paths) or names_code
    return (names_code or names_file) and _OBLIGATION.search(sentence) is not None


def _orders_file(sentence: str, paths: Collection[str]) -> bool:
    """Whether a sentence orders the change of a file that is there."""
    order = _ORDER.match(sentence)
    return order is not None and order["strong"] is not None and any(path in paths for path in _PATH.findall(sentence))


def _is_short(sentence: str) -> bool:
    """Whether a sentence is a greeting or a word of thanks."""
    return len(sentence.split()) <= 2
