"""Functions that scripts call by name."""

from shop.customers import cities, get_cust

COMMANDS = {
    "cities": cities,
    "customer": get_cust,
}
