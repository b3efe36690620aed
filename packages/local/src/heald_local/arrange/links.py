"""Recognises links by their looks and by their place, as a reader does: in headers, footers, side lists and cards."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from heald_local.arrange.colours import is_blue, is_vivid
from heald_local.arrange.landmarks import has_tag
from heald_local.arrange.part import Part
from heald_local.spans import is_even
from heald_pictures.colours import colour_distance
from heald_pictures.elements import Detection, TextElement, TextLine
from heald_pictures.fonts import face
from heald_pictures.rect import Rect
from heald_pictures.scripts import wide_letter

_LONGEST_LINK = 48
_LARGEST_LINK = 21.0
_MOST_LINES, _LONGEST_TITLE = 3, 140  # of a link that is underlined or in the blue of links, such as a title
_MOSTLY_SHORT = 0.8  # the part of the texts in the commonest colour that are short, if these are links and not prose
_FEWEST_COLOURED = 3  # short texts in one vivid colour that are links
_LARGEST_TITLE = 25.0  # pixels; larger headings in the accent colour are slogans
_ARROWS = ("→", "›", "»", "↗", "⟶")
_ENDS = (".", "!", "?", ":", ",")  # of sentences and of the names of values
_BACK = ("←", "‹", "«", "⟵", "» ", "› ")  # or an arrow that stands for a bullet
_CODE = frozenset({"mono", "code"})
_LOWEST_PILL = 40.0  # a box up to this tall around one text is a badge, and its text no link
_KICKER = 14.5  # pixels; a smaller line in the accent colour above a heading names a category


def mark_links(part: Part, accents: frozenset[str], lowest_crumbs: float = 420.0) -> Part:
    """Turn texts that look like links into links: underlined, with an arrow, or short and in the page's accent."""
    if part.tag in ("button", "a", "nav", "table", "label") or _is_pill(part):
        return part
    if part.text is not None:
        return _mark_text(part, part.text, accents, lowest_crumbs)
    if _is_trail(part, lowest_crumbs):
        return _mark_trail(part)
    children: list[Part] = []
    for number, child in enumerate(part.children):
        below = part.children[number + 1] if number + 1 < len(part.children) else None
        kicker = part.kind == "stack" and below is not None and _is_kicker(child, below)
        children.append(child if kicker else mark_links(child, accents, lowest_crumbs))
    return replace(part, children=tuple(children))


def _mark_text(part: Part, text: TextElement, accents: frozenset[str], lowest_crumbs: float) -> Part:
    if part.tag in ("h2", "h3") and is_blue(text.style.colour) and text.style.colour in accents:
        return _link_text(part) if text.style.size <= _LARGEST_TITLE else part
    if part.tag not in ("p", "li"):
        return part
    crumbs = _find_crumbs(text) if part.tag == "p" and part.rect.bottom <= lowest_crumbs else []
    if crumbs:
        return _breadcrumb(part, text, crumbs)
    menu = _find_menu(text, mono=part.rect.bottom <= lowest_crumbs) if not part.children else []
    if menu:
        return _menu_line(part, text, menu)
    makers = _find_makers(text) if part.tag == "p" and not part.children and not _is_link(text, accents) else []
    if makers:
        return replace(part, children=tuple(_split_line(text, makers, makers)))
    return _link_text(part) if not part.children and _is_link(text, accents) else part


def _is_pill(part: Part) -> bool:
    lone = len(part.children) == 1 and part.children[0].text is not None
    return part.box is not None and part.tag == "div" and lone and part.rect.h <= _LOWEST_PILL


def _is_kicker(text: Part, below: Part) -> bool:
    """Whether a small line above a title names its category; it may lead somewhere, or not."""
    if text.text is None or text.text.style.underline or text.text.style.size > _KICKER or below.text is None:
        return False
    if _find_crumbs(text.text) or _find_menu(text.text, mono=True):
        return False
    return below.text.style.size >= 1.2 * text.text.style.size and not text.text.text.endswith(_ARROWS)


