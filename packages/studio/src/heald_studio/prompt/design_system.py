"""A design system: rules and values that a page has to follow."""

from pathlib import Path

import msgspec

from heald_studio.bad_input import BadInput

MAX_DESIGN_SYSTEM = 60_000


class DesignSystem(msgspec.Struct, frozen=True):
    """A named text with the rules of a design: colours, fonts, components."""

    name: str
    text: str


def parse_design_system(text: str, name: str = "") -> DesignSystem:
    """Make a design system from its text, named after its first heading by default. Raises BadInput."""
    if len(text) > MAX_DESIGN_SYSTEM:
        message = f"The design system has {len(text):,} characters; at most {MAX_DESIGN_SYSTEM:,} go into a prompt."
        raise BadInput(message, "too_large")
    lines = [line.strip(" #*\t") for line in text.splitlines()]
    first = next((line for line in lines if line), "")
    return DesignSystem(" ".join((name or first or "Design system").split())[:80], text.strip())


def read_design_system(path: Path) -> DesignSystem:
    """Read a design system from a file. Raises BadInput."""
    try:
        if path.stat().st_size > 4 * MAX_DESIGN_SYSTEM:
            raise BadInput(f"The design system {path.name} is too long for a prompt; shorten it.", "too_large")
        return parse_design_system(path.read_text("utf-8"))
    except OSError as error:
        raise BadInput(f"The design system {path.name} cannot be read: {error.strerror}.", "not_found") from None
    except UnicodeDecodeError:
        raise BadInput(f"The design system {path.name} is not UTF-8 text.", "not_text") from None
