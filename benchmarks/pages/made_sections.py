"""The sections that made pages consist of. Each is a function of a `Sheet`: its dice, its words and its look."""
# ruff: noqa: E501

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from random import Random

from benchmarks.pages.made_words import Words

TOOLS = Path(__file__).parent / "tools" / "node_modules"
SCENES = ("alps", "coast", "dunes", "dusk", "grove", "harbour", "night", "pines", "skyline", "valley", "room")
THINGS = ("bag", "bottle", "chair", "lamp", "mug", "shoe", "vase", "watch")
FACES = ("ana", "ben", "chi", "dov", "eli", "fay")
ICONS = (  # noqa: SIM905
    "search shopping-cart user bell settings heart star mail phone map-pin calendar clock check shield zap truck gift "
    "camera globe layers lock download send smile sun cloud coffee compass credit-card database"
).split()
BRANDS = ("github", "facebook", "instagram", "youtube", "mastodon")


@dataclass(frozen=True, slots=True)
class Look:
    """Colours, type and corners of a page."""

    ground: str
    ink: str
    soft: str
    accent: str
    on_accent: str
    panel: str
    line: str
    font: str
    size: int
    radius: int


@dataclass(frozen=True, slots=True)
class Sheet:
    dice: Random
    words: Words
    look: Look
    narrow: bool

    def pick(self, items: tuple[str, ...]) -> str:
        return self.dice.choice(items)

    def some(self, items: Sequence[str], count: int) -> list[str]:
        """Return that many items in random order; all of them more than once if there are too few."""
        chosen: list[str] = []
        while len(chosen) < count:
            chosen += self.dice.sample(list(items), len(items))
        return chosen[:count]

    def columns(self, count: int) -> str:
        return f"display:grid;grid-template-columns:repeat({1 if self.narrow else count},1fr);gap:24px"


@cache
def icon(name: str, size: int = 20) -> str:
    """Return an icon of Lucide (ISC) or, for a brand, of Simple Icons (CC0)."""
    folder = TOOLS / ("simple-icons" if name in BRANDS else "lucide-static") / "icons"
    text = re.sub(r"<!--.*?-->|\n", " ", (folder / f"{name}.svg").read_text("utf-8"), flags=re.S)
    inside = re.search(r"<svg.*?>(.*)</svg>", text, re.S)
    assert inside is not None
    paint = (
        'fill="currentColor"'
        if name in BRANDS
        else 'fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"'
    )
    shapes = re.sub(r"<title>.*?</title>|class=\"[^\"]*\"", "", " ".join(inside[1].split()))
    return f'<svg width="{size}" height="{size}" viewBox="0 0 24 24" {paint} aria-hidden="true">{shapes}</svg>'


def nav(s: Sheet) -> str:
    dark = s.dice.random() < 0.3
    links = "".join(f'<a href="#">{entry}</a>' for entry in s.words.menu[: 2 if s.narrow else s.dice.choice((4, 5, 6))])
    look = f"background:{s.look.ink};color:{s.look.ground}" if dark else f"border-bottom:1px solid {s.look.line}"
    search = ""
    if not s.narrow and s.dice.random() < 0.5:
        search = f'<input type="search" aria-label="Search" placeholder="{s.words.titles[0][:22]}">'
    icons = "".join(icon(entry) for entry in s.some(ICONS[:6], 2))
    return (
        f'<header class="bar" style="{look}"><strong class="brand">{s.pick(s.words.brands)}</strong>'
        f"<nav>{links}</nav><span class='push'></span>{search}{icons}</header>"
    )


def notice(s: Sheet) -> str:
    text = escape(s.pick(s.words.sentences))
    return f'<p class="notice">{text}</p>'


def hero_photo(s: Sheet) -> str:
    """Text over a photograph, with a veil of one of three strengths."""
    veil = s.dice.choice(("rgba(0,0,0,.35)", "rgba(10,16,30,.5)", "rgba(0,0,0,.22)"))
    tall = s.dice.choice((380, 460)) if not s.narrow else 340
    side = s.dice.choice(("left", "center"))
    return (
        f'<section class="over" style="min-height:{tall}px;text-align:{side};align-items:'
        f"{'center' if side == 'center' else 'flex-start'};"
        f'background:linear-gradient({veil},{veil}),url(../pictures/{s.pick(SCENES)}.png) center/cover">'
        f"<h1>{s.pick(s.words.titles)}</h1><p>{s.pick(s.words.sentences)}</p>"
        f'<a class="button" href="#">{s.pick(s.words.actions)}</a></section>'
    )


