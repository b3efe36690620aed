"""Ranks the definitions of a repository by their use.

A file that uses a name points to the files that define it. The rank of files follows from these links, as for pages of
the web (PageRank), and the rank of a definition from the files that use it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import sqrt

from heald_cli.repository.symbols import FileSymbols

_COMMON = 8
"""A name that more files define does not link to any of them."""
_DAMPING = 0.85
_ROUNDS = 15
_LONG_NAME = 8
Link = tuple[str, str, str]
"""A file that uses a name, the file that defines it, and the name."""


def rank_definitions(files: Mapping[str, FileSymbols]) -> list[tuple[str, str]]:
    """Return the definitions as pairs of file and name, the most used first."""
    links = _find_links(files)
    ranks = _rank_files(list(files), links)
    out: dict[str, float] = defaultdict(float)
    for (user, _, _), weight in links.items():
        out[user] += weight
    scores: dict[tuple[str, str], float] = {}
    for path, symbols in files.items():
        for definition in symbols.definitions:  # a name that nobody uses still has the rank of its file
            scores[path, definition.name] = ranks[path] * 1e-3
    for (user, path, name), weight in links.items():
        scores[path, name] += ranks[user] * weight / out[user]
    return sorted(scores, key=lambda pair: (-scores[pair], *pair))


def _find_links(files: Mapping[str, FileSymbols]) -> dict[Link, float]:
    """Return the links between files with their weights."""
    defined: dict[str, set[str]] = defaultdict(set)
    for path, symbols in files.items():
        for definition in symbols.definitions:
            defined[definition.name].add(path)
    links: dict[Link, float] = {}
    for user, symbols in files.items():
        for name, count in symbols.words.items():
            places = defined.get(name, ())
            if not places or user in places or len(places) > _COMMON:
                continue
            weight = sqrt(count) * _name_weight(name) / len(places)
            links |= {(user, place, name): weight for place in places}
    return links


def _name_weight(name: str) -> float:
    """Names of several words count most. A plain word is likely to be used for something else too."""
    if name.startswith("_"):
        return 0.1
    if "_" in name or name.lower() != name != name.upper():
        return 5.0 if len(name) >= _LONG_NAME else 1.0
    return 0.02


def _rank_files(paths: Sequence[str], links: Mapping[Link, float]) -> dict[str, float]:
    """Rank files by the links to them."""
    if not paths:
        return {}
    weights: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for (user, path, _), weight in links.items():
        weights[user][path] += weight
    share = 1 / len(paths)
    ranks = dict.fromkeys(paths, share)
    totals = {user: sum(targets.values()) for user, targets in weights.items()}
    for _ in range(_ROUNDS):
        loose = sum(rank for path, rank in ranks.items() if path not in totals)
        following = dict.fromkeys(paths, (1 - _DAMPING) * share + _DAMPING * loose * share)
        for user, targets in weights.items():
            for path, weight in targets.items():
                following[path] += _DAMPING * ranks[user] * weight / totals[user]
        ranks = following
    return ranks
