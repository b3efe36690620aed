"""Reads the price list that `scripts/make_prices.py` made. Where there is none no price is known, and the log says so.

It is read once, when the first price is asked for; a few milliseconds, which whoever serves others spends in a thread.
"""

import logging
import threading
from pathlib import Path

import msgspec

from weft.core.errors import ConfigurationError
from weft.providers.prices.listing import PriceList

PLACE = Path(__file__).parent / "made" / "list.json"

_log = logging.getLogger("weft.providers.prices")
_reading = threading.Lock()
_kept: list[PriceList] = []


def price_list() -> PriceList:
    """The list; an empty one where it is missing or damaged."""
    if _kept:
        return _kept[0]
    with _reading:
        if not _kept:
            _kept.append(_read_or_empty())
    return _kept[0]


def is_read() -> bool:
    return bool(_kept)


def read(place: Path = PLACE) -> PriceList:
    """Raises ConfigurationError where there is no list that can be read."""
    fix = "from a checkout run `make made`, else install weft anew."
    try:
        return msgspec.json.decode(place.read_bytes(), type=PriceList)
    except FileNotFoundError:
        raise ConfigurationError(f"The list of prices is not here, so no price is known; {fix}") from None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ConfigurationError(f"The list of prices cannot be read, so no price is known; {fix}") from None


def _read_or_empty() -> PriceList:
    try:
        return read()
    except ConfigurationError as error:
        _log.warning("%s", error)
        return PriceList(version="")
