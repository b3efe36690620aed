"""The script that makes the price list: once for each version, whole, with the licence of the data, into the wheel."""

import ast
import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
import pytest
from prices_bench import ROOT, SCRIPT, script

from weft.providers.prices.price_list import PLACE, PriceList, read

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
    assert sorted(path.name for path in made.iterdir()) == ["LICENSE", "list.json"]
    assert "Permission is hereby granted" in (made / "LICENSE").read_text("utf-8")
    assert read(made / "list.json") == read()
    assert (made / "list.json").stat().st_size < 1_000_000


def test_nothing_is_lost_between_the_script_and_the_types(made: Path) -> None:
    """All that the script writes is read: a field that the types did not know would be skipped without a word."""
    written: dict[str, Any] = json.loads((made / "list.json").read_bytes())
    del written["stamp"]
    assert json.loads(msgspec.json.encode(read(made / "list.json"))) == written
    assert sum(len(each["models"]) for each in written["providers"]) > 1000


def test_what_is_made_is_left_alone(made: Path, capsys: Capture) -> None:
    before = [(path, path.stat().st_ino) for path in sorted(made.iterdir())]
    script()["main"](made)
    assert [(path, path.stat().st_ino) for path in sorted(made.iterdir())] == before
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("damage", [b"", b"[]", b"{}", b'{"stamp":"of another version"}', None])
def test_what_is_old_or_damaged_is_made_anew(made: Path, damage: bytes | None) -> None:
    whole = (made / "list.json").read_bytes()
    if damage is None:
        (made / "LICENSE").unlink()
    else:
        (made / "list.json").write_bytes(damage)
    script()["main"](made)
    assert (made / "list.json").read_bytes() == whole
    assert (made / "LICENSE").is_file()


def test_a_version_without_a_day() -> None:
    listed = script()["price_list"]([], "9.9.9")
    found = msgspec.convert(listed, PriceList)
    assert (found.version, found.date) == ("9.9.9", None)
    assert found.origin == "of an unknown day (genai-prices 9.9.9)"


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
    """The build makes and takes all that version control leaves out below src/."""
    tree = ast.parse((ROOT / "hatch_build.py").read_text("utf-8"))
    [made] = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and "_MADE" in ast.unparse(node.targets[0])
    ]
    folders: dict[str, str] = ast.literal_eval(made)
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text("utf-8").splitlines() if line[:4] == "src/"]
    assert set(ignored) == set(folders)
    assert all((ROOT / "scripts" / name).is_file() for name in folders.values())
    assert PLACE.parent == ROOT / "src" / "weft" / "providers" / "prices" / "made"
    assert folders[str(PLACE.parent.relative_to(ROOT))] == SCRIPT.name
