"""The customers of the shop."""

_CUSTOMERS = {
    1: {"name": "Ada", "city": "London"},
    2: {"name": "Emil", "city": "Berlin"},
}


def find_customer(number):
    """The customer with a number, or None."""
    return _CUSTOMERS.get(number)


def cities():
    return sorted({customer["city"] for customer in _CUSTOMERS.values()})
