from shipping import shipping_cost


def amount_due(prices, express=False):
    value = sum(prices)
    return value + shipping_cost(value, express)
