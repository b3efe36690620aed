"""CSS under way: lengths as CSS writes them, and what a box is painted with."""

from weft.vision.page import Style
from weft.vision.seen import Box


class Sheet(dict[str, str]):
    """CSS under way."""

    def px(self, name: str, value: float) -> None:
        if abs(value) >= 0.3:
            self[name] = length(value)

    def done(self) -> Style:
        """All of it but what is so anyhow."""
        return tuple(entry for entry in self.items() if entry != ("align-self", "stretch"))


def length(value: float) -> str:
    """Pixels as CSS writes them, whole where a quarter does not matter."""
    rounded = round(value) if abs(value - round(value)) < 0.26 else round(value, 1)
    return "0" if not rounded else f"{rounded:g}px"


def paint_box(box: Box, sheet: Sheet) -> None:
    """Fill, border, corners and shadow."""
    if box.image:
        sheet["background"] = f"{box.fill} url(assets/{box.image}.png) 0 0 / 100% 100% no-repeat"
    elif box.gradient is not None:
        sheet["background"] = f"linear-gradient({box.gradient.angle:g}deg, {box.gradient.start}, {box.gradient.end})"
    else:
        sheet["background"] = box.fill
    paint_frame(box, sheet)
    if box.radius >= 1:
        sheet["border-radius"] = length(box.radius)
    if box.shadow is not None:
        shadow = box.shadow
        sheet["box-shadow"] = (
            f"{length(shadow.x)} {length(shadow.y)} {length(shadow.blur)} rgb(0 0 0 / {shadow.alpha:g})"
        )


def paint_frame(box: Box, sheet: Sheet) -> None:
    """The border alone."""
    if box.border is None:
        return
    widths, colour = box.border.widths, box.border.colour
    if len(set(widths)) == 1:
        sheet["border"] = f"{length(widths[0])} solid {colour}"
        return
    sheet["border"] = f"0 solid {colour}"
    sheet["border-width"] = " ".join(length(width) for width in widths)
