"""Generates realistic pages from templates: `make_page(name)` is the HTML of one.

`OPEN` may be looked at while a converter is being improved. `SEALED` are measured only, at the end: nobody looks at
their pictures or at the lines that a converter lost on them.
"""
# ruff: noqa: E501

import zlib
from collections.abc import Callable
from random import Random

from benchmarks.pages import made_sections as part
from benchmarks.pages.made_sections import Look, Sheet
from benchmarks.pages.made_words import LANGUAGES

Section = Callable[[Sheet], str]
_FONTS = {
    "inter": "Inter,sans-serif",
    "lato": "Lato,sans-serif",
    "merriweather": "Merriweather,serif",
    "sans": '"Liberation Sans",Arial,sans-serif',
    "noto": '"Noto Sans",sans-serif',
    "serif": '"Liberation Serif",serif',
    "wide": '"DejaVu Sans",sans-serif',
}
_WEB = ("inter", "lato", "merriweather")
_LIGHT = (
    ("#ffffff", "#111827", "#6b7280", "#1d4ed8", "#ffffff", "#f3f4f6", "#e5e7eb"),
    ("#fffdf8", "#292524", "#6f665f", "#b45309", "#ffffff", "#f5efe6", "#e7ddcf"),
    ("#ffffff", "#0b2545", "#5b6b82", "#0f766e", "#ffffff", "#eef6f5", "#d5e3e1"),
    ("#f8fafc", "#1e293b", "#64748b", "#be123c", "#ffffff", "#ffffff", "#e2e8f0"),
)
_DARK = (
    ("#0b1020", "#e5e7eb", "#94a3b8", "#818cf8", "#0b1020", "#151b30", "#27304a"),
    ("#18181b", "#fafafa", "#a1a1aa", "#34d399", "#052e1c", "#242428", "#3f3f46"),
)

_KINDS: dict[str, tuple[Section, ...]] = {
    "news": (part.nav, part.hero_photo, part.news, part.photo_cards, part.footer),
    "shop": (part.notice, part.nav, part.products, part.banner, part.products, part.footer),
    "docs": (part.nav, part.docs),
    "dashboard": (part.nav, part.metrics, part.table),
    "landing": (part.nav, part.hero_gradient, part.features, part.quotes, part.prices, part.footer, part.cookies),
    "form": (part.nav, part.form, part.footer),
    "table": (part.nav, part.table, part.notice, part.footer),
    "travel": (part.nav, part.hero_photo, part.photo_cards, part.features, part.cookies),
    "phone": (part.nav, part.hero_photo, part.products, part.news, part.footer),
    "about": (part.nav, part.hero_split, part.banner, part.quotes, part.article, part.footer),
}

_MADE = """
news-inter en inter light|news-noto de noto light|shop-lato en lato light|shop-dark en sans dark|docs-inter en inter light
dashboard-dark en inter dark|landing-inter en inter light|landing-ru ru noto light|form-lato de lato light
table-noto en noto light|travel-merriweather en merriweather light|travel-zh zh noto light|phone-sans en sans light
about-ar ar noto light|phone-ru ru sans light|about-ja ja noto dark
"""
_HIDDEN = """
news-lato en lato light|news-ru ru noto light|news-zh zh noto light|shop-inter de inter light|shop-ja ja noto light
docs-merriweather en merriweather light|docs-dark de sans dark|dashboard-noto en noto light|dashboard-ru ru wide dark
landing-lato de lato light|landing-zh zh noto dark|landing-serif en serif light|form-inter en inter light
form-ru ru noto dark|table-inter de inter light|table-ar ar noto light|travel-inter en inter light|travel-ko ko noto light
travel-de de noto dark|phone-inter en inter light|phone-zh zh noto light|about-lato en lato light|about-ru ru inter light
news-ar ar noto light|shop-merriweather en merriweather light|dashboard-ko ko noto light
"""


def _read(table: str) -> dict[str, tuple[str, str, str]]:
    rows = (line.split() for line in table.replace("\n", "|").split("|") if line.strip())
    return {name: (code, font, shade) for name, code, font, shade in rows}


OPEN, SEALED = _read(_MADE), _read(_HIDDEN)


def is_narrow(name: str) -> bool:
    return name.startswith("phone-")


def make_page(name: str) -> str:
    """Return the HTML of a page; the same name gives the same page."""
    code, font, shade = {**OPEN, **SEALED}[name]
    dice = Random(zlib.crc32(name.encode()))
    colours = dice.choice(_DARK if shade == "dark" else _LIGHT)
    look = Look(*colours, _FONTS[font], dice.choice((15, 16, 17)), dice.choice((0, 6, 12)))
    sheet = Sheet(dice, LANGUAGES[code], look, is_narrow(name))
    body = "\n".join(section(sheet) for section in _KINDS[name.partition("-")[0]])
    side = ' dir="rtl"' if sheet.words.leftward else ""
    return f"""<!doctype html>
<html lang="{code}"{side}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title>
<style>
{_faces(font)}{_style(look)}
</style>
</head>
<body>
{body}
</body></html>
"""


def _faces(font: str) -> str:
    """Return the rules of a web font (SIL Open Font License), in two scripts and two weights."""
    if font not in _WEB:
        return ""
    rules: list[str] = []
    for script, span in (("latin", "U+0000-00FF,U+2000-206F,U+20AC"), ("cyrillic", "U+0400-045F,U+0490-0491")):
        for weight in (400, 700):
            file = f"{font}-{script}-{weight}-normal.woff2"
            if (part.TOOLS / "@fontsource" / font / "files" / file).is_file():
                rules.append(
                    f"@font-face{{font-family:{font.title()};font-weight:{weight};unicode-range:{span};"
                    f"src:url(../tools/node_modules/@fontsource/{font}/files/{file}) format('woff2')}}\n"
                )
    return "".join(rules)


