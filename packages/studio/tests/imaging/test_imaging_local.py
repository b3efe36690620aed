"""What is done on this machine: placeholders, plain changes, cutting out, and the choice of a provider."""

import io
from contextlib import suppress

import numpy as np
import pytest
from imaging_support import KEY, noise
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from heald_studio.imaging.adjust import adjust_picture
from heald_studio.imaging.caption_font import find_font, fit_text
from heald_studio.imaging.cutout import CutoutError, cut_out, is_flat
from heald_studio.imaging.gemini import GeminiImages
from heald_studio.imaging.images import ImageMaker
from heald_studio.imaging.motifs import MOTIFS
from heald_studio.imaging.openai import OpenAIImages
from heald_studio.imaging.palette import Palette, extract_palette
from heald_studio.imaging.placeholder import choose_motif, draw_placeholder, has_caption
from heald_studio.imaging.provider import ImageRequest, nearest_ratio
from heald_studio.imaging.raster import decode_picture, encode_picture, resize_to_cover
from heald_studio.imaging.replicate import ReplicateImages

# --- placeholders ----------------------------------------------------------------------------------------------------


def test_every_motif_draws_at_every_size() -> None:
    for words, *_ in MOTIFS:
        for size in ((16, 16), (300, 40), (40, 300), (640, 480)):
            for transparent in (False, True):
                request = ImageRequest(prompt=min(words), width=size[0], height=size[1], transparent=transparent)
                drawn = draw_placeholder(request, Palette())
                assert drawn.size == size
                assert drawn.mode == ("RGBA" if transparent else "RGB")
                colours = drawn.getcolors(1 << 20)
                assert colours is None or len(colours) > 1, (min(words), size)


def test_the_same_words_always_give_the_same_drawing() -> None:
    request = ImageRequest(prompt="Boats in the harbour", width=320, height=200)
    assert draw_placeholder(request, Palette()).tobytes() == draw_placeholder(request, Palette()).tobytes()
    other = draw_placeholder(ImageRequest(prompt="Boats on the lake", width=320, height=200), Palette())
    assert draw_placeholder(request, Palette()).tobytes() != other.tobytes()


def test_the_subject_and_that_it_is_a_placeholder_stand_on_it() -> None:
    request = ImageRequest(prompt="xyz", width=400, height=300)
    assert has_caption(request)
    blank = draw_placeholder(ImageRequest(prompt="xyz", width=400, height=300, transparent=True), Palette())
    assert not has_caption(ImageRequest(prompt="xyz", width=60, height=60))
    drawn = draw_placeholder(request, Palette())
    band = np.asarray(drawn.crop((100, 255, 300, 300)).convert("L"))
    assert int(band.max()) - int(band.min()) > 100
    assert blank.getpixel((0, 299)) != drawn.getpixel((0, 299))


def test_words_find_their_motif() -> None:
    names = {prompt: choose_motif(prompt)[0].__name__ for prompt in ("Two cups of coffee", "Team portraits", "qwerty")}
    assert names == {"Two cups of coffee": "cup", "Team portraits": "person", "qwerty": "abstract"}


@pytest.mark.parametrize("text", ["Hello", "写真", "שלום", "\u202e evil", "a" * 500, "", "👍"])
def test_any_text_can_be_written(text: str) -> None:
    font = find_font(text, 16)
    assert font.getlength(fit_text(text, font, 100)) <= 100


def test_the_colours_are_those_of_the_page() -> None:
    page = Image.new("RGB", (200, 200), (250, 250, 245))
    ImageDraw.Draw(page).rectangle((0, 0, 200, 40), fill=(200, 30, 60))
    out = io.BytesIO()
    page.save(out, "PNG")
    palette = extract_palette([out.getvalue()], {})
    assert palette.ground == (250, 250, 245)
    assert palette.accents[0] == (200, 30, 60)
    styled = extract_palette([b"broken"], {"a.css": b"a{color:#0a7;background:#101820} b{background:#101820}"})
    assert (styled.ground, styled.accents[0]) == ((16, 24, 32), (0, 170, 119))
    assert extract_palette([], {}) == Palette()


