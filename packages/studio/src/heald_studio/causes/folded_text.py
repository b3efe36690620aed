"""The letters of texts as they are compared: without spaces and without differences that readers of pictures make."""

import unicodedata

_ALIKE = str.maketrans(
    {"I": "l", "|": "l", "1": "l", "!": "l", "0": "o", "O": "o", "‘": "'", "’": "'", "`": "'"}
    | dict.fromkeys("“”„«»", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    | dict.fromkeys("•∙‧", "·")
)


def fold_text(text: str) -> str:
    """Return the letters of a text to compare."""
    plain = unicodedata.normalize("NFKC", text).translate(_ALIKE)
    return "".join(letter.casefold()[:1] for letter in plain if not letter.isspace())