def _is_link(text: TextElement, accents: frozenset[str]) -> bool:
    style = text.style
    if style.size > _LARGEST_LINK or style.family in _CODE:
        return False
    if not any(letter.isalpha() for letter in text.text) or text.text.startswith("/"):
        return False
    titled = style.underline or (is_blue(style.colour) and style.colour in accents)
    if titled and len(text.lines) <= _MOST_LINES and len(text.text) <= _LONGEST_TITLE:
        return True
    if len(text.lines) > 1 or len(text.text) > _LONGEST_LINK:
        return False
    if text.text.endswith(_ARROWS) or text.text.startswith(_BACK):
        return True
    return is_vivid(style.colour) and style.colour in accents and not text.text.isupper()


def _link_text(part: Part) -> Part:
    """Make a text a link; in a heading or an item of a list, the link is inside."""
    if part.tag == "li":
        return Part("stack", part.rect, (_as_link(replace(part, attributes=()), "link"),), tag="li", name="item")
    if part.tag in ("h1", "h2", "h3"):
        return replace(part, attributes=(("href", "#"), *part.attributes))
    return _as_link(part, "link")


def find_accents(detection: Detection) -> frozenset[str]:
    """Return the colours that links have: those of underlined texts, of arrows, and vivid blues of small texts."""
    counted: Counter[str] = Counter(text.style.colour for text in detection.texts)
    short = Counter(text.style.colour for text in detection.texts if _is_short(text))
    plain = {colour for colour, number in counted.most_common(1) if short[colour] < _MOSTLY_SHORT * number}
    accents = {text.style.colour for text in detection.texts if text.style.underline or text.text.endswith(_ARROWS)} | {
        colour for colour in counted if is_blue(colour)
    }
    accents |= {
        colour
        for colour, number in short.items()
        if number >= _FEWEST_COLOURED and number == counted[colour] and is_vivid(colour)
    }
    return frozenset(accents - plain)


def _is_short(text: TextElement) -> bool:
    """Whether a text may be a link by its length and size: a line of words, and no figure or sentence."""
    if len(text.lines) > 1 or len(text.text) > _LONGEST_LINK or text.style.size > _LARGEST_LINK:
        return False
    return text.text[:1].isalpha() and not _has_digit(text.text) and not text.text.endswith(_ENDS)


_CRUMBS = re.compile(r"\s*[›»▶►▸]\s*|\s+[/>]\s+")
_HOME = frozenset({"home", "start", "startseite", "accueil", "inicio", "início"})
_LONGEST_CRUMB = 32
_LARGEST_CRUMB = 17.0


def _find_crumbs(text: TextElement) -> list[str]:
    """Return the places that a line such as `Home / Deck / Ropes` leads through; none if it is no such line."""
    if len(text.lines) > 1 or text.style.size > _LARGEST_CRUMB or text.style.family in _CODE:
        return []
    items = _CRUMBS.split(text.text.strip())
    is_trail = len(items) > 1 and items[0].casefold() in _HOME and bool(items[-1])
    places = items[:-1] if is_trail else items  # the page itself may have any title
    named = all(1 < len(item) <= _LONGEST_CRUMB and item[0].isalpha() and not _has_digit(item) for item in places)
    return items if len(items) > 1 and named else []


_BARS, _DASHES = re.compile(r"\s+[|•·]\s+|\s*[|•]\s*"), re.compile(r"\s+[—–]\s+")
_FEWEST_IN_MENU = 3
_MANY, _MOSTLY, _LONGEST_PLACE = 5, 0.5, 48  # items of a line of which some may be longer, or hold a figure


def _find_menu(text: TextElement, *, mono: bool = False) -> list[str]:
    """Return the words of a line such as `Home | News | Contact`; none if it is no such line.

    A copyright may begin or end the line. Where it may be `mono`, it is no line of commands.
    """
    is_code = text.style.family in _CODE and not mono
    if len(text.lines) > 1 or text.style.size > _LARGEST_CRUMB or is_code:
        return []
    words = text.text.strip(" []|•·")
    items = [item for item in _BARS.split(words) if item]
    items = items if len(items) > 1 else _DASHES.split(words)
    if len(items) < _FEWEST_IN_MENU:
        return []
    others = items[1:] if _is_legal(items[0]) else items[:-1] if _is_legal(items[-1]) else items
    places = sum(_is_place(item) for item in others)
    is_long = len(others) >= _MANY and all(item[0].isalpha() and len(item) <= _LONGEST_PLACE for item in others)
    return items if places == len(others) or (is_long and places >= _MOSTLY * len(others)) else []


