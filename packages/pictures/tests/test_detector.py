"""The detector is a plugin: the first entry of `heald.detectors`, or one sentence with what to install."""

import pytest

from heald.plugins import PluginFailed
from heald_pictures import detector
from heald_pictures.detector import find_detector
from heald_pictures.elements import Detection
from heald_pictures.errors import ModelsMissing


def _detect(data: bytes, report: object = None) -> Detection:
    return Detection(len(data), 1, 1, False, "#ffffff", (), (), (), ())


def _offer(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    def plugin_names(group: str) -> list[str]:
        return list(names) if group == "detectors" else []

    monkeypatch.setattr(detector, "plugin_names", plugin_names)


def test_the_first_entry_is_the_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_plugin(group: str, name: str) -> object:
        return {"mine": _detect}[name]

    _offer(monkeypatch, "mine", "other")
    monkeypatch.setattr(detector, "load_plugin", load_plugin)
    assert find_detector()(b"four").width == 4


def test_without_an_entry_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    _offer(monkeypatch)
    with pytest.raises(ModelsMissing, match=r"pip install 'heald\[local\]'"):
        find_detector()


def test_an_entry_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_plugin(group: str, name: str) -> object:
        raise PluginFailed("The detector 'mine' cannot be loaded.")

    _offer(monkeypatch, "mine")
    monkeypatch.setattr(detector, "load_plugin", load_plugin)
    with pytest.raises(ModelsMissing, match="'mine' cannot be loaded"):
        find_detector()
