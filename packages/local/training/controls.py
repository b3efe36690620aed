"""Writes the form controls of the training pages, native and styled. `data-part` holds what each one is."""

from dataclasses import dataclass, field
from random import Random

from words import Words


@dataclass
class Look:
    """The style of one page, and the icons and photographs that it may show."""

    rng: Random
    words: Words
    accent: str
    ink: str
    soft: str
    ground: str
    card: str
    line: str
    radius: int
    size: int
    gap: int
    dark: bool
    icons: list[str] = field(default_factory=list[str])
    photos: list[str] = field(default_factory=list[str])
    tick: int = 0
    form: int = 0

    def icon(self, size: int | None = None, colour: str = "currentColor") -> str:
        """Return an icon of the sets as an inline SVG."""
        rng = self.rng
        size = size if size is not None else rng.choice([12, 14, 16, 16, 18, 20, 20, 24, 24, 28, 32, 40, 48])
        body = rng.choice(self.icons)
        return body.replace(
            "<svg", f'<svg data-part="icon" style="width:{size}px;height:{size}px;color:{colour};flex:none"', 1
        )

    def photo(self, style: str = "") -> str:
        return f'<img data-part="photo" src="{self.rng.choice(self.photos)}" style="object-fit:cover;display:block;{style}">'


CHECK = '<svg viewBox="0 0 16 16" width="{0}" height="{0}" fill="none" stroke="{1}" stroke-width="{2}"><path d="M3 8.5l3.2 3.2L13 5"/></svg>'