def _is_legal(item: str) -> bool:
    """Whether words are a copyright."""
    return "©" in item or (item.casefold().startswith("copyright ") and _has_digit(item))


def _is_place(item: str) -> bool:
    """Whether words name a place that a menu leads to."""
    return 1 < len(item) <= _LONGEST_CRUMB and item[0].isalpha() and not _has_digit(item)


_MADE = r"powered|designed?|developed|built|created|hosted|maintained|theme|template|web ?site|site|software"
_MAKER = re.compile(
    rf"\b(?:{_MADE})\s+by:?\s+(?P<name>[^\W\d_][^.|,•·©–()]{{1,38}}?)\s*(?=[.|,•·©–()]|$)", re.IGNORECASE
)
_LONGEST_CREDIT = 160


_OWNER = re.compile(r"©[\s\d,–-]*(?P<name>[^\W\d_][^.|:©]{1,38}?)\s+[.:](?:\s|$)")
"""A name before a stop that stands apart is an element of its own: a link."""


def _find_makers(text: TextElement) -> list[str]:
    """Return the names that a line such as `© 2023 Acme . Powered by Acme` leads to; none if it is no such line."""
    if len(text.lines) > 1 or len(text.text) > _LONGEST_CREDIT or text.style.family in _CODE:
        return []
    owner = _OWNER.search(text.text)
    owners = [owner["name"]] if owner is not None else []
    return owners + [match["name"] for match in _MAKER.finditer(text.text)]


def _menu_line(part: Part, text: TextElement, items: Sequence[str]) -> Part:
    """Make a line of words with bars between them a navigation."""
    linked = [item for item in items if not _is_legal(item)]
    whole = replace(part, children=tuple(_split_line(text, items, linked)), name="menu")
    return Part("stack", part.rect, (whole,), tag="nav", name="nav")


def _breadcrumb(part: Part, text: TextElement, items: Sequence[str]) -> Part:
    """Make a line of places a navigation in which all but the last are links."""
    whole = replace(part, children=tuple(_split_line(text, items, items[:-1])), name="breadcrumb")
    label = (("aria-label", "Breadcrumb"),)
    return Part("stack", part.rect, (whole,), tag="nav", name="breadcrumb", attributes=label)


def _split_line(text: TextElement, items: Sequence[str], links: Sequence[str]) -> list[Part]:
    """Split a line into its items and what is between them; the `links` are items that lead somewhere."""
    runs: list[Part] = []
    line = text.lines[0]
    rest, at = line.text.strip(), line.rect.x
    drawn = face(text.style.family, text.style.weight >= 600, text.style.italic)

    def width(words: str) -> float:
        return drawn.advance(words) * text.style.size + text.style.spacing * len(words)

    def add(words: str, linked: bool) -> None:
        named = words.strip()
        if named:
            left = at + width(words[: words.index(named)])
            runs.append(_run(line, text, Rect(left, line.rect.y, width(named), line.rect.h), named, linked))

    for item in items:
        before, _, rest = rest.partition(item)
        add(before, linked=False)
        at += width(before)
        add(item, linked=item in links)
        at += width(item)
    add(rest, linked=False)
    return runs


_SEPARATORS = frozenset({"chevron-right", "chevron-left", "slash", "arrow-right", "minus"})
_SEPARATOR_SIGNS = frozenset("›»>▶►▸→⟶/")
_LARGEST_SEPARATOR = 20.0


def _is_trail(row: Part, lowest: float) -> bool:
    """Whether a row leads through places with a small arrow between each two."""
    if row.kind != "row" or row.rect.bottom > lowest or len(row.children) % 2 == 0 or len(row.children) < 3:
        return False
    places, marks = row.children[::2], row.children[1::2]
    if not all(_is_separator(mark) for mark in marks):
        return False
    if any(max(mark.rect.w, mark.rect.h) > _LARGEST_SEPARATOR for mark in marks):
        return False
    texts = [place.text for place in places if place.text is not None and place.tag == "p"]
    named = [text for text in texts if len(text.lines) == 1 and len(text.text) <= _LONGEST_CRUMB]
    return len(named) == len(places) and max(text.style.size for text in named) <= _LARGEST_CRUMB


