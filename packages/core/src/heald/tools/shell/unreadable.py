"""`Unreadable`: a shell line whose commands cannot be told from its text."""


class Unreadable(Exception):
    """The line may run anything. The message says why, as the end of a sentence: 'it has …'."""
