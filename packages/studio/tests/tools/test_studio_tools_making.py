"""`generate_images`, `edit_image`, `remove_background`: with a provider, without one, and with one that fails."""

import asyncio
import io

import pytest
from PIL import Image, ImageDraw

from heald.core.errors import ProviderError, RateLimited
from heald.testing.server import Reply, ScriptedServer
from heald_studio.imaging.images import ImageMaker
from heald_studio.imaging.provider import ImageRequest
from studio_tools_support import call, design, finder, pictures_in, png, ran

NO_KEY = "There is no key for an image model; set OPENAI_API_KEY, GEMINI_API_KEY or REPLICATE_API_TOKEN."


class Painter:
    """A provider that paints everything in one colour, or fails."""

    label = "Test painter"
    cuts = True

    def __init__(self, colour: str = "red", error: ProviderError | None = None) -> None:
        self.colour = colour
        self.error = error
        self.asked: list[str] = []

    async def generate(self, request: ImageRequest) -> Image.Image:
        return self._made(request.prompt, (1024, 1024))

    async def edit(self, picture: Image.Image, instruction: str) -> Image.Image:
        return self._made(instruction, (512, 512))

    async def cut_out(self, picture: Image.Image) -> Image.Image:
        return self._made("cut", picture.size).convert("RGBA")

    def _made(self, what: str, size: tuple[int, int]) -> Image.Image:
        self.asked.append(what)
        if self.error is not None:
            raise self.error
        return Image.new("RGB", size, self.colour)


def picture_file(kind: str = "PNG") -> bytes:
    """A disc on white."""
    picture = Image.new("RGB", (120, 80), "white")
    ImageDraw.Draw(picture).ellipse((30, 10, 90, 70), fill=(30, 90, 200))
    out = io.BytesIO()
    picture.save(out, kind)
    return out.getvalue()


# --- generate_images -------------------------------------------------------------------------------------------------


async def test_a_provider_makes_them_in_the_right_size() -> None:
    painter = Painter()
    images = [
        {"prompt": "A red wall", "name": "wall.jpg", "width": 640, "height": 200},
        {"prompt": "A red door", "name": "door", "width": 64, "height": 128},
    ]
    done = await ran(call("generate_images", images=images), images=ImageMaker((painter,)))
    assert sorted(done.changed) == ["assets/door.png", "assets/wall.jpg"]
    assert done.picture("assets/wall.jpg").size == (640, 200)
    assert done.picture("assets/door.png").size == (64, 128)
    assert sorted(painter.asked) == ["A red door", "A red wall"]
    assert "assets/wall.jpg: 640 × 200 px. Made by Test painter." in done.result.text
    assert "placeholder" not in done.result.text
    assert len(pictures_in(done.result)) == 1


async def test_without_a_key_placeholders_are_drawn_and_called_so() -> None:
    requests = [
        {"prompt": "A portrait of Anna", "name": "anna", "width": 300, "height": 300},
        {"prompt": "Hills at dawn", "name": "hero.jpg", "width": 900, "height": 300},
        {"prompt": "山の写真", "name": "yama.webp", "width": 320, "height": 200},
        {"prompt": "x", "name": "tiny", "width": 16, "height": 16, "transparent": True},
    ]
    done = await ran(call("generate_images", images=requests), find=finder([png(design())]))
    assert done.result.status == "ok"
    assert done.result.summary == "4 files, 4 of them placeholders"
    assert done.result.text.count("A placeholder that was drawn here, not the real picture.") == 4
    assert done.result.text.count(NO_KEY) == 1
    anna = done.picture("assets/anna.png")
    assert anna.size == (300, 300)
    assert anna.info["Description"] == "Placeholder: A portrait of Anna"
    assert b"Placeholder: Hills at dawn" in done.workspace.read("assets/hero.jpg")
    assert done.picture("assets/yama.webp").getexif()[0x010E].startswith("Placeholder")
    assert done.picture("assets/tiny.png").mode == "RGBA"


