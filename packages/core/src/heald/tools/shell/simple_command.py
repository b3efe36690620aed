"""`SimpleCommand`: one command of a shell line, with its assignments and redirections."""

import msgspec

from heald.tools.shell.words import Word


class Redirection(msgspec.Struct, frozen=True):
    """A redirection of a command's input or output."""

    operator: str
    target: Word

    @property
    def is_harmless(self) -> bool:
        """Whether it reads and writes no file: to `/dev/null`, to another descriptor, or closing one."""
        target = self.target.literal
        if self.operator in ("<&", ">&") and target is not None and (target == "-" or target.isdecimal()):
            return True
        return target == "/dev/null" and self.operator in ("<", ">", ">>", ">|", "&>", "&>>")


class SimpleCommand(msgspec.Struct, frozen=True):
    """One command. `words` is empty if it only assigns variables or redirects."""

    variables: tuple[str, ...]
    """The names of the variables that are assigned in front of it."""
    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...] = ()
