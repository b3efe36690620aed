"""Unifies the typefaces of lines that no installed font fits well, such as those of a page with a web font.

Each line alone may resemble another family or size; together they show one.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from heald_local.see.face_fits import snap_size
from heald_local.see.font_weights import BOLD, LEAST_BOLD, REGULAR
from heald_pictures.elements import Family, TextLine
from heald_pictures.fonts import SPECIAL, face
from heald_pictures.rect import Rect

CERTAIN = 0.93  # likeness from which on a line is in the installed font that was found
_ALIKE, _FEWEST_LETTERS, _LEAST_PRESENT = 0.8, 12, 0.04
"""Likeness from which on a line keeps a family that the page has for certain, and the letters that show it."""
_FEWEST_IN_ROW, _LETTER_GAP = 4, 4.5  # letters of a row, and heights between two of them
_LETTER_ROUND = 0.6  # pixels by which the size of such letters is rounded: their heights are whole pixels
_FIXED: frozenset[Family] = frozenset({*SPECIAL, "mono", "code"})
_LARGE = 20.0  # pixels: headings may have a family of their own
_NEAR = 0.07  # sizes closer than this, as a share, are one size
_BESIDE = 0.16  # the same for neighbours on a line, such as links
_GAP = 64.0  # pixels between neighbours on a line
_LOOSE = 0.05  # letter spacing in ems from which on capitals are spaced on purpose
_TAIL, _EDGE = 0.7, 3.0  # a last line has at most this share of letters, and begins or is centred this near
_LONGEST_ITEM, _FEWEST_ITEMS = 24, 3  # letters of a word of a menu, and its words
_MOSTLY = 0.75  # the share of letters from which on a menu is bold
_MOST_SPACING = 0.07  # ems
_SAME_LINE = 1.5  # pixels by which the baselines of neighbours differ
_LIST_GAP = 0.5  # ems between two words of a menu, at least
_LIST_PITCH = (1.5, 3)  # ems between its lines
_TAIL_PITCH, _TAIL_SIZE = 1.9, 0.12
"""Ems between the last two lines of a paragraph, and the share by which sizes differ."""
_ROUND = 0.3  # pixels by which a size is rounded
_HALVES = 2  # steps of a pixel in which sizes are counted
_VOTES, _DOUBTFUL, _LEAST_VOTE = 100, 0.5, 0.1
"""Of a letter: likeness above the second, at least the third, in hundredths."""
_STRETCH = (0.85, 1.15)  # the share by which a size may change with the family
_DECIMALS = 2  # of letter spacing, in pixels
_RESIZED = 0.12  # the share by which a size may change to make spacing needless
_EXACT, _EXACT_SHARE = 1.2, 0.012  # how much longer or shorter the line may then be, in pixels or as a share
_SLIP, _SLIP_SHARE = 2.5, 0.02  # a line may become longer or shorter by this, in pixels or as a share


def unify_typefaces(lines: Sequence[TextLine]) -> list[TextLine]:
    """Give uncertain lines the family and the size that most of their letters have; certain ones do not change.

    A line that is much like a family of which the page has other lines for certain keeps it.
    """
    small, large = _common_family(lines, large=False), _common_family(lines, large=True)
    present = _certain_families(lines)
    in_family = [_with_family(line, large if line.style.size >= _LARGE else small, present) for line in lines]
    groups = _join_neighbours([at for at, line in enumerate(in_family) if _is_open(line)], in_family)
    sizes = {at: _fitted_size([in_family[member] for member in group]) for group in groups for at in group}
    common = _common_sizes(in_family, sizes)
    sized = [line if at not in common else _with_size(line, common[at]) for at, line in enumerate(in_family)]
    return unify_letter_rows(drop_spacing(join_lists(_join_tails(sized))))


def unify_letter_rows(lines: Sequence[TextLine]) -> list[TextLine]:
    """Give the single letters of a row, such as an index, one style: a letter alone shows hardly more than its height.

    Their colours stay.
    """
    result = list(lines)
    rows: list[list[int]] = []
    singles = [at for at, line in enumerate(lines) if len(line.text) == 1 and line.text.isalnum()]
    for at in sorted(singles, key=lambda number: lines[number].rect.x):
        row = next((row for row in rows if _are_in_row(lines[row[-1]], lines[at])), None)
        if row is None:
            rows.append([at])
        else:
            row.append(at)
    for row in rows:
        if len(row) >= _FEWEST_IN_ROW:
            letters = [lines[at] for at in row]
            common = _common_family(lines, large=letters[0].style.size >= _LARGE)
            for at, line in zip(row, _with_letter_style(letters, common), strict=True):
                result[at] = line
    return result


def _are_in_row(last: TextLine, line: TextLine) -> bool:
    is_level = abs(last.baseline - line.baseline) <= _SAME_LINE and abs(last.ink.y - line.ink.y) <= _SAME_LINE
    return is_level and line.ink.x - last.ink.right <= _LETTER_GAP * last.ink.h


def _with_letter_style(row: Sequence[TextLine], common: Family | None) -> list[TextLine]:
    """Set one family and weight, and the size at which most letters are as tall as they were seen.

    The family is the `common` one of the page if a letter has it, else that of most letters.
    """
    families: Counter[Family] = Counter(line.style.family for line in row)
    family = common if common is not None and common in families else families.most_common(1)[0][0]
    weight = Counter(line.style.weight for line in row).most_common(1)[0][0]
    plain = [replace(line, style=replace(line.style, family=family, weight=weight, spacing=0.0)) for line in row]
    drawn = face(family, weight >= LEAST_BOLD, False)
    heights = [(drawn.ink(line.text)[3] - drawn.ink(line.text)[1], line.ink.h) for line in row]
    size = snap_size(median(seen / natural for natural, seen in heights if natural > 0), _LETTER_ROUND)
    sized = [_with_size(line, size) for line in plain]
    return [replace(line, style=replace(line.style, spacing=0.0)) for line in sized]


def join_lists(lines: Sequence[TextLine]) -> list[TextLine]:
    """Give the uncertain words of a menu, side by side or one below the other, one weight and one size."""
    result = list(lines)
    rest = [at for at, line in enumerate(lines) if _is_open(line) and len(line.text) <= _LONGEST_ITEM]
    while rest:
        group = [rest.pop(0)]
        for at in group:
            near = [other for other in rest if _are_of_one_list(lines[at], lines[other])]
            group += near
            rest = [other for other in rest if other not in near]
        if len(group) >= _FEWEST_ITEMS:
            for at, line in zip(group, _with_one_style([lines[at] for at in group]), strict=True):
                result[at] = line
    return result


def _are_of_one_list(line: TextLine, other: TextLine) -> bool:
    if (line.style.colour, line.style.family) != (other.style.colour, other.style.family):
        return False
    size = line.style.size
    if not _is_near(size, other.style.size, _BESIDE):
        return False
    apart = max(line.rect.x, other.rect.x) - min(line.rect.right, other.rect.right)
    pitch = abs(line.baseline - other.baseline)
    beside = pitch <= _SAME_LINE and _LIST_GAP * size <= apart <= _GAP
    below = abs(line.rect.x - other.rect.x) <= _EDGE and _LIST_PITCH[0] * size <= pitch <= _LIST_PITCH[1] * size
    return beside or below


def _with_one_style(lines: Sequence[TextLine]) -> list[TextLine]:
    """Set the weight and the size that fit all lines together; a line of another length is not one of them."""
    bold = sum(len(line.text) for line in lines if line.style.weight >= LEAST_BOLD)
    weight = BOLD if bold >= _MOSTLY * sum(len(line.text) for line in lines) else REGULAR
    plain = [replace(line, style=replace(line.style, weight=weight, spacing=0.0)) for line in lines]
    size = snap_size(_fitted_size(plain), _ROUND)
    made = [_with_size(line, size) for line in plain]
    return [new if not new.style.spacing else old for new, old in zip(made, lines, strict=True)]


def drop_spacing(lines: Sequence[TextLine]) -> list[TextLine]:
    """Give a line whose letters seem spaced the size of other lines, if it is as long in that size without spacing.

    A short word at 14 pixels with some spacing looks like the same word at 15: what its neighbours have is right.
    """
    unspaced = [line.style for line in lines if not line.style.spacing]
    plain: set[tuple[Family, int, float]] = {(style.family, style.weight, style.size) for style in unspaced}
    return [_without_spacing(line, plain) if _may_be_unspaced(line) else line for line in lines]


def _may_be_unspaced(line: TextLine) -> bool:
    style = line.style
    loose = line.text.isupper() and style.spacing >= _LOOSE * style.size
    return 0 < abs(style.spacing) <= _MOST_SPACING * style.size and style.family not in _FIXED and not loose


def _without_spacing(line: TextLine, plain: set[tuple[Family, int, float]]) -> TextLine:
    style = line.style
    left, _, right, _ = face(style.family, style.weight >= LEAST_BOLD, style.italic).ink(line.text)
    sizes = [size for family, weight, size in plain if (family, weight) == (style.family, style.weight)]
    near = [size for size in sizes if _is_near(size, style.size, _RESIZED)]
    best = min(near, key=lambda size: abs(line.ink.w - (right - left) * size), default=0.0)
    if not best or abs(line.ink.w - (right - left) * best) > max(_EXACT, _EXACT_SHARE * line.ink.w):
        return line
    return _with_size(replace(line, style=replace(style, spacing=0.0)), best)


def _join_tails(lines: Sequence[TextLine]) -> list[TextLine]:
    """Give the short last line of a paragraph the size of the line above it: few letters show a size less exactly."""
    result = list(lines)
    for at, line in enumerate(lines):
        above = next((other for other in lines if _is_tail(line, other)), None)
        if above is not None:
            style = replace(line.style, family=above.style.family, spacing=0.0)
            joined = _with_size(replace(line, style=style), above.style.size)
            result[at] = joined if not joined.style.spacing else line
    return result


def _is_tail(line: TextLine, above: TextLine) -> bool:
    style, upper = line.style, above.style
    if (style.size, style.spacing) == (upper.size, 0.0) or upper.spacing or {upper.family, style.family} & _FIXED:
        return False
    if (style.colour, style.weight, style.italic) != (upper.colour, upper.weight, upper.italic):
        return False
    pitch = line.baseline - above.baseline
    aligned = min(abs(line.rect.x - above.rect.x), abs(line.rect.middle[0] - above.rect.middle[0])) <= _EDGE
    short = len(line.text) <= _TAIL * len(above.text)
    near = _is_near(style.size, upper.size, _TAIL_SIZE)
    return short and aligned and upper.size <= pitch <= _TAIL_PITCH * upper.size and near


def _is_open(line: TextLine) -> bool:
    """Whether the typeface of a line is uncertain."""
    if line.likeness >= CERTAIN or line.style.family in _FIXED:
        return False
    return not (line.text.isupper() and line.style.spacing >= _LOOSE * line.style.size)


def _common_family(lines: Sequence[TextLine], large: bool) -> Family | None:
    """Return the family of most letters of this size; None if all lines are certain."""
    votes: Counter[Family] = Counter()
    for line in lines:
        if line.style.family not in _FIXED and (line.style.size >= _LARGE) == large:
            votes[line.style.family] += round(_VOTES * len(line.text) * max(line.likeness - _DOUBTFUL, _LEAST_VOTE))
    return votes.most_common(1)[0][0] if votes else None


def _certain_families(lines: Sequence[TextLine]) -> frozenset[Family]:
    """Return the families that several letters of the page have for certain: a page may have two."""
    letters: Counter[Family] = Counter()
    for line in lines:
        if line.likeness >= CERTAIN:
            letters[line.style.family] += len(line.text)
    fewest = max(_FEWEST_LETTERS, _LEAST_PRESENT * letters.total())
    return frozenset(family for family, count in letters.items() if count >= fewest)


def _with_family(line: TextLine, family: Family | None, present: frozenset[Family]) -> TextLine:
    """Set the family, unless the line is much like another one that is `present` for certain."""
    if family is None or not _is_open(line) or (line.style.family == family and not line.style.spacing):
        return line
    if line.style.family != family and line.style.family in present and line.likeness >= _ALIKE:
        return line
    style = replace(line.style, family=family, spacing=0.0)
    left, _, right, _ = face(family, style.weight >= LEAST_BOLD, style.italic).ink(line.text)
    size = line.ink.w / (right - left) if right > left else style.size
    return replace(line, style=replace(style, size=min(max(size, _STRETCH[0] * style.size), _STRETCH[1] * style.size)))


def _join_neighbours(numbers: Sequence[int], lines: Sequence[TextLine]) -> list[list[int]]:
    """Group lines that stand beside each other in one colour and weight, and nearly one size."""
    groups: list[list[int]] = []
    for at in sorted(numbers, key=lambda number: (lines[number].baseline, lines[number].rect.x)):
        home = next(
            (group for group in groups if any(_are_neighbours(lines[at], lines[other]) for other in group)), None
        )
        if home is None:
            groups.append([at])
        else:
            home.append(at)
    return groups


def _are_neighbours(line: TextLine, other: TextLine) -> bool:
    alike = (line.style.colour, line.style.weight) == (other.style.colour, other.style.weight)
    gap = max(line.rect.x, other.rect.x) - min(line.rect.right, other.rect.right)
    level = abs(line.baseline - other.baseline) <= _SAME_LINE
    return alike and level and gap <= _GAP and _is_near(line.style.size, other.style.size, _BESIDE)


def _is_near(size: float, other: float, share: float) -> bool:
    return abs(size - other) <= share * max(size, other)


def _fitted_size(lines: Sequence[TextLine]) -> float:
    """Return the size at which all lines together are as long as they were seen."""
    natural = seen = 0.0
    for line in lines:
        left, _, right, _ = face(line.style.family, line.style.weight >= LEAST_BOLD, line.style.italic).ink(line.text)
        natural += right - left
        seen += line.ink.w
    return seen / natural if natural else lines[0].style.size


def _common_sizes(lines: Sequence[TextLine], sizes: dict[int, float]) -> dict[int, float]:
    """Return for each uncertain line the size of those nearest to it, beginning with the size of most letters."""
    chosen: dict[int, float] = {}
    rest = set(sizes)
    while rest:
        weights: Counter[float] = Counter()
        for at in rest:
            weights[round(_HALVES * sizes[at]) / _HALVES] += len(lines[at].text)
        anchor = weights.most_common(1)[0][0]
        near = [at for at in rest if _is_near(sizes[at], anchor, _NEAR)] or [min(rest)]
        size = snap_size(_fitted_size([lines[at] for at in near]), _ROUND)
        chosen |= dict.fromkeys(near, size)
        rest -= set(near)
    return chosen


def _with_size(line: TextLine, size: float) -> TextLine:
    """Set the size; letters are spaced only where the line would be much longer or shorter than it was seen."""
    style = line.style
    drawn = face(style.family, style.weight >= LEAST_BOLD, style.italic)
    left, _, right, _ = drawn.ink(line.text)
    missing = line.ink.w - (right - left) * size
    spaced = abs(missing) > max(_SLIP, _SLIP_SHARE * line.ink.w)
    spacing = round(missing / len(line.text), _DECIMALS) if spaced else 0.0
    ascent, descent = round(drawn.ascent * size), round(drawn.descent * size)
    width = drawn.advance(line.text) * size + spacing * len(line.text)
    rect = Rect(line.ink.x - left * size, line.baseline - ascent, width, ascent + descent)
    return replace(line, style=replace(style, size=size, spacing=spacing), rect=rect)
