"""Answers to letters."""

FORMATS = {"plain": str, "quoted": "quote"}


def reply(letter, answer, style="quoted"):
    import helpers

    shape = FORMATS[style]
    text = getattr(helpers, shape)(letter) if isinstance(shape, str) else shape(letter)
    return f"{text}\n\n{answer}"