def tick_box(look: Look, on: bool) -> str:
    """Write a check box; `look.tick` chooses its style, the same on the whole page."""
    rng, kind = look.rng, look.tick % 6
    part = "checkbox_on" if on else "checkbox"
    side = [13, 16, 18, 20, 22, 24][look.tick * 7 % 6]
    if kind < 2:
        style = f"width:{side}px;height:{side}px;margin:0;flex:none;" + (f"accent-color:{look.accent}" if kind else "")
        return f'<input type=checkbox data-part="{part}" style="{style}"{" checked" if on else ""}{" disabled" if rng.random() < 0.08 else ""}>'
    width, bend = [1, 1.5, 2][look.tick // 6 % 3], [0, 2, 3, 4, 6][look.tick // 3 % 5]
    fill = look.accent if on and kind != 4 else look.card if rng.random() < 0.7 else "transparent"
    edge = look.accent if on else look.soft if kind == 3 else look.line
    inner = ""
    if on:
        tone = look.accent if kind == 4 else "#fff"
        if kind == 5 and look.tick % 4 == 1:
            inner = f'<i style="width:{side // 2}px;height:{side // 2}px;background:{tone};border-radius:1px"></i>'
        elif kind == 5 and look.tick % 4 == 2:
            inner = f'<i style="width:{side // 2}px;height:2px;background:{tone}"></i>'
        else:
            inner = CHECK.format(round(side * 0.75), tone, look.tick % 2 + 1.6)
    return (
        f'<span data-part="{part}" style="display:inline-flex;align-items:center;justify-content:center;flex:none;box-sizing:border-box;'
        f'width:{side}px;height:{side}px;border:{width}px solid {edge};border-radius:{bend}px;background:{fill}">{inner}</span>'
    )


def radio(look: Look, on: bool) -> str:
    rng, kind = look.rng, look.tick % 4
    part = "radio_on" if on else "radio"
    side = [13, 16, 18, 20, 22, 24][look.tick * 5 % 6]
    if kind < 2:
        style = f"width:{side}px;height:{side}px;margin:0;flex:none;" + (f"accent-color:{look.accent}" if kind else "")
        return f'<input type=radio data-part="{part}" style="{style}"{" checked" if on else ""}{" disabled" if rng.random() < 0.08 else ""}>'
    fill = look.accent if on and kind == 3 else look.card
    dot = "#fff" if kind == 3 else look.accent
    share = [0.35, 0.45, 0.55][look.tick // 4 % 3]
    inner = (
        f'<i style="width:{side * share:.0f}px;height:{side * share:.0f}px;border-radius:50%;background:{dot}"></i>'
        if on
        else ""
    )
    return (
        f'<span data-part="{part}" style="display:inline-flex;align-items:center;justify-content:center;flex:none;box-sizing:border-box;width:{side}px;'
        f'height:{side}px;border:{[1, 1.5, 2][look.tick % 3]}px solid {look.accent if on else look.line};border-radius:50%;background:{fill}">{inner}</span>'
    )


def switch(look: Look, on: bool) -> str:
    kind = look.tick % 5
    high = [16, 18, 20, 22, 24, 28, 31][look.tick * 3 % 7]
    wide = round(high * [1.65, 1.8, 2][look.tick % 3])
    track = look.accent if on else look.line
    part = "switch_on" if on else "switch"
    air, knob = 2, "#fff"
    extra = ""
    if kind == 1:  # the knob is larger than the track
        air, knob = -3, (look.accent if on else "#f4f4f4")
        track = f"color-mix(in srgb, {look.accent} 45%, {look.card})" if on else look.line
        extra = "box-shadow:0 1px 3px #0006;"
    if kind == 2:  # an outline
        knob = "#fff" if on else look.soft
        track = look.accent if on else "transparent"
    side = high - 2 * air - (4 if kind == 2 else 0)
    place = f"right:{air}px" if on else f"left:{air}px"
    edge = f"border:2px solid {look.accent if on else look.soft};" if kind == 2 else ""
    bend = 4 if kind == 4 else high
    return (
        f'<span data-part="{part}" style="display:inline-block;position:relative;flex:none;box-sizing:border-box;width:{wide}px;height:{high}px;'
        f'border-radius:{bend}px;background:{track};{edge}"><i style="position:absolute;top:{air}px;{place};width:{side}px;height:{side}px;'
        f'border-radius:{max(bend - 2, 2)}px;background:{knob};{extra}"></i></span>'
    )


def slider(look: Look, wide: str = "100%") -> str:
    rng, kind = look.rng, look.tick % 4
    value = rng.choice([0, 5, 100, *(rng.randint(8, 92) for _ in range(6))])
    if kind == 0:
        return f'<input type=range data-part="slider" data-value="{value}" value="{value}" style="width:{wide};margin:0;accent-color:{look.accent if look.form % 2 else "auto"}">'
    high, side = [2, 4, 6, 8][look.tick // 4 % 4], [12, 14, 16, 18, 20, 24][look.tick * 5 % 6]
    tall = max(high, side)
    knob = ["#fff", look.accent, look.card][kind - 1]
    edge = f"border:2px solid {look.accent};" if kind != 1 else "box-shadow:0 1px 4px #0007;"
    return (
        f'<span data-part="slider" style="display:block;position:relative;width:{wide};height:{tall}px"><i style="position:absolute;left:0;right:0;'
        f'top:{(tall - high) / 2}px;height:{high}px;border-radius:{high}px;background:{look.line}"></i><i style="position:absolute;left:0;width:{value}%;'
        f'top:{(tall - high) / 2}px;height:{high}px;border-radius:{high}px;background:{look.accent}"></i><i data-part="thumb" style="position:absolute;'
        f"left:calc({value / 100} * (100% - {side}px));top:{(tall - side) / 2}px;width:{side}px;height:{side}px;box-sizing:border-box;"
        f'border-radius:50%;background:{knob};{edge}"></i></span>'
    )


def _frame(look: Look) -> str:
    kind = look.form % 5
    bend = [look.radius, look.radius, 0, 999, 4][kind]
    if kind == 2:
        return f"border:0;border-bottom:1px solid {look.soft};background:transparent;border-radius:0;"
    if look.form % 7 == 3:
        return f"border:0;background:{look.ground};border-radius:{min(bend, 20)}px;"
    return (
        f"border:{1 + (look.form % 9 == 4)}px solid {look.line};background:{look.card};border-radius:{min(bend, 30)}px;"
    )


def text_field(look: Look, wide: str = "100%") -> str:
    rng = look.rng
    high = [30, 34, 36, 40, 44, 48, 54][look.form % 7]
    word = look.words.phrase(1, 3)
    kind = rng.choice(["text", "text", "email", "password", "search", "number", "date", "tel"])
    value = rng.choice(["", f'placeholder="{word}"', f'value="{word}"', f'value="{word}"'])
    if kind == "number":
        value = f'value="{rng.randint(0, 999)}"'
    if kind == "date":
        value = rng.choice(["", f'value="20{rng.randint(10, 29)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"'])
    pad = rng.choice([8, 12, 16])
    if rng.random() < 0.22:
        return (
            f'<span data-part="field" style="display:flex;align-items:center;gap:8px;box-sizing:border-box;width:{wide};height:{high}px;'
            f'padding:0 {pad}px;color:{look.soft};{_frame(look)}">{look.icon(rng.choice([14, 16, 18, 20]))}<span>{word}</span></span>'
        )
    return (
        f'<input data-part="field" type="{kind}" {value} style="box-sizing:border-box;width:{wide};height:{high}px;padding:0 {pad}px;'
        f'font:inherit;color:{look.ink};{_frame(look)}">'
    )


def text_area(look: Look) -> str:
    rng = look.rng
    text = rng.choice(["", look.words.sentence(), look.words.paragraph()])
    inner = f'placeholder="{text}">' if rng.random() < 0.4 else f">{text}"
    return (
        f'<textarea data-part="textarea" style="box-sizing:border-box;width:100%;height:{rng.randint(64, 190)}px;padding:10px;font:inherit;'
        f"color:{look.ink};border:1px solid {look.line};background:{look.card};border-radius:{min(look.radius, 14)}px;"
        f'resize:{rng.choice(["vertical", "none"])}" {inner}</textarea>'
    )


def select(look: Look, wide: str = "100%") -> str:
    rng = look.rng
    high, word = [30, 34, 36, 40, 44, 48][look.form % 6], look.words.phrase(1, 2)
    if look.form % 3 == 0:
        style = f"width:{wide};" + (
            f"height:{high}px;border:1px solid {look.line};background:{look.card};color:{look.ink};"
            if look.form % 2
            else ""
        )
        return f'<select data-part="select" style="box-sizing:border-box;font:inherit;padding:0 6px;{style}"><option>{word}</select>'
    arrow = rng.choice(
        [
            '<path d="M4 6l4 4 4-4"/>',
            '<path d="M4 6h8l-4 5z" fill="currentColor"/>',
            '<path d="M5 6l3-3 3 3M5 10l3 3 3-3"/>',
        ]
    )
    return (
        f'<span data-part="select" style="display:flex;align-items:center;justify-content:space-between;gap:8px;box-sizing:border-box;width:{wide};'
        f'height:{high}px;padding:0 12px;{_frame(look)}"><span>{word}</span><svg viewBox="0 0 16 16" width="{rng.choice([12, 16, 18])}" fill="none" '
        f'stroke="currentColor" stroke-width="1.6" style="flex:none">{arrow}</svg></span>'
    )


def button(look: Look, strong: bool | None = None) -> str:
    rng = look.rng
    strong = rng.random() < 0.55 if strong is None else strong
    high = rng.choice([28, 32, 36, 36, 40, 44, 48, 54])
    bend = rng.choice([look.radius, look.radius, 999, 4, 0]) if look.form % 3 == 0 else min(look.radius, 16)
    paint = (
        f"background:{look.accent};color:#fff;border:1px solid {look.accent};"
        if strong
        else f"background:{rng.choice(['transparent', look.card, look.ground])};color:{rng.choice([look.ink, look.accent])};border:1px solid {look.line};"
    )
    if rng.random() < 0.16:
        return f'<button data-part="button" style="display:inline-flex;align-items:center;justify-content:center;padding:0;width:{high}px;height:{high}px;border-radius:{bend}px;{paint}">{look.icon(rng.choice([16, 18, 20]))}</button>'
    mark = look.icon(rng.choice([14, 16, 18])) if rng.random() < 0.25 else ""
    text = f"<span>{look.words.phrase(1, 3)}</span>"
    return (
        f'<button data-part="button" style="display:inline-flex;align-items:center;justify-content:center;gap:8px;padding:0 {rng.randint(10, 30)}px;height:{high}px;'
        f'border-radius:{bend}px;font:inherit;font-weight:{rng.choice([400, 500, 600, 700])};white-space:nowrap;{paint}">{mark + text if rng.random() < 0.7 else text + mark}</button>'
    )