async def test_a_provider_that_fails_keeps_no_broken_link() -> None:
    painter = Painter(error=RateLimited("Test painter gets too many requests; wait a little."))
    requests = [{"prompt": "A hill", "name": "hill", "width": 200, "height": 100}]
    done = await ran(call("generate_images", images=requests), images=ImageMaker((painter,)))
    assert done.result.status == "ok"
    assert done.picture("assets/hill.png").size == (200, 100)
    assert "A placeholder" in done.result.text
    assert "Test painter gets too many requests; wait a little." in done.result.text


async def test_the_next_provider_helps_out() -> None:
    failing, working = Painter(error=RateLimited("No.")), Painter("blue")
    requests = [{"prompt": "A hill", "name": "hill", "width": 32, "height": 32}]
    done = await ran(call("generate_images", images=requests), images=ImageMaker((failing, working)))
    assert done.picture("assets/hill.png").getpixel((3, 3)) == (0, 0, 255)
    assert "placeholder" not in done.result.text


async def test_what_shall_be_transparent_is_even_if_the_provider_knows_nothing_of_it() -> None:
    class OnWhite(Painter):
        async def generate(self, request: ImageRequest) -> Image.Image:
            return Image.open(io.BytesIO(picture_file())).convert("RGB")

    request = [{"prompt": "A disc", "name": "disc", "width": 120, "height": 80, "transparent": True}]
    done = await ran(call("generate_images", images=request), images=ImageMaker((OnWhite(),)))
    disc = done.picture("assets/disc.png")
    assert disc.getpixel((0, 0)) == (0, 0, 0, 0)
    assert disc.getpixel((60, 40)) == (30, 90, 200, 255)


@pytest.mark.parametrize(
    "image",
    [{"prompt": "x", "name": "x", "width": 5}, {"prompt": "x", "name": "x", "width": 100_000}, {"prompt": "x"}],
)
async def test_sizes_are_bounded(image: dict[str, object]) -> None:
    done = await ran(call("generate_images", images=[image]))
    assert done.result.status == "invalid_input"


async def test_too_many_or_none_are_refused() -> None:
    many = [{"prompt": "x", "name": f"{number}"} for number in range(17)]
    done = await ran(call("generate_images", images=many), call("generate_images", images=[]))
    assert [result.text for result in done.results] == [
        "17 pictures were asked for; ask for 1 to 16 in one call.",
        "0 pictures were asked for; ask for 1 to 16 in one call.",
    ]


async def test_two_calls_for_one_file_come_after_each_other() -> None:
    class Slow(Painter):
        async def generate(self, request: ImageRequest) -> Image.Image:
            await asyncio.sleep(0.5 if request.width == 32 else 0.0)
            return self._made(request.prompt, (request.width, request.height))

    request = [{"prompt": "A hill", "name": "hill", "width": 32, "height": 32}]
    other = [{"prompt": "A hill", "name": "hill", "width": 48, "height": 48}]
    calls = call("generate_images", images=request), call("generate_images", images=other)
    done = await ran(*calls, images=ImageMaker((Slow(),)))
    assert done.changed == ["assets/hill.png", "assets/hill.png"]
    assert done.picture("assets/hill.png").size == (48, 48)


async def test_a_key_is_nowhere_in_the_log() -> None:
    from heald_studio.imaging.openai import OpenAIImages

    key = "sk-CANARY-0123456789abcdef"

    def refuse(_: object) -> Reply:
        return Reply.json({"error": {"message": f"Incorrect API key provided: {key}", "code": "invalid_api_key"}}, 401)

    async with ScriptedServer(refuse) as server:
        images = ImageMaker((OpenAIImages(key, base_url=server.url),))
        requests = [{"prompt": "A hill", "name": "hill", "width": 32, "height": 32}]
        done = await ran(
            call("generate_images", images=requests),
            call("edit_image", path="a.png", instruction="add a cat"),
            files={"a.png": picture_file()},
            images=images,
            secrets=[key],
        )
    made, edited = done.results
    assert "OpenAI refused the key; check OPENAI_API_KEY." in made.text
    assert edited.status == "error"
    assert edited.text.startswith("OpenAI refused the key; check OPENAI_API_KEY.")
    assert done.changed == ["assets/hill.png"]


# --- edit_image ------------------------------------------------------------------------------------------------------