def _is_separator(mark: Part) -> bool:
    if mark.text is not None:
        return mark.text.text in _SEPARATOR_SIGNS
    return mark.picture is not None and mark.picture.icon in _SEPARATORS


def _mark_trail(row: Part) -> Part:
    """Make a row of places a navigation in which all but the last are links."""
    last = row.children[-1]
    children = (
        _as_link(child, "link") if child.text is not None and child is not last else child for child in row.children
    )
    label = (("aria-label", "Breadcrumb"),)
    return replace(row, tag="nav", name="breadcrumb", attributes=label, children=tuple(children))


def _run(line: TextLine, text: TextElement, rect: Rect, words: str, linked: bool) -> Part:
    piece = replace(line, text=words, rect=rect, ink=rect)
    element = TextElement((piece,), rect, text.style, "left", text.line_height)
    return Part("text", rect, text=element, tag="a" if linked else "div", name="link" if linked else "")


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


_FEWEST_LINKS = 2
_SAME_EDGE = 6.0
_NAME_SIZE = 12.0  # pixels; a smaller text at the left of a header is not a name of the site
_LONGEST_WORD = 36
_LONGEST_MENU_WORD = 28
_SIZES_APART = 2.5  # pixels by which the sizes of two links of a menu may seem to differ
_OTHER_COLOUR = 40.0


def mark_header(part: Part) -> Part:
    """Turn the name of the site and the words beside it in a header into links."""
    if part.text is not None or part.tag in ("nav", "button"):
        return part
    if part.kind != "row" or len(part.children) < 2:
        return replace(part, children=tuple(mark_header(child) for child in part.children))
    brand = _brand_of(part)
    words = [child for child in part.children if _is_word(child) and child is not brand]
    alike = [child for child in words if _is_beside(child, words[-1])]
    links = {id(child) for child in alike} if len(alike) >= _FEWEST_LINKS or _has_nav(part) else set[int]()
    children: list[Part] = []
    for child in part.children:
        if child is brand:
            children.append(_as_link(child, "brand"))
        else:
            children.append(_as_link(child, "link") if id(child) in links else mark_header(child))
    return replace(part, children=tuple(children))


def _is_beside(first: Part, second: Part) -> bool:
    """Whether two words of a header look alike: on one line, in one colour, and of about one size."""
    if first.text is None or second.text is None or abs(_size(first) - _size(second)) > _SIZES_APART:
        return False
    level = abs(first.text.lines[0].baseline - second.text.lines[0].baseline) <= 2
    return abs(_size(first) - _size(second)) <= 1 or (level and first.text.style.colour == second.text.style.colour)


def _has_nav(row: Part) -> bool:
    return any(child.tag == "nav" for child in row.children)


def _brand_of(row: Part) -> Part | None:
    """Return the name of the site: the text that begins the row, or follows its logo."""
    first = row.children[1] if row.children[0].picture is not None else row.children[0]
    if first.text is None or first.tag != "p" or len(first.text.text) > _LONGEST_LINK:
        return None
    return first if first.text.style.size >= _NAME_SIZE else None


def _is_word(part: Part) -> bool:
    text = part.text
    return text is not None and part.tag == "p" and len(text.lines) == 1 and is_word(text.text)


def is_word(text: str) -> bool:
    """Whether a text is as short as a link of a menu; one letter is a word in scripts whose letters are wide."""
    return len(text) <= _LONGEST_MENU_WORD and (len(text) > 1 or wide_letter(text))


def _size(part: Part) -> float:
    assert part.text is not None
    return part.text.style.size


def _as_link(part: Part, name: str) -> Part:
    return replace(part, tag="a", name=name, attributes=(("href", "#"), *part.attributes))


def mark_footer(part: Part) -> Part:
    """Turn the short lines of a footer into links, but for the heading of each column."""
    heads = find_column_heads(part)
    links = {id(word) for word in _text_parts(part) if _is_footer_word(word)} - heads
    return _mark_texts(part, links, heads) if len(links) >= _FEWEST_LINKS else part


