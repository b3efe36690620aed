from pathlib import Path

from referee import load, text

find = load("shop.customers").find_customer
assert find(1)["name"] == "Ada" and find(9) is None
assert not hasattr(load("shop.customers"), "get_cust")
assert load("shop.orders").label({"customer": 2}) == "Emil, Berlin"
assert load("shop.orders").label({"customer": 3}) == "unknown"
assert load("shop.mail").greeting(1) == "Dear Ada,"
assert load("shop.mail").greeting(5) == "Hello,"
assert load("shop.table").COMMANDS["customer"] is find
assert set(load("shop.table").COMMANDS) == {"cities", "customer"}
assert "`find_customer(1)`" in text("README.md")
for path in [*Path("shop").glob("*.py"), Path("README.md")]:
    assert "get_cust" not in text(str(path)), path
