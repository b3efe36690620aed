from pathlib import Path

from referee import load, tests_pass, text

cost = load("shipping").shipping_cost
assert [cost(value) for value in (0, 4999, 5000, 5001)] == [490, 490, 0, 0]
assert cost(5000, express=True) == 1290
assert load("checkout").amount_due([2500, 2500]) == 5000
assert load("shipping").FREE_FROM in (5000, 4999)
assert tests_pass(), "the tests fail"
for name in ("test_small_order", "test_large_order", "test_express"):
    assert name in text("tests/test_shipping.py")
Path("shipping.py").write_text("""
FREE_FROM = 5000
STANDARD = 490
EXPRESS = 1290
def shipping_cost(order_value, express=False):
    return EXPRESS if express else 0 if order_value > FREE_FROM else STANDARD
""")
assert not tests_pass(), "no test catches the bug"
