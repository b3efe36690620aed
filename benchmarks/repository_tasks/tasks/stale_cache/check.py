from referee import load

database = load("store.database").PriceDatabase({"tea": 2.0, "cup": 5.0, "pot": 20.0})
prices = load("store.prices").PriceList(database)
label = load("store.labels").label
assert label(prices, "tea") == "tea: 2.00" and label(prices, "cup") == "cup: 5.00" and label(prices, "pot") == "pot: 20.00"
prices.update_price("tea", 2.5)
assert label(prices, "tea") == "tea: 2.50"
prices.raise_all(["cup"], 10)
assert label(prices, "cup") == "cup: 5.50"
reads = database.reads
for _ in range(5):
    assert label(prices, "pot") == "pot: 20.00" and label(prices, "tea") == "tea: 2.50"
assert database.reads == reads, "the cache is gone"
try:
    prices.update_price("pot", -1)
except ValueError:
    pass
else:
    raise AssertionError
assert prices.price("pot") == 20.0 and database.reads == reads
