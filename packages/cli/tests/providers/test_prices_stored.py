"""Where the price list is missing or damaged: no price is known, one line says so, and nothing breaks."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import heald
from heald.core.errors import ConfigurationError
from heald.providers.prices.price_list import PLACE, PriceList, read

ASK = """
import json, sys, threading
import heald
from heald_cli.doctor.prices import check_prices
from heald.core.turn import Usage
from heald.providers.catalogue import describe_model, known_models
from heald.providers.list_price import PictureTokens, is_loaded, load, picture_price, price
from heald.providers.prices.price_list import price_list
model = heald.Model("gpt-4o", base_url="http://127.0.0.1:1", provider="openai")
before, got = is_loaded(), []
threads = [threading.Thread(target=lambda: got.append(id(price_list()))) for _ in range(8)]
for each in threads: each.start()
for each in threads: each.join()
load()
about, [row] = describe_model(model), check_prices()
print(json.dumps({
    "loaded": [before, is_loaded()],
    "lists": len(set(got)),
    "usd": price(model, Usage(input=10)).usd,
    "picture": picture_price("openai", "gpt-image-1", PictureTokens(1, 1, 1, 1)),
    "known": len(known_models("openai")),
    "told": [about.context_window, about.input_usd_per_million, about.vision],
    "doctor": [row.state, row.text, row.fix],
    "modules": sorted(sys.modules),
}))
"""


def ask(source: Path) -> tuple[dict[str, Any], list[str]]:
    """What a process of its own says of prices, and what it logs."""
    variables = {**os.environ, "PYTHONPATH": str(source)}
    ran = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True, env=variables)
    return json.loads(ran.stdout), ran.stderr.splitlines()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A checkout in which nothing was made."""
    source = tmp_path / "src"
    made = shutil.ignore_patterns("made", "built", "vendor", "__pycache__")
    shutil.copytree(Path(heald.__file__).parent, source / "heald", ignore=made)
    return source


def test_a_list_that_is_here() -> None:
    said, logged = ask(Path(heald.__file__).parents[1])
    assert logged == []
    assert said["loaded"] == [False, True]
    assert said["lists"] == 1
    assert said["usd"] > 0
    assert said["picture"] > 0
    assert said["known"] > 5
    assert said["told"][0] > 8000
    state, words, _ = said["doctor"]
    listed = read()
    assert (state, f"as of {listed.date} (genai-prices {listed.version})" in words) == ("ok", True)
    assert not {"genai_prices", "pydantic", "pydantic_core", "httpx2"} & set(said["modules"])


def test_a_checkout_without_one(copy: Path) -> None:
    said, logged = ask(copy)
    assert_nothing_known(said)
    assert logged == [
        "The list of prices is not here, so no price is known; from a checkout run `make made`, else install heald anew."  # noqa: E501
    ]
    assert said["doctor"][0] == "missing"
    assert "make made" in said["doctor"][2]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"version": 1}', b"[" * 200_000])
def test_a_damaged_one(copy: Path, content: bytes) -> None:
    place = copy / "heald" / "providers" / "prices" / "made" / "list.json"
    place.parent.mkdir()
    place.write_bytes(content)
    said, logged = ask(copy)
    assert_nothing_known(said)
    assert len(logged) == 1
    assert logged[0].startswith("The list of prices cannot be read, so no price is known; ")
    assert str(copy) not in logged[0]
    assert said["doctor"][0] == "missing"


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read(tmp_path)


def assert_nothing_known(said: dict[str, Any]) -> None:
    assert said["loaded"] == [False, True]
    assert said["lists"] == 1
    assert (said["usd"], said["picture"], said["known"]) == (None, None, 0)
    assert said["told"] == [None, None, True]


@given(st.integers(0, 1 << 30), st.binary(max_size=4), st.booleans())
def test_any_damage(tmp_path_factory: pytest.TempPathFactory, at: int, junk: bytes, is_cut: bool) -> None:
    whole = PLACE.read_bytes()
    at %= len(whole)
    place = tmp_path_factory.getbasetemp() / "damaged.json"
    place.write_bytes(whole[:at] + junk + (b"" if is_cut else whole[at + len(junk) :]))
    with suppress(ConfigurationError):  # and nothing else
        assert isinstance(read(place), PriceList)
