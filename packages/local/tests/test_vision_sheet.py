"""The style sheet of a page: what is shared has a class, a section has an id, and links lead to sections."""

import re
from collections import Counter

from heald_local.arrange.page import arrange
from heald_local.links import link_pages
from heald_local.write.stacks import write_files
from heald_pictures.elements import Detection
from vision_pages import box, seen, text


def _landing() -> Detection:
    parts = [text(80, 20, "Harbour", 20, 700), text(600, 22, "Prices", 15), text(700, 22, "Journal", 15)]
    parts += [text(800, 22, "Opening hours", 15), text(80, 180, "Every harbour has a story", 48, 700)]
    parts.append(text(80, 260, "We check every delivery twice and answer letters on the same day.", 18))
    for at, heading in enumerate(("Simple prices for all", "What changed this season")):
        top = 420 + 400 * at
        parts.append(text(80, top, heading, 30, 700))
        for x in (80, 470, 860):
            parts += [box(x, top + 80, 340, 160, "#f3f4f6", border=True, radius=12)]
            parts += [
                text(x + 24, top + 104, f"Card {x} {at}", 18, 700),
                text(x + 24, top + 144, f"Some words {x}", 14),
            ]
    return seen(*parts, height=1400)


def test_sections_have_ids_that_links_lead_to() -> None:
    html = str(write_files(arrange(_landing()))["index.html"])
    assert re.findall(r'<section[^>]* id="([^"]+)"', html) == ["hero", "simple-prices", "what-changed"]
    assert re.search(r'<a[^>]* href="#simple-prices"[^>]*>Prices</a>', html)
    assert re.search(r'<a[^>]* href="#"[^>]*>Opening hours</a>', html)


def test_a_page_of_that_name_is_nearer_than_a_section() -> None:
    html = str(write_files(arrange(_landing()))["index.html"])
    linked = link_pages(html, ["index.html", "prices.html"])
    assert re.search(r'<a[^>]* href="prices.html"[^>]*>Prices</a>', linked)


def test_what_repeats_shares_classes_and_all_have_a_rule() -> None:
    html = str(write_files(arrange(_landing()))["index.html"])
    used = Counter(name for names in re.findall(r' class="([^"]*)"', html) for name in names.split())
    assert used["card"] == 6
    assert len(used) <= 20
    sheet = html.partition("</style>")[0]
    assert {name for name in used if f".{name}" not in sheet} == set()
    assert not [name for name in used if re.search(r"\d{3}", name)]
