"""A slow database."""


class PriceDatabase:
    def __init__(self, prices):
        self._prices = dict(prices)
        self.reads = 0

    def read(self, article):
        self.reads += 1
        return self._prices[article]

    def write(self, article, price):
        self._prices[article] = price