# --- plain changes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("instruction", "done"),
    [
        ("make it black and white", ("black and white",)),
        ("Blur it a bit, then rotate 90 degrees left", ("blurred", "rotated by 90° left")),
        ("flip horizontally", ("mirrored",)),
        ("flip it vertically", ("turned upside down",)),
        ("resize to 60x30", ("60 × 30 px, cut to fit",)),
        ("crop it to 5000 x 50", ("2048 × 50 px, cut to fit",)),
        ("make it square", ("square, 40 × 40 px",)),
        ("tint it with #ff0000", ("tinted #ff0000",)),
        ("tint blue", ("tinted blue",)),
        ("tint nonsense", ()),
        ("rounded corners please", ("corners rounded by 4 px",)),
        ("crop to a circle", ("cut to a circle",)),
        ("more contrast and less saturation", ("more contrast", "less saturation")),
        ("brighter", ("brighter by a quarter",)),
        ("darken the picture", ("darker by a quarter",)),
        ("sharpen and invert", ("sharpened", "colours inverted")),
        ("add a cat", ()),
        ("turn the sky into a sunset", ()),
        ("remove the turnip", ()),
        ("", ()),
    ],
)
def test_plain_words_are_understood_and_no_others(instruction: str, done: tuple[str, ...]) -> None:
    for mode in ("RGB", "RGBA"):
        picture = noise((80, 40)).convert(mode)
        result = adjust_picture(picture, instruction)
        assert result.done == done
        assert (result.picture is picture) == (not done)


def test_transparency_survives_a_change_of_colour() -> None:
    picture = Image.new("RGBA", (10, 10), (200, 10, 10, 77))
    assert adjust_picture(picture, "grayscale").picture.getchannel("A").getextrema() == (77, 77)


# --- cutting out -----------------------------------------------------------------------------------------------------


def test_a_disc_on_white_is_cut_out_and_unmixed() -> None:
    big = Image.new("RGB", (800, 600), "white")
    ImageDraw.Draw(big).ellipse((200, 100, 600, 500), fill=(30, 90, 200))
    disc = big.reduce(4)
    assert is_flat(disc)
    cut = cut_out(disc)
    assert cut.how == "flat"
    assert cut.picture.getpixel((0, 0)) == (0, 0, 0, 0)
    assert cut.picture.getpixel((100, 75)) == (30, 90, 200, 255)
    alpha = np.asarray(cut.picture.getchannel("A"))
    assert ((alpha > 20) & (alpha < 235)).sum() > 50
    # On the old background it is the old picture; on any other no white shows at its edge.
    white = Image.new("RGBA", disc.size, "white")
    composed = Image.alpha_composite(white, cut.picture).convert("RGB")
    assert np.abs(np.asarray(composed).astype(int) - np.asarray(disc)).max() <= 16
    black = Image.alpha_composite(Image.new("RGBA", disc.size, "black"), cut.picture).convert("RGB")
    assert int(np.asarray(black)[..., 0].max()) <= 40


def test_the_inside_of_letters_is_background_too() -> None:
    logo = Image.new("RGB", (120, 60), (20, 60, 110))
    ImageDraw.Draw(logo).ellipse((20, 5, 70, 55), outline="white", width=8)
    cut = cut_out(logo).picture
    assert cut.getpixel((45, 30)) == (0, 0, 0, 0)
    assert cut.getpixel((24, 30)) == (255, 255, 255, 255)


