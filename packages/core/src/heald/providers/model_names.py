"""Reads from the name of a model which generation it is, whether it is general, how fast it is, and how to show it."""

import re
from typing import Literal

from heald.core.lazy import lazy_pattern

Speed = Literal["fast", "medium", "slow"]

_SPECIAL = lazy_pattern(
    r"audio|realtime|(?<![a-z])live(?![a-z])|transcri|translate|search|codex|cyber|guard|robotic|banana|omni"
    r"|computer-use|research|discovery|rosalind|instruct|orpheus|specdec|tool-use|customtools|extended|^ft:|\.ft-"
    r"|chat-latest|vision-preview|vision-\d|text-preview|-maas|davinci|babbage|curie|^ada|embed|rerank|saba|distill",
    re.I,
)
_DATED = lazy_pattern(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4})(?![\d])")
_OLD = lazy_pattern(r"claude-(?:2|v\d|instant)|gpt-3|^llama[23]?-?\d*b|gemini-(?:pro|flash)(?![-\d.]*[2-9])", re.I)
_FAST = lazy_pattern(
    r"(?<![a-z])mini|nano|flash|lite|haiku|instant|small|tiny|(?<![\d.])[1-9]b|luna|air(?![a-z])", re.I
)
_SLOW = lazy_pattern(r"opus|-pro(?![a-z])|^o[134](?!-mini)|405b|reason|thinking|deep|max(?![a-z])|ultra", re.I)
_GENERATION = lazy_pattern(r"(?<![\d.])(\d{1,2})(?:[.-](\d{1,2})(?!\d))?(?![\d]*[bBkK](?![a-z]))(?!\d)")
_BRANDS = {"gpt": "GPT", "oss": "OSS", "ai": "AI", "glm": "GLM", "r1": "R1", "vl": "VL"}


def is_general(name: str) -> bool:
    """Whether a model is for general work: not for sound, search, code completion or moderation, and not a snapshot."""
    bare = name.rpartition("/")[2]
    return not (_SPECIAL.search(bare) or _DATED.search(bare) or _OLD.search(bare))


def generation(name: str) -> tuple[int, int]:
    """Return the generation that the name states, such as (4, 6); (0, 0) if it states none."""
    version = _GENERATION.search(name.rpartition("/")[2])
    return (int(version[1]), int(version[2] or 0)) if version is not None else (0, 0)


def speed_of(name: str) -> Speed:
    """Estimate how fast a model answers, compared with others of its provider."""
    bare = name.rpartition("/")[2]
    if _FAST.search(bare):
        return "fast"
    return "slow" if _SLOW.search(bare) else "medium"


def newest_general(names: list[str]) -> list[str]:
    """Sort the general models of one provider: the newest first, among equals the larger ones first."""
    general = [name for name in names if is_general(name)]
    return sorted(general, key=lambda name: (generation(name), speed_of(name) != "fast"), reverse=True)


def display_name(name: str) -> str:
    """Return the name of a model as a person writes it: `claude-opus-4-6` is Claude Opus 4.6."""
    bare = name.rpartition("/")[2]
    joined = re.sub(r"(?<=\d)-(?=\d{1,2}(?:-|$))", ".", bare)
    words = [_BRANDS.get(word.lower(), word[:1].upper() + word[1:]) for word in re.split(r"[-_ ]+", joined) if word]
    text = " ".join(words)
    return re.sub(r"^GPT (?=\d)", "GPT-", text)
