"""A design system: a named text about colours, fonts and components that goes into prompts."""

from pathlib import Path

from weft.studio.input.faults import BadInput
from weft.studio.prompts.request import DesignSystem

MAX_CHARACTERS = 60_000


def design_system(text: str, name: str = "") -> DesignSystem:
    """From its text; without a name it is called by its first heading."""
    if len(text) > MAX_CHARACTERS:
        raise BadInput(
            f"The design system has {len(text):,} characters; at most {MAX_CHARACTERS:,} go into a prompt.", "too_large"
        )
    lines = [line.strip(" #*\t") for line in text.splitlines()]
    first = next((line for line in lines if line), "")
    return DesignSystem(" ".join((name or first or "Design system").split())[:80], text.strip())


def read_design_system(path: Path, name: str = "") -> DesignSystem:
    """From a file."""
    try:
        if path.stat().st_size > 4 * MAX_CHARACTERS:
            raise BadInput(f"The design system {path.name} is too long for a prompt; shorten it.", "too_large")
        return design_system(path.read_text("utf-8"), name)
    except OSError as error:
        raise BadInput(f"The design system {path.name} cannot be read: {error.strerror}.", "not_found") from None
    except UnicodeDecodeError:
        raise BadInput(f"The design system {path.name} is not UTF-8 text.", "not_text") from None