def find_column_heads(footer: Part) -> set[int]:
    """Return the ids of the texts that head the columns of a footer."""
    words = [word for word in _text_parts(footer) if _is_footer_word(word)]
    return {id(column[0]) for column in _columns(words) if _is_head(column)}


def _columns(words: Sequence[Part]) -> list[list[Part]]:
    """Group words that begin at one distance from the side, each from the top down."""
    columns: list[list[Part]] = []
    for word in sorted(words, key=lambda candidate: candidate.rect.y):
        home = next((column for column in columns if abs(column[0].rect.x - word.rect.x) <= _SAME_EDGE), None)
        if home is None:
            columns.append([word])
        else:
            home.append(word)
    return columns


def _is_head(column: Sequence[Part]) -> bool:
    """Whether the first word of a column looks unlike the others: bold, or in capitals."""
    if len(column) <= _FEWEST_LINKS:
        return False
    colours = [word.text.style.colour for word in column if word.text is not None]
    tinted = len(set(colours[1:])) == 1 and colour_distance(colours[0], colours[1]) > _OTHER_COLOUR
    return tinted or _stands_out(column[0], column[1])


def _stands_out(head: Part, item: Part) -> bool:
    first, second = head.text, item.text
    if first is None or second is None:
        return False
    bolder = first.style.weight >= 600 > second.style.weight
    return bolder or (first.text.isupper() and not second.text.isupper())


def _text_parts(part: Part) -> list[Part]:
    return [part] if part.text is not None else [leaf for child in part.children for leaf in _text_parts(child)]


def _is_footer_word(part: Part) -> bool:
    text = part.text
    if text is None or part.tag not in ("p", "a", "li") or part.children or len(text.lines) > 1:
        return False
    if len(text.text) > _LONGEST_WORD or "©" in text.text or text.text.endswith("."):
        return False
    return any(letter.isalpha() for letter in text.text)


def _mark_texts(part: Part, links: set[int], heads: set[int]) -> Part:
    if id(part) in links and part.tag in ("p", "li", "h1", "h2", "h3"):
        return _link_text(part)
    if id(part) in heads and part.tag == "a":
        plain = tuple(pair for pair in part.attributes if pair[0] != "href")
        return replace(part, tag="p", name="text", attributes=plain)
    if part.text is not None:
        return part
    children = tuple(_mark_texts(child, links, heads) for child in part.children)
    bare = part.tag == "nav" and not has_tag(replace(part, tag="", children=children), frozenset({"a"}))
    return replace(part, children=children, tag="div" if bare else part.tag, name="row" if bare else part.name)


_FEWEST_ITEMS = 3
_WIDEST_SIDE = 0.32  # of the page, for a column of links
_SAME_LINE = 4.0
_LONGEST_VALUE = 16
_WIDER = 1.5  # times as wide as its list is the part beside it


def mark_side_lists(part: Part) -> Part:
    """Turn the short lines of columns beside a wide part into links: side navigation, contents, categories."""
    if part.text is not None or part.tag in ("table", "form", "header", "footer", "nav", "button"):
        return part
    if part.kind == "row" and len(part.children) > 1:
        widest = max(child.rect.w for child in part.children)
        children = (
            _link_column(child, part)
            if child.tag == "aside" or _WIDER * child.rect.w <= widest
            else mark_side_lists(child)
            for child in part.children
        )
        return replace(part, children=tuple(children))
    return replace(part, children=tuple(mark_side_lists(child) for child in part.children))


