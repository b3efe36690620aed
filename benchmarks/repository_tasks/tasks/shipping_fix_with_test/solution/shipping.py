"""Shipping costs, in cents."""

FREE_FROM = 5000
STANDARD = 490
EXPRESS = 1290


def shipping_cost(order_value, express=False):
    """Cost of shipping an order; standard shipping is free from 50.00 on, express never is."""
    if express:
        return EXPRESS
    if order_value >= FREE_FROM:
        return 0
    return STANDARD
