"""A lock: a part of a design that no later version may change."""

from typing import Literal

import msgspec

from heald.core.errors import HealdError, NotFound

LockKind = Literal["element", "file", "text", "style"]
MAX_LOCKS = 40
_LONGEST_NAME = 60


class NoSuchLock(NotFound):
    """The project has no lock of that id."""


class CannotLock(HealdError):
    """The part cannot be locked. The message says why."""

    code = "invalid_request"


class LockBroken(HealdError):
    """A change was refused because it alters what is locked."""

    code = "permission"


class Lock(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a page, or a file, that stays as it is in one variant, in every version made from that one."""

    id: str
    kind: LockKind
    version: str
    """The version and the variant that show the part as it stays."""
    variant: int
    session: str
    """The session whose files are those of the variant."""
    page: str = ""
    """The file of the page that shows it; empty for the first page."""
    path: str = ""
    """The selector of the element, from the page down."""
    text: str = ""
    """The words that stay, for a lock of a text."""
    file: str = ""
    """The file that stays, for a lock of a file."""
    author: Literal["person", "model"] = "person"
    created: float = 0.0
    is_active: bool = True
    """Whether it holds. A lock that was removed stays in the project, so that this can be undone."""

    @property
    def label(self) -> str:
        """What it locks, in a few words."""
        name = self.path.rpartition(">")[2].strip().partition(":")[0] or "element"
        match self.kind:
            case "file":
                return f"the file {self.file}"
            case "text":
                return f"the text “{_shorten(self.text)}”"
            case "style":
                return f"the style of <{name}>{_quoted(self.text)}"
            case "element":
                return f"the element <{name}>{_quoted(self.text)}"


class NewLock(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be locked. A file needs `file`, a text `text` or `path`, the others `path`."""

    kind: LockKind
    path: str = ""
    text: str = ""
    page: str = ""
    file: str = ""


class BrokenLock(msgspec.Struct, frozen=True):
    """A lock that a change does not keep, and why, as half a sentence."""

    lock: Lock
    reason: str

    @property
    def sentence(self) -> str:
        where = f" of {self.lock.page}" if self.lock.page else ""
        return f"{self.lock.label[0].upper()}{self.lock.label[1:]}{where} is locked, but {self.reason}."


def refusal(broken: list[BrokenLock]) -> str:
    """Describe why a change is refused, in one sentence, with what to do."""
    more = f" {len(broken) - 1} more locks are broken." if len(broken) > 1 else ""
    return f"{broken[0].sentence}{more} Unlock it first, or ask for another change."


def repair_request(broken: list[BrokenLock]) -> str:
    """Ask the model that broke locks to put back what it changed."""
    lines = "\n".join(f"- {item.sentence}" for item in broken)
    return (
        f"Your change alters what the person has locked:\n{lines}\n\nPut these parts back exactly as they were, in "
        "every window size and at any time, and keep the rest of the change. Otherwise the change is refused."
    )


def lock_notice(locks: list[Lock]) -> str:
    """Tell a model what it must not change."""
    lines = "\n".join(f"- {lock.label}{f', in {lock.page}' if lock.page else ''} ({lock.path})" for lock in locks)
    return (
        "The person has locked these parts. They must stay as they are, to the pixel and the letter; a change that "
        f"alters one of them is refused:\n{lines.replace(' ()', '')}"
    )


def _quoted(text: str) -> str:
    return f" “{_shorten(text)}”" if text else ""


def _shorten(text: str) -> str:
    words = " ".join(text.split())
    return f"{words[: _LONGEST_NAME - 1]}…" if len(words) > _LONGEST_NAME else words
