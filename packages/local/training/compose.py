"""Composes a whole training page from a seed."""

import colorsys
from collections.abc import Callable
from random import Random

from controls import Look
from sections import (
    article,
    brands,
    captions,
    choices,
    features,
    figures,
    footer,
    form,
    gallery,
    header,
    hero_over,
    hero_split,
    inbox,
    people,
    player,
    products,
    settings,
    survey,
    table,
    toolbar,
)
from words import SCRIPTS, Words

FONTS = (
    "Noto Sans", "Liberation Sans", "DejaVu Sans", "Noto Serif", "Liberation Serif", "Noto Sans Display",
    "Liberation Mono", "DejaVu Sans Mono", "DejaVu Serif", "Liberation Sans Narrow", "sans-serif",
)  # fmt: skip

Section = Callable[[Look, int], str]
TRAINED: tuple[Section, ...] = (
    hero_over, captions, captions, hero_split, features, features, products, gallery, form, form, choices, choices,
    choices, settings, settings, settings, table, figures, people, article, toolbar, brands, footer,
)  # fmt: skip
HELD: tuple[Section, ...] = (player, survey, inbox, hero_over, captions, features, form, choices, settings, people)


def _hsl(hue: float, rich: float, light: float) -> str:
    red, green, blue = colorsys.hls_to_rgb(hue % 1, light, rich)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def compose_page(seed: int, held: bool, icons: list[str], photos: list[str]) -> tuple[str, int]:
    """Return the HTML of a page and its width."""
    rng = Random(f"{seed}/{held}")
    dark, hue = rng.random() < 0.33, rng.random()
    script = rng.choices(list(SCRIPTS), [8, 1.3, 0.5, 1, 1, 0.8])[0]
    tint = rng.choice([0, 0, 0.1, 0.3])
    ground, card = (
        (_hsl(hue, tint, rng.uniform(0.04, 0.13)), _hsl(hue, tint, rng.uniform(0.1, 0.2)))
        if dark
        else (_hsl(hue, tint, rng.uniform(0.93, 0.98)), "#ffffff")
    )
    wide = rng.choices([1280, 1440, 1024, 800, 390], [5, 1, 1.5, 1, 2])[0]
    look = Look(
        rng, Words(rng, script), _hsl(rng.random(), rng.uniform(0.4, 1), rng.uniform(0.3, 0.55)),
        _hsl(hue, tint, 0.94 if dark else rng.uniform(0.03, 0.2)), _hsl(hue, tint / 2, rng.uniform(0.55, 0.7) if dark else rng.uniform(0.35, 0.6)),
        ground, card, _hsl(hue, tint, rng.uniform(0.25, 0.36) if dark else rng.uniform(0.74, 0.9)), rng.choice([0, 2, 4, 6, 8, 8, 12, 16, 24]),
        rng.choice([12, 13, 14, 14, 15, 16, 16, 17, 18]), rng.choice([8, 12, 16, 20, 24, 32]), dark, icons, photos, rng.randrange(420), rng.randrange(420),
    )  # fmt: skip
    body, pad = header(look, wide), rng.choice([10, 16, 24, 40]) if wide > 600 else 12
    for section in rng.sample(HELD if held else TRAINED, rng.randint(3, 5)):
        look.tick, look.form = rng.randrange(420), rng.randrange(420)
        inner = section(look, wide)
        bare = section in (hero_over, footer)
        paint = f"background:{rng.choice([look.ground, look.card])};" if rng.random() < 0.4 else ""
        body += inner if bare else f'<div style="padding:{look.gap}px {pad}px;{paint}">{inner}</div>'
    style = (
        f"body{{margin:0;background:{look.ground};color:{look.ink};font:{look.size}px/{rng.choice([1.3, 1.45, 1.6])} '{rng.choice(FONTS)}',sans-serif;"
        f"overflow-x:hidden}}a{{color:{rng.choice([look.accent, look.ink])}}}.lined td{{padding:{rng.randint(4, 12)}px;border-bottom:1px solid {look.line}}}"
        "p{margin:8px 0}*{animation:none!important;transition:none!important;caret-color:transparent}"
    )
    turn = ' dir="rtl"' if script == "arabic" else ""
    scheme = "dark" if dark and rng.random() < 0.7 else "light"
    return (
        f'<!doctype html><html{turn} style="color-scheme:{scheme}"><meta charset=utf-8><style>{style}</style><body>{body}</body></html>',
        wide,
    )