def hero_gradient(s: Sheet) -> str:
    paint = s.dice.choice(
        (
            "linear-gradient(135deg,#4f46e5,#db2777)",
            "linear-gradient(90deg,#0f766e,#1d4ed8)",
            "linear-gradient(160deg,#0f172a,#1e3a8a 60%,#6d28d9)",
            "linear-gradient(180deg,#7c2d12,#b45309)",
            "radial-gradient(circle at 30% 20%,#1d4ed8,#111827)",
        )
    )
    return (
        f'<section class="over" style="background:{paint};text-align:center;align-items:center">'
        f'<span class="tag">{s.pick(s.words.menu)}</span><h1>{s.pick(s.words.titles)}</h1>'
        f'<p>{s.pick(s.words.sentences)}</p><p class="row">'
        f'<a class="button" href="#">{s.words.actions[0]}</a><a class="ghost" href="#">{s.words.actions[1]}</a></p></section>'
    )


def hero_split(s: Sheet) -> str:
    return (
        f'<section class="wrap" style="{s.columns(2)};align-items:center"><div><h1>{s.pick(s.words.titles)}</h1>'
        f"<p>{' '.join(s.some(s.words.sentences, 2))}</p>"
        f'<a class="button" href="#">{s.pick(s.words.actions)}</a></div>'
        f'<img src="../pictures/{s.pick(SCENES)}.png" alt="A view" style="height:300px"></section>'
    )


def features(s: Sheet) -> str:
    cards = "".join(
        f'<div class="card">{icon(name, 28)}<h3>{title}</h3><p>{text}</p></div>'
        for name, title, text in zip(
            s.some(ICONS, 3), s.some(s.words.titles, 3), s.some(s.words.sentences, 3), strict=True
        )
    )
    return f'<section class="wrap"><h2>{s.pick(s.words.titles)}</h2><div style="{s.columns(3)}">{cards}</div></section>'


def photo_cards(s: Sheet) -> str:
    """Photographs with a caption on them."""
    cards = "".join(
        f'<a href="#" class="shot" style="background:linear-gradient(rgba(0,0,0,0) 30%,rgba(0,0,0,.7)),'
        f'url(../pictures/{scene}.png) center/cover"><span class="chip">{s.pick(s.words.menu)}</span>'
        f"<strong>{title}</strong><small>{s.dice.randint(2, 28)}.{s.dice.randint(1, 12)}.2026</small></a>"
        for scene, title in zip(s.some(SCENES, 3), s.some(s.words.titles, 3), strict=True)
    )
    return f'<section class="wrap"><div style="{s.columns(3)}">{cards}</div></section>'


def products(s: Sheet) -> str:
    cards: list[str] = []
    for picture, name in zip(s.some(THINGS, 4), s.some(s.words.things, 4), strict=True):
        price = s.dice.randint(9, 240)
        old = f"<s>{price + 20}.00</s> " if s.dice.random() < 0.4 else ""
        badge = '<span class="badge">-20 %</span>' if old else ""
        cards.append(
            f'<div class="item">{badge}<img src="../pictures/{picture}.png" alt="{name}"><h3>{name}</h3>'
            f'<p class="stars">{icon("star", 14) * 5}<small>({s.dice.randint(3, 420)})</small></p>'
            f'<p>{old}<b>{price}.00 €</b></p><a class="button" href="#">{s.words.actions[2]}</a></div>'
        )
    columns = "display:grid;grid-template-columns:repeat(2,1fr);gap:16px" if s.narrow else s.columns(4)
    return f'<section class="wrap"><h2>{s.pick(s.words.titles)}</h2><div style="{columns}">{"".join(cards)}</div></section>'


