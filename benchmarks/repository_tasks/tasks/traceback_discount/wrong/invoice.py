"""Totals of invoices."""

from rates import DISCOUNTS


def subtotal(lines):
    return sum(line["quantity"] * line["price"] for line in lines)


def total(customer, lines):
    """What the customer pays, rounded to cents."""
    amount = subtotal(lines)
    rate = DISCOUNTS.get(customer["level"], 0.05)
    return round(amount * (1 - rate), 2)
