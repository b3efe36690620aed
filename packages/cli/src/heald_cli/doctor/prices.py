"""The row about the price list of models."""

from heald.commands.finding import FROM_CHECKOUT, Findings, missing, ok
from heald.core.errors import HealdError


def check_prices() -> Findings:
    from heald.providers.prices.price_list import read

    try:
        prices = read()
    except HealdError as error:
        yield missing("prices", str(error).partition("; ")[0], FROM_CHECKOUT)
        return
    yield ok("prices", f"of {sum(len(provider.models) for provider in prices.providers)} models, {prices.origin}")
