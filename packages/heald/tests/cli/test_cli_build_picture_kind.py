"""`heald build --as` and `--scale`: what a picture is, named by the user or found by the local converter."""

import pytest

from cli_bench import run
from cli_pages import here
from heald_cli.main import main
from heald_local.see.models import available
from sketch_drawing import draw_shop, png

pytestmark = [
    pytest.mark.usefixtures("headless_shell"),
    pytest.mark.skipif(not available(), reason="the models of heald[local] are not installed"),
]

Capture = pytest.CaptureFixture[str]
BUILD = ("build", "shop.png", "--model", "local/vision", "--no-score", "-o", "site")


async def test_the_kind_that_was_found_is_printed_with_the_way_to_correct_it(capsys: Capture) -> None:
    here("shop.png").write_bytes(png(draw_shop()))
    ran = await run(capsys, *BUILD)
    assert ran.code == 0, ran.err
    assert "Read as a drawing by hand. Use --as page, sketch or photo if it is not." in ran.err


async def test_the_kind_and_the_scale_that_are_named_are_used(capsys: Capture) -> None:
    here("shop.png").write_bytes(png(draw_shop()))
    ran = await run(capsys, *BUILD, "--as", "page", "--scale", "2")
    assert ran.code == 0, ran.err
    assert "Read as a screenshot of a page with 2 pixels for each CSS pixel.\n" in ran.err
    assert "Use --as" not in ran.err


@pytest.mark.parametrize("words", [("--as", "painting"), ("--scale", "9")], ids=["kind", "scale"])
def test_another_kind_or_scale_is_refused(capsys: Capture, words: tuple[str, str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*BUILD, *words])
    assert ended.value.code == 2
    assert f"{words[0]} cannot be '{words[1]}'" in capsys.readouterr().err
