"""Edits of a page that alter what is locked and try not to be noticed, made from a seed.

An edit combines what is altered (a letter, a colour, a place, what lies over it) with the way it is written (a rule in
another file, a script, an inline style) and the moment at which it works (a narrow window, a dark scheme, after a
minute, under the pointer). `harmless_edits` are changes of the same page that alter nothing that is locked.
"""
# ruff: noqa: E501 (markup and rules are in one line, as pages have them)

import random
from collections.abc import Callable

import msgspec

from heald_studio.projects.lock import Lock

Files = dict[str, bytes]

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Tide tables</title><link rel="stylesheet" href="styles.css"></head>
<body>
<header class="top"><b class="brand">Tide tables</b><nav><a href="#plans">Plans</a><a href="#faq">Questions</a></nav></header>
<main>
<section class="hero"><h1>Know the water before you sail</h1><p class="lead">High and low tide for 900 harbours, every day.</p></section>
<section class="plans" id="plans">
<article class="plan basic"><h2>Skipper</h2><p class="price">$9 a month</p><a class="buy" href="#basic">Choose Skipper</a></article>
<article class="plan pro" id="pro"><h2>Harbour master</h2><p class="price" id="price">$29 a month</p><ul><li>All harbours</li><li>Ten years of history</li></ul><a class="buy main" href="#pro-plan">Choose Harbour master</a></article>
<article class="plan fleet"><h2>Fleet</h2><p class="price">$99 a month</p><a class="buy" href="#fleet">Choose Fleet</a></article>
</section>
<section class="faq" id="faq"><h2>Questions</h2><p class="answer">Tables are computed from the gauges of the national services.</p></section>
</main>
<footer class="foot"><p>Made by sailors in Bergen</p></footer>
<script src="app.js"></script>
</body>
</html>
"""
STYLES = """body { margin: 0; font: 16px/1.5 sans-serif; color: #102030; background: #ffffff; }
.top { display: flex; justify-content: space-between; padding: 16px 32px; background: #0b3d5c; color: #ffffff; }
.top a { color: #ffffff; margin-left: 24px; }
.hero { padding: 48px 32px; background: #e8f1f6; }
.hero h1 { margin: 0 0 8px; font-size: 40px; }
.plans { display: flex; gap: 24px; padding: 32px; }
.plan { flex: 1; padding: 24px; border: 1px solid #c3d3dd; background: #ffffff; }
.plan.pro { background: #fdf6e3; border-color: #d9b44a; }
.price { font-size: 28px; margin: 8px 0; }
.buy { display: inline-block; padding: 8px 16px; background: #0b3d5c; color: #ffffff; text-decoration: none; }
.faq { padding: 32px; }
.foot { padding: 24px 32px; background: #102030; color: #ffffff; }
@media (max-width: 600px) { .plans { flex-direction: column; } .hero h1 { font-size: 28px; } }
"""
SCRIPT = """document.querySelector(".faq h2").addEventListener("click", () => {
  document.querySelector(".answer").classList.toggle("open");
});
"""
LOGO = '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><circle cx="12" cy="12" r="10"/></svg>\n'
BASE: Files = {
    "index.html": PAGE.encode(),
    "styles.css": STYLES.encode(),
    "app.js": SCRIPT.encode(),
    "logo.svg": LOGO.encode(),
}
_PRO = "body > main > section:nth-of-type(2) > article:nth-of-type(2)"
LOCKS = {
    "element": Lock(id="a", kind="element", version="v", variant=0, session="s", path=_PRO),
    "text": Lock(id="b", kind="text", version="v", variant=0, session="s", path=f"{_PRO} > p", text="$29 a month"),
    "style": Lock(id="c", kind="style", version="v", variant=0, session="s", path=f"{_PRO} > a"),
    "file": Lock(id="d", kind="file", version="v", variant=0, session="s", file="logo.svg"),
}
_SELECTORS = {"element": ".pro", "text": ".pro .price", "style": ".pro .buy"}
_FRAGMENTS = {
    "element": PAGE[PAGE.index('<article class="plan pro"') : PAGE.index('<article class="plan fleet"')].strip(),
    "text": '<p class="price" id="price">$29 a month</p>',
    "style": '<a class="buy main" href="#pro-plan">Choose Harbour master</a>',
}


class HostileEdit(msgspec.Struct, frozen=True):
    """An edit, the lock that it breaks, and what it does."""

    lock: Lock
    files: Files
    name: str


def hostile_edits(count: int, seed: int) -> list[HostileEdit]:
    """Make edits of all kinds, the same for the same seed."""
    chance = random.Random(seed)
    kinds = ("element", "element", "element", "text", "text", "text", "style", "style", "file")
    return [_make(chance, chance.choice(kinds)) for _ in range(count)]


def _make(chance: random.Random, kind: str) -> HostileEdit:
    if kind == "file":
        name, files = _alter_file(chance)
    else:
        ways: list[Callable[[random.Random, str], tuple[str, Files]]] = [_alter_style, _alter_style, _script, _cover]
        ways += [_rewrite, _rewrite] if kind != "style" else [_restyle_inside]
        name, files = chance.choice(ways)(chance, kind)
    return HostileEdit(
        LOCKS[kind], files if kind == "file" and "index.html" in files else BASE | files, f"{kind}: {name}"
    )


def _page(before: str, after: str, *, page: str = PAGE) -> Files:
    assert before in page, before
    return {"index.html": page.replace(before, after, 1).encode()}


def _declaration(chance: random.Random) -> str:
    """Return declarations that change how a part is drawn, often by very little."""
    shade = chance.choice(("#112030", "#ff0000", "#102131", "#ffffff", "transparent"))
    return chance.choice(
        (
            "display: none",
            "visibility: hidden",
            f"opacity: {chance.choice(('0', '.5', '.97'))}",
            f"color: {shade}; background: {chance.choice(('#fdf6e2', '#0b3d5d', '#eeeeee'))}",
            f"font-size: {chance.choice(('1px', '27.5px', '60px'))}; padding: 3px",
            f"letter-spacing: {chance.choice(('-3px', '.3px', '2em'))}",
            f"transform: {chance.choice(('translateX(-9999px)', 'rotate(180deg)', 'scale(.98)', 'translateY(1px)', 'scaleX(-1)'))}",
            f"filter: {chance.choice(('blur(1px)', 'brightness(.97)', 'invert(1)'))}",
            "position: absolute; left: -9999px",
            "position: fixed; top: -900px",
            f"clip-path: inset(0 0 0 {chance.randint(8, 60)}%)",
            "text-transform: uppercase; border: 1px solid red",
            "-webkit-text-security: disc; outline: 3px solid red",
            "font-family: monospace; font-weight: 900",
            "unicode-bidi: bidi-override; direction: rtl; margin-left: 2px",
            "text-indent: -9999px; overflow: hidden; padding-left: 1px",
            "zoom: .99",
            "content-visibility: hidden; height: 20px; padding: 1px",
            "mask-image: linear-gradient(black, transparent)",
            "-webkit-text-fill-color: #888888; border-left: 1px solid #888888",
            "text-decoration: line-through; text-shadow: 1px 1px 0 red; border-radius: 9px",
            "line-height: 1; margin-left: 3px; color: #112030; background: #eeeeee",
            "mix-blend-mode: difference",
            "display: contents; color: #112030; font-size: 15px",
            "width: 50%; height: 10px; overflow: hidden",
        )
    )


def _around(chance: random.Random) -> str:
    """Return the rule on an ancestor that changes what is in it."""
    ancestor = chance.choice(("body", "main", "html", ".plans", "section:has(.pro)"))
    change = chance.choice(
        (
            "opacity: .96",
            "filter: grayscale(1) contrast(.9)",
            "transform: rotate(1deg)",
            "visibility: hidden",
            "display: none",
            "zoom: .98",
            "perspective: 400px; transform: rotateY(4deg)",
            "margin-left: -2000px",
            "mix-blend-mode: exclusion; background: #777777",
        )
    )
    return f"{ancestor} {{ {change} }}"


def _condition(chance: random.Random, rule: str, selector: str) -> tuple[str, str]:
    """Return the moment at which a rule works, and the rule with it."""
    low = chance.randint(300, 1800)
    high = low + chance.randint(0, 200)
    em = low / 16
    options = (
        ("always", rule),
        ("always", rule),
        ("always", rule),
        (f"{low} to {high} px", f"@media (min-width: {low}px) and (max-width: {high}px) {{ {rule} }}"),
        (f"exactly {low} px", f"@media (width: {low}px) {{ {rule} }}"),
        (f"from {em} em", f"@media (width >= {em}em) {{ {rule} }}"),
        (f"up to {low} px", f"@media screen and (max-width: {low}px) {{ {rule} }}"),
        ("dark", f"@media (prefers-color-scheme: dark) {{ {rule} }}"),
        ("printed", f"@media print {{ {rule} }}"),
        ("much contrast", f"@media (prefers-contrast: more) {{ {rule} }}"),
        ("motion", f"@media (prefers-reduced-motion: no-preference) {{ {rule} }}"),
        ("little motion", f"@media (prefers-reduced-motion: reduce) {{ {rule} }}"),
        ("portrait", f"@media (orientation: portrait) {{ {rule} }}"),
        ("fine screens", f"@media (min-resolution: 1.5dppx) {{ {rule} }}"),
        ("supports", f"@supports (display: grid) {{ {rule} }}"),
        ("forced colours", f"@media (forced-colors: active) {{ {selector} {{ display: none }} }}"),
        ("layer", f"@layer late {{ {_important(rule)} }}"),
        ("tall windows", f"@media (min-height: {chance.randint(820, 1400)}px) {{ {rule} }}"),
        ("flat windows", f"@media (max-height: {chance.randint(300, 780)}px) {{ {rule} }}"),
    )
    return chance.choice(options)


def _important(rule: str) -> str:
    if "!important" in rule or "@keyframes" in rule:
        return rule
    return rule.replace(";", " !important;").replace(" }", " !important }")


def _place(chance: random.Random, rule: str) -> tuple[str, Files]:
    """Write a rule somewhere in the project."""
    quoted = rule.replace("\\", "\\\\").replace("`", "\\`")
    match chance.randrange(7):
        case 0:
            return "in styles.css", {"styles.css": (STYLES + rule + "\n").encode()}
        case 1:
            return "in the head", _page("</head>", f"<style>{rule}</style></head>")
        case 2:
            return "in the body", _page("</main>", f"</main><style>{rule}</style>")
        case 3:
            files = {
                "styles.css": f'@import url("theme.css");\n{STYLES}'.encode(),
                "theme.css": _important(rule).encode(),
            }
            return "in an import", files
        case 4:
            sheet = f"const sheet = new CSSStyleSheet(); sheet.replaceSync(`{quoted}`); document.adoptedStyleSheets = [sheet];"
            return "in an adopted sheet", {"app.js": (SCRIPT + sheet).encode()}
        case 5:
            made = f'const style = document.createElement("style"); style.textContent = `{quoted}`; document.head.append(style);'
            return "by a script", {"app.js": (SCRIPT + made).encode()}
        case _:
            files = _page("</head>", '<link rel="stylesheet" href="late.css" media="all"></head>')
            return "in another sheet", files | {"late.css": rule.encode()}


def _alter_style(chance: random.Random, kind: str) -> tuple[str, Files]:
    selector = _SELECTORS[kind]
    match chance.randrange(8):
        case 0:
            rule, what = _important(_around(chance)), "an ancestor"
        case 1:
            start = chance.randint(1, 95)
            frames = f"@keyframes wave {{ {start}% {{ opacity: 1 }} {start + 2}% {{ opacity: .2 }} {start + 4}% {{ opacity: 1 }} }}"
            seconds = chance.choice(("1s infinite", "90s infinite", "3s 40s", "2s 1"))
            name, files = _place(chance, f"{frames} {selector} {{ animation: wave {seconds} }}")
            return f"an animation {name}", files
        case 2:
            pointer = chance.choice(
                (f"{selector}:hover", f".plans:hover {selector}", f"body:has(.pro:hover) {selector}")
            )
            rule, what = f"{pointer} {{ {_declaration(chance)} }}", "hover"
            rule = _important(rule)
            name, files = _place(chance, rule)
            return f"{what} {rule[:60]} {name}", files
        case 3:
            side = chance.choice(("before", "after"))
            words = chance.choice(("not ", "1", "*", "from "))
            rule, what = f'{selector}::{side} {{ content: "{words}"; color: red }}', "generated words"
        case 4 if kind != "style":
            letter = chance.choice(("color: red", "font-size: 1px", "font-size: 40px"))
            holder = selector if kind == "text" else ".pro h2"
            rule, what = f"{holder}::first-{chance.choice(('letter', 'line'))} {{ {letter} }}", "the first letter"
        case _:
            rule, what = _important(f"{selector} {{ {_declaration(chance)} }}"), "a rule"
    moment, rule = _condition(chance, rule, selector)
    name, files = _place(chance, rule)
    return f"{what} {name}, {moment}: {rule[:90]}", files


def _effect(chance: random.Random, kind: str) -> str:
    """Return a line of script that alters the locked part, named `part`."""
    effects = [
        "part.style.opacity = '.4'",
        "part.remove()",
        "part.style.visibility = 'hidden'",
        "part.style.cssText = 'transform: translateX(5px)'",
        "part.parentElement.style.filter = 'invert(1)'",
        "document.body.classList.add('swapped'), document.styleSheets[0].insertRule('.swapped .pro { display: none }')",
        "part.className = 'other'",
        "part.animate([{ opacity: 1 }, { opacity: 0 }], { duration: 500, fill: 'forwards' })",
        "document.documentElement.style.zoom = '1.02'",
        "part.replaceWith(Object.assign(document.createElement('div'), { textContent: 'Sold out' }))",
    ]
    if kind != "style":
        effects += [
            "document.getElementById('price').textContent = '$39 a month'",
            "document.getElementById('price').firstChild.data = '$2\\u200b9 a month'",
            "document.getElementById('price').insertAdjacentText('beforeend', '*')",
            "document.getElementById('price').innerHTML = '$29 <s>a month</s>'",
        ]
    return chance.choice(effects)


def _script(chance: random.Random, kind: str) -> tuple[str, Files]:
    effect = (
        f"{{ const part = document.querySelector('{_SELECTORS[kind]}'); if (part) {{ {_effect(chance, kind)}; }} }}"
    )
    wait = chance.choice((0, 30, 900, 4_000, 60_000, 600_000))
    width = chance.randint(300, 1800)
    triggers = {
        "at once": effect,
        "when loaded": f"addEventListener('load', () => {effect});",
        f"after {wait} ms": f"setTimeout(() => {effect}, {wait});",
        "in an interval": f"let n = 0; setInterval(() => {{ if (++n > 3) {effect} }}, {wait or 50});",
        "in a frame": f"requestAnimationFrame(() => requestAnimationFrame(() => {effect}));",
        "when idle": f"requestIdleCallback(() => {effect});",
        "when scrolled": f"addEventListener('scroll', () => {effect});",
        "when resized": f"addEventListener('resize', () => {effect});",
        "when the pointer moves": f"document.addEventListener('mousemove', () => {effect});",
        "when really clicked": f"document.addEventListener('click', (event) => {{ if (event.isTrusted) {effect} }});",
        "on a key": f"document.onkeydown = () => {effect};",
        "when it is seen": f"new IntersectionObserver(() => {effect}).observe(document.querySelector('.faq'));",
        "next year": f"if (new Date().getFullYear() > 2026) {effect}",
        "by date": f"if (Date.now() > new Date('2027-03-01')) {effect}",
        "by chance": f"if (Math.random() < .01) {effect}",
        "at the second visit": f"if (localStorage.getItem('seen')) {effect} localStorage.setItem('seen', '1');",
        f"narrower than {width}": f"const check = () => {{ if (innerWidth < {width}) {effect} }}; check(); addEventListener('resize', check);",
        f"at {width}": f"matchMedia('(width: {width}px)').addEventListener('change', () => {effect});",
        "on touch": f"if ('ontouchstart' in window || navigator.maxTouchPoints) {effect}",
        "by a message": f"addEventListener('message', () => {effect}); postMessage('go', '*');",
        "by a promise": f"Promise.resolve().then(() => new Promise((done) => setTimeout(done, {wait}))).then(() => {effect});",
        "when hidden": f"document.addEventListener('visibilitychange', () => {effect});",
        "on focus": f"addEventListener('focusin', () => {effect}); addEventListener('focus', () => {effect});",
        "by a worker": f"new Worker(URL.createObjectURL(new Blob(['postMessage(1)']))).onmessage = () => {effect};",
        "from an attribute": "",
    }
    name = chance.choice(list(triggers))
    if name == "from an attribute":
        quoted = effect.replace("&", "&amp;").replace('"', "&quot;")
        event = chance.choice(("onload", "onmousemove", "onclick", "onscroll"))
        return f"script {event}: {effect[:110]}", _page("<body>", f'<body {event}="{quoted}">')
    wrapped = triggers[name]
    match chance.randrange(4):
        case 0:
            files = _page("</body>", f"<script>{wrapped}</script></body>")
        case 1:
            files = _page("</body>", f'<script type="module">{wrapped}</script></body>')
        case 2:
            files = _page("</body>", '<script src="extra.js" defer></script></body>') | {"extra.js": wrapped.encode()}
        case _:
            files = {"app.js": (SCRIPT + wrapped).encode()}
    return f"script {name}: {effect[60:150]}", files


def _cover(chance: random.Random, kind: str) -> tuple[str, Files]:
    size = chance.choice(
        ("inset: 0", "left: 0; top: 0; width: 1px; height: 1px", "left: 4px; top: 4px; width: 30px; height: 9px")
    )
    if kind == "text":
        size = "inset: 0"  # the words do not reach the corners of their box
    selector = _SELECTORS[kind]
    paint = chance.choice(
        ("background: white", "background: #0b3d5e", "backdrop-filter: invert(1)", "background: rgb(0 0 0 / 3%)")
    )
    match chance.randrange(6):
        case 0:
            rule = f"{selector} {{ position: relative }} {selector}::after {{ content: ''; position: absolute; {size}; {paint} }}"
            name, files = _place(chance, rule)
            return f"covered by generated content {name}", files
        case 1:
            cover = f'<div style="position: fixed; inset: 0; {paint}; z-index: 9; pointer-events: none"></div>'
            return "covered by a layer over the window", _page("</main>", f"</main>{cover}")
        case 2:
            frame = '<iframe srcdoc="<body style=background:gold>" style="position: absolute; inset: 0; width: 100%; height: 1400px; border: 0"></iframe>'
            return "covered by a frame", _page("</main>", f"</main>{frame}")
        case 3:
            cover = f'<div style="position: absolute; left: 0; top: 100px; width: 100%; height: 1200px; {paint}; pointer-events: none"></div>'
            return "covered by a block", _page("</main>", f"</main>{cover}")
        case 4:
            shape = '<svg style="position: absolute; left: 0; top: 0; pointer-events: none" width="3000" height="3000"><path d="M0 0L3000 3000M0 3000L3000 0M0 500H3000M640 0V3000" stroke="red" stroke-width="30"/></svg>'
            made = f"document.body.insertAdjacentHTML('beforeend', `{shape}`);"
            return "covered by a drawing that a script adds", {"app.js": (SCRIPT + made).encode()}
        case _:
            dialog = (
                '<dialog id="d"><p>Hello</p></dialog><style>dialog::backdrop { background: rgb(0 0 0 / 60%) }</style>'
            )
            return "behind a dialog", _page("</main>", f"</main>{dialog}<script>d.showModal()</script>")


def _rewrite(chance: random.Random, kind: str) -> tuple[str, Files]:
    """Rewrite the markup of the locked part, or around it."""
    part = _FRAGMENTS[kind]
    words = "$29 a month"
    at = chance.randrange(len(words))
    hidden = chance.choice(("\u200b", "\u200d", "\u00ad", "\u2060", "\ufeff", "\u200e"))
    changed = {
        "one letter": part.replace(words, words[:at] + chance.choice("0123456789xyz") * 2 + words[at + 1 :], 1),
        "a hidden letter": part.replace(words, words[:at] + hidden + words[at:], 1),
        "a letter that looks alike": part.replace("$29 a month", "$29 \u0430 month", 1),
        "a wider space": part.replace("$29 a month", "$29\u2003a month", 1),
        "a tag inside": part.replace("$29", "<b>$29</b>", 1),
        "another class": part.replace('class="', 'class="alt ', 1)
        .replace("plan pro", "plan", 1)
        .replace("price", "cost", 1),
        "nothing": "",
        "a comment": f"<!-- {part} -->",
        "a template": f"<template>{part}</template>",
        "a frame": f'<iframe srcdoc="{part.replace(chr(34), "&quot;")}"></iframe>',
        "closed details": f"<details><summary>More</summary>{part}</details>",
        "a hidden parent": f'<div style="{chance.choice(("display: none", "opacity: .9", "height: 0; overflow: hidden", "position: absolute; top: -3000px"))}">{part}</div>',
        "a shadow root": f'<div><template shadowrootmode="open">{part}</template></div>',
        "an inert parent": f'<div inert aria-hidden="true" style="flex: 1; opacity: .99">{part}</div>',
        "a picture": '<svg width="300" height="60"><text y="30">$29 a month</text></svg>',
        "a noscript": f"<noscript>{part}</noscript>",
        "a copy that is shown instead": part.replace("$29", "$39", 1)
        + f'<div style="position: absolute; left: -5000px">{part}</div>',
        "the same id twice": part.replace("$29", "$49", 1).replace("Harbour master", "Harbor master", 1)
        + f"<div hidden>{part}</div>",
        "a different language": part.replace("a month", "im Monat", 1),
        "a script in it": part.replace(words, "<script>document.write('$29 a mont' + 'h!')</script>", 1),
    }
    name = chance.choice(
        [*changed, "moved to the end", "moved to the top", "pushed down", "remote", "refresh", "a font"]
    )
    match name:
        case "moved to the end":
            page = PAGE.replace(part, "", 1).replace("</footer>", f"</footer>{part}", 1)
            return name, {"index.html": page.encode()}
        case "moved to the top":
            page = PAGE.replace(part, "", 1).replace('<section class="hero">', f'{part}<section class="hero">', 1)
            return name, {"index.html": page.encode()}
        case "pushed down":
            space = chance.choice(
                ('<div style="height: 9000px"></div>', '<p style="margin: 0; padding: 3000px 0 0"></p>')
            )
            return name, _page('<section class="plans"', f'{space}<section class="plans"')
        case "remote":
            tag = chance.choice(
                (
                    '<link rel="stylesheet" href="https://cdn.bad.example/x.css">',
                    '<script src="https://cdn.bad.example/x.js"></script>',
                )
            )
            return f"remote {tag[:9]}", _page("</head>", f"{tag}</head>")
        case "refresh":
            return name, _page("</head>", '<meta http-equiv="Refresh" content="20; url=other.html"></head>') | {
                "other.html": PAGE.replace("$29", "$79").encode()
            }
        case "a font":
            rule = f"@font-face {{ font-family: swapped; src: local('DejaVu Serif'), local('Liberation Serif'), local('Georgia') }} {_SELECTORS[kind]} {{ font-family: swapped, serif; font-style: italic }}"
            where, files = _place(chance, rule)
            return f"a font {where}", files
        case _:
            return f"now {name}", _page(part, changed[name])


def _restyle_inside(chance: random.Random, _: str) -> tuple[str, Files]:
    """Change the style of a part whose words may change: wrap them, or draw something with them."""
    words = "Choose Harbour master"
    style = chance.choice(
        (
            "color: gold",
            "font-size: 15px",
            "opacity: .8",
            "text-decoration: underline",
            "background: #0b3d6c",
            "font-weight: 700",
        )
    )
    wrapped = f'<{(tag := chance.choice(("span", "b", "i", "em", "mark")))} style="{style}">{chance.choice((words, "Take it"))}</{tag}>'
    return f"words in {tag} with {style}", _page(f">{words}<", f">{wrapped}<")


def _alter_file(chance: random.Random) -> tuple[str, Files]:
    at = chance.randrange(len(LOGO))
    options = {
        "one byte": LOGO[:at] + chr(ord(LOGO[at]) ^ 1) + LOGO[at + 1 :],
        "a line end": LOGO.replace("\n", "\r\n"),
        "a space": LOGO[:at] + " " + LOGO[at:],
        "a mark at the start": "\ufeff" + LOGO,
        "empty": "",
        "an entity": LOGO.replace("circle", "ellipse"),
    }
    name = chance.choice([*options, "deleted", "renamed"])
    if name in options:
        return name, {"logo.svg": options[name].encode()}
    files = {path: data for path, data in BASE.items() if path != "logo.svg"}
    return name, files | ({"Logo.svg": LOGO.encode()} if name == "renamed" else {})


def harmless_edits() -> dict[str, Files]:
    """Changes that keep what is locked, by what they do."""
    notice = (
        '<aside style="padding: 12px 32px; background: #fff4d6">Free harbour maps this week, for every plan.</aside>'
    )
    return {
        "another text": BASE | _page("Know the water", "See the water"),
        "another card": BASE | _page("$99 a month", "$119 a month"),
        "a new section": BASE
        | _page("</main>", "<section class='faq'><h2>Contact</h2><p>Write to us.</p></section></main>"),
        "a notice above": BASE | _page("<main>", f"{notice}<main>"),
        "another footer": BASE | {"styles.css": (STYLES + ".foot { background: #333333 }").encode()},
        "a script elsewhere": BASE
        | {"app.js": (SCRIPT + "document.querySelector('.foot p').textContent += ', Norway';").encode()},
        "a narrow hero": BASE
        | {"styles.css": (STYLES + "@media (max-width: 900px) { .hero { color: #0b3d5c } }").encode()},
        "an animation elsewhere": BASE
        | {"styles.css": (STYLES + "@keyframes in { from { opacity: 0 } } .hero h1 { animation: in 1s }").encode()},
        "a new file": BASE | {"about.html": b"<!doctype html><title>About</title><p>About us"},
        "no change": dict(BASE),
    }
