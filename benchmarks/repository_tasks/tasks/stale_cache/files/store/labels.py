def label(prices, article):
    return f"{article}: {prices.price(article):.2f}"