def news(s: Sheet) -> str:
    rows = "".join(
        f'<article><img src="../pictures/{scene}.png" alt="" style="width:120px;height:80px"><div>'
        f'<small class="accent">{s.pick(s.words.menu)}</small><h3>{title}</h3><p>{text}</p>'
        f"<small>{s.dice.randint(1, 59)} min · {s.pick(s.words.brands)}</small></div></article>"
        for scene, title, text in zip(
            s.some(SCENES, 4), s.some(s.words.titles, 4), s.some(s.words.sentences, 4), strict=True
        )
    )
    return f'<section class="wrap news" style="{s.columns(2)}">{rows}</section>'


def article(s: Sheet) -> str:
    """A text with links, bold words and code inside of its sentences."""
    first, second, third, fourth = s.some(s.words.sentences, 4)
    head, _, tail = second.partition(" ")
    items = "".join(f"<li>{sentence}</li>" for sentence in s.some(s.words.sentences, 3))
    return (
        f'<section class="wrap text"><h1>{s.pick(s.words.titles)}</h1><p>{first} <a href="#" class="link">'
        f"{s.pick(s.words.actions)}</a> {third}</p><p><strong>{head}</strong> {tail} {fourth}</p>"
        f"<h2>{s.pick(s.words.titles)}</h2><ul>{items}</ul>"
        f"<pre>import heald\n\nagent = heald.Agent(&quot;local/vision&quot;)\nprint(agent.run_sync(&quot;Hello&quot;).text)</pre>"
        f"<blockquote>{s.pick(s.words.sentences)}</blockquote></section>"
    )


def docs(s: Sheet) -> str:
    links = "".join(f'<a href="#">{entry}</a>' for entry in (*s.words.menu, *s.words.actions))
    return f'<div class="docs"><aside>{links}</aside>{article(s)}</div>' if not s.narrow else article(s)


def table(s: Sheet) -> str:
    heads = "".join(f"<th>{head}</th>" for head in ("#", *s.words.menu[:4]))
    states = (("#dcfce7", "#166534"), ("#fef3c7", "#92400e"), ("#fee2e2", "#991b1b"))
    rows: list[str] = []
    for number in range(s.dice.choice((6, 8))):
        back, ink = s.dice.choice(states)
        rows.append(
            f"<tr><td>{1040 + 7 * number}</td><td>{s.pick(s.words.things)}</td><td>{s.dice.randint(1, 28):02}.03.2026</td>"
            f'<td><span class="state" style="background:{back};color:{ink}">{s.pick(s.words.actions)}</span></td>'
            f"<td>{s.dice.randint(10, 9_000):,}.00</td></tr>"
        )
    return f'<section class="wrap"><h2>{s.pick(s.words.titles)}</h2><table><tr>{heads}</tr>{"".join(rows)}</table></section>'


def form(s: Sheet) -> str:
    fields = "".join(
        f'<label>{name}<input {"value" if s.dice.random() < 0.4 else "placeholder"}="{hint}"></label>'
        for name, hint in s.words.fields
    )
    boxes = "".join(
        f'<label class="check"><input type="checkbox"{" checked" if number else ""}>{text}</label>'
        for number, text in enumerate(s.some(s.words.sentences, 2))
    )
    options = "".join(f"<option>{thing}</option>" for thing in s.words.things)
    return (
        f'<section class="wrap"><form class="card" style="max-width:720px"><h2>{s.pick(s.words.titles)}</h2>'
        f'<div style="{s.columns(2)}">{fields}<label>{s.words.menu[1]}<select>{options}</select></label></div>'
        f'<label>{s.words.menu[4]}<textarea rows="3" placeholder="{s.words.sentences[1]}"></textarea></label>{boxes}'
        f'<button type="button" class="button">{s.words.actions[0]}</button></form></section>'
    )


