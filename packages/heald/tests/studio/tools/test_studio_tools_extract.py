"""`extract_assets`: parts of the given picture become files, under names that stay in their folder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageChops, ImageDraw

from heald.tools.workspace.paths import is_protected, normalize_path
from heald_pictures.rect import Rect
from heald_studio.tools.assets import asset_name, asset_names
from heald_studio.tools.screen_regions import Region, ScreenRegions, match_region
from heald_studio.tools.trimming import trim_box
from studio_tools_support import call, design, finder, pictures_in, png, ran

TARGET = png(design())


async def test_a_box_is_cut_out_exactly() -> None:
    done = await ran(
        call("extract_assets", assets=[{"name": "photo", "box": [100, 120, 300, 200]}]), find=finder([TARGET])
    )
    assert done.changed == ["assets/photo.png"]
    cut = done.picture("assets/photo.png").convert("RGB")
    assert ImageChops.difference(cut, design().crop((100, 120, 400, 320))).getbbox() is None
    assert "assets/photo.png: 300 × 200 px, from (100, 120)" in done.result.text
    assert len(pictures_in(done.result)) == 1


async def test_parts_of_the_size_and_other_scales_mean_the_same() -> None:
    boxes = [{"name": "part", "box": [0.125, 0.2, 0.375, 1 / 3]}]
    half = [{"name": "half", "box": [50, 60, 150, 100]}]
    done = await ran(
        call("extract_assets", assets=boxes), call("extract_assets", assets=half, seen_width=400), find=finder([TARGET])
    )
    assert done.picture("assets/part.png").tobytes() == done.picture("assets/half.png").tobytes()


async def test_trimmed_and_freed_from_its_background() -> None:
    assets = [{"name": "logo", "box": [5, 2, 90, 56], "trim": True, "transparent": True}]
    done = await ran(call("extract_assets", assets=assets), find=finder([TARGET]))
    logo = done.picture("assets/logo.png")
    assert logo.mode == "RGBA"
    assert (logo.width, logo.height) == (41, 41)
    assert logo.getpixel((0, 0)) == (0, 0, 0, 0)
    assert logo.getpixel((20, 20)) == (200, 40, 40, 255)


@pytest.mark.parametrize("box", [[90, 110, 320, 220], [108, 126, 284, 186], [96, 128, 296, 204]])
def test_a_box_that_is_about_right_is_moved_to_the_edges(box: list[int]) -> None:
    page = Image.new("RGB", (800, 600), "white")
    pen = ImageDraw.Draw(page)
    pen.rectangle((100, 120, 399, 319), fill=(40, 90, 60))
    pen.ellipse((150, 150, 300, 300), fill="white")
    pen.text((100, 330), "A line of text that is near", fill="black")
    x, y, w, h = box
    assert trim_box(page, (x, y, x + w, y + h)) == (100, 120, 400, 320)


def test_a_box_in_the_midst_of_a_photograph_stays_as_it_is() -> None:
    photo = Image.effect_noise((300, 300), 90).convert("RGB")
    assert trim_box(photo, (50, 50, 200, 200)) == (50, 50, 200, 200)
    assert trim_box(Image.new("RGB", (300, 300), "white"), (50, 50, 200, 200)) == (50, 50, 200, 200)
    assert trim_box(photo, (0, 0, 300, 300)) == (0, 0, 300, 300)


async def test_names_from_a_model_stay_in_the_folder() -> None:
    names = [
        "../../../app/static/poc.js",
        "/etc/passwd",
        "a\\..\\b.png",
        ".git/config",
        "x/../../y.jpg",
        "…",
        "ok.webp",
    ]
    crops = [{"name": name, "box": [100, 120, 20, 20]} for name in names]
    done = await ran(call("extract_assets", assets=crops), find=finder([TARGET]))
    assert done.result.status == "ok"
    assert sorted(done.changed) == sorted(
        [
            "assets/poc.png",
            "assets/passwd.png",
            "assets/b.png",
            "assets/config.png",
            "assets/y.jpg",
            "assets/picture.png",
            "assets/ok.webp",
        ]
    )
    assert done.picture("assets/y.jpg").format == "JPEG"
    assert done.picture("assets/ok.webp").format == "WEBP"


@given(st.text(max_size=300))
def test_any_name_is_one_plain_component(name: str) -> None:
    plain = asset_name(name)
    assert normalize_path(f"assets/{plain}") == f"assets/{plain}"
    assert "/" not in plain
    assert len(plain) < 80
    assert not is_protected(f"assets/{plain}")
    assert plain.endswith((".png", ".jpg", ".jpeg", ".webp"))


@given(st.lists(st.sampled_from(["a", "A", "a.png", "b.jpg", "", "a-2"]), max_size=12))
def test_no_two_files_have_one_name(names: list[str]) -> None:
    lowered = [name.lower() for name in asset_names(names)]
    assert len(set(lowered)) == len(lowered) == len(names)


async def test_what_fails_does_not_keep_the_others_from_being_cut() -> None:
    crops = [{"name": "out", "box": [900, 10, 20, 20]}, {"name": "in", "box": [0, 0, 20, 20]}]
    done = await ran(call("extract_assets", assets=crops), find=finder([TARGET]))
    assert done.result.status == "ok"
    assert done.changed == ["assets/in.png"]
    assert "Not cut out: out: the box lies outside the picture, which is 800 × 600 px." in done.result.text


async def test_a_project_with_a_bundler_keeps_them_where_it_serves_them() -> None:
    done = await ran(
        call("extract_assets", assets=[{"name": "a", "box": [0, 0, 9, 9]}]), find=finder([TARGET], "react_vite")
    )
    assert done.changed == ["public/assets/a.png"]
    assert "- /assets/a.png:" in done.result.text


@pytest.mark.parametrize(
    ("targets", "sentence"),
    [
        ([], "No picture was given for this design"),
        ([b"GIF89 broken"], "The given picture is not a picture that can be read"),
    ],
)
async def test_without_a_picture_it_is_one_sentence(targets: list[bytes], sentence: str) -> None:
    done = await ran(call("extract_assets", assets=[{"name": "a", "box": [0, 0, 9, 9]}]), find=finder(targets))
    assert done.result.status == "error"
    assert sentence in done.result.text


async def test_pictures_are_found_where_none_are_named() -> None:
    done = await ran(call("extract_assets"), find=finder([TARGET]))
    assert done.result.status == "ok"
    sizes = [done.picture(path).size for path in done.changed]
    assert any(abs(width - 300) <= 8 and abs(height - 200) <= 8 for width, height in sizes), sizes


async def test_a_description_finds_its_picture() -> None:
    crops = [{"name": "hero", "description": "the large photo"}, {"name": "unicorn", "description": "zebra crossing"}]
    done = await ran(call("extract_assets", assets=crops), find=finder([TARGET]))
    width, height = done.picture("assets/hero.png").size
    assert abs(width - 300) <= 8
    assert abs(height - 200) <= 8
    assert "no picture fits this description; there are: " in done.result.text


# --- which one is meant ----------------------------------------------------------------------------------------------


def region(x: float, y: float, w: float, h: float, kind: str = "photo", words: str = "") -> Region:
    return Region(Rect(x, y, w, h), kind, frozenset(words.split()))


LOGO = region(20, 10, 40, 40, "icon")
HERO = region(0, 100, 1000, 400, "photo", "welcome harbour")
MUG = region(50, 600, 200, 200, "photo", "blue mug price")
POT = region(300, 600, 200, 200, "photo", "red teapot price")
CLOCK = region(550, 600, 200, 200, "photo", "wall clock price")
SIGHT = ScreenRegions((LOGO, HERO, MUG, POT, CLOCK), (1000, 1000))


@pytest.mark.parametrize(
    ("description", "meant"),
    [
        ("logo in the header", LOGO),
        ("hero image", HERO),
        ("photo of the red teapot", POT),
        ("blue mug", MUG),
        ("picture of the clock", CLOCK),
        ("something else entirely", None),
    ],
)
def test_a_description_is_matched_by_place_kind_and_words_nearby(description: str, meant: Region | None) -> None:
    assert match_region(SIGHT, description) is meant


def test_nothing_is_chosen_where_nothing_was_seen() -> None:
    assert match_region(ScreenRegions((), (100, 100)), "logo") is None


def test_the_sheet_shows_all(tmp_path: object) -> None:
    from heald_studio.tools.assets import contact_sheet

    sheet = contact_sheet([(f"picture {number}.png", Image.new("RGB", (90, 30), "red")) for number in range(9)])
    assert sheet.startswith(b"\x89PNG")
