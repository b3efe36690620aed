"""Signs that look like Chinese characters of one or two strokes."""

from collections.abc import Sequence

import pytest

from heald_local.see import models, script_ocr
from heald_local.see.ocr import OcrResult
from heald_pictures.regions import Pixels


def _texts(monkeypatch: pytest.MonkeyPatch, *texts: str) -> list[str]:
    """The texts of a page whose lines the network reads like this."""
    readings = [OcrResult(text, 0.99, (), ()) for text in texts]

    def read_lines(crops: Sequence[Pixels], done: object) -> list[OcrResult]:
        return readings

    monkeypatch.setattr(models, "script_network", lambda: None)
    monkeypatch.setattr(script_ocr, "read_lines", read_lines)
    return [reading.text for reading in script_ocr.read_page_lines([])]


def test_a_plus_and_a_dash_are_read_on_a_page_without_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _texts(monkeypatch, "Prices 十VAT", "十", "一 Anna") == ["Prices +VAT", "+", "— Anna"]


def test_the_characters_stay_on_a_page_in_chinese_or_japanese(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _texts(monkeypatch, "十", "春天的花园") == ["十", "春天的花园"]
    assert _texts(monkeypatch, "一", "コーヒー") == ["一", "コーヒー"]


def test_a_lone_letter_between_the_items_of_a_menu_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _texts(monkeypatch, "home | writing I news l about us") == ["home | writing | news | about us"]
    sentences = ["What I do", "Henry I | Henry II | Henry III", "boats | the harbours we love | where I live"]
    assert _texts(monkeypatch, *sentences) == sentences
