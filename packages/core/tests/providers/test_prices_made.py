"""The script that makes the price list: once for each version, whole, with the licence of the data, into the wheel."""

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
import pytest
from prices_bench import ROOT, SCRIPT, script

from heald.providers.prices.price_list import PLACE, PriceList, read

VERSION = metadata.version("genai-prices")
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def made(tmp_path: Path, capsys: Capture) -> Path:
    place = tmp_path / "made"
    script()["main"](place)
    assert capsys.readouterr().out.startswith("prices: ")
    return place


def test_the_list_of_this_checkout_is_made_of_the_installed_data() -> None:
    assert script()["is_made_of"](PLACE.parent, VERSION), "The price list is an old one; run make made."


def test_the_day_of_the_installed_version_is_known() -> None:
    """If it is not: `RELEASED` of the script wants the day on which that version was published."""
    assert VERSION in script()["RELEASED"]
    assert read().date == script()["RELEASED"][VERSION]
    assert read().version == VERSION


def test_what_is_made(made: Path) -> None:
    assert sorted(path.name for path in made.iterdir()) == ["THIRD_PARTY_NOTICES.txt", "list.json"]
    assert "Permission is hereby granted" in (made / "THIRD_PARTY_NOTICES.txt").read_text("utf-8")
    assert read(made / "list.json") == read()
    assert (made / "list.json").stat().st_size < 1_000_000


def test_nothing_is_lost_between_the_script_and_the_types(made: Path) -> None:
    """All that the script writes is read: a field that the types did not know would be skipped without a word."""
    written: dict[str, Any] = json.loads((made / "list.json").read_bytes())
    del written["stamp"]
    assert json.loads(msgspec.json.encode(read(made / "list.json"))) == written
    assert sum(len(provider["models"]) for provider in written["providers"]) > 1000


def test_what_is_made_is_left_alone(made: Path, capsys: Capture) -> None:
    before = [(path, path.stat().st_ino) for path in sorted(made.iterdir())]
    script()["main"](made)
    assert [(path, path.stat().st_ino) for path in sorted(made.iterdir())] == before
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("damage", [b"", b"[]", b"{}", b'{"stamp":"of another version"}', None])
def test_what_is_old_or_damaged_is_made_anew(made: Path, damage: bytes | None) -> None:
    whole = (made / "list.json").read_bytes()
    if damage is None:
        (made / "THIRD_PARTY_NOTICES.txt").unlink()
    else:
        (made / "list.json").write_bytes(damage)
    script()["main"](made)
    assert (made / "list.json").read_bytes() == whole
    assert (made / "THIRD_PARTY_NOTICES.txt").is_file()


def test_a_version_without_a_day() -> None:
    listed = script()["price_list"]([], "9.9.9")
    prices = msgspec.convert(listed, PriceList)
    assert (prices.version, prices.date) == ("9.9.9", None)
    assert prices.origin == "of an unknown day (genai-prices 9.9.9)"


class ClauseGlob:
    def __init__(self) -> None:
        self.glob = "gpt-*"


def test_a_condition_that_is_not_known_is_not_guessed_at() -> None:
    with pytest.raises(SystemExit, match="does not know: glob"):
        script()["_clause"](ClauseGlob())


def test_without_the_data() -> None:
    ran = subprocess.run([sys.executable, "-I", "-S", str(SCRIPT)], capture_output=True, text=True)
    assert ran.returncode == 1
    assert ran.stderr.count("\n") == 1
    assert "genai-prices, which is not installed here" in ran.stderr


def test_the_wheel_holds_it() -> None:
    """The build makes and includes all that version control leaves out below src/."""
    package = ROOT / "packages" / "core"
    hook = (package / "hatch_build.py").read_text("utf-8")
    lines = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    ignored = [line.strip("/") for line in lines if line.strip("/").startswith("packages/core/src/")]
    assert [ROOT / folder for folder in ignored] == [PLACE.parent]
    assert f'"{PLACE.parent.relative_to(package)}/**"' in hook
    assert f'"{SCRIPT.name}"' in hook
    assert (package / SCRIPT.name).is_file()