def metrics(s: Sheet) -> str:
    cards = "".join(
        f'<div class="card"><small>{name}</small><p class="figure">{s.dice.randint(2, 98)},{s.dice.randint(100, 999)}</p>'
        f'<small style="color:{"#16a34a" if s.dice.random() < 0.6 else "#dc2626"}">+{s.dice.randint(1, 30)}.{s.dice.randint(0, 9)} %</small></div>'
        for name in s.some(s.words.menu, 4)
    )
    bars = "".join(
        f'<rect x="{20 + 52 * at}" y="{200 - tall}" width="32" height="{tall}" rx="4" fill="{s.look.accent}"/>'
        f'<text x="{36 + 52 * at}" y="220" font-size="12" text-anchor="middle" fill="{s.look.soft}">{at + 1}</text>'
        for at, tall in enumerate(s.dice.randint(30, 170) for _ in range(8))
    )
    points = " ".join(f"{20 + 58 * at},{s.dice.randint(30, 180)}" for at in range(8))
    charts = (
        f'<div class="card"><h3>{s.words.titles[4]}</h3><svg width="440" height="230">{bars}</svg></div>'
        f'<div class="card"><h3>{s.words.titles[5]}</h3><svg width="440" height="230"><polyline points="{points}" fill="none" '
        f'stroke="{s.look.accent}" stroke-width="3"/><line x1="10" y1="200" x2="430" y2="200" stroke="{s.look.line}"/></svg></div>'
    )
    row = f'<div style="{s.columns(4)};margin-bottom:24px">{cards}</div>'
    return f'<section class="wrap">{row}{"" if s.narrow else f"<div style={chr(34)}{s.columns(2)}{chr(34)}>{charts}</div>"}</section>'


def quotes(s: Sheet) -> str:
    cards = "".join(
        f'<div class="card"><p>“{text}”</p><p class="row"><img class="face" src="../pictures/{face}.png" alt="">'
        f"<span><b>{face.title()} {brand}</b><br><small>{s.pick(s.words.menu)}</small></span></p></div>"
        for face, text, brand in zip(
            s.some(FACES, 3), s.some(s.words.sentences, 3), s.some(s.words.brands, 3), strict=True
        )
    )
    return f'<section class="wrap" style="{s.columns(3)}">{cards}</section>'


def prices(s: Sheet) -> str:
    cards = "".join(
        f'<div class="card{" best" if at == 1 else ""}"><h3>{name}</h3><p class="figure">{9 + 20 * at} €</p>'
        + "".join(f'<p class="row">{icon("check", 16)}<span>{thing}</span></p>' for thing in s.some(s.words.things, 3))
        + f'<a class="button" href="#">{s.pick(s.words.actions)}</a></div>'
        for at, name in enumerate(s.some(s.words.brands, 3))
    )
    return f'<section class="wrap"><h2>{s.pick(s.words.titles)}</h2><div style="{s.columns(3)}">{cards}</div></section>'


def banner(s: Sheet) -> str:
    """A pale band with small grey text, and a photograph that fades into it."""
    return (
        f'<section class="banner" style="background:linear-gradient(90deg,{s.look.panel} 45%,rgba(255,255,255,0)),'
        f'url(../pictures/{s.pick(SCENES)}.png) right center/60% 100% no-repeat,{s.look.panel}"><h2>{s.pick(s.words.titles)}</h2>'
        f'<p style="font-size:13px;color:{s.look.soft}">{s.pick(s.words.sentences)}</p></section>'
    )


def cookies(s: Sheet) -> str:
    dark = s.dice.random() < 0.5
    look = f"background:{'#111827' if dark else '#ffffff'};color:{'#e5e7eb' if dark else '#374151'}"
    return (
        f'<aside class="cookies" style="{look}"><p>{s.words.cookies}</p><span class="push"></span>'
        f'<button type="button" class="button">{s.words.actions[0]}</button>'
        f'<button type="button" class="ghost" style="color:inherit;border-color:#9ca3af">{s.words.actions[1]}</button></aside>'
    )


def footer(s: Sheet) -> str:
    columns = "".join(
        f"<div><b>{head}</b>" + "".join(f'<a href="#">{thing}</a>' for thing in s.some(s.words.things, 3)) + "</div>"
        for head in s.words.menu[: 2 if s.narrow else 4]
    )
    marks = "".join(icon(thing) for thing in BRANDS[:4])
    return (
        f'<footer><div class="wrap"><div style="display:flex;gap:48px;flex-wrap:wrap">{columns}</div>'
        f'<p class="row"><small>© 2026 {s.pick(s.words.brands)}</small><span class="push"></span>{marks}</p></div></footer>'
    )
