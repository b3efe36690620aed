"""Our price list beside the library whose data it is made of, and the script between them."""

import runpy
from typing import Any

from genai_prices.data_snapshot import DataSnapshot, get_snapshot
from genai_prices.types import ModelInfo, Provider

from heald.providers.prices.price_list import PricedModel, PriceList, read
from repository import ROOT

SCRIPT = ROOT / "packages" / "core" / "make_prices.py"

providers: list[Provider] = get_snapshot().providers
"""The library's data."""


def script() -> dict[str, Any]:
    """What the script defines, as if it were imported."""
    return runpy.run_path(str(SCRIPT))


class Oracle:
    """The library, and which of our models is which of its own: both lists have one order."""

    def __init__(self) -> None:
        self.list: PriceList = read()
        self.snapshot = DataSnapshot(providers=providers, from_auto_update=False)
        assert [provider.id for provider in self.list.providers] == [provider.id for provider in providers]
        pairs = [pair for same in zip(self.list.providers, providers, strict=True) for pair in _pairs(*same)]
        self.pairs: list[tuple[PricedModel, ModelInfo]] = pairs
        self._ours = {id(theirs): ours for ours, theirs in pairs}

    def find(self, provider: str, model: str) -> PricedModel | None:
        """Our entry of what the library finds."""
        try:
            model_info = self.snapshot.find_provider_model(model, None, provider, None)[1]
        except LookupError:
            return None
        return self._ours[id(model_info)]


def _pairs(ours: Any, theirs: Provider) -> list[tuple[PricedModel, ModelInfo]]:
    return list(zip(ours.models, theirs.models, strict=True))
