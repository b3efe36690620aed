class PriceList:
    """Prices of articles, cached."""

    def __init__(self, database):
        self._database = database
        self._cache = {}

    def price(self, article):
        if article not in self._cache:
            self._cache[article] = self._database.read(article)
        return self._cache[article]

    def update_price(self, article, price):
        if price < 0:
            raise ValueError("A price cannot be negative.")
        self._database.write(article, price)

    def raise_all(self, articles, percent):
        """Raises prices by a percentage, rounded to cents."""
        for article in articles:
            price = round(self._database.read(article) * (1 + percent / 100), 2)
            self._database.write(article, price)
