"""Functions that scripts call by name."""

from shop.customers import cities, find_customer

COMMANDS = {
    "cities": cities,
    "customer": find_customer,
}
