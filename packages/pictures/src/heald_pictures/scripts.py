"""Writing systems: letters without spaces between words, and text that runs from right to left."""


def wide_letter(letter: str) -> bool:
    """Whether a letter belongs to a script that is written without spaces."""
    return "\u2e80" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7af" or "\uf900" <= letter <= "\uffef"


def is_leftward(text: str) -> bool:
    """Whether a text has letters that are written from right to left."""
    return any("\u0590" <= letter <= "\u08ff" for letter in text)
