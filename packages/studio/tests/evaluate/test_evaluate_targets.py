"""Targets from files: names, groups, scales, texts, and what cannot be read."""

from pathlib import Path

import pytest

from evaluate_support import png
from heald.core.errors import ConfigurationError
from heald_studio.browser.page import Viewport
from heald_studio.evaluate.targets import EvaluationTarget, load_targets


def test_a_folder_gives_its_pictures_with_names_and_groups(tmp_path: Path) -> None:
    for place in ("held/b.png", "tuning/a.png", "c.png", ".hidden/d.png"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_bytes(png())
    (tmp_path / "note.txt").write_text("not a picture")
    targets = load_targets(tmp_path)
    assert [(target.name, target.group, target.size) for target in targets] == [
        ("c", "", (8, 6)),
        ("held/b", "held", (8, 6)),
        ("tuning/a", "tuning", (8, 6)),
    ]


def test_text_beside_the_picture_is_its_text(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png())
    (tmp_path / "b.png").write_bytes(png())
    (tmp_path / "a.json").write_text('{"texts": [{"text": "Hi", "x": 1, "y": 2, "w": 3, "h": 4}], "more": 1}')
    first, second = load_targets(tmp_path)
    assert first.texts is not None
    assert [(line.text, line.x, line.colour) for line in first.texts] == [("Hi", 1, None)]
    assert second.texts is None


def test_a_name_can_state_the_scale(tmp_path: Path) -> None:
    (tmp_path / "big@2x.png").write_bytes(png(2560, 10))
    (target,) = load_targets([tmp_path / "big@2x.png"])
    assert (target.name, target.scale, target.viewport.width) == ("big", 2, 1280)


def test_a_narrow_picture_is_of_a_phone(tmp_path: Path) -> None:
    (tmp_path / "phone.png").write_bytes(png(375, 900))
    assert load_targets(tmp_path)[0].viewport == Viewport(375, 812)


def test_a_window_is_no_taller_than_the_picture() -> None:
    low = EvaluationTarget(name="low", image=b"", size=(1280, 500))
    tall = EvaluationTarget(name="tall", image=b"", size=(2560, 9000), scale=2)
    assert (low.viewport.height, tall.viewport.height, tall.viewport.width) == (500, 800, 1280)


def test_ready_targets_are_accepted_as_they_are() -> None:
    target = EvaluationTarget(name="mine", image=png(), size=(8, 6))
    assert load_targets([target]) == (target,)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "There is no picture in"),
        ({"a.png": b"no picture"}, "'a.png' cannot be read"),
        ({"a.png": png(), "a.json": b"{"}, "texts in 'a.json' cannot be read"),
        ({"a.png": png(), "a.json": b'{"texts": [{"text": 3}]}'}, "texts in 'a.json' cannot be read"),
    ],
)
def test_what_cannot_be_read_is_reported(tmp_path: Path, files: dict[str, bytes], says: str) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match=says) as caught:
        load_targets(tmp_path)
    assert str(tmp_path) not in str(caught.value)


def test_names_must_differ_and_files_must_be_there(tmp_path: Path) -> None:
    target = EvaluationTarget(name="same", image=png(), size=(8, 6))
    with pytest.raises(ConfigurationError, match="Two targets are called 'same'"):
        load_targets([target, target])
    with pytest.raises(ConfigurationError, match=r"There is no picture 'gone\.png'"):
        load_targets([tmp_path / "gone.png"])
    with pytest.raises(ConfigurationError, match="is not a folder"):
        load_targets(tmp_path / "nowhere")
