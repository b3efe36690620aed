"""Discount per customer level, as a fraction."""

DISCOUNTS = {
    "silver": 0.05,
    "gold": 0.1,
}
