"""The widths that an edit applies to: all, or up to a breakpoint."""

import msgspec

TAILWIND_SCREENS = {"sm": 640, "md": 768, "lg": 1024, "xl": 1280, "2xl": 1536}


class Breakpoint(msgspec.Struct, frozen=True):
    """An edit at a shown width that applies to windows narrower than `below`; 0 is every width."""

    width: int = 1280
    below: int = 0

    @property
    def media(self) -> str:
        """The condition of its media query."""
        return f"(max-width: {self.below - 1}px)" if self.below else ""

    @property
    def variant(self) -> str:
        """Tailwind's prefix for it; empty for every width."""
        if not self.below:
            return ""
        screen = next((name for name, width in TAILWIND_SCREENS.items() if width == self.below), None)
        return f"max-{screen}" if screen is not None else f"max-[{self.below - 1}px]"
