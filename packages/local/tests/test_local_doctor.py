"""The row of `heald doctor` about the local converter."""

import pytest

from heald_local import doctor_checks
from heald_local.see import icon_sets, models


def test_models_and_icon_sets_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(icon_sets, "find_icon_set", lambda: None)
    monkeypatch.setattr(models, "available", lambda: True)
    [row] = doctor_checks.check()
    assert (row.name, row.state) == ("heald[local]", "missing")
    assert "icon sets are not installed" in row.text
    monkeypatch.setattr(models, "available", lambda: False)
    [row] = doctor_checks.check()
    assert "the models that read text are not installed" in row.text


def test_everything_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(icon_sets, "find_icon_set", lambda: object())
    monkeypatch.setattr(models, "available", lambda: True)
    assert [row.state for row in doctor_checks.check()] == ["ok"]
