import unittest

from shipping import shipping_cost


class ShippingTest(unittest.TestCase):
    def test_small_order(self):
        self.assertEqual(shipping_cost(1000), 490)

    def test_large_order(self):
        self.assertEqual(shipping_cost(9000), 0)

    def test_limit(self):
        self.assertEqual(shipping_cost(5000), 0)

    def test_express(self):
        self.assertEqual(shipping_cost(9000, express=True), 1290)
