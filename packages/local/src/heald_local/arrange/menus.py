"""Finds menus by their words: rows and columns of short texts that look alike, some of which menus often have.

An index, a row of single letters, is a menu too; a letter that was not read is a small picture.
"""

import itertools
from collections.abc import Sequence

from heald_local.arrange.role_features import Item
from heald_pictures.elements import TextElement
from heald_pictures.rect import Rect

_HOME = frozenset({"home", "home page", "homepage", "start", "startseite", "accueil", "inicio", "início", "главная"})
_USUAL = frozenset(
    {"about", "about us", "archive", "archives", "blog", "contact", "contact us", "events", "faq", "forum", "forums"}
    | {"gallery", "help", "login", "log in", "news", "privacy policy", "products", "register", "search", "services"}
    | {"shop", "sign in", "sign up", "site map", "sitemap", "support", "tags", "terms of use", "terms of service"}
)
_LEADING = frozenset(
    {"continue reading", "learn more", "newer posts", "next", "next post", "older posts", "permalink", "previous"}
    | {"previous post", "read more", "reply", "see all", "show more", "view all", "weiterlesen", "mehr erfahren"}
    | {"en savoir plus", "lire la suite", "leer más", "leggi tutto", "lees meer", "saiba mais", "читать далее"}
)
"""Words that lead somewhere wherever they stand alone."""
_AROUND = " .…:→›»←‹«⟶⟵>"
_FEWEST, _FEWEST_USUAL = 3, 2  # items of a menu, and those with usual words if none leads to the start page
_LONGEST = 28  # letters
_SAME_EDGE = 4.0  # pixels between the left edges of a column, and the baselines of a row
_SAME_SIZE = 1.0  # pixels of type
_STEP_DOWN, _STEP_ACROSS = 4.0, 8.0  # ems between two items, at most
_FEWEST_LETTERS, _LARGEST_LETTER = 8, 48.0  # of an index, and the pixels of a side
_STEPS_APART = 1.6  # the widest step between the middles of two letters, in usual steps


def find_index_items(items: Sequence[Item]) -> frozenset[int]:
    """Return the ids of the parts that are letters of an index."""
    letters = [item for item in items if _is_letter(item)]
    index: set[int] = set()
    while letters:
        first = letters[0]
        level = sorted(
            (item for item in letters if _is_level(first.area, item.area)), key=lambda item: item.area.middle[0]
        )
        letters = [item for item in letters if item not in level]
        steps = [after.area.middle[0] - before.area.middle[0] for before, after in itertools.pairwise(level)]
        if len(level) >= _FEWEST_LETTERS and max(steps) <= _STEPS_APART * sorted(steps)[len(steps) // 2]:
            index |= {id(item.part) for item in level}
    return frozenset(index)


def _is_letter(item: Item) -> bool:
    if item.text is not None:
        return item.sentence is None and len(item.text.text) == 1 and item.text.text.isalpha()
    return item.part.picture is not None and max(item.area.w, item.area.h) <= _LARGEST_LETTER


def _is_level(area: Rect, other: Rect) -> bool:
    return abs(area.middle[1] - other.middle[1]) <= 0.3 * max(area.h, other.h)


def find_menu_items(items: Sequence[Item]) -> frozenset[int]:
    """Return the ids of the parts that are items of menus, or words that lead on, such as `Read more`."""
    words = [(item, item.text) for item in items if item.text is not None and _is_word(item, item.text)]
    menus = {id(item.part) for item, text in words if _word(text).strip(_AROUND) in _LEADING}
    for item, text in words:
        if _word(text) not in _HOME | _USUAL:
            continue
        for is_row in (False, True):
            alike = [(other, words_of) for other, words_of in words if _is_in_line(text, words_of, is_row)]
            chain = _follow(item, alike, text.style.size, is_row)
            if len(chain) >= _FEWEST and _are_usual([_word(other.text) for other in chain if other.text is not None]):
                menus |= {id(other.part) for other in chain}
    return frozenset(menus)


def _word(text: TextElement) -> str:
    return text.text.strip().casefold()


def _are_usual(words: Sequence[str]) -> bool:
    return any(word in _HOME for word in words) or sum(word in _USUAL for word in words) >= _FEWEST_USUAL


def _is_word(item: Item, text: TextElement) -> bool:
    return item.sentence is None and len(text.lines) == 1 and len(text.text) <= _LONGEST and not item.part.children


def _is_in_line(first: TextElement, other: TextElement, is_row: bool) -> bool:
    if abs(first.style.size - other.style.size) > _SAME_SIZE:
        return False
    line, beside = first.lines[0], other.lines[0]
    apart = line.baseline - beside.baseline if is_row else line.rect.x - beside.rect.x
    return abs(apart) <= _SAME_EDGE


def _follow(start: Item, alike: Sequence[tuple[Item, TextElement]], size: float, is_row: bool) -> list[Item]:
    """Return the items on both sides of one, up to the first wide gap."""
    ordered = sorted(alike, key=lambda pair: pair[1].rect.x if is_row else pair[1].rect.y)
    at = next(number for number, (item, _) in enumerate(ordered) if item is start)
    most = (_STEP_ACROSS if is_row else _STEP_DOWN) * size
    first, last = at, at
    while first > 0 and _gap(ordered[first - 1][1], ordered[first][1], is_row) <= most:
        first -= 1
    while last + 1 < len(ordered) and _gap(ordered[last][1], ordered[last + 1][1], is_row) <= most:
        last += 1
    return [item for item, _ in ordered[first : last + 1]]


def _gap(before: TextElement, after: TextElement, is_row: bool) -> float:
    return after.rect.x - before.rect.right if is_row else after.rect.y - before.rect.bottom