async def test_a_provider_changes_a_picture_and_its_size_stays() -> None:
    done = await ran(
        call("edit_image", path="assets/a.png", instruction="Make it a red wall"),
        files={"assets/a.png": picture_file()},
        images=ImageMaker((Painter(),)),
    )
    assert done.changed == ["assets/a.png"]
    assert done.picture("assets/a.png").size == (120, 80)
    assert "Changed by Test painter." in done.result.text


async def test_plain_changes_are_made_here_and_sent_word_for_word() -> None:
    done = await ran(
        call("edit_image", path="a.jpg", instruction="Make it black and white and add a cat", save_as="../grey.jpg"),
        files={"a.jpg": picture_file("JPEG")},
    )
    assert done.changed == ["assets/grey.jpg"]
    pixel = done.picture("assets/grey.jpg").convert("RGB").getpixel((60, 40))
    assert isinstance(pixel, tuple)
    assert max(pixel) - min(pixel) <= 2
    assert (
        "Changed here without an image model: black and white. Nothing else that was asked was done."
        in done.result.text
    )
    assert NO_KEY in done.result.text


async def test_what_needs_a_model_is_refused_and_the_picture_stays() -> None:
    done = await ran(call("edit_image", path="a.png", instruction="add a cat"), files={"a.png": picture_file()})
    assert done.result.status == "error"
    assert done.result.text.startswith(NO_KEY)
    assert "only plain changes can be made" in done.result.text
    assert done.changed == []


async def test_a_kind_that_is_not_written_here_gets_a_file_beside_it() -> None:
    done = await ran(call("edit_image", path="a.gif", instruction="flip it"), files={"a.gif": picture_file("GIF")})
    assert done.changed == ["a.png"]


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("../secret.png", "path_outside_workspace"),
        ("/etc/passwd", "path_outside_workspace"),
        ("gone.png", "not_found"),
        ("a\x00.png", "invalid_path"),
        ("page.html", "page.html is not a picture that can be read"),
        ("", "is_a_folder"),
    ],
)
async def test_only_pictures_of_the_project_can_be_changed(path: str, sentence: str) -> None:
    done = await ran(
        call("edit_image", path=path, instruction="blur"),
        call("remove_background", paths=[path]),
        files={"page.html": "<p>No picture</p>"},
    )
    for result in done.results:
        assert result.status == "error"
        assert sentence in result.text
    assert done.changed == []


# --- remove_background -----------------------------------------------------------------------------------------------


async def test_a_flat_background_is_removed_here_even_if_there_is_a_provider() -> None:
    painter = Painter()
    done = await ran(
        call("remove_background", paths=["assets/disc.jpg", "gone.png"]),
        files={"assets/disc.jpg": picture_file("PNG")},
        images=ImageMaker((painter,)),
    )
    assert painter.asked == []
    assert done.changed == ["assets/disc-cutout.png"]
    disc = done.picture("assets/disc-cutout.png")
    assert (disc.mode, disc.size) == ("RGBA", (120, 80))
    assert disc.getpixel((0, 0)) == (0, 0, 0, 0)
    assert done.result.status == "ok"
    assert done.result.summary == "1 of 2 done"
    assert "by its colour" in done.result.text


async def test_any_other_background_goes_to_the_provider() -> None:
    painter = Painter()
    done = await ran(
        call("remove_background", paths=["a.png"]),
        files={"a.png": png(design().crop((110, 130, 390, 310)))},
        images=ImageMaker((painter,)),
    )
    assert painter.asked == ["cut"]
    assert "Background removed by Test painter." in done.result.text


async def test_a_provider_that_fails_is_replaced_by_local_vision() -> None:
    painter = Painter(error=RateLimited("Test painter gets too many requests; wait a little."))
    busy = Image.effect_noise((160, 120), 90).convert("RGB")
    ImageDraw.Draw(busy).ellipse((40, 20, 120, 100), fill=(200, 30, 30))
    done = await ran(
        call("remove_background", paths=["a.png"]), files={"a.png": png(busy)}, images=ImageMaker((painter,))
    )
    assert done.result.status == "ok"
    assert "without a model (by its colours), which guesses" in done.result.text
    assert "too many requests" in done.result.text
