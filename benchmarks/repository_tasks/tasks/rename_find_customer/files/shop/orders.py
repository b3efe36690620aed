from shop.customers import get_cust


def label(order):
    """The address label of an order."""
    customer = get_cust(order["customer"])
    if customer is None:
        return "unknown"
    return f"{customer['name']}, {customer['city']}"