def _link_column(part: Part, row: Part) -> Part:
    """Turn runs of three or more short lines of one look, one below the other, into links."""
    badges = {id(leaf) for pill in _pills(part, 0.6 * part.rect.w) for leaf in pill.children}
    words = [
        leaf_word
        for leaf_word in _text_parts(part)
        if _is_footer_word(leaf_word) and not _is_paired(leaf_word, part, row)
    ]
    words = [leaf_word for leaf_word in words if id(leaf_word) not in badges]
    links: set[int] = set()
    heads: set[int] = set()
    for column in _columns(words):
        sizes = Counter(round(_size(word)) for word in column)
        usual = sizes.most_common(1)[0][0]
        alike = [word for word in column if abs(_size(word) - usual) <= 1 and not _is_over(word, column)]
        if len(alike) < _FEWEST_ITEMS or 2 * sum(_has_digit(_words(word)) for word in alike) > len(alike):
            continue
        links |= {id(word) for word in alike}
        heads |= {id(word) for word in column if id(word) not in links}
    total = len(_text_parts(part))
    return _mark_texts(part, links, heads) if 2 * len(links) >= total and links else part


def _pills(part: Part, widest: float) -> list[Part]:
    """Return the badges in a part. A box as wide as the column is not a badge, but the chosen one of its links."""
    if _is_pill(part):
        return [part] if part.rect.w < widest else []
    return [pill for child in part.children for pill in _pills(child, widest)]


def _is_over(word: Part, column: Sequence[Part]) -> bool:
    """Whether a word is the heading of the words below it."""
    below = next((other for other in column if other.rect.y > word.rect.y + 1), None)
    return below is not None and _stands_out(word, below)


def _words(part: Part) -> str:
    return part.text.text if part.text is not None else ""


def _is_paired(word: Part, part: Part, row: Part) -> bool:
    """Whether another text stands on the same line, as the value of a name does; outside of the part, only a number."""
    for other in _text_parts(row):
        if other is word or abs(other.rect.middle[1] - word.rect.middle[1]) > _SAME_LINE:
            continue
        if part.rect.holds(other.rect, 1) or (len(_words(other)) <= _LONGEST_VALUE and _has_digit(_words(other))):
            return True
    return False


_LEAST_PHOTO = 80.0
_LEAST_CARD = 120.0
_MOST_TEXTS = 6
_PRICE = re.compile(r"[$€£¥₽]|^[\d\s.,%–-]+$")


def mark_cards(part: Part) -> Part:
    """Turn the title of each card of a grid with photographs above or behind the words into a link."""
    if part.kind == "grid" and part.columns > 1 and _are_picture_cards(part.children):
        return replace(part, children=tuple(_link_title(child) for child in part.children))
    if part.text is not None:
        return part
    return replace(part, children=tuple(mark_cards(child) for child in part.children))


def _are_picture_cards(cards: Sequence[Part]) -> bool:
    if not is_even([card.rect.w for card in cards], 4) or min(card.rect.h for card in cards) < _LEAST_CARD:
        return False
    pictured = sum(_has_photo(card) for card in cards)
    worded = all(0 < len(_text_parts(card)) <= _MOST_TEXTS for card in cards)
    return worded and 2 * pictured > len(cards) and not any(has_tag(card, _PRESSED) for card in cards)


_PRESSED = frozenset({"button", "input", "select", "textarea"})


def _has_photo(card: Part) -> bool:
    """Whether a photograph spans a card, above its words or behind them."""
    if card.box is not None and card.box.image:
        return True
    if card.picture is not None:
        return card.picture.kind == "photo" and min(card.rect.w, card.rect.h) >= _LEAST_PHOTO
    wide = [child for child in card.children if child.rect.w >= 0.8 * card.rect.w]
    first = [child for child in wide if child.rect.y <= card.rect.y + _LEAST_PHOTO / 2]
    return any(child.box is not None and child.box.image for child in wide) or any(map(_has_photo, first))


def _link_title(card: Part) -> Part:
    """Turn the heading of a card, or else its largest text, into a link."""
    leaves = [leaf for leaf in _text_parts(card) if leaf.tag in ("p", "h1", "h2", "h3") and not leaf.children]
    leaves = [leaf for leaf in leaves if not _PRICE.search(_words(leaf))]
    if not leaves or any(leaf.tag == "a" for leaf in _text_parts(card)):
        return card
    titles = [leaf for leaf in leaves if leaf.tag != "p"]
    title = titles[0] if titles else max(leaves, key=lambda leaf: (_size(leaf), _is_bold(leaf)))
    return _mark_texts(card, {id(title)}, set())


def _is_bold(part: Part) -> bool:
    return part.text is not None and part.text.style.weight >= 600
