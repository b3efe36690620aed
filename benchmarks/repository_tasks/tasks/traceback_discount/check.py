from referee import load, tests_pass

total = load("invoice").total
lines = [{"quantity": 3, "price": 5.0, "title": "Tea"}]
assert total({"level": "basic"}, lines) == 15.0
assert total({"level": "unheard of"}, lines) == 15.0
assert total({"level": "silver"}, lines) == 14.25
assert total({"level": "gold"}, lines) == 13.5
assert list(load("print_invoice").lines_of({"name": "Ann", "level": "basic"}, lines))[-1] == "Total: 15.00"
assert tests_pass()
