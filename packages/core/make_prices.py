"""Make the price list of the package from the data of `genai-prices`, which is needed here and never at run time.

Writes `src/heald/providers/prices/made/list.json`, as `heald.providers.prices` reads it, with the licence of the data
beside it. A list that this script made of the installed version is left alone.
"""

import hashlib
import json
import os
import re
import sys
from datetime import UTC, date, datetime, time
from importlib import metadata
from pathlib import Path
from typing import Any

SOURCE = "genai-prices"
RELEASED = {"0.2.1": "2026-10-30"}
"""The day of each version, which the package itself does not tell. A version that is not here has no date."""
MADE = Path(__file__).resolve().parent / "src" / "heald" / "providers" / "prices" / "made"
RATES = {
    "input_mtok": "input",
    "cache_read_mtok": "cache_read",
    "cache_write_mtok": "cache_write",
    "input_image_mtok": "image_input",
    "output_mtok": "output",
    "output_image_mtok": "image_output",
    "requests_kcount": "requests",
    "cache_write_1h_mtok": "cache_write_1h",
    "web_searches_kcount": "web_searches",
    "storage_searches_kcount": "file_searches",
}
"""What of a price can be counted here, and what it is called. The rest is left out."""
TEXTS = {"equals": "equals", "starts_with": "starts_with", "ends_with": "ends_with", "contains": "contains"}
GROUPS = {"or_": "any", "and_": "all"}
NOTICES = "THIRD_PARTY_NOTICES.txt"


def stamp(version: str) -> str:
    """What a list was made of: the data, and this script."""
    return hashlib.sha256(version.encode() + Path(__file__).read_bytes()).hexdigest()


def is_made_of(place: Path, version: str) -> bool:
    try:
        made = json.loads((place / "list.json").read_bytes())
        return made["stamp"] == stamp(version) and bool((place / NOTICES).read_bytes())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def price_list(providers: list[Any], version: str) -> dict[str, Any]:
    return {
        "version": version,
        "date": RELEASED.get(version),
        "stamp": stamp(version),
        "providers": [_provider(each) for each in providers],
    }


def _provider(provider: Any) -> dict[str, Any]:
    return _known(
        id=provider.id,
        match=_clause(provider.provider_match),
        model_match=_clause(provider.model_match),
        fallbacks=provider.fallback_model_providers,
        models=[_model(each) for each in provider.models],
    )


def _model(model: Any) -> dict[str, Any]:
    terms = model.prices if isinstance(model.prices, list) else [model]
    return _known(
        id=model.id,
        match=_clause(model.match),
        context_window=model.context_window,
        terms=[_term(each) for each in terms],
    )


def _term(priced: Any) -> dict[str, Any]:
    """The rates, and from which day on or between which times of the day (UTC) they count."""
    listed = vars(priced.prices)
    rates = {name: _rate(listed[key]) for key, name in RATES.items() if listed.get(key) is not None}
    bound = getattr(priced, "constraint", None)
    if bound is None:
        return {"rates": rates}
    if hasattr(bound, "start_date"):
        return {"rates": rates, "since": bound.start_date.isoformat()}
    return {"rates": rates, "daily": [_in_utc(bound.start_time), _in_utc(bound.end_time)]}


def _in_utc(moment: time) -> str:
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return datetime.combine(date(2000, 1, 2), aware).astimezone(UTC).time().isoformat()


def _rate(price: Any) -> Any:
    """So many dollars; or the dollars of a small request, and of each that is larger than so many tokens of input."""
    if not hasattr(price, "tiers"):
        return _number(price)
    return [_number(price.base), [[tier.start, _number(tier.price)] for tier in price.tiers]]


def _number(price: Any) -> int | float:
    if not price.is_finite() or price < 0:
        sys.exit(f"A price of {SOURCE} is {price}, which is not a price; use another version.")
    return int(price) if price == int(price) else float(price)


def _clause(clause: Any) -> list[Any] | None:
    """A condition on a name, in small letters, as names are when they are looked up."""
    if clause is None:
        return None
    [(kind, value)] = vars(clause).items()
    if kind in TEXTS:
        return [TEXTS[kind], value.lower()]
    if kind in GROUPS:
        return [GROUPS[kind], [_clause(each) for each in value]]
    if kind == "regex":
        re.compile(value)
        return ["regex", value]
    sys.exit(f"{SOURCE} has a kind of condition that this script does not know: {kind}. Use another version.")


def _known(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def third_party_notices(version: str) -> str:
    """Return the licence of the data, from the files that its package is installed with."""
    for file in metadata.files(SOURCE) or ():
        if file.name.upper().startswith(("LICENSE", "LICENCE")):
            text = file.read_text("utf-8")
            return f"The price list is made from this package.\n\n{'#' * 80}\n{SOURCE} {version}\n\n{text}"
    sys.exit(f"The licence of {SOURCE} is not in its package, and its data cannot go without; install it anew.")


def write(path: Path, content: str) -> None:
    """All of it or nothing."""
    fresh = path.with_name(f".making-{os.getpid()}")
    try:
        fresh.write_text(content, "utf-8")
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def main(place: Path = MADE) -> None:
    try:
        version = metadata.version(SOURCE)
    except metadata.PackageNotFoundError:
        sys.exit(f"Prices are made from {SOURCE}, which is not installed here; install requirements-dev.txt.")
    if is_made_of(place, version):
        return
    from genai_prices.data import providers

    made = price_list(providers, version)
    place.mkdir(parents=True, exist_ok=True)
    write(place / NOTICES, third_party_notices(version))
    write(place / "list.json", json.dumps(made, ensure_ascii=False, separators=(",", ":")))
    models = sum(len(each["models"]) for each in made["providers"])
    print(f"prices: {models} models of {len(made['providers'])} providers, {SOURCE} {version}")


if __name__ == "__main__":
    main()
