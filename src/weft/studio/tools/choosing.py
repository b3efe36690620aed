"""Which of the pictures on a screenshot somebody means who describes it: by its place, size, kind and neighbours."""

from weft.studio.tools.sights import Region, Sight, words_of

_ICONS = frozenset(("logo", "icon", "symbol", "badge", "glyph", "avatar"))
_LARGE = frozenset(
    ("hero", "banner", "cover", "photo", "photograph", "background", "illustration", "screenshot", "picture", "large")
)
_PLACES = {
    "top": (None, 0.0),
    "header": (None, 0.0),
    "navbar": (None, 0.0),
    "hero": (None, 0.2),
    "bottom": (None, 1.0),
    "footer": (None, 1.0),
    "left": (0.0, None),
    "right": (1.0, None),
    "centre": (0.5, None),
    "center": (0.5, None),
    "middle": (0.5, 0.5),
}
_ORDER = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5, "last": -1}
_LEAST = 0.5


def chosen(sight: Sight, description: str) -> Region | None:
    """The region that fits the words best; None if none does."""
    words = words_of(description)
    fitting = [(_fit(region, sight, words), -number, region) for number, region in enumerate(sight.regions)]
    good = [entry for entry in fitting if entry[0] >= _LEAST]
    if not good:
        return None
    number = next((_ORDER[word] for word in description.lower().split() if word in _ORDER), None)
    if number is not None:
        best = max(entry[0] for entry in good)
        alike = [region for fit, _, region in good if fit >= best - 0.5]
        return alike[number] if -len(alike) <= number < len(alike) else None
    return max(good, key=lambda entry: entry[:2])[2]


def _fit(region: Region, sight: Sight, words: frozenset[str]) -> float:
    width, height = sight.size
    x, y = region.rect.middle
    share = region.rect.area / (width * height)
    fit = 0.0
    if words & _ICONS:
        fit += 1.0 if region.kind == "icon" or share < 0.01 else -0.5
    if words & _LARGE:
        fit += (1.0 if region.kind == "photo" else -0.5) + min(share * 2, 0.6)
    if "logo" in words:
        fit += 0.6 * (1 - y / height) + 0.3 * (1 - x / width)
    for word in words & _PLACES.keys():
        across, down = _PLACES[word]
        off = [abs(x / width - across)] if across is not None else []
        off += [abs(y / height - down)] if down is not None else []
        fit += 0.8 - 1.6 * max(off)
    said = words - _ICONS - _LARGE - _PLACES.keys() - _ORDER.keys()
    return fit + 2.0 * len(said & region.words) / max(len(said), 1) * bool(said)