def _style(k: Look) -> str:
    return f"""*{{box-sizing:border-box}}body{{margin:0;font:{k.size}px/1.55 {k.font};color:{k.ink};background:{k.ground}}}
a{{color:inherit;text-decoration:none}}p{{margin:0 0 14px}}h1{{font-size:40px;line-height:1.15;margin:0 0 16px}}
h2{{font-size:27px;line-height:1.2;margin:0 0 20px}}h3{{font-size:18px;line-height:1.3;margin:0 0 8px}}img{{width:100%;object-fit:cover;display:block;border-radius:{k.radius}px}}
small{{font-size:13px;color:{k.soft}}}.accent{{color:{k.accent}}}.link{{color:{k.accent};text-decoration:underline}}
.bar{{display:flex;align-items:center;gap:20px;padding:16px 32px;flex-wrap:wrap}}.bar nav{{display:flex;gap:22px;font-size:15px}}.brand{{font-size:20px}}.push{{flex:1}}
input,select,textarea{{font:inherit;font-size:15px;color:{k.ink};background:{k.panel};border:1px solid {k.line};border-radius:{min(k.radius, 8)}px;padding:9px 12px;width:100%}}
::placeholder{{color:{k.soft};opacity:1}}.bar input{{width:220px}}input[type=checkbox]{{width:16px;height:16px;padding:0;flex:none}}
label{{display:block;font-size:14px;margin-bottom:14px}}label input,label select,label textarea{{margin-top:6px}}.check{{display:flex;gap:10px;align-items:center}}.check input{{margin:0}}
.notice{{margin:0;padding:9px 32px;text-align:center;font-size:13px;background:{k.accent};color:{k.on_accent}}}
.over{{padding:56px 64px;color:#fff;display:flex;flex-direction:column;justify-content:center}}.over p{{max-width:620px;font-size:18px}}
.button,.ghost{{display:inline-block;border:0;font:inherit;font-size:15px;font-weight:700;background:{k.accent};color:{k.on_accent};padding:11px 22px;border-radius:{k.radius}px}}
.ghost{{background:transparent;color:#fff;border:1px solid #fff;padding:10px 21px}}.row{{display:flex;gap:12px;align-items:center;margin:8px 0}}
.tag{{font-size:13px;background:rgba(255,255,255,.16);border-radius:99px;padding:4px 14px;margin-bottom:18px}}
.wrap{{max-width:1160px;margin:0 auto;padding:44px 32px}}.card{{background:{k.panel};border:1px solid {k.line};border-radius:{k.radius}px;padding:24px}}.card p:last-child{{margin-bottom:0}}.best{{border:2px solid {k.accent}}}
.card svg{{color:{k.accent};margin-bottom:10px;max-width:100%}}.row svg{{margin:0;flex:none}}.figure{{font-size:34px;font-weight:700;margin:4px 0}}.face{{width:44px;height:44px;border-radius:50%}}
.shot{{min-height:240px;padding:20px;color:#fff;display:flex;flex-direction:column;justify-content:flex-end;align-items:flex-start;border-radius:{k.radius}px}}.shot strong{{font-size:19px}}.shot small{{color:#e5e7eb}}
.chip{{font-size:12px;background:{k.accent};color:{k.on_accent};padding:2px 10px;border-radius:99px;margin-bottom:auto}}
.item{{position:relative}}.item img{{margin-bottom:12px}}.badge{{position:absolute;top:10px;left:10px;background:#b91c1c;color:#fff;font-size:12px;font-weight:700;padding:3px 8px;border-radius:4px}}
.stars{{display:flex;align-items:center;gap:2px;color:#d97706;margin-bottom:8px}}.item s{{color:{k.soft}}}
.news article{{display:flex;gap:16px;margin-bottom:8px}}.news img{{flex:none}}.text{{max-width:820px}}.text p,.text li{{line-height:1.65}}
pre{{background:#0f172a;color:#e2e8f0;font:14px/1.6 "DejaVu Sans Mono",monospace;padding:18px;border-radius:8px;direction:ltr;text-align:left;overflow:hidden}}
blockquote{{margin:20px 0;padding:4px 20px;border-inline-start:4px solid {k.accent};color:{k.soft}}}
.docs{{display:flex}}.docs aside{{width:240px;padding:32px 24px;border-inline-end:1px solid {k.line};display:flex;flex-direction:column;gap:12px;font-size:14px;color:{k.soft}}}
table{{width:100%;border-collapse:collapse;font-size:14px}}th,td{{text-align:start;padding:11px 10px;border-bottom:1px solid {k.line}}}th{{color:{k.soft};font-weight:700}}.state{{border-radius:99px;padding:2px 10px;font-size:12px}}
.banner{{padding:48px 64px;min-height:200px}}.banner h2,.banner p{{max-width:480px}}
.cookies{{display:flex;gap:14px;align-items:center;padding:16px 32px;font-size:14px;box-shadow:0 -4px 18px rgba(0,0,0,.18)}}.cookies p{{margin:0;max-width:640px}}
footer{{background:{k.panel};border-top:1px solid {k.line};font-size:14px}}footer div div{{min-width:150px}}footer div div a{{display:block;margin-top:8px;color:{k.soft}}}"""