def test_a_subject_before_many_colours_is_guessed_without_holes() -> None:
    busy = noise((30, 20)).resize((300, 200), Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(busy)
    pen.ellipse((100, 40, 200, 160), fill=(210, 40, 30))
    pen.rectangle((140, 90, 160, 110), fill=(120, 120, 120))
    busy = busy.filter(ImageFilter.GaussianBlur(0.6))
    assert not is_flat(busy)
    cut = cut_out(busy)
    assert cut.how == "guessed"
    alpha = np.asarray(cut.picture.getchannel("A")) > 127
    truth = Image.new("L", busy.size, 0)
    ImageDraw.Draw(truth).ellipse((100, 40, 200, 160), fill=255)
    expected = np.asarray(truth) > 127
    assert (alpha & expected).sum() / (alpha | expected).sum() > 0.9
    assert alpha[100, 150]


def test_what_the_subject_encloses_stays_with_it() -> None:
    sky = np.linspace((40, 90, 200), (190, 220, 250), 200).astype(np.uint8)
    picture = Image.fromarray(np.broadcast_to(sky[:, None], (200, 300, 3)).copy())
    pen = ImageDraw.Draw(picture)
    pen.ellipse((80, 30, 220, 170), fill=(200, 40, 30))
    pen.ellipse((110, 55, 130, 75), fill=(90, 130, 215))
    cut = cut_out(picture)
    assert cut.how == "guessed"
    alpha = np.asarray(cut.picture.getchannel("A"))
    assert alpha[65, 120] > 200
    assert alpha[150, 150] > 200
    assert alpha[10, 10] == alpha[190, 290] == 0


def test_what_cannot_be_cut_states_why() -> None:
    with pytest.raises(CutoutError, match="No subject stands out"):
        cut_out(Image.new("RGB", (50, 50), "white"))
    with pytest.raises(CutoutError, match="transparent background already"):
        cut_out(Image.new("RGBA", (50, 50), (0, 0, 0, 0)))


@pytest.mark.parametrize("size", [(1, 1), (2, 9), (9, 2), (16, 16)])
def test_very_small_pictures_break_nothing(size: tuple[int, int]) -> None:
    for picture in (Image.new("RGB", size, "red"), noise(size)):
        with suppress(CutoutError):
            assert cut_out(picture).picture.size == size


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "kind"), [("a.png", "PNG"), ("a.JPG", "JPEG"), ("a.webp", "WEBP"), ("a.x", "PNG")])
def test_files_are_of_the_kind_that_their_name_states(path: str, kind: str) -> None:
    for mode in ("RGB", "RGBA"):
        data = encode_picture(noise((20, 20)).convert(mode), path, "Grüße, 写真")
        assert Image.open(io.BytesIO(data)).format == kind
        assert decode_picture(data).size == (20, 20)


def test_covering_keeps_the_proportions() -> None:
    picture = Image.new("RGB", (400, 200), "white")
    ImageDraw.Draw(picture).ellipse((150, 50, 250, 150), fill="black")
    square = resize_to_cover(picture, 100, 100)
    box = ImageChops.invert(square.convert("L")).getbbox()
    assert box is not None
    assert abs((box[2] - box[0]) - (box[3] - box[1])) <= 1


def test_the_nearest_proportions_are_chosen() -> None:
    offered = ("1:1", "16:9", "9:16", "4:3")
    assert [nearest_ratio(*size, offered) for size in ((100, 100), (1600, 800), (300, 700), (800, 610))] == list(
        offered
    )


# --- who paints ------------------------------------------------------------------------------------------------------


def painters(environ: dict[str, str]) -> list[str]:
    maker = ImageMaker.from_environment(environ)
    return [provider.label for provider in maker.providers]


def test_keys_of_the_environment_choose_the_provider() -> None:
    assert painters({}) == []
    assert painters({"OPENAI_API_KEY": ""}) == []
    assert painters({"OPENAI_API_KEY": KEY}) == ["OpenAI gpt-image-2.5-flare"]
    assert painters({"GOOGLE_API_KEY": KEY, "REPLICATE_API_TOKEN": KEY}) == [
        "Gemini gemini-3.1-flash-image",
        "Replicate black-forest-labs/flux-schnell",
    ]
    assert painters({"OPENAI_API_KEY": KEY, "HEALD_IMAGES": "local"}) == []
    assert painters({"OPENAI_API_KEY": KEY, "HEALD_IMAGES": "openai/gpt-image-2"}) == ["OpenAI gpt-image-2"]
    assert painters({"REPLICATE_API_TOKEN": KEY, "HEALD_IMAGES": "replicate/a/b"}) == ["Replicate a/b"]


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("gemini", "HEALD_IMAGES names gemini, and there is no key for it in the environment."),
        ("midjourney", "HEALD_IMAGES names no provider of pictures that is known here"),
        ("local", "HEALD_IMAGES is set to make pictures on this machine."),
    ],
)
async def test_a_setting_that_cannot_be_met_is_reported_and_the_rest_works(setting: str, sentence: str) -> None:
    images = ImageMaker.from_environment({"OPENAI_API_KEY": KEY, "HEALD_IMAGES": setting})
    made = await images.generate(ImageRequest(prompt="A hill", width=32, height=32), Palette())
    assert made.is_placeholder
    assert made.why.startswith(sentence)
    assert KEY not in made.why


def test_providers_are_made_alike() -> None:
    for kind in (OpenAIImages, GeminiImages, ReplicateImages):
        assert kind.from_environment({}) is None
